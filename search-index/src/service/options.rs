//! Settings of a search service.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use graph_store::CallContext;
use graphql_service::{GraphqlError, Limits, Sequences, Slots};

use crate::access::Rules;
use crate::engine::PhysicalName;
use crate::limits::SearchLimits;

/// Settings of a search service.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SearchServiceOptions {
    /// Bounds on each document and its answer.
    pub limits: Limits,
    /// Bounds on what a search may ask of an engine.
    pub search_limits: SearchLimits,
    /// Bytes that the cache of validated documents may hold, and the cache of answers to introspections.
    pub document_cache_bytes: u64,
    /// Slots for work that is too long for async workers.
    pub slots: Arc<Slots>,
    /// The application whose aliases are looked at when an index is gone that is searched, since another instance may have
    /// replaced it; `None` where no one else builds the indexes.
    pub shared_with: Option<String>,
    /// Lets searches wait for changes of the data; `None` where the indexes do not follow any.
    pub reach: Option<Arc<dyn ReachData>>,
    /// What senders of requests may read; `None` where every sender reads everything.
    pub rules: Option<Arc<dyn Rules>>,
}

/// Waits until indexes have changes of the data that a client has made.
#[async_trait]
pub trait ReachData: Debug + Send + Sync {
    /// Waits until a search finds what was changed by some sequences, or the deadline of the request. `indexes` returns
    /// those that it would be of now: others may take their place meanwhile.
    ///
    /// # Errors
    /// When they do not by then.
    async fn reach(
        &self,
        sequences: &Sequences,
        indexes: &(dyn Fn() -> Vec<PhysicalName> + Send + Sync),
        context: &CallContext,
    ) -> Result<(), GraphqlError>;
}

impl Default for SearchServiceOptions {
    fn default() -> Self {
        SearchServiceOptions {
            limits: Limits::default(),
            search_limits: SearchLimits::default(),
            document_cache_bytes: 32 << 20,
            slots: Slots::shared(),
            shared_with: None,
            reach: None,
            rules: None,
        }
    }
}

impl SearchServiceOptions {
    /// Creates the default options.
    #[must_use]
    pub fn new() -> Self {
        SearchServiceOptions::default()
    }

    /// Sets the bounds on each document and its answer.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the bounds on what a search may ask of an engine.
    #[must_use]
    pub fn with_search_limits(mut self, limits: SearchLimits) -> Self {
        self.search_limits = limits;
        self
    }

    /// Lets searches wait for changes of the data.
    #[must_use]
    pub fn with_reach(mut self, reach: Arc<dyn ReachData>) -> Self {
        self.reach = Some(reach);
        self
    }

    /// Holds searches to what their senders may read. The indexes hold the
    /// [facts](crate::mapping::MappingOptions::facts) by which that is decided.
    #[must_use]
    pub fn with_rules(mut self, rules: Arc<dyn Rules>) -> Self {
        self.rules = Some(rules);
        self
    }

    /// Sets how many bytes of documents are kept.
    #[must_use]
    pub fn with_document_cache_bytes(mut self, bytes: u64) -> Self {
        self.document_cache_bytes = bytes;
        self
    }

    /// Sets whose aliases are looked at when an index is gone.
    #[must_use]
    pub fn with_shared_with(mut self, application: Option<String>) -> Self {
        self.shared_with = application;
        self
    }

    /// Sets the slots for work that is too long for async workers.
    #[must_use]
    pub fn with_slots(mut self, slots: Arc<Slots>) -> Self {
        self.slots = slots;
        self
    }
}
