//! Subgraphs compose, or there is an error with the right code: a file of `tests/composition` for each code.
//!
//! A set begins with `# fails` or `# passes`, a subgraph with `## name` and, unless it is of federation 1 or links for
//! itself, the version of federation whose directives it imports. `super::hints` reads sets of hints.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use federation::compose::{
    ComposeOptions, Composed, CompositionCode, CompositionError, HintCode, SharedRootFields,
    SubgraphSource, compose,
};

/// The directives of federation 2, and the minor version that brought each.
const IMPORTS: [(&str, u32); 19] = [
    ("key", 0),
    ("requires", 0),
    ("provides", 0),
    ("external", 0),
    ("extends", 0),
    ("shareable", 0),
    ("override", 0),
    ("tag", 0),
    ("inaccessible", 0),
    ("composeDirective", 1),
    ("interfaceObject", 3),
    ("authenticated", 5),
    ("requiresScopes", 5),
    ("policy", 6),
    ("context", 8),
    ("fromContext", 8),
    ("cost", 9),
    ("listSize", 9),
    ("cacheTag", 12),
];

/// Codes that cannot arise here, or are not shown by a file, and why.
const WITHOUT_FILE: &[(CompositionCode, &str)] = &[
    (
        CompositionCode::DISALLOWED_INACCESSIBLE,
        "built-in types have no directives of subgraphs in the merged schema",
    ),
    (
        CompositionCode::MAX_VALIDATION_SUBGRAPH_PATHS_EXCEEDED,
        "it takes a million states, more than a test wants to make",
    ),
    (
        CompositionCode::UNSUPPORTED_LINKED_FEATURE,
        "features that are linked for a purpose concern gateways, and are not composed",
    ),
];

/// A set of subgraphs, and what is expected of it.
pub(super) struct Set {
    /// The text behind `# `: what becomes of it, and why.
    pub(super) head: String,
    pub(super) subgraphs: Vec<SubgraphSource>,
    /// Its lines without the head, to compare sets by.
    lines: Vec<String>,
}

impl Set {
    /// Returns whether the set is there to show its code, and not to be near it.
    pub(super) fn shows(&self) -> bool {
        let word = self.head.split(':').next();
        match word {
            Some("fails" | "hints") => true,
            Some("passes" | "silent") => false,
            _ => panic!("{}: no such expectation", self.head),
        }
    }

    /// Returns how many lines are in one of two sets only.
    fn distance(&self, other: &Set) -> usize {
        let lacks = |one: &Set, other: &Set| {
            let lines = one.lines.iter().filter(|line| !other.lines.contains(line));
            lines.count()
        };
        lacks(self, other) + lacks(other, self)
    }
}

/// How many lines a set that shows a code and the nearest one that does not may have apart: two lines that are written
/// otherwise.
const NEAR: usize = 4;

/// Checks that there are sets that show a code, and near each code one that does not.
pub(super) fn check_pairs(stem: &str, sets: &[Set]) {
    let (shown, others): (Vec<_>, Vec<_>) = sets.iter().partition(|set| set.shows());
    let distances = shown
        .iter()
        .flat_map(|one| others.iter().map(|other| one.distance(other)));
    let nearest = distances.min();
    let nearest = nearest.unwrap_or_else(|| panic!("{stem} lacks a set of one kind"));
    assert!(
        (1..=NEAR).contains(&nearest),
        "{stem}: {nearest} lines apart"
    );
}

pub(super) fn source(name: &str, version: Option<&str>, sdl: &str) -> SubgraphSource {
    let link = version.map(|version| {
        let minor: u32 = version
            .strip_prefix("2.")
            .and_then(|minor| minor.parse().ok())
            .expect("a version");
        let known = IMPORTS.iter().filter(|(_, since)| *since <= minor);
        let imports: Vec<_> = known.map(|(name, _)| format!("\"@{name}\"")).collect();
        let url = format!("https://specs.apollo.dev/federation/v{version}");
        format!(
            "extend schema @link(url: \"{url}\", import: [{}])\n",
            imports.join(", ")
        )
    });
    SubgraphSource {
        name: name.to_owned(),
        url: format!("http://{name}"),
        sdl: format!("{}{sdl}", link.unwrap_or_default()),
    }
}

