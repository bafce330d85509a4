//! Runs `soml` on what libFuzzer makes up.

#![no_main]

#[path = "../src/soml.rs"]
mod soml;

libfuzzer_sys::fuzz_target!(|input: &[u8]| soml::run(input));
