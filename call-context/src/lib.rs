#![doc = include_str!("../README.md")]

pub mod context;
pub mod error;
pub mod memory;
pub mod slots;
pub mod trace;

pub use context::{CallContext, LongWork, Meter, ResultMemory, Snapshots};
pub use error::{CallError, MeterExceeded};
pub use memory::{MemoryAccount, MemoryBudget, OutOfMemory, PATIENCE, RequestMemory};
pub use slots::{InSlots, MEDIUM_TERMS, Slot, SlotError, Slots, Weight};
pub use trace::{LookUp, Trace, TraceStep};
