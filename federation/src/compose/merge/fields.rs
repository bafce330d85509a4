//! Merges the fields of objects and interfaces.

use std::collections::HashSet;

use apollo_compiler::ast::{Directive, DirectiveList, FieldDefinition, Type, Value};
use apollo_compiler::collections::IndexMap;
use apollo_compiler::schema::{Component, ExtendedType};
use apollo_compiler::{Name, Node, name};

use super::arguments::{TypeRule, is_same_value};
use super::overrides::Moved;
use super::types::is_root;
use super::{Merge, Sources, directives, distinct_names};
use crate::compose::code::{CompositionCode, HintCode};
use crate::compose::facts::{fields, text};
use crate::compose::field_set::context_parts;
use crate::supergraph::join::DirectiveBuilder;

/// What one subgraph says of a field.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldSource<'m> {
    /// The position of the subgraph.
    pub(super) at: usize,
    /// The type in that subgraph.
    pub(super) parent: &'m ExtendedType,
    pub(super) field: &'m Component<FieldDefinition>,
    pub(super) is_external: bool,
}

/// Returns a field of an object or interface.
pub(super) fn field_of<'t>(
    ty: &'t ExtendedType,
    name: &Name,
) -> Option<&'t Component<FieldDefinition>> {
    fields(ty)?.get(name)
}

type Fields = IndexMap<Name, Component<FieldDefinition>>;

impl<'m> Merge<'m> {
    pub(super) fn merge_fields(
        &mut self,
        name: &Name,
        sources: &Sources<'m, ExtendedType>,
    ) -> Fields {
        let mut merged = Fields::default();
        let all = sources
            .iter()
            .flat_map(|(_, ty)| fields(ty))
            .flat_map(|fields| fields.keys());
        let is_own = |field: &&Name| !(name == "Query" && *field == "_service");
        for field in distinct_names(all.filter(is_own)) {
            if let Some(definition) = self.merge_field(name, field, sources) {
                merged.insert(field.clone(), definition);
            }
        }
        merged
    }

    fn merge_field(
        &mut self,
        name: &Name,
        field: &Name,
        types: &Sources<'m, ExtendedType>,
    ) -> Option<Component<FieldDefinition>> {
        let coordinate = format!("{name}.{field}");
        let sources: Vec<FieldSource<'m>> = types
            .iter()
            .filter_map(|(at, parent)| {
                Some(FieldSource {
                    at: *at,
                    parent,
                    field: fields(parent)?.get(field)?,
                    is_external: self.facts[*at].is_external(name, field),
                })
            })
            .collect();
        self.hint_of_missing_field(name, field, types);
        self.check_merged_of_externals(&coordinate, &sources);
        // External fields have no part in what is merged: their subgraphs repeat what others
        // define.
        let own = self.resolving(&coordinate, &sources)?;
        let moved = self.moved(&coordinate, &sources);
        let is_interface = types.iter().any(|(_, ty)| ty.is_interface());
        if !is_interface {
            self.check_sharing(&coordinate, types[0].1.name(), &sources, &moved);
        }
        let given: Vec<(usize, &Type)> = own.iter().map(|it| (it.at, &it.field.ty)).collect();
        let rule = TypeRule {
            is_input: false,
            mismatch: CompositionCode::FIELD_TYPE_MISMATCH,
            compatible: HintCode::INCONSISTENT_BUT_COMPATIBLE_FIELD_TYPE,
        };
        // Where the types cannot be merged, the first one stands for them, so that everything else is checked too.
        let merged = self.merge_types(&coordinate, &given, rule);
        let ty = merged.unwrap_or_else(|| own[0].field.ty.clone());
        let lists: Vec<_> = own
            .iter()
            .map(|it| (it.at, it.field.arguments.as_slice()))
            .collect();
        let arguments = self.merge_arguments(&coordinate, &lists);
        let texts: Vec<_> = own
            .iter()
            .map(|it| (it.at, it.field.description.as_ref()))
            .collect();
        let description = self.description(&coordinate, &texts);
        let applied = own
            .iter()
            .map(|it| (it.at, it.field.directives.iter().collect()))
            .collect();
        let mut directives = DirectiveList(self.join_fields(types, &sources, &moved, &ty));
        directives
            .0
            .extend(self.merge_directives(&coordinate, applied));
        let merged = FieldDefinition {
            description,
            name: field.clone(),
            arguments,
            ty,
            directives,
        };
        self.check_externals(&coordinate, &sources, &merged);
        Some(Component::new(merged))
    }

