//! The checks that services make of themselves. They are together, since a gateway says what to do about those of its subgraphs.

use crate::health::Check;

/// The checks of an object service.
pub const OBJECT_CHECKS: &[Check] = &[STORE, SCHEMA, SCHEMA_RIGHTS, QUERY, MUTATION];

/// The checks of a search service.
pub const SEARCH_CHECKS: &[Check] = &[SEARCH, INDEXES, INDEXER];

/// The checks of a gateway.
pub const GATEWAY_CHECKS: &[Check] = &[SUBGRAPH, COMPOSITION, SCHEMA_CHANGES];

/// What the edge checks.
pub const EDGE_CHECKS: &[Check] = &[UPSTREAM];

/// The store of an object service.
pub const STORE: Check = Check {
    id: "1200",
    name: "SPARQL",
    kind: "sparql",
    description: "The data store responds and is not empty.",
    impact: "Queries fail or return nothing.",
    remedy: "Look in the log for the cause. A SPARQL server must respond at \
             `sparql.endpoint.address`. If the store is empty, load data: with `--data` into the \
             embedded store, otherwise with the tools of the server.",
};

/// The schema of an object service.
pub const SCHEMA: Check = Check {
    id: "1300",
    name: "SOML",
    kind: "soml",
    description: "A schema is bound to the service.",
    impact: "GraphQL requests are answered with 503 SCHEMA_NOT_BOUND.",
    remedy: "Store a schema with `POST /soml` and bind it with `PUT /soml/{id}/objects`; or start \
             the service with `--schema FILE`. If a server stores the schemas, it must respond at \
             the address in `soml.storage.*` and allow reading and writing. Restore missing files \
             of stored schemas from a backup, or send the schema again with `PUT /soml/{id}`.",
};

/// The rights on schemas.
pub const SCHEMA_RIGHTS: Check = Check {
    id: "1350",
    name: "SOML RBAC",
    kind: "soml-rbac",
    description: "The rights on schemas can be read.",
    impact: "Schemas cannot be managed.",
    remedy: "Look in the log for why the schema store failed. While no rights are stored, only the role of \
             `security.schemaAdminRole` may manage schemas; store some with `PUT /soml-rbac`.",
};

/// Queries to an object service.
pub const QUERY: Check = Check {
    id: "1400",
    name: "Query service",
    kind: "queryService",
    description: "The service answers a GraphQL query.",
    impact: "GraphQL requests fail.",
    remedy: "Checks 1200 and 1300 show the cause in most cases; otherwise look in the log.",
};

/// Mutations of an object service.
pub const MUTATION: Check = Check {
    id: "1500",
    name: "Mutation service",
    kind: "mutationService",
    description: "Mutations can be carried out, where they are served.",
    impact: "Mutations fail, or are not in the API.",
    remedy: "Checks 1200 and 1300 show the cause in most cases; otherwise look in the log. If the store \
             cannot be written to, set `graphql.mutation.enabled` to `false`. If its disk is full, free some room: \
             mutations are carried out again without a restart.",
};

/// A search service and its engine.
pub const SEARCH: Check = Check {
    id: "2100",
    name: "Search",
    kind: "search",
    description: "A schema is bound to the search service, and the search engine responds.",
    impact: "Searches fail.",
    remedy: "Bind a schema with `PUT /soml/{id}/search`. If the search engine does not respond, \
             look in the log for the cause; OpenSearch must respond at `indexer.rest.uris`.",
};

/// The indexes of the bound schema.
pub const INDEXES: Check = Check {
    id: "2200",
    name: "Indexes",
    kind: "indexes",
    description: "All indexes of the bound schema exist and are complete.",
    impact: "Searches of some objects fail, or miss changes since their indexes were built.",
    remedy: "`GET /soml/info` shows which index has a problem and why. Indexes that are being built \
             need time; after a failure, look in the log and bind the schema again with `PUT \
             /soml/{id}/search`.",
};

/// What indexes are written to.
pub const INDEXER: Check = Check {
    id: "2300",
    name: "Indexer",
    kind: "indexer",
    description: "The engine that indexes are written to is configured and responds.",
    impact: "No index can be built.",
    remedy: "OpenSearch must respond at `indexer.host`, and accept `indexer.username` and \
             `indexer.credentials`. With `indexer.indexingEnabled`, the service needs data: \
             `sparql.endpoint.address`, or `--data`.",
};

/// A subgraph of a gateway.
pub const SUBGRAPH: Check = Check {
    id: "3100",
    name: "Subgraph",
    kind: "graphql",
    description: "The subgraph answers GraphQL requests.",
    impact: "Fields of the subgraph are null, with an error.",
    remedy: "Look in the log for the cause. The subgraph must answer at the address of `graphql.service.N`, and \
             its health record at that of `graphql.service.N.health`.",
};

/// The schema that a gateway composes.
pub const COMPOSITION: Check = Check {
    id: "3200",
    name: "Composite schema",
    kind: "graphql",
    description: "The schemas of the subgraphs are composed.",
    impact: "GraphQL requests are answered with 503 GATEWAY_STARTING.",
    remedy: "The message and the log name the subgraphs that the gateway is waiting for. The schema \
             of a subgraph with a good-to-go address (`graphql.service.N.gtg`) is fetched once that \
             returns `OK`.",
};

/// Changes of the schemas of subgraphs.
pub const SCHEMA_CHANGES: Check = Check {
    id: "3300",
    name: "Changes of schemas",
    kind: "graphql",
    description: "Changed schemas are served. This check is listed while they are not.",
    impact: "Clients see the composite schema from before the change.",
    remedy: "The log says what is wrong. The next schemas that compose are served without a \
             restart: those of the subgraphs with `poll.interval`, or the file of \
             `gateway.supergraph.file`, which `soml compose --output` replaces atomically. A \
             restart would fail until then.",
};

/// A service behind the edge.
pub const UPSTREAM: Check = Check {
    id: "4100",
    name: "Service behind the edge",
    kind: "http",
    description: "The service behind the edge responds and reports that it is healthy.",
    impact: "Requests to the service fail; those to other services do not.",
    remedy: "The health record of the service below says what is wrong with it. If there is none, \
             the servers at `edge.route.N.address` do not respond at the path of \
             `edge.route.N.health`; look in the log for the cause.",
};
