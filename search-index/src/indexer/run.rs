//! A run from its plan to the moved aliases.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex};

use graph_store::query::ObjectRef;
use graph_store::{CallContext, GraphStore};
use soml_core::Valid;
use soml_core::schema::Schema;

use super::check::Checker;
use super::data::StoreData;
use super::error::IndexerError;
use super::fill::{Fill, Flow, wait};
use super::follow::Followed;
use super::options::IndexerOptions;
use super::pages::Pages;
use super::plan::{Ages, Plan, Step};
use super::progress::{ObjectProgress, Progress, Setback, Stage};
use super::report::{ObjectReport, Outcome, Report};
use super::tries::{Building, Clock, Tries};
use super::verify::Expected;
use super::write::{Misfits, Writer};
use crate::engine::{Age, Binding, Built, DataPosition, Engine, EngineError, PhysicalName, Switch};
use crate::mapping::{IndexDefinition, IndexNumber, Indexes};

/// Objects without a document that are listed.
pub(super) const REFUSALS: usize = 100;

/// Numbers of others that are passed over for a new index.
const NUMBERS: u64 = 16;

/// Builds the indexes of a schema.
pub struct Indexer {
    schema: Arc<Valid<Schema>>,
    pub(super) indexes: Arc<Indexes>,
    store: Arc<dyn GraphStore>,
    pub(super) engine: Engine,
    pub(super) options: IndexerOptions,
    pub(super) progress: Arc<Progress>,
}

/// What a run has created so far.
#[derive(Default)]
struct Created {
    /// The data as they were before anything was read; `None` if their store does not say.
    data: Option<DataPosition>,
    names: Vec<PhysicalName>,
    /// Those that are complete.
    complete: Vec<Followed>,
    /// Those that are no use, for want of a part or of an answer.
    abandoned: Vec<PhysicalName>,
    reports: Vec<ObjectReport>,
    switches: Vec<Switch>,
}

impl Created {
    /// Returns the sequence of the last change that documents have which are read now.
    fn version(&self) -> u64 {
        self.data.as_ref().map_or(0, |data| data.sequence)
    }
}

/// Where the aliases lead after they were to move.
enum Switched {
    Yes,
    No(EngineError),
    Unknown(EngineError),
}

impl Indexer {
    /// Creates an indexer; the indexes are those of the schema.
    #[must_use]
    pub fn new(
        schema: Arc<Valid<Schema>>,
        indexes: Arc<Indexes>,
        store: Arc<dyn GraphStore>,
        engine: Engine,
        mut options: IndexerOptions,
    ) -> Self {
        options.bulk_bytes = options.bulk_bytes.min(engine.largest_bulk());
        let progress = Progress::new(indexes.indexes.iter().map(|index| index.name.as_str()));
        Indexer {
            schema,
            indexes,
            store,
            engine,
            options,
            progress: Arc::new(progress),
        }
    }

    /// Returns how far a run is, to be looked at while it runs.
    #[must_use]
    pub fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// Sets the [lease](IndexerOptions::lease) of the runs that begin from now on.
    pub fn set_lease(&mut self, number: u64) {
        self.options.lease = number;
    }

    /// [Checks](Indexer::check) what is not built yet, and [builds](Indexer::build) it.
    ///
    /// # Errors
    /// As the two.
    pub async fn run(&self, context: &CallContext) -> Result<Report, IndexerError> {
        self.check(context).await?;
        self.build(context).await
    }

    /// Reads all values of what is not built yet where malformed ones must not be. Nothing is written.
    ///
    /// # Errors
    /// When a value is malformed, and as [`Indexer::build`].
    pub async fn check(&self, context: &CallContext) -> Result<(), IndexerError> {
        if self.options.ignore_malformed {
            return Ok(());
        }
        // What is read on other threads ends when this future is dropped.
        let token = context.cancellation.child_token();
        let _ends = token.clone().drop_guard();
        let context = context.clone().with_cancellation(token);
        let definitions = self.definitions()?;
        let (plan, _) = self.plan(&definitions, &context).await?;
        self.check_values(&definitions, &plan, &context).await
    }

