//! What of the generated API a service serves.

/// Which parts of the API are generated.
///
/// The default is what the object service serves to those who read, so a schema that is printed in a build
/// script or compared with another one is that of the service. Over a store that can be written to the
/// service adds mutations ([`ApiOptions::with_mutations`]). Parts that a service does not execute stay out
/// of its schema, so that a client never meets a field or an argument that does nothing.
///
/// ```
/// use graphql_gen::typesystem::{ApiOptions, FederationMode};
///
/// let subgraph = ApiOptions::default().with_federation(FederationMode::V2);
/// assert!(subgraph.aggregates && !subgraph.mutations);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApiOptions {
    /// Generates type `Mutation` with its inputs and payloads, unless the schema's
    /// `enable_mutations` is off. Off by default.
    pub mutations: bool,
    /// Generates the fields and types of GraphQL federation. Off by default.
    pub federation: FederationMode,
    /// Generates count fields where `enableCollectionCount` or `enableTypeCount` ask for them.
    pub counts: bool,
    /// Generates aggregates where `enableAggregates` asks for them.
    pub aggregates: bool,
    /// Generates connections where `enableConnections` asks for them.
    pub connections: bool,
    /// Generates `Query._service` with the printed schema, also without federation.
    pub service: bool,
    /// Leaves out types that no operation can name, such as filters of scalars without a property.
    /// Off by default: clients of the original product may know them.
    pub prune: bool,
    /// Describes all arguments, also those that have no description in the schema of the original
    /// product. Off by default: the schema is compared with that one.
    pub argument_descriptions: bool,
    /// Lets what the roles of the schema may deny to someone be null in the schema for federation
    /// ([`Api::subgraph_sdl`](super::Api::subgraph_sdl)), except for `id`; for services that enforce roles.
    /// A gateway that was promised a value for what is left out would lose everything around it. Off by default.
    pub nullable_where_denied: bool,
    /// Declares in `@hasRole` who may read, write and delete what, as [`Api::full_sdl`](super::Api::full_sdl)
    /// does. Off by default.
    pub expose_roles: bool,
}

impl Default for ApiOptions {
    /// Returns what the object service serves: all parts of reading, without federation.
    fn default() -> Self {
        ApiOptions {
            counts: true,
            aggregates: true,
            connections: true,
            service: true,
            ..ApiOptions::minimal()
        }
    }
}

impl ApiOptions {
    /// Returns the options that generate nothing but objects: no counts, aggregates, connections,
    /// mutations, federation or printed schema, whatever the document asks for.
    #[must_use]
    pub const fn minimal() -> Self {
        ApiOptions {
            mutations: false,
            federation: FederationMode::Off,
            counts: false,
            aggregates: false,
            connections: false,
            service: false,
            prune: false,
            argument_descriptions: false,
            nullable_where_denied: false,
            expose_roles: false,
        }
    }

    /// Generates type `Mutation`, or leaves it out; see [`ApiOptions::mutations`].
    #[must_use]
    pub const fn with_mutations(mut self, mutations: bool) -> Self {
        self.mutations = mutations;
        self
    }

    /// Sets the form of federation that the API takes part in.
    #[must_use]
    pub const fn with_federation(mut self, federation: FederationMode) -> Self {
        self.federation = federation;
        self
    }

    /// Generates count fields, or leaves them out; see [`ApiOptions::counts`].
    #[must_use]
    pub const fn with_counts(mut self, counts: bool) -> Self {
        self.counts = counts;
        self
    }

    /// Generates aggregates, or leaves them out; see [`ApiOptions::aggregates`].
    #[must_use]
    pub const fn with_aggregates(mut self, aggregates: bool) -> Self {
        self.aggregates = aggregates;
        self
    }

    /// Generates connections, or leaves them out; see [`ApiOptions::connections`].
    #[must_use]
    pub const fn with_connections(mut self, connections: bool) -> Self {
        self.connections = connections;
        self
    }

    /// Generates `Query._service`, or leaves it out; see [`ApiOptions::service`].
    #[must_use]
    pub const fn with_service(mut self, service: bool) -> Self {
        self.service = service;
        self
    }

    /// Leaves out types that nothing reaches, or keeps them; see [`ApiOptions::prune`].
    #[must_use]
    pub const fn with_prune(mut self, prune: bool) -> Self {
        self.prune = prune;
        self
    }

    /// Describes all arguments, or only those of its own; see
    /// [`ApiOptions::argument_descriptions`].
    #[must_use]
    pub const fn with_argument_descriptions(mut self, descriptions: bool) -> Self {
        self.argument_descriptions = descriptions;
        self
    }

    /// Lets what roles may deny be null in the schema for federation, or not; see
    /// [`ApiOptions::nullable_where_denied`].
    #[must_use]
    pub const fn with_nullable_where_denied(mut self, nullable: bool) -> Self {
        self.nullable_where_denied = nullable;
        self
    }

    /// Sets whether `@hasRole` declares who may do what; see [`ApiOptions::expose_roles`].
    #[must_use]
    pub const fn with_roles_exposed(mut self, exposed: bool) -> Self {
        self.expose_roles = exposed;
        self
    }
}

/// The form of federation that the API takes part in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FederationMode {
    /// None.
    #[default]
    Off,
    /// Federation 1: `@key`, `extend type`.
    V1,
    /// Federation 2: `@link`, `@key`.
    V2,
}
