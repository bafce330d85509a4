//! Root fields of operations.

use graphql_service::error::{GraphqlError, Location};
use graphql_service::limits::exceeded;
use oxrdf::NamedNode;

use super::arguments::Place;
use super::federation::EntityTypes;
use super::input::Input;
use super::reference::References;
use super::selection::FieldGroup;
use super::shape::{Fields, KeyForm, ResponseShape, Shapes};
use crate::code;
use crate::dsl::Search;
use crate::limits::SearchLimits;

/// A root field of an operation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RootField {
    /// A search.
    Search(Box<RootSearch>),
    /// The schema of a subgraph as text.
    Service(RootService),
    /// Objects of a subgraph by their representations.
    Entities(Box<RootEntities>),
    /// What every GraphQL service has: `__typename`, `__schema` or `__type`.
    Introspection {
        /// The key of the field in the response.
        key: String,
    },
}

/// The root fields of an operation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RootFields {
    /// The fields that are answered, in the order of the response.
    pub fields: Vec<RootField>,
    /// A warning for each field that its sender may not read, and that is left out.
    pub left_out: Vec<GraphqlError>,
}

impl RootField {
    /// Returns the key of the field in the response.
    #[must_use]
    pub fn key(&self) -> &str {
        match self {
            RootField::Search(search) => &search.key,
            RootField::Service(service) => &service.key,
            RootField::Entities(entities) => &entities.key,
            RootField::Introspection { key } => key,
        }
    }
}

/// A root field of an operation, as a search.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RootSearch {
    /// The key of the field in the response.
    pub key: String,
    /// The position of the index in [`Indexes::indexes`](crate::mapping::Indexes::indexes).
    pub index: usize,
    /// The search.
    pub search: Search,
    /// What the answer shows.
    pub shape: ResponseShape,
    /// Where the field stands in the document.
    pub location: Option<Location>,
    /// How the keys of the buckets of each aggregation look.
    pub(crate) key_forms: Vec<KeyForm>,
    /// Some objects are not shown to the sender, so that nothing is said of all.
    pub(crate) hides_some: bool,
}

/// The root field `_service` of an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct RootService {
    pub(super) key: String,
    /// What the answer shows.
    pub(crate) fields: Fields<ServicePart>,
}

/// A field of the type `_Service`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServicePart {
    TypeName,
    Sdl,
}

/// The root field `_entities` of an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct RootEntities {
    pub(super) key: String,
    /// The objects, each by the position of its type and its IRI; `None` for one whose id is no IRI.
    pub(crate) objects: Vec<Option<(usize, String)>>,
    /// What the answer shows of each.
    pub(crate) shown: References,
}

impl<'d> Shapes<'d, '_> {
    /// Reads the root field `_service`.
    pub(super) fn service(self, group: FieldGroup<'d, '_>) -> RootService {
        RootService {
            key: group.key.to_owned(),
            fields: self.fields(group.selection_sets(), |name, _| match name {
                "sdl" => ServicePart::Sdl,
                _ => ServicePart::TypeName,
            }),
        }
    }

    /// Reads the root field `_entities` of a subgraph; what is left of the bound goes down.
    pub(super) fn entities(
        self,
        group: FieldGroup<'d, '_>,
        limits: &SearchLimits,
        left: &mut usize,
    ) -> Result<RootEntities, GraphqlError> {
        let field = group.first();
        let place = Place {
            location: Location::of(field.name.location(), &self.of.document().sources),
        };
        let given = field.specified_argument_by_name("representations");
        let given = given.and_then(|argument| Input::new(argument, self.of.prepared));
        let given = given.as_ref().map(Input::items).unwrap_or_default();
        *left = left.checked_sub(given.len()).ok_or_else(|| {
            let message = "the request has too many representations";
            let error = exceeded(code::LIMIT_REPRESENTATIONS, message, limits.representations);
            error.at(place.location)
        })?;
        let (schema, types) = self.references.expect("a subgraph has types of entities");
        let objects = given.iter().map(|given| object(types, given, place));
        Ok(RootEntities {
            key: group.key.to_owned(),
            objects: objects.collect::<Result<_, _>>()?,
            shown: References::of(self.of, schema, types, group.selection_sets()),
        })
    }
}

/// Reads the representation of an object. It is echoed: only the object service knows whether the
/// object exists (docs/search.md, "Federation").
fn object(
    types: &EntityTypes,
    given: &Input,
    place: Place,
) -> Result<Option<(usize, String)>, GraphqlError> {
    let invalid = |message: String| place.error(code::REPRESENTATION_INVALID, message);
    let text = |member: &str| match given.get(member) {
        Some(Input::Text(text)) => Ok(text.as_str()),
        _ => Err(invalid(format!(
            "a representation must have the text `{member}`"
        ))),
    };
    let (name, id) = (text("__typename")?, text("id")?);
    let ty = types
        .types
        .iter()
        .position(|ty| ty.name == name)
        .ok_or_else(|| {
            let shown: String = name.chars().take(80).collect();
            invalid(format!("`{shown}` is not a type with a key"))
        })?;
    Ok(NamedNode::new(id).ok().map(|id| (ty, id.into_string())))
}