    /// Builds what is not built yet, and moves the aliases when all is complete. Runs in a Tokio runtime.
    ///
    /// A run ends soon after the context is cancelled; what it has built by then is deleted.
    ///
    /// # Errors
    /// When the store or the engine fails for longer than is tried again, a value is malformed and must
    /// not be, or an index is someone else's, or was built under a later lease. The aliases lead where they did before.
    pub async fn build(&self, context: &CallContext) -> Result<Report, IndexerError> {
        // What is read on other threads ends when this future is dropped.
        let token = context.cancellation.child_token();
        let _ends = token.clone().drop_guard();
        let context = context.clone().with_cancellation(token);
        let definitions = self.definitions()?;
        for definition in &definitions {
            self.progress.of(&definition.name).enter(Stage::Waiting);
        }
        let (plan, data) = self.plan(&definitions, &context).await?;
        self.delete_unused(&plan.unfinished, &context).await?;
        let mut replacements = 0;
        let mut created = loop {
            let mut created = Created {
                data: match replacements {
                    0 => data.clone(),
                    _ => self.position(&context).await?,
                },
                ..Created::default()
            };
            let built = self
                .build_all(&definitions, &plan, &mut created, &context)
                .await;
            let Err(error) = built else { break created };
            self.clean_up(&created.names).await;
            // Those that stay are judged again by who follows them.
            let is_replaced = matches!(error, IndexerError::DataReplaced);
            if !is_replaced || replacements >= self.options.max_rebuilds {
                return Err(error);
            }
            replacements += 1;
            tracing::warn!("the data were replaced; their indexes are built again");
        };
        created.switches.extend(plan.moved);
        match self.switch(&created, &context).await {
            Switched::Yes => {}
            Switched::No(error) => {
                self.clean_up(&created.names).await;
                return Err(error.into());
            }
            // One of them may be the one that searches find; the next run will know.
            Switched::Unknown(error) => return Err(error.into()),
        }
        self.clean_up(&created.abandoned).await;
        for report in &created.reports {
            self.progress.of(&report.object).enter(Stage::Done);
        }
        Ok(Report {
            objects: created.reports,
            superseded: plan.superseded,
        })
    }

    /// Waits for the [delay](IndexerOptions::drop_delay), and deletes the indexes that a run found to be
    /// superseded and no alias leads to since.
    ///
    /// # Errors
    /// When the engine fails, or the context is cancelled; a later run finds them again.
    pub async fn remove_superseded(
        &self,
        report: &Report,
        context: &CallContext,
    ) -> Result<(), IndexerError> {
        if report.superseded.is_empty() {
            return Ok(());
        }
        wait(self.options.drop_delay, context).await?;
        self.delete_unused(&report.superseded, context).await
    }

    /// Deletes those of some indexes that no alias leads to by now.
    async fn delete_unused(
        &self,
        names: &[PhysicalName],
        context: &CallContext,
    ) -> Result<(), IndexerError> {
        if names.is_empty() {
            return Ok(());
        }
        let indexes = self.patiently(context, || self.engine.indexes(context));
        for index in indexes.await? {
            if index.aliases.is_empty() && names.contains(&index.name) {
                tracing::info!(index = %index.name, "an index is deleted that is not used");
                self.patiently(context, || self.engine.delete(&index.name, context))
                    .await?;
            }
        }
        Ok(())
    }

    /// Works out what to do, for the data as they are at least.
    async fn plan(
        &self,
        definitions: &[&IndexDefinition],
        context: &CallContext,
    ) -> Result<(Plan, Option<DataPosition>), IndexerError> {
        let indexes = self.patiently(context, || self.engine.indexes(context));
        let indexes = indexes.await?;
        let data = self.position(context).await?;
        let mut ages = Ages {
            indexes: HashMap::new(),
            are_changed_by_others: self.data().are_changed_by_others(),
        };
        let mut known: HashMap<Option<&DataPosition>, Age> = HashMap::new();
        for state in &indexes {
            let Some(mark) = &state.mark else { continue };
            let age = match known.get(&mark.data()) {
                Some(age) => *age,
                None => {
                    let age = self
                        .patiently(context, || async {
                            self.data().age(mark.data(), context).await
                        })
                        .await?;
                    known.insert(mark.data(), age);
                    age
                }
            };
            ages.indexes.insert(state.name.clone(), age);
        }
        let plan = Plan::new(definitions, &indexes, &self.options, &ages)?;
        Ok((plan, data))
    }

