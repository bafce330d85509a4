//! Builds the indexes of a schema from a store, and moves the aliases when all are complete.
//!
//! [`Indexer::build`] builds what is not built yet: an index stays whose fingerprint has not changed, and that has the data
//! as they are or can follow what has changed since ([`StoreData::age`]). Each
//! new index is filled and compared with the store before any alias moves, and then all move in one call,
//! so a search sees the old documents or the new ones. An index that the engine
//! loses a part of while it is filled, as with the node that had the only copy, is built again. Whatever ends a run before, the old indexes are as they were; what
//! it leaves behind when the process dies is found and deleted by the next run.
//!
//! # Following the data
//!
//! Each index has a position in the changes of its data, up to which it has them ([`Built::data`](crate::engine::Built)).
//! Changes that are made while indexes are built are applied to them before the aliases move, and those that come later
//! by [`Indexer::follow`]. A record says only that an object has changed; the object is read again. The documents
//! of the objects that embed it are read again, too: those that did before are found in the index, by the ids that
//! every document has of what it embeds, and those that do so now are found in the store.
//!
//! The position moves when all documents are written, in the same commit where the engine has one, so that what a
//! crash interrupts is done again. Documents have the position as their version, so that a late write never replaces
//! what is newer.
//!
//! What is read and not written yet is bounded by [`IndexerOptions::max_bytes`]; the ids of the objects of
//! the index that is being built are in memory.
//!
//! What the engine or the store leaves undone is tried again here and nowhere else, call by call, so that nothing
//! is lost of a long run when one of them is away for a while. [`Progress::setback`] says so meanwhile.
//!
//! # What a run deletes
//!
//! Indexes with the mark of the application that no alias leads to: one with a higher number than
//! the index that the alias leads to was not finished, and is deleted at the start of a run. One with a lower number was
//! replaced; it is [superseded](Report::superseded), as are those that this run replaces, and goes by
//! [`Indexer::remove_superseded`], since other instances may still search it.
//!
//! # Several instances
//!
//! Where several instances build the indexes of one application, one at a time does so, by a lease whose
//! [number](IndexerOptions::lease) is part of the names of indexes. A process that was stopped for a while may go on after
//! it has lost the lease. What it can still do is harmless: a run ends where there is an index of a later lease; no
//! alias is moved from such an index ([`Switch::lease`](crate::engine::Switch::lease)), in OpenSearch in the same step
//! in which it is compared; and documents for an index that was deleted are refused, since they are written by an
//! alias, which no write creates. An index that it creates is found and deleted by a later run.

mod changed;
mod check;
mod current;
mod data;
mod error;
mod fill;
mod follow;
mod options;
mod pages;
mod plan;
mod progress;
mod reconcile;
mod report;
mod run;
mod tries;
mod verify;
mod write;

pub use data::StoreData;
pub use error::{IndexerError, MalformedValues};
pub use follow::{Followed, Following, Standing};
pub use options::IndexerOptions;
pub use progress::{MalformedCount, ObjectProgress, Progress, Setback, Stage};
pub use reconcile::{Lacks, Reconciliation};
pub use report::{ObjectReport, Outcome, Report};
pub use run::Indexer;
