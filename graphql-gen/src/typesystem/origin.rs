//! What each type, field, argument, input field and enum value of the API stems from.
//!
//! Each generator names the origin where it makes the type or the member, so there is no rule by
//! which a name leads back to the document, and none is needed.

use std::fmt;

use apollo_compiler::Name;
use apollo_compiler::collections::HashMap;
use apollo_compiler::schema::ExtendedType;
use soml_core::schema::{EnumId, ObjectId, PropertyId, Schema};
use soml_core::span::Span;

use super::setting::Setting;

/// The part of a SOML schema that something in the API is generated for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// No single part: it does not belong to an object, a property or an enumeration.
    BuiltIn,
    /// An object. A key that picks out instances of an object (`_ifDroid`) stems from that object,
    /// whichever type has the key.
    Object(ObjectId),
    /// The name of an object, whichever property that is.
    Name(ObjectId),
    /// A property of an object.
    Property(PropertyId),
    /// An enumeration.
    Enum(EnumId),
}

/// Where a part of the API comes from: what it is generated for, and which settings ask for it.
///
/// ```
/// use std::sync::Arc;
/// use graphql_gen::typesystem::{Api, ApiOptions, Setting, Source};
///
/// let text = "
/// id: /soml/sky
/// config: {enableCollectionCount: true}
/// objects: {Planet: {props: {moons: {max: inf}}}}
/// ";
/// let soml = soml_core::load(text).schema.expect("the document is valid");
/// let planet = soml.object_named("Planet").expect("the object exists");
/// let moons = soml[planet].props[0];
/// let api = Api::new(Arc::new(soml), &ApiOptions::default())?;
///
/// let filter = api.type_origin("Planet_Where").expect("the type exists");
/// assert_eq!(filter.source(), Source::Object(planet));
/// let key = api.member_origin("Planet_Where", "moons").expect("the key exists");
/// assert_eq!(key.source(), Source::Property(moons));
/// let count = api.member_origin("Planet", "moons_count").expect("the field exists");
/// assert_eq!(count.source(), Source::Property(moons));
/// assert!(count.settings().eq([Setting::CollectionCount]));
/// # Ok::<(), graphql_gen::typesystem::ApiError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Origin {
    source: Source,
    /// A bit for each [`Setting`]; there are many origins.
    settings: u16,
}

impl Origin {
    /// The origin of what every API has.
    pub(super) const BUILT_IN: Origin = Origin::of(Source::BuiltIn);

    /// Returns the origin of what no setting asks for.
    pub(super) const fn of(source: Source) -> Self {
        Origin {
            source,
            settings: 0,
        }
    }

    /// Adds a setting.
    pub(super) const fn under(self, setting: Setting) -> Self {
        Origin {
            source: self.source,
            settings: self.settings | (1 << setting as u16),
        }
    }

    /// Returns the origin of a member that is about the name of what the type is about.
    pub(super) fn of_name(self) -> Self {
        match self.source {
            Source::Object(id) => Origin::of(Source::Name(id)),
            other => Origin::of(other),
        }
    }

    /// Returns what it is generated for.
    #[must_use]
    pub fn source(self) -> Source {
        self.source
    }

    /// Returns the settings that decide whether it is there, what it is called, or what it defaults
    /// to.
    ///
    /// Those of a member come beside those of its type.
    pub fn settings(self) -> impl Iterator<Item = Setting> {
        let all = Setting::ALL.iter().copied();
        all.filter(move |&setting| self.settings & (1 << setting as u16) != 0)
    }
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Origin")
            .field("source", &self.source)
            .field("settings", &self.settings().collect::<Vec<_>>())
            .finish()
    }
}

impl Source {
    /// Returns the place of the source in the document.
    pub(super) fn span(self, soml: &Schema) -> Option<Span> {
        match self {
            Source::BuiltIn => None,
            Source::Object(id) | Source::Name(id) => Some(soml[id].span),
            Source::Property(id) => Some(soml[id].span),
            Source::Enum(id) => Some(soml[id].span),
        }
    }

    /// Names the source in messages.
    pub(super) fn describe(self, soml: &Schema) -> String {
        match self {
            Source::BuiltIn => "a type of every API".to_owned(),
            Source::Object(id) => format!("object `{}`", soml[id].name),
            Source::Name(id) => format!("the name of object `{}`", soml[id].name),
            Source::Property(id) => format!("property `{}`", soml[id].name),
            Source::Enum(id) => format!("type `{}`", soml[id].name),
        }
    }
}

/// The origins of a type and of its members.
pub(super) struct TypeOrigin {
    pub(super) own: Origin,
    /// In the order of the type's members; nothing when all stem from what the type stems from.
    members: Box<[Origin]>,
}

impl TypeOrigin {
    /// Creates the entry of a type, given what its members stem from where that is something else.
    pub(super) fn new(own: Origin, members: &[Option<Origin>]) -> Self {
        let like_type = Origin::of(own.source);
        let members = if members.iter().any(Option::is_some) {
            members.iter().map(|m| m.unwrap_or(like_type)).collect()
        } else {
            Box::default()
        };
        TypeOrigin { own, members }
    }

    fn member(&self, position: usize) -> Origin {
        let like_type = || Origin::of(self.own.source);
        self.members
            .get(position)
            .copied()
            .unwrap_or_else(like_type)
    }
}

/// The origins of all types.
pub(super) type Origins = HashMap<Name, TypeOrigin>;

/// Finds the origin of a field, an input field or an enum value.
pub(super) fn of_member(
    origins: &Origins,
    definition: &ExtendedType,
    member: &str,
) -> Option<Origin> {
    let position = match definition {
        ExtendedType::Object(ty) => ty.fields.get_index_of(member),
        ExtendedType::Interface(ty) => ty.fields.get_index_of(member),
        ExtendedType::InputObject(ty) => ty.fields.get_index_of(member),
        ExtendedType::Enum(ty) => ty.values.get_index_of(member),
        ExtendedType::Scalar(_) | ExtendedType::Union(_) => None,
    };
    Some(origins.get(definition.name())?.member(position?))
}
