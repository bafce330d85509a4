//! Names that the interface gives to properties, beside those of the table: other names of what is
//! built, and what is not built yet.

use service_config::{Alias, Asks, Planned};

use super::security::Switch;
use super::settings::Settings;
use super::times::milliseconds;

/// What differs where another name falls back.
const FALLS_BACK: &str = "used where the property is not set";

pub(super) const ALIASES: &[Alias] = &[
    Alias {
        name: "health.cache.invalidation.period",
        key: "health.cacheTime",
        falls_back: false,
        convert: milliseconds,
        note: "in seconds, or with a unit such as `500ms` or `2m`",
    },
    Alias {
        name: "server.port",
        key: "application.port",
        falls_back: true,
        convert: as_it_is,
        note: FALLS_BACK,
    },
    Alias {
        name: "spring.application.name",
        key: "application.name",
        falls_back: true,
        convert: as_it_is,
        note: FALLS_BACK,
    },
    branded("spring.indexer.rest.uris", "indexer.rest.uris"),
    branded("spring.indexer.rest.username", "indexer.username"),
    branded("spring.indexer.rest.password", "indexer.credentials"),
    branded("spring.elasticsearch.rest.uris", "indexer.rest.uris"),
    branded("spring.elasticsearch.rest.username", "indexer.username"),
    branded("spring.elasticsearch.rest.password", "indexer.credentials"),
    branded("elasticsearch.host", "indexer.host"),
    branded("elasticsearch.indexingEnabled", "indexer.indexingEnabled"),
    branded(
        "elasticsearch.indexCreateSettings",
        "indexer.indexCreateSettings",
    ),
    branded("elasticsearch.accessTimeout", "indexer.accessTimeout"),
    branded(
        "elasticsearch.healthCheckTimeout",
        "indexer.healthCheckTimeout",
    ),
    branded("elasticsearch.removePrevious", "indexer.removePrevious"),
    branded("elasticsearch.ignoreMalformed", "indexer.ignoreMalformed"),
    branded(
        "elasticsearch.healthcheckSeverity",
        "indexer.healthcheckSeverity",
    ),
];

/// Another name with the same values.
const fn branded(name: &'static str, key: &'static str) -> Alias {
    Alias {
        name,
        key,
        falls_back: true,
        convert: as_it_is,
        note: FALLS_BACK,
    }
}

fn as_it_is(text: &str) -> Result<String, &'static str> {
    Ok(text.to_owned())
}

/// Protection, whatever else is configured.
const PROTECTION: Asks<Settings> = Asks::Protection {
    is_disabled: |_| false,
};

/// Protection, as a part of `security.enabled`: whoever says no to all of it does not ask for its parts.
const SECURITY: Asks<Settings> = Asks::Protection {
    is_disabled: |settings| settings.security.enabled == Switch::Off,
};

/// Something that can be left undone with a warning.
const SERVICE: Asks<Settings> = Asks::Service;

macro_rules! planned {
    ($($asks:ident: $($name:literal)*;)*) => {
        /// Properties that are known and not built yet.
        pub(super) const PLANNED: &[Planned<Settings>] = &[
            Planned {
                name: "soml.storage.provider",
                asks: SERVICE,
                as_it_is: Some("in-memory"),
            },
            $($(Planned { name: $name, asks: $asks, as_it_is: None },)*)*
        ];
    };
}

