//! Runs `cursors` on what libFuzzer makes up.

#![no_main]

use fuzz_checks::cursors;

libfuzzer_sys::fuzz_target!(|input: &[u8]| cursors::run(input));
