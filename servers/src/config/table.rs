//! The table of properties, from which they are parsed, documented and suggested.

use std::sync::LazyLock;

use federation::GatewayLimits;
use graphql_service::Limits;
use graphql_service::limits::LimitRow;
use object_engine::EngineLimits;
use search_index::limits::SearchLimits;
use service_config::{Catalogue, Property, Setting, Standard};

use super::contract::{ALIASES, PLANNED};
use super::edge_routes::EDGE_ROUTES;
use super::loggers::{LOGGERS, level_property};
use super::setting::Programs;
use super::settings::Settings;
use super::subgraphs::SUBGRAPHS;

/// First segments of names that can only be meant for this program.
const FAMILIES: &[&str] = &[
    "application",
    "edge",
    "gateway",
    "graphdql",
    "graphql",
    "health",
    "indexer",
    "indexing",
    "soml",
    "sparql",
];

/// Variables of commands, beside properties.
const VARIABLES: &[&str] = &[
    "SOML_TOKEN",
    "SOML_TOKEN_FILE",
    "SOML_ISSUER",
    "SOML_CLIENT_ID",
    "IDP_API_KEY",
    "IDP_API_KEY_FILE",
    "IDP_ADMIN_USERNAME",
    "IDP_ADMIN_PASSWORD",
    "IDP_ADMIN_PASSWORD_FILE",
    "IDP_ADMIN_CLIENT_SECRET",
    "IDP_ADMIN_CLIENT_SECRET_FILE",
];

/// Everything that the programs can be configured by.
pub static CATALOGUE: LazyLock<Catalogue<Settings>> = LazyLock::new(|| Catalogue {
    properties: properties(),
    numbered: &[SUBGRAPHS, EDGE_ROUTES],
    named: Some(LOGGERS),
    aliases: ALIASES,
    planned: PLANNED,
    variables: VARIABLES,
    families: FAMILIES,
    standard: Some(Standard {
        prefix: "OTEL_",
        set: |settings, name, value| settings.traces.standard.set(name, value),
    }),
});

/// Describes a bound by its row.
fn bound<L: 'static>(
    row: &'static LimitRow<L>,
    limits: fn(&Settings) -> &L,
    limits_mut: fn(&mut Settings) -> &mut L,
) -> Property<Settings> {
    let kind = if row.is_optional {
        <Option<u64> as Setting<Programs>>::TYPE
    } else {
        <usize as Setting<Programs>>::TYPE
    };
    let set = move |settings: &mut Settings, text: &str| {
        let bound = if row.is_optional {
            Setting::<Programs>::parse(text)?
        } else {
            let bound = <usize as Setting<Programs>>::parse(text)?;
            Some(bound as u64)
        };
        (row.set)(limits_mut(settings), bound);
        Ok(())
    };
    let get = move |settings: &Settings| Setting::<Programs>::show(&(row.get)(limits(settings)));
    Property::new(row.property, kind, row.doc, set, get)
}

/// Returns the bounds of some rows.
fn bounds<L: 'static>(
    rows: &'static [LimitRow<L>],
    limits: fn(&Settings) -> &L,
    limits_mut: fn(&mut Settings) -> &mut L,
) -> impl Iterator<Item = Property<Settings>> {
    rows.iter().map(move |row| bound(row, limits, limits_mut))
}

/// Puts some properties behind the last one whose name begins alike.
fn insert(
    properties: &mut Vec<Property<Settings>>,
    family: &str,
    some: impl Iterator<Item = Property<Settings>>,
) {
    let after = properties
        .iter()
        .rposition(|property| property.key.starts_with(family));
    let at = after.map_or(properties.len(), |position| position + 1);
    properties.splice(at..at, some);
}

/// Returns all properties, in the order of the documentation.
fn properties() -> Vec<Property<Settings>> {
    let mut properties = of_fields();
    let documents = bounds(Limits::ROWS, |s| &s.limits, |s| &mut s.limits);
    let engine = bounds(
        EngineLimits::ROWS,
        |s| &s.engine_limits,
        |s| &mut s.engine_limits,
    );
    // Beside the other properties of GraphQL.
    insert(&mut properties, "graphql.", documents.chain(engine));
    let searches = bounds(
        SearchLimits::ROWS,
        |s| &s.search.limits,
        |s| &mut s.search.limits,
    );
    insert(&mut properties, "search.", searches);
    let gateway = bounds(
        GatewayLimits::ROWS,
        |s| &s.gateway.limits,
        |s| &mut s.gateway.limits,
    );
    insert(&mut properties, "gateway.", gateway);
    properties.push(level_property());
    properties
}

macro_rules! properties {
    (@secret) => { false };
    (@secret secret) => { true };
    ($($key:literal => $($field:ident).+, $($secret:ident)? $doc:literal;)*) => {
        fn of_fields() -> Vec<Property<Settings>> {
            vec![$(
                Property::of_field::<Programs, _>(
                    $key,
                    $doc,
                    |settings: &Settings| &settings.$($field).+,
                    |settings: &mut Settings| &mut settings.$($field).+,
                )
                .with_secret(properties!(@secret $($secret)?)),
            )*]
        }
    };
}

