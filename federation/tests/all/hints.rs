//! What composition says of subgraphs that compose: a file of `tests/composition/hints` for each code.
//!
//! A set begins with `# hints` or `# silent`, and is otherwise like those of errors. The lines `#= ` of a set say where
//! the hint is, about what, and what it says; lines of `@link` that a version stands for are line 1.
//! `UPDATE_EXPECT=1` writes them anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use federation::compose::{CompositionHint, HintCode};

use super::composition::{Set, check_pairs, composed, sets};

/// Hints that cannot arise here, and why.
pub(super) const WITHOUT_FILE: &[(HintCode, &str)] = &[
    (
        HintCode::INCONSISTENT_TYPE_SYSTEM_DIRECTIVE_LOCATIONS,
        "a composed directive has the whole definition of the latest version of its feature",
    ),
    (
        HintCode::INCONSISTENT_TYPE_SYSTEM_DIRECTIVE_REPEATABLE,
        "a composed directive has the whole definition of the latest version of its feature",
    ),
];

/// Returns the hints of a code on a set that composes, as lines.
fn said(stem: &str, code: &str, set: &Set) -> Vec<String> {
    let composed =
        composed(set).unwrap_or_else(|errors| panic!("{stem}, {}: {errors:#?}", set.head));
    let of_code = composed
        .hints
        .iter()
        .filter(|hint| hint.code.as_str() == code);
    of_code.map(|hint| line(stem, hint)).collect()
}

fn line(stem: &str, hint: &CompositionHint) -> String {
    let places = hint.places.iter().map(|place| {
        let at = place
            .location
            .unwrap_or_else(|| panic!("{stem}: {hint:#?}"));
        format!("{} {}:{}", place.subgraph, at.line, at.column)
    });
    let places: Vec<_> = places.collect();
    assert!(!places.is_empty(), "{stem}: {hint:#?}");
    let coordinate = hint.coordinate.as_deref().expect("what it is about");
    let help = hint.help.as_deref().expect("what to do about it");
    format!("#= {} | {coordinate} | {hint} | {help}", places.join(", "))
}

/// Returns a file with what is said of its sets.
fn expected(stem: &str, text: &str) -> String {
    let code = stem.split('-').next().expect("a code");
    let sets = sets(text);
    check_pairs(stem, &sets);
    let mut sets = sets.iter();
    let mut out = String::new();
    for line in text.lines().filter(|line| !line.starts_with("#= ")) {
        out.push_str(line);
        out.push('\n');
        if !line.starts_with("# ") {
            continue;
        }
        let set = sets.next().expect("as many sets as heads");
        let said = said(stem, code, set);
        assert_ne!(
            said.is_empty(),
            set.shows(),
            "{stem}, {}: {said:#?}",
            set.head
        );
        said.iter()
            .for_each(|said| out.push_str(&format!("{said}\n")));
    }
    out
}

#[test]
fn each_hint_has_sets_that_raise_it_and_near_ones_that_do_not() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/composition/hints");
    let mut shown = BTreeSet::new();
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("a file").path();
        let stem = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let text = fs::read_to_string(&path).expect("a text");
        let expected = expected(&stem, &text);
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&path, expected).expect("the file is written");
        } else {
            assert_eq!(text, expected, "{stem}: UPDATE_EXPECT=1 writes it anew");
        }
        shown.insert(stem);
    }
    for (code, _) in HintCode::ALL {
        let is_listed = WITHOUT_FILE.iter().any(|(other, _)| other == code);
        assert_ne!(
            shown.contains(code.as_str()),
            is_listed,
            "{code} has a file, or a reason to have none"
        );
    }
    assert!(HintCode::ALL.iter().all(|(code, _)| code.help().is_some()));
}
