//! `soml infer`, run as a process: what it overwrites, where it reads, and that its schemas serve.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command_line::{code, err, out, soml};
use crate::sparql_server::SparqlServer;

const DATA: &str = "demo/star-wars/data.ttl";
const MULTILINGUAL: &str = "tests/data/star-wars-multilingual/data.ttl.gz";

#[test]
fn an_existing_file_is_overwritten_only_by_force() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("schema.yaml");
    fs::write(&path, "mine").unwrap();
    let path = path.to_str().unwrap();
    let arguments = ["infer", "../docs/examples/books.ttl", "--output", path];
    let refused = soml(&arguments);
    assert_eq!(code(&refused), Some(64));
    assert_eq!(
        err(&refused),
        format!("error: {path} exists; --force overwrites it\n"),
        "nothing is read before"
    );
    assert_eq!(fs::read_to_string(path).unwrap(), "mine");
    let forced = soml(&[&arguments[..], &["--force"]].concat());
    assert_eq!(code(&forced), Some(0), "{}", err(&forced));
    assert!(fs::read_to_string(path).unwrap().starts_with("id: "));
    let alone = soml(&["infer", "../docs/examples/books.ttl", "--force"]);
    assert_eq!(code(&alone), Some(64), "{}", err(&alone));
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_can_be_written_without_force() {
    let output = soml(&["infer", "../docs/examples/books.ttl", "-o", "/dev/stdout"]);
    assert_eq!(code(&output), Some(0), "{}", err(&output));
    assert!(
        out(&output).starts_with("id: /soml/inferred\n"),
        "{}",
        out(&output)
    );
}

#[test]
fn a_server_gives_the_schema_of_its_data() {
    let server = SparqlServer::with(&fs::read_to_string(DATA).unwrap());
    let embedded = out(&soml(&["infer", DATA]));
    let flags = server.flags();
    let flags = flags.each_ref().map(String::as_str);
    let set = soml(&[&["infer"], &flags[..]].concat());
    assert_eq!(code(&set), Some(0), "{}", err(&set));
    assert_eq!(out(&set), embedded);
    let store = soml(&[&["infer", "--store", &server.address], &flags[2..]].concat());
    assert_eq!(out(&store), embedded, "{}", err(&store));
}

#[test]
fn data_come_from_files_or_from_a_server() {
    let address = ["--set", "sparql.endpoint.address=http://127.0.0.1:9/"];
    let neither = soml(&["infer"]);
    let both = soml(&[&["infer", DATA], &address[..]].concat());
    let named = soml(&["infer", DATA, "--store", "http://127.0.0.1:9/"]);
    let strict = soml(&["infer", "--strict", "--store", "http://127.0.0.1:9/"]);
    for output in [&neither, &both, &named, &strict] {
        assert_eq!(code(output), Some(64), "{}", err(output));
    }
    assert!(err(&neither).contains("--store URL"), "{}", err(&neither));
    let kind = ["--set", "sparql.endpoint.type=sparql11"];
    let away = soml(&[&["infer"], &address[..], &kind].concat());
    assert_eq!(code(&away), Some(3), "{}", err(&away));
    assert!(
        err(&away).contains("error: failed to infer a schema"),
        "{}",
        err(&away)
    );
}