    pub(super) fn data(&self) -> StoreData {
        StoreData::of(&self.store)
    }

    /// Returns the position of the data: all that is read from now on is at least as new.
    async fn position(&self, context: &CallContext) -> Result<Option<DataPosition>, IndexerError> {
        self.patiently(context, || async { self.data().position(context).await })
            .await
    }

    /// Returns the definitions that are to be indexed.
    fn definitions(&self) -> Result<Vec<&IndexDefinition>, IndexerError> {
        match &self.options.only {
            None => Ok(self.indexes.indexes.iter().collect()),
            Some(names) => names.iter().map(|name| self.definition(name)).collect(),
        }
    }

    /// Returns the definition of the index of an object.
    pub(super) fn definition(&self, object: &str) -> Result<&IndexDefinition, IndexerError> {
        let found = self.indexes.named(object);
        found.ok_or_else(|| IndexerError::UnknownObject(object.to_owned()))
    }

    pub(super) fn pages(&self, definition: &IndexDefinition) -> Pages {
        let mut indexes = self.indexes.indexes.iter();
        let at = indexes.position(|index| index.name == definition.name);
        Pages {
            schema: Arc::clone(&self.schema),
            indexes: Arc::clone(&self.indexes),
            at: at.expect("the definition is one of the indexes"),
            store: Arc::clone(&self.store),
            silence: self.options.silence,
            probe_timeout: self.options.probe_timeout,
        }
    }

    pub(super) fn clock<'c>(&'c self, context: &'c CallContext) -> Clock<'c> {
        Clock {
            options: &self.options,
            progress: &self.progress,
            context,
        }
    }

    /// Reads all documents that are to be built, and fails if one has a malformed value.
    async fn check_values(
        &self,
        definitions: &[&IndexDefinition],
        plan: &Plan,
        context: &CallContext,
    ) -> Result<(), IndexerError> {
        let checker = Checker::new(self.options.max_findings);
        for (definition, step) in definitions.iter().zip(&plan.steps) {
            if matches!(step, Step::Build { .. }) {
                let pages = self.pages(definition);
                let objects = self.objects(&pages, context).await?;
                let progress = self.progress.of(&definition.name);
                progress.begin(Stage::Checking, objects.len() as u64);
                let fill = self.fill(&pages, progress, context);
                fill.run(&objects, &checker).await?;
            }
        }
        checker.result()
    }

    async fn build_all(
        &self,
        definitions: &[&IndexDefinition],
        plan: &Plan,
        created: &mut Created,
        context: &CallContext,
    ) -> Result<(), IndexerError> {
        for (definition, step) in definitions.iter().zip(&plan.steps) {
            let (index, outcome, may_be_older) = match step {
                Step::Keep { name, may_be_older } => {
                    (name.clone(), Outcome::Unchanged, *may_be_older)
                }
                Step::Build {
                    number,
                    replaces_index,
                } => {
                    let (name, outcome) = self
                        .build_until_kept(definition, *number, created, context)
                        .await?;
                    created.switches.push(Switch {
                        alias: definition.alias(),
                        to: Some(name.clone()),
                        replaces_index: *replaces_index,
                        lease: self.options.lease,
                    });
                    (name, outcome, false)
                }
            };
            created.reports.push(ObjectReport {
                object: definition.name.clone(),
                index,
                outcome,
                may_be_older,
            });
        }
        self.complete(created, context).await
    }

    /// Applies to all indexes that were built what has changed meanwhile, and notes that they are complete.
    async fn complete(
        &self,
        created: &mut Created,
        context: &CallContext,
    ) -> Result<(), IndexerError> {
        self.catch_up(&mut created.complete, context).await?;
        for index in &created.complete {
            let building = Some(index.building(&*self.engine));
            let noted = || self.engine.note_built(&index.index, &index.built, context);
            self.persist(building, context, noted).await?;
            let report = created.reports.iter_mut();
            let report = report.filter(|report| report.object == index.object);
            for report in report {
                report.outcome.set(&index.built);
            }
        }
        Ok(())
    }

