//! How objects are indexed and searched.

use std::time::Duration;

use outbound::{Addresses, Secret};
use search_index::limits::SearchLimits;
use search_index::mapping::IndexSettings;
use search_service::{ServiceAddress, Severities, Severity};
use service_config::Setting;

use super::security::Switch;
use super::setting::Programs;

/// The port of the search service unless told otherwise.
pub(crate) const SEARCH_PORT: u16 = 9980;

/// How objects are indexed and searched (`search.*`, `indexing.*`, `indexer.*`, `task.*`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchSettings {
    /// Whether the all-in-one is a search service too (`search.enabled`).
    pub enabled: Switch,
    /// Port of the search service in the all-in-one (`search.port`).
    pub port: SearchPort,
    /// Folder of what is kept (`search.storage.location`).
    pub location: String,
    /// Maximum of `nestingLevel` in a schema (`search.maxNestingLevel`).
    pub max_nesting_level: Positive,
    /// Whether the API is a federation subgraph (`graphdql.federation.enabled`).
    pub federation: bool,
    /// The object service that schemas are read from (`search.soml.address`).
    pub object_service: Option<ServiceAddress>,
    /// Token for that service (`search.soml.token`).
    pub object_service_token: Option<Secret>,
    /// How bad it is when something is not well (`*.healthcheck*Severity`).
    pub severities: Severities,
    /// Whether indexes are built (`indexer.indexingEnabled`).
    pub indexing: Switch,
    /// Nodes that indexes are written to (`indexer.host`).
    pub host: Addresses,
    /// Nodes that are searched (`indexer.rest.uris`).
    pub rest_uris: Addresses,
    /// User of the engine (`indexer.username`).
    pub username: Option<String>,
    /// Password of the user (`indexer.credentials`).
    pub credentials: Option<Secret>,
    /// File of certificate authorities (`indexer.authorities`).
    pub authorities: Option<String>,
    /// Settings of new indexes (`indexer.indexCreateSettings`).
    pub create_settings: IndexCreateSettings,
    /// Maximum time to connect (`indexer.accessTimeout`).
    pub access_timeout: AccessTimeout,
    /// Timeout of health checks (`indexer.healthCheckTimeout`).
    pub health_check_timeout: Positive,
    /// Builds every index again (`indexer.removePrevious`).
    pub remove_previous: bool,
    /// Leaves out values that cannot be indexed (`indexer.ignoreMalformed`).
    pub ignore_malformed: bool,
    /// How long replaced indexes stay (`indexer.dropDelay`).
    pub drop_delay: Duration,
    /// How often it is looked whether the data have changed (`indexer.refreshInterval`).
    pub refresh_interval: Duration,
    /// How often indexes are compared with the data (`indexer.reconcileInterval`).
    pub reconcile_interval: Option<Duration>,
    /// How start and indexing are tried again (`task.default.retry.*`).
    pub retry: RetrySettings,
    /// Limits on searches (`search.limits.*`).
    pub limits: SearchLimits,
    /// Whether searches obey the roles of schemas (`search.rbac.enabled`).
    pub roles: SearchRoles,
}

/// How something is tried again (`task.default.retry.*`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetrySettings {
    /// How often (`task.default.retry.maxRetries`).
    pub max_retries: u32,
    /// Delay before the first try (`task.default.retry.initialDelay`).
    pub initial_delay: Patience,
    /// Delay before each further try (`task.default.retry.delay`).
    pub delay: Patience,
}

/// A port; `None` is chosen after that of the object service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchPort(pub Option<u16>);

/// Whether searches obey roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchRoles {
    /// As the switch says.
    Said(Switch),
    /// They do not, which no source has said: so what they show of hidden things is warned of.
    Ignored,
}

/// A positive integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Positive(pub u32);

/// A time, in which a negative one counts as zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience(pub Duration);

/// The time to connect to the search engine; zero, or -1, waits for as long as it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessTimeout(pub Duration);

/// Settings of new indexes, as the JSON object that they are given as.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexCreateSettings(Option<String>);