properties! {
    "application.name" => application.name, "Name of the service in health records and `/__about`; with `none`, the name of the program. Instances with the same name share bindings of schemas, so the name is required if `soml.storage.provider` is `rdf4j`.";
    "application.scheme" => application.scheme, "Scheme of `application.address`, if the address has none: `https` behind a TLS proxy.";
    "application.address" => application.address, "Address at which others reach the service; a missing scheme or port is added. It is shown in `/__about` and in the lease of the instance that builds search indexes, and is the name of the service with `application.useNetworkAddressAsName`. With `none`, it is `application.host`, unless that stands for all addresses, such as `0.0.0.0`.";
    "application.useNetworkAddressAsName" => application.uses_address_as_name, "Uses the network address as the name. If the address of a service changes, the service loses its bindings.";
    "application.host" => host, "Address to listen on. While security is off, any address other than loopback needs `--insecure`.";
    "application.port" => port, "Port to listen on; 0 takes any free port. For the defaults of `search-service` and `federation-gateway`, see `search.port` and `gateway.port`.";
    "graphql.requestTimeout" => request_timeout, "Timeout of a GraphQL request, after which it fails with `DEADLINE_EXCEEDED`.";
    "graphql.slots" => slots, "Number of requests that are executed at the same time, in addition to half as many long ones; `auto` is the number of cores.";
    "graphql.queue" => queue, "Maximum number of requests that wait for a slot; further requests are answered with 503 `OVERLOADED`.";
    "graphql.numbers" => numbers, "`exact`: numbers that JSON parsers may round are returned as strings; `number`: they are JSON numbers unless digits would be lost.";
    "graphql.response.json.nullArrays" => null_arrays, "Whether a list without values is null instead of `[]`, unless the schema sets `nullJsonArrays`.";
    "graphql.federation.enabled" => federation, "Makes the API a Federation 1 subgraph: adds `_entities` and keys, and serves `_service { sdl }`. `auto`: on if the same process is also a gateway with the service as a subgraph.";
    "graphql.mutation.enabled" => mutation.enabled, "Serves the type `Mutation`, unless the schema's `enable_mutations` is off or the store is read-only.";
    "graphql.mutation.graph" => mutation.graph, "Absolute IRI of the named graph that mutations add triples to; with `none`, the default graph.";
    "mutation.conflictRetries" => mutation.conflict_retries, "How often a mutation is retried when other writers have changed what it read, after which it fails with `WRITE_CONFLICT`, or when one of several servers failed before the commit.";
    "mutation.changes.retention" => mutation.retention, "How long change records are kept, and with them the answers to repeated idempotency keys; `none` keeps them forever.";
    "graphql.explain.enabled" => explain, "Lets requests with `extensions: {explain: true}` get the query plan, with the steps of the store and their times; from a gateway, the plan over its subgraphs. On in the demo.";
    "graphql.schema.prune" => prune, "Leaves out of the API the types that no operation can use, such as filters of scalars that no property has.";
    "graphql.schema.describeArguments" => describe_arguments, "Describes all arguments of the API, not only those of counts, connections, aggregates and federation. On in the demo.";
    "graphql.graphiql.enabled" => graphiql, "Serves GraphiQL to browsers at `/`.";
    "sparql.endpoint.address" => sparql.addresses, "Address of the SPARQL server that holds the data. Several addresses, separated by commas or semicolons, are servers with the same data, the primary first. Without an address, the store is embedded.";
    "sparql.endpoint.type" => sparql.server, "Type of the server; `auto` detects it.";
    "sparql.endpoint.repository" => sparql.repository, "Repository of RDF4J or GraphDB, or dataset of Fuseki. Without one, the address is the query endpoint itself.";
    "sparql.endpoint.username" => sparql.username, "User name for the server.";
    "sparql.endpoint.credentials" => sparql.credentials, secret "Password of the user.";
    "sparql.endpoint.token" => sparql.token, secret "Bearer token, instead of user and password.";
    "sparql.endpoint.maxConcurrentRequests" => sparql.max_concurrent_connections, "Maximum number of concurrent requests, and thus connections, per address; further requests wait.";
    "sparql.endpoint.connectionRequestTimeout" => sparql.connection_request_timeout, "Maximum wait for a free connection; 0 disables the timeout.";
    "sparql.endpoint.connectTimeout" => sparql.connect_timeout, "Maximum time to connect; 0 disables the timeout.";
    "sparql.endpoint.socketTimeout" => sparql.socket_timeout, "Maximum time without receiving a byte from the server, including the wait for the first one; 0 disables the timeout. In any case, `graphql.requestTimeout` applies.";
    "sparql.endpoint.retryHttpCodes" => sparql.retry_http_codes, "HTTP statuses after which a request is retried: codes or ranges such as `50x` and `5xx`, separated by commas or semicolons.";
    "sparql.endpoint.maxRetries" => sparql.max_retries, "Maximum number of retries; 0 disables retries. A connection lost before the response begins is replaced at once, which counts as a retry.";
    "sparql.endpoint.retryInterval" => sparql.retry_interval, "Delay before a retry.";
    "sparql.endpoint.healthCheckTimeout" => sparql.health_check_timeout, "Timeout of the health check of an address, instead of `connectionRequestTimeout`, `connectTimeout` and `socketTimeout`.";
    "sparql.endpoint.maxResultBytes" => sparql.max_result_bytes, "Maximum size of one result from the server, in bytes; a larger one fails with `LIMIT_STORE_RESULT`.";
    "sparql.endpoint.resultFormat" => sparql.result_format, "Result format. `tsv` is smaller, but only safe with servers that close the connection when a query fails midway; RDF4J, GraphDB and Fuseki do not always do so.";
    "sparql.endpoint.updateAddress" => sparql.update_addresses, "Address for updates, if it does not follow from `sparql.endpoint.address`; with several addresses, as many in the same order. It is required to write to endpoints other than RDF4J's protocol and Fuseki.";
    "sparql.endpoint.isolated" => sparql.is_isolated, "Whether the server isolates concurrent updates; `soml check --writers` finds out. If not, mutations are refused with `STORE_NOT_ISOLATED`.";
    "sparql.endpoint.transactionTimeout" => sparql.transaction_timeout, "Time after which the server ends an idle transaction. A commit whose response was lost is treated as not carried out only after this time.";
    "sparql.endpoint.cluster.unavailableReadTimeout" => sparql.unavailable_read_timeout, "With several addresses: maximum time after the first failure during which a read is retried.";
    "sparql.endpoint.cluster.unavailableWriteTimeout" => sparql.unavailable_write_timeout, "With several addresses: maximum time after the first failure during which a write is retried or its outcome is checked.";
    "sparql.endpoint.cluster.scanFailedInterval" => sparql.scan_failed_interval, "With several addresses: how often a failed address is checked. Until it responds again it is skipped, as long as others respond.";
    "sparql.endpoint.cluster.retryOnHttp4xx" => sparql.retry_on_http_4xx, "With several addresses: tries the next one after a 4xx response, unless the response means that the request or its credentials are wrong.";
    "sparql.endpoint.cluster.retryOnHttp5xx" => sparql.retry_on_http_5xx, "With several addresses: tries the next one after a 5xx response, unless the response means that the server does not support the request.";
    "sparql.endpoint.cluster.forceClusterClient" => sparql.force_cluster_client, "Treats a single address like several: requests are retried until `unavailableReadTimeout` or `unavailableWriteTimeout`.";
    "sparql.endpoint.cluster.forceConnection" => sparql.force_connection, "With several addresses: also sends requests to addresses that reported the repository as missing; otherwise these are skipped like failed ones. A missing repository for schemas is then not created.";
    "store.dataDir" => store.data_dir, "Folder in which the embedded store keeps data and schemas across restarts; the same as `--data-dir`. It is created if missing, and only one process can use it at a time. With `none`, data and schemas are kept in memory.";
    "store.sync" => store.sync, "When changes to the folder are synced to disk, so that they survive a crash of the machine: `commit` syncs each change before it is answered, `interval` syncs every `store.syncInterval`.";
    "store.syncInterval" => store.sync_interval, "Time between two syncs with `store.sync: interval`. Changes since the last sync are lost if the process is killed or the machine crashes.";
    "store.orderMemory" => store.order_memory, "Memory in bytes for sort orders that the embedded store caches between requests, so that late pages cost as little as early ones: 4 bytes per object and order. 0 disables the cache.";
    "store.backupDir" => store.backup_dir, "Folder in which a running service writes backups when asked to by `soml backup --url`. With `none`, it makes no backups.";
    "http.maxBodyBytes" => max_body_bytes, "Maximum size of the body of a GraphQL request, in bytes.";
    "http.maxSchemaBytes" => max_schema_bytes, "Maximum size of a SOML document in a request, in bytes.";
    "http.memoryBudget" => memory_budget, "Memory in bytes that all requests together may use for bodies, results of stores and unsent responses. Requests that do not fit wait for a moment and are then answered with 503 `OVERLOADED`. `auto` is a quarter of the memory of the machine or of its control group.";
    "http.maxConnections" => max_connections, "Maximum number of open connections; further clients wait until one is closed.";
    "http.sendTimeout" => send_timeout, "Maximum time for a client to take the next 64 KiB of a response, after which the connection is closed.";
    "http.allowedHosts" => allowed_hosts, "Host names that requests may use in `Host`, separated by commas; any port. On a loopback address, `localhost` and loopback addresses are always allowed, and nothing else unless listed here. On other addresses, `none` allows every name.";
    "http.cors.allowedOrigins" => cors_origins, "Origins of web pages that may call the service from a browser, such as `https://app.example.org`, separated by commas; `*` allows all. Requests from pages of other origins are refused with `CROSS_SITE`.";
    "http.cors.maxAge" => cors_max_age, "How long browsers may keep the answer to a CORS preflight.";
    "http.trustedProxies" => trusted_proxies, "Addresses and networks of proxies in front of the service, separated by commas, such as `10.0.0.7, 10.1.0.0/16`. In requests from these proxies, `X-Forwarded-For` identifies the client, whose log-ins and requests are counted against rate limits, and `X-Forwarded-Prefix` is the path that links begin with.";
    "http.headerTimeout" => header_timeout, "Maximum time for a client to send the request headers, after which the connection is closed.";
    "http.shutdownTimeout" => shutdown_timeout, "Maximum time for open requests to complete at shutdown.";
    "security.enabled" => security.enabled, "Whether every request needs a token. `auto`: yes if `security.secret`, `security.jwks.url` or `security.provisioning.file` is set, or with `--roles`. The default of `object-service`, `search-service` and `soml edge` is `true`; they do not start without a source of keys, which is `security.secret`, `security.jwks.url` or, for `object-service` only, `security.provisioning.file`. The default of `federation-gateway` is `false`; there, the property decides whether the gateway logs in to the identity provider of `idp.*` to read the schemas of its subgraphs.";
    "security.secret" => security.secret, secret "Key to verify tokens with: a secret for HMAC, or PEM public keys or certificates for RSA, ECDSA and Ed25519. In PEM, line breaks may be written as `\\n`.";
    "security.jwks.url" => security.jwks_url, "Address of a JSON Web Key Set with public keys, which is fetched at startup and every five minutes; in addition to or instead of `security.secret`.";
    "security.algorithms" => security.algorithms, "Accepted signature algorithms of tokens, separated by commas; `auto` accepts all algorithms that the keys support.";
    "security.issuer" => security.issuers, "Accepted issuers (`iss`), separated by commas; with `none`, the issuer is not checked.";
    "security.audience" => security.audiences, "Accepted audiences (`aud`), separated by commas; with `none`, tokens for other services are accepted too, and a warning is logged at startup.";
    "security.leeway" => security.leeway, "Allowed clock difference when `exp` and `nbf` are checked.";
    "security.rolesClaim" => security.roles_claim, "Claim that contains the roles; dots separate the names of nested objects, as in `realm_access.roles`.";
    "security.superRoles" => security.super_roles, "Roles that may do everything, whatever the schema says, separated by commas.";
    "security.schemaAdminRole" => security.schema_admin_role, "Role that may manage schemas and `/soml-rbac`, whatever access rights are stored there.";
    "security.exposeInGraphQl" => security.expose_in_graphql, "Whether the API shows which roles may read, write and delete: `/schema.graphql` has directives `@hasRole`, and introspection has the definition of the directive.";
    "security.maxTokenBytes" => security.max_token_bytes, "Maximum length of a token, in bytes.";
    "soml.storage.provider" => storage.provider, "Where schemas, access rights on them and bindings are stored. `rdf4j`: in a server with RDF4J's protocol, shared by any number of instances. `mongodb`: in a MongoDB server, also shared; deprecated. `file`: in the folder of `store.dataDir`. `in-memory`: in the process, until it ends. `auto`: `rdf4j` if `soml.storage.rdf4j.address` is set, otherwise `file` if there is a folder, otherwise `in-memory`. See [Stores of schemas](shared-schemas.md).";
    "soml.storage.followInterval" => storage.follow_interval, "How often an instance checks a shared store of schemas for schemas that other instances have bound, replaced or unbound.";
    "soml.storage.leaseTime" => storage.lease_time, "Time after which an instance that builds search indexes is replaced by another instance if it does not renew its lease.";
    "soml.storage.rdf4j.address" => storage.rdf4j.connection.addresses, "Address of the server with RDF4J's protocol (RDF4J, GraphDB) that stores schemas, without the path of a repository. Several addresses, separated by commas or semicolons, are servers with the same data, the primary first.";
    "soml.storage.rdf4j.repository" => storage.rdf4j.connection.repository, "Repository for schemas.";
    "soml.storage.rdf4j.username" => storage.rdf4j.connection.username, "User name for the server.";
    "soml.storage.rdf4j.credentials" => storage.rdf4j.connection.credentials, secret "Password of the user.";
    "soml.storage.rdf4j.maxConcurrentConnections" => storage.rdf4j.connection.max_concurrent_connections, "Maximum number of connections to each address; further requests wait.";
    "soml.storage.rdf4j.connectionRequestTimeout" => storage.rdf4j.connection.connection_request_timeout, "Maximum wait for a free connection; 0 disables the timeout. In any case, `graphql.requestTimeout` limits each call to the store.";
    "soml.storage.rdf4j.connectTimeout" => storage.rdf4j.connection.connect_timeout, "Maximum time to connect; 0 disables the timeout.";
    "soml.storage.rdf4j.socketTimeout" => storage.rdf4j.connection.socket_timeout, "Maximum time without receiving a byte from the server, including the wait for the first one; 0 disables the timeout.";
    "soml.storage.rdf4j.retryHttpCodes" => storage.rdf4j.connection.retry_http_codes, "HTTP statuses after which a request is retried: codes or ranges such as `50x` and `5xx`, separated by commas or semicolons. 401 and 403 are never retried.";
    "soml.storage.rdf4j.maxRetries" => storage.rdf4j.connection.max_retries, "Maximum number of retries; 0 disables retries.";
    "soml.storage.rdf4j.retryInterval" => storage.rdf4j.connection.retry_interval, "Delay before a retry.";
    "soml.storage.rdf4j.healthCheckTimeout" => storage.rdf4j.connection.health_check_timeout, "Timeout of the health check of the server, instead of `connectionRequestTimeout`, `connectTimeout` and `socketTimeout`.";
    "soml.storage.rdf4j.cluster.unavailableReadTimeout" => storage.rdf4j.connection.unavailable_read_timeout, "With several addresses: maximum time after the first failure during which a read is retried.";
    "soml.storage.rdf4j.cluster.unavailableWriteTimeout" => storage.rdf4j.connection.unavailable_write_timeout, "With several addresses: maximum time after the first failure during which a write is retried or its outcome is checked.";
    "soml.storage.rdf4j.cluster.scanFailedInterval" => storage.rdf4j.connection.scan_failed_interval, "With several addresses: how often a failed address is checked. Until it responds again it is skipped, as long as others respond.";
    "soml.storage.rdf4j.cluster.retryOnHttp4xx" => storage.rdf4j.connection.retry_on_http_4xx, "With several addresses: tries the next one after a 4xx response, unless the response means that the request or its credentials are wrong.";
    "soml.storage.rdf4j.cluster.retryOnHttp5xx" => storage.rdf4j.connection.retry_on_http_5xx, "With several addresses: tries the next one after a 5xx response, unless the response means that the server does not support the request.";
    "soml.storage.rdf4j.cluster.forceClusterClient" => storage.rdf4j.connection.force_cluster_client, "Treats a single address like several: requests are retried until `unavailableReadTimeout` or `unavailableWriteTimeout`.";
    "soml.storage.rdf4j.cluster.forceConnection" => storage.rdf4j.connection.force_connection, "With several addresses: the same as `sparql.endpoint.cluster.forceConnection`, but for the store of schemas.";
    "soml.storage.rdf4j.autoCreateRepository" => storage.rdf4j.creates_repository, "Creates the repository if it is missing.";
    "soml.storage.rdf4j.repositoryConfig" => storage.rdf4j.repository_template, "Template of the repository in Turtle, as the path of a file or as the Turtle document itself. The repository ID in it must be the one in `soml.storage.rdf4j.repository`, or `%id%`.";
    "soml.storage.rdf4j.disableDefault" => storage.rdf4j.disables_default, "Creates the repository only from `repositoryConfig`, not from the built-in templates. `auto`: on if `repositoryConfig` is set.";
    "soml.storage.mongodb.endpoint" => storage.mongodb.endpoint, secret "Connection string of the MongoDB server that stores schemas.";
    "soml.storage.mongodb.database" => storage.mongodb.database, "Database for schemas.";
    "soml.storage.mongodb.collection" => storage.mongodb.collection, "Collection for schemas.";
    "soml.storage.mongodb.connectionTimeout" => storage.mongodb.connection_timeout, "Maximum time to connect.";
    "soml.storage.mongodb.readTimeout" => storage.mongodb.read_timeout, "Maximum time to wait for the response to a command.";
    "soml.storage.mongodb.serverSelectionTimeout" => storage.mongodb.server_selection_timeout, "Maximum time to find a server that can carry out a command.";
    "soml.storage.mongodb.readConcern" => storage.mongodb.read_concern, "Which data reads return.";
    "soml.storage.mongodb.writeConcern" => storage.mongodb.write_concern, "When writes are acknowledged: `acknowledged`, `w1`, `w2`, `w3`, `unacknowledged`, `journaled`, `majority`, or settings such as `w=2, wtimeout=1000, j=true`.";
    "soml.storage.mongodb.applicationName" => storage.mongodb.application_name, "Application name that the server shows for the connections.";
    "soml.storage.migration.enabled" => storage.migration.enabled, "Moves schemas, access rights and bindings from another store when the service starts. See [Moving schemas](shared-schemas.md#moving-schemas-to-another-store).";
    "soml.storage.migration.source" => storage.migration.source, "Store to move schemas from, configured by the properties of that store: `soml.storage.mongodb.*`, `soml.storage.rdf4j.*`, or `store.dataDir` for `file`. Required if `soml.storage.migration.enabled` is on.";
    "soml.storage.migration.destination" => storage.migration.destination, "Store to move schemas to: the one in use, or a different one.";
    "soml.storage.migration.forceStoreUpdate" => storage.migration.force, "Moves schemas even if the destination already has some, and overwrites those with the same id. Without it, schemas are only moved to an empty destination. As every start moves them again, turn it off afterwards.";
    "soml.storage.migration.cleanBeforeMigration" => storage.migration.clean_before, "Removes all schemas, access rights and bindings from the destination before schemas are moved there. If there is nothing to move, nothing is removed.";
    "soml.storage.migration.somlMigration" => storage.migration.all, "With `soml.storage.migration.forceStoreUpdate`: moves all schemas, not only those that are bound. Without `soml.storage.migration.forceStoreUpdate`, all are moved anyway.";
    "soml.storage.migration.cleanOnComplete" => storage.migration.clean_after, "Removes moved schemas from the source once they have been read back from the destination.";
    "soml.storage.migration.async" => storage.migration.is_async, "Moves schemas in the background while the service runs; if the migration fails, an error is logged. Without it, the service stops if the migration fails.";
    "soml.storage.migration.retries" => storage.migration.retries, "How often a failed migration is retried. It is not retried after refused credentials.";
    "soml.storage.migration.delay" => storage.migration.delay, "Delay before a migration is retried.";
    "soml.storage.maxSchemas" => max_stored_schemas, "Maximum number of stored schemas; any more are refused with `SCHEMA_STORE_FULL`.";
    "soml.storage.maxBytes" => max_stored_bytes, "Maximum total size of all stored schemas, in bytes; a schema that would exceed it is refused with `SCHEMA_STORE_FULL`.";
    "security.provisioning.file" => provider.provisioning, secret "YAML file with `security.roles` and `security.users`; with it, the service is a [token provider](identity.md) for development.";
    "security.provider.keyFile" => provider.key_file, "File of the provider's signing key, created at the first start and readable only by its owner. Without a file, the key is kept in memory and tokens become invalid when the process ends.";
    "security.provider.issuer" => provider.issuer, "Issuer (`iss`) of the provider's tokens.";
    "security.provider.applicationId" => provider.application_id, "Application that users log in to, and audience (`aud`) of the provider's tokens.";
    "security.provider.tokenTime" => provider.token_time, "How long a token of the provider is valid.";
    "security.provider.loginsPerUser" => provider.logins_per_user, "Maximum number of log-ins per minute with one user name; further ones are answered with 429. 0 disables the limit.";
    "security.provider.loginsPerAddress" => provider.logins_per_address, "Maximum number of log-ins per minute from one address (IPv6: one /64 network); further ones are answered with 429. 0 disables the limit.";
    "search.enabled" => search.enabled, "Whether `soml serve` is also a search service. `auto`: yes if the schema it starts with declares what is searchable, as the demo's does, or if a schema was bound to searches before. Even then, `auto` means `false` if security is on, `search.rbac.enabled` is `false` and the schema's roles hide anything from any caller, because searches would show it; `true` allows that. `object-service` is never a search service, and `search-service` always is.";
    "search.rbac.enabled" => search.roles, "Whether searches enforce the roles of schemas while security is on. `auto` enforces them. The default of `search-service` is `false`. With `true` but without security, the service does not start.";
    "search.port" => search.port, "Port of the search service; 0 takes any free port. `auto` is 9980, or any free port if `application.port` is 0. `search-service` listens on `application.port`.";
    "search.storage.location" => search.location, "Folder in which the search service keeps its bindings and the embedded engine its indexes, each below the name of the application. By default, `soml serve` with `store.dataDir` keeps the indexes in its subfolder `search`, and the bindings with the schemas. Not used while the data are only in memory.";
    "search.maxNestingLevel" => search.max_nesting_level, "Maximum value of `nestingLevel` in the `search` settings of a schema.";
    "graphdql.federation.enabled" => search.federation, "Makes the search API a Federation 1 subgraph: adds `_entities`, serves `_service { sdl }`, and returns only the `id` of objects in hits.";
    "search.soml.address" => search.object_service, "Address of an object service from which `search-service` reads schemas (`GET /soml/{id}`); with `none`, it uses its own store of schemas.";
    "search.soml.token" => search.object_service_token, secret "Bearer token for the object service.";
    "search.healthcheck.somlSeverity" => search.severities.soml, "Severity of check 2100 while no schema is bound. Here and below, `LOW` and `MEDIUM` result in the status `WARNING`, and `HIGH` in `ERROR`.";
    "search.healthcheck.elasticSeverity" => search.severities.engine, "Severity of check 2100 while the search engine cannot be reached.";
    "search.healthcheck.unavailableSeverity" => search.severities.unavailable, "Severity of check 2100 when the check itself fails.";
    "indexing.healthcheck.somlSeverity" => search.severities.indexing_soml, "Severity of check 2200 while no schema is bound.";
    "indexing.healthcheck.indexesSeverity" => search.severities.indexing_indexes, "Severity of check 2200 while an index is missing or incomplete, or its last run failed.";
    "indexing.healthcheck.unavailableSeverity" => search.severities.indexing_unavailable, "Severity of check 2200 while the search engine cannot be reached, or when the check itself fails.";
    "indexer.healthcheckSeverity" => search.severities.indexer, "Severity of check 2300 while the engine that indexes are written to is not configured or cannot be reached.";
    "indexer.indexingEnabled" => search.indexing, "Whether binding a schema builds its indexes; if not, the service searches existing indexes. `auto`: `soml serve` and services with data of their own build them; `search-service` over `sparql.endpoint.address` does not.";
    "indexer.host" => search.host, "Addresses of the OpenSearch nodes that indexes are written to, separated by commas or semicolons; with `none`, those of `indexer.rest.uris`. Without either, the engine is embedded.";
    "indexer.rest.uris" => search.rest_uris, "Addresses of the OpenSearch nodes that are searched, separated by commas or semicolons; with `none`, those of `indexer.host`.";
    "indexer.username" => search.username, "User name for OpenSearch.";
    "indexer.credentials" => search.credentials, secret "Password of the user.";
    "indexer.authorities" => search.authorities, "PEM file of certificate authorities that are trusted in connections to OpenSearch, in addition to those of the system.";
    "indexer.indexCreateSettings" => search.create_settings, "Settings for new indexes, as a JSON object such as `{\"index.number_of_shards\": 1}`.";
    "indexer.accessTimeout" => search.access_timeout, "Maximum time to connect to OpenSearch, and maximum wait for a free connection; 0 and -1 disable the timeout.";
    "indexer.healthCheckTimeout" => search.health_check_timeout, "Timeout of the health check of the search engine.";
    "indexer.removePrevious" => search.remove_previous, "Rebuilds all indexes when a schema is bound, even unchanged ones, and replaces indexes of the same name that no application owns.";
    "indexer.ignoreMalformed" => search.ignore_malformed, "Skips values that cannot be indexed, and counts them in `/soml/info`. If `false`, the data are checked for such values before anything is written, and the schema is not bound if there are any.";
    "indexer.refreshInterval" => search.refresh_interval, "How often the search service checks for changes to the data that its indexes follow.";
    "indexer.reconcileInterval" => search.reconcile_interval, "How often the search service compares its indexes with the data and repairs them. Needed if anything other than the object service changes the data, such as SPARQL updates. `none` compares only on demand.";
    "indexer.dropDelay" => search.drop_delay, "How long a replaced index is kept, for instances that still search it.";
    "task.default.retry.maxRetries" => search.retry.max_retries, "How often binding at startup and building indexes are retried when the search engine or the store cannot be reached.";
    "task.default.retry.initialDelay" => search.retry.initial_delay, "Delay before the first try; 0 or less means none.";
    "task.default.retry.delay" => search.retry.delay, "Delay before each retry; 0 or less means none. While indexes are built, it begins at 200 ms and doubles up to this value.";
    "forward.headers" => gateway.forward_headers, "Headers of clients that the gateway forwards to subgraphs, separated by commas. `X-Request-ID` is always forwarded, and headers that belong to one connection or to a body never are.";
    "cache.maxAge" => gateway.cache_max_age, "`max-age` of `Cache-Control` in responses of the gateway, for subgraphs that do not set it. The shortest time of all subgraphs involved applies.";
    "service.dwell" => gateway.dwell, "Time between the gateway's checks of its subgraphs, in milliseconds: until they can be composed, and later for health and good-to-go. `gateway.supergraph.file` is checked at the same interval.";
    "gateway.followBindings" => gateway.follows_bindings, "Whether the gateway of `soml serve` immediately serves a schema that is bound to a service in the same process. Without effect for `federation-gateway`, which has no such service.";
    "poll.interval" => gateway.poll_interval, "How often the gateway checks its subgraphs for changed schemas; with 0, schemas stay as they are until the gateway is restarted.";
    "engine.apiKey" => gateway.engine_api_key, secret "Key for a schema registry. Accepted for deployments that set it, but no subgraph is registered anywhere.";
    "idp.type" => gateway.idp.kind, "Kind of identity provider, if `security.enabled` is on. A service with `security.provisioning.file` has the interface of `fusionauth`. See [Logging in](identity.md#services-that-log-in).";
    "idp.applicationId" => gateway.idp.application_id, "Application that the gateway logs in to; for Keycloak, the `client_id` of the client.";
    "idp.protocol" => gateway.idp.protocol, "Protocol of the identity provider's REST API.";
    "idp.host" => gateway.idp.host, "Host of the identity provider.";
    "idp.port" => gateway.idp.port, "Port of the identity provider.";
    "idp.path" => gateway.idp.path, "Prefix of all paths of the identity provider, such as `/auth`.";
    "idp.realm" => gateway.idp.realm, "Realm that the gateway logs in to, with `idp.type: keycloak`.";
    "idp.username" => gateway.idp.username, "User that the gateway logs in as to read `_service { sdl }` from the subgraphs.";
    "idp.password" => gateway.idp.password, secret "Password of that user.";
    "idp.clientSecret" => gateway.idp.client_secret, secret "Secret of the client at Keycloak, unless it is public. Without `idp.username`, the gateway logs in as the service account of the client (`client_credentials`).";
    "idp.login.retries" => gateway.idp.retries, "How often the gateway retries a failed log-in.";
    "idp.login.retryDelay" => gateway.idp.retry_delay, "Delay before each retry of a log-in.";
    "gateway.enabled" => gateway.enabled, "Whether `soml serve` is also a gateway. `auto`: yes with `--demo`, or if `graphql.service.N` names a subgraph. Without a schema and data, it is then only a gateway, as with `gateway.supergraph.file`.";
    "gateway.port" => gateway.port, "Port of the gateway of `soml serve`; 0 takes any free port. `auto` is 9000, or any free port if `application.port` is 0. `federation-gateway` listens on `application.port`.";
    "gateway.supergraph.file" => gateway.supergraph_file, "File of a composed supergraph, which the gateway serves and reloads when it changes; `soml compose --output` writes one. See [A supergraph from a file](gateway.md#a-supergraph-from-a-file).";
    "gateway.mutations.enabled" => gateway.mutations, "Whether the gateway serves the mutations of its subgraphs.";
    "gateway.pruneUnreachableTypes" => gateway.prune, "Whether types that no operation can reach are left out of the schema that clients see, such as types that subgraphs define only for each other.";
    "gateway.sharing.subgraphRequests" => gateway.share_subgraph_requests, "Whether identical queries to a subgraph that are in flight at the same time are sent only once. See [Sharing of requests](gateway.md#sharing-of-requests).";
    "gateway.sharing.clientRequests" => gateway.share_client_requests, "Whether identical client queries that are in flight at the same time are executed only once. See [Sharing of requests](gateway.md#sharing-of-requests).";
    "gateway.entityMemo.enabled" => gateway.entity_memo, "Whether the gateway reuses what a subgraph has returned for an entity when the same operation needs it again. See [Entity memo](gateway.md#entity-memo).";
    "gateway.entityMemo.except" => gateway.entity_memo_except, "Names of subgraphs whose entities are always fetched again, separated by commas.";
    "gateway.persistedQueries.enabled" => gateway.persisted.enabled, "Whether clients of the gateway may send a query once with its SHA-256 hash, and only the hash from then on.";
    "gateway.persistedQueries.cacheBytes" => gateway.persisted.cache_bytes, "Maximum total size of the cached queries, in bytes; those used most are kept.";
    "gateway.trustedDocuments.file" => gateway.trusted.file, "JSON file of operations that clients may send by name: an object that maps names to documents, or a persisted query manifest.";
    "gateway.trustedDocuments.required" => gateway.trusted.required, "Whether the gateway executes only operations of `gateway.trustedDocuments.file`.";
    "gateway.batching.maxOperations" => gateway.batch, "Maximum number of requests in one body, sent as a list, that the gateway accepts; 0 disables batching.";
    "gateway.subscriptions.keepAlive" => gateway.subscriptions.keep_alive, "How often the gateway sends a keep-alive message to clients of subscriptions. A WebSocket whose client does not answer before the next one is closed. 0 disables keep-alive messages.";
    "gateway.subscriptions.initTimeout" => gateway.subscriptions.init_timeout, "Maximum time for the client of a WebSocket to send `connection_init`; after that, the WebSocket is closed.";
    "gateway.subscriptions.maxConnections" => gateway.subscriptions.max_connections, "Maximum number of connections that are WebSockets or event streams; further ones are refused with `TOO_MANY_STREAMS`. `auto` is three quarters of `http.maxConnections`, so that requests still get through.";
    "gateway.subscriptions.maxOperations" => gateway.subscriptions.max_operations, "Maximum number of concurrent operations on one WebSocket; further ones are refused with `TOO_MANY_OPERATIONS`.";
    "gateway.subscriptions.maxMessageBytes" => gateway.subscriptions.max_message_bytes, "Maximum size of a WebSocket message from a client, in bytes; a larger one ends the connection.";
    "gateway.subgraph.connectTimeout" => gateway.exchange.connect_timeout, "Maximum time to connect to a subgraph; 0 disables the timeout.";
    "gateway.subgraph.idleTimeout" => gateway.exchange.idle_timeout, "Maximum time without receiving a byte from a subgraph, including the time to connect and the wait for the response headers; 0 disables the timeout.";
    "gateway.subgraph.requestTimeout" => gateway.exchange.request_timeout, "Maximum time of one request to a subgraph; 0 disables the timeout. In any case, `graphql.requestTimeout` applies.";
    "gateway.subgraph.maxConcurrentRequests" => gateway.exchange.max_concurrent_requests, "Maximum number of concurrent requests to one subgraph; further ones wait.";
    "gateway.subgraph.pingInterval" => gateway.exchange.ping_interval, "How often a subgraph with open subscriptions is pinged; if it does not answer before the next ping, the subscriptions fail. 0 disables pings.";
    "gateway.subgraph.stacktraces" => gateway.exchange.stacktraces, "Whether clients see the entries `stacktrace` and `exception` in the extensions of errors from subgraphs.";
    "edge.enabled" => edge.enabled, "Whether `soml serve` also has an edge: one address for its own services and for the routes of `edge.route.N`. `auto`: yes with `--demo`, or if a route is configured. See [Edge](edge.md).";
    "edge.port" => edge.port, "Port of the edge of `soml serve`; 0 takes any free port. `auto` is 8000, or any free port if `application.port` is 0. `soml edge` listens on `application.port`.";
    "edge.rate.address" => edge.address_rate, "Maximum rate of requests from one address (IPv6: one /64 network), such as `100/s`, `600/min` or `5000/h`; further ones are answered with 429 `RATE_LIMITED`. Each instance counts only its own requests. `none` disables the limit.";
    "edge.rate.caller" => edge.caller_rate, "Maximum rate of requests from one caller, identified by `iss` and `sub` of the token; otherwise like `edge.rate.address`.";
    "edge.maxBodyBytes" => edge.max_body_bytes, "Maximum size of the body of a request to a server behind the edge, in bytes. The body is read completely before the request is forwarded, so that no server waits for slow clients.";
    "edge.maxStreams" => edge.max_streams, "Maximum number of connections through the edge that are WebSockets or event streams; further ones are refused with `TOO_MANY_STREAMS`. `auto` is three quarters of `http.maxConnections`, so that requests still get through.";
    "edge.tls.certificate" => edge.certificate, "PEM file of the certificate of the edge, followed by its chain; the edge then serves HTTPS only. A new certificate in the file is used within seconds.";
    "edge.tls.key" => edge.key, "PEM file of the private key of that certificate.";
    "edge.upstream.connectTimeout" => edge.upstream.connect_timeout, "Maximum time to connect to a server behind the edge; 0 disables the timeout.";
    "edge.upstream.responseTimeout" => edge.upstream.response_timeout, "Maximum time until a server behind the edge begins to respond, after which the request fails with 504 `UPSTREAM_TIMEOUT`. Make it longer than `graphql.requestTimeout` of the services, so that they can report what took too long. 0 disables the timeout.";
    "edge.upstream.idleTimeout" => edge.upstream.idle_timeout, "Maximum time without receiving a byte once a response has begun; 0 disables the timeout.";
    "edge.upstream.maxWaiting" => edge.upstream.max_waiting, "Maximum number of requests that wait for one server to begin to respond; further ones are sent to another server, or answered with 503 `UPSTREAM_BUSY`. This limits how many requests a hanging service can hold up.";
    "edge.upstream.retries" => edge.upstream.retries, "How often a `GET`, `HEAD` or `OPTIONS` request that a server aborts is retried, on the next server if there is one. A request that no server has received is always sent to the next one.";
    "edge.upstream.maxFailures" => edge.upstream.max_failures, "Number of consecutive requests that a server aborts or lets time out before it is skipped until it answers a check; with 0, only checks decide.";
    "edge.upstream.checkInterval" => edge.upstream.check_interval, "Time between two checks of a server behind the edge, at least 100 ms. A server that fails two checks is skipped until it answers one.";
    "edge.upstream.checkTimeout" => edge.upstream.check_timeout, "Maximum time for such a check, at least 100 ms.";
    "health.cacheTime" => health_cache, "How long a health record is cached; `?cache=false` bypasses the cache.";
    "metrics.enabled" => metrics, "Whether the services record metrics and serve them at `/metrics` in the Prometheus text format. See [Metrics](metrics.md).";
    "logging.slowOperations.threshold" => slow_operations, "Duration from which an operation is logged as slow, with the hash of its document but without values; 0 logs every operation, `none` logs none. See [Slow operations](metrics.md#slow-operations).";
    "logging.format" => log_format, "Format of the log lines on standard error.";
    "traces.enabled" => traces.enabled, "Whether traces are sent by OTLP; needs a build with the feature `otlp`. `auto`: yes if `traces.endpoint` or an OpenTelemetry variable gives an address. See [Traces](traces.md).";
    "traces.endpoint" => traces.endpoint, "Address, with path, to which traces are sent by OTLP over HTTP, such as `http://localhost:4318/v1/traces`; with `none`, the OpenTelemetry variables decide. Needs a build with the feature `otlp`.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_compare_by_letters_and_digits() {
        for name in [
            "graphql.limits.whereDepth",
            "GRAPHQL_LIMITS_WHEREDEPTH",
            "graphql-limits-where-depth",
        ] {
            assert_eq!(
                CATALOGUE.find(name).unwrap().key,
                "graphql.limits.whereDepth"
            );
        }
    }

    #[test]
    fn names_are_distinct_and_defaults_are_accepted() {
        let mut settings = Settings::default();
        for property in &CATALOGUE.properties {
            assert_eq!(CATALOGUE.find(property.key).unwrap().key, property.key);
            let default = property.get(&Settings::default());
            property.set(&mut settings, &default).unwrap();
        }
        assert_eq!(settings, Settings::default());
    }

    fn told(key: &str) -> Option<String> {
        let warning = CATALOGUE.warning(key, "x")?;
        let start = format!("unknown property `{key}` in the environment");
        warning.strip_prefix(&start).map(str::to_owned)
    }

    #[test]
    fn misspelt_variables_of_every_family_are_told_with_the_nearest_name() {
        for (key, near) in [
            ("GRAPHQL_LIMITS_DEPHT", "graphql.limits.depth"),
            ("SPARQL_ENDPOINT_ADRESS", "sparql.endpoint.address"),
            ("HTTP_SENDTIMOUT", "http.sendTimeout"),
            ("HTTP_MAX_CONECTIONS", "http.maxConnections"),
            ("HTTP_CORS_ALLOWEDORIGIN", "http.cors.allowedOrigins"),
            ("STORE_DATADIRS", "store.dataDir"),
            ("store_data_dri", "store.dataDir"),
            ("STROE_DATADIR", "store.dataDir"),
            ("SECURITY_SECRTE", "security.secret"),
            ("SECURTY_SECRET", "security.secret"),
            ("SECURITY_SECRTE_FILE", "SECURITY_SECRET_FILE"),
            ("SECURITY_PROVIDR_KEYFILE", "security.provider.keyFile"),
            ("SEARCH_ENABLE", "search.enabled"),
            ("MUTATION_MAXAFECTED", "mutation.maxAffected"),
            ("LOGGING_FROMAT", "logging.format"),
            ("CACHE_MAX_AGES", "cache.maxAge"),
            ("FORWARD_HEADER", "forward.headers"),
            ("SERVICE_DWEL", "service.dwell"),
            ("POLL_INTERVALL", "poll.interval"),
            ("ENGINE_API_KEYS", "engine.apiKey"),
            ("IDP_LOGIN_RETRYS", "idp.login.retries"),
            ("IDP_APLICATION_ID", "idp.applicationId"),
            ("TASK_DEFAULT_RETRY_DELAYS", "task.default.retry.delay"),
            ("GRAPHQL_SERVICE_3_HELTH", "graphql.service.3.health"),
            ("SOML_TOKEN_FLIE", "SOML_TOKEN_FILE"),
        ] {
            let expected = format!("; did you mean `{near}`?");
            assert_eq!(told(key).as_deref(), Some(expected.as_str()), "{key}");
        }
        assert_eq!(told("GRAPHQL_ZZZZZZZZZZ").as_deref(), Some(""));
        let files = Some("; only secrets are read from files");
        assert_eq!(told("HTTP_SENDTIMEOUT_FILE").as_deref(), files);
    }

    #[test]
    fn every_property_with_a_letter_too_few_is_told() {
        for property in CATALOGUE.properties.iter() {
            let mut key = property.key.replace('.', "_").to_uppercase();
            if key.ends_with("_FILE") || key.len() - key.rfind('_').unwrap_or(0) < 6 {
                continue;
            }
            key.remove(key.len() - 2);
            assert!(CATALOGUE.find(&key).is_none(), "{key}");
            assert!(CATALOGUE.warning(&key, "x").is_some(), "{key}");
        }
    }

    #[test]
    fn variables_of_others_are_left_alone() {
        for key in [
            "PATH",
            "HOME",
            "PORT",
            "HOST",
            "SERVER",
            "HTTP_PROXY",
            "http_proxy",
            "HTTPS_PROXY",
            "NO_PROXY",
            "HTTP_HOST",
            "HTTP_USER_AGENT",
            "HTTP_ACCEPT",
            "HTTP_PORT",
            "HTTP_TIMEOUT",
            "SECURITY_TOKEN",
            "SECURITY_KEY",
            "STORE_PATH",
            "STORE_URL",
            "SEARCH_URL",
            "SEARCH_HOST",
            "SEARCH_INDEX",
            "SERVICE_NAME",
            "SERVICE_PORT",
            "SERVER_NAME",
            "SERVER_HOST",
            "CACHE_DIR",
            "CACHE_TTL",
            "LOGGING_DIR",
            "LOG_LEVEL",
            "TASK_ID",
            "IDP_URL",
            "ENGINE_URL",
            "POLL_TIME",
            "SPRING_PROFILES_ACTIVE",
            "SPRING_APPLICATION_JSON",
            "JAVA_TOOL_OPTIONS",
            "RUST_LOG",
            "RUST_BACKTRACE",
            "SOML_TOKEN",
            "SOML_TOKEN_FILE",
            "IDP_API_KEY",
            "IDP_API_KEY_FILE",
            "KUBERNETES_SERVICE_HOST",
            "GRAPHQL_SERVICE_HOST",
            "GRAPHQL_SERVICE_PORT",
            "GRAPHQL_SERVICE_PORT_HTTP",
            "SPARQL_PORT_3030_TCP",
            "SPARQL_PORT_3030_TCP_ADDR",
            "SPARQL_PORT_3030_TCP_PORT",
            "SPARQL_PORT_3030_TCP_PROTO",
            "GATEWAY_ENV_PATH",
        ] {
            assert_eq!(CATALOGUE.warning(key, "x"), None, "{key}");
        }
        assert_eq!(CATALOGUE.warning("SPARQL_NAME", "/web/sparql"), None);
    }

    #[test]
    fn a_misspelt_property_of_a_subgraph_is_told_with_its_number() {
        let near = |name: &str| CATALOGUE.nearest(name);
        let expected = Some("graphql.service.12.health".to_owned());
        assert_eq!(near("graphql.service.12.helth"), expected);
        assert_eq!(near("GRAPHQL_SERVICE_12_HEALHT"), expected);
    }
}
