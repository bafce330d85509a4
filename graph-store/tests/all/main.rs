//! Every kind of store fulfils the contract, and servers may misbehave.

mod back_end;
mod beside;
mod faults;
mod histories;
mod image;
mod kills;
mod logs;
mod lookups;
#[allow(dead_code, reason = "shared with other test binaries")]
#[path = "../../../object-engine/tests/random_tests/mod.rs"]
mod random_tests;
mod stores;
mod truth;
mod values;
mod writes;
mod written;
