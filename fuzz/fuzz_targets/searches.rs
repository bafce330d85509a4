//! Runs `searches` on what libFuzzer makes up.

#![no_main]

#[path = "../src/searches.rs"]
mod searches;

libfuzzer_sys::fuzz_target!(|input: &[u8]| searches::run(input));
