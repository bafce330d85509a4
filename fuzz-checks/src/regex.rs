//! Regular expressions of filters: a pattern is refused, or its canonical form is of the subset
//! too, and the engine of the embedded store takes it.

use ::regex::{Error, RegexBuilder};
use graph_store::query::Regex;

/// Characters of a pattern, as a service has it.
const MAX_LENGTH: usize = 1_000;

/// Reads a pattern.
pub fn run(input: &[u8]) {
    let Ok(pattern) = std::str::from_utf8(input) else {
        return;
    };
    for case_insensitive in [false, true] {
        match Regex::new(pattern, case_insensitive, MAX_LENGTH) {
            Ok(regex) => {
                assert_eq!(regex.case_insensitive, case_insensitive);
                check(&regex, pattern);
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

fn check(regex: &Regex, pattern: &str) {
    let again = Regex::new(&regex.pattern, regex.case_insensitive, usize::MAX);
    assert!(
        again.is_ok(),
        "{pattern:?} became {:?}: {again:?}",
        regex.pattern
    );
    let compiled = RegexBuilder::new(&regex.pattern)
        .case_insensitive(regex.case_insensitive)
        .build();
    // What is too large is refused where it is used.
    if let Err(error @ Error::Syntax(_)) = compiled {
        panic!("{pattern:?} became {:?}: {error}", regex.pattern);
    }
}
