//! Names that the interface gives to properties, beside those of the table: other names of what is
//! built, and what is not built yet.

use std::time::Duration;

use super::table::normalized;

/// Another name of a property.
pub(super) struct Alias {
    pub(super) name: &'static str,
    /// The property that it sets.
    pub(super) key: &'static str,
    /// Counts only where no source sets the property by its own name.
    pub(super) falls_back: bool,
    convert: fn(&str) -> Result<String, &'static str>,
}

impl Alias {
    /// Finds the alias called `name`, ignoring case and punctuation.
    pub(super) fn find(name: &str) -> Option<&'static Alias> {
        let wanted = normalized(name);
        ALIASES
            .iter()
            .find(|alias| normalized(alias.name) == wanted)
    }

    /// Returns the value as the property itself takes it; the error completes "expected …".
    pub(super) fn value(&self, text: &str) -> Result<String, &'static str> {
        (self.convert)(text)
    }

    /// What differs from the property, for the documentation.
    pub(super) fn note(&self) -> &'static str {
        if self.falls_back {
            "used where the property is not set"
        } else {
            "in seconds, or with a unit such as `500ms` or `2m`"
        }
    }
}

pub(super) const ALIASES: &[Alias] = &[
    Alias {
        name: "health.cache.invalidation.period",
        key: "health.cacheTime",
        falls_back: false,
        convert: milliseconds,
    },
    Alias {
        name: "server.port",
        key: "application.port",
        falls_back: true,
        convert: as_it_is,
    },
    Alias {
        name: "spring.application.name",
        key: "application.name",
        falls_back: true,
        convert: as_it_is,
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
    }
}

fn as_it_is(text: &str) -> Result<String, &'static str> {
    Ok(text.to_owned())
}

/// Reads a time that is in seconds where it has no unit.
pub(super) fn milliseconds(text: &str) -> Result<String, &'static str> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match &text[digits.len()..] {
        "ms" => 1,
        "" | "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => 0,
    };
    let number = digits.parse::<u64>().ok().filter(|_| scale > 0);
    let time = number.and_then(|number| number.checked_mul(scale));
    let time = time.map(Duration::from_millis);
    time.map(|time| time.as_millis().to_string())
        .ok_or("a number of seconds, or a time such as `500ms` or `2m`")
}

/// What a value of a property that is not built yet asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asks {
    /// Something that can be left undone with a warning.
    Service,
    /// Protection, unless the value says no.
    Protection,
    /// Protection, as a part of `security.enabled`.
    Security,
}

/// A property of the interface that is not built yet.
pub(super) struct Planned {
    /// The name; names below it too where it ends in `.*`.
    pub(super) name: &'static str,
    pub(super) asks: Asks,
}

impl Planned {
    /// Finds the property called `name`, ignoring case and punctuation.
    pub(super) fn find(name: &str) -> Option<&'static Planned> {
        let wanted = normalized(name);
        let path = segments(name);
        let exact = PLANNED
            .iter()
            .find(|planned| normalized(planned.name) == wanted);
        exact.or_else(|| {
            PLANNED.iter().find(|planned| {
                let parent = planned.name.strip_suffix('*');
                parent.is_some_and(|parent| path.starts_with(&segments(parent)))
            })
        })
    }

    /// Tells whether [`Planned::find`] finds it by what stands above its name.
    pub(super) fn is_family(&self) -> bool {
        self.name.ends_with('*')
    }
}

/// Tells whether a value says no.
pub(super) fn is_off(value: &str) -> bool {
    let off = ["", "false", "no", "off", "0", "none", "null"];
    off.iter()
        .any(|word| word.eq_ignore_ascii_case(value.trim()))
}

/// Returns a name in lower case with one kind of punctuation, to compare the parts of names.
fn segments(name: &str) -> String {
    let dotted = |c: char| match c {
        c if c.is_ascii_alphanumeric() => c.to_ascii_lowercase(),
        _ => '.',
    };
    name.chars().map(dotted).collect()
}

macro_rules! planned {
    ($($asks:ident: $($name:literal)*;)*) => {
        /// Properties that are known and not built yet.
        pub(super) const PLANNED: &[Planned] = &[
            $($(Planned { name: $name, asks: Asks::$asks },)*)*
        ];
    };
}

planned! {
    Security:
        "security.roles" "security.users";
    Protection: "search.rbac.enabled";
    Service:
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
        "soml.storage.provider" "soml.storage.rdf4j.address" "soml.storage.rdf4j.repository"
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
    use super::*;
    use crate::config::Property;

    #[test]
    fn a_name_stands_in_one_table() {
        let aliases = ALIASES.iter().map(|alias| alias.name);
        let planned = PLANNED.iter().map(|planned| planned.name);
        let mut seen = std::collections::HashSet::new();
        for name in aliases.chain(planned) {
            // A family may have the name of a property above it.
            let is_family = name.ends_with('*');
            assert!(is_family || Property::find(name).is_none(), "{name}");
            assert!(seen.insert(normalized(name)), "{name}");
        }
        for alias in ALIASES {
            assert!(Property::find(alias.key).is_some(), "{}", alias.name);
        }
    }

    #[test]
    fn families_have_the_names_below_them() {
        let found = |name| Planned::find(name).map(|planned| planned.name);
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

    #[test]
    fn a_time_without_a_unit_is_in_seconds() {
        for (text, expected) in [
            ("30", "30000"),
            ("0", "0"),
            ("2m", "120000"),
            ("15ms", "15"),
        ] {
            assert_eq!(milliseconds(text).as_deref(), Ok(expected), "{text}");
        }
        for text in [
            "",
            "s",
            "-1",
            "1.5",
            "1d",
            "99999999999999999999",
            "18446744073709551615",
        ] {
            assert!(milliseconds(text).is_err(), "{text}");
        }
    }
}
