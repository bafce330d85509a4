//! One index: its files, its writer, and what searches see of it.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use tantivy::directory::MmapDirectory;
use tantivy::index::{SegmentComponent, SegmentMeta};
use tantivy::indexer::{IndexWriterOptions, UserOperation};
use tantivy::{Directory, Index, IndexReader, IndexWriter, ReloadPolicy, Term};

use super::backlog::{Backlog, Waiting};
use super::block::{Block, block};
use super::error::{failed, problem};
use super::layout::Layout;
use super::snapshot::Snapshot;
use crate::engine::{BulkOperation, DataPosition, EngineError, Mark, Rejected};
use crate::mapping::IndexDefinition;

/// Memory of documents that are not on disk yet: about the least that tantivy allows.
const WRITER_MEMORY: usize = 16 << 20;

/// Writes after which they are put on disk though no one has asked for it: until then, each keeps about a kilobyte for what it replaces.
const MAX_UNCOMMITTED: usize = 8_000;

/// Bytes of stored documents that are read together for one of them. Hits are rarely neighbours.
const DOCUMENTS: usize = 4 << 10;

/// The files that every segment has.
const FILES: [SegmentComponent; 4] = [
    SegmentComponent::Terms,
    SegmentComponent::Postings,
    SegmentComponent::FastFields,
    SegmentComponent::Store,
];

/// Status of a document that does not fit, as in HTTP.
const BAD_REQUEST: u16 = 400;

/// An index.
pub(super) struct OpenIndex {
    /// Whose it is, and of what.
    pub(super) mark: Mark,
    index: Index,
    reader: IndexReader,
    /// Made from the definition when that is first seen.
    layout: OnceLock<Arc<Layout>>,
    snapshot: RwLock<Arc<Snapshot>>,
    writer: Mutex<Option<IndexWriter<Waiting>>>,
    /// What the writer has and no segment yet.
    backlog: Arc<Backlog>,
    /// The data that the index has, as of its last commit.
    data: Mutex<Option<DataPosition>>,
    /// Something was written since searches have seen all.
    is_changed: AtomicBool,
    /// Writes since the last commit.
    uncommitted: AtomicUsize,
    /// What was written since the last commit is lost.
    is_lost: AtomicBool,
}

impl OpenIndex {
    /// Creates an index, in a folder that is there and empty, or in memory.
    pub(super) fn create(
        folder: Option<&Path>,
        mark: Mark,
        layout: Layout,
    ) -> Result<Self, EngineError> {
        let settings = tantivy::IndexSettings {
            docstore_blocksize: DOCUMENTS,
            ..tantivy::IndexSettings::default()
        };
        let builder = Index::builder()
            .schema(layout.schema.clone())
            .settings(settings);
        let index = match folder {
            Some(folder) => {
                let directory = MmapDirectory::open(folder).map_err(failed)?;
                builder.open_or_create(directory).map_err(failed)?
            }
            None => builder.create_in_ram().map_err(failed)?,
        };
        let open = OpenIndex::of(index, mark)?;
        let _ = open.layout.set(Arc::new(layout));
        Ok(open)
    }

    /// Opens the index in a folder.
    pub(super) fn open(folder: &Path, mark: Mark) -> Result<Self, EngineError> {
        OpenIndex::of(Index::open_in_dir(folder).map_err(failed)?, mark)
    }

    fn of(index: Index, mark: Mark) -> Result<Self, EngineError> {
        let noted = index.load_metas().map_err(failed)?.payload;
        // What another version has noted is as if it had not.
        let data = noted.and_then(|noted| serde_json::from_str(&noted).ok());
        let reader: IndexReader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()
            .map_err(failed)?;
        let snapshot = Snapshot::new(reader.searcher(), None);
        Ok(OpenIndex {
            mark,
            index,
            reader,
            layout: OnceLock::new(),
            snapshot: RwLock::new(Arc::new(snapshot)),
            writer: Mutex::new(None),
            backlog: Arc::default(),
            data: Mutex::new(data),
            is_changed: AtomicBool::new(false),
            uncommitted: AtomicUsize::new(0),
            is_lost: AtomicBool::new(false),
        })
    }

    /// Returns the fields of the index, which is one of the definition.
    ///
    /// # Errors
    /// When the index was made from another definition, or by another version of this crate.
    pub(super) fn layout(&self, definition: &IndexDefinition) -> Result<Arc<Layout>, EngineError> {
        if definition.fingerprint != self.mark.fingerprint {
            return Err(problem("the index was created from a different definition"));
        }
        if let Some(layout) = self.layout.get() {
            return Ok(Arc::clone(layout));
        }
        let layout = Layout::new(definition)?;
        if layout.schema != self.index.schema() {
            return Err(problem(
                "the index has other fields than its definition now gives",
            ));
        }
        Ok(Arc::clone(self.layout.get_or_init(|| Arc::new(layout))))
    }

