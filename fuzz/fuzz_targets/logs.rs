//! Runs `logs` on what libFuzzer makes up.

#![no_main]

use fuzz_checks::logs;

libfuzzer_sys::fuzz_target!(|input: &[u8]| logs::run(input));
