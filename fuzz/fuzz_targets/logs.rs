//! Runs `logs` on what libFuzzer makes up.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::logs::run(input));
