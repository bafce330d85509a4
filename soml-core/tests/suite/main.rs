//! The tests of the crate, in one binary.

mod cases;
mod json_schema;
mod limits;
mod meaning;
mod random;
mod real;
