//! Runs `searches` on what libFuzzer makes up.

#![no_main]

use fuzz_checks::searches;

libfuzzer_sys::fuzz_target!(|input: &[u8]| searches::run(input));
