//! Merges arguments and input fields, and the types that subgraphs give to anything.

use apollo_compiler::ast::{InputValueDefinition, Type, Value};
use apollo_compiler::{Name, Node};

use super::{Merge, Relations, distinct_names};
use crate::compose::code::{CompositionCode, HintCode};

/// The codes for one kind of elements with types and default values.
pub(super) struct ValueCodes {
    pub(super) ty: CompositionCode,
    pub(super) default: CompositionCode,
    pub(super) missing: CompositionCode,
    pub(super) missing_optional: HintCode,
    pub(super) compatible: HintCode,
}

const ARGUMENT: ValueCodes = ValueCodes {
    ty: CompositionCode::FIELD_ARGUMENT_TYPE_MISMATCH,
    default: CompositionCode::FIELD_ARGUMENT_DEFAULT_MISMATCH,
    missing: CompositionCode::REQUIRED_ARGUMENT_MISSING_IN_SOME_SUBGRAPH,
    missing_optional: HintCode::INCONSISTENT_ARGUMENT_PRESENCE,
    compatible: HintCode::INCONSISTENT_BUT_COMPATIBLE_ARGUMENT_TYPE,
};

impl Relations {
    /// Returns whether every value of one type is one of another, or they are the same.
    pub(super) fn includes(&self, general: &Type, special: &Type) -> bool {
        match (general, special) {
            (Type::NonNullNamed(general), Type::NonNullNamed(special))
            | (Type::Named(general), Type::Named(special) | Type::NonNullNamed(special)) => {
                general == special || self.is_subtype(special, general)
            }
            (Type::NonNullList(general), Type::NonNullList(special))
            | (Type::List(general), Type::List(special) | Type::NonNullList(special)) => {
                self.includes(general, special)
            }
            _ => false,
        }
    }
}

/// How types that differ between subgraphs are merged, and what is reported then.
pub(super) struct TypeRule {
    /// Whether values are input.
    pub(super) is_input: bool,
    /// What is reported where none of the types suits all subgraphs.
    pub(super) mismatch: CompositionCode,
    /// What is reported where one of them does.
    pub(super) compatible: HintCode,
}

