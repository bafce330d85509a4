//! Transactions on servers of RDF4J's protocol.
//!
//! All reads and updates of a transaction are within the one of the server, one after the other. What is
//! applied is sent when something is read afterwards, or with the record of the change, so that a
//! simple change takes four requests. After any failure the transaction of the server is rolled back at
//! once: one that has conflicted and stays open blocks its repository, and one that is committed after
//! a failed update writes a part of it.

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use call_context::{CallContext, CallError};
use futures::future::BoxFuture;
use oxrdf::Quad;
use tokio::runtime::Handle;
use tokio::sync::Mutex;

use super::endpoint::{HttpEndpoint, within};
use super::error::HttpError;
use super::session::HttpSession;
use super::wire::{Failure, Wire};
use crate::error::StoreError;
use crate::remote::write::{
    BlankQuads, DotSegments, Found, Graphs, Log, PATTERNS, Part, Queue, Turn, check_change,
    check_patterns, opening, parts, quads_of, rows, to_the_end,
};
use crate::remote::{EndpointQuery, RemoteOptions, RemoteStore, Rows, SparqlEndpoint};
use crate::store::{GraphStore, StoreInfo, Transaction};
use crate::write::{ChangeRecord, NewRecord, QuadChange, QuadPattern, change_graph};

/// A transaction, and the store as it sees it.
pub(super) struct Rdf4jTransaction {
    open: Arc<Open>,
    view: RemoteStore,
    graphs: Graphs,
    sequence: u64,
    /// The sequence was seen to be free.
    is_checked: bool,
}

/// What the view and the transaction share.
struct Open {
    wire: Arc<Wire>,
    endpoint: Arc<HttpEndpoint>,
    runtime: Handle,
    options: RemoteOptions,
    /// Requests of a transaction are sent one after the other.
    state: Mutex<State>,
}

struct State {
    /// What is applied and was not sent yet.
    pending: QuadChange,
    blank: BlankQuads,
    /// Kept until the server has ended the transaction, or has failed where another takes over.
    turn: Option<Turn>,
    /// It has been committed or is being ended.
    is_over: bool,
}

impl Rdf4jTransaction {
    pub(super) async fn begin(
        endpoint: &Arc<HttpEndpoint>,
        options: &RemoteOptions,
        queue: &Queue,
        context: &CallContext,
    ) -> Result<Self, StoreError> {
        let mut turn = queue.turn(context).await?;
        let session = HttpSession::new(endpoint, None);
        let log = Log { endpoint: &session };
        if turn.is_open() {
            // Of two transactions that RDF4J commits at the same time, neither may see the other.
            context.count_call();
            within(context, Wire::update_alone(endpoint, &opening(), context)).await?;
        }
        let sequence = turn.sequence(log, context).await?;
        context.count_call();
        let wire = within(context, Wire::begin(endpoint, context)).await?;
        let open = Arc::new(Open {
            wire: Arc::new(wire),
            endpoint: Arc::clone(endpoint),
            runtime: Handle::current(),
            options: options.clone(),
            state: Mutex::new(State {
                pending: QuadChange::default(),
                blank: BlankQuads::default(),
                turn: Some(turn),
                is_over: false,
            }),
        });
        let view: Arc<dyn SparqlEndpoint> = Arc::clone(&open) as _;
        Ok(Rdf4jTransaction {
            view: RemoteStore::new(view, options.clone()),
            graphs: Graphs::new(options),
            open,
            sequence,
            is_checked: false,
        })
    }

    /// Finds out whether the sequence is free, and reads the quads of some patterns.
    async fn read(
        &mut self,
        patterns: &[QuadPattern],
        context: &CallContext,
    ) -> Result<Vec<Quad>, StoreError> {
        let sequence = (!self.is_checked).then_some(self.sequence);
        let query = quads_of(self.graphs, patterns, sequence);
        let rows = rows(&*self.open, query, 4, context).await?;
        let found = Found::read(rows, sequence)?;
        if found.is_taken {
            let mut state = self.open.state.lock().await;
            if let Some(turn) = &mut state.turn {
                turn.conflicted();
            }
            self.open.end(&mut state);
            return Err(StoreError::Conflict);
        }
        self.is_checked = true;
        Ok(found.quads)
    }
}

