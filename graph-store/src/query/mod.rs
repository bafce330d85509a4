//! What to read from a store: which objects, in which order, which page of them, and which of their
//! values; all names are resolved to IRIs.

mod condition;
mod dictionary;
mod hydration;
mod object_ref;
mod objects;
mod regex;
mod selection;
mod terms;
mod tree;
mod truth;
mod type_index;
mod universal;
mod window;

pub use condition::{
    Comparison, Constant, Domain, NodeCondition, Operator, Quantifier, Step, TagRange,
    TermCondition, TypeGuard, TypeTest, ValueCondition, ValueTest,
};
pub use dictionary::{Dictionary, TermView, WholeTerm, is_same_dictionary};
pub use hydration::{Column, Hydrated, HydrationRequest, Slot, SlotPage};
pub use object_ref::ObjectRef;
pub use objects::{ObjectSlice, Objects};
pub use regex::{Regex, RegexError};
pub use selection::{Dataset, OrderKey, OrderStep, OrderWay, Page, Selection, SortBy};
pub use terms::{TermSlice, Terms};
pub use tree::{Tree, TreeLevel, TreeRequest, TreeValues};
pub use type_index::{TypeIndex, TypeResolver};
pub use window::{Position, Take, Window};
