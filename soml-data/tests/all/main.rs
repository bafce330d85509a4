//! Schemas from data, and data against schemas.

mod check;
mod classes;
#[path = "../../../graph-store/tests/all/back_end/images.rs"]
mod images;
#[path = "../../../graph-store/tests/all/back_end/in_process.rs"]
mod in_process;
mod infer;
mod infer_names;
mod infer_remote;
mod infer_values;
