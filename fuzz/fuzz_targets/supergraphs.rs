//! Runs `supergraphs` on what libFuzzer makes up.

#![no_main]

use fuzz_checks::supergraphs;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    supergraphs::run(input);
});
