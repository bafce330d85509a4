//! Names that the API gives a meaning of its own, so that no property or object may bear them.

use apollo_compiler::collections::HashSet;
use soml_core::Finding;
use soml_core::schema::{ObjectKind, Property, Schema};

use super::error::ProblemKind;
use super::query::lower_first;

/// Keys of filters and orders beside those of properties (docs/schema.md, "Names").
const FILTER_KEYS: [&str; 7] = ["AND", "OR", "NOT", "ID", "ALL", "ALL_EXISTS", "_typename"];

/// Keys of references in mutations beside those of types (docs/writing.md, "Changing").
const REFERENCE_KEYS: [&str; 3] = ["ids", "patch", "replace"];

/// Fields of mutation payloads and change events beside those of objects.
const PAYLOAD_FIELDS: [&str; 5] = [
    "affected_count",
    "affected_objects",
    "_mutationType",
    "_transaction",
    "_transactionTime",
];

/// Finds properties whose filter keys have another meaning.
pub(super) struct FilterKeys<'a> {
    concrete: HashSet<&'a str>,
}

impl<'a> FilterKeys<'a> {
    pub(super) fn new(soml: &'a Schema) -> Self {
        let concrete = soml
            .objects
            .iter()
            .filter(|o| o.kind == ObjectKind::Concrete);
        FilterKeys {
            concrete: concrete.map(|o| o.name.graphql.as_str()).collect(),
        }
    }

    pub(super) fn check(&self, property: &Property) -> Option<Finding> {
        let key = property.name.graphql.as_str();
        // Only concrete types have a key `_if<Type>`; the name of an abstract one stays free.
        let narrows = key
            .strip_prefix("_if")
            .is_some_and(|object| self.concrete.contains(object));
        if !narrows && !FILTER_KEYS.contains(&key) {
            return None;
        }
        let message = format!(
            "property `{}` gives the filter key `{key}`, which filters use themselves",
            property.name
        );
        Some(
            ProblemKind::FieldNameTaken
                .at(Some(property.span), message)
                .with_help("rename it and give its old IRI with `rdfProp`"),
        )
    }
}

/// Finds objects that cannot be keys beside the built-in ones.
pub(super) fn check_objects(soml: &Schema, mutations: bool) -> Vec<Finding> {
    let concrete = soml
        .objects
        .iter()
        .filter(|o| o.kind == ObjectKind::Concrete);
    let clashes = concrete.filter(|object| {
        let name = object.name.graphql.as_str();
        // A payload reads its objects back under the name of their type (docs/writing.md, "The
        // fields").
        PAYLOAD_FIELDS.contains(&lower_first(name).as_str())
            || (mutations && REFERENCE_KEYS.contains(&name))
    });
    clashes
        .map(|object| {
            let message = format!(
                "the name of object `{}` is a key that mutations use",
                object.name
            );
            ProblemKind::FieldNameTaken
                .at(Some(object.span), message)
                .with_help("rename it and give its old IRI with `type`")
        })
        .collect()
}
