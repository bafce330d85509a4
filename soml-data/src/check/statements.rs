//! What only a store that shows all its statements can tell: what the schema does not name.

use std::collections::{HashMap, HashSet};

use graph_store::{CallContext, Statements, StoreError};
use oxrdf::{NamedNode, NamedOrBlankNode, Term};
use soml_core::schema::{ObjectId, Path, Schema};

use super::code::CheckCode;
use super::report::{Element, Tally};
use super::types::{NodeTypes, Types};

/// How many statements are read between two looks at the deadline.
const CHECK_EVERY: usize = 1_024;

/// The properties that a schema names for each object type.
pub(super) struct KnownProperties(HashMap<ObjectId, HashSet<NamedNode>>);

impl KnownProperties {
    pub(super) fn new(schema: &Schema, types: &Types<'_>) -> Self {
        let known = schema.objects().map(|(id, object)| {
            let named = object.props.iter().filter_map(|p| match &schema[*p].path {
                Path::Forward(iri) => Some(NamedNode::new_unchecked(iri.as_str())),
                Path::Inverse { .. } => None,
            });
            // What `inverseOf` stores belongs to the partner's object, and the other way round.
            (id, named.chain(types.properties().cloned()).collect())
        });
        KnownProperties(known.collect())
    }

    /// Checks all statements about one object.
    pub(super) fn check(
        &self,
        object: ObjectId,
        node: &NamedNode,
        node_types: &NodeTypes,
        statements: &dyn Statements,
        tally: &mut Tally,
    ) -> Result<(), StoreError> {
        let element = Element {
            object: Some(object),
            property: None,
        };
        let is_known = |property: &NamedNode| {
            let mut sets = node_types.matched.iter().filter_map(|id| self.0.get(id));
            sets.any(|known| known.contains(property))
        };
        statements.about(node, &mut |property, value| {
            let detail = format!("<{}>", property.as_str());
            if !is_known(&property) {
                let code = CheckCode::PropertyUnknown;
                tally.add(code, element, &detail, node.as_str(), Some(&value));
            } else if matches!(value, Term::BlankNode(_)) {
                let detail = format!("as value of {detail}");
                tally.add(CheckCode::BlankNode, element, &detail, node.as_str(), None);
            }
        })
    }
}

/// Checks the types of all nodes.
pub(super) fn check_classes(
    types: &Types<'_>,
    statements: &dyn Statements,
    context: &CallContext,
    tally: &mut Tally,
) -> Result<(), StoreError> {
    for (position, property) in types.properties().enumerate() {
        for (read, statement) in statements.of_property(property).enumerate() {
            if read % CHECK_EVERY == 0 {
                context.check()?;
            }
            let (subject, Term::NamedNode(ty)) = statement? else {
                continue;
            };
            let detail = format!("<{}>", ty.as_str());
            let is_known = types.knows(position, &ty);
            let (code, subject) = match &subject {
                NamedOrBlankNode::BlankNode(blank) if is_known => {
                    let detail = format!("as an instance of {detail}");
                    let element = Element::default();
                    tally.add(
                        CheckCode::BlankNode,
                        element,
                        &detail,
                        &blank.to_string(),
                        None,
                    );
                    continue;
                }
                // Blank nodes of other classes are parts of something else.
                NamedOrBlankNode::BlankNode(_) => continue,
                NamedOrBlankNode::NamedNode(_) if is_known => continue,
                NamedOrBlankNode::NamedNode(node) if is_object(types, statements, node)? => {
                    (CheckCode::ClassBeside, node)
                }
                NamedOrBlankNode::NamedNode(node) => (CheckCode::ClassUnknown, node),
            };
            tally.add(code, Element::default(), &detail, subject.as_str(), None);
        }
    }
    Ok(())
}

/// Returns whether some type of a node is known.
fn is_object(
    types: &Types<'_>,
    statements: &dyn Statements,
    node: &NamedNode,
) -> Result<bool, StoreError> {
    let mut is_object = false;
    statements.about(node, &mut |property, value| {
        let position = types.properties().position(|known| *known == property);
        if let (Some(position), Term::NamedNode(ty)) = (position, value) {
            is_object |= types.knows(position, &ty);
        }
    })?;
    Ok(is_object)
}
