//! Runs a request where it harms no other: on the async worker while it is short, else in a slot.
//!
//! What a request costs is known only as it runs. So a request over a local store starts on the
//! worker with a meter, and is done again in a slot when it exceeds that. There, when it turns out
//! to be long, it moves to a slot for long ones and goes on. What the last request of the same
//! document cost decides where the next one starts.
//!
//! # Where a request runs
//!
//! Where this happens is decided by `object_engine::run`. A request over a local store starts on the async worker
//! with a meter of about half a millisecond (`LocalStore::short_work`), and is done again in a slot of
//! `call_context::slots` when it exceeds that. A job that turns out to be long moves to a slot for long ones and
//! goes on. What the last request of the same document cost decides where the next one starts. A request over a
//! store behind a network holds no slot while it waits: the store and the engine hand what takes long between two
//! calls to slots (`CallContext::run_sized`), as owned work that waits for nothing. What the request holds is
//! counted by its `MemoryAccount`: its body, the results of the store (`CallContext::hold`), and the segments of
//! its response, which are given back as they are sent. In the gateway `federation::exec` decides by the length of
//! what subgraphs have answered; it holds no slot while it waits for them.

mod mutation;
mod repeat;

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use call_context::{CallError, InSlots, Meter, PATIENCE, RequestMemory, Size, Trace};
use futures::FutureExt;
use graph_store::{CallContext, GraphStore, LocalStore, StoreError};
use graphql_gen::typesystem::Api;
use graphql_service::{
    Answer, Document, Documents, GraphqlError, Prepared, Refusal, Reply, Request, RequestContext,
    Slot, Weight,
};
use repeat::Repetition;

use crate::access::Enforced;
use crate::call::store_error;
use crate::code;
use crate::execute::{Execution, Fetched, ServiceSdl};
use crate::explain::Explanation;
use crate::mutate::WriteFacts;
use crate::options::ServiceOptions;
use crate::plan::{
    self, KnownRows, MutationPlan, Plan, PlanInput, Plans, RootValue, RowSource, SchemaRegexes,
    Variables, access_of, write_access_of,
};
use crate::rdf::Types;

/// Work that a request may do on an async worker, about half a millisecond, where the store does not tell.
const SHORT_WORK: u64 = 1_024;

/// How much more work than on an async worker a request may do in a slot of medium weight, about 30 milliseconds.
const MEDIUM: u64 = 64;

/// A request has as much work as on an async worker with so many fields to validate and plan.
const SHORT_FIELDS: u64 = 128;

/// What all requests to a service share.
pub(crate) struct Shared {
    pub(crate) api: Arc<Api>,
    pub(crate) store: Arc<dyn GraphStore>,
    pub(crate) options: ServiceOptions,
    pub(crate) documents: Documents,
    pub(crate) plans: Plans,
    /// What each role may do, where that is enforced.
    pub(crate) rights: Enforced,
    pub(crate) known_rows: KnownRows,
    /// The printed schema, once someone has asked for it.
    pub(crate) printed: OnceLock<ServiceSdl>,
    /// What the schema says about writing, once someone has written.
    pub(crate) write_facts: OnceLock<WriteFacts>,
    /// What values and ids that are written must match.
    pub(crate) regexes: SchemaRegexes,
    pub(crate) types: Types,
}

/// A request with all that it takes to answer it.
#[derive(Clone)]
pub(crate) struct Job {
    shared: Arc<Shared>,
    request: Arc<Request>,
    context: Arc<RequestContext>,
    call: CallContext,
    /// The document of the request, when it was validated before.
    known: Option<Arc<Document>>,
    /// The thread may be blocked.
    may_block: bool,
    /// Explains whatever the options say.
    explains: bool,
    /// What a repetition of a mutation is recognised by.
    repetition: Repetition,
}

/// A reply, and how it was found when that is wanted.
pub(crate) struct Executed {
    pub(crate) reply: Reply,
    pub(crate) explanation: Option<Explanation>,
}

impl Executed {
    fn is_overload(&self) -> bool {
        matches!(self.reply, Reply::Overloaded(_))
    }
}

impl From<Reply> for Executed {
    fn from(reply: Reply) -> Self {
        Executed {
            reply,
            explanation: None,
        }
    }
}

/// An operation that is ready to be executed.
struct Ready {
    prepared: Prepared,
    plan: Planned,
    planning: Duration,
    execution: Instant,
}

