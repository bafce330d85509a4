//! The trait of engines.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use graph_store::CallContext;

use super::answer::Answer;
use super::error::EngineError;
use super::index::{
    Binding, Built, BulkOperation, DataPosition, IndexCondition, IndexState, PhysicalName,
    Rejected, Switch,
};
use crate::dsl::Search;
use crate::mapping::{Analyzers, Owner};

/// An engine that others share.
pub type Engine = Arc<dyn SearchEngine>;

/// Holds indexes of documents, and searches them.
///
/// An implementation does not block the thread that polls it for more than a millisecond, and ends soon
/// after the deadline of a context or its cancellation. Futures may be dropped at any time.
#[async_trait]
pub trait SearchEngine: Send + Sync {
    /// Returns what the engine is. Asks it once, and again only after it could not be reached.
    ///
    /// # Errors
    /// When the engine cannot be reached, or is of a version that is not supported.
    async fn info(&self, context: &CallContext) -> Result<EngineInfo, EngineError>;

    /// Returns how well the engine is, and those of some indexes that it has. Whatever else the engine has does
    /// not count.
    ///
    /// # Errors
    /// When the engine cannot be reached.
    async fn health(
        &self,
        of: &[PhysicalName],
        context: &CallContext,
    ) -> Result<EngineHealth, EngineError>;

    /// Returns the indexes whose names begin like those of [`PhysicalName::new`], and those that an
    /// alias of such a name leads to, in ascending order of their names.
    ///
    /// # Errors
    /// When the engine cannot be reached.
    async fn indexes(&self, context: &CallContext) -> Result<Vec<IndexState>, EngineError>;

    /// Returns whether all of an index is there. An engine that has an index has all of it, unless it
    /// says otherwise.
    ///
    /// # Errors
    /// When the engine cannot be reached.
    async fn condition(
        &self,
        _name: &PhysicalName,
        _context: &CallContext,
    ) -> Result<IndexCondition, EngineError> {
        Ok(IndexCondition::Available)
    }

    /// Creates an empty index.
    ///
    /// # Errors
    /// [`EngineError::Unsupported`] when the engine does not accept the definition, and
    /// [`EngineError::NotOurs`] when there is an index of this name.
    async fn create(
        &self,
        index: Binding<'_>,
        owner: &Owner,
        context: &CallContext,
    ) -> Result<(), EngineError>;

    /// Deletes an index that this application owns, and its documents; there may be none of this name.
    ///
    /// # Errors
    /// When the engine cannot be reached.
    async fn delete(&self, name: &PhysicalName, context: &CallContext) -> Result<(), EngineError>;

    /// Returns the bytes of documents above which a bulk is not written any quicker, and only takes memory.
    fn largest_bulk(&self) -> usize {
        usize::MAX
    }

    /// Writes documents, and returns those that the engine did not take. They are found, or not any more, after
    /// [`SearchEngine::refresh`] or [`SearchEngine::advance`].
    ///
    /// `version` is the sequence of the last change that the documents are known to have. Where writes may arrive late
    /// or in another order, one of a lower version than what the index has of the same id is left out.
    ///
    /// # Errors
    /// When it is unknown which documents were taken; writing them again does no harm.
    async fn bulk(
        &self,
        index: Binding<'_>,
        writes: &[BulkOperation],
        version: u64,
        context: &CallContext,
    ) -> Result<Vec<Rejected>, EngineError>;

    /// Lets searches find everything that was written, and makes it durable where the engine keeps
    /// anything.
    ///
    /// # Errors
    /// When the engine cannot be reached.
    async fn refresh(&self, name: &PhysicalName, context: &CallContext) -> Result<(), EngineError>;

