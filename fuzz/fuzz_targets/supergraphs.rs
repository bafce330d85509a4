//! Runs `supergraphs` on what libFuzzer makes up.

#![no_main]

#[path = "../src/supergraphs.rs"]
mod supergraphs;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    supergraphs::run(input);
});
