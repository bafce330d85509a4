//! What would change more objects than its author means is refused: the guard of `where` in mutations.

use graphql_gen::typesystem::ApiOptions;
use graphql_service::{Request, RequestContext};
use object_engine::{ObjectService, ServiceOptions};
use oxrdf::Quad;
use oxrdfio::RdfFormat;
use serde_json::{Value, json};

use crate::back_end::{BackEnd, Kind};
use crate::fixture;
use crate::images;

const SCHEMA: &str = "
id: /soml/guard
specialPrefixes: {base_iri: 'http://e/', vocab_iri: 'http://v/', vocab_prefix: v}
objects:
  Body:
    kind: abstract
    name: v:title
    props: {title: {}, text: {range: stringOrLangString, max: inf}, mass: {range: int}, near: {range: Body, max: inf}}
  Planet: {inherits: Body}
  Star: {inherits: Body, kind: concrete}
  Giant: {inherits: Planet}
";

const DATA: &str = "
@prefix v: <http://v/> . @prefix e: <http://e/> .
e:a a v:Planet ; v:title \"a\" ; v:mass 1 ; v:near e:s .
e:b a v:Planet ; v:title \"b\" ; v:near e:a, e:b .
e:g a v:Planet, v:Giant ; v:title \"g\" .
e:s a v:Star ; v:title \"s\" .
";

/// Conditions that every planet satisfies, whatever the data are.
const ALL: &[&str] = &[
    "{}",
    "{AND: []}",
    "{AND: [{}, {AND: {}}]}",
    "{OR: [{name: {EQ: \"x\"}}, {}]}",
    "{OR: [{}]}",
    "{OR: {}}",
    "{OR: [{OR: [{AND: []}]}]}",
    "{NOT: {ID: []}}",
    "{NOT: {title: {IN: []}}}",
    "{NOT: {near: {title: {IN: []}}}}",
    "{NOT: {NOT: {}}}",
    "{NOT: {OR: []}}",
    "{NOT: {AND: [{ID: []}, {name: {EQ: \"x\"}}]}}",
    "{NOT: {id: {NRE: \"\"}}}",
    "{NOT: {id: {IN: []}}}",
    "{type: {}}",
    "{type: {NIN: []}}",
    "{type: {EQ: \"http://v/Planet\"}}",
    "{type: {IN: [\"http://v/Planet\", \"http://v/Star\"]}}",
    "{type: {RE: \"^http://v/\"}}",
    "{NOT: {type: {ALL: {EQ: \"http://v/Star\"}}}}",
    "{id: {}}",
    "{id: {RE: \"\"}}",
    "{id: {RE: \".*\"}}",
    "{id: {IRE: \"^.+$\"}}",
    "{id: {RE: \".*:.*\"}}",
    "{id: {RE: \"^.+:.*$\"}}",
    "{id: {RE: \"..\"}}",
    "{id: {NIN: []}}",
    "{id: {NEQ: \"no iri\"}}",
    "{near: {ALL: {}}}",
    "{near: {ALL: {id: {RE: \"\"}}}}",
    "{near: {ALL: {OR: [{}, {mass: {GT: 1}}]}}}",
    "{text: {ALL: {NOT: {value: {IN: []}}}}}",
    "{_ifPlanet: {}}",
    "{OR: [{mass: {GT: 1}}, {NOT: {mass: {GT: 1}}}]}",
    "{OR: [{id: {EQ: \"http://e/a\"}}, {id: {NEQ: \"http://e/a\"}}]}",
    "{OR: [{ID: \"http://e/a\"}, {NOT: {ID: \"http://e/a\"}}]}",
    "{NOT: {AND: [{mass: {GT: 1}}, {NOT: {mass: {GT: 1}}}]}}",
    "{OR: [{mass: {GT: 1}, title: {EQ: \"x\"}}, {NOT: {mass: {GT: 1}, title: {EQ: \"x\"}}}]}",
    "{OR: [{OR: [{mass: {GT: 1}}, {title: {EQ: \"x\"}}]}, {NOT: {OR: [{mass: {GT: 1}}, {title: {EQ: \"x\"}}]}}]}",
    "{NOT: {AND: [{mass: {GT: 1}, title: {EQ: \"x\"}}, {NOT: {mass: {GT: 1}, title: {EQ: \"x\"}}}]}}",
];

