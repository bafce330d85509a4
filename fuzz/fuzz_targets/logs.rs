//! Runs `logs` on what libFuzzer makes up.

#![no_main]

#[path = "../src/logs.rs"]
mod logs;

libfuzzer_sys::fuzz_target!(|input: &[u8]| logs::run(input));
