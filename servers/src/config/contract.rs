//! Names that the interface gives to properties, beside those of the table: other names of what is
//! built, and what has no effect.

use std::time::Duration;

use outbound::Addresses;
use service_config::{Alias, Asks, Planned, Setting, ValueKind};

use super::search::IndexCreateSettings;
use super::security::Switch;
use super::setting::Programs;
use super::settings::Settings;
use super::times::milliseconds;

/// What differs where another name falls back.
const FALLS_BACK: &str = "used if the property is not set";

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
    branded("gateway.traces.enabled", "traces.enabled"),
    branded("gateway.traces.endpoint", "traces.endpoint"),
    branded("spring.indexer.rest.uris", "indexer.rest.uris"),
    branded("spring.indexer.rest.username", "indexer.username"),
    branded("spring.indexer.rest.password", "indexer.credentials"),
    branded("spring.elasticsearch.rest.uris", "indexer.rest.uris"),
    branded("spring.elasticsearch.rest.username", "indexer.username"),
    branded("spring.elasticsearch.rest.password", "indexer.credentials"),
    branded("search.maxBuckets", "search.limits.buckets"),
    branded(
        "search.soml.storage.mongodb.endpoint",
        "soml.storage.mongodb.endpoint",
    ),
    branded(
        "search.soml.storage.mongodb.database",
        "soml.storage.mongodb.database",
    ),
    branded(
        "search.soml.storage.mongodb.collection",
        "soml.storage.mongodb.collection",
    ),
    branded(
        "search.soml.storage.mongodb.connectionTimeout",
        "soml.storage.mongodb.connectionTimeout",
    ),
    branded(
        "search.soml.storage.mongodb.readTimeout",
        "soml.storage.mongodb.readTimeout",
    ),
    branded(
        "search.soml.storage.mongodb.readConcern",
        "soml.storage.mongodb.readConcern",
    ),
    branded(
        "search.soml.storage.mongodb.writeConcern",
        "soml.storage.mongodb.writeConcern",
    ),
    branded(
        "search.soml.storage.mongodb.applicationName",
        "soml.storage.mongodb.applicationName",
    ),
    branded(
        "search.soml.storage.mongodb.serverSelectionTimeout",
        "soml.storage.mongodb.serverSelectionTimeout",
    ),
    Alias {
        name: "gateway.metrics.enabled",
        key: "metrics.enabled",
        falls_back: true,
        convert: as_it_is,
        note: FALLS_BACK,
    },
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

/// Describes a property that can be left without effect with a warning.
const fn idle(name: &'static str, kind: ValueKind, doc: &'static str) -> Planned<Settings> {
    Planned::new(name, kind, doc)
}

const ANY: ValueKind = ValueKind::ANY;
const BOOLEAN: ValueKind = ValueKind::of::<Programs, bool>();
const NUMBER: ValueKind = ValueKind::of::<Programs, u32>();
const MILLISECONDS: ValueKind = ValueKind::of::<Programs, Duration>();
const STRING: ValueKind = ValueKind::of::<Programs, String>();
const ADDRESSES: ValueKind = ValueKind::of::<Programs, Addresses>();
const JSON_OBJECT: ValueKind = ValueKind::of::<Programs, IndexCreateSettings>();

const CLUSTERS_OF_SCHEMAS: &str = "A setting of GraphDB 10's client. Here, failed addresses are checked every \
    `soml.storage.rdf4j.cluster.scanFailedInterval`, and no leader is needed.";
const CLUSTERS: &str = "A setting of GraphDB 10's client. Here, failed addresses are checked every \
    `sparql.endpoint.cluster.scanFailedInterval`, and no leader is needed.";
const OTHER_CLIENT: &str = "Settings of a client that this service does not use; connections to the search \
    engine are configured by `indexer.*`.";
const CONNECTORS: &str = "Indexes are written by the service, not by connectors of GraphDB.";
const ONE_ADDRESS: &str = "The object service never calls the search engine, so it does not need its \
    address. The addresses of `indexer.host` cause no warning.";

