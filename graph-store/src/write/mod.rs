//! What writers say and read: the quads that a transaction removes and adds, and the records of what was
//! changed.

mod change;
pub mod change_graph;
mod record;

pub use change::{QuadChange, QuadPattern};
pub use record::{ChangeKind, ChangeRecord, ChangedObjects, NewRecord, RecordQuery};
