//! The inputs of the fuzz test of logs, and small changes of them.

use std::fs;
use std::path::Path;

use fuzz_checks::logs as target;

#[test]
fn logs_are_refused_or_open_to_a_whole_commit() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds/logs");
    let seeds = fs::read_dir(seeds).expect("the seeds");
    let seeds = seeds.map(|seed| fs::read(seed.expect("a seed").path()).expect("a seed"));
    let seeds: Vec<Vec<u8>> = seeds.collect();
    assert!(seeds.len() >= 6);
    let mut random = 88_172_645_463_325_252_u64;
    for seed in &seeds {
        target::run(seed);
        for _ in 0..20 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let mut changed = seed.clone();
            let [what, at @ ..] = random.to_le_bytes();
            match changed.len() {
                0 => changed.extend(at),
                length => changed[usize::from(at[0]) % length] ^= what,
            }
            target::run(&changed);
        }
    }
}
