//! The engine.

use std::collections::VecDeque;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread::available_parallelism;

use async_trait::async_trait;
use call_context::Weight;
use call_context::{CallContext, CallError, Meter};
use graph_store::private_files;

use super::catalog::{self, Catalog, folder};
use super::error::{failed, problem};
use super::index::OpenIndex;
use super::layout::Layout;
use super::search::{self, Watch};
use super::snapshot::Snapshot;
use super::workers::Workers;
use crate::analysis::Analyzer;
use crate::dsl::{Aggregation, EXPANSIONS, Query, Search};
use crate::engine::{
    Answer, Binding, Built, BulkOperation, DataPosition, EngineError, EngineHealth, EngineInfo,
    HealthLevel, IndexHealth, IndexState, Mark, PhysicalName, Rejected, SearchEngine, Switch,
};
use crate::mapping::Owner;

/// Searches that may wait for a thread, and writes.
const MAX_WAITING: usize = 1_000;

/// Indexes that have a writer at once.
const MAX_WRITERS: usize = 4;

/// Bytes of documents that are written at once. There is no way to the engine that more of them would shorten.
const LARGEST_BULK: usize = 256 << 10;

/// What a search costs beside its documents, for each of its clauses, in documents.
const CLAUSE_COST: u64 = 64;

/// Documents that are looked at in less than a millisecond.
const SHORT: u64 = 2_048;

/// Steps that a search takes where it was asked for, at most: less than a millisecond.
const SHORT_STEPS: u64 = 8 << 10;

/// Steps that a search takes among short ones, at most: about 10 milliseconds.
const MEDIUM_STEPS: u64 = 128 << 10;

/// Terms that the clauses of a search stand for in all segments, beyond which it is long.
const LONG_TERMS: u64 = 4_096;

/// The embedded search engine.
///
/// ```
/// use search_index::embedded::EmbeddedEngine;
/// use search_index::engine::SearchEngine;
/// use search_index::graph_store::CallContext;
///
/// # futures::executor::block_on(async {
/// let engine = EmbeddedEngine::in_memory()?;
/// let info = engine.info(&CallContext::new()).await?;
/// assert!(info.analyzers.contains("english"));
/// # Ok::<(), search_index::engine::EngineError>(())
/// # }).expect("the engine works");
/// ```
#[derive(Debug)]
pub struct EmbeddedEngine {
    indexes: Arc<Shared>,
    /// Runs searches that no one else runs, as long as they are short.
    searching: Workers,
    /// Runs those that are long.
    searching_long: Workers,
    /// Runs all that changes anything, one after the other.
    writing: Workers,
    /// Looks whether files are there.
    looking: Workers,
}

/// The indexes, as the threads of the engine share them.
struct Shared {
    place: Option<Place>,
    catalog: RwLock<Catalog>,
    /// The indexes that have a writer, the one that was used last at the end.
    writers: Mutex<VecDeque<Arc<OpenIndex>>>,
}

/// A folder of this engine alone.
struct Place {
    path: PathBuf,
    /// Locked while it is open.
    _lock: File,
    _folder: Option<File>,
}