    /// Builds an index, and again under another number when the engine lost a part of it.
    async fn build_until_kept(
        &self,
        definition: &IndexDefinition,
        mut number: IndexNumber,
        created: &mut Created,
        context: &CallContext,
    ) -> Result<(PhysicalName, Outcome), IndexerError> {
        let mut losses = 0;
        loop {
            let name = self
                .create(definition, &mut number, created, context)
                .await?;
            match self.build_one(definition, &name, created, context).await {
                Ok(outcome) => return Ok((name, outcome)),
                Err(error @ IndexerError::Shards { is_lost: true, .. })
                    if losses < self.options.max_rebuilds =>
                {
                    tracing::warn!(%error, "rebuilding an index");
                    wait(self.options.delay(losses), context).await?;
                    created.abandoned.push(name);
                    losses += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Creates an empty index under the first number that is free, and sets the number to the next.
    async fn create(
        &self,
        definition: &IndexDefinition,
        number: &mut IndexNumber,
        created: &mut Created,
        context: &CallContext,
    ) -> Result<PhysicalName, IndexerError> {
        let mut tries = Tries::new(self.clock(context));
        let mut taken = 0;
        while taken < NUMBERS {
            let name = PhysicalName::new(definition, *number);
            *number = number.next();
            let binding = Binding {
                definition,
                name: &name,
            };
            // It may be there even if no answer says so.
            created.names.push(name.clone());
            match self
                .engine
                .create(binding, &self.options.owner, context)
                .await
            {
                Ok(()) => return Ok(name),
                Err(EngineError::NotOurs { .. }) => {
                    created.names.pop();
                    taken += 1;
                }
                // It may come to be, and may be that of another instance: not this one is filled.
                Err(error) if error.is_transient() && !tries.are_over() => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        index = %name,
                        "creating an index under a different number"
                    );
                    created.abandoned.push(name);
                    tries.pause(Setback::of(&error.into())).await?;
                    // While the engine is away no further number is used up.
                    self.patiently(context, || self.engine.indexes(context))
                        .await?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(IndexerError::NoNumber(definition.name.clone()))
    }

    /// Fills an index, and checks that everything is there.
    async fn build_one(
        &self,
        definition: &IndexDefinition,
        name: &PhysicalName,
        created: &mut Created,
        context: &CallContext,
    ) -> Result<Outcome, IndexerError> {
        let progress = self.progress.of(&definition.name);
        let pages = self.pages(definition);
        let objects = self.objects(&pages, context).await?;
        progress.begin(Stage::Filling, objects.len() as u64);
        let binding = Binding { definition, name };
        let writer = self.writer(binding, created.version(), Misfits::Fail, context);
        self.fill(&pages, progress, context)
            .run(&objects, &writer)
            .await?;
        progress.enter(Stage::Verifying);
        let building = Building {
            engine: &*self.engine,
            object: &definition.name,
            name,
        };
        self.persist(Some(building), context, || {
            self.engine.refresh(name, context)
        })
        .await?;
        let left_out = writer.into_left_out();
        let expected = Expected {
            object: &definition.name,
            objects: &objects,
            left_out: &left_out,
        };
        self.persist(Some(building), context, || {
            expected.verify(&*self.engine, name, context)
        })
        .await?;
        let built = Built {
            documents: (objects.len() - left_out.len()) as u64,
            malformed: progress.malformed(),
            rejected: left_out.len() as u64,
            refusals: left_out.into_values().take(REFUSALS).collect(),
            data: created.data.clone(),
        };
        let outcome = Outcome::Built {
            documents: built.documents,
            malformed: built.malformed,
            rejected: built.rejected,
            time: progress.time(),
        };
        created
            .complete
            .retain(|index| index.object != definition.name);
        created.complete.push(Followed {
            object: definition.name.clone(),
            index: name.clone(),
            built,
            noted: None,
        });
        progress.enter(Stage::Complete);
        Ok(outcome)
    }

    /// Returns what writes documents to an index.
    pub(super) fn writer<'w>(
        &'w self,
        binding: Binding<'w>,
        version: u64,
        misfits: Misfits,
        context: &'w CallContext,
    ) -> Writer<'w> {
        Writer {
            engine: &*self.engine,
            binding,
            options: &self.options,
            progress: self.progress.of(&binding.definition.name),
            clock: self.clock(context),
            version,
            misfits,
            left_out: Mutex::default(),
        }
    }

    async fn objects(
        &self,
        pages: &Pages,
        context: &CallContext,
    ) -> Result<Vec<ObjectRef>, IndexerError> {
        self.patiently(context, || pages.ids(context)).await
    }

    fn fill<'f>(
        &'f self,
        pages: &'f Pages,
        progress: &'f ObjectProgress,
        context: &'f CallContext,
    ) -> Fill<'f> {
        Fill {
            pages,
            options: &self.options,
            progress,
            clock: self.clock(context),
            flow: Flow::default(),
        }
    }

    /// Moves the aliases, again while the engine cannot be reached, and finds out whether they have moved where
    /// no answer says so.
    async fn switch(&self, created: &Created, context: &CallContext) -> Switched {
        if created.switches.is_empty() {
            return Switched::Yes;
        }
        let mut tries = Tries::new(self.clock(context));
        loop {
            let Err(mut error) = self.engine.switch(&created.switches, context).await else {
                return Switched::Yes;
            };
            let is_moved = self.is_moved(created).await;
            if is_moved == Some(true) {
                return Switched::Yes;
            }
            if error.is_transient() && !tries.are_over() {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "the aliases are moved again"
                );
                let reason = IndexerError::from(error);
                match tries.pause(Setback::of(&reason)).await {
                    Ok(()) => continue,
                    Err(ended) => error = ended.into(),
                }
            }
            return match is_moved {
                Some(_) => Switched::No(error),
                None => Switched::Unknown(error),
            };
        }
    }

