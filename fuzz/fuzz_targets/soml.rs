//! Runs `soml` on what libFuzzer makes up.

#![no_main]

use fuzz_checks::soml;

libfuzzer_sys::fuzz_target!(|input: &[u8]| soml::run(input));
