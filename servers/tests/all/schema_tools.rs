//! Commands about schemas: `soml sdl`, `diff`, `infer`, `json-schema` and `explain`.

use std::fs;
use std::process::{Command, Output, Stdio};

use graphql_gen::typesystem::ApiOptions;
use schema_registry::check_with;
use serde_json::Value;
use tempfile::TempDir;

use crate::command_line::{code, err, out, soml};
use crate::processes::{self, PATIENCE, Running};

const BROKEN: &str = "tests/data/soml/swapi-schema-broken.yaml";
const PLANETS: &str = "tests/data/soml/swapi-schema-planets.yaml";
const DATA: &str = "demo/star-wars/data.ttl";

/// A schema whose three printings differ in all that can differ.
const BOOKS: &str = "
id: /soml/books
config: {enableTypeCount: true}
objects:
  Book: {descr: Something to read, props: {title: {min: 1, regex: '^[A-Z]'}}}
  Shop: {extend: true, props: {sells: {range: Book, max: inf}}}
";

fn sdl(arguments: &[&str]) -> String {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("books.yaml");
    fs::write(&path, BOOKS).unwrap();
    let output = soml(&[&["sdl", path.to_str().unwrap()], arguments].concat());
    assert_eq!(code(&output), Some(0), "{}", err(&output));
    out(&output)
}

#[test]
fn sdl_prints_what_the_service_serves() {
    let printed = sdl(&[]);
    assert_eq!(printed, sdl(&["--kind", "api"]));
    assert!(printed.contains("type Book implements"), "{printed}");
    assert!(printed.contains("book_count("), "{printed}");
    assert!(printed.contains("type Mutation"), "{printed}");
    let read_only = sdl(&["--no-mutations"]);
    assert!(!read_only.contains("type Mutation"), "{read_only}");
    assert_eq!(code(&soml(&["sdl", BROKEN])), Some(1));
}

#[test]
fn sdl_prints_what_the_settings_of_the_service_make_of_it() {
    let options = ApiOptions::default().with_mutations(true);
    let served = |options: &ApiOptions| {
        let checked = check_with(BOOKS, options);
        checked.schema.unwrap().api.sdl()
    };
    let pruned = sdl(&["--prune"]);
    assert_eq!(pruned, served(&options.clone().with_prune(true)));
    assert!(sdl(&[]).contains("input Byte_Where "));
    assert!(!pruned.contains("input Byte_Where "), "{pruned}");
    let described = sdl(&["--describe-arguments"]);
    assert_eq!(described, served(&options.with_argument_descriptions(true)));
    assert!(
        described.contains("\"\"\"Maximum length of the list\"\"\""),
        "{described}"
    );
    let keyed = sdl(&["--prune", "--kind", "federation"]);
    assert!(
        keyed.contains("extend type Shop") && !keyed.contains("Byte_Where"),
        "{keyed}"
    );
}

