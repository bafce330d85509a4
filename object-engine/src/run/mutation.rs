//! Runs mutations: one transaction each, repeated as a whole when other writers get in between, or its server fails.

use std::sync::Arc;
use std::time::SystemTime;

use call_context::{CallError, Meter};
use graph_store::write::{ChangeKind, ChangeRecord, ChangedObjects, NewRecord};
use graph_store::{LocalStore, StoreError, Transaction};
use graphql_service::{Answer, GraphqlError, Reply, Slot, Weight, WriteCounts};
use oxrdf::GraphName;
use tokio::runtime::Handle;
use uuid::Uuid;

use super::repeat::Repetition;
use super::{Executed, Job, Planned, Ready, SHORT_WORK, Shared, refused_slot};
use crate::access::Permit;
use crate::call::store_error;
use crate::code;
use crate::mutate::{Attempt, Done, Setting, WriteFacts, nothing};
use crate::plan::{Entry, MutationPlan, Plan, WriteAccess, write_access_of};

/// Objects and values that are worked out and checked on an async worker.
const SHORT_VALUES: usize = 128;

/// Quads that a mutation may read on an async worker; each costs more than one that is only read.
const SHORT_READING: u64 = SHORT_WORK / 4;

impl Job {
    /// Carries out a mutation.
    pub(super) async fn mutate(self, ready: Ready) -> Executed {
        if ready.mutation().is_denied() {
            // Nothing stored counts, so nothing is read.
            let errors = ready.mutation().findings.clone();
            return self.refused(&ready, errors);
        }
        let mut job = match self.traced() {
            Err(error) => return Reply::Refused(vec![error]).into(),
            Ok(job) => job,
        };
        if !ready.mutation().dry_run {
            job.repetition = Repetition::of(&job);
        }
        let ready = Arc::new(ready);
        let mut tries = 0;
        loop {
            match job.try_once(&ready).await {
                Err(error @ (StoreError::Conflict | StoreError::Interrupted(_)))
                    if tries < job.shared.options.conflict_retries =>
                {
                    tries += 1;
                    let request_id = &job.call.request_id;
                    tracing::debug!(request_id, tries, %error, "retrying a mutation");
                }
                Err(error) => return job.not_written(&ready, &error),
                Ok(executed) => return executed,
            }
        }
    }

    /// Tries to carry out a mutation: on the worker while it is short, else in a slot.
    async fn try_once(&self, ready: &Arc<Ready>) -> Result<Executed, StoreError> {
        let plan = ready.mutation();
        let is_short = match self.shared.store.local().map(LocalStore::short_work) {
            Some(short) => short.is_some() && plan.is_small(),
            // Nothing counts what is read.
            None => plan.is_small() && !plan.selects(),
        };
        if is_short {
            let meter = Arc::new(Meter::new(SHORT_READING));
            let short = self.again().counted(false).with_meter(&meter);
            match short.in_turn(ready, false).await {
                Err(StoreError::Call(CallError::Metered | CallError::OutOfMemory)) => {}
                done => return done,
            }
        }
        let mut long = self.clone().counted(true);
        long.may_block = true;
        // It runs in a slot as a whole, where waiting for another one could have no end.
        long.call.long_work = None;
        long.in_turn(ready, true).await
    }

    /// Carries out a mutation once its turn has come.
    async fn in_turn(&self, ready: &Arc<Ready>, in_slot: bool) -> Result<Executed, StoreError> {
        let Some(writer) = self.shared.store.writer() else {
            let error = GraphqlError::new(code::STORE_READ_ONLY, "the store cannot be written to");
            return Ok(self.refused(ready, vec![error]));
        };
        self.call.check()?;
        let transaction = writer.begin(&self.call).await?;
        // Whoever carried it out before has committed by now.
        if let Some(record) = self.repetition.record(writer, self).await? {
            transaction.roll_back().await;
            return self.answer_again(ready, &record).await;
        }
        if !in_slot {
            return self.carry_out(ready, transaction).await;
        }
        let (job, own) = (self.clone(), Arc::clone(ready));
        let plan = ready.mutation();
        let weight = if plan.is_small() && !plan.selects() {
            Weight::Medium
        } else {
            Weight::Long
        };
        // Connections and timers of the store are those of this runtime; the threads of slots may be those
        // of another one, which has neither.
        let runtime = Handle::current();
        let work = move |_: Slot| runtime.block_on(job.carry_out(&own, transaction));
        let slots = &self.shared.options.slots;
        match slots.run(weight, self.call.deadline, work).await {
            Ok(done) => done,
            Err(error) => Ok(match self.context.overdue.said() {
                // It broke off after the commit had begun.
                Some(unknown) => self.answered(ready, Answer::failed(unknown)),
                None => refused_slot(error.into()),
            }),
        }
    }