impl EmbeddedEngine {
    /// Creates an engine that keeps everything in memory.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn in_memory() -> Result<Self, EngineError> {
        EmbeddedEngine::new(None, Catalog::default())
    }

    /// Opens an engine whose indexes are in a folder, which is created if it is not there.
    ///
    /// An index that cannot be read is reported by [`SearchEngine::health`], and fails when it is used.
    ///
    /// # Errors
    /// When the folder cannot be read or written, or another engine has it open.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, EngineError> {
        let place = Place::lock(path.as_ref())?;
        let catalog = Catalog::open(&place.path)?;
        EmbeddedEngine::new(Some(place), catalog)
    }

    fn new(place: Option<Place>, catalog: Catalog) -> Result<Self, EngineError> {
        let threads = available_parallelism().map_or(1, usize::from);
        Ok(EmbeddedEngine {
            indexes: Arc::new(Shared {
                place,
                catalog: RwLock::new(catalog),
                writers: Mutex::default(),
            }),
            searching: Workers::new("search", threads, MAX_WAITING)?,
            searching_long: Workers::new("search-long", threads.div_ceil(2), MAX_WAITING)?,
            writing: Workers::new("search-write", 1, MAX_WAITING)?,
            looking: Workers::new("search-look", 1, MAX_WAITING)?,
        })
    }

    /// Runs what changes indexes.
    async fn write<T: Send + 'static>(
        &self,
        context: &CallContext,
        work: impl FnOnce(&Shared) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let (indexes, context) = (Arc::clone(&self.indexes), context.clone());
        let work = move || {
            context.check()?;
            work(&indexes)
        };
        self.writing.run(work).await?
    }

    /// Runs work among what is short unless it is known to be long. Work that takes too many steps there ends,
    /// and begins again among what is long, so that it never holds up short work. `held` is the memory that the
    /// context counts for it already.
    async fn read<T: Send + 'static>(
        &self,
        is_long: bool,
        mut held: usize,
        context: &CallContext,
        work: impl Fn(&Watch) -> Result<T, EngineError> + Send + Sync + 'static,
    ) -> Result<T, EngineError> {
        let work = Arc::new(work);
        if !is_long {
            let short = self.on_thread(Some(MEDIUM_STEPS), context, held, Arc::clone(&work));
            match short.await? {
                Attempt::Done(done) => return done,
                Attempt::TooLong { held: so_far } => held = so_far,
            }
        }
        match self.on_thread(None, context, held, work).await? {
            Attempt::Done(done) => done,
            Attempt::TooLong { .. } => Err(CallError::Cancelled.into()),
        }
    }

    /// Runs work on a thread for short work if it may take so many steps, and else on one for long work.
    async fn on_thread<T: Send + 'static>(
        &self,
        steps: Option<u64>,
        context: &CallContext,
        held: usize,
        work: Arc<impl Fn(&Watch) -> Result<T, EngineError> + Send + Sync + 'static>,
    ) -> Result<Attempt<T>, CallError> {
        let own = context.clone();
        let run = move || Attempt::new(steps, own, held, &*work);
        match (&context.long_work, steps) {
            (Some(_), Some(_)) => context.run_weighed(Weight::Medium, run).await,
            (Some(_), None) => context.run_weighed(Weight::Long, run).await,
            (None, Some(_)) => self.searching.run(run).await,
            (None, None) => self.searching_long.run(run).await,
        }
    }
}

/// What became of work that may take a number of steps.
enum Attempt<T> {
    Done(Result<T, EngineError>),
    /// It took more; so much memory is counted in its name.
    TooLong {
        held: usize,
    },
}

impl<T> Attempt<T> {
    /// Runs work.
    fn new(
        steps: Option<u64>,
        context: CallContext,
        held: usize,
        work: impl Fn(&Watch) -> Result<T, EngineError>,
    ) -> Self {
        let context = match steps {
            Some(steps) => context.with_meter(Arc::new(Meter::new(steps))),
            None => context,
        };
        let watch = Watch::new(context, held);
        match work(&watch) {
            Err(EngineError::Call(CallError::Metered)) if steps.is_some() => {
                Attempt::TooLong { held: watch.held() }
            }
            done => Attempt::Done(done),
        }
    }
}

