//! The generated API: its schema, and the way back from GraphQL names to SOML.

use std::sync::Arc;

use apollo_compiler::collections::{HashMap, HashSet, IndexMap};
use apollo_compiler::validation::Valid;
use apollo_compiler::{Name, Schema};
use soml_core::access::{Access, Part};
use soml_core::schema::{ObjectId, PropertyId};

use super::annotate::Annotator;
use super::error::ApiError;
use super::generate::Generated;
use super::hierarchy::index;
use super::mutation::MutationField;
use super::options::{ApiOptions, FederationMode};
use super::origin::{self, Origin, Origins};
use super::subgraph::Subgraph;

/// The GraphQL API of a SOML schema.
///
/// ```
/// use std::sync::Arc;
/// use graphql_gen::typesystem::{Api, ApiOptions, Field, TypeRef};
///
/// let text = "id: /soml/sky\nobjects:\n  Planet: {props: {mass: {range: decimal}}}\n";
/// let soml = soml_core::load(text).schema.expect("the document is valid");
/// let api = Api::new(Arc::new(soml), &ApiOptions::default())?;
///
/// let planets = api.root_field("planet").expect("each object has a root field");
/// assert_eq!(api.type_ref("Planet"), Some(planets.target));
/// assert!(matches!(api.field(planets.target, "mass"), Some(Field::Property(_))));
/// assert!(api.sdl().contains("mass: Decimal"));
/// # Ok::<(), graphql_gen::typesystem::ApiError>(())
/// ```
pub struct Api {
    soml: Arc<soml_core::Valid<soml_core::schema::Schema>>,
    options: ApiOptions,
    schema: Valid<Schema>,
    origins: Origins,
    roots: IndexMap<Name, RootField>,
    type_refs: HashMap<Name, TypeRef>,
    fields: Vec<IndexMap<Name, Field>>,
    types: ObjectTypes,
    mutations: IndexMap<Name, MutationField>,
    mutation_types: HashSet<Name>,
}

/// The GraphQL types of the objects, and the concrete objects behind each.
pub(super) struct ObjectTypes {
    pub(super) type_names: Vec<Name>,
    pub(super) range_types: Vec<TypeRef>,
    pub(super) all: Vec<ObjectId>,
    pub(super) nameable: Vec<ObjectId>,
    pub(super) below: Vec<Vec<ObjectId>>,
    pub(super) ids: Vec<ObjectId>,
}

/// A GraphQL type that stands for objects.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TypeRef {
    /// Interface `Object`.
    AnyObject,
    /// Interface `Nameable`.
    Nameable,
    /// The type of a concrete object.
    Concrete(ObjectId),
    /// The interface of an abstract object, or of a concrete one that has subclasses.
    Interface(ObjectId),
}

impl TypeRef {
    /// Returns the object of the document that the type belongs to.
    #[must_use]
    pub fn object(self) -> Option<ObjectId> {
        match self {
            TypeRef::AnyObject | TypeRef::Nameable => None,
            TypeRef::Concrete(id) | TypeRef::Interface(id) => Some(id),
        }
    }
}

/// What a field of an object reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Field {
    /// The IRI.
    Id,
    /// The IRIs of the RDF types.
    Type,
    /// One value of the name property, chosen by language.
    Name,
    /// The values of a property.
    Property(PropertyId),
    /// The number of values of a property.
    Count(PropertyId),
    /// Counts, extremes and sums of the values of a property.
    Aggregate(PropertyId),
}

impl Field {
    /// Returns the part of an object that the field shows something of, whose right it needs.
    #[must_use]
    pub fn part(self) -> Part {
        match self {
            Field::Id => Part::Id,
            Field::Type => Part::Type,
            Field::Name => Part::Name,
            Field::Property(id) | Field::Count(id) | Field::Aggregate(id) => Part::Property(id),
        }
    }
}

/// What a root field of `Query` selects.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct RootField {
    /// The objects that the field is about.
    pub target: TypeRef,
    /// What it returns of them.
    pub kind: RootKind,
}

/// What a root field answers about its objects.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RootKind {
    /// The objects.
    Objects,
    /// Their number.
    Count,
    /// A window over them, with cursors.
    Connection,
    /// Counts, extremes, sums and groups of them.
    Aggregate,
}

impl Api {
    /// Generates the API of a schema.
    ///
    /// # Errors
    /// All reasons why there is none, with their places in the document: names that clash or that
    /// GraphQL does not allow, and properties that a subclass redefines against its superclass.
    pub fn new(
        soml: Arc<soml_core::Valid<soml_core::schema::Schema>>,
        options: &ApiOptions,
    ) -> Result<Api, ApiError> {
        let generated = Generated::new(&soml, options)?;
        let api = Api {
            soml,
            options: options.clone(),
            schema: generated.schema,
            origins: generated.origins,
            roots: generated.roots,
            type_refs: generated.type_refs,
            fields: generated.fields,
            types: generated.types,
            mutations: generated.mutations,
            mutation_types: generated.mutation_types,
        };
        super::row_rules::check(&api)?;
        Ok(api)
    }

    /// Returns the GraphQL schema that operations are validated against.
    #[must_use]
    pub fn schema(&self) -> &Valid<Schema> {
        &self.schema
    }

    /// Returns the SOML schema that the API was generated from.
    #[must_use]
    pub fn soml(&self) -> &Arc<soml_core::Valid<soml_core::schema::Schema>> {
        &self.soml
    }

    /// Returns the options that the API was generated with.
    #[must_use]
    pub fn options(&self) -> &ApiOptions {
        &self.options
    }

    /// Finds a field of `Query` that lists or counts objects.
    #[must_use]
    pub fn root_field(&self, name: &str) -> Option<RootField> {
        self.roots.get(name).copied()
    }