/// A plan.
enum Planned {
    /// Of a query.
    Query(Arc<Plan>),
    /// Of a mutation.
    Mutation(Box<MutationPlan>),
}

/// What becomes of a request where it was started.
enum Started {
    Executed(Box<Executed>),
    /// It is a mutation, which waits for its turn.
    Mutation(Box<Ready>),
}

impl From<Executed> for Started {
    fn from(executed: Executed) -> Self {
        Started::Executed(Box::new(executed))
    }
}

/// Why a request is not executed.
enum Stop {
    Refused(Refusal),
    Failed(StoreError),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Stop::Refused(refusal)
    }
}

impl From<CallError> for Stop {
    fn from(error: CallError) -> Self {
        Stop::Failed(error.into())
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Stop::Failed(error)
    }
}

impl Job {
    pub(crate) fn new(shared: &Arc<Shared>, request: Request, context: RequestContext) -> Self {
        Job {
            shared: Arc::clone(shared),
            known: shared.documents.known(&request.query),
            request: Arc::new(request),
            call: context.call.clone(),
            context: Arc::new(context),
            may_block: false,
            explains: false,
            repetition: Repetition::default(),
        }
    }

    /// Explains the request, whatever the options and the schema say.
    pub(crate) fn explaining(mut self) -> Self {
        self.explains = true;
        self
    }

