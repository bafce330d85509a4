//! Runs `regex` on what libFuzzer makes up.

#![no_main]

#[path = "../src/regex.rs"]
mod regex;

libfuzzer_sys::fuzz_target!(|input: &[u8]| regex::run(input));
