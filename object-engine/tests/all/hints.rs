//! What requests that are nearly right are told.

use graphql_gen::typesystem::ApiOptions;
use graphql_service::{Request, RequestContext};
use object_engine::{ObjectService, ServiceOptions};
use serde_json::{Value, json};

use crate::back_end::{BackEnd, Kind};
use crate::fixture;

const SCHEMA: &str = "
id: /soml/hints
specialPrefixes: {base_iri: 'http://e/', vocab_iri: 'http://v/', vocab_prefix: v}
objects:
  Planet:
    name: v:label
    props: {label: {min: 1}, text: {range: langString, max: inf}, mass: {range: int}, near: {range: Planet, max: inf}}
";

fn service() -> ObjectService {
    let back_end = BackEnd::new(Kind::Image);
    let api = ApiOptions::default().with_mutations(true);
    let options = ServiceOptions::new().with_api(api);
    fixture::service(SCHEMA, back_end.graph_store(), options)
}

/// Returns the only error of a request.
fn refused(text: &str, variables: Value) -> Value {
    let variables = variables.as_object().expect("an object").clone();
    let request = Request::new(text).with_variables(variables);
    let answer = fixture::json(&fixture::answer(&service(), request, RequestContext::new()));
    let errors = answer["errors"].as_array().map(Vec::len);
    assert_eq!(errors, Some(1), "{text}: {answer}");
    answer["errors"][0].clone()
}

#[test]
fn whoever_writes_the_name_of_an_object_is_told_the_property() {
    let hint = "Did you mean \"label\"?";
    for text in [
        "mutation { create_Planet(objects: [{name: \"Tatooine\"}]) { affected_count { count } } }",
        "mutation { update_Planet(objects: {id: \"http://e/a\", name: \"Hoth\"}) { affected_count { count } } }",
    ] {
        let error = refused(text, json!({}));
        let message = error["message"].as_str().expect("a message");
        assert!(message.contains(hint), "{message}");
    }
    let text = "mutation ($new: [Planet_Create_Input!]!) { create_Planet(objects: $new) { affected_count { count } } }";
    let error = refused(
        text,
        json!({"new": [{"label": "a"}, {"label": "b", "name": "Tatooine"}]}),
    );
    let expected =
        "`$new[1].name` is not a field of `Planet_Create_Input`; did you mean \"label\"?";
    assert_eq!(error["message"], expected);
    assert_eq!(error["extensions"]["code"], "VARIABLE_INVALID");
    assert_eq!(error["extensions"]["variable"], "$new[1].name");
    assert_eq!(error["locations"], json!([{"line": 1, "column": 11}]));
}

#[test]
fn a_bare_value_in_a_filter_is_told_its_operator() {
    for (condition, hint) in [
        ("{name: \"Tatooine\"}", "{EQ: \"Tatooine\"}"),
        ("{mass: 3}", "{EQ: 3}"),
        ("{text: \"a\"}", "{value: {EQ: \"a\"}}"),
        ("{OR: [{near: {label: \"a\"}}]}", "{EQ: \"a\"}"),
    ] {
        let error = refused(
            &format!("{{ planet(where: {condition}) {{ id }} }}"),
            json!({}),
        );
        let message = error["message"].as_str().expect("a message");
        assert!(
            message.ends_with(&format!("Did you mean {hint}?")),
            "{message}"
        );
        assert_eq!(error["extensions"]["code"], "GRAPHQL_VALIDATION_FAILED");
    }
    let text = "query ($w: Planet_Where_Multi) { planet(where: $w) { id } }";
    let error = refused(text, json!({"w": {"name": "Tatooine"}}));
    let message = error["message"].as_str().expect("a message");
    assert!(
        message.starts_with("`$w.name` is \"Tatooine\", which is not a value of"),
        "{message}"
    );
    assert!(
        message.ends_with("did you mean {\"EQ\": \"Tatooine\"}?"),
        "{message}"
    );
    assert_eq!(error["extensions"]["variable"], "$w.name");
}

#[test]
fn arguments_of_other_apis_are_told_the_name_that_they_have_here() {
    for (argument, meant) in [
        ("first: 3", "limit"),
        ("skip: 3", "offset"),
        ("filter: {}", "where"),
        ("sort: {}", "orderBy"),
        ("limt: 3", "limit"),
    ] {
        let error = refused(&format!("{{ planet({argument}) {{ id }} }}"), json!({}));
        let message = error["message"].as_str().expect("a message");
        assert!(
            message.ends_with(&format!("Did you mean \"{meant}\"?")),
            "{message}"
        );
    }
}

#[test]
fn a_variable_without_a_value_is_told_the_name_under_which_one_was_sent() {
    let text = "query ($where: Planet_Where_Multi!, $ids: [ID!]) { planet(where: $where, ID: $ids) { id } }";
    let error = refused(text, json!({"ids": [], "wehre": {}}));
    assert_eq!(error["extensions"]["variable"], "$where", "{error}");
    let message = error["message"].as_str().expect("a message");
    assert!(
        message.ends_with("has no value; did you send it as \"wehre\"?"),
        "{message}"
    );
    let error = refused(text, json!({"ids": [], "other": {}}));
    let message = error["message"].as_str().expect("a message");
    assert!(message.ends_with("has no value"), "{message}");
}

#[test]
fn an_invalid_variable_has_its_place_its_name_and_what_is_meant() {
    let text = "query (\n  $w: Planet_Where_Multi) { planet(where: $w) { id } }";
    for (value, path, hint) in [
        (json!({"nmae": {}}), "$w.nmae", "did you mean \"name\"?"),
        (
            json!({"OR": [{}, {"mas": {}}]}),
            "$w.OR[1].mas",
            "did you mean \"mass\"?",
        ),
        (json!({"mass": {"GT": "x"}}), "$w.mass.GT", "not a value of"),
        (
            json!("Tatooine"),
            "$w",
            "not a value of `Planet_Where_Multi`",
        ),
    ] {
        let error = refused(text, json!({ "w": value }));
        assert_eq!(error["extensions"]["code"], "VARIABLE_INVALID", "{error}");
        assert_eq!(error["extensions"]["variable"], path, "{error}");
        assert_eq!(
            error["locations"],
            json!([{"line": 2, "column": 3}]),
            "{error}"
        );
        let message = error["message"].as_str().expect("a message");
        assert!(
            message.contains(&format!("`{path}`")) && message.contains(hint),
            "{message}"
        );
    }
}

#[test]
fn the_end_of_an_unfinished_document_is_reported_once() {
    for text in [
        "{ planet { id",
        "{ planet(where: {name: {EQ: \"a\"",
        "query ($a: Int",
        "{",
        "mutation",
    ] {
        let error = refused(text, json!({}));
        assert_eq!(
            error["extensions"]["code"], "GRAPHQL_PARSE_FAILED",
            "{error}"
        );
    }
}
