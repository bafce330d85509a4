//! Every kind of store fulfils the contract, and servers may misbehave.

mod beside;
mod faults;
mod histories;
mod image;
mod kills;
mod logs;
mod lookups;
mod stores;
mod truth;
mod values;
mod writes;
mod written;

use test_support::{back_end, images, random_tests};
