//! What the fuzz targets of supergraphs, subgraphs and operations demand holds of the scenarios, of the sets of the
//! tests of composition, and of small changes of them.
//!
//! `GATEWAY_FUZZ` sets the number of changes of each. `scripts/fuzz.sh` searches for more.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fuzz_checks::{operations, subgraphs, supergraphs};

use crate::random_numbers::Random;

/// Changes of each seed.
const CHANGES: u64 = 10;

/// How long one input may take, on a busy machine too. What is not bounded takes longer.
const SOON: Duration = Duration::from_secs(60);

fn changes() -> u64 {
    let changes = std::env::var("GATEWAY_FUZZ").ok();
    changes.map_or(CHANGES, |text| text.parse().unwrap())
}

/// Returns the files below a folder that are wanted.
fn files(folder: &Path, is_wanted: &dyn Fn(&Path) -> bool, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, is_wanted, found);
        } else if is_wanted(&path) {
            found.push(path);
        }
    }
    found.sort();
}

/// Returns the scenario files of a name.
fn scenarios(name: &str) -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    files(&cases, &|path| path.ends_with(name), &mut seeds);
    seeds
        .iter()
        .map(|path| std::fs::read(path).unwrap())
        .collect()
}

/// Returns the sets of subgraphs of the tests of composition.
fn sets() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/composition");
    let mut paths = Vec::new();
    files(&folder, &|path| path.extension().is_some(), &mut paths);
    let mut sets: Vec<Vec<u8>> = Vec::new();
    for path in paths {
        for line in std::fs::read_to_string(path).unwrap().split_inclusive('\n') {
            match sets.last_mut() {
                Some(set) if !line.starts_with("# ") => set.extend(line.as_bytes()),
                _ => sets.push(Vec::new()),
            }
        }
    }
    sets.extend(crate::composed::folders().iter().map(|folder| {
        let mut set = Vec::new();
        for subgraph in crate::composed::subgraphs(folder) {
            set.extend(format!("## {}\n{}", subgraph.name, subgraph.sdl).bytes());
        }
        set
    }));
    sets
}

/// Runs a target on seeds and changes of them; returns how many seeds it accepted, and of how many changes.
fn run(seeds: &[Vec<u8>], changes: u64, target: impl Fn(&[u8]) -> bool) -> (usize, u64) {
    let (mut accepted, mut content) = (0, 0);
    for (position, seed) in seeds.iter().enumerate() {
        accepted += usize::from(target(seed));
        for number in 0..changes {
            let mut random = Random::new(number * 1_000 + position as u64);
            let input = changed(seed, &mut random);
            let begun = Instant::now();
            content += u64::from(target(&input));
            let took = begun.elapsed();
            assert!(took < SOON, "{took:?}: {}", String::from_utf8_lossy(&input));
        }
    }
    (accepted, content)
}

/// Runs a target on the scenario files of a name; returns how many there are, and how many changes it accepted.
fn run_scenarios(name: &str, changes: u64, target: impl Fn(&[u8]) -> bool) -> (usize, u64) {
    let seeds = scenarios(name);
    let (accepted, content) = run(&seeds, changes, target);
    // Of some, the variables have types that the target makes no values for.
    assert!(accepted * 20 >= seeds.len() * 19, "{accepted}");
    (seeds.len(), content)
}

#[test]
fn subgraphs_are_refused_or_composed_whatever_they_say() {
    let seeds = sets();
    let (accepted, content) = run(&seeds, changes(), subgraphs::run);
    assert!(
        accepted >= 50 && accepted < seeds.len(),
        "{accepted} of {}",
        seeds.len()
    );
    assert!(content > 0);
}

#[test]
fn supergraphs_are_refused_or_survive_writing_whatever_they_say() {
    let (seeds, content) = run_scenarios("supergraph.graphql", changes(), supergraphs::run);
    assert!(seeds >= 5 && content > 0, "{content} of {seeds}");
}

#[test]
fn operations_are_refused_or_answered_whatever_they_ask_for() {
    let (seeds, content) = run_scenarios("query.graphql", changes(), |input| {
        operations::run(input) > 0
    });
    assert!(seeds >= 20 && content > 0, "{content} of {seeds}");
}

#[test]
fn operations_are_answered_whatever_the_subgraphs_say() {
    let answers = [
        r#"{"data":{"_entities":[{"__typename":"Book","sku":"1"},null,7],"me":[[]],"users":{},"products":[null]}}"#,
        r#"{"data":{"me":{"id":{"a":1},"name":[{"first":[]}]}},"errors":[{"message":"m","path":["me",0,"x",-1]},{}]}"#,
        r#"{"errors":[{"path":[],"extensions":[1]}],"data":{"_0":[],"_1":{}}}"#,
        "{\"data\":null,\"errors\":[{\"message\":null}]}",
        "\u{feff}{}",
        "",
    ];
    for answer in answers {
        let (seeds, _) = run_scenarios("query.graphql", changes() / 5, |input| {
            let input = [input, b"\0", answer.as_bytes()].concat();
            operations::run(&input) > 0
        });
        assert!(seeds >= 20, "{seeds}");
    }
}

/// Changes some bytes of a seed, or leaves some out.
fn changed(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut changed = seed.to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(changed.len());
        match random.below(4) {
            0 if changed.len() > 2 => {
                changed.remove(at);
            }
            1 => changed.insert(at, changed[random.below(changed.len())]),
            2 => {
                let from = random.below(changed.len());
                let to = (from + random.below(40)).min(changed.len());
                let part = changed[from..to].to_vec();
                changed.splice(at..at, part);
            }
            _ => changed[at] = u8::try_from(random.below(256)).unwrap(),
        }
    }
    changed
}
