//! The effective schema: what a SOML document means once inheritance, global properties and
//! defaults are resolved.
//!
//! Objects and properties are in dense vectors and refer to each other by index, so a schema is
//! cheap to traverse and needs no reference counting. This module is independent of YAML, GraphQL
//! servers and SPARQL.

use std::collections::HashSet;
use std::fmt;
use std::ops::Index;

use crate::config::Config;
use crate::datatype::Scalar;
use crate::lang::PropertyLang;
use crate::rbac::Rbac;
use crate::search::SearchSettings;
use crate::span::Span;

/// Index of an [`Object`] in its [`Schema`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub u32);

/// Index of an effective [`Property`] in its [`Schema`].
///
/// A property that several objects share has one entry per object, since inheritance and local
/// keys may give each its own characteristics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PropertyId(pub u32);

/// Index of an [`EnumType`] in its [`Schema`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EnumId(pub u32);

/// Index of a [`UnionType`] in its [`Schema`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnionId(pub u32);

/// The three names of an object or a property.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Name {
    /// As the document writes it, prefix included.
    pub written: String,
    /// As GraphQL clients see it: vocabulary prefix dropped, other punctuation made `_`.
    pub graphql: String,
    /// The IRI that the name itself stands for.
    pub iri: String,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

/// A resolved SOML document.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Schema {
    /// Document identifier, such as `/soml/swapi`.
    pub id: String,
    /// Descriptive keys at the top of the document.
    pub metadata: Metadata,
    /// Schema-wide settings.
    pub config: Config,
    /// Declared and predefined prefixes, and the special ones.
    pub prefixes: Prefixes,
    /// Enumerations of the `types` section, in document order.
    pub enums: Vec<EnumType>,
    /// Union datatypes of the `types` section, in document order.
    pub unions: Vec<UnionType>,
    /// Object types in document order.
    pub objects: Vec<Object>,
    /// Effective properties of all objects.
    pub properties: Vec<Property>,
    /// Roles.
    pub rbac: Rbac,
}

/// Descriptive keys of a document; all free text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metadata {
    /// Display name of the schema.
    pub label: Option<String>,
    /// Name or address of the author.
    pub creator: Option<String>,
    /// Creation date as written.
    pub created: Option<String>,
    /// Date of the last change as written.
    pub updated: Option<String>,
    /// Version of this schema as written.
    pub version_info: Option<String>,
}

/// Namespace bindings of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prefixes {
    /// Base of relative IRIs in the data.
    pub base_iri: String,
    /// Namespace of object and property names without a prefix.
    pub vocab_iri: String,
    /// Prefix bound to [`Prefixes::vocab_iri`].
    pub vocab_prefix: String,
    /// IRI of the ontology, for statements about it.
    pub ontology_iri: String,
    /// Namespace of generated shapes.
    pub shape_iri: String,
    /// Prefix and namespace, the document's own first, then predefined ones it does not redeclare.
    pub bindings: Vec<(String, String)>,
}

impl Prefixes {
    /// Returns the namespace bound to `prefix`.
    #[must_use]
    pub fn namespace(&self, prefix: &str) -> Option<&str> {
        self.bindings
            .iter()
            .find(|(p, _)| p == prefix)
            .map(|(_, ns)| ns.as_str())
    }

    /// Returns a written name without the vocabulary prefix, which may be written or not.
    #[must_use]
    pub fn bare<'n>(&self, written: &'n str) -> &'n str {
        written
            .strip_prefix(self.vocab_prefix.as_str())
            .and_then(|rest| rest.strip_prefix(':'))
            .unwrap_or(written)
    }
}

/// An enumeration datatype. Its values are stored as plain strings equal to their names.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EnumType {
    /// Names of the type.
    pub name: Name,
    /// Display name.
    pub label: Option<String>,
    /// Description.
    pub descr: Option<String>,
    /// Values in document order; never empty in a valid schema.
    pub values: Vec<EnumValue>,
    /// Position of the type's key.
    pub span: Span,
}

/// One value of an [`EnumType`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EnumValue {
    /// The value, which is its GraphQL name and its stored string.
    pub name: String,
    /// Display name.
    pub label: Option<String>,
    /// Description.
    pub descr: Option<String>,
}

/// A union datatype: literals of any of its members.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnionType {
    /// Names of the type.
    pub name: Name,
    /// Member datatypes.
    pub members: Vec<LiteralMember>,
    /// Description.
    pub descr: Option<String>,
    /// Position of the type's key.
    pub span: Span,
}

/// A member of a union datatype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LiteralMember {
    /// Literals of one scalar datatype.
    Scalar(Scalar),
    /// Language-tagged strings.
    LangString,
}

/// What the values of a property are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Range {
    /// Values of a scalar datatype; `iri` included.
    Scalar(Scalar),
    /// Names of an enumeration.
    Enum(EnumId),
    /// Literals served as the GraphQL type `Literal`.
    Literal(LiteralRange),
    /// Instances of an object type.
    Object(ObjectId),
}

