//! A schema that searches are answered by, and where they go.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arc_swap::ArcSwap;
use graphql_service::{SlotError, Slots};
use search_index::indexer::Progress;
use search_index::mapping::Indexes;
use search_index::service::{SearchService, SearchTarget};
use service_runtime::{Example, PrintedSdl, SdlCell};
use soml_core::Valid;
use soml_core::schema::Schema;
use tokio::sync::OnceCell;

use super::rules::Roles;

/// A schema that is being served, or is about to be.
pub(crate) struct Bound {
    pub(crate) id: String,
    pub(crate) label: Option<String>,
    pub(crate) revision: String,
    pub(crate) service: Arc<SearchService>,
    /// Sample queries in GraphiQL, the one to begin with first.
    pub(crate) examples: Vec<Example>,
    pub(super) soml: Arc<Valid<Schema>>,
    pub(super) indexes: Arc<Indexes>,
    /// The roles that searches obey, if they do.
    pub(super) roles: Option<Roles>,
    /// Searches show what its roles hide, and no one has said that this is known.
    pub(super) ignores_roles: bool,
    /// What the run found that built the indexes, or builds them.
    pub(super) progress: ArcSwap<Progress>,
    pub(super) sdl: SdlCell,
    /// The same searches as a subgraph, once a gateway of this process asks for it.
    pub(super) subgraph: OnceCell<Arc<SearchService>>,
    /// Its aliases are followed.
    pub(super) is_followed: AtomicBool,
}

/// What a schema is bound by.
pub(super) struct BoundParts {
    pub(super) id: String,
    pub(super) revision: String,
    pub(super) service: SearchService,
    pub(super) examples: Vec<Example>,
    pub(super) soml: Arc<Valid<Schema>>,
    pub(super) indexes: Arc<Indexes>,
    pub(super) roles: Option<Roles>,
    /// Searches show what its roles hide, and no one has said that this is known.
    pub(super) ignores_roles: bool,
}

impl Bound {
    pub(super) fn new(parts: BoundParts) -> Self {
        Bound {
            label: parts.soml.metadata.label.clone(),
            id: parts.id,
            revision: parts.revision,
            service: Arc::new(parts.service),
            examples: parts.examples,
            soml: parts.soml,
            indexes: parts.indexes,
            roles: parts.roles,
            ignores_roles: parts.ignores_roles,
            progress: ArcSwap::default(),
            sdl: SdlCell::default(),
            subgraph: OnceCell::new(),
            is_followed: AtomicBool::new(false),
        }
    }

    /// Returns whether every index can be searched.
    pub(super) fn is_complete(&self) -> bool {
        let targets = self.service.targets();
        targets
            .iter()
            .all(|target| matches!(target, SearchTarget::Ready(_)))
    }

    /// Shows how far the indexes are that are being built.
    pub(super) fn show_progress(&self) {
        let progress = self.progress.load();
        let targets = self.service.targets();
        if !targets
            .iter()
            .any(|target| matches!(target, SearchTarget::Building { .. }))
        {
            return;
        }
        let shown = targets.iter().enumerate().map(|(at, target)| match target {
            SearchTarget::Building { .. } => building(&progress, at),
            other => other.clone(),
        });
        self.service.set_targets(shown.collect());
    }

    /// Returns the API as a document in the GraphQL schema definition language.
    pub(crate) async fn sdl(&self, slots: &Arc<Slots>) -> Result<PrintedSdl, SlotError> {
        let service = Arc::clone(&self.service);
        self.sdl.get(slots, move || service.api().sdl()).await
    }
}

/// Returns how far an index is that is being built.
pub(super) fn building(progress: &Progress, at: usize) -> SearchTarget {
    let object = progress.objects().get(at);
    let of = object
        .map(|object| object.total())
        .filter(|total| *total > 0);
    SearchTarget::Building {
        done: object.map_or(0, |object| object.written()),
        of,
    }
}
