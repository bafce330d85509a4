//! Runs `sparql_results` on what libFuzzer makes up.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::sparql_results::run(input));
