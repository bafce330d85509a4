//! Facts about objects by which conditions are decided without a store.
//!
//! An index that holds facts about its objects can tell which of them satisfy a condition whose operands are known
//! only later, such as claims of whoever asks. [`express`] takes a condition whose operands are partly
//! [parameters](fn@parameter) apart: what does not depend on them is a fact that holds of an object or does not, and
//! values that are compared with one are facts as well, each with a [`key`]. [`Reading`] reads the facts of objects
//! from a store.

mod express;
mod key;
mod read;

pub use express::{Decided, Fact, PathStep, Seen, ValuePath, express, parameter, parameter_of};
pub use key::{Keys, key, keys};
pub use read::{FactsOf, Reading};
