//! Supergraphs written as SDL are those that are read from it.

use std::collections::HashMap;
use std::path::Path;

use federation::supergraph::{FieldId, Type};
use federation::{Supergraph, SupergraphOptions};

use crate::composition::{composed, sets};
use crate::generate::generate;
use crate::random_numbers::Random;

/// Checks that two supergraphs say the same.
pub(super) fn assert_same(one: &Supergraph, other: &Supergraph) {
    let text = |it: &Supergraph| format!("{:?} {:?}", it.subgraphs(), it.labels());
    assert_eq!(text(one), text(other));
    assert_eq!(one.requirements(), other.requirements());
    assert_eq!(one.type_ids().count(), other.type_ids().count());
    for id in one.type_ids() {
        let (left, right) = (one.ty(id), other.ty(id));
        assert_eq!(left.name, right.name);
        assert_eq!(
            (left.kind, left.is_accessible, &left.possible),
            (right.kind, right.is_accessible, &right.possible),
            "{}",
            left.name
        );
        let fields_of = |ty: &Type| -> HashMap<String, FieldId> {
            ty.fields()
                .map(|(name, id)| (name.to_string(), id))
                .collect()
        };
        let fields = fields_of(left);
        assert_eq!(fields, fields_of(right), "{}", left.name);
        assert_eq!(left.joins.len(), right.joins.len(), "{}", left.name);
        for (left, right) in left.joins.iter().zip(&right.joins) {
            assert_eq!(left.subgraph, right.subgraph);
            assert_eq!(left.keys, right.keys);
            assert_eq!(left.possible, right.possible);
            assert_eq!(left.is_interface_object, right.is_interface_object);
            assert_eq!(left.interface, right.interface);
        }
        for field in fields.values() {
            let (left, right) = (one.field(*field), other.field(*field));
            assert_eq!((&left.name, &left.ty), (&right.name, &right.ty));
            assert_eq!(
                (left.parent, left.inner, left.is_accessible),
                (right.parent, right.inner, right.is_accessible)
            );
            assert_eq!(left.joins, right.joins, "{}", left.name);
            assert_eq!(left.requirements, right.requirements);
        }
    }
    assert_eq!(one.api().to_string(), other.api().to_string());
}

/// Checks that clients see a valid schema where unreachable types are left out, and the same queries.
fn assert_pruned(sdl: &str, whole: &Supergraph) {
    let mut options = SupergraphOptions::default();
    options.prune_unreachable_types = true;
    let pruned = Supergraph::parse_with(sdl, "supergraph.graphql", &options);
    let pruned = pruned.unwrap_or_else(|errors| panic!("{errors:#?}\n{sdl}"));
    assert_same_types(&pruned, whole);
    assert_eq!(pruned.to_sdl(), whole.to_sdl());
}

/// Checks that of the types that one supergraph shows clients, another one shows the same.
fn assert_same_types(one: &Supergraph, other: &Supergraph) {
    let others = &other.api().types;
    for (name, ty) in &one.api().types {
        assert_eq!(Some(ty), others.get(name), "{name}");
    }
}

fn parse(sdl: &str) -> Supergraph {
    Supergraph::parse(sdl, "supergraph.graphql").unwrap_or_else(|e| panic!("{e:#?}\n{sdl}"))
}

/// Checks that what is written is read as the same, and is written as the same again; returns it.
fn check(sdl: &str) -> String {
    let supergraph = parse(sdl);
    let written = supergraph.to_sdl();
    let again = parse(&written);
    assert_same(&again, &supergraph);
    assert_eq!(again.to_sdl(), written);
    assert_pruned(sdl, &supergraph);
    written
}

#[test]
fn the_supergraphs_of_all_scenarios_survive_writing() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut count = 0;
    for area in std::fs::read_dir(cases).unwrap() {
        let sdl = std::fs::read_to_string(area.unwrap().path().join("supergraph.graphql"));
        check(&sdl.unwrap());
        count += 1;
    }
    for folder in crate::composed::folders() {
        let sdl = std::fs::read_to_string(folder.join("supergraph.graphql"));
        check_composed(&sdl.unwrap(), &folder.to_string_lossy());
        count += 1;
    }
    assert!(count >= 25, "{count}");
}

/// Checks what has been composed: it says everything, so writing leaves it as it is but for the version of join, which
/// is the lowest one, and the order.
fn check_composed(sdl: &str, what: &str) {
    let written = check(sdl);
    let sorted = |text: &str| {
        let is_of_version = |line: &str| {
            let parts = [
                "specs.apollo.dev/join/",
                "join__FieldValue",
                "join__ContextArgument",
                "join__DirectiveArguments",
                "directive @join__field(",
                "directive @join__directive(",
            ];
            parts.iter().any(|part| line.contains(part))
        };
        let argument = ["  name: String!", "  type: String!", "  context: String!"];
        let lines = text.lines().filter(|line| !is_of_version(line));
        let lines = lines.filter(|line| !line.is_empty() && !argument.contains(line));
        let mut lines: Vec<String> = lines.map(|line| line.trim_end().to_owned()).collect();
        lines.sort();
        lines.join("\n")
    };
    // What closes the input of arguments from contexts is there only in some versions.
    let (left, right) = (sorted(sdl), sorted(&written));
    let braces = |text: &str| text.replace("\n}", "");
    assert_eq!(braces(&left), braces(&right), "{what}");
}

