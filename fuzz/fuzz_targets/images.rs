//! Runs `images` on what libFuzzer makes up.

#![no_main]

#[path = "../src/images.rs"]
mod images;

libfuzzer_sys::fuzz_target!(|input: &[u8]| images::run(input));
