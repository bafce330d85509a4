//! Runs `sparql_results` on what libFuzzer makes up.

#![no_main]

use fuzz_checks::sparql_results;

libfuzzer_sys::fuzz_target!(|input: &[u8]| sparql_results::run(input));
