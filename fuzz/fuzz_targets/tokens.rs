//! Runs `tokens` on what libFuzzer makes up.

#![no_main]

use fuzz_checks::tokens;

libfuzzer_sys::fuzz_target!(|input: &[u8]| tokens::run(input));
