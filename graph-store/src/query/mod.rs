//! What to read from a store: which objects, in which order, which page of them, and which of their
//! values; all names are resolved to IRIs.

mod condition;
mod hydration;
mod object_ref;
mod regex;
mod selection;
mod tree;
mod type_index;
mod window;

pub use condition::{
    Comparison, Constant, Domain, NodeCondition, Operator, Quantifier, Step, TagRange,
    TermCondition, TypeGuard, TypeTest, ValueCondition, ValueTest,
};
pub use hydration::{Column, Hydrated, HydrationRequest, Slot, SlotPage};
pub use object_ref::ObjectRef;
pub(crate) use object_ref::object_refs;
pub use regex::{Regex, RegexError};
pub use selection::{Dataset, OrderKey, OrderStep, OrderWay, Page, Selection, SortBy};
pub use tree::{Tree, TreeLevel, TreeRequest, TreeValues};
pub use type_index::TypeIndex;
pub use window::{Position, Take, Window};
