//! Transactions on an endpoint that has none: reads, and one guarded update at the end.
//!
//! Reads go to the endpoint at once. What is applied is kept here and corrects what is read later. The
//! commit is one update with one operation, whose pattern is the [guard](super::guard): nothing is written
//! unless all that was read is still so, and the change comes with its record. The endpoint says the
//! same whether the guard held or not, so the record is what tells.
//!
//! The guard knows quads. A selection by a condition is not part of a transaction here.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use call_context::{CallContext, CallError};
use oxrdf::{GraphName, Literal, NamedNodeRef, Quad};
use spargebra::term::{GraphNamePattern, QuadPattern as InsertPattern};
use spargebra::{GraphUpdateOperation, Update};

use super::change::{Rows, update};
use super::gaps::Gaps;
use super::graphs::Graphs;
use super::guard::{free, guard};
use super::log::{Log, abandoned};
use super::queue::{Queue, Turn};
use super::read::{Found, PATTERNS, quads_of, rows};
use super::read_write_set::ReadWriteSet;
use super::terms::{DotSegments, check_change, check_patterns};
use super::{IsolationReport, PAUSE, probe_updates, sooner, to_the_end, within};
use crate::error::StoreError;
use crate::remote::endpoint::{UpdateEndpoint, UpdateError, UpdateSession};
use crate::remote::store::RemoteOptions;
use crate::store::{GraphStore, Transaction, WriteStore};
use crate::write::{
    ChangePosition, ChangeRecord, ChangesSince, NewRecord, QuadChange, QuadPattern, RecordQuery,
    change_graph,
};

/// Writes to an endpoint by guarded updates.
pub(in crate::remote) struct PlainWriter {
    endpoint: Arc<dyn UpdateEndpoint>,
    graphs: Graphs,
    queue: Queue,
    /// Cleared when two writers were seen to get the same.
    is_isolated: Arc<AtomicBool>,
    gaps: Gaps,
    waits: Waits,
}

/// How long the outcome of a commit is waited for.
#[derive(Clone, Copy)]
struct Waits {
    /// Before it is looked for what the commit wrote.
    silence: Duration,
    /// After its answer was lost.
    outcome: Duration,
}

impl PlainWriter {
    pub(in crate::remote) fn new(
        endpoint: Arc<dyn UpdateEndpoint>,
        options: &RemoteOptions,
    ) -> Self {
        PlainWriter {
            endpoint,
            graphs: Graphs::new(options),
            queue: Queue::default(),
            is_isolated: Arc::new(AtomicBool::new(true)),
            gaps: Gaps::new(options.transaction_timeout),
            waits: Waits {
                silence: options.commit_silence,
                outcome: options.outcome_timeout,
            },
        }
    }

    /// Lets two writers race, and refuses to write from now on if both won.
    pub(in crate::remote) async fn probe_isolation(
        &self,
        rounds: u32,
        context: &CallContext,
    ) -> Result<IsolationReport, StoreError> {
        let report = probe_updates(&*self.endpoint, rounds, context).await?;
        if !report.is_isolated() {
            self.is_isolated.store(false, Ordering::Relaxed);
        }
        Ok(report)
    }

    fn log<'a>(&self, session: &'a dyn UpdateSession) -> Log<'a> {
        Log { endpoint: session }
    }
}

#[async_trait]
impl WriteStore for PlainWriter {
    async fn begin(&self, context: &CallContext) -> Result<Box<dyn Transaction>, StoreError> {
        if !self.is_isolated.load(Ordering::Relaxed) {
            return Err(not_isolated());
        }
        let mut turn = self.queue.turn(context).await?;
        let session = self.endpoint.session();
        let log = self.log(&*session);
        let sequence = turn.sequence(log, context).await?;
        Ok(Box::new(PlainTransaction {
            session,
            graphs: self.graphs,
            read_write_set: ReadWriteSet::default(),
            turn: Some(turn),
            sequence,
            is_isolated: Arc::clone(&self.is_isolated),
            endpoint: Arc::clone(&self.endpoint),
            waits: self.waits,
        }))
    }

    async fn records(
        &self,
        query: &RecordQuery,
        context: &CallContext,
    ) -> Result<Vec<ChangeRecord>, StoreError> {
        let session = self.endpoint.session();
        self.log(&*session)
            .records(query, &self.gaps, context)
            .await
    }

    async fn position(&self, context: &CallContext) -> Result<ChangePosition, StoreError> {
        let session = self.endpoint.session();
        self.log(&*session).position(&self.gaps, context).await
    }

    async fn changes_since(
        &self,
        position: &ChangePosition,
        limit: usize,
        context: &CallContext,
    ) -> Result<ChangesSince, StoreError> {
        let session = self.endpoint.session();
        self.log(&*session)
            .changes_since(position, limit, &self.gaps, context)
            .await
    }