/// Kinds of literals that have the GraphQL type `Literal { value lang type }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LiteralRange {
    /// `langString`: language-tagged strings.
    LangString,
    /// `stringOrLangString`: strings with or without a language tag.
    StringOrLangString,
    /// `literal`: any literal.
    Any,
    /// `dateOrYearOrMonth`: `xsd:date`, `xsd:gYear` or `xsd:gYearMonth`.
    DateOrYearOrMonth,
    /// A union of the `types` section.
    Union(UnionId),
}

/// The maximum number of values of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Max {
    /// At most this many; 1 makes the GraphQL field single-valued.
    Count(u32),
    /// No bound (`inf`).
    Unbounded,
}

impl Max {
    /// Returns whether more than one value is allowed, so that the GraphQL field is a list.
    #[must_use]
    pub fn is_multiple(self) -> bool {
        !matches!(self, Max::Count(0 | 1))
    }
}

/// Whether an object type may have instances of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    /// Has instances; a GraphQL object type.
    Concrete,
    /// Stands for its descendants; a GraphQL interface.
    Abstract,
}

/// An object type.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Object {
    /// Names of the type.
    pub name: Name,
    /// Display name.
    pub label: Option<String>,
    /// Description.
    pub descr: Option<String>,
    /// Concrete or abstract.
    pub kind: ObjectKind,
    /// IRI of the RDF property that holds the class of a node, usually `rdf:type`.
    pub type_prop: String,
    /// IRIs of which any one, under [`Object::type_prop`], makes a node an instance.
    ///
    /// For a concrete object never empty. For an abstract one only what the document writes.
    pub types: Vec<String>,
    /// Direct superclass.
    pub inherits: Option<ObjectId>,
    /// Direct subclasses in document order.
    pub subclasses: Vec<ObjectId>,
    /// The property behind the GraphQL field `name`, own or inherited.
    pub name_property: Option<PropertyId>,
    /// Label of the GraphQL field `name`, from an entry `name` without prefix under `props`.
    ///
    /// Such an entry describes the built-in field; its settings for values apply to the stored
    /// property `<vocab_prefix>:name`, which is [`Property::implied_by_name`].
    pub name_label: Option<String>,
    /// Description of the GraphQL field `name`; see [`Object::name_label`].
    pub name_descr: Option<String>,
    /// Effective properties: inherited ones first (root superclass first), then own ones in
    /// document order; an own property that overrides an inherited one keeps the inherited place.
    /// A name property that no `props` declares comes last.
    pub props: Vec<PropertyId>,
    /// Prefix of the IRIs of instances, absolute; enforced on writes, and never used to select instances.
    pub id_prefix: Option<String>,
    /// Unanchored regular expression that the IRIs of instances must match.
    pub id_regex: Option<String>,
    /// Template or regular expression for the IRIs of instances, as written.
    pub id_pattern: Option<String>,
    /// Generates `extend type` for federation.
    pub extend: bool,
    /// Effective search settings, if any level has some.
    pub search: Option<SearchSettings>,
    /// Name of the federated SPARQL service that holds the instances.
    pub sparql_federated_service: Option<String>,
    /// Extra meta directive, as written.
    pub meta: Option<String>,
    /// Position of the object's key.
    pub span: Span,
}

/// An effective property of one object.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Property {
    /// Names of the property.
    pub name: Name,
    /// The object that this entry belongs to.
    pub owner: ObjectId,
    /// The object that declares it: the owner or a superclass.
    pub declared_by: ObjectId,
    /// Display name.
    pub label: Option<String>,
    /// Description.
    pub descr: Option<String>,
    /// What the values are.
    pub range: Range,
    /// Minimum number of values; enforced on writes only.
    pub min: u32,
    /// Maximum number of values; above 1, the field is a list.
    pub max: Max,
    /// How values are reached in the graph.
    pub path: Path,
    /// The inverse property that is stored too (`inverseOf`).
    pub inverse_of: Option<PropertyId>,
    /// The property is its own inverse.
    pub symmetric: bool,
    /// Values must be instances of the range (`rangeCheck`).
    pub range_check: bool,
    /// Stored literals are cast to the range before use.
    pub type_cast: bool,
    /// The GraphQL field is non-null.
    pub non_nullable: bool,
    /// The elements of the GraphQL list are non-null.
    pub non_nullable_elements: bool,
    /// Can be set once and not changed afterwards.
    pub immutable: bool,
    /// Unanchored regular expression for values.
    pub regex: Option<String>,
    /// Prefix of the IRIs of values, absolute.
    pub prefix: Option<String>,
    /// Template or regular expression for values, as written.
    pub pattern: Option<String>,
    /// List of allowed values as written; empty if any value is allowed.
    pub values_in: Vec<String>,
    /// Language settings of the property alone; schema-wide ones are in [`Config`].
    pub lang: PropertyLang,
    /// The property backs the GraphQL field `name` and no `props` declares it, or only by the
    /// entry `name` without prefix. Its label is `Name` unless a global property gives another.
    pub implied_by_name: bool,
    /// Effective search settings, if any level has some.
    pub search: Option<SearchSettings>,
    /// Name of the federated SPARQL service that holds the values.
    pub sparql_federated_service: Option<String>,
    /// Extra meta directive, as written.
    pub meta: Option<String>,
    /// Position of the property's key in the object or global section that declares it.
    pub span: Span,
}