/// Reads the sets of a file. Lines that begin with `#= ` say what is said of the set.
pub(super) fn sets(text: &str) -> Vec<Set> {
    let mut sets: Vec<Set> = Vec::new();
    let mut open: Option<(String, Option<String>, String)> = None;
    let close = |open: &mut Option<(String, Option<String>, String)>, sets: &mut Vec<Set>| {
        if let (Some((name, version, sdl)), Some(set)) = (open.take(), sets.last_mut()) {
            set.subgraphs.push(source(&name, version.as_deref(), &sdl));
        }
    };
    for line in text.lines().filter(|line| !line.starts_with("#= ")) {
        match sets.last_mut() {
            Some(set) if !line.starts_with("# ") => set.lines.push(line.to_owned()),
            _ => {}
        }
        if let Some(head) = line.strip_prefix("## ") {
            close(&mut open, &mut sets);
            let mut words = head.split_whitespace().map(str::to_owned);
            open = Some((words.next().expect("a name"), words.next(), String::new()));
        } else if let Some(head) = line.strip_prefix("# ") {
            close(&mut open, &mut sets);
            sets.push(Set {
                head: head.to_owned(),
                subgraphs: Vec::new(),
                lines: Vec::new(),
            });
        } else if let Some((_, _, sdl)) = &mut open {
            sdl.push_str(line);
            sdl.push('\n');
        }
    }
    close(&mut open, &mut sets);
    sets
}

pub(super) fn composed(set: &Set) -> Result<Composed, Vec<CompositionError>> {
    compose(&set.subgraphs, &ComposeOptions::default())
}

#[test]
fn each_code_has_sets_that_fail_with_it_and_near_ones_that_compose() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/composition");
    let mut shown = BTreeSet::new();
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("a file").path();
        if path.is_dir() {
            continue;
        }
        let stem = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let code = stem.split('-').next().expect("a code").to_owned();
        let sets = sets(&fs::read_to_string(&path).expect("a text"));
        check_pairs(&stem, &sets);
        for set in &sets {
            match composed(set) {
                Ok(_) => assert!(!set.shows(), "{stem}, {}: composes", set.head),
                Err(errors) => {
                    assert!(
                        !errors.is_empty() && set.shows(),
                        "{stem}, {}: {errors:#?}",
                        set.head
                    );
                    let codes: Vec<_> = errors.iter().map(|error| error.code.as_str()).collect();
                    assert!(
                        codes.contains(&code.as_str()),
                        "{stem}, {}: {codes:?}",
                        set.head
                    );
                    assert!(errors.iter().all(|error| !error.message.is_empty()));
                }
            }
        }
        shown.insert(code);
    }
    for (code, _) in CompositionCode::ALL {
        let is_listed = WITHOUT_FILE.iter().any(|(other, _)| other == code);
        assert_ne!(
            shown.contains(code.as_str()),
            is_listed,
            "{code} has a file, or a reason to have none"
        );
    }
}

#[test]
fn an_error_says_what_is_wrong_where_and_what_helps() {
    let sdl = "type Query {\n  planet: Planet\n}\n\ntype Planet @key(fields: \"id\") {\n  id: ID\n  size: Int @external\n}\n";
    let errors = compose(&[source("a", Some("2.9"), sdl)], &ComposeOptions::default())
        .expect_err("an error");
    let [error] = errors.as_slice() else {
        panic!("{errors:#?}");
    };
    assert_eq!(error.code, CompositionCode::EXTERNAL_UNUSED);
    assert_eq!(error.coordinate.as_deref(), Some("Planet.size"));
    let place = &error.places[0];
    let location = place.location.expect("a place");
    assert_eq!(
        (place.subgraph.as_str(), location.line, location.column),
        ("a", 8, 13)
    );
    assert!(error.help.is_some());
}

#[test]
fn what_cannot_be_answered_is_shown_by_a_shortest_query() {
    let a = source(
        "a",
        Some("2.9"),
        "type Query { planets(first: Int!): [Planet] }\ntype Planet @key(fields: \"id\") { id: ID }",
    );
    let b = source(
        "b",
        Some("2.9"),
        "type Planet @key(fields: \"iri\") { iri: ID size: Int }",
    );
    let errors = compose(&[a, b], &ComposeOptions::default()).expect_err("an error");
    let size = errors
        .iter()
        .find(|error| error.coordinate.as_deref() == Some("Planet.size"));
    let message = &size.expect("an error about the size").message;
    assert!(
        message.ends_with("query {\n  planets(first: …) {\n    size\n  }\n}"),
        "{message}"
    );
    assert!(message.contains("`b`"), "{message}");
}

#[test]
fn query_fields_of_two_federation_1_subgraphs_are_shared_or_in_conflict() {
    let subgraphs = ["a", "b"].map(|name| source(name, None, "type Query { planet: ID }"));
    compose(&subgraphs, &ComposeOptions::default()).expect("they are shared");
    let mut options = ComposeOptions::default();
    options.shared_root_fields = SharedRootFields::Reject;
    let errors = compose(&subgraphs, &options).expect_err("a conflict");
    assert_eq!(errors[0].code, CompositionCode::INVALID_FIELD_SHARING);
    assert_eq!(errors[0].coordinate.as_deref(), Some("Query.planet"));
}