    /// Works out, checks and applies a mutation, and commits it.
    async fn carry_out(
        &self,
        ready: &Ready,
        mut transaction: Box<dyn Transaction>,
    ) -> Result<Executed, StoreError> {
        let plan = ready.mutation();
        let basis = Basis::of(self);
        let attempt = self.attempt(ready, &basis);
        let done = match attempt.run(transaction.as_mut()).await {
            Err(error) => {
                transaction.roll_back().await;
                return Err(error);
            }
            Ok(done) => done,
        };
        match done {
            Done::Refused(errors) => {
                transaction.roll_back().await;
                Ok(self.refused(ready, errors))
            }
            Done::Applied(answer, changes) => {
                let written = self.end(plan, transaction, changes).await?;
                Ok(self.answered(ready, answer.with_written(written)))
            }
            Done::Unread(results, changes) => {
                let written = self.end(plan, transaction, changes).await?;
                let answer = match attempt.answer(results).await {
                    Ok(answer) => answer,
                    Err(error) => self.unread(ready, &error),
                };
                Ok(self.answered(ready, answer.with_written(written)))
            }
        }
    }

    fn attempt<'a>(&'a self, ready: &'a Ready, basis: &'a Basis) -> Attempt<'a> {
        let writer = self.shared.store.writer();
        Attempt {
            setting: Setting {
                api: &self.shared.api,
                facts: self.shared.write_facts(),
                plan: ready.mutation(),
                rights: WriteAccess {
                    api: &self.shared.api,
                    access: basis.rights.as_ref(),
                },
                limits: &self.shared.options.engine_limits,
                regexes: &self.shared.regexes,
                types: &self.shared.types,
                writer: writer.expect("a transaction was begun"),
                graph: &basis.graph,
            },
            store: self.shared.store.as_ref(),
            context: &self.call,
            reading: self.reading_back(ready, &basis.no_plan),
        }
    }

    /// Answers a request that was carried out before.
    async fn answer_again(
        &self,
        ready: &Ready,
        record: &ChangeRecord,
    ) -> Result<Executed, StoreError> {
        if record.said.digest != self.repetition.digest {
            let message = "this idempotency key was already used for a different request";
            let error = GraphqlError::new(code::IDEMPOTENCY_KEY_REUSED, message);
            return Ok(self.answered(ready, Answer::failed(error)));
        }
        self.context.sequences.note([record.sequence]);
        let basis = Basis::of(self);
        let attempt = self.attempt(ready, &basis);
        let answer = attempt
            .answer_again(&record.said.changes)
            .await?
            .with_extension("idempotentReplay", &true);
        Ok(self.answered(ready, answer))
    }

    /// Commits a transaction, unless it is a dry run or has changed nothing; returns what was written.
    async fn end(
        &self,
        plan: &MutationPlan,
        transaction: Box<dyn Transaction>,
        changes: Vec<ChangedObjects>,
    ) -> Result<WriteCounts, StoreError> {
        let is_idle = changes.is_empty() && self.repetition.key.is_none();
        if plan.dry_run || is_idle {
            transaction.roll_back().await;
            return Ok(WriteCounts::default());
        }
        let written = written(&changes);
        let request = Uuid::new_v4().to_string();
        let record = NewRecord {
            request: request.clone(),
            idempotency_key: self.repetition.key.clone(),
            digest: self.repetition.digest.clone(),
            time: SystemTime::now(),
            changes,
        };
        let unknown = |error: GraphqlError| error.with("request", request.as_str());
        // Whoever has been answered by now that it took too long finds nothing written, and whoever is
        // from now on is told that there may be something.
        let overdue = &self.context.overdue;
        let late =
            "it is unknown whether the mutation was written: the store did not respond in time";
        overdue.set(unknown(GraphqlError::new(
            code::WRITE_OUTCOME_UNKNOWN,
            late,
        )));
        if let Err(error) = self.call.check() {
            overdue.clear();
            transaction.roll_back().await;
            return Err(error.into());
        }
        match transaction.commit(record, &self.call).await {
            Ok(record) => {
                self.context.sequences.note([record.sequence]);
                Ok(written)
            }
            Err(error) => {
                match &error {
                    StoreError::OutcomeUnknown(_) => {
                        let request_id = &self.call.request_id;
                        overdue.set(unknown(store_error(&error, request_id)));
                    }
                    _ => overdue.clear(),
                }
                Err(error)
            }
        }
    }

    fn answered(&self, ready: &Ready, mut answer: Answer) -> Executed {
        answer.written.get_or_insert_default();
        self.explained(Reply::Executed(answer), ready)
    }

    fn refused(&self, ready: &Ready, errors: Vec<GraphqlError>) -> Executed {
        self.answered(ready, nothing(ready.mutation(), errors))
    }

    /// Answers a mutation that the store has not written.
    fn not_written(&self, ready: &Ready, error: &StoreError) -> Executed {
        match error {
            StoreError::Call(CallError::OutOfMemory | CallError::Overloaded) => {
                self.failed(error).into()
            }
            _ => {
                let unknown = self.context.overdue.said();
                let other = || store_error(error, &self.call.request_id);
                let error = unknown.unwrap_or_else(other);
                match error.code.status() {
                    200 => self.refused(ready, vec![error]),
                    // Answers with data have the status 200.
                    _ => self.answered(ready, Answer::failed(error)),
                }
            }
        }
    }

    /// Answers a mutation that is written, and whose result cannot be read.
    fn unread(&self, ready: &Ready, error: &StoreError) -> Answer {
        let cause = store_error(error, &self.call.request_id);
        let message = format!(
            "the mutation was written, but its result cannot be read: {}",
            cause.message
        );
        let error = GraphqlError::new(code::READ_BACK_FAILED, message);
        nothing(ready.mutation(), vec![error])
    }
}

