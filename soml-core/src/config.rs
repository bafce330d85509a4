//! The `config` section: schema-wide settings.

use crate::lang::LangConfig;
use crate::rbac::DEFAULT_ROLE;
use crate::search::SearchSettings;

/// Schema-wide settings, every one with its default resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// Generates mutations (`enable_mutations`, default true).
    pub enable_mutations: bool,
    /// Language settings.
    pub lang: LangConfig,
    /// Prefix of the names of query fields.
    pub query_pfx: String,
    /// Prefix of the names of mutation fields.
    pub mutation_pfx: String,
    /// Returns null instead of `[]` for a list without values; as the service does where the document does not say it.
    pub null_json_arrays: Option<bool>,
    /// Repository that holds the data, if not the default of the service.
    pub repository: Option<String>,
    /// Default of the query argument `includeInferred`.
    pub include_inferred: bool,
    /// Default of the query argument `expandOwlSameAs`.
    pub expand_owl_same_as: bool,
    /// Names of the schema checks that are switched off.
    pub disabled_checks: Vec<String>,
    /// Role of callers without a declared role.
    pub default_role: String,
    /// Read-only role of system integrations.
    pub default_integration_role: String,
    /// Adds directives with the effective SOML of each type and property.
    pub expose_soml_in_graphql: bool,
    /// Adds a count field for each list field.
    pub enable_collection_count: bool,
    /// Adds a count root field for each type.
    pub enable_type_count: bool,
    /// Adds an aggregate field for each list field.
    pub enable_aggregates: bool,
    /// Adds Relay connections.
    pub enable_connections: bool,
    /// Shorter error messages.
    pub compact_error_messages: bool,
    /// Lets clients request the plan of a query.
    pub enable_graphql_explain: bool,
    /// Default search settings.
    pub search: Option<SearchSettings>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            enable_mutations: true,
            lang: LangConfig::default(),
            query_pfx: String::new(),
            mutation_pfx: String::new(),
            null_json_arrays: None,
            repository: None,
            include_inferred: true,
            expand_owl_same_as: true,
            disabled_checks: Vec::new(),
            default_role: DEFAULT_ROLE.to_owned(),
            default_integration_role: "Federation_SystemRole".to_owned(),
            expose_soml_in_graphql: false,
            enable_collection_count: false,
            enable_type_count: false,
            enable_aggregates: false,
            enable_connections: false,
            compact_error_messages: false,
            enable_graphql_explain: true,
            search: None,
        }
    }
}
