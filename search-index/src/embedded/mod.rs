//! The embedded search engine: indexes in the process, in memory or in a folder, on tantivy.
//!
//! It answers searches as OpenSearch does, with the same scores on one shard. What it does not support it
//! refuses with [`EngineError::Unsupported`](crate::engine::EngineError::Unsupported).
//!
//! # Documents
//!
//! Each nested object is a document of its own, written before the document that has it, and the document
//! of the root is the last one: together they are a block, which is written, deleted and merged as a whole.
//! The source is stored with the root. Embedded objects that are not nested give their values to the
//! document around them.
//!
//! # Where work runs
//!
//! tantivy is synchronous. A search runs on the thread that polls it only while the index is small enough
//! for that to take less than about a millisecond. Else it runs where
//! [`CallContext::long_work`](graph_store::CallContext::long_work) says, or, if nothing is set there, on
//! threads of the engine, one for each processor, with a bounded queue. Writing, deleting and refreshing run
//! on one thread of the engine for all indexes, one after the other, so that they never take the threads
//! of searches. A search looks once in about a thousand documents whether its deadline has passed or it was
//! cancelled. Writing goes on when its future is dropped.
//!
//! # Memory
//!
//! A writer holds up to 16 MB of documents before it puts them into a segment, and 8 MB of those that wait for that; at
//! most four indexes have a writer at once. A search counts what it holds with
//! [`CallContext::hold`](graph_store::CallContext::hold): sets of documents, hits, buckets and sources.

mod backlog;
mod bits;
mod block;
mod catalog;
mod engine;
mod error;
mod index;
mod layout;
mod search;
mod snapshot;
mod workers;

pub use engine::EmbeddedEngine;
