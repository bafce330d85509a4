//! What the fuzz targets demand holds of their seeds and of small changes of them.
//!
//! This is no search: the changes are always the same and few. `scripts/fuzz.sh` searches.

use std::fs;
use std::path::{Path, PathBuf};

use fuzz_checks::{cursors, images, logs, regex, requests, soml, sparql_results, tokens};

/// Runs a target on the files below a folder of the repository, and on changes of them.
fn replay(folder: &str, changes: usize, run: impl Fn(&[u8])) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(folder);
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    let seeds: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    assert!(seeds.len() >= 6, "few seeds in {folder}");
    seeds.iter().for_each(|seed| run(seed));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..changes {
        let mut input = seeds[random.below(seeds.len())].clone();
        for _ in 0..=random.below(3) {
            change(&mut input, &seeds, &mut random);
        }
        run(&input);
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// Makes one change: replaces, inserts, removes or repeats bytes, or goes on as another seed does.
fn change(input: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Random) {
    let at = random.below(input.len() + 1);
    let end = (at + random.below(9)).min(input.len());
    match random.below(5) {
        0 if at < input.len() => input[at] = random.byte(),
        1 => input.insert(at, random.byte()),
        2 => drop(input.drain(at..end)),
        3 => input.extend_from_within(at..end),
        _ => {
            let other = &seeds[random.below(seeds.len())];
            input.truncate(at);
            input.extend_from_slice(&other[random.below(other.len() + 1)..]);
        }
    }
}

/// Numbers that look random and are always the same: xorshift.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    /// Mostly a character that means something to a parser.
    fn byte(&mut self) -> u8 {
        const SPECIAL: &[u8] = b"{}[]()\"'\\:,.*+?|^$&<>@#%-_=/\t\n 0aZ\x00\xc3\xa9\xff";
        SPECIAL[self.below(SPECIAL.len())]
    }
}

#[test]
fn soml_documents() {
    replay("soml-core/tests/cases", 200, soml::run);
}

#[test]
fn regular_expressions() {
    replay("fuzz/seeds/regex", 3_000, regex::run);
}

#[test]
fn cursors_of_connections() {
    replay("fuzz/seeds/cursors", 3_000, cursors::run);
}

#[test]
fn images() {
    replay("fuzz/seeds/images", 3_000, images::run);
}

#[test]
fn logs_of_data_folders() {
    replay("fuzz/seeds/logs", 100, logs::run);
}

#[test]
fn results_of_sparql_servers() {
    replay("fuzz/seeds/sparql_results", 1_000, sparql_results::run);
}

#[test]
fn tokens_and_their_keys() {
    replay("fuzz/seeds/tokens", 3_000, tokens::run);
}

#[test]
fn graphql_requests() {
    replay("fuzz/seeds/requests", 200, requests::run);
}
