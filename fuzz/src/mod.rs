//! What holds of every input, one module for each parser that reads what strangers write.
//!
//! Each `run` takes any bytes and panics when something is wrong with what becomes of them.
//! libFuzzer calls it in the programs under `fuzz_targets`, see `scripts/fuzz.sh`; the tests of
//! `servers` call it with the inputs under `seeds` and small changes of them.

pub mod cursors;
pub mod images;
pub mod logs;
pub mod regex;
pub mod requests;
pub mod soml;
pub mod sparql_results;
pub mod tokens;
