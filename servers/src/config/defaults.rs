//! The defaults that the interface gives to properties, beside ours.

use std::fmt::Write;

use super::settings::Settings;
use super::table::CATALOGUE;

/// A property of the interface.
struct Row {
    name: &'static str,
    /// Its default; `none` where the interface gives none.
    default: &'static str,
    /// Why ours is another.
    reason: &'static str,
}

/// Describes a property that has the default of the interface.
const fn same(name: &'static str, default: &'static str) -> Row {
    differs(name, default, "")
}

/// Describes a property that has another default for a reason.
const fn differs(name: &'static str, default: &'static str, reason: &'static str) -> Row {
    Row {
        name,
        default,
        reason,
    }
}

const EMBEDDED: &str = "Without an address, the search engine is embedded.";

const ROWS: &[Row] = &[
    differs(
        "security.enabled",
        "true",
        "`soml serve` requires tokens only if a key to verify them is configured; without tokens it \
         is reachable from this machine only. `object-service` and `search-service` have the \
         default of the interface. `federation-gateway`, for which the interface gives none, has \
         `false`.",
    ),
    same("security.secret", "none"),
    same("IDP_APPLICATION_ID", "none"),
    same("IDP_PROTOCOL", "none"),
    same("IDP_HOST", "none"),
    same("IDP_PORT", "none"),
    same("IDP_USERNAME", "none"),
    same("IDP_PASSWORD", "none"),
    same("FORWARD_HEADERS", "X-Request-ID, Authorization"),
    same("IDP_LOGIN_RETRIES", "10"),
    same("IDP_LOGIN_RETRY_DELAY", "2000"),
    differs(
        "CACHE_MAX_AGE",
        "none",
        "Responses may not be cached unless a subgraph allows it.",
    ),
    same("ENGINE_API_KEY", "none"),
    differs("SERVICE_DWELL", "none", "The interface gives no default."),
    differs(
        "graphql.federation.enabled",
        "none",
        "The interface gives no default. With a gateway in the same process, the API is a subgraph.",
    ),
    same("graphdql.federation.enabled", "false"),
    same("search.storage.location", "data"),
    differs("indexer.rest.uris", "http://localhost:9200", EMBEDDED),
    same("application.name", "none"),
    same("application.scheme", "http"),
    same("application.address", "none"),
    differs(
        "application.port",
        "8080",
        "The ports of the example deployments, so that the three services run side by side: 9995, 9980 for \
         `search-service` and 9000 for `federation-gateway`.",
    ),
    same("application.useNetworkAddressAsName", "false"),
    same("task.default.retry.maxRetries", "60"),
    same("task.default.retry.initialDelay", "0"),
    same("task.default.retry.delay", "10000"),
    same("logging.level.com.vendor.platform.search", "INFO"),
    same("search.maxNestingLevel", "5"),
    differs(
        "soml.storage.provider",
        "rdf4j",
        "`rdf4j` needs an address, which has no default.",
    ),
    same("soml.storage.rdf4j.address", "none"),
    same("soml.storage.rdf4j.repository", "svc-system"),
    same("soml.storage.rdf4j.username", "none"),
    same("soml.storage.rdf4j.credentials", "none"),
    same("soml.storage.rdf4j.maxConcurrentConnections", "500"),
    same("soml.storage.rdf4j.connectionRequestTimeout", "10000"),
    same("soml.storage.rdf4j.connectTimeout", "10000"),
    same("soml.storage.rdf4j.socketTimeout", "0"),
    same("soml.storage.rdf4j.retryHttpCodes", "503"),
    same("soml.storage.rdf4j.maxRetries", "1"),
    same("soml.storage.rdf4j.retryInterval", "2000"),
    same("soml.storage.rdf4j.healthCheckTimeout", "5000"),
    same("soml.storage.rdf4j.cluster.unavailableReadTimeout", "60000"),
    same(
        "soml.storage.rdf4j.cluster.unavailableWriteTimeout",
        "60000",
    ),
    same("soml.storage.rdf4j.cluster.scanFailedInterval", "15000"),
    same("soml.storage.rdf4j.cluster.retryOnHttp4xx", "true"),
    same("soml.storage.rdf4j.cluster.retryOnHttp5xx", "true"),
    same("soml.storage.rdf4j.cluster.forceClusterClient", "false"),
    same("sparql.endpoint.cluster.forceConnection", "false"),
    same("soml.storage.rdf4j.autoCreateRepository", "true"),
    same("soml.storage.rdf4j.repositoryConfig", "none"),
    differs(
        "soml.storage.rdf4j.disableDefault",
        "false",
        "`auto` is the default of the interface: `false`, or `true` with `repositoryConfig`.",
    ),
    same(
        "search.soml.storage.mongodb.endpoint",
        "mongodb://localhost:27017",
    ),
    same("search.soml.storage.mongodb.database", "soaas"),
    same("search.soml.storage.mongodb.collection", "soml"),
    same("search.soml.storage.mongodb.connectionTimeout", "5000"),
    same("search.soml.storage.mongodb.readTimeout", "5000"),
    same("search.soml.storage.mongodb.readConcern", "majority"),
    same("search.soml.storage.mongodb.writeConcern", "majority"),
    same("search.soml.storage.mongodb.applicationName", "search"),
    same("soml.storage.mongodb.serverSelectionTimeout", "5000"),
    same("soml.storage.migration.enabled", "false"),
    same("soml.storage.migration.source", "none"),
    same(
        "soml.storage.migration.destination",
        "${soml.storage.provider}",
    ),
    same("soml.storage.migration.forceStoreUpdate", "false"),
    same("soml.storage.migration.cleanBeforeMigration", "false"),
    same("soml.storage.migration.somlMigration", "false"),
    same("soml.storage.migration.cleanOnComplete", "false"),
    same("soml.storage.migration.async", "false"),
    same("soml.storage.migration.retries", "3"),
    same("soml.storage.migration.delay", "10000"),
    same("search.healthcheck.somlSeverity", "MEDIUM"),
    same("search.healthcheck.elasticSeverity", "MEDIUM"),
    same("search.healthcheck.unavailableSeverity", "HIGH"),
    same("indexing.healthcheck.somlSeverity", "MEDIUM"),
    same("indexing.healthcheck.indexesSeverity", "MEDIUM"),
    same("indexing.healthcheck.unavailableSeverity", "HIGH"),
    same("indexer.healthcheckSeverity", "HIGH"),
    differs(
        "indexer.indexingEnabled",
        "false",
        "Services with data of their own, such as `soml serve`, build the indexes that they search. For `search-service` \
         over `sparql.endpoint.address`, `auto` is the default of the interface.",
    ),
    same("indexer.host", "none"),
    same("indexer.externalHost", "none"),
    same("indexer.indexCreateSettings", "none"),
    same("indexer.connectorCreateSettings", "none"),
    same("indexer.accessTimeout", "2000"),
    same("indexer.healthCheckTimeout", "3000"),
    same("indexer.removePrevious", "false"),
    same("indexer.ignoreMalformed", "true"),
];

