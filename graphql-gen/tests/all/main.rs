//! Generated schemas, and what changes between them.

mod denied;
mod descriptions;
mod diff;
mod federation_check;
mod golden;
mod golden_types;
mod origins;
mod prune;
mod readable;