/// Conditions that some planets may not satisfy.
const SOME: &[&str] = &[
    "{ID: []}",
    "{ID: [\"http://e/a\"]}",
    "{name: {}}",
    "{title: {RE: \"\"}}",
    "{NOT: {near: {}}}",
    "{NOT: {ID: [\"http://e/a\"]}}",
    "{OR: [{name: {EQ: \"a\"}}, {mass: {GT: 1}}]}",
    "{type: {EQ: \"http://v/Giant\"}}",
    "{type: {ALL: {EQ: \"http://v/Planet\"}}}",
    "{type: {RE: \"Planet\"}}",
    "{type: {NEQ: \"http://v/Giant\"}, name: {EQ: \"a\"}}",
    "{id: {RE: \"^http://e/a\"}}",
    "{near: {ALL_EXISTS: {}}}",
    "{near: {ALL: {mass: {GT: 1}}}}",
    "{_ifGiant: {}}",
    "{OR: []}",
];

fn quads() -> Vec<Quad> {
    images::quads(RdfFormat::Turtle, DATA)
}

fn subject() -> (BackEnd, ObjectService) {
    let back_end = BackEnd::new(Kind::Image);
    back_end.load(&quads());
    let api = ApiOptions::default().with_mutations(true);
    let options = ServiceOptions::new().with_api(api);
    let service = fixture::service(SCHEMA, back_end.graph_store(), options);
    (back_end, service)
}

fn answer(service: &ObjectService, text: &str, variables: Value) -> Value {
    let variables = variables.as_object().expect("an object").clone();
    let request = Request::new(text).with_variables(variables);
    fixture::json(&fixture::answer(service, request, RequestContext::new()))
}

fn codes(answer: &Value) -> Vec<&str> {
    let errors = answer["errors"].as_array().into_iter().flatten();
    let codes = errors.map(|error| error["extensions"]["code"].as_str());
    codes.map(|code| code.expect("a code")).collect()
}

#[test]
fn a_condition_that_is_always_true_is_no_condition_whatever_its_form() {
    let (back_end, service) = subject();
    let before = back_end.quads().len();
    for condition in ALL {
        let text = format!(
            "mutation {{ delete_Planet(where: {condition}) {{ affected_count {{ count }} }} }}"
        );
        let refused = answer(&service, &text, json!({}));
        assert_eq!(
            codes(&refused),
            ["WHERE_REQUIRED"],
            "{condition}: {refused}"
        );
        assert!(refused["errors"][0]["locations"].is_array(), "{refused}");
        let text = format!(
            "mutation {{ update_Planet(where: {condition}, objects: {{mass: 3}}) {{ affected_count {{ count }} }} }}"
        );
        let refused = answer(&service, &text, json!({}));
        assert_eq!(
            codes(&refused),
            ["WHERE_REQUIRED"],
            "{condition}: {refused}"
        );
    }
    assert_eq!(back_end.quads().len(), before);
}

#[test]
fn a_condition_that_is_always_true_is_refused_as_a_variable_too() {
    let (_, service) = subject();
    let text = "mutation ($w: PlanetInterface_Where_Multi!) { delete_Planet(where: $w) { affected_count { count } } }";
    for condition in [
        json!({}),
        json!({"OR": [{"name": {"EQ": "x"}}, {}]}),
        json!({"NOT": {"ID": []}}),
        json!({"type": {}}),
    ] {
        let refused = answer(&service, text, json!({ "w": condition }));
        assert_eq!(
            codes(&refused),
            ["WHERE_REQUIRED"],
            "{condition}: {refused}"
        );
    }
}

#[test]
fn everything_is_deleted_where_that_is_said() {
    for condition in ALL {
        let (_, service) = subject();
        let text = format!(
            "mutation {{ delete_Planet(where: {condition}, allowAll: true, dryRun: true) {{ affected_count {{ count }} }} }}"
        );
        let answer = answer(&service, &text, json!({}));
        let counts = answer["data"]["delete_Planet"]["affected_count"].as_array();
        let counts = counts
            .unwrap_or_else(|| panic!("{condition}: {answer}"))
            .iter();
        let sum: u64 = counts
            .map(|count| count["count"].as_u64().expect("a count"))
            .sum();
        assert_eq!(sum, 3, "{condition}: {answer}");
    }
}

