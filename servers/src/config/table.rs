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
    "application.name" => application.name, "Name of the service in health records and `/__about`; `none` is that of the program. Instances with the same name share what is bound, so it is required where `soml.storage.provider` is `rdf4j`.";
    "application.scheme" => application.scheme, "Scheme of `application.address` where it has none: `https` behind a proxy with TLS.";
    "application.address" => application.address, "Address at which others reach the service; the scheme and the port are added when missing. It is the name with `application.useNetworkAddressAsName`, and is shown in `/__about` and by the lease of whoever builds search indexes. With `none`, it is `application.host`, unless that is all addresses.";
    "application.useNetworkAddressAsName" => application.uses_address_as_name, "Makes the network address the name. A service whose address changes loses what is bound to it.";
    "application.host" => host, "Address to listen on. While security is off, any address other than loopback needs `--insecure`.";
    "application.port" => port, "Port to listen on; 0 takes any free port. `search-service` and `federation-gateway` have the defaults that are described at `search.port` and `gateway.port`.";
    "graphql.requestTimeout" => request_timeout, "Timeout of a GraphQL request, after which it fails with `DEADLINE_EXCEEDED`.";
    "graphql.slots" => slots, "Number of requests that are executed at once off the async workers, beside half as many long ones; `auto` is the number of cores.";
    "graphql.queue" => queue, "Maximum number of requests that wait for a slot; further ones are answered with 503 `OVERLOADED`.";
    "graphql.numbers" => numbers, "`exact`: numbers that JSON parsers may round are strings; `number`: they are JSON numbers unless digits would be lost.";
    "graphql.response.json.nullArrays" => null_arrays, "Whether a list without values is null instead of `[]`, where the schema does not say it with `nullJsonArrays`.";
    "graphql.federation.enabled" => federation, "Makes the API a Federation 1 subgraph: adds `_entities` and keys, and serves `_service { sdl }`. `auto`: it is where the process is a gateway too, of which the service is a subgraph.";
    "graphql.mutation.enabled" => mutation.enabled, "Serves the type `Mutation`, unless the schema's `enable_mutations` is off or the store cannot be written to.";
    "graphql.mutation.graph" => mutation.graph, "Named graph that mutations add triples to, as an absolute IRI; with `none`, the default graph.";
    "mutation.conflictRetries" => mutation.conflict_retries, "How often a mutation is repeated when other writers changed what it had read, after which it fails with `WRITE_CONFLICT`, or when one of several servers failed before its commit.";
    "mutation.changes.retention" => mutation.retention, "How long records of changes are kept, and with them the answers to repeated idempotency keys; `none` keeps them.";
    "graphql.explain.enabled" => explain, "Lets requests with `extensions: {explain: true}` get the query plan, the steps of the store and their times; of the gateway, its plan over the subgraphs. On in the demo.";
    "graphql.schema.prune" => prune, "Leaves types out of the API that no operation can use, such as filters of scalars that no property has.";
    "graphql.schema.describeArguments" => describe_arguments, "Describes all arguments of the API, not only those of counts, connections, aggregates and federation. On in the demo.";
    "graphql.graphiql.enabled" => graphiql, "Serves GraphiQL to browsers at `/`.";
    "sparql.endpoint.address" => sparql.addresses, "Address of the SPARQL server that holds the data. Several addresses, separated by commas or semicolons, are servers with the same data, the main one first. Without an address, the store is embedded.";
    "sparql.endpoint.type" => sparql.server, "Type of the server; `auto` detects it.";
    "sparql.endpoint.repository" => sparql.repository, "Repository of RDF4J or GraphDB, or dataset of Fuseki. Without one, the address is the query endpoint itself.";
    "sparql.endpoint.username" => sparql.username, "User name for the server.";
    "sparql.endpoint.credentials" => sparql.credentials, secret "Password of the user.";
    "sparql.endpoint.token" => sparql.token, secret "Bearer token, in place of user and password.";
    "sparql.endpoint.maxConcurrentRequests" => sparql.max_concurrent_connections, "Maximum number of concurrent requests, and so connections, per address; further requests wait.";
    "sparql.endpoint.connectionRequestTimeout" => sparql.connection_request_timeout, "Maximum wait for a free connection; 0 disables the timeout.";
    "sparql.endpoint.connectTimeout" => sparql.connect_timeout, "Maximum time to connect; 0 disables the timeout.";
    "sparql.endpoint.socketTimeout" => sparql.socket_timeout, "Maximum time without receiving a byte from the server, also before the first one; 0 disables the timeout. `graphql.requestTimeout` applies in any case.";
    "sparql.endpoint.retryHttpCodes" => sparql.retry_http_codes, "HTTP statuses after which a request is retried: codes or ranges such as `50x` and `5xx`, separated by commas or semicolons.";
    "sparql.endpoint.maxRetries" => sparql.max_retries, "Maximum number of retries; 0 disables retries. A connection that is lost before the response begins is replaced at once, which counts as a retry.";
    "sparql.endpoint.retryInterval" => sparql.retry_interval, "Delay before a retry.";
    "sparql.endpoint.healthCheckTimeout" => sparql.health_check_timeout, "Timeout of the health check of an address, instead of `connectionRequestTimeout`, `connectTimeout` and `socketTimeout`.";
    "sparql.endpoint.maxResultBytes" => sparql.max_result_bytes, "Maximum size of one result from the server, in bytes; a larger one is the error `LIMIT_STORE_RESULT`.";
    "sparql.endpoint.resultFormat" => sparql.result_format, "Result format. `tsv` is smaller, but only safe with servers that close the connection when a query fails midway; RDF4J, GraphDB and Fuseki do not always do so.";
    "sparql.endpoint.updateAddress" => sparql.update_addresses, "Address that takes updates, where it does not follow from `sparql.endpoint.address`; as many as there, in the same order. Other endpoints than those of RDF4J's protocol and Fuseki are written to only with it.";
    "sparql.endpoint.isolated" => sparql.is_isolated, "Whether the server keeps concurrent updates apart; `soml check --writers` finds out. If not, mutations are refused with `STORE_NOT_ISOLATED`.";
    "sparql.endpoint.transactionTimeout" => sparql.transaction_timeout, "Time after which the server ends a transaction without a request. A commit whose answer was lost is taken for not carried out only after it.";
    "sparql.endpoint.cluster.unavailableReadTimeout" => sparql.unavailable_read_timeout, "With several addresses: maximum time for a read after the first failure.";
    "sparql.endpoint.cluster.unavailableWriteTimeout" => sparql.unavailable_write_timeout, "With several addresses: maximum time for which a write is begun again, or its outcome looked for, after the first failure.";
    "sparql.endpoint.cluster.scanFailedInterval" => sparql.scan_failed_interval, "With several addresses: how often it is looked whether an address that failed responds again. It is skipped until then, while others respond.";
    "sparql.endpoint.cluster.retryOnHttp4xx" => sparql.retry_on_http_4xx, "With several addresses: tries another one after a 4xx response, unless that says that the request or its credentials are wrong.";
    "sparql.endpoint.cluster.retryOnHttp5xx" => sparql.retry_on_http_5xx, "With several addresses: tries another one after a 5xx response, unless that says that the server does not know how to do what is asked.";
    "sparql.endpoint.cluster.forceClusterClient" => sparql.force_cluster_client, "Treats a single address like several: it is tried again until `unavailableReadTimeout` or `unavailableWriteTimeout`.";
    "sparql.endpoint.cluster.forceConnection" => sparql.force_connection, "With several addresses: requests are sent also to those that said that the repository is missing, which are skipped otherwise, like those that failed. A missing repository of schemas is not created then.";
    "store.dataDir" => store.data_dir, "Folder in which the embedded store keeps data and schemas over a restart, as `--data-dir` does. It is made where there is none; one process uses it at a time. With `none`, data and schemas are in memory.";
    "store.sync" => store.sync, "When changes to the folder are synced, so that they survive the end of the machine: with `commit` before each is answered, with `interval` every `store.syncInterval`.";
    "store.syncInterval" => store.sync_interval, "Time between two syncs with `store.sync: interval`. What was changed since the last one is lost if the process is killed or the machine ends.";
    "store.orderMemory" => store.order_memory, "Memory in bytes for orders of objects that the embedded store keeps between requests, so that a page costs the same wherever it lies: 4 for each object of each order. 0 keeps none.";
    "store.backupDir" => store.backup_dir, "Folder in which a running service makes backups, as `soml backup --url` asks it to. With `none`, it makes none.";
    "http.maxBodyBytes" => max_body_bytes, "Maximum size of the body of a GraphQL request, in bytes.";
    "http.maxSchemaBytes" => max_schema_bytes, "Maximum size of a SOML document that is sent, in bytes.";
    "http.memoryBudget" => memory_budget, "Memory in bytes that all requests together may hold: bodies, results of stores and unsent responses. What does not fit waits for a moment, then is answered with 503 `OVERLOADED`. `auto` is a quarter of the memory of the machine or of its control group.";
    "http.maxConnections" => max_connections, "Maximum number of open connections; further ones wait to be accepted.";
    "http.sendTimeout" => send_timeout, "Maximum time for a client to take the next 64 KiB of a response, after which the connection is closed.";
    "http.allowedHosts" => allowed_hosts, "Names under which clients may call, as the `Host` of their requests, separated by commas; any port. On a loopback address, `localhost` and loopback addresses are always allowed, and nothing else unless listed here. On other addresses, every name is allowed as long as this is `none`.";
    "http.cors.allowedOrigins" => cors_origins, "Origins of web pages that may call the service from a browser, such as `https://app.example.org`, separated by commas; `*` allows all. Requests from pages of other origins are refused with `CROSS_SITE`.";
    "http.cors.maxAge" => cors_max_age, "How long browsers may keep the answer to a CORS preflight.";
    "http.trustedProxies" => trusted_proxies, "Addresses and networks of proxies in front of the service, separated by commas, such as `10.0.0.7, 10.1.0.0/16`. Of requests that come from one, `X-Forwarded-For` names the client, which log-ins and rates are counted by, and `X-Forwarded-Prefix` the path below which links lead.";
    "http.headerTimeout" => header_timeout, "Maximum time for a client to send the request headers, after which the connection is closed.";
    "http.shutdownTimeout" => shutdown_timeout, "Maximum time for open requests to complete at shutdown.";
    "security.enabled" => security.enabled, "Whether every request needs a token. `auto`: it does if `security.secret` or `security.jwks.url` is set. For `federation-gateway`, with the default `false`: whether it logs in to the identity provider of `idp.*` to read the schemas of its subgraphs. `object-service` has the default `true`, and does not start without one of the two.";
    "security.secret" => security.secret, secret "What tokens are verified with: a text for HMAC, or public keys or certificates in PEM for RSA, ECDSA and Ed25519. A PEM text may have `\\n` in place of line ends.";
    "security.jwks.url" => security.jwks_url, "Address of a JSON Web Key Set with public keys, which is fetched at the start and again every five minutes; beside or in place of `security.secret`.";
    "security.algorithms" => security.algorithms, "Algorithms that tokens may be signed with, separated by commas; `auto` allows all that the keys are for.";
    "security.issuer" => security.issuers, "Accepted issuers (`iss`), separated by commas; with `none`, the issuer is not checked.";
    "security.audience" => security.audiences, "Accepted audiences (`aud`), separated by commas; with `none`, tokens for other services are accepted too, which is warned of at the start.";
    "security.leeway" => security.leeway, "How far clocks may differ when `exp` and `nbf` are checked.";
    "security.rolesClaim" => security.roles_claim, "The claim that holds the roles; dots lead into objects, as in `realm_access.roles`.";
    "security.superRoles" => security.super_roles, "Roles whose holders may everything, whatever a schema says, separated by commas.";
    "security.schemaAdminRole" => security.schema_admin_role, "Role whose holders may manage schemas and `/soml-rbac`, whatever is stored there.";
    "security.exposeInGraphQl" => security.expose_in_graphql, "Whether the API says in `@hasRole` which roles may read, write and delete what: in `/schema.graphql`, and the directive in introspection.";
    "security.maxTokenBytes" => security.max_token_bytes, "Maximum length of a token, in bytes.";
    "soml.storage.provider" => storage.provider, "What stores schemas, who may manage them, and what is bound. `rdf4j`: a server of RDF4J's protocol, which any number of instances share. `mongodb`: a MongoDB server, likewise; deprecated. `file`: the folder of `store.dataDir`. `in-memory`: the process, until it ends. `auto`: `rdf4j` where `soml.storage.rdf4j.address` is set, otherwise `file` where there is a folder, otherwise `in-memory`. See [Stores of schemas](shared-schemas.md).";
    "soml.storage.followInterval" => storage.follow_interval, "How often an instance looks what others have bound, replaced or unbound in a store of schemas that they share.";
    "soml.storage.leaseTime" => storage.lease_time, "Time after which an instance that builds search indexes and does not renew its lease is replaced by another one.";
    "soml.storage.rdf4j.address" => storage.rdf4j.connection.addresses, "Address of the server of RDF4J's protocol (RDF4J, GraphDB) that stores schemas, without the path of a repository. Several addresses, separated by commas or semicolons, are servers with the same data, the main one first.";
    "soml.storage.rdf4j.repository" => storage.rdf4j.connection.repository, "Repository for schemas.";
    "soml.storage.rdf4j.username" => storage.rdf4j.connection.username, "User name for the server.";
    "soml.storage.rdf4j.credentials" => storage.rdf4j.connection.credentials, secret "Password of the user.";
    "soml.storage.rdf4j.maxConcurrentConnections" => storage.rdf4j.connection.max_concurrent_connections, "Maximum number of connections to each address; further requests wait.";
    "soml.storage.rdf4j.connectionRequestTimeout" => storage.rdf4j.connection.connection_request_timeout, "Maximum wait for a free connection; 0 disables the timeout. A call of the store ends after `graphql.requestTimeout` in any case.";
    "soml.storage.rdf4j.connectTimeout" => storage.rdf4j.connection.connect_timeout, "Maximum time to connect; 0 disables the timeout.";
    "soml.storage.rdf4j.socketTimeout" => storage.rdf4j.connection.socket_timeout, "Maximum time without receiving a byte from the server, also before the first one; 0 disables the timeout.";
    "soml.storage.rdf4j.retryHttpCodes" => storage.rdf4j.connection.retry_http_codes, "HTTP statuses after which a request is retried: codes or ranges such as `50x` and `5xx`, separated by commas or semicolons. 401 and 403 are never retried.";
    "soml.storage.rdf4j.maxRetries" => storage.rdf4j.connection.max_retries, "Maximum number of retries; 0 disables retries.";
    "soml.storage.rdf4j.retryInterval" => storage.rdf4j.connection.retry_interval, "Delay before a retry.";
    "soml.storage.rdf4j.healthCheckTimeout" => storage.rdf4j.connection.health_check_timeout, "Timeout of the health check of the server, instead of `connectionRequestTimeout`, `connectTimeout` and `socketTimeout`.";
    "soml.storage.rdf4j.cluster.unavailableReadTimeout" => storage.rdf4j.connection.unavailable_read_timeout, "With several addresses: maximum time for a read after the first failure.";
    "soml.storage.rdf4j.cluster.unavailableWriteTimeout" => storage.rdf4j.connection.unavailable_write_timeout, "With several addresses: maximum time for which a write is begun again, or its outcome looked for, after the first failure.";
    "soml.storage.rdf4j.cluster.scanFailedInterval" => storage.rdf4j.connection.scan_failed_interval, "With several addresses: how often it is looked whether an address that failed responds again. It is skipped until then, while others respond.";
    "soml.storage.rdf4j.cluster.retryOnHttp4xx" => storage.rdf4j.connection.retry_on_http_4xx, "With several addresses: tries another one after a 4xx response, unless that says that the request or its credentials are wrong.";
    "soml.storage.rdf4j.cluster.retryOnHttp5xx" => storage.rdf4j.connection.retry_on_http_5xx, "With several addresses: tries another one after a 5xx response, unless that says that the server does not know how to do what is asked.";
    "soml.storage.rdf4j.cluster.forceClusterClient" => storage.rdf4j.connection.force_cluster_client, "Treats a single address like several: it is tried again until `unavailableReadTimeout` or `unavailableWriteTimeout`.";
    "soml.storage.rdf4j.cluster.forceConnection" => storage.rdf4j.connection.force_connection, "With several addresses: the same as `sparql.endpoint.cluster.forceConnection`, for the store of schemas alone.";
    "soml.storage.rdf4j.autoCreateRepository" => storage.rdf4j.creates_repository, "Creates the repository when it is missing.";
    "soml.storage.rdf4j.repositoryConfig" => storage.rdf4j.repository_template, "Template of the repository in Turtle, as a path or as the text itself. The name in it must be that of the repository, or `%id%`.";
    "soml.storage.rdf4j.disableDefault" => storage.rdf4j.disables_default, "Creates the repository from `repositoryConfig` only, not from the templates of the program. `auto`: as soon as `repositoryConfig` is set.";
    "soml.storage.mongodb.endpoint" => storage.mongodb.endpoint, secret "Connection string of the MongoDB server that stores schemas.";
    "soml.storage.mongodb.database" => storage.mongodb.database, "Database for schemas.";
    "soml.storage.mongodb.collection" => storage.mongodb.collection, "Collection for schemas.";
    "soml.storage.mongodb.connectionTimeout" => storage.mongodb.connection_timeout, "Maximum time to connect.";
    "soml.storage.mongodb.readTimeout" => storage.mongodb.read_timeout, "Maximum time for an answer to a command.";
    "soml.storage.mongodb.serverSelectionTimeout" => storage.mongodb.server_selection_timeout, "Maximum time to find a server that can carry out a command.";
    "soml.storage.mongodb.readConcern" => storage.mongodb.read_concern, "Which data reads return.";
    "soml.storage.mongodb.writeConcern" => storage.mongodb.write_concern, "When writes are acknowledged: `acknowledged`, `w1`, `w2`, `w3`, `unacknowledged`, `journaled`, `majority`, or settings such as `w=2, wtimeout=1000, j=true`.";
    "soml.storage.mongodb.applicationName" => storage.mongodb.application_name, "Name by which the server shows the connections.";
    "soml.storage.migration.enabled" => storage.migration.enabled, "Moves schemas, the rights on them and what is bound from another store when the service starts. See [Moving schemas](shared-schemas.md#moving-schemas-to-another-store).";
    "soml.storage.migration.source" => storage.migration.source, "Store that schemas are moved from, with the properties of that store: `soml.storage.mongodb.*`, `soml.storage.rdf4j.*`, or `store.dataDir` for `file`. It is required by `soml.storage.migration.enabled`.";
    "soml.storage.migration.destination" => storage.migration.destination, "Store that schemas are moved to: the one that is in use, or another one.";
    "soml.storage.migration.forceStoreUpdate" => storage.migration.force, "Moves schemas to a destination that has some already, and overwrites those with the same id. Otherwise schemas are only moved to a destination without any. Every start moves them, so turn it off afterwards.";
    "soml.storage.migration.cleanBeforeMigration" => storage.migration.clean_before, "Removes all schemas, rights and bindings from the destination before schemas are moved there. An origin with nothing to move never empties it.";
    "soml.storage.migration.somlMigration" => storage.migration.all, "With `soml.storage.migration.forceStoreUpdate`: moves all schemas, not only those that are bound. Without it, all are moved anyway.";
    "soml.storage.migration.cleanOnComplete" => storage.migration.clean_after, "Removes from the origin what has been moved, once it has been read back from the destination.";
    "soml.storage.migration.async" => storage.migration.is_async, "Moves schemas while the service runs. If that fails, an error is logged and the service goes on; otherwise the service stops.";
    "soml.storage.migration.retries" => storage.migration.retries, "How often a migration that fails is tried again. Refused credentials are not tried again.";
    "soml.storage.migration.delay" => storage.migration.delay, "Delay before a migration is tried again.";
    "soml.storage.maxSchemas" => max_stored_schemas, "Maximum number of stored schemas; a further one is the error `SCHEMA_STORE_FULL`.";
    "soml.storage.maxBytes" => max_stored_bytes, "Maximum size of all stored schemas together, in bytes; what would exceed it is the error `SCHEMA_STORE_FULL`.";
    "security.provisioning.file" => provider.provisioning, secret "YAML file with `security.roles` and `security.users`; with it, the service is a [provider of tokens](identity.md) for development.";
    "security.provider.keyFile" => provider.key_file, "File of the provider's signing key, made at the first start, for its owner alone. Without one, the key is kept in memory and tokens end with the process.";
    "security.provider.issuer" => provider.issuer, "Issuer (`iss`) of the provider's tokens.";
    "security.provider.applicationId" => provider.application_id, "Application that users log in to, and audience (`aud`) of the provider's tokens.";
    "security.provider.tokenTime" => provider.token_time, "How long a token of the provider is valid.";
    "security.provider.loginsPerUser" => provider.logins_per_user, "Maximum number of log-ins under one name in a minute; further ones are answered with 429. 0 disables the bound.";
    "security.provider.loginsPerAddress" => provider.logins_per_address, "Maximum number of log-ins from one address (IPv6: one /64 network) in a minute; further ones are answered with 429. 0 disables the bound.";
    "search.enabled" => search.enabled, "Whether `soml serve` is a search service too; `auto`: it is if the schema that it starts with says what is searched, as that of the demo does, or a schema was bound to searches before, unless security is on, `search.rbac.enabled` is `false`, and the roles of the schema hide anything from anybody: then `true` allows that searches show it. `object-service` never is one, and `search-service` always.";
    "search.rbac.enabled" => search.roles, "Whether searches obey the roles of schemas while security is on; `auto` does. By default `search-service` does not. `true` without security stops the start.";
    "search.port" => search.port, "Port of the search service; 0 takes any free port. `auto` is 9980, or any free port if `application.port` is 0. `search-service` listens on `application.port`.";
    "search.storage.location" => search.location, "Folder in which the search service keeps what is bound to it, and the embedded engine its indexes, each below the name of the application. By default, `soml serve` with `store.dataDir` uses the folder `search` in that one for the indexes; what is bound is kept with the schemas there. Not used while the data are in memory only.";
    "search.maxNestingLevel" => search.max_nesting_level, "Maximum of `nestingLevel` in the `search` settings of a schema.";
    "graphdql.federation.enabled" => search.federation, "Makes the search API a Federation 1 subgraph: adds `_entities`, serves `_service { sdl }`, and shows of objects in hits the `id` alone.";
    "search.soml.address" => search.object_service, "Address of an object service from which `search-service` reads schemas, at `GET /soml/{id}`; with `none`, they are its own.";
    "search.soml.token" => search.object_service_token, secret "Bearer token for the object service.";
    "search.healthcheck.somlSeverity" => search.severities.soml, "Severity of check 2100 while no schema is bound. Here and below, `LOW` and `MEDIUM` are the status `WARNING`, and `HIGH` is `ERROR`.";
    "search.healthcheck.elasticSeverity" => search.severities.engine, "Severity of check 2100 while the search engine cannot be reached.";
    "search.healthcheck.unavailableSeverity" => search.severities.unavailable, "Severity of check 2100 when the check itself fails.";
    "indexing.healthcheck.somlSeverity" => search.severities.indexing_soml, "Severity of check 2200 while no schema is bound.";
    "indexing.healthcheck.indexesSeverity" => search.severities.indexing_indexes, "Severity of check 2200 while some index is not there or not complete, or its last run failed.";
    "indexing.healthcheck.unavailableSeverity" => search.severities.indexing_unavailable, "Severity of check 2200 while the search engine cannot be reached, or when the check itself fails.";
    "indexer.healthcheckSeverity" => search.severities.indexer, "Severity of check 2300 while the engine that is written to is not configured or cannot be reached.";
    "indexer.indexingEnabled" => search.indexing, "Whether binding a schema builds its indexes; if not, the service searches those that are there. `auto`: `soml serve` and a service with data of its own build them, `search-service` over `sparql.endpoint.address` does not.";
    "indexer.host" => search.host, "Addresses of the nodes of OpenSearch that indexes are written to, separated by commas or semicolons; with `none`, those of `indexer.rest.uris`. Without either, the engine is embedded.";
    "indexer.rest.uris" => search.rest_uris, "Addresses of the nodes of OpenSearch that are searched, separated by commas or semicolons; with `none`, those of `indexer.host`.";
    "indexer.username" => search.username, "User name for OpenSearch.";
    "indexer.credentials" => search.credentials, secret "Password of the user.";
    "indexer.authorities" => search.authorities, "PEM file of certificate authorities that are trusted by connections to OpenSearch, in addition to those of the system.";
    "indexer.indexCreateSettings" => search.create_settings, "Settings of indexes when they are created, as a JSON object such as `{\"index.number_of_shards\": 1}`.";
    "indexer.accessTimeout" => search.access_timeout, "Maximum time to connect to OpenSearch, and maximum wait for a free connection; 0 and -1 disable the timeout.";
    "indexer.healthCheckTimeout" => search.health_check_timeout, "Timeout of the health check of the search engine.";
    "indexer.removePrevious" => search.remove_previous, "Builds every index anew when a schema is bound, also unchanged ones, and replaces indexes of the same name that no application owns.";
    "indexer.ignoreMalformed" => search.ignore_malformed, "Leaves values out that cannot be indexed, and counts them in `/soml/info`. If `false`, they are looked for before anything is written, and the schema is not bound if there are any.";
    "indexer.refreshInterval" => search.refresh_interval, "How often the search service looks whether the data have changed that its indexes follow.";
    "indexer.reconcileInterval" => search.reconcile_interval, "How often the search service compares its indexes with the data and repairs them, for data that are changed by others than the object service, as by SPARQL; `none` compares them on demand only.";
    "indexer.dropDelay" => search.drop_delay, "How long an index stays that another has replaced, for instances that still search it.";
    "task.default.retry.maxRetries" => search.retry.max_retries, "How often binding at the start, and building indexes, are tried again when the search engine or the store cannot be reached.";
    "task.default.retry.initialDelay" => search.retry.initial_delay, "Delay before the first try; 0 or less means none.";
    "task.default.retry.delay" => search.retry.delay, "Delay before each further try; 0 or less means none. While indexes are built it begins with 200 ms and doubles up to this.";
    "forward.headers" => gateway.forward_headers, "Headers of clients that the gateway forwards to subgraphs, separated by commas. `X-Request-ID` is always forwarded, and headers that belong to one connection or to a body never are.";
    "cache.maxAge" => gateway.cache_max_age, "Time for which answers of the gateway may be kept where a subgraph says nothing of it: `max-age` of `Cache-Control`. The shortest time of all subgraphs that were asked counts.";
    "service.dwell" => gateway.dwell, "Pause of the gateway between checks of its subgraphs, in milliseconds: until they can be composed, and later for health and good-to-go. `gateway.supergraph.file` is looked at as often.";
    "gateway.followBindings" => gateway.follows_bindings, "Whether the gateway of `soml serve` serves a schema at once that is bound to a service of the same process. `federation-gateway` has no such service.";
    "poll.interval" => gateway.poll_interval, "Pause of the gateway between looks for changed schemas of its subgraphs; 0: they stay as they are until the gateway is restarted.";
    "engine.apiKey" => gateway.engine_api_key, secret "Key for a registry of graphs. Accepted for deployments that set it; no subgraph is registered anywhere.";
    "idp.type" => gateway.idp.kind, "What the identity provider is, if `security.enabled` is on: `fusionauth`, which a service with `security.provisioning.file` also answers like, or `keycloak`. See [Logging in](identity.md#services-that-log-in).";
    "idp.applicationId" => gateway.idp.application_id, "Application that the gateway logs in to; for Keycloak, the `client_id` of the client.";
    "idp.protocol" => gateway.idp.protocol, "Protocol of the identity provider's REST API.";
    "idp.host" => gateway.idp.host, "Host of the identity provider.";
    "idp.port" => gateway.idp.port, "Port of the identity provider.";
    "idp.path" => gateway.idp.path, "Path before all paths of the identity provider, such as `/auth`.";
    "idp.realm" => gateway.idp.realm, "Realm that the gateway logs in to, with `idp.type: keycloak`.";
    "idp.username" => gateway.idp.username, "User that the gateway logs in as, to read `_service { sdl }` of the subgraphs.";
    "idp.password" => gateway.idp.password, secret "Password of that user.";
    "idp.clientSecret" => gateway.idp.client_secret, secret "Secret of the client at Keycloak, unless it is public. Without `idp.username`, the gateway logs in as the service account of the client (`client_credentials`).";
    "idp.login.retries" => gateway.idp.retries, "How often the gateway tries again to log in.";
    "idp.login.retryDelay" => gateway.idp.retry_delay, "Delay before each further log-in.";
    "gateway.enabled" => gateway.enabled, "Whether `soml serve` is a gateway too; `auto`: it is with `--demo`, and if `graphql.service.N` names a subgraph. Without a schema and data it is nothing else then, as with `gateway.supergraph.file`.";
    "gateway.port" => gateway.port, "Port of the gateway of `soml serve`; 0 takes any free port. `auto` is 9000, or any free port if `application.port` is 0. `federation-gateway` listens on `application.port`.";
    "gateway.supergraph.file" => gateway.supergraph_file, "File of a composed supergraph, which the gateway serves and follows; `soml compose --output` writes one. See [A supergraph from a file](gateway.md#a-supergraph-from-a-file).";
    "gateway.mutations.enabled" => gateway.mutations, "Whether the gateway serves the mutations of its subgraphs.";
    "gateway.pruneUnreachableTypes" => gateway.prune, "Whether types that no operation can reach are left out of the schema that clients see, such as those that subgraphs have for each other only.";
    "gateway.sharing.subgraphRequests" => gateway.share_subgraph_requests, "Whether queries to a subgraph that are equal and in flight at the same time are sent once. See [Sharing of requests](gateway.md#sharing-of-requests).";
    "gateway.sharing.clientRequests" => gateway.share_client_requests, "Whether queries of clients that are equal and in flight at the same time are executed once. See [Sharing of requests](gateway.md#sharing-of-requests).";
    "gateway.entityMemo.enabled" => gateway.entity_memo, "Whether the gateway takes what a subgraph has said of an entity from there when the same operation needs it again. See [Entity memo](gateway.md#entity-memo).";
    "gateway.entityMemo.except" => gateway.entity_memo_except, "Names of subgraphs that are asked again nevertheless, separated by commas.";
    "gateway.persistedQueries.enabled" => gateway.persisted.enabled, "Whether clients of the gateway may send a query once with its SHA-256 hash, and the hash alone from then on.";
    "gateway.persistedQueries.cacheBytes" => gateway.persisted.cache_bytes, "Bytes of such queries that are kept, those in use longest.";
    "gateway.trustedDocuments.file" => gateway.trusted.file, "JSON file of operations that clients may name: an object of documents by their names, or a persisted query manifest.";
    "gateway.trustedDocuments.required" => gateway.trusted.required, "Whether the gateway answers the operations of that file alone.";
    "gateway.batching.maxOperations" => gateway.batch, "Maximum number of requests that the gateway takes in one body, as a list; 0 refuses lists.";
    "gateway.subscriptions.keepAlive" => gateway.subscriptions.keep_alive, "How often the gateway sends the clients of subscriptions a sign of life. A WebSocket whose client gives none in return until the next time is closed. 0 sends none.";
    "gateway.subscriptions.initTimeout" => gateway.subscriptions.init_timeout, "Maximum time for the client of a WebSocket to send `connection_init`, after which it is closed.";
    "gateway.subscriptions.maxConnections" => gateway.subscriptions.max_connections, "Maximum number of connections that are WebSockets or streams of events; further ones are refused with `TOO_MANY_STREAMS`. `auto` is three quarters of `http.maxConnections`, so that requests still get through.";
    "gateway.subscriptions.maxOperations" => gateway.subscriptions.max_operations, "Maximum number of operations that run on one WebSocket at a time; further ones are refused with `TOO_MANY_OPERATIONS`.";
    "gateway.subscriptions.maxMessageBytes" => gateway.subscriptions.max_message_bytes, "Maximum size of a message that a client sends over a WebSocket, in bytes; a larger one ends the connection.";
    "gateway.subgraph.connectTimeout" => gateway.exchange.connect_timeout, "Maximum time to connect to a subgraph; 0 disables the timeout.";
    "gateway.subgraph.idleTimeout" => gateway.exchange.idle_timeout, "Maximum time without a byte from a subgraph, the wait to connect and the wait for the head of an answer included; 0 disables the timeout.";
    "gateway.subgraph.requestTimeout" => gateway.exchange.request_timeout, "Maximum time of one request to a subgraph; 0 disables the timeout. `graphql.requestTimeout` applies in any case.";
    "gateway.subgraph.maxConcurrentRequests" => gateway.exchange.max_concurrent_requests, "Maximum number of concurrent requests to one subgraph; further ones wait.";
    "gateway.subgraph.pingInterval" => gateway.exchange.ping_interval, "How often a subgraph with open subscriptions is asked for a sign of life; without one until the next time, they fail. 0 never asks.";
    "gateway.subgraph.stacktraces" => gateway.exchange.stacktraces, "Whether clients see the members `stacktrace` and `exception` that subgraphs put into the extensions of their errors.";
    "edge.enabled" => edge.enabled, "Whether `soml serve` has an edge too: one address in front of its services and of the routes of `edge.route.N`. `auto`: it has with `--demo`, and if a route is configured. See [Edge](edge.md).";
    "edge.port" => edge.port, "Port of the edge of `soml serve`; 0 takes any free port. `auto` is 8000, or any free port if `application.port` is 0. `soml edge` listens on `application.port`.";
    "edge.rate.address" => edge.address_rate, "Requests that the edge takes from one address (for IPv6 from a network of 64 bits), such as `100/s`, `600/min` or `5000/h`; further ones are answered with 429 `RATE_LIMITED`. Each instance counts its own. With `none`, they are not counted.";
    "edge.rate.caller" => edge.caller_rate, "Requests that the edge takes from one caller, told by `iss` and `sub` of its token. As `edge.rate.address` otherwise.";
    "edge.maxBodyBytes" => edge.max_body_bytes, "Maximum size of the body of a request to a server behind the edge, in bytes. It is read before the request is sent on, so no server waits for slow clients.";
    "edge.maxStreams" => edge.max_streams, "Maximum number of connections through the edge that are WebSockets or streams of events; further ones are refused with `TOO_MANY_STREAMS`. `auto` is three quarters of `http.maxConnections`, so that requests still get through.";
    "edge.tls.certificate" => edge.certificate, "PEM file of the certificate of the edge, followed by those that it is signed by; the edge then speaks HTTPS only. A new certificate in the file is used within seconds.";
    "edge.tls.key" => edge.key, "PEM file of the private key of that certificate.";
    "edge.upstream.connectTimeout" => edge.upstream.connect_timeout, "Maximum time to connect to a server behind the edge; 0 disables the timeout.";
    "edge.upstream.responseTimeout" => edge.upstream.response_timeout, "Maximum time until a server behind the edge begins to answer, after which the request fails with 504 `UPSTREAM_TIMEOUT`. Longer than `graphql.requestTimeout` of the services, so that they say what took too long; 0 disables the timeout.";
    "edge.upstream.idleTimeout" => edge.upstream.idle_timeout, "Maximum time without a byte of an answer that has begun; 0 disables the timeout.";
    "edge.upstream.maxWaiting" => edge.upstream.max_waiting, "Maximum number of requests that wait for one server to begin to answer; further ones are sent to another server, or answered with 503 `UPSTREAM_BUSY`. So a service that hangs takes no more than that from the others.";
    "edge.upstream.retries" => edge.upstream.retries, "How often a request by `GET`, `HEAD` or `OPTIONS` is sent again, to the next server if there is one, when a server breaks it off. A request that no server has received is sent to the next in any case.";
    "edge.upstream.maxFailures" => edge.upstream.max_failures, "Number of requests in a row that a server breaks off, or lets time out, before it is left out until it answers a check; with 0, only checks decide.";
    "edge.upstream.checkInterval" => edge.upstream.check_interval, "Pause between two checks of a server behind the edge, at least 100 ms. A server that has not answered two checks is left out until it answers one.";
    "edge.upstream.checkTimeout" => edge.upstream.check_timeout, "Maximum time for such a check, at least 100 ms.";
    "health.cacheTime" => health_cache, "How long a health record is cached; `?cache=false` bypasses the cache.";
    "metrics.enabled" => metrics, "Whether the services record metrics, and show those of the process at `/metrics` in the text format of Prometheus. See [Metrics](metrics.md).";
    "logging.slowOperations.threshold" => slow_operations, "Duration from which on an operation is logged as slow, with the hash of its document and none of its values; 0 logs every operation, and `none` no operation. See [Slow operations](metrics.md#slow-operations).";
    "logging.format" => log_format, "Format of the log lines on standard error.";
    "traces.enabled" => traces.enabled, "Whether traces are sent by OTLP; needs a build with the feature `otlp`. `auto`: they are if an address is given, here or by a variable of OpenTelemetry. See [Traces](traces.md).";
    "traces.endpoint" => traces.endpoint, "Address that traces are sent to by OTLP over HTTP, with its path, such as `http://localhost:4318/v1/traces`; with `none`, the variables of OpenTelemetry say it. Needs a build with the feature `otlp`.";
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
