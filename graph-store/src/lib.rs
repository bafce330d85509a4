#![doc = include_str!("../README.md")]

pub mod context;
#[cfg(feature = "contract")]
pub mod contract;
pub mod error;
pub mod evaluate;
#[cfg(feature = "image")]
pub mod image;
#[cfg(feature = "oxigraph")]
pub mod oxigraph;
pub mod pattern;
pub mod private_files;
pub mod query;
pub mod remote;
#[cfg(feature = "requests")]
pub mod requests;
mod sparql;
pub mod statements;
pub mod store;
pub mod trace;
pub mod value;
pub mod write;

pub use context::{CallContext, LongWork, Meter, ResultMemory, Snapshots};
pub use error::{MeterExceeded, StoreError};
pub use statements::{Statement, Statements};
pub use store::{
    AheadStore, DataVersion, ExportStore, GraphStore, Inference, LocalStore, QuadSink,
    StoreFeatures, StoreInfo, Transaction, WindowBuilder, Windowed, WriteStore, compare_keys,
    compare_positions, keys_by_hydration,
};
pub use trace::{LookUp, Trace, TraceStep};
