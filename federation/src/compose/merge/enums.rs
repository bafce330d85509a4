//! Merges enums, by where they are used: those of output have all values, those of input the values that all
//! subgraphs know, and those of both are equal everywhere.

use apollo_compiler::ast::EnumValueDefinition;
use apollo_compiler::collections::IndexMap;
use apollo_compiler::schema::{Component, DirectiveList, EnumType, ExtendedType};
use apollo_compiler::{Name, Node, name};

use super::{Merge, Sources, distinct_names};
use crate::compose::code::{CompositionCode, HintCode};
use crate::supergraph::join::DirectiveBuilder;

/// A merged enum, and where it is used.
struct EnumUsage<'m> {
    name: &'m Name,
    is_input: bool,
    is_output: bool,
}

impl Merge<'_> {
    pub(super) fn merge_enum(
        &mut self,
        name: &Name,
        sources: &Sources<'_, ExtendedType>,
        description: Option<Node<str>>,
        directives: DirectiveList,
    ) -> Option<ExtendedType> {
        let enums: Vec<_> = sources
            .iter()
            .filter_map(|(at, ty)| Some((*at, ty.as_enum()?)))
            .collect();
        let usage = EnumUsage {
            name,
            is_input: self.relations.inputs.contains(name),
            is_output: self.relations.outputs.contains(name),
        };
        if !usage.is_input && !usage.is_output {
            let message = format!("the enum `{name}` is neither input nor output");
            let places = self.places_of(sources);
            self.hint(HintCode::UNUSED_ENUM_TYPE, name.as_str(), places, message);
        }
        let mut values = IndexMap::default();
        for value in distinct_names(enums.iter().flat_map(|(_, ty)| ty.values.keys())) {
            let merged = self.merge_value(name, value, &enums);
            let is_hidden = merged.directives.has("inaccessible");
            if self.keeps_value(&usage, value, &enums, is_hidden) {
                values.insert(value.clone(), merged);
            }
        }
        if values.is_empty() {
            let code = CompositionCode::EMPTY_MERGED_ENUM_TYPE;
            self.report_empty(code, "value of the enum", name, sources);
            return None;
        }
        Some(ExtendedType::Enum(Node::new(EnumType {
            description,
            name: name.clone(),
            directives,
            values,
        })))
    }

    /// Returns whether a merged enum has a value that some subgraphs may lack.
    fn keeps_value(
        &mut self,
        usage: &EnumUsage<'_>,
        value: &Name,
        enums: &[(usize, &EnumType)],
        is_hidden: bool,
    ) -> bool {
        let EnumUsage {
            name,
            is_input,
            is_output,
        } = *usage;
        let lacks = |ty: &EnumType| !ty.values.contains_key(value);
        let missing: Vec<_> = enums.iter().filter(|(_, ty)| lacks(ty)).collect();
        // Clients cannot send an inaccessible value, so nobody gets one that they do not know.
        if missing.is_empty() || (is_input && is_hidden) {
            return true;
        }
        let coordinate = format!("{name}.{value}");
        let places = missing
            .iter()
            .map(|(at, ty)| self.place(*at, ty.name.location()))
            .collect();
        let missing = self.named(missing.iter().map(|(at, _)| *at));
        match (is_input, is_output) {
            // Leaving it out would break answers, and keeping it would break requests.
            (true, true) => {
                let message = format!(
                    "`{name}` is both input and output, but `{value}` is missing in {missing}"
                );
                let code = CompositionCode::ENUM_VALUE_MISMATCH;
                self.report(code, &coordinate, places, message);
                true
            }
            (true, false) => {
                let message =
                    format!("`{coordinate}` is left out, since it is missing in {missing}");
                let code = HintCode::INCONSISTENT_ENUM_VALUE_FOR_INPUT_ENUM;
                self.hint(code, coordinate, places, message);
                false
            }
            (false, _) => {
                let message = format!("`{coordinate}` is missing in {missing}");
                let code = HintCode::INCONSISTENT_ENUM_VALUE_FOR_OUTPUT_ENUM;
                self.hint(code, coordinate, places, message);
                true
            }
        }
    }

    fn merge_value(
        &mut self,
        name: &Name,
        value: &Name,
        enums: &[(usize, &EnumType)],
    ) -> Component<EnumValueDefinition> {
        let found: Vec<_> = enums
            .iter()
            .filter_map(|(at, ty)| Some((*at, ty.values.get(value)?)))
            .collect();
        let coordinate = format!("{name}.{value}");
        let texts: Vec<_> = found
            .iter()
            .map(|(at, value)| (*at, value.description.as_ref()))
            .collect();
        let description = self.description(&coordinate, &texts);
        let applied = found
            .iter()
            .map(|(at, value)| (*at, value.directives.iter().collect()))
            .collect();
        let mut directives = apollo_compiler::ast::DirectiveList::default();
        let joins = found.iter().map(|(at, _)| {
            DirectiveBuilder::of_graph(name!("join__enumValue"), &self.subgraphs[*at].graph).node()
        });
        directives.0.extend(joins);
        directives
            .0
            .extend(self.merge_directives(&coordinate, applied));
        Component::new(EnumValueDefinition {
            description,
            value: value.clone(),
            directives,
        })
    }
}
