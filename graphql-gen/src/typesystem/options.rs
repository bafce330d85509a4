//! What of the generated API a service serves.

/// Which parts of the API are generated.
///
/// The default is what a read-only service can answer. Parts that a service does not execute stay
/// out of its schema, so that a client never meets a field or an argument that does nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApiOptions {
    /// Generates type `Mutation` with its inputs and payloads, unless the schema's
    /// `enable_mutations` is off.
    pub mutations: bool,
    /// Generates the fields and types of GraphQL federation.
    pub federation: FederationMode,
    /// Generates count fields where `enableCollectionCount` or `enableTypeCount` ask for them.
    pub counts: bool,
    /// Generates aggregates where `enableAggregates` asks for them.
    pub aggregates: bool,
    /// Generates connections where `enableConnections` asks for them.
    pub connections: bool,
    /// Generates `Query._service` with the printed schema, also without federation.
    pub service: bool,
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
