//! Schemas from data, and data against schemas.

mod check;
mod classes;
mod infer;
mod infer_names;
mod infer_remote;
mod infer_values;

use test_support::back_end::in_process;
use test_support::images;
