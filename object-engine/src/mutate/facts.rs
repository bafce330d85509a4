//! What a schema says about writing, worked out once.

use std::collections::{HashMap, HashSet};

use graph_store::query::{Step, TypeIndex};
use graphql_gen::typesystem::{Api, TypeRef};
use oxrdf::NamedNode;
use soml_core::schema::{Max, ObjectKind, Path, Property, Range, Schema};

use crate::plan::validation;
use crate::rdf::type_index;

/// What a schema says about writing.
pub(crate) struct WriteFacts {
    /// The index that finds the concrete type of any object.
    pub(super) types: TypeIndex,
    /// The properties that hold types.
    pub(super) type_properties: Vec<NamedNode>,
    /// For each predicate, those that hold the same in the opposite direction.
    partners: HashMap<NamedNode, Vec<NamedNode>>,
    /// The steps to values whose number or content some property bounds.
    bounded: HashSet<Step>,
}

impl WriteFacts {
    pub(crate) fn new(api: &Api) -> Self {
        let schema: &Schema = api.soml();
        let types = type_index(api, TypeRef::AnyObject);
        let mut type_properties: Vec<NamedNode> = types.properties().cloned().collect();
        for object in &schema.objects {
            let is_known = |known: &NamedNode| known.as_str() == object.type_prop;
            if !type_properties.iter().any(is_known) {
                type_properties.push(NamedNode::new_unchecked(object.type_prop.as_str()));
            }
        }
        let of_concrete =
            |property: &&Property| schema[property.owner].kind == ObjectKind::Concrete;
        let bounded = schema
            .properties
            .iter()
            .filter(of_concrete)
            .filter(|property| is_bounded(schema, property));
        WriteFacts {
            types,
            type_properties,
            partners: partners(schema),
            bounded: bounded.map(|property| Step::from(&property.path)).collect(),
        }
    }

    /// Returns the predicates that hold in the opposite direction where this one holds.
    pub(super) fn partners(&self, predicate: &NamedNode) -> &[NamedNode] {
        self.partners.get(predicate).map_or(&[], Vec::as_slice)
    }

    /// Returns whether the values that a step leads to are checked as a whole.
    pub(super) fn is_bounded(&self, step: &Step) -> bool {
        self.bounded.contains(step)
    }
}

/// Returns whether the values of a property are checked as a whole.
fn is_bounded(schema: &Schema, property: &Property) -> bool {
    let unique = || validation(schema, property).is_some_and(|rule| rule.unique);
    property.min > 0
        || property.max != Max::Unbounded
        || property.immutable
        || (matches!(property.range, Range::Literal(_)) && unique())
}

/// Returns what `inverseOf` and `symmetric` say of predicates.
fn partners(schema: &Schema) -> HashMap<NamedNode, Vec<NamedNode>> {
    let mut partners: HashMap<NamedNode, Vec<NamedNode>> = HashMap::new();
    let mut pair = |a: &str, b: &str| {
        let of = partners.entry(NamedNode::new_unchecked(a)).or_default();
        let partner = NamedNode::new_unchecked(b);
        if !of.contains(&partner) {
            of.push(partner);
        }
    };
    for property in &schema.properties {
        let Path::Forward(iri) = &property.path else {
            continue;
        };
        if property.symmetric {
            pair(iri, iri);
        }
        let inverse = property.inverse_of.map(|id| &schema[id].path);
        if let Some(Path::Forward(inverse)) = inverse {
            pair(iri, inverse);
            pair(inverse, iri);
        }
    }
    partners
}