/// Infers a schema from a file, which must have no diagnostics, and runs a query over both.
fn answered(data: &str, query: &str) -> Value {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("schema.yaml");
    let path = path.to_str().unwrap();
    let inferred = soml(&["infer", data, "--output", path]);
    assert_eq!(code(&inferred), Some(0), "{}", err(&inferred));
    let again = out(&soml(&["infer", data]));
    assert_eq!(again, fs::read_to_string(path).unwrap(), "names are stable");
    let checked = out(&soml(&["validate", path]));
    assert!(checked.ends_with("; 0 errors, 0 warnings\n"), "{checked}");
    let output = soml(&["query", "--schema", path, query, "--data", data]);
    assert_eq!(code(&output), Some(0), "{}{}", out(&output), err(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn schemas_of_real_data_are_valid_and_serve_names_and_superclasses() {
    let query = "{ character(where: {name: {EQ: \"Chewbacca\"}}) { name __typename } }";
    let answer = answered(DATA, query);
    let chewbacca = json!([{"name": "Chewbacca", "__typename": "Wookiee"}]);
    assert_eq!(answer, json!({"data": {"character": chewbacca}}));

    let answer = answered(MULTILINGUAL, "{ object: __schema { queryType { name } } }");
    assert_eq!(answer["data"]["object"]["queryType"]["name"], "Query");
}

/// Small data whose names and namespaces are hard to make a document of.
const HARD: &str = "../soml-data/tests/data/infer";

#[test]
fn classes_that_are_named_like_graphql_types_are_served() {
    for (file, query, expected) in [
        (
            "dbpedia-like.nt",
            "{ year_ { id } }",
            json!({"year_": [{"id": "http://dbpedia.org/resource/1999"}]}),
        ),
        (
            "bibframe-like.nt",
            "{ object_ { title } }",
            json!({"object_": [{"title": "A globe"}]}),
        ),
        (
            "class-names.nt",
            "{ boolean_ { id p } person_Where_ { id } }",
            json!({
                "boolean_": [{"id": "http://ex.org/i/Boolean", "p": "x"}],
                "person_Where_": [{"id": "http://ex.org/i/Person_Where"}],
            }),
        ),
    ] {
        let path = format!("{HARD}/{file}");
        let expected = json!({"data": expected});
        assert_eq!(answered(&path, query), expected, "{file}");
        let output = soml(&["query", "--data", &path, query]);
        assert_eq!(code(&output), Some(0), "{}", err(&output));
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer, expected, "{file}");
    }
}

#[test]
fn every_hard_file_gives_a_document_without_diagnostics() {
    for entry in fs::read_dir(HARD).unwrap() {
        let path = entry.unwrap().path();
        let answer = answered(path.to_str().unwrap(), "{ object(limit: 1) { id } }");
        let found = answer["data"]["object"].as_array().unwrap();
        assert_eq!(found.len(), 1, "{}", path.display());
    }
}

#[test]
fn data_pass_a_check_against_what_is_inferred_from_them() {
    let dir = TempDir::new().unwrap();
    let schema = dir.path().join("schema.yaml");
    let schema = schema.to_str().unwrap();
    let data = format!("{HARD}/min-blank.nt");
    let inferred = soml(&["infer", &data, "--output", schema]);
    assert_eq!(code(&inferred), Some(0), "{}", err(&inferred));
    let checked = soml(&["check", "--schema", schema, "--data", &data]);
    assert_eq!(code(&checked), Some(0), "{}", out(&checked));
}

#[test]
fn prefixes_that_files_declare_are_those_of_the_document() {
    let dir = TempDir::new().unwrap();
    let turtle = "@prefix ex: <http://v/> . @prefix w: <http://w/> .
        <http://r/1> a ex:A ; ex:p 1 ; ex:q 2 ; w:r 3 .";
    let xml = "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:ex='http://v/' xmlns:w='http://w/'>
        <ex:A rdf:about='http://r/1'><ex:p>1</ex:p><ex:q>2</ex:q><w:r>3</w:r></ex:A></rdf:RDF>";
    let json = r#"{"@context": {"ex": "http://v/", "w": "http://w/"}, "@id": "http://r/1",
        "@type": "ex:A", "ex:p": 1, "ex:q": 2, "w:r": 3}"#;
    for (name, text) in [("a.ttl", turtle), ("a.rdf", xml), ("a.jsonld", json)] {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        let document = out(&soml(&["infer", path.to_str().unwrap()]));
        assert!(
            document.contains("  vocab_prefix: ex\n"),
            "{name}: {document}"
        );
        assert!(
            document.contains("  w: \"http://w/\"\n"),
            "{name}: {document}"
        );
    }
}

#[test]
fn classes_of_ontologies_are_taken_in_when_asked_for() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("ontology.ttl");
    let data = "@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix : <http://v/> .
        :A a owl:Class . :a a :A .";
    fs::write(&path, data).unwrap();
    let path = path.to_str().unwrap();
    let without = soml(&["infer", path]);
    assert!(
        err(&without).ends_with(
            "inferred a schema with 1 object and 0 properties; 1 class of rdf:, rdfs:, owl: and sh: \
             left out, which `soml infer --ontology-classes` includes\n"
        ),
        "{}",
        err(&without)
    );
    let with = soml(&["infer", path, "--ontology-classes"]);
    assert!(
        out(&with).contains("\n  \"owl:Class\":  # 1 instance\n"),
        "{}",
        out(&with)
    );
}