    /// Does what [`SearchEngine::refresh`] does once an index has all changes before a position. An engine that makes
    /// nothing durable before keeps the position in the same step, as [`Built::data`].
    ///
    /// # Errors
    /// [`EngineError::NotFound`] when there is none of this name, and when the engine cannot be reached.
    async fn advance(
        &self,
        name: &PhysicalName,
        _to: &DataPosition,
        context: &CallContext,
    ) -> Result<(), EngineError> {
        self.refresh(name, context).await
    }

    /// Notes in the [mark](IndexState::mark) of an index that all of it is there. An engine that keeps no notes
    /// does nothing.
    ///
    /// # Errors
    /// [`EngineError::NotFound`] when there is none of this name, and when the engine cannot be reached.
    async fn note_built(
        &self,
        _name: &PhysicalName,
        _built: &Built,
        _context: &CallContext,
    ) -> Result<(), EngineError> {
        Ok(())
    }

    /// Moves all these aliases at once: a search sees either all or none of them moved.
    ///
    /// # Errors
    /// [`EngineError::NotFound`] when an index is not there; then no alias was moved.
    async fn switch(&self, switches: &[Switch], context: &CallContext) -> Result<(), EngineError>;

    /// Searches an index.
    ///
    /// # Errors
    /// [`EngineError::NotFound`] when there is none of this name.
    async fn search(
        &self,
        index: Binding<'_>,
        search: &Search,
        context: &CallContext,
    ) -> Result<Answer, EngineError>;

    /// Returns the number of documents of an index, those of embedded objects not among them.
    ///
    /// # Errors
    /// [`EngineError::NotFound`] when there is none of this name.
    async fn count(&self, name: &PhysicalName, context: &CallContext) -> Result<u64, EngineError>;

    /// Returns the `id` fields of the documents of an index behind `after`, in ascending order by code
    /// point, at most `size` of them.
    ///
    /// # Errors
    /// [`EngineError::NotFound`] when there is none of this name.
    async fn ids(
        &self,
        name: &PhysicalName,
        after: Option<&str>,
        size: usize,
        context: &CallContext,
    ) -> Result<Vec<String>, EngineError>;
}

/// What an engine is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EngineInfo {
    /// Its name, such as `opensearch` or `embedded`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The analyzers that it has; names that the settings of an index define are not among them.
    pub analyzers: Analyzers,
}

impl EngineInfo {
    /// Describes an engine.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>, analyzers: Analyzers) -> Self {
        EngineInfo {
            name: name.into(),
            version: version.into(),
            analyzers,
        }
    }
}

/// How well an engine is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EngineHealth {
    /// Number of nodes.
    pub nodes: u32,
    /// The requested indexes that exist.
    pub indexes: BTreeMap<PhysicalName, IndexHealth>,
}

impl EngineHealth {
    /// Describes the health of an engine.
    #[must_use]
    pub fn new(nodes: u32, indexes: impl IntoIterator<Item = (PhysicalName, IndexHealth)>) -> Self {
        EngineHealth {
            nodes,
            indexes: indexes.into_iter().collect(),
        }
    }

    /// Describes an engine of one node all of whose indexes are well.
    #[must_use]
    pub fn good(of: &[PhysicalName]) -> Self {
        let good = of.iter().map(|name| (name.clone(), IndexHealth::good()));
        EngineHealth::new(1, good)
    }
}

/// How well an index is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexHealth {
    /// In a word.
    pub level: HealthLevel,
    /// The problem, without addresses and paths.
    pub message: Option<String>,
}

impl IndexHealth {
    /// Describes an index that is well.
    #[must_use]
    pub fn good() -> Self {
        IndexHealth {
            level: HealthLevel::Good,
            message: None,
        }
    }

    /// Creates a record of a problem.
    #[must_use]
    pub fn new(level: HealthLevel, message: impl Into<String>) -> Self {
        IndexHealth {
            level,
            message: Some(message.into()),
        }
    }
}

/// How well an index is, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HealthLevel {
    /// Everything is there; one node without replicas is.
    Good,
    /// All documents are there, some only once.
    Degraded,
    /// Some documents are not there.
    Bad,
}
