//! Plans that the requests of a document share, and what the variables of each decide.
//!
//! As a rule variables say which objects a root field has, or narrow the objects that a field leads to. The rest of
//! the plan is the same for all requests of the document, as long as no other variable was read for it.

use std::sync::Arc;

use apollo_compiler::{Name, Node, executable};
use foldhash::quality::RandomState;
use graph_store::StoreFeatures;
use graph_store::query::{Dataset, NodeCondition, Page, Selection, Slot};
use graphql_gen::typesystem::{RootKind, TypeRef};
use graphql_service::Document;
use moka::sync::Cache;
use service_metrics::{CacheMetrics, Watch};
use soml_core::lang::LangSpec;
use tracing::Span;

use super::build::{CursorWindow, PlanInput, Planner, Result, build};
use super::collect::has_same_arguments;
use super::{LevelId, Plan, RootField, RootValue};
use crate::access::Permit;

/// Bytes that a slot, and a field of the answer, take in a plan, about.
const SLOT: usize = 400;
const FIELD: usize = 200;

/// A part of a plan that the variables of a request decide.
pub(super) enum Parameter {
    /// The objects of a root field.
    Root(RootParameter),
    /// A slot of a level.
    Slot(LevelId, usize, SlotParameter),
}

impl Parameter {
    pub(super) fn level_mut(&mut self) -> Option<&mut LevelId> {
        match self {
            Parameter::Root(_) => None,
            Parameter::Slot(level, ..) => Some(level),
        }
    }
}

/// A root field whose arguments read variables.
pub(super) struct RootParameter {
    /// Position in [`Plan::roots`], once it is there; `None` when nothing of the field is left.
    pub(super) root: Option<usize>,
    pub(super) field: Node<executable::Field>,
    pub(super) target: TypeRef,
    pub(super) kind: RootKind,
}

/// A field that leads to objects, some of whose arguments read variables.
pub(super) struct SlotParameter {
    pub(super) field: Node<executable::Field>,
    pub(super) target: TypeRef,
    pub(super) range_check: bool,
    pub(super) lang: Option<LangSpec>,
}

impl SlotParameter {
    /// Returns whether variables decide both alike.
    pub(super) fn depends_alike(&self, other: &Self) -> bool {
        self.target == other.target
            && self.range_check == other.range_check
            && self.lang == other.lang
            && has_same_arguments(&self.field, &other.field)
    }
}

/// Name of the cache in metrics.
const CACHE: &str = "plans";

/// The plans of one service: a bounded cache.
pub(crate) struct Plans {
    known: Cache<PlanKey, Arc<SharedPlan>, RandomState>,
    metrics: CacheMetrics,
    _watch: Watch,
}

/// What a plan is for: an operation of a document, and a sender with some rights.
#[derive(PartialEq, Eq, Hash)]
struct PlanKey {
    document: u64,
    operation: Option<Name>,
    access: Option<Permit>,
}

/// A plan without what its parameters stand for.
struct SharedPlan {
    plan: Arc<Plan>,
    parameters: Vec<Parameter>,
    /// Those of the store that it was made for.
    features: StoreFeatures,
    footprint: usize,
}

impl Plans {
    /// Creates an empty cache that holds up to `bytes`, about.
    pub(crate) fn new(bytes: u64) -> Self {
        let known = Cache::builder()
            .weigher(|_: &PlanKey, shared: &Arc<SharedPlan>| {
                u32::try_from(shared.footprint).unwrap_or(u32::MAX)
            })
            .max_capacity(bytes)
            .build_with_hasher(RandomState::default());
        let watched = known.clone();
        Plans {
            known,
            metrics: CacheMetrics::new(CACHE),
            _watch: CacheMetrics::watch_entries(CACHE, move || watched.entry_count()),
        }
    }

