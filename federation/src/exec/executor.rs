//! The executor: runs the requests of a plan.

use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use apollo_compiler::Name;
use apollo_compiler::ast::OperationType;
use bytes::Bytes;
use graphql_service::document::Prepared;
use graphql_service::writer::{AnswerWriter, WriteResult, write_string};
use graphql_service::{Answer, GraphqlError, OutOfMemory, Reply, RequestContext, Slots};

use super::entity_lists::{self, EntityList};
use super::errors::{PendingError, ReportedError, in_order};
use super::fetch::{self, Failure, FetchTarget, ReceivedBody};
use super::listings::Listings;
use super::notes::{Note, Notes};
use super::project::{ErrorPaths, Introspect, Projection};
use super::request_sharing::RequestSharing;
use super::store::{Seg, Store};
use super::subgraph_errors::MAX_ERRORS;
use super::walk::Walk;
use super::work;
use crate::hash::HashMap;
use crate::limits::GatewayLimits;
use crate::memo::EntityMemo;
use crate::plan::{EntryObjects, Plan, Request, StepId};
use crate::sharing::Savings;
use crate::supergraph::{SubgraphId, Supergraph};
use crate::transport::{
    Allowance, Allowances, SubgraphEvent, SubgraphRequest, SubgraphSubscription, SubgraphTransport,
    Together,
};

/// What a plan is executed with.
#[derive(Clone)]
#[non_exhaustive]
pub struct Execution {
    /// The supergraph of the plan.
    pub supergraph: Arc<Supergraph>,
    /// The plan.
    pub plan: Arc<Plan>,
    /// The request of the client, whose variables are passed on.
    pub prepared: Arc<Prepared>,
    /// How subgraphs are reached.
    pub transport: Arc<dyn SubgraphTransport>,
    /// Deadline, cancellation, memory, and what is passed on to subgraphs.
    pub context: Arc<RequestContext>,
    /// Limits on the answers of subgraphs.
    pub limits: GatewayLimits,
    /// Maximum size of the answer, in bytes.
    pub response_bytes: usize,
    /// Slots for large answers, which would take too long on async workers.
    pub slots: Arc<Slots>,
    /// Whether traces of the stack in errors of subgraphs are passed on.
    pub stacktraces: bool,
    /// Whether entities that subgraphs have already returned are reused.
    pub memo: EntityMemo,
    /// How requests are shared with other executions, if they are.
    pub(crate) sharing: Option<Arc<RequestSharing>>,
    /// Counts what is not done again.
    pub(crate) savings: Option<Arc<dyn Savings>>,
    /// What is noted of the execution, if someone wants it explained.
    pub(crate) notes: Option<Arc<Notes>>,
}