impl Default for SearchSettings {
    fn default() -> Self {
        SearchSettings {
            enabled: Switch::Automatic,
            port: SearchPort(None),
            location: "data".to_owned(),
            max_nesting_level: Positive(5),
            federation: false,
            object_service: None,
            object_service_token: None,
            severities: Severities::default(),
            indexing: Switch::Automatic,
            host: Addresses::default(),
            rest_uris: Addresses::default(),
            username: None,
            credentials: None,
            authorities: None,
            create_settings: IndexCreateSettings::default(),
            access_timeout: AccessTimeout(Duration::from_secs(2)),
            health_check_timeout: Positive(3_000),
            remove_previous: false,
            ignore_malformed: true,
            drop_delay: Duration::from_secs(60),
            refresh_interval: Duration::from_millis(200),
            reconcile_interval: None,
            retry: RetrySettings::default(),
            limits: SearchLimits::default(),
            roles: SearchRoles::Said(Switch::Automatic),
        }
    }
}

impl Default for RetrySettings {
    fn default() -> Self {
        RetrySettings {
            max_retries: 60,
            initial_delay: Patience(Duration::ZERO),
            delay: Patience(Duration::from_secs(10)),
        }
    }
}

impl SearchSettings {
    /// Returns the nodes that are searched; none if the engine is embedded.
    #[must_use]
    pub fn searched_nodes(&self) -> &Addresses {
        if self.rest_uris.is_empty() {
            &self.host
        } else {
            &self.rest_uris
        }
    }

    /// Returns the nodes that are written to; none if the engine is embedded.
    #[must_use]
    pub fn written_nodes(&self) -> &Addresses {
        if self.host.is_empty() {
            &self.rest_uris
        } else {
            &self.host
        }
    }

    /// Returns whether the engine runs in this process.
    #[must_use]
    pub fn is_embedded(&self) -> bool {
        self.searched_nodes().is_empty()
    }

    /// Returns the port of the search service beside an object service on `port`.
    #[must_use]
    pub fn port_beside(&self, port: u16) -> u16 {
        match (self.port.0, port) {
            (Some(port), _) => port,
            (None, 0) => 0,
            (None, _) => SEARCH_PORT,
        }
    }

    /// Returns the timeout of health checks.
    #[must_use]
    pub fn health_check_time(&self) -> Duration {
        Duration::from_millis(self.health_check_timeout.0.into())
    }
}

impl IndexCreateSettings {
    /// Returns the settings.
    #[must_use]
    pub fn settings(&self) -> IndexSettings {
        let text = self.0.as_deref().unwrap_or("{}");
        text.parse().expect("it was read before")
    }

    /// Returns whether they say nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.settings() == IndexSettings::default()
    }
}

impl Setting<Programs> for Severity {
    const TYPE: &'static str = "`LOW`, `MEDIUM` or `HIGH`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        text.parse()
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Setting<Programs> for SearchPort {
    const TYPE: &'static str = "port or `auto`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "auto" => Ok(SearchPort(None)),
            _ => match text.parse() {
                Ok(port) => Ok(SearchPort(Some(port))),
                Err(_) => Err("a port between 0 and 65535, or `auto`"),
            },
        }
    }

    fn show(&self) -> String {
        self.0.map_or_else(|| "auto".to_owned(), |n| n.to_string())
    }
}

impl Setting<Programs> for SearchRoles {
    const TYPE: &'static str = <Switch as Setting<Programs>>::TYPE;

    fn parse(text: &str) -> Result<Self, &'static str> {
        <Switch as Setting<Programs>>::parse(text).map(SearchRoles::Said)
    }

    fn show(&self) -> String {
        let switch = match self {
            SearchRoles::Said(switch) => switch,
            SearchRoles::Ignored => &Switch::Off,
        };
        Setting::<Programs>::show(switch)
    }
}

impl Setting<Programs> for Positive {
    const TYPE: &'static str = "positive number";

    fn parse(text: &str) -> Result<Self, &'static str> {
        match text.parse() {
            Ok(number @ 1..) => Ok(Positive(number)),
            _ => Err("a positive integer"),
        }
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}

