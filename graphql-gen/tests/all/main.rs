//! Generated schemas, and what changes between them.

mod diff;
mod federation_check;
mod golden;
mod golden_types;
mod origins;