    /// Runs the request, and brings what it gives into a form on the thread that it ran on.
    pub(crate) async fn run<T: Send + 'static>(self, form: fn(Executed) -> T) -> T {
        match self.shared.store.local().map(LocalStore::short_work) {
            None => Box::pin(self.over_network(form)).await,
            Some(Some(short)) => self.metered(short, form).await,
            Some(None) => match Box::pin(self.in_slot(Weight::Medium, u64::MAX, form)).await {
                Some(done) => done,
                None => unreachable!("no work exceeds a meter without limit"),
            },
        }
    }

    /// Runs the request over a store that counts its work.
    ///
    /// What a short request does not do is apart, so that what is allocated and moved for it stays small.
    async fn metered<T: Send + 'static>(self, limit: u64, form: fn(Executed) -> T) -> T {
        let medium = MEDIUM * limit;
        let cost = self.known.as_ref().map_or(0, |document| document.cost());
        if cost <= limit && self.is_small() {
            let meter = Arc::new(Meter::new(limit));
            let short = self.clone().with_meter(&meter).here();
            match AssertUnwindSafe(short).catch_unwind().await {
                Ok(Started::Mutation(ready)) => {
                    return form(Box::pin(self.mutate(*ready)).await);
                }
                // In a slot the request may wait for memory.
                Ok(Started::Executed(executed)) if executed.is_overload() => {}
                Ok(Started::Executed(executed)) if !meter.is_over() => {
                    self.remember(&meter);
                    return form(*executed);
                }
                Ok(_) => {}
                Err(_) => return form(Reply::internal_error().into()),
            }
        }
        if cost <= medium
            && let Some(done) = Box::pin(self.in_slot(Weight::Medium, medium, form)).await
        {
            return done;
        }
        match Box::pin(self.in_slot(Weight::Long, u64::MAX, form)).await {
            Some(done) => done,
            None => unreachable!("no work exceeds a meter without limit"),
        }
    }

    /// Runs the request in a slot; `None` when it takes more work than `limit`, and could not move
    /// to a slot for long ones.
    async fn in_slot<T: Send + 'static>(
        &self,
        weight: Weight,
        limit: u64,
        form: fn(Executed) -> T,
    ) -> Option<T> {
        let job = self.clone();
        let work = move |slot: Slot| {
            let own = slot.clone();
            let meter = Meter::new(limit).with_extension(move || own.move_to_long().is_ok());
            let meter = Arc::new(meter);
            match futures::executor::block_on(job.blocking().with_meter(&meter).here()) {
                Started::Mutation(ready) => Some(Err(ready)),
                Started::Executed(executed) => {
                    job.remember(&meter);
                    (!meter.is_over()).then(|| Ok(form(*executed)))
                }
            }
        };
        let slots = &self.shared.options.slots;
        match slots.run(weight, self.call.deadline, work).await {
            Ok(None) => None,
            Ok(Some(Ok(done))) => Some(done),
            Ok(Some(Err(ready))) => Some(form(self.clone().mutate(*ready).await)),
            Err(error) => Some(form(refused_slot(error.into()))),
        }
    }

    /// Runs the request over a store that waits for others.
    async fn over_network<T: Send + 'static>(self, form: fn(Executed) -> T) -> T {
        let deadline = self.call.deadline;
        let traced = match self.counted(false).traced() {
            Err(error) => return form(Reply::Refused(vec![error]).into()),
            Ok(traced) => traced.off_the_worker(),
        };
        let ready = match traced.prepare_anywhere().await {
            Err(error) => return form(refused_slot(error)),
            Ok(Err(stop)) => return form(traced.stopped(stop)),
            Ok(Ok(ready)) => ready,
        };
        if matches!(ready.plan, Planned::Mutation(_)) {
            return form(traced.mutate(ready).await);
        }
        let traced = traced.of_one_snapshot();
        let fetched = traced.execution(&ready).fetch().await;
        let memory = traced.call.memory.as_ref();
        let size = Size::Results(memory.map_or(0, |memory| memory.held()));
        let slots = Arc::clone(&traced.shared.options.slots);
        let work = move || {
            let mut job = traced;
            // In a slot it may.
            job.may_block = !size.is_short();
            form(job.finish(ready, fetched))
        };
        match slots.run_sized(size, deadline, work).await {
            Ok(done) => done,
            Err(error) => form(refused_slot(error.into())),
        }
    }

    /// Prepares the request on the worker, or in a slot when it is too large for that.
    async fn prepare_anywhere(&self) -> Result<Result<Ready, Stop>, GraphqlError> {
        if self.is_small() {
            let meter = Arc::new(Meter::new(SHORT_WORK));
            let ready = self.clone().with_meter(&meter).prepare();
            if !meter.is_over() {
                return Ok(ready);
            }
        }
        let job = self.clone();
        let slots = &self.shared.options.slots;
        let prepared = slots.run(Weight::Medium, self.call.deadline, move |_| job.prepare());
        prepared.await.map_err(GraphqlError::from)
    }

    /// Runs the request on this thread, unless it is a mutation.
    async fn here(self) -> Started {
        let may_block = self.may_block;
        let job = match self.counted(may_block).traced() {
            Err(error) => return Executed::from(Reply::Refused(vec![error])).into(),
            Ok(job) => job,
        };
        match job.prepare() {
            Err(stop) => job.stopped(stop).into(),
            Ok(ready) if matches!(ready.plan, Planned::Mutation(_)) => {
                Started::Mutation(Box::new(ready))
            }
            Ok(ready) => {
                let job = job.of_one_snapshot();
                let fetched = job.execution(&ready).fetch().await;
                job.finish(ready, fetched).into()
            }
        }
    }

    fn remember(&self, meter: &Meter) {
        if let Some(document) = &self.known {
            document.set_cost(meter.spent());
        }
    }

    fn with_meter(mut self, meter: &Arc<Meter>) -> Self {
        self.call.meter = Some(Arc::clone(meter));
        self
    }

    fn blocking(&self) -> Self {
        Job {
            may_block: true,
            ..self.clone()
        }
    }

    /// Counts the results of the store from now on.
    fn counted(mut self, may_wait: bool) -> Self {
        self.call.memory = Some(Arc::new(RequestMemory::new(
            Arc::clone(&self.context.memory),
            may_wait,
        )));
        self
    }

    /// Lets all calls to the store see the same data; a mutation sees what it has written instead.
    fn of_one_snapshot(mut self) -> Self {
        self.call.snapshots = Some(Arc::default());
        self
    }

    /// Returns the request with none of its steps recorded.
    fn again(&self) -> Self {
        let mut job = self.clone();
        job.call.trace = self.call.trace.as_ref().map(|_| Arc::default());
        job
    }

    /// Hands long work between calls to the store to slots from now on.
    fn off_the_worker(mut self) -> Self {
        let slots = Arc::clone(&self.shared.options.slots);
        self.call.long_work = Some(Arc::new(InSlots::new(slots, self.call.deadline)));
        self
    }

    /// Records the steps of the store, where an explanation is wanted.
    fn traced(mut self) -> Result<Self, GraphqlError> {
        if self.request.has_extension("explain") && !self.explains {
            let config = &self.shared.api.soml().config;
            if !self.shared.options.explain || !config.enable_graphql_explain {
                let message = "this service does not explain queries";
                let error = GraphqlError::new(code::EXPLAIN_DISABLED, message);
                return Err(error);
            }
        } else if !self.explains {
            return Ok(self);
        }
        self.call.trace = Some(Arc::new(Trace::default()));
        Ok(self)
    }

    /// Returns whether the texts of the request are small enough to be read on an async worker.
    fn is_small(&self) -> bool {
        self.request.size(self.known.is_some()).is_short()
    }

    fn spend(&self, work: u64) -> Result<(), CallError> {
        self.call.spend(u32::try_from(work).unwrap_or(u32::MAX))
    }

    /// Returns the execution of what a mutation reads back, but for its plan and its store.
    fn reading_back<'a>(&'a self, ready: &'a Ready, no_plan: &'a Arc<Plan>) -> Execution<'a> {
        Execution {
            in_chunks: false,
            ..self.reading(&ready.prepared, no_plan)
        }
    }

    /// Does everything that needs no data.
    fn prepare(&self) -> Result<Ready, Stop> {
        let started = Instant::now();
        self.call.check()?;
        let (shared, request) = (&self.shared, &self.request);
        let documents = &shared.documents;
        let per_field = shared.short_work() / SHORT_FIELDS;
        let admit = |fields: usize| self.spend((fields as u64).saturating_mul(per_field));
        let document = match &self.known {
            Some(known) => {
                admit(known.fields())?;
                Arc::clone(known)
            }
            None => documents.get(&request.query, |n| admit(n).map_err(Stop::from))?,
        };
        let prepared = documents.prepare(document, request, &self.context)?;
        self.call.check()?;
        let plan = self.plan(&prepared).map_err(|error| vec![error])?;
        if let Planned::Query(plan) = &plan {
            self.admit_introspection(&prepared, plan)?;
        }
        let execution = Instant::now();
        Ok(Ready {
            prepared,
            plan,
            planning: execution - started,
            execution,
        })
    }

    fn plan(&self, prepared: &Prepared) -> Result<Planned, GraphqlError> {
        let shared = &self.shared;
        let access = access_of(&shared.rights, &self.context, shared.row_source());
        let variables = Variables::new(prepared);
        let input = PlanInput {
            api: &shared.api,
            access: access.as_ref(),
            limits: &shared.options.engine_limits,
            null_arrays: shared.options.null_arrays,
            regexes: &shared.regexes,
            types: &shared.types,
            features: &shared.store.features(),
            document: prepared.document.valid(),
            operation: &prepared.operation,
            variables: &variables,
        };
        if prepared.operation.is_mutation() {
            let _planning = traces::plan(&self.call.span);
            let rights = write_access_of(&shared.rights, &self.context, shared.row_source());
            let mut plan = plan::build_mutation(&input, rights.as_ref())?;
            plan.dry_run |= self.explains;
            tracing::debug!(request_id = self.call.request_id, ?plan, "planned");
            return Ok(Planned::Mutation(Box::new(plan)));
        }
        let span = &self.call.span;
        let plan = shared.plans.plan(&input, &prepared.document, span)?;
        tracing::debug!(request_id = self.call.request_id, ?plan, "planned");
        Ok(Planned::Query(plan))
    }

    /// Checks the size of what is asked of the schema, and counts it as long unless it is available.
    fn admit_introspection(&self, prepared: &Prepared, plan: &Plan) -> Result<(), Stop> {
        let documents = &self.shared.documents;
        let mut asked = plan
            .roots
            .iter()
            .filter(|root| matches!(root.value, RootValue::Introspection))
            .peekable();
        if asked.peek().is_none() {
            return Ok(());
        }
        documents.check_introspection(prepared)?;
        if !asked.all(|root| documents.has_introspected(prepared, &root.key)) {
            // It reads nothing, and is long for all but small schemas.
            self.spend(self.shared.short_work() + 1)?;
        }
        Ok(())
    }

    fn execution<'a>(&'a self, ready: &'a Ready) -> Execution<'a> {
        match &ready.plan {
            Planned::Query(plan) => self.reading(&ready.prepared, plan),
            Planned::Mutation(_) => unreachable!("mutations are executed apart"),
        }
    }

    /// Returns the execution of a plan that reads.
    fn reading<'a>(&'a self, prepared: &'a Prepared, plan: &'a Arc<Plan>) -> Execution<'a> {
        let shared = self.shared.as_ref();
        Execution {
            schema: shared.api.soml(),
            plan,
            store: shared.store.as_ref(),
            context: &self.call,
            limits: &shared.options.limits,
            engine_limits: &shared.options.engine_limits,
            numbers: shared.options.numbers,
            service: shared.printed(plan),
            documents: &shared.documents,
            prepared,
            memory: &self.context.memory,
            patience: if self.may_block {
                PATIENCE
            } else {
                Duration::ZERO
            },
            in_chunks: true,
        }
    }

    /// Writes the answer, and explains it where that is wanted.
    fn finish(&self, ready: Ready, fetched: Result<Fetched, StoreError>) -> Executed {
        let written = fetched.and_then(|fetched| self.execution(&ready).write(&fetched));
        let reply = match written {
            Ok(answer) => Reply::Executed(answer),
            Err(error) => self.failed(&error),
        };
        self.explained(reply, &ready)
    }

    /// Adds the explanation to a reply where that is wanted.
    fn explained(&self, mut reply: Reply, ready: &Ready) -> Executed {
        let explanation = self.explanation(ready);
        if let (Reply::Executed(_), Some(explanation), false) =
            (&reply, &explanation, self.explains)
            && let Reply::Executed(answer) = reply
        {
            reply = Reply::Executed(answer.with_extension("explain", explanation));
        }
        Executed { reply, explanation }
    }

    fn explanation(&self, ready: &Ready) -> Option<Explanation> {
        let trace = self.call.trace.as_ref()?;
        let (planning, executing) = (ready.planning, ready.execution.elapsed());
        let shared = &self.shared;
        let access = access_of(&shared.rights, &self.context, shared.row_source());
        let (mut explanation, hides_steps) = match &ready.plan {
            Planned::Query(plan) => {
                // Steps count what a store reads before it knows what conditions of roles hide.
                let hides_steps = access.is_some_and(|access| access.has_row_rules());
                (
                    Explanation::new(plan, trace, planning, executing),
                    hides_steps,
                )
            }
            Planned::Mutation(plan) => {
                // Checks read what the sender may not be shown, and the steps count it.
                let explanation = Explanation::of_mutation(plan, trace, planning, executing);
                (explanation, access.is_some())
            }
        };
        if hides_steps {
            explanation.steps.clear();
            explanation.round_trips = 0;
        }
        Some(explanation)
    }

    fn stopped(&self, stop: Stop) -> Executed {
        match stop {
            Stop::Refused(errors) => Reply::Refused(errors).into(),
            Stop::Failed(error) => self.failed(&error).into(),
        }
    }

    fn failed(&self, error: &StoreError) -> Reply {
        let is_overload = matches!(
            error,
            StoreError::Call(CallError::OutOfMemory | CallError::Overloaded)
        );
        let error = store_error(error, &self.call.request_id);
        if is_overload {
            Reply::Overloaded(error)
        } else {
            Reply::Executed(Answer::without_data(error))
        }
    }
}

/// Returns the reply to a request that got no slot.
fn refused_slot(error: GraphqlError) -> Executed {
    if error.code == graphql_service::code::OVERLOADED {
        return Reply::Overloaded(error).into();
    }
    Reply::Executed(Answer::without_data(error)).into()
}

impl Shared {
    /// Returns what conditions of roles are made of.
    fn row_source(&self) -> RowSource<'_> {
        RowSource {
            api: &self.api,
            types: &self.types,
            limits: &self.options.engine_limits,
            known: &self.known_rows,
        }
    }

    /// Returns the work that a request may do on an async worker.
    fn short_work(&self) -> u64 {
        let counted = self.store.local().and_then(LocalStore::short_work);
        counted.unwrap_or(SHORT_WORK)
    }

    /// Returns the printed schema when a plan asks for it.
    fn printed(&self, plan: &Plan) -> Option<&ServiceSdl> {
        let asked = plan
            .roots
            .iter()
            .any(|root| matches!(root.value, RootValue::Service(_)));
        asked.then(|| {
            self.printed.get_or_init(|| ServiceSdl {
                sdl: self.api.service_sdl(),
                full_sdl: self.api.full_sdl(),
            })
        })
    }
}
