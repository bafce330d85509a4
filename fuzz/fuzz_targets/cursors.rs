//! Runs `cursors` on what libFuzzer makes up.

#![no_main]

#[path = "../src/cursors.rs"]
mod cursors;

libfuzzer_sys::fuzz_target!(|input: &[u8]| cursors::run(input));
