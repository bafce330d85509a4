//! Runs `tokens` on what libFuzzer makes up.

#![no_main]

#[path = "../src/tokens.rs"]
mod tokens;

libfuzzer_sys::fuzz_target!(|input: &[u8]| tokens::run(input));