impl Merge<'_> {
    /// Merges the types that subgraphs give to something: for output the most general one, which
    /// holds whoever answers, and for input the most special one, which every subgraph accepts.
    pub(super) fn merge_types(
        &mut self,
        coordinate: &str,
        types: &[(usize, &Type)],
        rule: TypeRule,
    ) -> Option<Type> {
        let (_, first) = types.first()?;
        if types.iter().all(|(_, ty)| ty == first) {
            return Some((*first).clone());
        }
        let includes = |one: &Type, other: &Type| {
            if rule.is_input {
                self.relations.includes(other, one)
            } else {
                self.relations.includes(one, other)
            }
        };
        let best = types
            .iter()
            .find(|(_, ty)| types.iter().all(|(_, other)| includes(ty, other)));
        let said: Vec<_> = types
            .iter()
            .map(|(at, ty)| format!("`{ty}` in `{}`", self.subgraphs[*at].name))
            .collect();
        let said = said.join(", ");
        let places: Vec<_> = types
            .iter()
            .map(|(at, ty)| self.place(*at, ty.inner_named_type().location()))
            .collect();
        let Some(best) = best.map(|(_, ty)| (*ty).clone()) else {
            let message = format!("the types of `{coordinate}` differ: {said}");
            self.report(rule.mismatch, coordinate, places, message);
            return None;
        };
        let message = format!("the types of `{coordinate}` differ: {said}; `{best}` is kept");
        self.hint(rule.compatible, coordinate, places, message);
        Some(best)
    }

    /// Merges the default values that subgraphs give to something.
    fn merge_defaults(
        &mut self,
        coordinate: &str,
        found: &[(usize, Option<&Node<Value>>)],
        code: CompositionCode,
    ) -> Option<Node<Value>> {
        let given: Vec<_> = found
            .iter()
            .filter_map(|(at, value)| Some((*at, (*value)?)))
            .collect();
        let (_, first) = given.first()?;
        let places: Vec<_> = given
            .iter()
            .map(|(at, value)| self.place(*at, value.location()))
            .collect();
        if given.iter().any(|(_, value)| !is_same_value(value, first)) {
            let said: Vec<_> = given
                .iter()
                .map(|(at, value)| format!("`{value}` in `{}`", self.subgraphs[*at].name))
                .collect();
            let message = format!(
                "the default values of `{coordinate}` differ: {}",
                said.join(", ")
            );
            self.report(code, coordinate, places, message);
            return None;
        }
        if given.len() < found.len() {
            // A default would be sent, or left out, depending on the subgraph that is asked.
            let without = found.iter().filter(|(_, value)| value.is_none());
            let without = self.named(without.map(|(at, _)| *at));
            let message = format!(
                "the default value `{first}` of `{coordinate}` is left out, since there is none in {without}"
            );
            self.hint(
                HintCode::INCONSISTENT_DEFAULT_VALUE_PRESENCE,
                coordinate,
                places,
                message,
            );
            return None;
        }
        Some((*first).clone())
    }

    /// Merges the default values of those that have something that others lack.
    pub(super) fn merge_defaults_of(
        &mut self,
        coordinate: &str,
        found: &[(usize, Option<Node<InputValueDefinition>>)],
        code: CompositionCode,
    ) {
        let given = found
            .iter()
            .filter_map(|(at, it)| Some((*at, it.as_ref()?)));
        let defaults: Vec<_> = given
            .map(|(at, it)| (at, it.default_value.as_ref()))
            .collect();
        self.merge_defaults(coordinate, &defaults, code);
    }

    /// Merges the arguments of a field or a directive: those that all subgraphs have.
    pub(super) fn merge_arguments(
        &mut self,
        coordinate: &str,
        sources: &[(usize, &[Node<InputValueDefinition>])],
    ) -> Vec<Node<InputValueDefinition>> {
        let all = sources.iter().flat_map(|(_, arguments)| arguments.iter());
        let names = distinct_names(all.map(|argument| &argument.name));
        let merged = names.into_iter().filter_map(|name| {
            let find = |list: &'_ [Node<InputValueDefinition>]| {
                list.iter().find(|it| it.name == *name).cloned()
            };
            let found: Vec<_> = sources.iter().map(|(at, list)| (*at, find(list))).collect();
            let coordinate = format!("{coordinate}({name}:)");
            self.merge_argument(&coordinate, name, &found)
        });
        merged.collect()
    }

    fn merge_argument(
        &mut self,
        coordinate: &str,
        name: &Name,
        found: &[(usize, Option<Node<InputValueDefinition>>)],
    ) -> Option<Node<InputValueDefinition>> {
        let contextual = |it: &InputValueDefinition| it.directives.has("federation__fromContext");
        let given: Vec<_> = found
            .iter()
            .filter_map(|(at, it)| Some((*at, it.as_ref()?)))
            .collect();
        if given.iter().any(|(_, it)| contextual(it)) {
            self.check_contextual(coordinate, found, contextual);
            return None;
        }
        // Intersection: any of the subgraphs may be asked, and one of them does not know the
        // argument.
        if given.len() < found.len() {
            self.missing_value(coordinate, &ARGUMENT, found);
            return None;
        }
        self.merge_value_definition(coordinate, name, &given, &ARGUMENT)
    }

    /// An argument that takes its value from a context in one subgraph does so in all, or may be left out.
    fn check_contextual(
        &mut self,
        coordinate: &str,
        found: &[(usize, Option<Node<InputValueDefinition>>)],
        is_contextual: impl Fn(&InputValueDefinition) -> bool,
    ) {
        let others: Vec<_> = found
            .iter()
            .filter_map(|(at, it)| Some((*at, it.as_ref()?)))
            .filter(|(_, it)| !is_contextual(it))
            .collect();
        if others.is_empty() {
            return;
        }
        let names = self.named(others.iter().map(|(at, _)| *at));
        let contextual = found
            .iter()
            .filter(|(_, it)| it.as_deref().is_some_and(&is_contextual));
        let contextual = self.named(contextual.map(|(at, _)| *at));
        let places: Vec<_> = others
            .iter()
            .map(|(at, it)| self.place(*at, it.name.location()))
            .collect();
        if others.iter().any(|(_, it)| it.is_required()) {
            let message = format!(
                "`{coordinate}` takes its value from a context in {contextual}, and is required in {names}"
            );
            let code = CompositionCode::CONTEXTUAL_ARGUMENT_NOT_CONTEXTUAL_IN_ALL_SUBGRAPHS;
            self.report(code, coordinate, places, message);
        } else {
            let message = format!(
                "`{coordinate}` takes its value from a context in {contextual}, and is left out \
                 although {names} would accept it"
            );
            let code = HintCode::CONTEXTUAL_ARGUMENT_NOT_CONTEXTUAL_IN_ALL_SUBGRAPHS;
            self.hint(code, coordinate, places, message);
        }
    }

    /// Reports something that some subgraphs lack: an error if others require it.
    pub(super) fn missing_value(
        &mut self,
        coordinate: &str,
        codes: &ValueCodes,
        found: &[(usize, Option<Node<InputValueDefinition>>)],
    ) {
        let missing = found
            .iter()
            .filter(|(_, it)| it.is_none())
            .map(|(at, _)| *at);
        let missing = self.named(missing);
        let given: Vec<_> = found
            .iter()
            .filter_map(|(at, it)| Some((*at, it.as_ref()?)))
            .collect();
        let places: Vec<_> = given
            .iter()
            .map(|(at, it)| self.place(*at, it.name.location()))
            .collect();
        let requiring = given
            .iter()
            .filter(|(_, it)| it.is_required())
            .map(|(at, _)| *at);
        let requiring: Vec<_> = requiring.collect();
        if requiring.is_empty() {
            let message = format!("`{coordinate}` is left out, since it is missing in {missing}");
            self.hint(codes.missing_optional, coordinate, places, message);
        } else {
            let requiring = self.named(requiring);
            let message =
                format!("`{coordinate}` is required in {requiring}, and missing in {missing}");
            self.report(codes.missing, coordinate, places, message);
        }
    }

    /// Merges what all subgraphs have.
    pub(super) fn merge_value_definition(
        &mut self,
        coordinate: &str,
        name: &Name,
        given: &[(usize, &Node<InputValueDefinition>)],
        codes: &ValueCodes,
    ) -> Option<Node<InputValueDefinition>> {
        let types: Vec<_> = given.iter().map(|(at, it)| (*at, &*it.ty)).collect();
        let rule = TypeRule {
            is_input: true,
            mismatch: codes.ty,
            compatible: codes.compatible,
        };
        let ty = self.merge_types(coordinate, &types, rule);
        let defaults: Vec<_> = given
            .iter()
            .map(|(at, it)| (*at, it.default_value.as_ref()))
            .collect();
        let default_value = self.merge_defaults(coordinate, &defaults, codes.default);
        let texts: Vec<_> = given
            .iter()
            .map(|(at, it)| (*at, it.description.as_ref()))
            .collect();
        let description = self.description(coordinate, &texts);
        let applied = given
            .iter()
            .map(|(at, it)| (*at, it.directives.iter().collect()))
            .collect();
        let mut directives = apollo_compiler::ast::DirectiveList::default();
        directives
            .0
            .extend(self.merge_directives(coordinate, applied));
        Some(Node::new(InputValueDefinition {
            description,
            name: name.clone(),
            ty: Node::new(ty?),
            default_value,
            directives,
        }))
    }
}

/// Returns whether two values are the same, in whatever order the fields of objects are
/// (<https://spec.graphql.org/September2025/#sec-Input-Object-Values>).
pub(super) fn is_same_value(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::List(one), Value::List(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| is_same_value(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, value)| {
                    let found = other.iter().find(|(other, _)| other == name);
                    found.is_some_and(|(_, other)| is_same_value(value, other))
                })
        }
        (Value::Int(one), Value::Float(other)) | (Value::Float(other), Value::Int(one)) => {
            one.try_to_f64().ok() == other.try_to_f64().ok()
        }
        _ => one == other,
    }
}
