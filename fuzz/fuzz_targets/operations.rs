//! Runs `operations` on what libFuzzer makes up.

#![no_main]

use fuzz_checks::operations;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    operations::run(input);
});