#[test]
fn sdl_prints_both_forms_of_federation() {
    let first = sdl(&["--kind", "federation"]);
    assert_eq!(
        first,
        sdl(&["--kind", "federation", "--federation-version", "1"])
    );
    assert!(first.contains("extend type Shop"), "{first}");
    assert!(
        first.contains(r#"@key(fields: "id")"#) && !first.contains("@link"),
        "{first}"
    );
    assert!(
        !first.contains("_service") && !first.contains("type Mutation"),
        "{first}"
    );
    let second = sdl(&["--kind", "federation", "--federation-version", "2"]);
    assert!(second.contains("@link("), "{second}");
}

#[test]
fn sdl_prints_directives_and_mutations_in_full() {
    let full = sdl(&["--kind", "full"]);
    for part in ["type Mutation", "@descr(", "@constraints(", "book_count("] {
        assert!(full.contains(part), "{part}: {full}");
    }
}

#[test]
fn flags_of_sdl_that_do_not_go_together_are_refused() {
    for arguments in [
        &["--kind", "federation", "--no-mutations"][..],
        &["--kind", "full", "--no-mutations"],
        &["--federation-version", "2"],
        &["--kind", "federation", "--federation-version", "3"],
    ] {
        let output = soml(&[&["sdl", PLANETS], arguments].concat());
        assert_eq!(code(&output), Some(64), "{arguments:?}");
    }
}

/// Compares [`BOOKS`] with itself after a replacement.
fn diff(from: &str, to: &str, arguments: &[&str]) -> Output {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("old.yaml"), BOOKS).unwrap();
    fs::write(dir.path().join("new.yaml"), BOOKS.replace(from, to)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
    command.args(["diff", "old.yaml", "new.yaml"]);
    command.args(arguments).current_dir(dir.path());
    processes::output(&mut command, b"")
}

#[test]
fn diff_ends_with_2_on_breaking_changes_alone() {
    let same = diff("Something", "Something", &[]);
    assert_eq!(
        (code(&same), out(&same).as_str()),
        (Some(0), "no changes\n")
    );
    let added = diff("title: {", "pages: {}, title: {", &[]);
    assert_eq!(code(&added), Some(0));
    assert!(
        out(&added).ends_with("\n1 change: 0 breaking, 0 dangerous, 1 safe\n"),
        "{}",
        out(&added)
    );
    let removed = diff("sells: {", "sold: {", &[]);
    assert_eq!(code(&removed), Some(2));
    let invalid = diff("range: Book", "range: Boko", &[]);
    assert_eq!(code(&invalid), Some(1));
    assert!(err(&invalid).contains("did you mean `Book`?"));
    assert_eq!(code(&soml(&["diff", PLANETS])), Some(64));
    assert_eq!(code(&soml(&["diff", PLANETS, "none.yaml"])), Some(3));
}

#[test]
fn diff_shows_the_places_in_both_documents() {
    let output = diff("max: inf", "max: 1", &[]);
    let text = out(&output);
    assert!(
        text.starts_with("breaking[PROPERTY_MULTIPLICITY_CHANGED]: ")
            && text.contains("\n --> new.yaml:6:32\n")
            && text.contains("\n ::: old.yaml:6:32\n")
            && text.contains("\n  = breaking: field `Shop.sells` gave `[Book]` and gives `Book`\n"),
        "{text}"
    );
}

#[test]
fn diff_lists_all_consequences_as_json() {
    let output = diff("sells: {", "sold: {", &["--format", "json"]);
    assert_eq!(code(&output), Some(2));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["breaking"], &report["safe"]),
        (&1.into(), &1.into())
    );
    let removed = &report["changes"][0];
    assert_eq!(removed["code"], "PROPERTY_REMOVED");
    assert_eq!(removed["coordinate"], "Shop.sells");
    assert_eq!(
        (&removed["old"]["line"], &removed["new"]),
        (&6.into(), &Value::Null)
    );
    let consequences = removed["consequences"].as_array().unwrap();
    let codes: Vec<_> = consequences
        .iter()
        .map(|c| c["code"].as_str().unwrap())
        .collect();
    assert!(
        codes.contains(&"FIELD_REMOVED") && codes.contains(&"INPUT_FIELD_REMOVED"),
        "{report:#}"
    );
}

/// Compares two GraphQL schemas in files of the given names.
fn diff_graphql(files: [(&str, &str); 2], arguments: &[&str]) -> Output {
    let dir = TempDir::new().unwrap();
    for (name, text) in files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
    command.args(["diff", files[0].0, files[1].0]);
    command.args(arguments).current_dir(dir.path());
    processes::output(&mut command, b"")
}