impl Setting<Programs> for Patience {
    const TYPE: &'static str = "milliseconds";

    fn parse(text: &str) -> Result<Self, &'static str> {
        let time: i64 = text.parse().map_err(|_| "a number of milliseconds")?;
        let time = Duration::from_millis(time.try_into().unwrap_or(0));
        Ok(Patience(time))
    }

    fn show(&self) -> String {
        self.0.as_millis().to_string()
    }
}

impl Setting<Programs> for AccessTimeout {
    const TYPE: &'static str = "milliseconds or `-1`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        let time: Option<i64> = text.parse().ok();
        match time {
            Some(-1) => Ok(AccessTimeout(Duration::ZERO)),
            Some(time @ 0..) => Ok(AccessTimeout(Duration::from_millis(time.unsigned_abs()))),
            _ => Err("a number of milliseconds, or 0 or -1 for no timeout"),
        }
    }

    fn show(&self) -> String {
        self.0.as_millis().to_string()
    }
}

impl Setting<Programs> for Option<ServiceAddress> {
    const TYPE: &'static str = "address or `none`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "" | "none" => Ok(None),
            _ => text.parse().map(Some),
        }
    }

    fn show(&self) -> String {
        match self {
            Some(address) => address.to_string(),
            None => "none".to_owned(),
        }
    }
}

impl Setting<Programs> for IndexCreateSettings {
    const TYPE: &'static str = "JSON object or `none`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        if matches!(text, "" | "none") {
            return Ok(IndexCreateSettings(None));
        }
        match text.parse::<IndexSettings>() {
            Ok(_) => Ok(IndexCreateSettings(Some(text.to_owned()))),
            Err(_) => Err("a JSON object"),
        }
    }

    fn show(&self) -> String {
        self.0.clone().unwrap_or_else(|| "none".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_of_the_engine_falls_back_to_the_other() {
        let node = |text: &str| text.parse::<Addresses>().unwrap();
        let mut settings = SearchSettings::default();
        assert!(settings.is_embedded());
        settings.host = node("http://a:9200");
        assert_eq!(settings.searched_nodes(), &node("http://a:9200"));
        settings.rest_uris = node("http://b:9200");
        assert_eq!(settings.searched_nodes(), &node("http://b:9200"));
        assert_eq!(settings.written_nodes(), &node("http://a:9200"));
        settings.host = Addresses::default();
        assert_eq!(settings.written_nodes(), &node("http://b:9200"));
        assert!(!settings.is_embedded());
    }

    #[test]
    fn the_port_follows_that_of_the_object_service() {
        let mut settings = SearchSettings::default();
        assert_eq!(settings.port_beside(9995), 9980);
        assert_eq!(settings.port_beside(0), 0);
        settings.port = SearchPort(Some(8080));
        assert_eq!(settings.port_beside(0), 8080);
    }

    #[test]
    fn values_out_of_their_range_are_refused() {
        assert_eq!(Patience::parse("-1").map(|time| time.0), Ok(Duration::ZERO));
        assert!(Patience::parse("soon").is_err());
        let access = |text| AccessTimeout::parse(text).map(|time| time.0.as_millis());
        assert_eq!(
            (access("-1"), access("0"), access("7")),
            (Ok(0), Ok(0), Ok(7))
        );
        assert!(access("-2").is_err() && access("1.5").is_err());
        assert!(Positive::parse("0").is_err());
        assert!(Severity::parse("WORST").is_err());
        assert_eq!(Severity::parse("high"), Ok(Severity::High));
        assert!(IndexCreateSettings::parse("[]").is_err());
        for text in ["ftp://a", "http://u:p@a", "http://a?b", "a"] {
            assert!(Option::<ServiceAddress>::parse(text).is_err(), "{text}");
        }
        let address = Option::<ServiceAddress>::parse("http://a:1/x/")
            .unwrap()
            .unwrap();
        assert_eq!(address.of("/soml/a"), "http://a:1/x/soml/a");
    }
}
