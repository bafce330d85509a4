//! Builds the indexes of a schema for a command, with a progress bar on terminals.

use std::sync::Arc;
use std::time::Duration;

use graph_store::{CallContext, GraphStore};
use indicatif::{ProgressBar, ProgressStyle};
use rdf_load::thousands;
use search_index::engine::Engine;
use search_index::indexer::{
    Indexer, IndexerOptions, Progress, Reconciliation, Report, Stage, Standing,
};
use search_index::mapping::Indexes;
use search_index::sdl::SearchApi;
use soml_core::Valid;
use soml_core::schema::Schema;
use tokio::sync::Mutex;

use super::{CliError, Console};
use crate::config::Settings;

/// How often the progress bar gets new numbers.
const TICK: Duration = Duration::from_millis(200);

/// The indexes of a schema, and the API of their searches.
pub(super) struct Searchable {
    soml: Arc<Valid<Schema>>,
    pub(super) indexes: Arc<Indexes>,
    pub(super) api: SearchApi,
}

impl Searchable {
    /// Defines the indexes for an engine; what stands against that goes to the console.
    pub(super) async fn new(
        soml: Arc<Valid<Schema>>,
        engine: &Engine,
        settings: &Settings,
        console: &mut Console<'_>,
    ) -> Result<Self, CliError> {
        let context = CallContext::new().with_timeout(settings.request_timeout);
        let info = engine.info(&context).await?;
        let options = settings.search_options().mapping(info.analyzers);
        let unusable =
            |error: search_index::mapping::MappingError| CliError::Input(error.to_string());
        let indexes = Indexes::new(&soml, &options).map_err(unusable)?;
        for finding in &indexes.findings {
            writeln!(console.err, "{finding}")?;
        }
        let api = SearchApi::new(Arc::clone(&soml), indexes.clone()).map_err(unusable)?;
        Ok(Searchable {
            soml,
            indexes: Arc::new(indexes),
            api,
        })
    }

    /// Returns what writes the indexes.
    pub(super) fn indexer(
        &self,
        store: Arc<dyn GraphStore>,
        engine: Engine,
        options: IndexerOptions,
    ) -> Indexer {
        let (soml, indexes) = (Arc::clone(&self.soml), Arc::clone(&self.indexes));
        Indexer::new(soml, indexes, store, engine, options)
    }
}

/// Builds the indexes that have changed, and applies to the others what has changed in the data.
pub(super) async fn build(
    indexer: &Indexer,
    console: &mut Console<'_>,
) -> Result<Report, CliError> {
    let (progress, context) = (indexer.progress(), CallContext::new());
    let bar = console.interactive.then(bar);
    let mut run = std::pin::pin!(indexer.run(&context));
    let mut tick = tokio::time::interval(TICK);
    let report = loop {
        tokio::select! {
            ended = &mut run => break ended,
            _ = tick.tick() => show(bar.as_ref(), &progress),
        }
    };
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let report = report?;
    follow(indexer, &report, &context).await?;
    Ok(report)
}

/// Compares indexes with the data, and repairs what differs; returns how many documents that were.
pub(super) async fn reconcile(indexer: &Indexer, report: &Report) -> Result<u64, CliError> {
    let (turn, progress, context) = (
        Mutex::new(()),
        Reconciliation::default(),
        CallContext::new(),
    );
    for object in &report.objects {
        let (name, index) = (object.object.as_str(), &object.index);
        let reconciled = indexer.reconcile(name, index, &turn, &progress, &context);
        let lacks = reconciled.await?;
        indexer.note_lacks(index, &lacks, &context).await?;
    }
    Ok(progress.repaired())
}

async fn follow(indexer: &Indexer, report: &Report, context: &CallContext) -> Result<(), CliError> {
    let objects = report.objects.iter();
    let indexes = objects.map(|object| (object.object.as_str(), &object.index));
    let Some(mut following) = indexer.following(indexes, context).await? else {
        return Ok(());
    };
    while indexer.follow(&mut following, context).await? == Standing::Behind {}
    indexer.note(&mut following, true, context).await?;
    Ok(())
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} documents {elapsed} {msg}")
        .expect("the template is well-formed");
    ProgressBar::new(0).with_style(style)
}

fn show(bar: Option<&ProgressBar>, progress: &Progress) {
    let Some(bar) = bar else {
        return;
    };
    let (mut total, mut done) = (0, 0);
    for object in progress.objects() {
        total += object.total();
        let is_checking = object.stage() == Stage::Checking;
        done += if is_checking {
            object.read()
        } else {
            object.written()
        };
        if matches!(
            object.stage(),
            Stage::Checking | Stage::Filling | Stage::Verifying
        ) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a rate for people"
            )]
            let rate = thousands(object.rate() as u64);
            bar.set_message(format!("{} {rate}/s", object.object()));
        }
    }
    bar.set_length(total);
    bar.set_position(done);
}