#[test]
fn conditions_that_depend_on_data_are_let_through() {
    let (_, service) = subject();
    for condition in SOME {
        let text = format!(
            "mutation {{ delete_Planet(where: {condition}, dryRun: true) {{ affected_count {{ count }} }} }}"
        );
        let answer = answer(&service, &text, json!({}));
        assert_eq!(codes(&answer), [""; 0], "{condition}: {answer}");
    }
}

#[test]
fn an_operator_whose_variable_has_no_value_is_refused_at_any_depth() {
    let (back_end, service) = subject();
    let before = back_end.quads().len();
    for (variable, condition, path) in [
        ("String", "{name: {EQ: $v}}", "where.name.EQ"),
        (
            "String",
            "{ID: \"http://e/a\", name: {EQ: $v}}",
            "where.name.EQ",
        ),
        ("[String!]", "{title: {IN: $v}}", "where.title.IN"),
        ("[ID!]", "{ID: $v}", "where.ID"),
        ("String_Where", "{title: $v}", "where.title"),
        ("PlanetInterface_Where_Multi", "{NOT: $v}", "where.NOT"),
        ("[PlanetInterface_Where_Multi!]", "{OR: $v}", "where.OR"),
        (
            "[PlanetInterface_Where_Multi!]",
            "{AND: $v, name: {EQ: \"a\"}}",
            "where.AND",
        ),
        (
            "String",
            "{OR: [{name: {EQ: \"a\"}}, {NOT: {near: {ALL: {title: {RE: $v}}}}}]}",
            "where.OR.NOT.near.ALL.title.RE",
        ),
    ] {
        for mutation in [
            format!("delete_Planet(where: {condition})"),
            format!("delete_Planet(where: {condition}, allowAll: true)"),
            format!("update_Planet(where: {condition}, objects: {{mass: 3}})"),
        ] {
            let text = format!(
                "mutation ($v: {variable}) {{\n{mutation} {{ affected_count {{ count }} }} }}"
            );
            let refused = answer(&service, &text, json!({}));
            assert_eq!(codes(&refused), ["NULL_OPERAND"], "{text}: {refused}");
            let error = &refused["errors"][0];
            assert_eq!(error["extensions"]["argumentPath"], path, "{error}");
            assert_eq!(error["locations"][0]["line"], 2, "{error}");
            let column = mutation.find("$v").expect("a variable") + 1;
            assert_eq!(error["locations"][0]["column"], column, "{error}");
        }
    }
    assert_eq!(back_end.quads().len(), before);
}

#[test]
fn a_variable_with_a_default_has_a_value() {
    let (_, service) = subject();
    let text = "mutation ($v: String = \"a\") {
        delete_Planet(where: {name: {EQ: $v}}, dryRun: true) { affected_count { count } } }";
    let answer = answer(&service, text, json!({}));
    assert_eq!(
        answer["data"]["delete_Planet"]["affected_count"][0]["count"], 1,
        "{answer}"
    );
}

#[test]
fn a_null_where_of_an_update_is_no_condition() {
    let (_, service) = subject();
    for (variable, written) in [("", "null"), ("($w: PlanetInterface_Where_Multi)", "$w")] {
        let text = format!(
            "mutation {variable} {{ update_Planet(where: {written}, objects: {{id: \"http://e/a\", mass: 3}}) {{ affected_count {{ count }} }} }}"
        );
        let refused = answer(&service, &text, json!({"w": null}));
        assert_eq!(codes(&refused), ["WHERE_REQUIRED"], "{refused}");
    }
}

#[test]
fn a_query_leaves_out_an_operator_whose_variable_has_no_value() {
    let (_, service) = subject();
    let text = "query ($v: String) { planet(where: {name: {EQ: $v}}) { name } }";
    let answer = answer(&service, text, json!({}));
    assert_eq!(
        answer["data"]["planet"].as_array().map(Vec::len),
        Some(3),
        "{answer}"
    );
}
