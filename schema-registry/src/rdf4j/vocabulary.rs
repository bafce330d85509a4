//! The names in the named graph: its vocabulary, and the nodes of documents, bindings and leases.
//!
//! Whatever a user sends is percent-encoded down to letters, digits, `-`, `_`, `.` and `~`, so that different names have
//! different nodes, and none is more than the end of an IRI.

use std::borrow::Cow;

use oxrdf::{NamedNode, NamedNodeRef};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::store::ServiceKind;

/// The named graph that holds everything that a [`Rdf4jSchemaStore`](super::Rdf4jSchemaStore) stores.
pub const SCHEMAS_GRAPH: &str = "urn:soml:schemas";

/// The start of all terms of the vocabulary in [`SCHEMAS_GRAPH`].
pub const SCHEMAS_VOCABULARY: &str = "urn:soml:schemas:vocabulary:";

macro_rules! terms {
    ($($name:ident = $term:literal;)*) => {
        $(pub(super) const $name: NamedNodeRef<'static> =
            NamedNodeRef::new_unchecked(concat!("urn:soml:schemas:vocabulary:", $term));)*
    };
}

// Classes.
terms! {
    SCHEMA = "Schema";
    RIGHTS = "Rights";
    BINDING = "Binding";
    LEASE = "Lease";
    MIGRATION = "Migration";
}

// Properties.
terms! {
    ID = "id";
    TEXT = "text";
    REVISION = "revision";
    BYTES = "bytes";
    MODIFIED = "modified";
    APPLICATION = "application";
    SERVICE = "service";
    BOUND_SCHEMA = "schema";
    NAME = "name";
    HOLDER = "holder";
    NUMBER = "number";
    BEAT = "beat";
    PROBE = "probe";
}

const SCHEMAS: &str = "urn:soml:schemas:schema:";

/// What stays as it is in the nodes: the unreserved characters of IRIs.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

pub(super) fn graph() -> NamedNode {
    NamedNode::new_unchecked(SCHEMAS_GRAPH)
}

/// Returns the node of the schema named `id`.
pub(super) fn schema(id: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("{SCHEMAS}{}", encoded(id)))
}

/// Returns the name of the schema of a node.
pub(super) fn schema_id(node: &NamedNode) -> Option<String> {
    let encoded = node.as_str().strip_prefix(SCHEMAS)?;
    let decoded = percent_decode_str(encoded).decode_utf8().ok();
    decoded.map(Cow::into_owned)
}

/// Returns the node of the document that says who may manage schemas.
pub(super) fn rights() -> NamedNode {
    NamedNode::new_unchecked("urn:soml:schemas:rights")
}

/// Returns the node of what an application has bound to a kind of service.
pub(super) fn binding(application: &str, service: ServiceKind) -> NamedNode {
    let (application, service) = (encoded(application), service.name());
    NamedNode::new_unchecked(format!("urn:soml:schemas:binding:{application}:{service}"))
}

/// Returns the node of the lease of a name.
pub(super) fn lease(name: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("urn:soml:schemas:lease:{}", encoded(name)))
}

/// Returns the node of the record of a migration.
pub(super) fn migration() -> NamedNode {
    NamedNode::new_unchecked("urn:soml:schemas:migration")
}

/// Returns the node that probes try to remove, and that no one writes.
pub(super) fn probe() -> NamedNode {
    NamedNode::new_unchecked("urn:soml:schemas:probe")
}

fn encoded(name: &str) -> String {
    utf8_percent_encode(name, ENCODED).to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const NAMES: [&str; 9] = [
        "films",
        "a:objects",
        "a%3Aobjects",
        "> } ; DROP ALL #",
        "é\u{1f30d}\n",
        "..",
        "",
        "\"",
        "a b",
    ];

    #[test]
    fn no_name_is_more_than_the_end_of_an_iri_and_none_collide() {
        let mut nodes = HashSet::new();
        for name in NAMES {
            let [objects, search] = ServiceKind::ALL.map(|service| binding(name, service));
            for node in [schema(name), objects, search, lease(name)] {
                let parsed = NamedNode::new(node.as_str());
                assert_eq!(parsed.as_ref().ok(), Some(&node), "{name}");
                assert!(!node.as_str().contains(['>', ' ', '"', '\n']), "{node}");
                assert!(nodes.insert(node), "{name}");
            }
        }
        for node in [rights(), migration(), probe(), graph()] {
            assert!(nodes.insert(node));
        }
        assert!(
            nodes
                .iter()
                .all(|node| !node.as_str().starts_with(SCHEMAS_VOCABULARY))
        );
    }

    #[test]
    fn the_name_of_a_schema_is_read_from_its_node() {
        for name in NAMES {
            assert_eq!(schema_id(&schema(name)).as_deref(), Some(name));
        }
        assert_eq!(schema_id(&rights()), None);
        let damaged = NamedNode::new_unchecked("urn:soml:schemas:schema:%ff");
        assert_eq!(schema_id(&damaged), None);
    }
}
