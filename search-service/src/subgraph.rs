//! The search service as a subgraph of a gateway in the same process, beside the form that its own clients see.

use std::sync::Arc;

use search_index::service::SearchService;

use super::app::SearchApp;
use super::check::api;

impl SearchApp {
    /// Returns the searches of the bound schema as a subgraph. They go to the same indexes.
    pub(crate) async fn as_subgraph(&self) -> Option<Arc<SearchService>> {
        let bound = self.bound()?;
        if bound.service.api().is_subgraph() {
            return Some(Arc::clone(&bound.service));
        }
        let made = bound.subgraph.get_or_try_init(|| async {
            let (soml, indexes) = (Arc::clone(&bound.soml), Arc::clone(&bound.indexes));
            let options = self.search_options(bound.roles.as_ref());
            let obeys_roles = bound.roles.is_some();
            let service = Arc::clone(&bound.service);
            let make = move || {
                let api = api(&soml, &indexes, true, obeys_roles)
                    .map_err(|error| Unmade(error.to_string()))?;
                Ok(Arc::new(service.beside(api, options)))
            };
            let made = self.host.in_slot(make).await;
            made.unwrap_or_else(|busy| Err(Unmade(busy.to_string())))
        });
        match made.await {
            Ok(subgraph) => Some(Arc::clone(subgraph)),
            Err(Unmade(error)) => {
                tracing::warn!(error, "the search API cannot be served as a subgraph");
                None
            }
        }
    }
}

/// Why there is no subgraph.
struct Unmade(String);
