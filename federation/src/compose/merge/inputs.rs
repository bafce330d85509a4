//! Merges input objects: they have the fields that all subgraphs know, since any of them may be
//! sent one.

use apollo_compiler::ast::{DirectiveList as AstDirectives, InputValueDefinition};
use apollo_compiler::collections::IndexMap;
use apollo_compiler::schema::{Component, DirectiveList, ExtendedType, InputObjectType};
use apollo_compiler::{Name, Node, name};

use super::arguments::ValueCodes;
use super::{Merge, Sources, distinct_names};
use crate::compose::code::{CompositionCode, HintCode};
use crate::supergraph::join::DirectiveBuilder;

const FIELD: ValueCodes = ValueCodes {
    ty: CompositionCode::FIELD_TYPE_MISMATCH,
    default: CompositionCode::INPUT_FIELD_DEFAULT_MISMATCH,
    missing: CompositionCode::REQUIRED_INPUT_FIELD_MISSING_IN_SOME_SUBGRAPH,
    missing_optional: HintCode::INCONSISTENT_INPUT_OBJECT_FIELD,
    compatible: HintCode::INCONSISTENT_BUT_COMPATIBLE_FIELD_TYPE,
};

impl Merge<'_> {
    pub(super) fn merge_input(
        &mut self,
        name: &Name,
        sources: &Sources<'_, ExtendedType>,
        description: Option<Node<str>>,
        directives: DirectiveList,
    ) -> Option<ExtendedType> {
        let inputs: Vec<_> = sources
            .iter()
            .filter_map(|(at, ty)| Some((*at, ty.as_input_object()?)))
            .collect();
        let mut fields = IndexMap::default();
        let mut has_errors = false;
        for field in distinct_names(inputs.iter().flat_map(|(_, input)| input.fields.keys())) {
            let coordinate = format!("{name}.{field}");
            let of =
                |input: &InputObjectType| input.fields.get(field).map(|field| field.node.clone());
            let found: Vec<_> = inputs.iter().map(|(at, input)| (*at, of(input))).collect();
            // What clients do not see may be there in some subgraphs only.
            let mut known = found.iter().filter_map(|(_, it)| it.as_ref());
            let is_hidden = known.any(|it| it.directives.has("federation__inaccessible"));
            if !is_hidden && found.iter().any(|(_, it)| it.is_none()) {
                self.missing_value(&coordinate, &FIELD, &found);
                self.merge_defaults_of(&coordinate, &found, FIELD.default);
                continue;
            }
            let given: Vec<_> = found
                .iter()
                .filter_map(|(at, it)| Some((*at, it.as_ref()?)))
                .collect();
            match self.merge_value_definition(&coordinate, field, &given, &FIELD) {
                Some(merged) => {
                    let merged = self.with_types(&given, merged, given.len() < found.len());
                    fields.insert(field.clone(), merged);
                }
                None => has_errors = true,
            }
        }
        if fields.is_empty() && !has_errors {
            let code = CompositionCode::EMPTY_MERGED_INPUT_TYPE;
            self.report_empty(code, "field of the input object", name, sources);
            return None;
        }
        Some(ExtendedType::InputObject(Node::new(InputObjectType {
            description,
            name: name.clone(),
            directives,
            fields,
        })))
    }

    /// Adds which subgraphs have a field if some lack it, and its types in subgraphs if they differ.
    fn with_types(
        &self,
        given: &[(usize, &Node<InputValueDefinition>)],
        merged: Node<InputValueDefinition>,
        is_partial: bool,
    ) -> Component<InputValueDefinition> {
        let mut merged = InputValueDefinition::clone(&merged);
        if is_partial || given.iter().any(|(_, it)| it.ty != merged.ty) {
            let joins = given.iter().map(|(at, it)| {
                let join =
                    DirectiveBuilder::of_graph(name!("join__field"), &self.subgraphs[*at].graph);
                let differs = (it.ty != merged.ty).then(|| it.ty.to_string());
                join.maybe(name!("type"), differs.as_deref()).node()
            });
            let mut directives = AstDirectives(joins.collect());
            directives.0.append(&mut merged.directives.0);
            merged.directives = directives;
        }
        Component::new(merged)
    }
}
