//! The documents of objects: values as a store returns them, as the index of a definition takes them.
//!
//! Every value is checked here and not left to the engine, which drops what does not fit without a
//! count. [`Document::of`] writes JSON straight from RDF terms. What cannot be indexed is left out, and
//! returned as [`Malformed`] with the reason.
//!
//! # What the references leave open
//!
//! - A property with one value in answers has one in the index: that which answers show of several, in
//!   the languages of the schema. Text in languages is indexed in all of them nevertheless.
//! - Values are in ascending order, and equal ones are there once.
//! - A string that is too long to be a whole value is malformed as such; its text is found.
//! - What answers show of a `dateTime` is in UTC with milliseconds; shorter fractions are cut off.
//! - A number too large for a floating-point number is found, sorted and counted, and left out of sums.

mod leaf;
mod write;

pub use write::{Document, FieldValues, Malformed, ObjectValues, Reason};