impl Open {
    /// Sends what is applied.
    async fn flush(&self, state: &mut State, context: &CallContext) -> Result<(), StoreError> {
        if state.pending.is_empty() {
            return Ok(());
        }
        let change = std::mem::take(&mut state.pending);
        let parts = match parts(Graphs::new(&self.options), change, &state.blank) {
            Ok(parts) => parts,
            Err(error) => {
                self.end(state);
                return Err(error);
            }
        };
        for part in parts {
            self.send(state, part, context).await?;
        }
        Ok(())
    }

    async fn send(
        &self,
        state: &mut State,
        part: Part,
        context: &CallContext,
    ) -> Result<(), StoreError> {
        context.count_call();
        let started = Instant::now();
        self.attempt(state, context, self.wire.send(&part, context))
            .await?;
        if let Some(trace) = &context.trace {
            let (step, text) = match part {
                Part::Update(text) => ("update", text),
                Part::Added(quads) => ("add", quads),
            };
            trace.record(step, Some(text), 0, started);
        }
        Ok(())
    }

    /// Sends a request of the transaction, and ends it if that fails.
    async fn attempt<T>(
        &self,
        state: &mut State,
        context: &CallContext,
        request: impl Future<Output = Result<T, HttpError>>,
    ) -> Result<T, StoreError> {
        if state.is_over {
            return Err(ended());
        }
        let answered = self.wire.run(context, request).await;
        answered.inspect_err(|_| {
            self.end(state);
        })
    }

    /// Ends the transaction of the server in a task of its own, which keeps the turn until that is done:
    /// no one can be relied on to wait for it. Where another server takes over, the next transaction does not wait for
    /// one that has failed.
    fn end(&self, state: &mut State) -> Option<tokio::task::JoinHandle<()>> {
        if std::mem::replace(&mut state.is_over, true) {
            return None;
        }
        let turn = state.turn.take().filter(|_| !self.wire.has_failed());
        let (wire, timeout) = (Arc::clone(&self.wire), self.options.transaction_timeout);
        let task = self
            .runtime
            .spawn(async move { wire.end_in_time(timeout, turn).await });
        Some(task)
    }

    /// Commits the transaction; finds out what became of it if the answer is lost, or says why it failed.
    async fn commit(
        &self,
        request: &str,
        turn: &mut Option<Turn>,
        context: &CallContext,
    ) -> Result<(), StoreError> {
        let is_written = |server| -> BoxFuture<'_, _> {
            Box::pin(async move {
                let session = HttpSession::new(&self.endpoint, server);
                let log = Log { endpoint: &session };
                log.holds(request, context).await
            })
        };
        let committed = self.wire.commit_or_find(&is_written, context).await;
        let Err(error) = committed else {
            return Ok(());
        };
        let has_failed = match Failure::of(&error) {
            Failure::Conflict => return Err(StoreError::Conflict),
            Failure::Refused => return Err(self.endpoint.cluster().interrupted(error)),
            Failure::Failed => true,
            Failure::Lost => false,
        };
        let lost = error.into_store_error();
        if self.wire.has_failed() {
            // Others go on, and make this transaction conflict if it is still open.
            *turn = None;
        }
        match Box::pin(self.wire.settle(&is_written, context)).await {
            Ok(true) => Ok(()),
            Ok(false) if has_failed => Err(lost),
            Ok(false) => Err(StoreError::Conflict),
            Err(_) => Err(StoreError::OutcomeUnknown(Box::new(lost))),
        }
    }
}

fn ended() -> StoreError {
    StoreError::Failed("the transaction has ended".into())
}

#[async_trait]
impl SparqlEndpoint for Open {
    async fn select(
        &self,
        query: EndpointQuery<'_>,
        context: &CallContext,
    ) -> Result<Rows, StoreError> {
        let mut state = self.state.lock().await;
        self.flush(&mut state, context).await?;
        let rows = self.wire.query(query.query, query.dataset, context);
        self.attempt(&mut state, context, rows).await
    }