planned! {
    SECURITY:
        "security.roles" "security.users";
    PROTECTION: "search.rbac.enabled";
    SERVICE:
        "application.scheme" "application.address" "application.useNetworkAddressAsName"
        "logging.level.*" "license.filepath"
        "graphql.enableOutputValidations"
        "graphql.response.json.deduplication" "graphql.response.json.nullArrays"
        "graphql.introspectionQueryCache.*"
        "validation.shacl.enabled" "sparql.optimizations.*"
        "sparql.endpoint.cluster.forceConnection"
        "sparql.endpoint.cluster.unavailableWriteTimeout"
        "sparql.endpoint.cluster.clusterStatusTimeout"
        "sparql.endpoint.cluster.clusterStatusConnectTimeout"
        "sparql.endpoint.cluster.concurrentStatusCheck"
        "sparql.endpoint.cluster.leaderDiscoveryRetries"
        "sparql.endpoint.cluster.leaderDiscoveryRetryDelay"
        "sparql.endpoint.cluster.leaderOperationRetries"
        "soml.storage.rdf4j.address" "soml.storage.rdf4j.repository"
        "soml.storage.rdf4j.username" "soml.storage.rdf4j.credentials"
        "soml.storage.rdf4j.maxConcurrentConnections"
        "soml.storage.rdf4j.connectionRequestTimeout" "soml.storage.rdf4j.connectTimeout"
        "soml.storage.rdf4j.socketTimeout" "soml.storage.rdf4j.retryHttpCodes"
        "soml.storage.rdf4j.maxRetries" "soml.storage.rdf4j.retryInterval"
        "soml.storage.rdf4j.healthCheckTimeout"
        "soml.storage.rdf4j.cluster.unavailableReadTimeout"
        "soml.storage.rdf4j.cluster.unavailableWriteTimeout"
        "soml.storage.rdf4j.cluster.scanFailedInterval"
        "soml.storage.rdf4j.cluster.retryOnHttp4xx" "soml.storage.rdf4j.cluster.retryOnHttp5xx"
        "soml.storage.rdf4j.cluster.forceClusterClient"
        "soml.storage.rdf4j.cluster.clusterStatusTimeout"
        "soml.storage.rdf4j.cluster.clusterStatusConnectTimeout"
        "soml.storage.rdf4j.cluster.concurrentStatusCheck"
        "soml.storage.rdf4j.cluster.leaderDiscoveryRetries"
        "soml.storage.rdf4j.cluster.leaderDiscoveryRetryDelay"
        "soml.storage.rdf4j.cluster.leaderOperationRetries"
        "soml.storage.rdf4j.autoCreateRepository" "soml.storage.rdf4j.repositoryConfig"
        "soml.storage.rdf4j.disableDefault"
        "soml.storage.mongodb.endpoint" "soml.storage.mongodb.database"
        "soml.storage.mongodb.collection" "soml.storage.mongodb.connectionTimeout"
        "soml.storage.mongodb.readTimeout" "soml.storage.mongodb.readConcern"
        "soml.storage.mongodb.writeConcern" "soml.storage.mongodb.applicationName"
        "soml.storage.mongodb.serverSelectionTimeout" "search.soml.storage.mongodb.*"
        "soml.storage.migration.enabled" "soml.storage.migration.source"
        "soml.storage.migration.destination" "soml.storage.migration.forceStoreUpdate"
        "soml.storage.migration.cleanBeforeMigration" "soml.storage.migration.somlMigration"
        "soml.storage.migration.cleanOnComplete" "soml.storage.migration.async"
        "soml.storage.migration.retries" "soml.storage.migration.delay"
        "search.maxBuckets" "indexer.externalHost" "indexer.connectorCreateSettings"
        "indexer.refreshInterval" "indexer.reconcileInterval" "elasticsearch.*"
        "spring.elasticsearch.rest.*" "spring.indexer.rest.*";
}

#[cfg(test)]
mod tests {
    use service_config::normalized;

    use super::*;
    use crate::config::CATALOGUE;

    #[test]
    fn a_name_stands_in_one_table() {
        let aliases = ALIASES.iter().map(|alias| alias.name);
        let planned = PLANNED.iter().map(|planned| planned.name);
        let mut seen = std::collections::HashSet::new();
        for name in aliases.chain(planned) {
            // A family may have the name of a property above it.
            let is_family = name.ends_with('*');
            assert!(is_family || CATALOGUE.find(name).is_none(), "{name}");
            assert!(seen.insert(normalized(name)), "{name}");
        }
        for alias in ALIASES {
            assert!(CATALOGUE.find(alias.key).is_some(), "{}", alias.name);
        }
    }

    #[test]
    fn families_have_the_names_below_them() {
        let found = |name| CATALOGUE.planned(name).map(|planned| planned.name);
        assert_eq!(found("SECURITY_ROLES"), Some("security.roles"));
        assert_eq!(found("security.exposeInGraphQl"), None);
        assert_eq!(found("security.cors"), None);
        assert_eq!(found("ELASTICSEARCH_OTHER"), Some("elasticsearch.*"));
        assert_eq!(
            found("logging.level.com.vendor.search"),
            Some("logging.level.*")
        );
        assert_eq!(found("securityx"), None);
        assert_eq!(found("graphql.services"), None);
    }
}
