//! What a search service is told, and what that says to its parts.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use graphql_service::Limits;
use search_index::indexer::IndexerOptions;
use search_index::limits::SearchLimits;
use search_index::mapping::{Analyzers, IndexSettings, MappingOptions, Owner};
use search_index::service::SearchServiceOptions;

/// The options of a search service.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// Limits on searches.
    pub limits: SearchLimits,
    /// Maximum of `nestingLevel` in a schema.
    pub max_nesting_level: u32,
    /// Settings of new indexes.
    pub index_settings: IndexSettings,
    /// Whether the API is a federation subgraph.
    pub federation: bool,
    /// How bad it is when something is not well.
    pub severities: Severities,
    /// Leaves out values that cannot be indexed; otherwise a schema is not bound while there are such.
    pub ignore_malformed: bool,
    /// Builds every index again.
    pub remove_previous: bool,
    /// How long replaced indexes stay.
    pub drop_delay: Duration,
    /// How start and indexing are tried again.
    pub retry: RetryOptions,
    /// Time for the engine to answer a health check.
    pub health_check_time: Duration,
    /// Time for a store of schemas to answer a health check, where that is longer.
    pub schemas_check_time: Duration,
    /// Roles that may do everything, whatever a schema says.
    pub super_roles: Vec<String>,
    /// With tokens, searches obey the roles of schemas.
    pub obeys_roles: bool,
    /// With tokens, serves schemas although their roles hide something, which searches show.
    pub allows_hidden: bool,
    /// Does not warn of such schemas.
    pub knows_hidden: bool,
    /// Whether other instances of the service may build the indexes, as they may those of an engine that is not embedded.
    pub shares_indexes: bool,
    /// Whether the stored schemas are those of an object service elsewhere.
    pub reads_schemas_elsewhere: bool,
    /// How often an instance looks what others have bound and built, where they share the stored schemas.
    pub follow_interval: Duration,
    /// How often it is looked whether the data have changed.
    pub refresh_interval: Duration,
    /// How often the indexes are compared with the data, if at all.
    pub reconcile_interval: Option<Duration>,
    /// How long an instance that builds shared indexes may be silent until another takes its place.
    pub lease_time: Duration,
    /// What other instances call this one.
    pub instance: String,
}

/// How bad it is when something is not well.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Severities {
    /// No schema is bound, for searches.
    pub soml: Severity,
    /// The engine cannot be reached, for searches.
    pub engine: Severity,
    /// The check of searches fails.
    pub unavailable: Severity,
    /// No schema is bound, for indexing.
    pub indexing_soml: Severity,
    /// Some index is not well.
    pub indexing_indexes: Severity,
    /// The engine cannot be reached, for indexing.
    pub indexing_unavailable: Severity,
    /// The engine that is written to is not configured or cannot be reached.
    pub indexer: Severity,
}

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth a look.
    Low,
    /// Needs attention.
    Medium,
    /// Does not work.
    High,
}

/// How something is tried again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryOptions {
    /// How often.
    pub max_retries: u32,
    /// Delay before the first try.
    pub initial_delay: Duration,
    /// Delay before each further try.
    pub delay: Duration,
}

impl Default for SearchOptions {
    fn default() -> Self {
        SearchOptions {
            limits: SearchLimits::default(),
            max_nesting_level: 5,
            index_settings: IndexSettings::default(),
            federation: false,
            severities: Severities::default(),
            ignore_malformed: true,
            remove_previous: false,
            drop_delay: Duration::from_secs(60),
            retry: RetryOptions::default(),
            health_check_time: Duration::from_secs(3),
            schemas_check_time: Duration::ZERO,
            super_roles: Vec::new(),
            obeys_roles: false,
            allows_hidden: false,
            knows_hidden: false,
            shares_indexes: false,
            reads_schemas_elsewhere: false,
            follow_interval: Duration::from_secs(2),
            refresh_interval: Duration::from_millis(200),
            reconcile_interval: None,
            lease_time: Duration::from_secs(15),
            instance: "search-service".to_owned(),
        }
    }
}

impl Default for Severities {
    fn default() -> Self {
        Severities {
            soml: Severity::Medium,
            engine: Severity::Medium,
            unavailable: Severity::High,
            indexing_soml: Severity::Medium,
            indexing_indexes: Severity::Medium,
            indexing_unavailable: Severity::High,
            indexer: Severity::High,
        }
    }
}

impl Default for RetryOptions {
    fn default() -> Self {
        RetryOptions {
            max_retries: 60,
            initial_delay: Duration::ZERO,
            delay: Duration::from_secs(10),
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Low => "LOW",
            Severity::Medium => "MEDIUM",
            Severity::High => "HIGH",
        })
    }
}

impl FromStr for Severity {
    /// What is expected instead.
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut all = [Severity::Low, Severity::Medium, Severity::High].into_iter();
        let found = all.find(|severity| severity.to_string().eq_ignore_ascii_case(text));
        found.ok_or("`LOW`, `MEDIUM` or `HIGH`")
    }
}

/// Delay before something is tried again for the first time, unless a shorter one is set for all.
const FIRST_DELAY: Duration = Duration::from_millis(200);

impl SearchOptions {
    /// Returns how indexes are defined for an engine that has some analyzers.
    #[must_use]
    pub fn mapping(&self, analyzers: Analyzers) -> MappingOptions {
        MappingOptions::default()
            .with_max_nesting_level(self.max_nesting_level)
            .with_settings(self.index_settings.clone())
            .with_analyzers(analyzers)
    }

    /// Returns how indexes are built that belong to the application of a name.
    #[must_use]
    pub fn indexer(&self, application: &str) -> IndexerOptions {
        let mut options = IndexerOptions::new(Owner::new(application.to_owned()));
        options.ignore_malformed = self.ignore_malformed;
        options.remove_previous = self.remove_previous;
        options.drop_delay = self.drop_delay;
        options.rebuild_unknown = true;
        options.max_retries = self.retry.max_retries;
        options.retry_delay = self.retry.delay;
        options.retry_interval = FIRST_DELAY.min(options.retry_delay);
        options
    }

    /// Returns how searches are answered, with the limits of all GraphQL requests.
    #[must_use]
    pub fn service(&self, limits: &Limits) -> SearchServiceOptions {
        SearchServiceOptions::default()
            .with_limits(limits.clone())
            .with_search_limits(self.limits.clone())
    }
}