    /// An external field has no directives that are merged: they would count as if the subgraph resolved it.
    fn check_merged_of_externals(&mut self, coordinate: &str, sources: &[FieldSource<'m>]) {
        for source in sources.iter().filter(|source| source.is_external) {
            let place = |directive: &Node<Directive>| self.place(source.at, directive.location());
            let merged = source.field.directives.iter();
            let merged = merged.filter_map(|it| Some((directives::merged(&it.name)?, place(it))));
            for (name, place) in merged.collect::<Vec<_>>() {
                let message =
                    format!("`{coordinate}` is external, but has `@{name}`, which is merged");
                let code = CompositionCode::MERGED_DIRECTIVE_APPLICATION_ON_EXTERNAL;
                self.report(code, coordinate, vec![place], message);
            }
        }
    }

    /// Returns those who have a field and do not only mention it; reports it if there are none.
    fn resolving(
        &mut self,
        coordinate: &str,
        sources: &[FieldSource<'m>],
    ) -> Option<Vec<FieldSource<'m>>> {
        let own: Vec<_> = sources
            .iter()
            .filter(|source| !source.is_external)
            .copied()
            .collect();
        if !own.is_empty() {
            return Some(own);
        }
        let message = format!(
            "`{coordinate}` is external in {}, and no subgraph resolves it",
            self.named(sources.iter().map(|it| it.at))
        );
        let places = sources
            .iter()
            .map(|it| self.place(it.at, it.field.name.location()));
        let places = places.collect();
        let code = CompositionCode::EXTERNAL_MISSING_ON_BASE;
        self.report(code, coordinate, places, message);
        None
    }

    /// Returns `@join__field` for each subgraph, where what the types say is not enough: without
    /// it, a field is resolved in every subgraph that has its type
    /// (<https://specs.apollo.dev/join/v0.3>).
    fn join_fields(
        &mut self,
        types: &Sources<'m, ExtendedType>,
        sources: &[FieldSource<'_>],
        moved: &[Moved],
        merged: &Type,
    ) -> Vec<Node<apollo_compiler::ast::Directive>> {
        let mut is_needed = sources.len() < types.len();
        let mut joins = Vec::new();
        for (source, moved) in sources.iter().zip(moved) {
            // Its absence beside those of the others says that this subgraph does not resolve it.
            if moved.is_overridden && !moved.is_used {
                is_needed = true;
                continue;
            }
            let of = |name: &str| {
                source
                    .field
                    .directives
                    .get(name)
                    .and_then(|it| text(it, "fields"))
            };
            let ty = (source.field.ty != *merged).then(|| source.field.ty.to_string());
            let (requires, provides) = (of("federation__requires"), of("federation__provides"));
            let contexts = self.context_arguments(source);
            is_needed |= ty.is_some()
                || requires.is_some()
                || provides.is_some()
                || source.is_external
                || moved.from.is_some()
                || moved.label.is_some()
                || moved.is_overridden
                || !contexts.is_empty();
            let join =
                DirectiveBuilder::of_graph(name!("join__field"), &self.subgraphs[source.at].graph)
                    .maybe(name!("requires"), requires)
                    .maybe(name!("provides"), provides)
                    .maybe(name!("type"), ty.as_deref())
                    .flag(name!("external"), source.is_external)
                    .maybe(name!("override"), moved.from.as_deref())
                    .flag(name!("usedOverridden"), moved.is_overridden)
                    .maybe(name!("overrideLabel"), moved.label.as_deref());
            let join = if contexts.is_empty() {
                join
            } else {
                join.with(name!("contextArguments"), Value::List(contexts))
            };
            joins.push(join.node());
        }
        if is_needed { joins } else { Vec::new() }
    }

    /// Returns the values of `contextArguments` of a field in a subgraph.
    fn context_arguments(&self, source: &FieldSource<'_>) -> Vec<Node<Value>> {
        let arguments = source.field.arguments.iter().filter_map(|argument| {
            let directive = argument.directives.get("federation__fromContext")?;
            let (context, selection) = context_parts(text(directive, "field")?)?;
            let context = format!("{}__{context}", self.subgraphs[source.at].name);
            let member = |name: Name, text: &str| (name, Node::new(Value::from(text)));
            Some(Node::new(Value::Object(vec![
                member(name!("context"), &context),
                member(name!("name"), &argument.name),
                member(name!("type"), &argument.ty.to_string()),
                member(name!("selection"), selection),
            ])))
        });
        arguments.collect()
    }

    /// Checks that external fields are what they are where they are resolved.
    fn check_externals(
        &mut self,
        coordinate: &str,
        sources: &[FieldSource<'_>],
        merged: &FieldDefinition,
    ) {
        let mut findings = Vec::new();
        for source in sources.iter().filter(|source| source.is_external) {
            let field = source.field;
            let subgraph = &self.subgraphs[source.at].name;
            let place = self.place(source.at, field.name.location());
            if field.ty != merged.ty {
                let message = format!(
                    "`{coordinate}` is of the type `{}`, and `{}` where it is external in `{subgraph}`",
                    merged.ty, field.ty
                );
                findings.push((
                    CompositionCode::EXTERNAL_TYPE_MISMATCH,
                    message,
                    place.clone(),
                ));
            }
            for argument in &merged.arguments {
                let Some(found) = field.argument_by_name(&argument.name) else {
                    let message = format!(
                        "`{coordinate}` lacks the argument `{}` where it is external in `{subgraph}`",
                        argument.name
                    );
                    findings.push((
                        CompositionCode::EXTERNAL_ARGUMENT_MISSING,
                        message,
                        place.clone(),
                    ));
                    continue;
                };
                // What is passed by a request must be taken by the subgraph.
                if !self.relations.includes(&found.ty, &argument.ty) {
                    let message = format!(
                        "the argument `{}` of `{coordinate}` is of the type `{}`, and `{}` where it is external in `{subgraph}`",
                        argument.name, argument.ty, found.ty
                    );
                    findings.push((
                        CompositionCode::EXTERNAL_ARGUMENT_TYPE_MISMATCH,
                        message,
                        place.clone(),
                    ));
                }
                let is_same_default = match (&found.default_value, &argument.default_value) {
                    (Some(found), Some(merged)) => is_same_value(found, merged),
                    (found, merged) => found.is_none() && merged.is_none(),
                };
                if !is_same_default {
                    let message = format!(
                        "the argument `{}` of `{coordinate}` has a different default value where it \
                         is external in `{subgraph}`",
                        argument.name
                    );
                    findings.push((
                        CompositionCode::EXTERNAL_ARGUMENT_DEFAULT_MISMATCH,
                        message,
                        place.clone(),
                    ));
                }
            }
        }
        for (code, message, place) in findings {
            self.report(code, coordinate, vec![place], message);
        }
    }

    /// Adds to implementations the fields of interfaces that some subgraphs have as objects. Their
    /// `@join__field` is empty: no subgraph resolves them on the implementation itself.
    pub(super) fn add_fields_of_interface_objects(
        &mut self,
        types: &mut IndexMap<Name, ExtendedType>,
    ) {
        let lent: HashSet<(&Name, &Name)> = self
            .interface_objects
            .iter()
            .flat_map(|(_, ty)| {
                let names = fields(ty).into_iter().flatten().map(|(name, _)| name);
                names.map(|name| (ty.name(), name))
            })
            .collect();
        let interfaces: Vec<(Name, Fields)> = types
            .values()
            .filter_map(ExtendedType::as_interface)
            .map(|interface| {
                let fields = interface
                    .fields
                    .iter()
                    .filter(|(name, _)| lent.contains(&(&interface.name, *name)))
                    .map(|(name, field)| (name.clone(), field.clone()));
                (interface.name.clone(), fields.collect::<Fields>())
            })
            .filter(|(_, fields)| !fields.is_empty())
            .collect();
        if interfaces.is_empty() {
            return;
        }
        for ty in types.values_mut() {
            let ExtendedType::Object(object) = ty else {
                continue;
            };
            for (interface, fields) in &interfaces {
                if !object.implements_interfaces.contains(interface.as_str())
                    || is_root(&object.name)
                {
                    continue;
                }
                for (name, field) in fields {
                    if object.fields.contains_key(name) {
                        if let Some(own) = object.make_mut().fields.get_mut(name) {
                            demand(own.make_mut(), field);
                        }
                        continue;
                    }
                    let mut field = FieldDefinition::clone(field);
                    field
                        .directives
                        .0
                        .retain(|it| !it.name.starts_with("join__"));
                    field
                        .directives
                        .0
                        .insert(0, DirectiveBuilder::new(name!("join__field")).node());
                    object
                        .make_mut()
                        .fields
                        .insert(name.clone(), Component::new(field));
                }
            }
        }
    }
}

/// Adds to a field what requests must have for the same field of an interface object: the stricter
/// of both holds, whichever subgraph is asked.
fn demand(own: &mut FieldDefinition, lent: &FieldDefinition) {
    for directive in &lent.directives.0 {
        let argument = match directive.name.as_str() {
            "authenticated" => None,
            "requiresScopes" => Some(name!("scopes")),
            "policy" => Some(name!("policies")),
            _ => continue,
        };
        let mut known = own.directives.0.iter_mut();
        match (known.find(|it| it.name == directive.name), argument) {
            (None, _) => own.directives.0.push(directive.clone()),
            (Some(_), None) => {}
            (Some(known), Some(argument)) => {
                let all = directives::both(argument, &[(0, known), (1, directive)]);
                known.make_mut().arguments = vec![all];
            }
        }
    }
}