#[test]
fn diff_of_supergraphs_is_that_of_what_clients_see() {
    let old = fs::read_to_string("../docs/examples/supergraph.graphql").unwrap();
    let hidden = old.replace(
        "  id: ID!\n",
        "  id: ID!\n  \"\"\"For us.\"\"\"\n  secret: Int @join__field(graph: REVIEWS) @inaccessible\n",
    );
    let hidden = hidden.replace(
        "directive @join__graph",
        "directive @inaccessible on FIELD_DEFINITION\ndirective @join__graph",
    );
    let moved = hidden.replace(
        "name: String @join__field(graph: ACCOUNTS)",
        "name: String @join__field(graph: REVIEWS)",
    );
    let same = diff_graphql([("old.graphql", &old), ("new.graphql", &moved)], &[]);
    assert_eq!(
        (code(&same), out(&same).as_str()),
        (Some(0), "no changes\n"),
        "{}",
        err(&same)
    );
    let wider = moved.replace("  reviews: [String!]", "  reviews(stars: Int!): [String!]!");
    let output = diff_graphql([("old.graphql", &old), ("new.graphql", &wider)], &[]);
    let text = out(&output);
    assert_eq!(code(&output), Some(2), "{text}");
    assert!(
        text.starts_with("breaking[REQUIRED_ARGUMENT_ADDED]: argument `User.reviews(stars:)` was added")
            && text.contains("\n  --> new.graphql:26:11\n")
            && text.contains("safe[FIELD_TYPE_NARROWED]: field `User.reviews` gave `[String!]` and gives `[String!]!`")
            && text.contains("\n  ::: old.graphql:23:3\n")
            && text.ends_with("\n2 changes: 1 breaking, 0 dangerous, 1 safe\n"),
        "{text}"
    );
}

#[test]
fn diff_compares_schemas_of_clients_and_of_subgraphs() {
    let old = "type Query { a: E }\nenum E { A }\nextend type Planet @key(fields: \"id\") { id: ID! @external }";
    let new = old
        .replace("{ A }", "{ A B }")
        .replace("id: ID! @external", "id: ID!");
    let output = diff_graphql([("old.gql", old), ("new.sdl", &new)], &["--format", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let changes = report["changes"].as_array().unwrap();
    assert_eq!((code(&output), changes.len()), (Some(0), 1), "{report:#}");
    assert_eq!(changes[0]["code"], "ENUM_VALUE_ADDED");
    assert_eq!(
        changes[0]["new"],
        serde_json::json!({"line": 2, "column": 12, "endLine": 2, "endColumn": 13})
    );
    assert_eq!(
        (&changes[0]["old"], &changes[0]["consequences"]),
        (&Value::Null, &serde_json::json!([]))
    );
}

#[test]
fn diff_says_what_is_wrong_with_a_graphql_schema() {
    let valid = ("old.graphql", "type Query { a: Int }");
    let invalid = diff_graphql([valid, ("new.graphql", "type Query {\n  a: Strin\n}")], &[]);
    assert_eq!(code(&invalid), Some(1));
    assert!(
        err(&invalid).contains("error[INVALID_GRAPHQL]: new.graphql:2:6: "),
        "{}",
        err(&invalid)
    );
    let mixed = diff_graphql([valid, ("new.yaml", BOOKS)], &[]);
    assert_eq!(code(&mixed), Some(64));
    assert!(err(&mixed).contains("`soml sdl`"), "{}", err(&mixed));
    let flag = diff_graphql(
        [valid, ("new.graphql", "type Query { a: Int }")],
        &["--no-mutations"],
    );
    assert_eq!(code(&flag), Some(64));
}

#[test]
fn diff_compares_mutations_unless_told_otherwise() {
    let report = |arguments: &[&str]| {
        let output = diff("sells: {", "sold: {", arguments);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["changes"][0]["consequences"].to_string()
    };
    assert!(report(&["--format", "json"]).contains("Create"));
    assert!(!report(&["--format", "json", "--no-mutations"]).contains("Create"));
}

#[test]
fn a_schema_inferred_from_data_is_valid_and_says_what_was_read() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("inferred.yaml");
    let path = path.to_str().unwrap();
    let arguments = ["infer", DATA, "--id", "/soml/sw", "--min-instances", "50"];
    let output = soml(&[&arguments[..], &["--output", path]].concat());
    assert_eq!((code(&output), out(&output)), (Some(0), String::new()));
    assert!(err(&output).contains("loaded 3,975 triples"));
    assert!(
        err(&output).contains("inferred a schema with 2 objects and 27 properties\n"),
        "{}",
        err(&output)
    );
    let text = fs::read_to_string(path).unwrap();
    assert!(text.starts_with("id: /soml/sw\n"), "{text}");
    assert_eq!(out(&soml(&arguments)), text);
    let checked = out(&soml(&["validate", path]));
    assert!(
        checked.starts_with("1 file: 2 objects, ") && checked.ends_with("; 0 errors, 0 warnings\n"),
        "{checked}"
    );
}

#[test]
fn data_without_types_gives_a_hint() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("data.nt");
    fs::write(&path, "<http://e/a> <http://e/b> \"c\" .\n").unwrap();
    let output = soml(&["infer", path.to_str().unwrap()]);
    assert_eq!(code(&output), Some(0));
    assert!(
        err(&output).contains("0 objects and 0 properties; only IRIs with an `rdf:type`"),
        "{}",
        err(&output)
    );
}

