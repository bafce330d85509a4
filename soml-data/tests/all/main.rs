//! Schemas from data, and data against schemas.

mod check;
mod infer;