    /// Returns whether all files that searches read are still where they are kept.
    pub(super) fn are_files_there(&self) -> bool {
        let directory = self.index.directory();
        let is_there = |segment: &SegmentMeta, part: SegmentComponent| {
            let path = segment.relative_path(part);
            directory.exists(&path).unwrap_or(false)
        };
        // The system keeps files that are read until they are closed, so searches do not notice.
        let look = || {
            let Ok(metas) = self.index.load_metas() else {
                return false;
            };
            metas.segments.iter().all(|segment| {
                let deletions = segment.has_deletes().then_some(SegmentComponent::Delete);
                let mut parts = FILES.into_iter().chain(deletions);
                parts.all(|part| is_there(segment, part))
            })
        };
        // Segments may have been merged while they were looked at.
        look() || look()
    }

    /// Returns what searches see.
    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        let snapshot = self.snapshot.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&snapshot)
    }

    /// Returns the data that the index has, if that was noted with its last commit.
    pub(super) fn data(&self) -> Option<DataPosition> {
        self.data_now().clone()
    }

    fn data_now(&self) -> MutexGuard<'_, Option<DataPosition>> {
        self.data.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes or deletes a document; returns why it does not fit, if so.
    pub(super) fn write(
        &self,
        layout: &Layout,
        position: usize,
        write: &BulkOperation,
    ) -> Result<Option<Rejected>, EngineError> {
        let block = match write {
            BulkOperation::Delete(_) => Ok(Block::default()),
            BulkOperation::Index(document) => block(layout, document),
        };
        let Block { documents, bytes } = match block {
            Ok(block) => block,
            Err(reason) => {
                return Ok(Some(Rejected {
                    position,
                    status: BAD_REQUEST,
                    reason,
                }));
            }
        };
        let mut open = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let writer = match &mut *open {
            Some(writer) => writer,
            none => none.insert(self.new_writer()?),
        };
        let old = Term::from_field_text(layout.own.block, write.id());
        let mut operations = vec![UserOperation::Delete(old)];
        let mut place = Some(self.backlog.enter(bytes));
        let last = documents.len().saturating_sub(1);
        operations.extend(documents.into_iter().enumerate().map(|(at, document)| {
            let _place = place.take_if(|_| at == last);
            UserOperation::Add(Waiting { document, _place })
        }));
        self.is_changed.store(true, Ordering::Release);
        writer.run(operations).map_err(failed)?;
        drop(open);
        if self.uncommitted.fetch_add(1, Ordering::AcqRel) + 1 >= MAX_UNCOMMITTED {
            self.commit_early()?;
        }
        Ok(None)
    }

    fn new_writer(&self) -> Result<IndexWriter<Waiting>, EngineError> {
        // One thread each: writing is in the background, and searches need the processors.
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .num_merge_threads(1)
            .memory_budget_per_thread(WRITER_MEMORY)
            .build();
        self.index.writer_with_options(options).map_err(failed)
    }

    /// Puts what was written on disk, where there is one, and lets searches see it. The index has all changes of its
    /// data before a position then, if one is given.
    ///
    /// # Errors
    /// When what was written is not on disk, and is lost.
    pub(super) fn refresh(&self, data: Option<DataPosition>) -> Result<(), EngineError> {
        if self.is_lost.swap(false, Ordering::AcqRel) {
            self.is_changed.store(false, Ordering::Release);
            return Err(problem("earlier changes could not be written to disk"));
        }
        if !self.is_changed.load(Ordering::Acquire) {
            if data.is_some() {
                *self.data_now() = data;
            }
            return Ok(());
        }
        let data = data.or_else(|| self.data());
        self.commit(data.as_ref()).inspect_err(|_| {
            self.is_changed.store(false, Ordering::Release);
        })?;
        *self.data_now() = data;
        self.reader.reload().map_err(failed)?;
        let last = self.snapshot();
        let new = Snapshot::new(self.reader.searcher(), Some(&last));
        *self
            .snapshot
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(new);
        self.is_changed.store(false, Ordering::Release);
        Ok(())
    }

    /// Puts what was written on disk before all of a change may be there; searches do not see it yet.
    fn commit_early(&self) -> Result<(), EngineError> {
        self.commit(self.data().as_ref()).inspect_err(|_| {
            self.is_lost.store(true, Ordering::Release);
        })
    }

    fn commit(&self, data: Option<&DataPosition>) -> Result<(), EngineError> {
        self.uncommitted.store(0, Ordering::Release);
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = &mut *writer else {
            return Ok(());
        };
        let committed = open.prepare_commit().and_then(|mut commit| {
            if let Some(data) = data {
                let noted = serde_json::to_string(data).expect("a position is JSON");
                commit.set_payload(&noted);
            }
            commit.commit()
        });
        if let Err(error) = committed {
            // A writer that failed once fails for ever.
            *writer = None;
            return Err(failed(error));
        }
        Ok(())
    }

    /// Ends writing for good; what was not put on disk is lost.
    pub(super) fn end(&self) {
        *self.writer.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Ends writing for now, so that its memory and threads are free. Nothing that was written is lost.
    pub(super) fn rest(&self) -> Result<(), EngineError> {
        self.commit_early()?;
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        match writer.take() {
            Some(writer) => writer.wait_merging_threads().map_err(failed),
            None => Ok(()),
        }
    }
}
