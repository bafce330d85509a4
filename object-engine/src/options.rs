//! Settings of an object service.

use std::sync::Arc;

use graph_store::value::Numbers;
use graphql_gen::typesystem::ApiOptions;
use graphql_service::{Limits, Slots};
use oxrdf::NamedNode;

use crate::limits::EngineLimits;

/// Settings of a service.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServiceOptions {
    /// Bounds on each document and its answer.
    pub limits: Limits,
    /// Bounds on arguments and on what they lead to.
    pub engine_limits: EngineLimits,
    /// How numbers look that JSON readers may not hold exactly.
    pub numbers: Numbers,
    /// Writes null in place of a list without values, where the schema's `nullJsonArrays` does not say it.
    pub null_arrays: bool,
    /// Which parts of the API are generated.
    pub api: ApiOptions,
    /// Bytes that the cache of validated documents may hold, that of their plans, and that of answers to introspections.
    pub document_cache_bytes: u64,
    /// Slots for requests that are too long for async workers.
    pub slots: Arc<Slots>,
    /// Answers `extensions.explain` when the schema's `enableGraphQlExplain` allows it too.
    pub explain: bool,
    /// Which graph mutations write to; the default graph if none is given.
    pub mutation_graph: Option<NamedNode>,
    /// How often a mutation is repeated when other writers changed what it had read.
    pub conflict_retries: u32,
    /// Answers each request under the rights that the schema gives to the roles of its sender.
    pub roles_enforced: bool,
}

impl Default for ServiceOptions {
    fn default() -> Self {
        ServiceOptions {
            limits: Limits::default(),
            engine_limits: EngineLimits::default(),
            numbers: Numbers::default(),
            null_arrays: false,
            api: ApiOptions::default(),
            document_cache_bytes: 32 << 20,
            slots: Slots::shared(),
            explain: false,
            mutation_graph: None,
            conflict_retries: 5,
            roles_enforced: false,
        }
    }
}

impl ServiceOptions {
    /// Creates the default options.
    #[must_use]
    pub fn new() -> Self {
        ServiceOptions::default()
    }

    /// Sets the bounds on each document and its answer.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the bounds on arguments and on what they lead to.
    #[must_use]
    pub fn with_engine_limits(mut self, limits: EngineLimits) -> Self {
        self.engine_limits = limits;
        self
    }

    /// Sets how numbers look that JSON readers may not hold exactly.
    #[must_use]
    pub fn with_numbers(mut self, numbers: Numbers) -> Self {
        self.numbers = numbers;
        self
    }

    /// Sets whether lists without values are null where the schema does not say it.
    #[must_use]
    pub fn with_null_arrays(mut self, null_arrays: bool) -> Self {
        self.null_arrays = null_arrays;
        self
    }

    /// Sets which parts of the API are generated.
    #[must_use]
    pub fn with_api(mut self, api: ApiOptions) -> Self {
        self.api = api;
        self.api.nullable_where_denied |= self.roles_enforced;
        self
    }

    /// Sets the slots for requests that are too long for async workers, which services may share.
    #[must_use]
    pub fn with_slots(mut self, slots: Arc<Slots>) -> Self {
        self.slots = slots;
        self
    }

    /// Sets how many bytes the cache of validated documents may hold, that of their plans, and that of answers
    /// to introspections.
    #[must_use]
    pub fn with_document_cache_bytes(mut self, bytes: u64) -> Self {
        self.document_cache_bytes = bytes;
        self
    }

    /// Sets whether `extensions.explain` is answered where the schema allows it too.
    #[must_use]
    pub fn with_explain(mut self, explain: bool) -> Self {
        self.explain = explain;
        self
    }

    /// Sets which graph mutations write to, instead of the default graph.
    #[must_use]
    pub fn with_mutation_graph(mut self, graph: NamedNode) -> Self {
        self.mutation_graph = Some(graph);
        self
    }

    /// Sets how often a mutation is repeated when other writers changed what it had read.
    #[must_use]
    pub fn with_conflict_retries(mut self, retries: u32) -> Self {
        self.conflict_retries = retries;
        self
    }

    /// Sets whether each request is answered under the rights that the schema gives to the roles of its
    /// sender, who is [`RequestContext::caller`](graphql_service::RequestContext). A request without a
    /// sender has no role.
    #[must_use]
    pub fn with_roles_enforced(mut self, enforced: bool) -> Self {
        self.roles_enforced = enforced;
        self.api.nullable_where_denied = enforced;
        self
    }
}