/// Executes a plan. `introspect` writes what introspection answers under a response key of the root.
///
/// Large answers are read and written in slots where there is a Tokio runtime, else on the calling thread.
pub async fn execute(
    execution: Execution,
    introspect: impl Fn(&str, &mut AnswerWriter<'_>) -> WriteResult + Send + Sync + 'static,
) -> Reply {
    carry_out(Executor::new(execution), introspect).await
}

/// Executes the plan of a subscription for one of its events, which stands for the answer to its first request. Where
/// the plan asks for nothing, the event is not looked at.
pub async fn execute_event(
    execution: Execution,
    event: SubgraphEvent,
    introspect: impl Fn(&str, &mut AnswerWriter<'_>) -> WriteResult + Send + Sync + 'static,
) -> Reply {
    let mut executor = Executor::new(execution);
    executor.receive(event);
    carry_out(executor, introspect).await
}

/// Returns what the subgraph of a subscription is sent, and which subgraph it is; nothing if the plan asks for
/// nothing. The answer to the first request of the plan comes again and again.
pub(crate) fn subscription(execution: &Execution) -> Option<(SubgraphId, SubgraphSubscription)> {
    let plan = &execution.plan;
    let first = plan.requests.first()?;
    let lists = Executor::new(execution.clone()).lists(first, 0, &mut Listings::default());
    let body = text(execution, first, &lists, Vec::new());
    let memory = Arc::clone(&execution.context.memory);
    let subscription = SubgraphSubscription {
        body,
        allowances: Allowances::new(execution.limits.event_bytes, memory),
    };
    Some((first.subgraph, subscription))
}

async fn carry_out(
    executor: Executor,
    introspect: impl Fn(&str, &mut AnswerWriter<'_>) -> WriteResult + Send + Sync + 'static,
) -> Reply {
    let executed = match work::requests(Box::new(executor)).await {
        Ok(executor) => work::written(executor, introspect).await,
        Err(error) => Err(error),
    };
    // What has happened in subgraphs is not told, so the request counts as executed.
    executed.unwrap_or_else(|error| Reply::Executed(Answer::failed(error.into())))
}

/// A plan that is being carried out.
pub(super) struct Executor {
    pub(super) execution: Execution,
    /// What all answers may hold.
    together: Arc<Together>,
    pub(super) store: Store,
    /// What the answers in the store hold.
    pub(super) held: Vec<Arc<Allowance>>,
    pub(super) errors: Vec<ReportedError>,
    /// Errors of subgraphs whose paths depend on what is not told yet.
    pub(super) pending_errors: Vec<PendingError>,
    /// Number of errors that are not kept.
    pub(super) omitted: usize,
    /// Answers that were not looked at yet.
    pub(super) arrived: VecDeque<FetchOutcome>,
    /// How far the steps of each request of the plan are.
    steps: Vec<Vec<StepProgress>>,
    /// How many entities subgraphs were not asked for, since the memo had them.
    pub(super) recalled: usize,
    /// Counts what the memo has given.
    pub(super) recalled_memory: Arc<Allowance>,
    /// The length of all answers that were looked at.
    bytes: usize,
}

/// How far a step is.
#[derive(Clone, Copy, Debug)]
struct StepProgress {
    state: StepState,
    /// Whether answers had errors: what they say is not taken for granted.
    is_troubled: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepState {
    Waiting,
    /// Another step asks for the same.
    Behind(StepId),
    /// Requests that were sent for it and are not answered yet.
    Sent(usize),
}

impl StepProgress {
    const WAITING: StepProgress = StepProgress {
        state: StepState::Waiting,
        is_troubled: false,
    };

    fn is_done(&self) -> bool {
        self.state == StepState::Sent(0)
    }
}

/// The objects that a request which was sent is about.
pub(super) type SentLists = Vec<EntityList>;

/// What came of a request that was sent.
pub(super) struct FetchOutcome {
    /// The position of the request in the plan.
    position: usize,
    sent: SentLists,
    outcome: Result<ReceivedBody, Failure>,
}

/// The future of the answer to a request that was sent.
pub(super) type ResponseFuture = Pin<Box<dyn Future<Output = FetchOutcome> + Send>>;

impl Executor {
    fn new(execution: Execution) -> Self {
        let memory = Arc::clone(&execution.context.memory);
        let together = Together::new(execution.limits.all_subgraph_bytes, memory);
        let requests = execution.plan.requests.iter();
        let steps = requests.map(|request| vec![StepProgress::WAITING; request.steps.len()]);
        Executor {
            recalled_memory: Arc::new(together.answer(usize::MAX)),
            together,
            store: Store::new(&execution.plan.tree),
            held: Vec::new(),
            errors: Vec::new(),
            pending_errors: Vec::new(),
            omitted: 0,
            arrived: VecDeque::new(),
            steps: steps.collect(),
            recalled: 0,
            bytes: 0,
            execution,
        }
    }

    /// Returns the length of all answers, those that were not looked at yet among them.
    pub(super) fn bytes(&self) -> usize {
        let arrived = self.arrived.iter().flat_map(|arrived| &arrived.outcome);
        self.bytes + arrived.map(|received| received.body.len()).sum::<usize>()
    }

    /// Takes in what has arrived, and sends each request whose predecessors are complete.
    pub(super) fn advance(&mut self) -> Vec<ResponseFuture> {
        let is_cancelled = self.execution.context.call.cancellation.is_cancelled();
        while let Some(mut arrived) = self.arrived.pop_front() {
            if is_cancelled {
                // No one reads what would be made of it.
                arrived.outcome = Err(Failure::cancelled());
            }
            if let Ok(received) = &arrived.outcome {
                self.bytes += received.body.len();
            }
            self.complete_one(arrived);
        }
        let mut responses = Vec::new();
        while let Some((position, steps)) = self.ready() {
            let before = self.errors.len();
            responses.extend(self.begin(position, &steps));
            self.number_errors(before, position);
        }
        responses
    }

    fn complete_one(&mut self, arrived: FetchOutcome) {
        let FetchOutcome {
            position,
            sent,
            outcome,
        } = arrived;
        let reported = |executor: &Executor| {
            (
                executor.errors.len(),
                executor.pending_errors.len(),
                executor.omitted,
            )
        };
        let before = reported(self);
        let plan = Arc::clone(&self.execution.plan);
        self.complete(&plan.requests[position], &sent, outcome);
        self.number_errors(before.0, position);
        let is_troubled = before != reported(self);
        for step in steps_of(&sent) {
            let progress = &mut self.steps[position][step];
            progress.is_troubled |= is_troubled;
            if let StepState::Sent(left) = &mut progress.state {
                *left -= 1;
            }
        }
    }

    /// Returns steps of a request that wait for nothing any more.
    fn ready(&self) -> Option<(usize, Vec<usize>)> {
        let is_done = |before: &StepId| self.steps[before.0][before.1].is_done();
        let mut requests = self.execution.plan.requests.iter().enumerate();
        let is_open = |progress: &StepProgress| !matches!(progress.state, StepState::Sent(_));
        requests.find_map(|(position, request)| {
            if !self.steps[position].iter().any(is_open) {
                return None;
            }
            let (mut free, mut bound) = (Vec::new(), Vec::new());
            for step in request.order.iter().copied() {
                match self.steps[position][step].state {
                    StepState::Waiting if request.steps[step].after.iter().all(is_done) => {
                        free.push(step);
                    }
                    StepState::Waiting => bound.push(step),
                    StepState::Behind(other) if is_done(&other) => {
                        return Some((position, vec![step]));
                    }
                    StepState::Behind(_) | StepState::Sent(_) => {}
                }
            }
            // Steps wait for others to share a request with them, unless those begin in later waves and may need none
            // then.
            let waves = free.iter().map(|step| self.wave(request, *step));
            let wave = waves.max().unwrap_or_default();
            let may_need_none = |step: &usize| {
                let mut sources = request.steps[*step].sources.iter();
                self.execution.memo.is_enabled
                    && sources.any(|source| source.step.0 == position)
                    && self.wave(request, *step) > wave
            };
            let is_ready = !free.is_empty() && bound.iter().all(may_need_none);
            is_ready.then_some((position, free))
        })
    }

    /// Returns the last wave of those that a step of a request waits for.
    fn wave(&self, request: &Request, step: usize) -> u32 {
        let before = request.steps[step].after.iter();
        let waves = before.map(|before| self.execution.plan.requests[before.0].wave);
        waves.max().unwrap_or_default()
    }

    /// Returns whether a step is being answered.
    pub(super) fn is_sent(&self, step: StepId) -> bool {
        matches!(self.steps[step.0][step.1].state, StepState::Sent(left) if left > 0)
    }

    /// Returns whether a step was answered without errors.
    pub(super) fn is_sound(&self, step: StepId) -> bool {
        let progress = &self.steps[step.0][step.1];
        progress.is_done() && !progress.is_troubled
    }

    /// Reports errors whose paths could not be told before.
    fn report_pending(&mut self) {
        for pending in std::mem::take(&mut self.pending_errors) {
            let before = self.errors.len();
            for path in self.walk().client_paths(&pending.place) {
                self.report(
                    pending.step,
                    pending.error.clone().on(path),
                    Some(pending.place.clone()),
                );
            }
            self.number_errors(before, pending.request.unwrap_or_default());
        }
    }

    /// Notes in the latest errors which request of the plan they come from.
    fn number_errors(&mut self, before: usize, position: usize) {
        for reported in &mut self.errors[before..] {
            reported.request = position;
        }
        for pending in self
            .pending_errors
            .iter_mut()
            .filter(|pending| pending.request.is_none())
        {
            pending.request = Some(position);
        }
    }

    pub(super) fn walk(&self) -> Walk<'_> {
        Walk {
            supergraph: &self.execution.supergraph,
            tree: &self.execution.plan.tree,
            store: &self.store,
        }
    }

    /// Sends a request of the plan for some of its steps: as one, or as several where there are many values from
    /// contexts; as none where there is nothing to ask for, or others are asking for it.
    fn begin(&mut self, position: usize, steps: &[usize]) -> Vec<ResponseFuture> {
        let plan = Arc::clone(&self.execution.plan);
        let request = &plan.requests[position];
        let mut all = Vec::new();
        let before = self.recalled;
        let mut listings = Listings::default();
        for step in steps.iter().copied() {
            let mut lists = self.lists(request, step, &mut listings);
            lists.retain(|list| !list.is_empty());
            let awaited = lists.first().and_then(EntityList::awaited);
            self.steps[position][step].state = match awaited {
                Some(other) => StepState::Behind(other),
                // It is not sent yet, but what the next ones need of the same entities is coming.
                None => StepState::Sent(lists.len()),
            };
            if awaited.is_none() {
                all.extend(lists);
            }
        }
        self.note_recalled(position, self.recalled - before);
        if all.is_empty() {
            return Vec::new();
        }
        all.sort_by_key(|list| list.step);
        let divided = entity_lists::divided(request, all);
        for step in steps.iter().copied() {
            let progress = &mut self.steps[position][step];
            if let StepState::Sent(count) = &mut progress.state {
                let is_of = |sent: &&SentLists| sent.iter().any(|list| list.step == step);
                *count = divided.iter().filter(is_of).count();
            }
        }
        let divided = divided.into_iter();
        divided.map(|lists| self.send(position, lists)).collect()
    }

    /// Notes how many entities the memo had that a request would have asked for.
    fn note_recalled(&self, request: usize, representations: usize) {
        if representations == 0 {
            return;
        }
        let execution = &self.execution;
        if let Some(savings) = &execution.savings {
            let subgraph = execution.plan.requests[request].subgraph;
            let name = &execution.supergraph.subgraph(subgraph).name;
            savings.entities(name, representations);
        }
        if let Some(notes) = &execution.notes {
            notes.add(Note::FromMemo {
                request,
                representations,
            });
        }
    }

    /// Takes an event for the answer to the first request of the plan.
    fn receive(&mut self, event: SubgraphEvent) {
        let plan = Arc::clone(&self.execution.plan);
        let Some(first) = plan.requests.first() else {
            return;
        };
        let sent = self.lists(first, 0, &mut Listings::default());
        let SubgraphEvent { body, allowance } = event;
        self.steps[0][0].state = StepState::Sent(1);
        self.arrived.push_back(FetchOutcome {
            position: 0,
            sent,
            outcome: Ok(ReceivedBody { body, allowance }),
        });
    }

    fn send(&self, position: usize, mut sent: SentLists) -> ResponseFuture {
        let execution = &self.execution;
        let request = &execution.plan.requests[position];
        let (mut variables, mut representations) = (Vec::new(), 0);
        for list in &mut sent {
            let step = &request.steps[list.step];
            representations += list.representations(step);
            list.take_variables(step, &mut variables);
        }
        let is_root = matches!(request.steps[0].entry, EntryObjects::Root);
        let body = text(execution, request, &sent, variables);
        let message = SubgraphRequest {
            body,
            is_mutation: execution.plan.operation == OperationType::Mutation && is_root,
            representations,
            allowance: Arc::new(self.together.answer(execution.limits.subgraph_bytes)),
        };
        let target = FetchTarget {
            position,
            supergraph: Arc::clone(&execution.supergraph),
            subgraph: request.subgraph,
            transport: Arc::clone(&execution.transport),
            context: Arc::clone(&execution.context),
            sharing: execution.sharing.clone(),
            notes: execution.notes.clone(),
        };
        Box::pin(async move {
            let outcome = target.fetch(message).await;
            FetchOutcome {
                position,
                sent,
                outcome,
            }
        })
    }

    /// Adds an error about a value of a step, or about the request as a whole; of too many, only their number is
    /// kept.
    pub(super) fn report(&mut self, step: usize, error: GraphqlError, place: Option<Vec<Seg>>) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(ReportedError {
                request: 0,
                step,
                place,
                error,
            })
        } else {
            self.omitted += 1
        }
    }

    /// Writes the answer.
    pub(super) fn answer(
        &mut self,
        introspect: &(impl Fn(&str, &mut AnswerWriter<'_>) -> WriteResult + Sync),
    ) -> Reply {
        self.report_pending();
        let memory = Arc::clone(&self.execution.context.memory);
        let mut writer = AnswerWriter::new()
            .with_limit(self.execution.response_bytes)
            .with_memory(memory, Duration::ZERO);
        writer.omit_errors(self.omitted);
        let mut paths = ErrorPaths::default();
        for error in in_order(std::mem::take(&mut self.errors)) {
            paths.add(&error.path);
            writer.push_error(error);
        }
        let adapter = |key: &str, writer: &mut AnswerWriter<'_>| introspect(key, writer);
        let introspect: &Introspect<'_> = &adapter;
        let mut projection = Projection {
            walk: self.walk(),
            api: self.execution.supergraph.api(),
            introspect,
            errors: paths,
            writer,
            shared: HashMap::default(),
        };
        let written = projection.root();
        if projection.writer.is_out_of_memory() {
            Reply::Overloaded(OutOfMemory.into())
        } else {
            Reply::Executed(projection.writer.finish(written))
        }
    }
}

/// Returns the JSON text of a request with the variables of its lists.
fn text(
    execution: &Execution,
    request: &Request,
    sent: &SentLists,
    of_lists: Vec<(String, Vec<u8>)>,
) -> Bytes {
    let (operation, names) = operation(request, sent);
    let mut variables: Vec<(String, Vec<u8>)> = Vec::new();
    for name in names {
        if let Some(value) = execution.prepared.variable(name) {
            let mut text = Vec::new();
            value.write_to(&mut text);
            variables.push((name.to_string(), text));
        }
    }
    variables.extend(of_lists);
    fetch::text(&operation, &variables).into()
}

/// Returns the steps that a request was sent for.
fn steps_of(sent: &SentLists) -> BTreeSet<usize> {
    sent.iter().map(|list| list.step).collect()
}

/// Returns the operation of a request as a JSON string, with the client's variables in it.
fn operation<'r>(request: &'r Request, sent: &SentLists) -> (Cow<'r, [u8]>, Vec<&'r Name>) {
    let mut counts = vec![0; request.steps.len()];
    sent.iter().for_each(|list| counts[list.step] += 1);
    match &request.template {
        Some(template) if counts.iter().any(|count| *count != 1) => {
            let (document, names) = template.text(&counts);
            let mut text = Vec::new();
            write_string(&mut text, &document);
            (Cow::Owned(text), names)
        }
        _ => {
            let text = Cow::Borrowed(request.json.as_slice());
            (text, request.variables.iter().collect())
        }
    }
}