    /// Finds out whether aliases lead to what was created; `None` where the engine does not say.
    async fn is_moved(&self, created: &Created) -> Option<bool> {
        let context = self.cleanup_context();
        let indexes = self.engine.indexes(&context).await.ok()?;
        let mut indexes = indexes.iter();
        Some(indexes.any(|index| created.names.contains(&index.name) && !index.aliases.is_empty()))
    }

    /// Deletes what a run has created that did not end well. What cannot be deleted is found by the next.
    async fn clean_up(&self, names: &[PhysicalName]) {
        let context = self.cleanup_context();
        for name in names {
            if let Err(error) = self.engine.delete(name, &context).await {
                tracing::warn!(index = %name, %error, "an unfinished index is left");
            }
        }
    }

    fn cleanup_context(&self) -> CallContext {
        CallContext::new().with_timeout(self.options.cleanup_timeout)
    }

    /// Asks the store or the engine, again while it cannot be reached.
    pub(super) async fn patiently<T, E, F>(
        &self,
        context: &CallContext,
        ask: impl Fn() -> F,
    ) -> Result<T, IndexerError>
    where
        E: Into<IndexerError>,
        F: Future<Output = Result<T, E>>,
    {
        self.persist(None, context, ask).await
    }

    /// Asks the store or the engine, again while it cannot be reached, unless it lost a part of an index
    /// that is being built.
    async fn persist<T, E, F>(
        &self,
        building: Option<Building<'_>>,
        context: &CallContext,
        ask: impl Fn() -> F,
    ) -> Result<T, IndexerError>
    where
        E: Into<IndexerError>,
        F: Future<Output = Result<T, E>>,
    {
        let mut tries = Tries::new(self.clock(context));
        loop {
            let error = match ask().await {
                Ok(result) => return Ok(result),
                Err(error) => error.into(),
            };
            let is_last = !error.is_transient() || tries.are_over();
            if let Some(building) = building.filter(|_| error.may_be_of_shards()) {
                building.check(is_last, context).await?;
            }
            if is_last {
                return Err(error);
            }
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "retrying a request of the indexer"
            );
            tries.pause(Setback::of(&error)).await?;
        }
    }
}