/// How the values of a property are reached from the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Path {
    /// `?object <iri> ?value`.
    Forward(String),
    /// `?value <iri> ?object`, for `inverseAlias`; nothing is stored for the property itself.
    Inverse {
        /// IRI of the RDF property of the aliased property.
        iri: String,
        /// The aliased property of the range object.
        of: PropertyId,
    },
}

impl Path {
    /// Returns the IRI of the RDF property, in either direction.
    #[must_use]
    pub fn iri(&self) -> &str {
        match self {
            Path::Forward(iri) | Path::Inverse { iri, .. } => iri,
        }
    }
}

macro_rules! dense {
    ($($id:ident),*) => {
        $(impl $id {
            /// Returns the id of the element at `index`. [`LoadOptions`](crate::LoadOptions) bound the elements
            /// of a schema, and a document has fewer than 4 GiB.
            pub(crate) fn at(index: usize) -> $id {
                $id(u32::try_from(index).expect("the number of elements of a schema is bounded"))
            }
        })*
    };
}

dense!(ObjectId, PropertyId, EnumId, UnionId);

impl ObjectId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl PropertyId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl Index<ObjectId> for Schema {
    type Output = Object;

    fn index(&self, id: ObjectId) -> &Object {
        &self.objects[id.0 as usize]
    }
}

impl Index<PropertyId> for Schema {
    type Output = Property;

    fn index(&self, id: PropertyId) -> &Property {
        &self.properties[id.0 as usize]
    }
}

impl Index<EnumId> for Schema {
    type Output = EnumType;

    fn index(&self, id: EnumId) -> &EnumType {
        &self.enums[id.0 as usize]
    }
}

impl Index<UnionId> for Schema {
    type Output = UnionType;

    fn index(&self, id: UnionId) -> &UnionType {
        &self.unions[id.0 as usize]
    }
}

impl Schema {
    /// Returns all objects with their ids, in document order.
    pub fn objects(&self) -> impl ExactSizeIterator<Item = (ObjectId, &Object)> {
        self.objects
            .iter()
            .enumerate()
            .map(|(i, object)| (ObjectId::at(i), object))
    }

    /// Finds an object by its written name, with or without the vocabulary prefix.
    #[must_use]
    pub fn object_named(&self, written: &str) -> Option<ObjectId> {
        let wanted = self.prefixes.bare(written);
        self.objects()
            .find(|(_, object)| self.prefixes.bare(&object.name.written) == wanted)
            .map(|(id, _)| id)
    }

    /// Returns `object` and its superclasses, nearest first.
    pub fn lineage(&self, object: ObjectId) -> impl Iterator<Item = ObjectId> + '_ {
        std::iter::successors(Some(object), |&id| self[id].inherits)
    }

    /// Returns whether `object` is `ancestor` or inherits from it.
    #[must_use]
    pub fn is_a(&self, object: ObjectId, ancestor: ObjectId) -> bool {
        self.lineage(object).any(|id| id == ancestor)
    }

    /// Returns the concrete objects among `object` and its descendants, in document order.
    #[must_use]
    pub fn concrete(&self, object: ObjectId) -> Vec<ObjectId> {
        self.objects()
            .filter(|(id, o)| o.kind == ObjectKind::Concrete && self.is_a(*id, object))
            .map(|(id, _)| id)
            .collect()
    }

    /// Returns the name of the GraphQL interface of each object that has one, in document order: an
    /// abstract object is an interface, and a concrete one with subclasses has one beside its type.
    #[must_use]
    pub fn interface_names(&self) -> Vec<Option<String>> {
        let names = self
            .objects
            .iter()
            .map(|object| object.name.graphql.as_str());
        let taken: HashSet<&str> = names.collect();
        let interface = |object: &Object| {
            let ty = &object.name.graphql;
            if object.kind == ObjectKind::Abstract {
                return Some(ty.clone());
            }
            let beside = format!("{ty}Interface");
            (!object.subclasses.is_empty()).then(|| {
                if taken.contains(beside.as_str()) {
                    format!("{ty}_Interface")
                } else {
                    beside
                }
            })
        };
        self.objects.iter().map(interface).collect()
    }

    /// Returns whether `object` or an ancestor has a name, so that it is GraphQL `Nameable`.
    #[must_use]
    pub fn is_nameable(&self, object: ObjectId) -> bool {
        self[object].name_property.is_some()
    }

    /// Returns the number of distinct property names over all objects, as users count them.
    #[must_use]
    pub fn property_name_count(&self) -> usize {
        let mut names: Vec<_> = self
            .properties
            .iter()
            .map(|p| p.name.iri.as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        names.len()
    }
}