#[test]
fn whatever_composes_survives_writing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/composition");
    let folders = [root.clone(), root.join("hints")];
    let files = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let mut count = 0;
    for file in files.map(|file| file.unwrap().path()) {
        if file.is_dir() {
            continue;
        }
        for set in sets(&std::fs::read_to_string(&file).unwrap()) {
            if let Ok(composed) = composed(&set) {
                let what = format!("{}, {}", file.display(), set.head);
                check_composed(&composed.supergraph_sdl, &what);
                count += 1;
            }
        }
    }
    assert!(count >= 150, "{count}");
}

#[test]
fn random_supergraphs_survive_writing() {
    let (mut labels, mut contexts) = (0, 0);
    for seed in 0..300 {
        let generated = generate(&mut Random::new(seed));
        let written = check(&generated.sdl);
        let has_contexts = generated.features.contains("contexts");
        let version = match (has_contexts, generated.labels.is_empty()) {
            (true, _) => "join/v0.5",
            (false, true) => "join/v0.3",
            (false, false) => "join/v0.4",
        };
        assert!(written.contains(version), "{written}");
        labels += generated.labels.len();
        contexts += usize::from(has_contexts);
    }
    assert!(labels > 0 && contexts > 0);
}

#[test]
fn contexts_survive_writing_with_everything_that_version_5_of_join_defines() {
    let written = check(include_str!("../cases/bank/supergraph.graphql"));
    for said in [
        "https://specs.apollo.dev/join/v0.5",
        r#"@link(url: "https://specs.apollo.dev/context/v0.1", for: SECURITY)"#,
        "directive @context(name: String!) repeatable on INTERFACE | OBJECT | UNION",
        r#"@context(name: "accounts__wallet")"#,
        "input join__ContextArgument {",
        "scalar join__FieldValue",
        "contextArguments: [join__ContextArgument!]) repeatable on FIELD_DEFINITION",
        r#"contextArguments: [{context: "rates__rates", name: "rank", type: "String", selection: " { rank }"}]"#,
    ] {
        assert_eq!(written.matches(said).count().min(1), 1, "{said}: {written}");
    }
    // Without the arguments an older version says everything.
    let plain = include_str!("../cases/bank/supergraph.graphql");
    let arguments = ", contextArguments: [";
    let plain: Vec<String> = plain
        .lines()
        .map(|line| match line.split_once(arguments) {
            Some((before, _)) if line.starts_with("  ") => format!("{before})"),
            _ => line.to_owned(),
        })
        .collect();
    let written = check(&plain.join("\n"));
    assert!(written.contains("join/v0.3") && !written.contains("join__ContextArgument"));
}

#[test]
fn requirements_survive_writing_with_their_links() {
    let written = check(crate::authorization::SDL);
    for feature in ["authenticated/v0.1", "requiresScopes/v0.1", "policy/v0.1"] {
        assert_eq!(written.matches(feature).count(), 1, "{written}");
    }
}

#[test]
fn what_an_older_version_leaves_unsaid_is_written() {
    let old = r#"schema @link(url: "https://specs.apollo.dev/join/v0.2", for: EXECUTION) { query: Query }
        directive @link(url: String, as: String, for: link__Purpose, import: [link__Import]) repeatable on SCHEMA
        directive @join__graph(name: String!, url: String!) on ENUM_VALUE
        directive @join__type(graph: join__Graph!, key: String) repeatable on OBJECT | INTERFACE | UNION | ENUM
        directive @join__field(graph: join__Graph) repeatable on FIELD_DEFINITION
        scalar link__Import
        enum link__Purpose { SECURITY EXECUTION }
        enum join__Graph { A @join__graph(name: "a \"quoted\"", url: "http://a") B @join__graph(name: "b", url: "") }
        "The root." type Query @join__type(graph: A) @join__type(graph: B) { u: U @join__field(graph: A) e(x: Int = 3): E i: I @deprecated(reason: "old") }
        union U @join__type(graph: A) = T | S
        interface I @join__type(graph: B) { x: Int }
        type T implements I @join__type(graph: A) @join__type(graph: B) { x: Int }
        type S @join__type(graph: A) { y: E }
        enum E @join__type(graph: A) @join__type(graph: B) { ONE TWO }"#;
    let written = check(old);
    for said in [
        r#"@join__unionMember(graph: A, member: "T") @join__unionMember(graph: A, member: "S")"#,
        r#"@join__implements(graph: B, interface: "I")"#,
        "ONE @join__enumValue(graph: A) @join__enumValue(graph: B)",
        "join/v0.3",
        r#""The root.""#,
    ] {
        assert!(written.contains(said), "{said}: {written}");
    }
    assert_eq!(written.matches("join__enumValue(").count(), 5);
}
