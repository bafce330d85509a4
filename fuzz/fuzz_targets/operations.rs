//! Runs `operations` on what libFuzzer makes up.

#![no_main]

#[path = "../src/operations.rs"]
mod operations;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    operations::run(input);
});
