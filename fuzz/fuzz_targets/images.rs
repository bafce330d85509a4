//! Runs `images` on what libFuzzer makes up.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::images::run(input));