    async fn last_sequence(&self, context: &CallContext) -> Result<u64, StoreError> {
        let session = self.endpoint.session();
        self.log(&*session).last(context).await
    }

    async fn forget_records(
        &self,
        before: SystemTime,
        context: &CallContext,
    ) -> Result<u64, StoreError> {
        let _turn = self.queue.turn(context).await?;
        let session = self.endpoint.session();
        let mut forgotten = 0;
        loop {
            let old = self.log(&*session).old(before, context).await?;
            if old.nodes.is_empty() {
                return Ok(forgotten);
            }
            forgotten += old.records;
            context.count_call();
            let updated = session.update(&old.forget(), context).await;
            updated.map_err(UpdateError::into_store_error)?;
        }
    }

    fn is_durable(&self) -> bool {
        true
    }
}

pub(in crate::remote) fn not_isolated() -> StoreError {
    StoreError::NotIsolated(
        "the store does not keep concurrent writers apart, so nothing is written to it".to_owned(),
    )
}

/// A transaction, as far as there is one before its commit.
struct PlainTransaction {
    session: Arc<dyn UpdateSession>,
    graphs: Graphs,
    read_write_set: ReadWriteSet,
    /// `None` once others need not wait for it.
    turn: Option<Turn>,
    sequence: u64,
    is_isolated: Arc<AtomicBool>,
    endpoint: Arc<dyn UpdateEndpoint>,
    waits: Waits,
}

/// What became of an update.
enum Outcome {
    Applied,
    Refused,
    /// No one has the sequence, so the update can still be applied.
    Open,
}

impl PlainTransaction {
    fn commit_update(&mut self, record: &ChangeRecord) -> Result<Update, StoreError> {
        let guard = guard(self.graphs, &self.read_write_set, self.sequence);
        let change = std::mem::take(&mut self.read_write_set.change);
        let marker = QuadChange {
            removed: Vec::new(),
            added: change_graph::quads(record),
        };
        check_change(&marker, DotSegments::Kept)?;
        let rows = Rows::removed(self.graphs, &change.removed, &self.read_write_set.blank)?
            .and_added(&change.added)
            .and_added(&marker.added);
        Ok(update(vec![rows.operation(Some(guard))]))
    }

    /// Looks what became of an update, where it was sent to.
    async fn outcome(&self, request: &str, context: &CallContext) -> Result<Outcome, StoreError> {
        self.outcome_in(&*self.session, request, context).await
    }

    /// Looks whether an update was applied, at any server. Others than that which it was sent to may not have it yet.
    async fn is_applied_anywhere(&self, request: &str, context: &CallContext) -> bool {
        let session = self.endpoint.session();
        let outcome = self.outcome_in(&*session, request, context).await;
        matches!(outcome, Ok(Outcome::Applied))
    }

    async fn outcome_in(
        &self,
        session: &dyn UpdateSession,
        request: &str,
        context: &CallContext,
    ) -> Result<Outcome, StoreError> {
        let log = Log { endpoint: session };
        let holders = log.holders(self.sequence, context).await?;
        if holders.len() > 1 {
            tracing::error!(
                sequence = self.sequence,
                "two updates got the same sequence: the SPARQL server does not keep writers apart"
            );
            self.is_isolated.store(false, Ordering::Relaxed);
        }
        Ok(if holders.contains(&change_graph::node(request)) {
            Outcome::Applied
        } else if holders.is_empty() {
            Outcome::Open
        } else {
            Outcome::Refused
        })
    }

    /// Finds out what became of an update whose answer was lost.
    ///
    /// Where it was not applied yet, the sequence is taken from it, so that it never will be.
    async fn settle(
        &mut self,
        request: &str,
        lost: StoreError,
        context: &CallContext,
    ) -> Result<(), StoreError> {
        let context = &sooner(context, self.waits.outcome);
        let settled = within(context, async {
            loop {
                match self.outcome(request, context).await {
                    Ok(Outcome::Applied) => return Ok(()),
                    Ok(Outcome::Refused) => return Err(StoreError::Conflict),
                    Ok(Outcome::Open) => {
                        context.count_call();
                        // What comes of it is seen in the next round.
                        if self.session.update(&self.fence(), context).await.is_ok() {
                            continue;
                        }
                    }
                    Err(error) => {
                        tracing::debug!(%error, "the outcome of an update is looked for");
                        if matches!(error, StoreError::Interrupted(_)) {
                            // Others write to another server, where only one can take the sequence.
                            self.turn = None;
                        }
                        if self.is_applied_anywhere(request, context).await {
                            return Ok(());
                        }
                    }
                }
                tokio::time::sleep(PAUSE).await;
            }
        });
        match settled.await {
            // The server said that it failed, and would again.
            Err(StoreError::Conflict) if matches!(lost, StoreError::Failed(_)) => Err(lost),
            Err(StoreError::Call(CallError::Deadline)) => {
                Err(StoreError::OutcomeUnknown(Box::new(lost)))
            }
            settled => settled,
        }
    }

