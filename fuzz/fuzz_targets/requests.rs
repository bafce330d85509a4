//! Runs `requests` on what libFuzzer makes up.

#![no_main]

use fuzz_checks::requests;

libfuzzer_sys::fuzz_target!(|input: &[u8]| requests::run(input));
