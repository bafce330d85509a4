//! Runs `requests` on what libFuzzer makes up.

#![no_main]

#[path = "../src/requests.rs"]
mod requests;

libfuzzer_sys::fuzz_target!(|input: &[u8]| requests::run(input));
