//! What the settings say to the parts of a search service.

use std::time::Duration;

use search_index::indexer::IndexerOptions;
use search_index::mapping::{Analyzers, MappingOptions, Owner};
use search_index::service::SearchServiceOptions;

use crate::config::Settings;

/// Returns how indexes are defined for an engine that has some analyzers.
pub(crate) fn mapping_options(settings: &Settings, analyzers: Analyzers) -> MappingOptions {
    let search = &settings.search;
    MappingOptions::default()
        .with_max_nesting_level(search.max_nesting_level.0)
        .with_settings(search.create_settings.settings())
        .with_analyzers(analyzers)
}

/// Delay before something is tried again for the first time, unless a shorter one is set for all.
const FIRST_DELAY: Duration = Duration::from_millis(200);

/// Returns how indexes are built.
pub(crate) fn indexer_options(settings: &Settings) -> IndexerOptions {
    let search = &settings.search;
    let mut options = IndexerOptions::new(Owner::new(settings.name.clone()));
    options.ignore_malformed = search.ignore_malformed;
    options.remove_previous = search.remove_previous;
    options.drop_delay = search.drop_delay;
    options.rebuild_unknown = true;
    options.max_retries = search.retry.max_retries;
    options.retry_delay = search.retry.delay.0;
    options.retry_interval = FIRST_DELAY.min(options.retry_delay);
    options
}

/// Returns how searches are answered.
pub(crate) fn service_options(settings: &Settings) -> SearchServiceOptions {
    SearchServiceOptions::default()
        .with_limits(settings.limits.clone())
        .with_search_limits(settings.search.limits.clone())
}