/// What an attempt borrows.
struct Basis {
    rights: Option<Permit>,
    graph: GraphName,
    no_plan: Arc<Plan>,
}

impl Basis {
    fn of(job: &Job) -> Self {
        Basis {
            rights: write_access_of(&job.shared.rights, &job.context, job.shared.row_source()),
            graph: match &job.shared.options.mutation_graph {
                Some(graph) => GraphName::NamedNode(graph.clone()),
                None => GraphName::DefaultGraph,
            },
            no_plan: Arc::new(Plan::empty()),
        }
    }
}

/// Counts what was done to objects.
fn written(changes: &[ChangedObjects]) -> WriteCounts {
    let mut written = WriteCounts::default();
    for changed in changes {
        let count = match changed.kind {
            ChangeKind::Created => &mut written.created,
            ChangeKind::Updated => &mut written.updated,
            ChangeKind::Deleted => &mut written.deleted,
        };
        *count += changed.objects.len();
    }
    written
}

impl Ready {
    fn mutation(&self) -> &MutationPlan {
        match &self.plan {
            Planned::Mutation(plan) => plan,
            Planned::Query(_) => unreachable!("queries are executed apart"),
        }
    }
}

impl MutationPlan {
    /// Returns whether it takes less than about a millisecond to work the mutation out, if little is read.
    fn is_small(&self) -> bool {
        let values = |entry: &Entry| -> usize {
            let changes = entry.changes.iter();
            1 + changes
                .map(|change| change.change.values().len())
                .sum::<usize>()
        };
        self.entries.iter().map(values).sum::<usize>() <= SHORT_VALUES
    }
}

impl Shared {
    /// Returns what the schema says about writing.
    fn write_facts(&self) -> &WriteFacts {
        self.write_facts.get_or_init(|| WriteFacts::new(&self.api))
    }
}
