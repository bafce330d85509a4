//! Runs `images` on what libFuzzer makes up.

#![no_main]

use fuzz_checks::images;

libfuzzer_sys::fuzz_target!(|input: &[u8]| images::run(input));
