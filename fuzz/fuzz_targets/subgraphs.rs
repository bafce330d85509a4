//! Runs `subgraphs` on what libFuzzer makes up.

#![no_main]

#[path = "../src/subgraphs.rs"]
mod subgraphs;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    subgraphs::run(input);
});
