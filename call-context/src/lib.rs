#![doc = include_str!("../README.md")]

pub mod caller;
pub mod code;
pub mod context;
pub mod error;
pub mod memory;
pub mod size;
pub mod slots;
pub mod tally;
pub mod trace;

pub use caller::Caller;
pub use code::{ErrorCode, ErrorInfo};
pub use context::{CallContext, LongWork, Meter, ResultMemory, Snapshots};
pub use error::CallError;
pub use memory::{MemoryAccount, MemoryBudget, OutOfMemory, PATIENCE, RequestMemory};
pub use size::{Size, Weight};
pub use slots::{InSlots, Slot, SlotError, Slots};
pub use tally::Tally;
pub use trace::{LookUp, Trace, TraceStep};
