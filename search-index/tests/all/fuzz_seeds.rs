//! What the fuzz target of searches demands holds of its seeds and of small changes of them.
//!
//! `SEARCH_FUZZ` sets the number of changes of each seed. `scripts/fuzz.sh` searches for more.

use fuzz_checks::searches;
use test_support::random::Random;

/// Changes of each seed.
const CHANGES: u64 = 200;

#[test]
fn searches_are_answered_or_refused_whatever_they_ask_for() {
    let changes = std::env::var("SEARCH_FUZZ").ok();
    let changes = changes.map_or(CHANGES, |text| text.parse().expect("a number"));
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/seeds/searches");
    let (mut seeds, mut answered) = (0, 0);
    for entry in std::fs::read_dir(folder).expect("there are seeds") {
        let seed = std::fs::read(entry.expect("a file").path()).expect("a seed");
        searches::run(&seed);
        for number in 0..changes {
            let is_answered = searches::is_answered(&changed(&seed, &mut Random::new(number)));
            answered += u64::from(is_answered);
        }
        seeds += 1;
    }
    assert!(seeds >= 8, "{seeds}");
    // What is always refused says nothing of an engine.
    assert!(
        answered >= changes / 4,
        "{answered} of {seeds} times {changes}"
    );
}

/// Changes some bytes of a seed, or leaves some out.
fn changed(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut changed = seed.to_vec();
    for _ in 0..random.between(1, 8) {
        let at = random.below(changed.len());
        match random.below(4) {
            0 if changed.len() > 2 => {
                changed.remove(at);
            }
            1 => changed.insert(at, changed[random.below(changed.len())]),
            _ if at > 0 => changed[at] = u8::try_from(random.below(256)).expect("a byte"),
            _ => {}
        }
    }
    changed
}
