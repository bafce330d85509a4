//! The cache of plans, which requests share.
//!
//! A plan is kept by the canonical text of its operation, so documents that differ only in spelling or in literals have
//! the same one. What is canonical of an operation is kept by its document.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use apollo_compiler::Name;
use apollo_compiler::response::{JsonMap, JsonValue};
use foldhash::quality::RandomState;
use graphql_service::Prepared;
use moka::sync::Cache;
use service_metrics::{CacheMetrics, Watch};

use crate::authorization::Grants;
use crate::operation::Canonical;
use crate::plan::Plan;
use crate::supergraph::{RequirementId, Supergraph};

/// Name of the cache of plans in metrics.
const CACHE: &str = "gateway_plans";

/// The plans of a gateway, in bounded caches.
pub(crate) struct PlanCache {
    /// By the ids of documents, and the names of their operations.
    operations: Cache<(u64, Option<Name>), Arc<Canonical>, RandomState>,
    known: Cache<PlanKey, Arc<CachedPlan>, RandomState>,
    metrics: CacheMetrics,
    _watch: Watch,
}

/// A plan that is kept.
pub(crate) struct CachedPlan {
    pub(crate) plan: Arc<Plan>,
    /// Requests that it has answered.
    uses: AtomicU64,
}

/// Everything that a plan depends on, beside the supergraph and the active labels: nothing of it is hashed away, so
/// different operations cannot meet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PlanKey {
    /// The canonical text of the operation.
    pub(crate) text: Arc<str>,
    /// The values of the variables of conditions, in their order.
    pub(crate) conditions: Vec<bool>,
    /// What the request does not have, ascending.
    pub(crate) denied: Vec<RequirementId>,
}

impl PlanCache {
    /// Creates empty caches for plans with so many fields, and for operations of so many bytes.
    pub(crate) fn new(fields: u64, bytes: u64) -> Self {
        let weight = |size: usize| u32::try_from(size.max(1)).unwrap_or(u32::MAX);
        let operations = Cache::builder()
            .weigher(move |_: &(u64, Option<Name>), canonical: &Arc<Canonical>| {
                weight(canonical.footprint)
            })
            .max_capacity(bytes)
            .build_with_hasher(RandomState::default());
        let known = Cache::builder()
            .weigher(move |key: &PlanKey, known: &Arc<CachedPlan>| {
                weight(known.plan.tree.len() + key.text.len() / 16)
            })
            .max_capacity(fields)
            .build_with_hasher(RandomState::default());
        let watched = known.clone();
        PlanCache {
            operations,
            known,
            metrics: CacheMetrics::new(CACHE),
            _watch: CacheMetrics::watch_entries(CACHE, move || watched.entry_count()),
        }
    }

    /// Returns what is canonical of the operation of a request.
    pub(crate) fn canonical(&self, supergraph: &Supergraph, prepared: &Prepared) -> Arc<Canonical> {
        let Prepared {
            document,
            operation,
            ..
        } = prepared;
        let key = (document.id(), operation.name.clone());
        if let Some(known) = self.operations.get(&key) {
            return known;
        }
        let canonical = Arc::new(Canonical::new(supergraph, document.valid(), operation));
        self.operations.insert(key, Arc::clone(&canonical));
        canonical
    }

    /// Returns a plan that is kept.
    pub(crate) fn get(&self, key: &PlanKey) -> Option<Arc<CachedPlan>> {
        self.metrics.found(self.known.get(key))
    }

    /// Returns whether a plan is kept.
    pub(crate) fn has(&self, key: &PlanKey) -> bool {
        self.known.contains_key(key)
    }

    /// Keeps a plan.
    pub(crate) fn insert(&self, key: PlanKey, plan: Plan) -> Arc<CachedPlan> {
        let known = Arc::new(CachedPlan {
            plan: Arc::new(plan),
            uses: AtomicU64::new(0),
        });
        self.known.insert(key, Arc::clone(&known));
        known
    }

    /// Returns what the plans are for that have answered the most requests, those first. Plans for requests to which
    /// something is denied are left out: requirements of another supergraph have other numbers.
    pub(crate) fn most_used(&self, most: usize) -> Vec<Arc<PlanKey>> {
        let known = self.known.iter().filter(|(key, _)| key.denied.is_empty());
        let mut used: Vec<(u64, Arc<PlanKey>)> = known
            .map(|(key, known)| (known.uses.load(Ordering::Relaxed), key))
            .collect();
        used.sort_by(|(a, _), (b, _)| b.cmp(a));
        used.truncate(most);
        used.into_iter().map(|(_, key)| key).collect()
    }
}

impl CachedPlan {
    /// Counts a request that is answered by the plan.
    pub(crate) fn count_use(&self) {
        self.uses.fetch_add(1, Ordering::Relaxed);
    }
}

impl PlanKey {
    /// Returns the key of the plan for a request with these variables.
    pub(crate) fn new(
        supergraph: &Supergraph,
        canonical: &Canonical,
        variables: &JsonMap,
        grants: &Grants,
    ) -> Self {
        let conditions = canonical.conditions.iter().map(|name| {
            let value = variables.get(name.as_str());
            value.and_then(JsonValue::as_bool).unwrap_or(false)
        });
        PlanKey {
            text: Arc::clone(&canonical.text),
            conditions: conditions.collect(),
            denied: grants.missing(supergraph, canonical.requirements.iter().copied()),
        }
    }
}
