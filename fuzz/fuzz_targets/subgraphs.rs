//! Runs `subgraphs` on what libFuzzer makes up.

#![no_main]

use fuzz_checks::subgraphs;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    subgraphs::run(input);
});