    /// Returns the update that takes the sequence for no one, unless someone has it.
    fn fence(&self) -> Update {
        let node = abandoned(self.sequence);
        let place = GraphNamePattern::NamedNode(change_graph::GRAPH.into_owned());
        let insert = |property: NamedNodeRef<'_>, value: Literal| InsertPattern {
            subject: node.clone().into(),
            predicate: property.into_owned().into(),
            object: value.into(),
            graph_name: place.clone(),
        };
        let time = change_graph::time(SystemTime::now());
        update(vec![GraphUpdateOperation::DeleteInsert {
            delete: Vec::new(),
            insert: vec![
                insert(
                    change_graph::SEQUENCE,
                    change_graph::sequence(self.sequence),
                ),
                insert(change_graph::TIME, time),
            ],
            using: None,
            pattern: Box::new(free(self.sequence)),
        }])
    }
}

#[async_trait]
impl Transaction for PlainTransaction {
    fn view(&self) -> Option<&dyn GraphStore> {
        None
    }

    async fn quads(
        &mut self,
        patterns: &[QuadPattern],
        context: &CallContext,
    ) -> Result<Vec<Quad>, StoreError> {
        check_patterns(patterns, DotSegments::Resolved)?;
        loop {
            let missing = self.read_write_set.missing(patterns);
            if missing.is_empty() {
                return Ok(self.read_write_set.matching(patterns));
            }
            for patterns in missing.chunks(PATTERNS) {
                let query = quads_of(self.graphs, patterns, None);
                let rows = rows(&*self.session, query, 4, context).await?;
                self.read_write_set
                    .learn(patterns, Found::read(rows, None)?.quads)?;
            }
        }
    }

    async fn apply(&mut self, change: QuadChange, context: &CallContext) -> Result<(), StoreError> {
        context.check()?;
        check_change(&change, DotSegments::Resolved)?;
        let is_default = |quad: &Quad| quad.graph_name == GraphName::DefaultGraph;
        if !self.graphs.has_default() && change.added.iter().any(is_default) {
            return Err(StoreError::Unsupported(
                "the store has no default graph apart from its named graphs; name one to write to"
                    .to_owned(),
            ));
        }
        self.read_write_set.apply(change);
        Rows::removed(
            self.graphs,
            &self.read_write_set.change.removed,
            &self.read_write_set.blank,
        )
        .map(|_| ())
    }

    async fn commit(
        mut self: Box<Self>,
        record: NewRecord,
        context: &CallContext,
    ) -> Result<ChangeRecord, StoreError> {
        context.check()?;
        let record = ChangeRecord {
            sequence: self.sequence,
            said: record.grouped(),
        };
        let update = self.commit_update(&record)?;
        let request = &record.said.request;
        let context = to_the_end(context);
        // Whatever goes wrong from here on, someone else may have the sequence.
        if let Some(turn) = &mut self.turn {
            turn.doubt();
        }
        context.count_call();
        let started = std::time::Instant::now();
        let found = async {
            loop {
                tokio::time::sleep(self.waits.silence).await;
                let is_applied = match self.outcome(request, &context).await {
                    Ok(outcome) => matches!(outcome, Outcome::Applied),
                    Err(_) => self.is_applied_anywhere(request, &context).await,
                };
                if is_applied {
                    break;
                }
            }
        };
        let updated = tokio::select! {
            biased;
            updated = self.session.update(&update, &context) => Some(updated),
            () = found => None,
        };
        if let Some(trace) = &context.trace {
            trace.record("update", Some(update.to_string()), 0, started);
        }
        drop(update);
        let lost = match updated {
            None => None,
            Some(Ok(())) => match self.outcome(request, &context).await {
                Ok(Outcome::Applied) => None,
                // The update has been executed, so it never will be again.
                Ok(Outcome::Refused | Outcome::Open) => return Err(StoreError::Conflict),
                Err(error) => Some(error),
            },
            Some(Err(UpdateError::NotExecuted(error))) => return Err(error),
            Some(Err(UpdateError::Unknown(error))) => Some(error),
        };
        if let Some(lost) = lost {
            self.settle(request, lost, &context).await?;
        }
        if let Some(turn) = &mut self.turn {
            turn.took(self.sequence);
        }
        Ok(record)
    }

    async fn roll_back(self: Box<Self>) {}
}