#[test]
fn a_feature_is_linked_in_the_latest_version_of_its_directives() {
    let subgraph = |name: &str, directive: &str, version: &str| {
        let sdl = format!(
            "extend schema @link(url: \"https://example.com/my/{version}\", import: [\"@{directive}\"]) @composeDirective(name: \"@{directive}\")
             directive @{directive} on FIELD_DEFINITION
             type Query {{ {name}: ID @{directive} }}"
        );
        source(name, Some("2.9"), &sdl)
    };
    let subgraphs = [subgraph("a", "one", "v1.9"), subgraph("b", "two", "v1.10")];
    let composed = compose(&subgraphs, &ComposeOptions::default()).expect("they compose");
    let link = "@link(url: \"https://example.com/my/v1.10\", import: [\"@one\", \"@two\"])";
    assert!(
        composed.supergraph_sdl.contains(link),
        "{}",
        composed.supergraph_sdl
    );
}

/// Subgraphs of the scenarios compose to the schema that clients of their supergraphs see.
#[test]
fn subgraphs_of_scenarios_compose_to_their_supergraphs() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut areas = 0;
    for entry in fs::read_dir(cases).expect("the folder is there") {
        let area = entry.expect("an area").path();
        let Ok(files) = fs::read_dir(area.join("subgraphs")) else {
            continue;
        };
        areas += 1;
        let mut files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
        files.sort();
        let subgraphs: Vec<_> = files
            .iter()
            .map(|file| {
                let name = file
                    .file_stem()
                    .expect("a name")
                    .to_string_lossy()
                    .into_owned();
                source(&name, None, &fs::read_to_string(file).expect("a text"))
            })
            .collect();
        let composed = compose(&subgraphs, &ComposeOptions::default());
        let composed = composed.unwrap_or_else(|errors| panic!("{}: {errors:#?}", area.display()));
        let read = |sdl: &str| {
            federation::Supergraph::parse(sdl, "supergraph.graphql").expect("a supergraph")
        };
        let ours = read(&composed.supergraph_sdl);
        let theirs =
            read(&fs::read_to_string(area.join("supergraph.graphql")).expect("a supergraph"));
        let sorted = |supergraph: &federation::Supergraph| {
            let text = supergraph.api().to_string();
            let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(sorted(&ours), sorted(&theirs), "{}", area.display());
    }
    assert!(areas >= 4, "{areas} areas");
}

/// Returns why no file shows a code.
fn reason<C: PartialEq + Copy>(without: &[(C, &'static str)], code: C) -> Option<&'static str> {
    let found = without.iter().find(|(other, _)| *other == code);
    found.map(|(_, why)| *why)
}

/// Returns the page of the documentation with the tables as they should be.
fn documented(page: &str) -> String {
    let row = |code: &str, meaning: &str, help: Option<&str>, without: Option<&str>| {
        let without = without.map_or_else(String::new, |why| format!(" No test shows it: {why}."));
        format!(
            "| `{code}` | {meaning}{without} | {} |\n",
            help.unwrap_or_default()
        )
    };
    let errors: String = CompositionCode::ALL
        .iter()
        .map(|(code, meaning)| {
            row(
                code.as_str(),
                meaning,
                code.help(),
                reason(WITHOUT_FILE, *code),
            )
        })
        .collect();
    let hints: String = HintCode::ALL
        .iter()
        .map(|(code, meaning)| {
            let without = reason(super::hints::WITHOUT_FILE, *code);
            row(code.as_str(), meaning, code.help(), without)
        })
        .collect();
    let mut page = page.to_owned();
    for (name, rows) in [("errors", errors), ("hints", hints)] {
        let (begin, end) = (
            format!("<!-- {name} -->\n"),
            format!("<!-- end of {name} -->"),
        );
        let from = page.find(&begin).expect("a mark") + begin.len();
        let to = page.find(&end).expect("an end");
        page.replace_range(
            from..to,
            &format!("\n| code | meaning | what helps |\n|---|---|---|\n{rows}\n"),
        );
    }
    page
}

#[test]
fn every_code_is_documented() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/composition.md");
    let page = fs::read_to_string(&path).expect("the page is there");
    let expected = documented(&page);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, expected).expect("the page is written");
    } else {
        assert!(
            page == expected,
            "UPDATE_EXPECT=1 writes the tables of docs/composition.md anew"
        );
    }
}

/// The example of the documentation.
#[test]
fn the_documented_example_composes() {
    let page = include_str!("../../../docs/composition.md");
    let begin = page.find("    sdl: r#\"").expect("the schema") + "    sdl: r#\"".len();
    let sdl = &page[begin..begin + page[begin..].find("\"#").expect("its end")];
    let composed =
        compose(&[source("planets", None, sdl)], &ComposeOptions::default()).expect("it composes");
    assert!(
        composed
            .supergraph_sdl
            .contains("@join__type(graph: PLANETS, key: \"id\")")
    );
}
