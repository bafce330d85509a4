//! Operations as trees of what is needed, by type: fragments are expanded, conditions are decided, fields
//! that ask the same are one.
//!
//! Conditions are decided before planning: the values of the variables of `@skip` and `@include` are part
//! of what a plan is made for. So no condition can be lost on the way, and nothing is fetched for a field
//! that is skipped.

mod canonical;
mod collect;
mod literals;
mod selections;
mod slots;
mod tree;

pub(crate) use canonical::Canonical;
pub(crate) use collect::{FieldSelection, Full, too_large};
pub(crate) use literals::lifted;
pub(crate) use slots::{RowLayout, SlotId};
pub(crate) use tree::LeafKind;
pub use tree::{Class, ClassId, Node, NodeId, Output, Tree};
