//! `_entities`: objects by type and id, as requested by a federation gateway
//! (<https://www.apollographql.com/docs/federation/subgraph-spec>).

use std::sync::Arc;

use apollo_compiler::Node;
use apollo_compiler::executable::{self, SelectionSet};
use graph_store::query::{NodeCondition, Page, Selection};
use graphql_gen::typesystem::TypeRef;
use graphql_service::error::{GraphqlError, Location};
use oxrdf::NamedNode;
use soml_core::access::Part;

use super::build::{Planner, Scope};
use super::collect::{Fields, Parent, collect};
use super::input::Input;
use super::{RootEntities, RootObjects, RootValue};
use crate::code;
use crate::rdf::with_subclasses;

type Result<T> = std::result::Result<T, GraphqlError>;

/// A parsed representation.
struct Representation {
    target: TypeRef,
    id: Option<NamedNode>,
}

impl<'a> Planner<'_, 'a> {
    /// Plans `_entities`: one selection and one level per type, however many representations.
    pub(super) fn entities(
        &mut self,
        field: &'a Node<executable::Field>,
        nodes: &[&'a Node<executable::Field>],
    ) -> Result<Option<RootValue>> {
        let view = self.input.view();
        let arguments = self.arguments(field);
        let (input, location) = arguments
            .values
            .get("representations")
            .unwrap_or((Input::List(Vec::new()), None));
        let list = input.as_list();
        if list.len() > self.input.limits.list_length {
            let message = "too many objects are requested by id";
            return Err(GraphqlError::new(code::LIMIT_LIST_LENGTH, message)
                .at(location)
                .with("limit", self.input.limits.list_length));
        }
        let mut targets: Vec<(TypeRef, Vec<NamedNode>)> = Vec::new();
        let mut representations = Vec::with_capacity(list.len());
        let mut denied: Vec<TypeRef> = Vec::new();
        for input in list {
            let Representation { target, id } = self.representation(input, location)?;
            // The id is the key that the object is found by.
            if view.shown(target).is_nothing() || view.readable(target, Part::Id).is_nothing() {
                if !denied.contains(&target) {
                    denied.push(target);
                }
                // An object that may not be shown is null, as one that does not exist.
                representations.push(None);
                continue;
            }
            let position = targets
                .iter()
                .position(|(known, _)| *known == target)
                .unwrap_or_else(|| {
                    targets.push((target, Vec::new()));
                    targets.len() - 1
                });
            targets[position].1.extend(id.clone());
            representations.push(id.map(|id| (position, id.into())));
        }
        let sets: Vec<_> = nodes.iter().map(|node| &node.selection_set).collect();
        let scope = Scope {
            // Gateways have no place for the argument; fields have their own.
            lang: None,
            dataset: Arc::new(arguments.dataset()?),
        };
        let types = targets
            .into_iter()
            .map(|(target, ids)| self.entities_of(target, ids, &sets, &scope))
            .collect::<Result<Vec<_>>>()?;
        let is_left = types.iter().any(|ty| !self.left_out.is_empty(ty.level));
        for target in &denied {
            self.leave_out_of_entities(*target, &sets);
        }
        let asks_for_nothing = denied.is_empty() && types.is_empty();
        if !is_left && !asks_for_nothing {
            return Ok(None);
        }
        Ok(Some(RootValue::Entities(Box::new(RootEntities {
            types,
            representations,
        }))))
    }

    /// Plans the objects of one type that are asked for by their ids.
    fn entities_of(
        &mut self,
        target: TypeRef,
        ids: Vec<NamedNode>,
        sets: &[&'a SelectionSet],
        scope: &Scope,
    ) -> Result<RootObjects> {
        let view = self.input.view();
        let test = NodeCondition::Instance(view.test(target));
        let shown = view
            .shown(target)
            .condition()
            .into_iter()
            .chain(view.readable(target, Part::Id).condition());
        let conditions = shown.chain([test, NodeCondition::one_of(ids)]);
        let selection = Selection {
            condition: NodeCondition::all(conditions),
            order: Vec::new(),
            page: Page::default(),
            dataset: (*scope.dataset).clone(),
        };
        let level = self.level(target, sets, scope)?;
        Ok(RootObjects { selection, level })
    }

    /// Warns of the fields of entities that are not shown, each by itself: whoever asked the gateway for them has
    /// not written `_entities`.
    fn leave_out_of_entities(&mut self, target: TypeRef, sets: &[&'a SelectionSet]) {
        for &object in self.input.api.possible_types(target) {
            let mut fields = Fields::default();
            collect(self.input, &Parent::Object(object), sets, &mut fields);
            let is_name = |node: &executable::Field| node.name == "__typename";
            let names_only = fields.entries.iter().all(|(_, nodes)| is_name(nodes[0]));
            for (key, nodes) in &fields.entries {
                if names_only || !is_name(nodes[0]) {
                    self.left_out.field(self.input, key, nodes[0]);
                }
            }
        }
    }

    fn representation(&self, input: &Input, location: Option<Location>) -> Result<Representation> {
        let invalid =
            |message: String| GraphqlError::new(code::ARGUMENT_INVALID, message).at(location);
        let Input::Object(fields) = input else {
            return Err(invalid("a representation must be an object".to_owned()));
        };
        let member = |wanted: &str| fields.iter().find(|(key, _)| key == wanted);
        let text = |wanted: &str| {
            member(wanted)
                .and_then(|(_, value)| value.as_text())
                .ok_or_else(|| invalid(format!("a representation must have the text `{wanted}`")))
        };
        let name = text("__typename")?;
        let target = self.input.api.type_ref(name);
        let target = target
            // A representation of a type with subtypes may be one of a subtype (docs/schema.md,
            // "The API").
            .map(|target| with_subclasses(self.input.api, target))
            .filter(|target| *target != TypeRef::Nameable)
            .ok_or_else(|| invalid(format!("`{name}` is not a type with a key")))?;
        // A gateway sends a key that is null as null. Such an object is unknown, and the others are not.
        let id = match member("id") {
            Some((_, Input::Null)) => None,
            _ => NamedNode::new(text("id")?).ok(),
        };
        Ok(Representation { target, id })
    }
}