    /// Plans a validated query, from what is known of its document.
    ///
    /// # Errors
    /// Those of [`build`].
    pub(crate) fn plan(
        &self,
        input: &PlanInput<'_>,
        document: &Document,
        operation: &Span,
    ) -> Result<Arc<Plan>> {
        let key = PlanKey {
            document: document.id(),
            operation: input.operation.name.clone(),
            access: input.access.cloned(),
        };
        if let Some(known) = self.metrics.found(self.known.get(&key))
            && known.features == *input.features
        {
            return known.of_request(input);
        }
        let _planning = traces::plan(operation);
        let (plan, parameters) = build(input)?;
        if !input.variables.are_read() {
            let mut shared = SharedPlan::new(&plan, parameters, input.features.clone());
            // It keeps the values and the fields of the document alive.
            shared.footprint += document.footprint();
            self.known.insert(key, Arc::new(shared));
        }
        Ok(Arc::new(plan))
    }
}

impl SharedPlan {
    fn new(plan: &Plan, parameters: Vec<Parameter>, features: StoreFeatures) -> Self {
        let mut plan = plan.clone();
        // A request may fill much in.
        for parameter in &parameters {
            match parameter {
                Parameter::Root(root) => {
                    if let Some(selection) = root.selection_in(&mut plan.roots) {
                        *selection = nothing();
                    }
                }
                Parameter::Slot(level, slot, _) => {
                    let slot = plan.slot_mut(*level, *slot);
                    (slot.condition, slot.page) = (None, None);
                }
            }
        }
        SharedPlan {
            footprint: plan.footprint(),
            plan: Arc::new(plan),
            parameters,
            features,
        }
    }

    /// Returns the plan of a request.
    fn of_request(&self, input: &PlanInput<'_>) -> Result<Arc<Plan>> {
        if self.parameters.is_empty() {
            return Ok(Arc::clone(&self.plan));
        }
        let planner = Planner::new(input);
        let mut plan = Plan::clone(&self.plan);
        for parameter in &self.parameters {
            match parameter {
                Parameter::Root(root) => root.fill_in(&planner, &mut plan.roots)?,
                Parameter::Slot(level, slot, parameter) => {
                    let objects = planner.objects_of_slot(parameter)?;
                    let slot = plan.slot_mut(*level, *slot);
                    (slot.condition, slot.page) = objects;
                }
            }
        }
        Ok(Arc::new(plan))
    }
}

impl RootParameter {
    fn fill_in(&self, planner: &Planner<'_, '_>, roots: &mut [RootField]) -> Result<()> {
        let scope = planner.scope(&self.field)?;
        let choice = planner.choice(&self.field, self.target, self.kind, &scope)?;
        if let Some(place) = self.selection_in(roots) {
            *place = choice.selection;
        }
        if let Some(CursorWindow { window, codec }) = choice.window
            && let Some(RootValue::Connection(connection)) = self.value_in(roots)
        {
            connection.codec = codec;
            connection.window = connection.window.is_some().then_some(window);
        }
        Ok(())
    }

    fn value_in<'r>(&self, roots: &'r mut [RootField]) -> Option<&'r mut RootValue> {
        Some(&mut roots[self.root?].value)
    }

    fn selection_in<'r>(&self, roots: &'r mut [RootField]) -> Option<&'r mut Selection> {
        match self.value_in(roots)? {
            RootValue::Objects(objects) => Some(&mut objects.selection),
            RootValue::Count(selection) => Some(selection),
            RootValue::Aggregate(aggregate) => Some(&mut aggregate.objects.selection),
            RootValue::Connection(connection) => Some(&mut connection.selection),
            RootValue::Entities(_) | RootValue::Service(_) | RootValue::Introspection => None,
        }
    }
}

impl Plan {
    /// Returns a slot of this plan alone.
    fn slot_mut(&mut self, level: LevelId, slot: usize) -> &mut Slot {
        &mut Arc::make_mut(&mut self.levels[level.0 as usize]).slots[slot]
    }

    /// Returns how many bytes the plan takes beside values of its document, about.
    fn footprint(&self) -> usize {
        let of_levels = self.levels.iter().map(|level| {
            let fields = level.variants.iter().map(Vec::len).sum::<usize>();
            SLOT * (1 + level.slots.len()) + FIELD * fields
        });
        SLOT * self.roots.len() + of_levels.sum::<usize>()
    }
}

fn nothing() -> Selection {
    Selection {
        condition: NodeCondition::TRUE,
        order: Vec::new(),
        page: Page::default(),
        dataset: Dataset::default(),
    }
}
