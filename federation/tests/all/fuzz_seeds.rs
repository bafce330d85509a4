//! What the fuzz targets of supergraphs and operations demand holds of the scenarios and of small changes of them.
//!
//! `GATEWAY_FUZZ` sets the number of changes of each. `scripts/fuzz.sh` searches for more.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::random_numbers::Random;

#[path = "../../../fuzz/src/operations.rs"]
#[expect(
    unreachable_pub,
    reason = "it is a module of the program of the fuzz target too"
)]
mod operations;
#[path = "../../../fuzz/src/subgraphs.rs"]
#[expect(
    unreachable_pub,
    reason = "it is a module of the program of the fuzz target too"
)]
mod subgraphs;
#[path = "../../../fuzz/src/supergraphs.rs"]
#[expect(
    unreachable_pub,
    reason = "it is a module of the program of the fuzz target too"
)]
mod supergraphs;

/// Changes of each seed.
const CHANGES: u64 = 10;

/// How long one input may take; a build without optimization on a busy machine gets more.
const SOON: Duration = match cfg!(debug_assertions) {
    true => Duration::from_secs(20),
    false => Duration::from_secs(1),
};

fn changes() -> u64 {
    let changes = std::env::var("GATEWAY_FUZZ").ok();
    changes.map_or(CHANGES, |text| text.parse().unwrap())
}

/// Returns the files of a name below a folder.
fn files(folder: &Path, name: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, name, found);
        } else if path.ends_with(name) {
            found.push(path);
        }
    }
    found.sort();
}

/// Runs a target on seeds and changes of them; returns how often it was content.
fn run(name: &str, changes: u64, target: impl Fn(&[u8]) -> bool) -> (usize, u64) {
    let mut seeds = Vec::new();
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    files(&cases, name, &mut seeds);
    let (mut accepted, mut content) = (0, 0);
    for (position, path) in seeds.iter().enumerate() {
        let seed = std::fs::read(path).unwrap();
        accepted += usize::from(target(&seed));
        for number in 0..changes {
            let mut random = Random::new(number * 1_000 + position as u64);
            let input = changed(&seed, &mut random);
            let begun = Instant::now();
            content += u64::from(target(&input));
            let took = begun.elapsed();
            assert!(took < SOON, "{took:?}: {}", String::from_utf8_lossy(&input));
        }
    }
    // Of some, the variables have types that the target makes no values for.
    assert!(accepted * 20 >= seeds.len() * 19, "{accepted}");
    (seeds.len(), content)
}

#[test]
fn supergraphs_are_refused_or_survive_writing_whatever_they_say() {
    let (seeds, content) = run("supergraph.graphql", changes(), supergraphs::run);
    assert!(seeds >= 5 && content > 0, "{content} of {seeds}");
}

#[test]
fn operations_are_refused_or_answered_whatever_they_ask_for() {
    let (seeds, content) = run("query.graphql", changes(), |input| {
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
        let (seeds, _) = run("query.graphql", changes() / 5, |input| {
            let input = [input, b"\0", answer.as_bytes()].concat();
            operations::run(&input) > 0
        });
        assert!(seeds >= 20, "{seeds}");
    }
}

/// Returns the subgraphs of the scenarios and of the sets for each code, as the target reads them.
fn sets_of_subgraphs() -> Vec<Vec<u8>> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    let entries = |path: &Path| {
        let entries = std::fs::read_dir(path).into_iter().flatten();
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    };
    let areas = entries(&tests.join("cases")).into_iter();
    let of_area = |area: PathBuf| {
        let files = entries(&area.join("subgraphs"));
        files.iter().map(|file| read(file)).collect::<Vec<_>>()
    };
    let of_scenarios = areas.map(of_area).filter(|set| !set.is_empty());
    let mut sets: Vec<Vec<u8>> = of_scenarios
        .map(|set| set.join("\0").into_bytes())
        .collect();
    for file in entries(&tests.join("composition")) {
        let written = crate::composition::sets(&read(&file));
        sets.extend(written.into_iter().map(|set| {
            let subgraphs = set.subgraphs.into_iter().map(|subgraph| subgraph.sdl);
            subgraphs.collect::<Vec<_>>().join("\0").into_bytes()
        }));
    }
    sets
}

#[test]
fn subgraphs_are_refused_or_composed_whatever_they_say() {
    let seeds = sets_of_subgraphs();
    assert!(seeds.len() >= 150, "{}", seeds.len());
    let (mut composed, mut refused) = (0, 0);
    for (position, seed) in seeds.iter().enumerate() {
        let other = &seeds[(position * 7 + 1) % seeds.len()];
        for number in 0..=changes() {
            let mut random = Random::new(number * 10_000 + position as u64);
            let input = match number % 2 {
                _ if number == 0 => seed.clone(),
                0 => changed(seed, &mut random),
                _ => with_words_of(seed, other, &mut random),
            };
            let begun = Instant::now();
            match subgraphs::run(&input) {
                true => composed += 1,
                false => refused += 1,
            }
            let took = begun.elapsed();
            assert!(took < SOON, "{took:?}: {}", String::from_utf8_lossy(&input));
        }
    }
    println!("{composed} composed, {refused} refused");
    assert!(composed >= seeds.len() / 3, "{composed}");
    assert!(refused >= seeds.len() / 3, "{refused}");
}

/// Replaces some words of a seed by words of its own or of another.
fn with_words_of(seed: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let (seed, other) = (
        String::from_utf8_lossy(seed),
        String::from_utf8_lossy(other),
    );
    let mut words: Vec<&str> = seed.split_inclusive(' ').collect();
    let others: Vec<&str> = other.split_inclusive(' ').collect();
    for _ in 0..1 + random.below(4) {
        let at = random.below(words.len());
        let own = words[random.below(words.len())];
        let foreign = others[random.below(others.len())];
        match random.below(5) {
            0 => words[at] = own,
            1 => words[at] = foreign,
            2 => words.insert(at, foreign),
            3 => words.insert(at, own),
            _ if words.len() > 1 => _ = words.remove(at),
            _ => {}
        }
    }
    words.concat().into_bytes()
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