impl Row {
    /// Returns our default, if the property has an effect.
    fn ours(&self) -> Option<String> {
        let defaults = Settings::default();
        if let Some(property) = CATALOGUE.find_by_any_name(self.name) {
            return Some(property.get(&defaults));
        }
        let is_logger = self.name.starts_with("logging.level.");
        is_logger.then(|| defaults.log_level.to_uppercase())
    }
}

/// Returns the table of the defaults, in Markdown.
pub(super) fn contract_table() -> String {
    let mut text =
        String::from("| property | in the interface | here | why |\n|---|---|---|---|\n");
    for row in ROWS {
        let (name, default, reason) = (row.name, row.default, row.reason);
        let (ours, reason) = match row.ours() {
            Some(ours) => (format!("`{ours}`"), reason),
            None => ("no effect".to_owned(), ""),
        };
        let _ = writeln!(text, "| `{name}` | `{default}` | {ours} | {reason} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_default_is_that_of_the_interface_or_has_a_reason() {
        for row in ROWS {
            let name = row.name;
            let Some(ours) = row.ours() else {
                assert!(CATALOGUE.planned(name).is_some(), "{name} is unknown");
                continue;
            };
            let is_same = ours.eq_ignore_ascii_case(row.default);
            assert_eq!(is_same, row.reason.is_empty(), "{name}: {ours}");
        }
    }

    #[test]
    fn the_defaults_of_the_interface_are_values_of_the_properties() {
        for row in ROWS.iter().filter(|row| row.default != "none") {
            let expected = match CATALOGUE.find_by_any_name(row.name) {
                Some(property) => property.set(&mut Settings::default(), row.default),
                None => match CATALOGUE.planned(row.name) {
                    Some(planned) => planned.kind.check(row.default),
                    None => continue,
                },
            };
            assert_eq!(expected, Ok(()), "{}", row.name);
        }
    }
}