#[test]
fn data_is_served_without_a_schema() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
    command.args(["serve", "--port", "0", "--data", DATA]);
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    let mut service = Running::start(command.stderr(Stdio::piped()));
    let log = processes::all(service.child.stderr.take().unwrap());
    let address = service.line().unwrap();
    let address = address.trim_start_matches("GraphQL:  ");
    let query = "%7Bplanet(limit:1,orderBy:%7Bname:ASC%7D)%7Bname%7D%7D";
    let mut answer = ureq::get(&format!("{address}?query={query}"))
        .config()
        .timeout_global(Some(PATIENCE))
        .build()
        .call()
        .unwrap();
    let answer = answer.body_mut().read_to_string().unwrap();
    assert_eq!(answer, r#"{"data":{"planet":[{"name":"Alderaan"}]}}"#);
    service.stop();
    let log = String::from_utf8(log.recv_timeout(PATIENCE).unwrap()).unwrap();
    assert!(log.contains("inferred a schema with"), "{log}");
}

#[test]
fn the_json_schema_is_that_of_the_library() {
    let output = soml(&["json-schema"]);
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed, soml_core::json_schema());
}

#[test]
fn explain_knows_the_codes_of_all_parts() {
    for (name, start) in [
        (
            "duplicate_key",
            "DUPLICATE_KEY (error): a duplicate key in a mapping\n\nA key can",
        ),
        ("API_NOT_COVARIANT", "API_NOT_COVARIANT (error): A subclass"),
        (
            "PROPERTY_ADDED",
            "PROPERTY_ADDED (safe): A property was added",
        ),
        ("LIMIT_DEPTH", "LIMIT_DEPTH (error): The document is nested"),
        ("SCHEMA_EXISTS", "SCHEMA_EXISTS (HTTP status 409): A schema"),
    ] {
        let output = soml(&["explain", name]);
        assert!(out(&output).starts_with(start), "{}", out(&output));
    }
    let list = out(&soml(&["explain"]));
    for entry in servers::codes::all() {
        assert!(
            list.contains(&format!("\n  {} ", entry.name)),
            "{}",
            entry.name
        );
    }
}

#[test]
fn explain_suggests_the_nearest_code() {
    let unknown = soml(&["explain", "DUPLICATE_KEYS"]);
    assert_eq!(code(&unknown), Some(64));
    assert!(err(&unknown).contains("did you mean DUPLICATE_KEY?"));
    let far = soml(&["explain", "nothing-like-it"]);
    assert!(err(&far).contains("`soml explain` lists all codes"));
}
