//! Runs `regex` on what libFuzzer makes up.

#![no_main]

use fuzz_checks::regex;

libfuzzer_sys::fuzz_target!(|input: &[u8]| regex::run(input));