    async fn probe(&self, context: &CallContext) -> Result<StoreInfo, StoreError> {
        self.endpoint.probe(context).await
    }
}

#[async_trait]
impl Transaction for Rdf4jTransaction {
    fn view(&self) -> Option<&dyn GraphStore> {
        Some(&self.view)
    }

    async fn quads(
        &mut self,
        patterns: &[QuadPattern],
        context: &CallContext,
    ) -> Result<Vec<Quad>, StoreError> {
        check_patterns(patterns, DotSegments::Kept)?;
        let mut seen = std::collections::HashSet::new();
        let mut found = Vec::new();
        for patterns in patterns.chunks(PATTERNS) {
            let mut quads = self.read(patterns, context).await?;
            quads.retain(|quad| seen.insert(quad.clone()));
            found.append(&mut quads);
        }
        let mut state = self.open.state.lock().await;
        state.blank.add(&found);
        Ok(found)
    }

    async fn apply(&mut self, change: QuadChange, context: &CallContext) -> Result<(), StoreError> {
        context.check()?;
        let mut state = self.open.state.lock().await;
        if state.is_over {
            return Err(ended());
        }
        let checked = check_change(&change, DotSegments::Kept)
            .and_then(|()| state.blank.check(&change.removed));
        if let Err(error) = checked {
            self.open.end(&mut state);
            return Err(error);
        }
        state.pending = std::mem::take(&mut state.pending).then(change);
        Ok(())
    }

    async fn commit(
        mut self: Box<Self>,
        record: NewRecord,
        context: &CallContext,
    ) -> Result<ChangeRecord, StoreError> {
        if !self.is_checked {
            self.read(&[], context).await?;
        }
        let record = ChangeRecord {
            sequence: self.sequence,
            said: record.grouped(),
        };
        let marker = QuadChange {
            removed: Vec::new(),
            added: change_graph::quads(&record),
        };
        check_change(&marker, DotSegments::Kept)?;
        let open = Arc::clone(&self.open);
        let mut state = open.state.lock().await;
        state.pending = std::mem::take(&mut state.pending).then(marker);
        open.flush(&mut state, context).await?;
        context.check()?;
        let context = to_the_end(context);
        if state.is_over {
            return Err(ended());
        }
        if let Some(turn) = &mut state.turn {
            turn.doubt();
        }
        context.count_call();
        let committed = open.commit(&record.said.request, &mut state.turn, &context);
        let committed = crate::remote::write::within(&context, committed);
        let committed = match committed.await {
            Err(StoreError::Call(CallError::Deadline)) => Err(StoreError::OutcomeUnknown(
                "the commit was not acknowledged before the deadline".into(),
            )),
            committed => committed,
        };
        if let Err(error) = committed {
            if let (StoreError::Conflict, Some(turn)) = (&error, &mut state.turn) {
                turn.conflicted();
            }
            open.end(&mut state);
            return Err(error);
        }
        // It has ended by its commit.
        state.is_over = true;
        if let Some(mut turn) = state.turn.take() {
            turn.took(self.sequence);
        }
        Ok(record)
    }

    async fn roll_back(self: Box<Self>) {
        let mut state = self.open.state.lock().await;
        if let Some(task) = self.open.end(&mut state) {
            // The server may not answer for long.
            let _ = tokio::time::timeout(std::time::Duration::from_secs(2), task).await;
        }
    }
}

impl Drop for Rdf4jTransaction {
    fn drop(&mut self) {
        let open = Arc::clone(&self.open);
        match self.open.state.try_lock() {
            Ok(mut state) => {
                open.end(&mut state);
            }
            // A request of the view is on its way, which no one waits for any more.
            Err(_) => {
                let runtime = open.runtime.clone();
                runtime.spawn(async move {
                    let mut state = open.state.lock().await;
                    open.end(&mut state);
                });
            }
        }
    }
}