impl Place {
    fn lock(path: &Path) -> Result<Self, EngineError> {
        private_files::create_folder(path).map_err(failed)?;
        let lock = private_files::create(&path.join("lock")).map_err(failed)?;
        match lock.try_lock().and_then(|()| locked_folder(path)) {
            Ok(folder) => {
                narrow(path);
                Ok(Place {
                    path: path.to_owned(),
                    _lock: lock,
                    _folder: folder,
                })
            }
            Err(TryLockError::WouldBlock) => Err(problem(format!(
                "the folder {} is in use by another engine",
                path.display()
            ))),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

/// Takes a folder that has indexes from everyone but its owner: earlier versions made it for all to read.
fn narrow(path: &Path) {
    if !path.join(catalog::FILE).is_file() {
        return;
    }
    if let Err(error) = private_files::narrow(path) {
        tracing::warn!(%error, folder = %path.display(), "others may read the indexes");
    }
}

/// Locks a folder itself where the system does that, since someone may remove the file `lock`.
fn locked_folder(path: &Path) -> Result<Option<File>, TryLockError> {
    let Ok(folder) = File::open(path) else {
        return Ok(None);
    };
    match folder.try_lock() {
        Ok(()) => Ok(Some(folder)),
        Err(TryLockError::Error(_)) => Ok(None),
        Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = self.place.as_ref().map(|place| &place.path);
        f.debug_struct("Shared")
            .field("place", &place)
            .finish_non_exhaustive()
    }
}

impl Shared {
    fn catalog(&self) -> RwLockReadGuard<'_, Catalog> {
        self.catalog.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn catalog_mut(&self) -> RwLockWriteGuard<'_, Catalog> {
        self.catalog.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the catalog to disk, where there is one.
    fn keep(&self, catalog: &Catalog) -> Result<(), EngineError> {
        match &self.place {
            Some(place) => catalog.write(&place.path),
            None => Ok(()),
        }
    }

    fn create(&self, name: &str, mark: Mark, layout: Layout) -> Result<(), EngineError> {
        let number = {
            let mut catalog = self.catalog_mut();
            if catalog.contains(name) || catalog.has_alias(name) {
                return Err(EngineError::NotOurs {
                    name: name.to_owned(),
                });
            }
            catalog.take_folder()
        };
        let folder = self.place.as_ref().map(|place| folder(&place.path, number));
        if let Some(folder) = &folder {
            private_files::create_folder(folder).map_err(failed)?;
        }
        let index = OpenIndex::create(folder.as_deref(), mark, layout)?;
        let mut catalog = self.catalog_mut();
        catalog.insert(name, number, index);
        self.keep(&catalog).inspect_err(|_| {
            catalog.remove(name);
        })
    }

    fn note_built(&self, name: &str, built: Built) -> Result<(), EngineError> {
        let mut catalog = self.catalog_mut();
        let before = catalog.set_built(name, Some(built))?;
        self.keep(&catalog).inspect_err(|_| {
            // It was there, and no one else has the catalog.
            let _ = catalog.set_built(name, before);
        })
    }

    /// Looks whether indexes are all there, on disk where they are kept there.
    fn health(
        &self,
        of: &[PhysicalName],
        context: &CallContext,
    ) -> Result<EngineHealth, EngineError> {
        let mut found = Vec::new();
        for name in of {
            context.check()?;
            let opened = {
                let catalog = self.catalog();
                if catalog.contains(name.as_str()) {
                    catalog.get(name.as_str())
                } else {
                    continue;
                }
            };
            let bad = |message: &str| IndexHealth::new(HealthLevel::Bad, message);
            let health = match opened {
                Err(_) => bad("its files cannot be read"),
                Ok(index) if index.are_files_there() => IndexHealth::good(),
                Ok(_) => bad("its files are gone; it is searched until the service ends"),
            };
            found.push((name.clone(), health));
        }
        Ok(EngineHealth::new(1, found))
    }

    fn delete(&self, name: &str) -> Result<(), EngineError> {
        let index = self.catalog().get(name).ok();
        let number = {
            let mut catalog = self.catalog_mut();
            let number = catalog.remove(name);
            self.keep(&catalog)?;
            number
        };
        if let Some(index) = index {
            self.forget(&index);
        }
        number.map_or(Ok(()), |number| self.remove_folder(number))
    }

    /// Ends the writer of an index that is gone.
    fn forget(&self, index: &Arc<OpenIndex>) {
        let mut writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        writers.retain(|open| !Arc::ptr_eq(open, index));
        index.end();
    }

    fn remove_folder(&self, number: u64) -> Result<(), EngineError> {
        match &self.place {
            Some(place) => fs::remove_dir_all(folder(&place.path, number)).map_err(failed),
            None => Ok(()),
        }
    }

    fn switch(&self, switches: &[Switch]) -> Result<(), EngineError> {
        let replaced: Vec<_> = {
            let catalog = self.catalog();
            let replaced = switches.iter().filter(|switch| switch.replaces_index);
            replaced
                .filter_map(|switch| catalog.get(&switch.alias).ok())
                .collect()
        };
        let gone = {
            let mut catalog = self.catalog_mut();
            let (new, gone) = catalog.switched(switches)?;
            self.keep(&new)?;
            *catalog = new;
            gone
        };
        replaced.iter().for_each(|index| self.forget(index));
        gone.into_iter()
            .try_for_each(|number| self.remove_folder(number))
    }

    fn bulk(
        &self,
        index: &Arc<OpenIndex>,
        layout: &Layout,
        writes: &[BulkOperation],
        context: &CallContext,
    ) -> Result<Vec<Rejected>, EngineError> {
        self.make_room(index)?;
        let mut rejected = Vec::new();
        for (position, write) in writes.iter().enumerate() {
            context.check()?;
            rejected.extend(index.write(layout, position, write)?);
        }
        Ok(rejected)
    }

    /// Makes an index the one that was written last, and ends the writer of the one that was not written
    /// for longest, if there are too many.
    fn make_room(&self, index: &Arc<OpenIndex>) -> Result<(), EngineError> {
        let mut writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        writers.retain(|open| !Arc::ptr_eq(open, index));
        if writers.len() >= MAX_WRITERS
            && let Some(oldest) = writers.pop_front()
        {
            oldest.rest()?;
        }
        writers.push_back(Arc::clone(index));
        Ok(())
    }
}

/// Returns about how many documents a search looks at.
fn cost(snapshot: &Snapshot, search: &Search) -> u64 {
    let mut clauses = 1;
    let queries = search.query.iter().chain(&search.post_filter);
    queries.for_each(|query| count(query, &mut clauses));
    let mut aggregations = 0;
    let mut add = |_: &Aggregation| aggregations += 1;
    search
        .aggregations
        .iter()
        .for_each(|aggregation| aggregation.for_each(&mut add));
    let hit = search::HIT_STEPS as u64 + search.sort.len() as u64;
    let window = search::window(search).min(snapshot.size());
    let hits = window.saturating_mul(hit);
    let work = snapshot
        .size()
        .saturating_add(CLAUSE_COST)
        .saturating_mul(clauses + aggregations);
    work.saturating_add(hits)
}

/// Counts clauses; those with typing errors look at a good part of a dictionary.
fn count(query: &Query, clauses: &mut u64) {
    *clauses += match query {
        Query::Match(clause) if clause.fuzziness.is_some() => {
            1 + query.expanded_terms().saturating_mul(15) / u64::from(EXPANSIONS)
        }
        Query::Terms(terms) => 1 + terms.values.len() as u64 / 16,
        _ => 1,
    };
    query.for_each_inner(|inner| count(inner, clauses));
}

#[async_trait]
impl SearchEngine for EmbeddedEngine {
    async fn info(&self, _: &CallContext) -> Result<EngineInfo, EngineError> {
        Ok(EngineInfo::new(
            "embedded",
            env!("CARGO_PKG_VERSION"),
            Analyzer::names(),
        ))
    }

    async fn health(
        &self,
        of: &[PhysicalName],
        context: &CallContext,
    ) -> Result<EngineHealth, EngineError> {
        let (indexes, of, live) = (Arc::clone(&self.indexes), of.to_vec(), context.clone());
        // A disk may be slow, and who searches has the other threads.
        let look = move || indexes.health(&of, &live);
        self.looking.run(look).await?
    }

    async fn indexes(&self, _: &CallContext) -> Result<Vec<IndexState>, EngineError> {
        let indexes = Arc::clone(&self.indexes);
        self.looking
            .run(move || indexes.catalog().states())
            .await
            .map_err(EngineError::from)
    }

    async fn create(
        &self,
        index: Binding<'_>,
        owner: &Owner,
        context: &CallContext,
    ) -> Result<(), EngineError> {
        let definition = index.definition;
        let mark = Mark {
            application: owner.application.clone(),
            schema: definition.schema.clone(),
            object: definition.name.clone(),
            fingerprint: definition.fingerprint.clone(),
            built: None,
        };
        let layout = Layout::new(definition)?;
        let name = index.name.as_str().to_owned();
        self.write(context, move |indexes| indexes.create(&name, mark, layout))
            .await
    }

    async fn delete(&self, name: &PhysicalName, context: &CallContext) -> Result<(), EngineError> {
        let name = name.as_str().to_owned();
        self.write(context, move |indexes| indexes.delete(&name))
            .await
    }

    fn largest_bulk(&self) -> usize {
        LARGEST_BULK
    }

    async fn bulk(
        &self,
        index: Binding<'_>,
        writes: &[BulkOperation],
        // Writes are done in the order in which they are asked for.
        _version: u64,
        context: &CallContext,
    ) -> Result<Vec<Rejected>, EngineError> {
        let open = self.indexes.catalog().get(index.name.as_str())?;
        let layout = open.layout(index.definition)?;
        let (writes, live) = (writes.to_vec(), context.clone());
        let work = move |indexes: &Shared| indexes.bulk(&open, &layout, &writes, &live);
        self.write(context, work).await
    }

    async fn refresh(&self, name: &PhysicalName, context: &CallContext) -> Result<(), EngineError> {
        let open = self.indexes.catalog().get(name.as_str())?;
        self.write(context, move |_| open.refresh(None)).await
    }

    async fn advance(
        &self,
        name: &PhysicalName,
        to: &DataPosition,
        context: &CallContext,
    ) -> Result<(), EngineError> {
        let open = self.indexes.catalog().get(name.as_str())?;
        let to = to.clone();
        self.write(context, move |_| open.refresh(Some(to))).await
    }

    async fn note_built(
        &self,
        name: &PhysicalName,
        built: &Built,
        context: &CallContext,
    ) -> Result<(), EngineError> {
        let (name, built) = (name.as_str().to_owned(), built.clone());
        self.write(context, move |indexes| indexes.note_built(&name, built))
            .await
    }

    async fn switch(&self, switches: &[Switch], context: &CallContext) -> Result<(), EngineError> {
        let switches = switches.to_vec();
        self.write(context, move |indexes| indexes.switch(&switches))
            .await
    }

    async fn search(
        &self,
        index: Binding<'_>,
        search: &Search,
        context: &CallContext,
    ) -> Result<Answer, EngineError> {
        context.check()?;
        let _span = traces::search(&context.span, "tantivy", "search", index.name.as_str());
        let open = self.indexes.catalog().get(index.name.as_str())?;
        let (layout, snapshot) = (open.layout(index.definition)?, open.snapshot());
        let mut held = 0;
        if cost(&snapshot, search) <= SHORT {
            let run = |watch: &Watch| search::run(&snapshot, &layout, search, watch);
            match Attempt::new(Some(SHORT_STEPS), context.clone(), 0, run) {
                Attempt::Done(done) => return done,
                Attempt::TooLong { held: so_far } => held = so_far,
            }
        }
        let segments = snapshot.segments.len() as u64;
        let is_long = search.expanded_terms().saturating_mul(segments) > LONG_TERMS;
        let search = search.clone();
        let run = move |watch: &Watch| search::run(&snapshot, &layout, &search, watch);
        self.read(is_long, held, context, run).await
    }

    async fn count(&self, name: &PhysicalName, context: &CallContext) -> Result<u64, EngineError> {
        context.check()?;
        let snapshot = self.indexes.catalog().get(name.as_str())?.snapshot();
        match snapshot.counted_roots() {
            Some(roots) => Ok(roots),
            None => self.looking.run(move || snapshot.roots()).await?,
        }
    }

    async fn ids(
        &self,
        name: &PhysicalName,
        after: Option<&str>,
        size: usize,
        context: &CallContext,
    ) -> Result<Vec<String>, EngineError> {
        context.check()?;
        let open = self.indexes.catalog().get(name.as_str())?;
        let (snapshot, after) = (open.snapshot(), after.map(str::to_owned));
        let is_short = snapshot.size() <= SHORT;
        let run = move |watch: &Watch| search::ids(&snapshot, after.as_deref(), size, watch);
        if is_short {
            run(&Watch::new(context.clone(), 0))
        } else {
            self.read(false, 0, context, run).await
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_folder_of_an_earlier_version_is_taken_from_others_and_another_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let (ours, other) = (folder.path().join("ours"), folder.path().join("other"));
        for path in [&ours, &other] {
            fs::create_dir(path).expect("made");
            fs::set_permissions(path, PermissionsExt::from_mode(0o755)).expect("changed");
        }
        Catalog::default().write(&ours).expect("written");
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        for (path, wanted) in [(&ours, 0o700), (&other, 0o755)] {
            EmbeddedEngine::open(path).expect("the folder is free");
            assert_eq!(mode(path), wanted, "{}", path.display());
        }
    }
}
