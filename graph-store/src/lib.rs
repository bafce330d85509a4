#![doc = include_str!("../README.md")]

#[cfg(feature = "contract")]
pub mod contract;
pub mod error;
pub mod evaluate;
pub mod facts;
#[cfg(feature = "image")]
pub mod image;
pub mod pattern;
pub mod private_files;
pub mod query;
pub mod remote;
mod sparql;
pub mod statements;
pub mod store;
pub mod value;
pub mod write;

/// The crate whose contexts calls carry.
pub use call_context;
pub use call_context::CallContext;
pub use error::StoreError;
pub use statements::{Statement, Statements};
pub use store::{
    DataVersion, ExportStore, GraphStore, Inference, LocalStore, QuadSink, ServerState,
    StoreFeatures, StoreInfo, Transaction, TreeStore, WindowBuilder, Windowed, WriteStore,
    compare_keys, compare_positions, keys_by_hydration,
};