/// Properties that are known and have no effect.
pub(super) const PLANNED: &[Planned<Settings>] = &[
    idle(
        "security.roles",
        ANY,
        "Users' roles are configured in the file named by `security.provisioning.file`.",
    )
    .secret()
    .asking(SECURITY),
    idle(
        "security.users",
        ANY,
        "Users are configured in the file named by `security.provisioning.file`.",
    )
    .secret()
    .asking(SECURITY),
    idle(
        "validation.shacl.enabled",
        BOOLEAN,
        "Shapes are not loaded into the store, so it does not validate what other clients write. The service validates \
         what mutations write.",
    )
    .asking(PROTECTION)
    .done_anyway(|_, value| value == "false"),
    idle(
        "license.filepath",
        STRING,
        "No part of the service needs a licence file.",
    ),
    idle(
        "graphql.enableOutputValidations",
        BOOLEAN,
        "Values are always checked against their type and cardinality, so only `false` causes a warning. Values that \
         do not fit are errors such as `VALUE_ILL_TYPED` at their path in the response.",
    )
    .done_anyway(|_, value| value == "true"),
    idle(
        "graphql.response.json.deduplication",
        BOOLEAN,
        "A list never contains an object or a value twice, and an object that is reached on several paths is written \
         at each of them.",
    ),
    idle(
        "graphql.introspectionQueryCache.*",
        ANY,
        "Parsed documents are cached, once for each distinct text, together with the answers to introspection queries.",
    ),
    idle(
        "sparql.optimizations.*",
        ANY,
        "These settings tune SPARQL queries that this service does not generate. `soml explain-query` shows \
         the cost of its queries.",
    ),
    idle(
        "sparql.endpoint.cluster.clusterStatusTimeout",
        MILLISECONDS,
        CLUSTERS,
    ),
    idle(
        "sparql.endpoint.cluster.clusterStatusConnectTimeout",
        MILLISECONDS,
        CLUSTERS,
    ),
    idle(
        "sparql.endpoint.cluster.concurrentStatusCheck",
        BOOLEAN,
        CLUSTERS,
    ),
    idle(
        "sparql.endpoint.cluster.leaderDiscoveryRetries",
        NUMBER,
        CLUSTERS,
    ),
    idle(
        "sparql.endpoint.cluster.leaderDiscoveryRetryDelay",
        MILLISECONDS,
        CLUSTERS,
    ),
    idle(
        "sparql.endpoint.cluster.leaderOperationRetries",
        NUMBER,
        CLUSTERS,
    ),
    stored(
        "soml.storage.rdf4j.cluster.clusterStatusTimeout",
        MILLISECONDS,
    ),
    stored(
        "soml.storage.rdf4j.cluster.clusterStatusConnectTimeout",
        MILLISECONDS,
    ),
    stored("soml.storage.rdf4j.cluster.concurrentStatusCheck", BOOLEAN),
    stored("soml.storage.rdf4j.cluster.leaderDiscoveryRetries", NUMBER),
    stored(
        "soml.storage.rdf4j.cluster.leaderDiscoveryRetryDelay",
        MILLISECONDS,
    ),
    stored("soml.storage.rdf4j.cluster.leaderOperationRetries", NUMBER),
    idle("indexer.externalHost", ADDRESSES, ONE_ADDRESS).done_anyway(is_indexer_host),
    idle("elasticsearch.externalHost", ADDRESSES, ONE_ADDRESS).done_anyway(is_indexer_host),
    idle("indexer.connectorCreateSettings", JSON_OBJECT, CONNECTORS).done_anyway(asks_for_nothing),
    idle(
        "elasticsearch.connectorCreateSettings",
        JSON_OBJECT,
        CONNECTORS,
    )
    .done_anyway(asks_for_nothing),
    idle("elasticsearch.*", ANY, OTHER_CLIENT),
    idle(
        "spring.*",
        ANY,
        "Settings of the Spring framework, which this service does not use.",
    ),
];

/// Describes a property of a store of schemas.
const fn stored(name: &'static str, kind: ValueKind) -> Planned<Settings> {
    idle(name, kind, CLUSTERS_OF_SCHEMAS)
}

/// Returns whether addresses are those that indexes are written to.
fn is_indexer_host(settings: &Settings, value: &str) -> bool {
    Addresses::parse(value).is_ok_and(|addresses| addresses == settings.search.host)
}

/// Returns whether a JSON object has no members.
fn asks_for_nothing(_: &Settings, value: &str) -> bool {
    IndexCreateSettings::parse(value).is_ok_and(|settings| settings.is_empty())
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
        assert_eq!(found("spring.profiles.active"), Some("spring.*"));
        assert_eq!(found("securityx"), None);
        assert_eq!(found("graphql.services"), None);
    }
}