    /// Finds a field of `Mutation`.
    #[must_use]
    pub fn mutation_field(&self, name: &str) -> Option<MutationField> {
        self.mutations.get(name).copied()
    }

    /// Finds the objects that an object or interface type stands for.
    #[must_use]
    pub fn type_ref(&self, graphql_type: &str) -> Option<TypeRef> {
        self.type_refs.get(graphql_type).copied()
    }

    /// Finds what a field of a type reads; the properties of [`TypeRef::Interface`] are those of
    /// the object that the interface belongs to.
    #[must_use]
    pub fn field(&self, ty: TypeRef, graphql_field: &str) -> Option<Field> {
        match (ty, graphql_field) {
            (TypeRef::AnyObject, "id") => Some(Field::Id),
            (TypeRef::AnyObject, "type") => Some(Field::Type),
            (TypeRef::Nameable, "name") => Some(Field::Name),
            (TypeRef::AnyObject | TypeRef::Nameable, _) => None,
            (TypeRef::Concrete(id) | TypeRef::Interface(id), _) => {
                self.fields[index(id)].get(graphql_field).copied()
            }
        }
    }

    /// Finds what a type is generated for; every type of the schema has an origin.
    #[must_use]
    pub fn type_origin(&self, graphql_type: &str) -> Option<Origin> {
        Some(self.origins.get(graphql_type)?.own)
    }

    /// Finds what a member of a type is generated for: a field, an input field or an enum value.
    /// Every member of a type of the schema has an origin.
    #[must_use]
    pub fn member_origin(&self, graphql_type: &str, member: &str) -> Option<Origin> {
        let definition = self.schema.types.get(graphql_type)?;
        origin::of_member(&self.origins, definition, member)
    }

    /// Finds what an argument is generated for, which is what its field is generated for.
    #[must_use]
    pub fn argument_origin(
        &self,
        graphql_type: &str,
        field: &str,
        argument: &str,
    ) -> Option<Origin> {
        let definition = self.schema.type_field(graphql_type, field).ok()?;
        definition.argument_by_name(argument)?;
        self.member_origin(graphql_type, field)
    }

    /// Returns the GraphQL type named after an object: its concrete type, or the interface of an
    /// abstract object.
    #[must_use]
    pub fn type_name(&self, object: ObjectId) -> &Name {
        &self.types.type_names[index(object)]
    }

    /// Returns the concrete objects that values of a type can be, in document order.
    #[must_use]
    pub fn possible_types(&self, ty: TypeRef) -> &[ObjectId] {
        match ty {
            TypeRef::AnyObject => &self.types.all,
            TypeRef::Nameable => &self.types.nameable,
            TypeRef::Concrete(id) => std::slice::from_ref(&self.types.ids[index(id)]),
            TypeRef::Interface(id) => &self.types.below[index(id)],
        }
    }

    /// Returns the type of a field whose range is `object`.
    #[must_use]
    pub fn range_type(&self, object: ObjectId) -> TypeRef {
        self.types.range_types[index(object)]
    }

    /// Prints the API in the GraphQL schema definition language.
    #[must_use]
    pub fn sdl(&self) -> String {
        self.schema.to_string()
    }

    /// Prints the part of the API that `access` lets read, in the GraphQL schema definition language.
    /// Operations are validated against the whole API nevertheless.
    #[must_use]
    pub fn sdl_for(&self, access: &Access) -> String {
        super::readable::readable(self, access).to_string()
    }

    /// Prints the API as a federated service answers it in `_service { sdl }`, in the given form;
    /// with [`FederationMode::Off`] that is [`Api::sdl`].
    ///
    /// Gateways do not serve the mutations of object services (docs/gateway.md), so what is only
    /// about writing is left out, as are the fields
    /// and types of federation itself. Every object type has `@key(fields: "id")`. An object with
    /// `extend: true` is printed as `extend type`. With [`ApiOptions::nullable_where_denied`], what some caller
    /// may be denied is nullable, whoever asks.
    #[must_use]
    pub fn subgraph_sdl(&self, mode: FederationMode) -> String {
        if mode == FederationMode::Off {
            return self.sdl();
        }
        let extended = self
            .soml
            .objects()
            .filter(|(_, object)| object.extend)
            .map(|(id, _)| self.type_name(id).clone())
            .collect();
        let mut keyed: HashSet<Name> = self.type_refs.keys().cloned().collect();
        keyed.remove("Nameable");
        let mutation_types = &self.mutation_types;
        let subgraph = Subgraph {
            mutation_types,
            extended: &extended,
            keyed: &keyed,
        };
        if !self.options.nullable_where_denied {
            return subgraph.print(&self.schema, mode);
        }
        let mut schema = self.schema.clone().into_inner();
        super::deniable::make_nullable(self, &mut schema);
        subgraph.print(&schema, mode)
    }

    /// Returns the value of `_service { sdl }`: `None` when the API takes part in no federation.
    #[must_use]
    pub fn service_sdl(&self) -> Option<String> {
        match self.options.federation {
            FederationMode::Off => None,
            mode => Some(self.subgraph_sdl(mode)),
        }
    }

    /// Prints the API with all directives that show what the document declares about objects and
    /// properties: `@descr`, `@nameAlias`, `@constraints`, and `@hasRole` where it declares roles.
    #[must_use]
    pub fn full_sdl(&self) -> String {
        let mut schema = self.schema.clone().into_inner();
        let annotator = Annotator {
            soml: &self.soml,
            type_refs: &self.type_refs,
            fields: &self.fields,
        };
        annotator.describe(&mut schema);
        schema.to_string()
    }
}
