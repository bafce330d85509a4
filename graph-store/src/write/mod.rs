//! What writers say and read: the quads that a transaction removes and adds, and the records of what was
//! changed.

mod change;
pub mod change_graph;
mod position;
mod record;

pub use change::{QuadChange, QuadPattern};
pub use position::{ChangePosition, ChangesSince};
pub use record::{ChangeKind, ChangeRecord, ChangedObjects, NewRecord, RecordQuery};
