//! A slow, obvious interpreter of queries over raw triples.
//!
//! Written from the rules, for comparison: it plans nothing, optimizes nothing, and shares no code
//! with the engine except the model of a SOML schema. Values are read anew each time; conditions
//! are evaluated by loops.

mod cast;
mod declared;
mod document;
mod fields;
mod filter;
mod graph;
mod interpret;
mod lang;
mod literal;
mod model;
mod moment;
mod order;
mod removal;
mod rights;
mod scalar;
mod values;

pub(crate) use graph::{Graph, iri_of};
pub(crate) use interpret::{Answer, CURSOR, Fault, Out, Segment, interpret};
pub(crate) use model::{FieldMeaning, Model, RootKind, Ty};
pub(crate) use removal::Removal;
pub(crate) use scalar::fits;
pub(crate) use test_support::number::{self, Number};
