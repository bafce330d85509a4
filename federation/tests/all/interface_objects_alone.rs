//! What is asked and answered of an interface object's objects without their types: where clients may see none, and
//! where they do not matter.

use serde_json::{Value as Json, json};

use crate::scripted::{Script, Scripted, entities};

/// Has the interface as an object type.
const FIELDS: Script = (
    "fields",
    r#"type Query { b: I all: [I] }
       type I @key(fields: "id") @interfaceObject { id: ID! field: String below: Below }
       type Below { word: String }"#,
    |_| {
        let object = |id: &str| json!({ "id": id, "field": "foo", "below": { "word": "w" } });
        json!({ "data": { "b": object("1"), "all": [object("1"), null] } })
    },
);

/// Knows the interface, and types that clients may not see.
const HIDDEN: Script = (
    "types",
    r#"type Query { any: String }
       interface I @key(fields: "id") { id: ID! title: String }
       type X implements I @key(fields: "id") @inaccessible { id: ID! title: String }
       type Y implements I @key(fields: "id") @inaccessible { id: ID! title: String }"#,
    |request| entities(request, |_| json!({ "__typename": "X", "title": "t" })),
);

/// Knows the interface, and no type of it.
const NONE: Script = (
    "types",
    r#"type Query { any: String }
       interface I @key(fields: "id") { id: ID! title: String }"#,
    |request| entities(request, |_| Json::Null),
);

#[test]
fn an_object_is_shown_where_clients_may_see_no_type_of_its_interface() {
    for types in [HIDDEN, NONE] {
        let gateway = Scripted::new(&[types, FIELDS]);
        let answer = gateway.answer("{ b { id field below { word } } all { x: field } }");
        let one = json!({ "id": "1", "field": "foo", "below": { "word": "w" } });
        let all = json!([{ "x": "foo" }, null]);
        assert_eq!(answer, json!({ "data": { "b": one, "all": all } }));
        let plan = gateway.plan("{ b { id field } }");
        let expected = "waves 1, requests 1, fields 3\n0: fields\n   query { b { id field } }\n";
        assert_eq!(plan, expected);
    }
}

#[test]
fn an_object_of_an_inaccessible_type_is_null_where_its_type_is_asked_for() {
    let gateway = Scripted::new(&[HIDDEN, FIELDS]);
    let answer = gateway.answer("{ b { __typename field } }");
    assert_eq!(answer["data"], json!({ "b": null }));
    let [error] = answer["errors"].as_array().unwrap().as_slice() else {
        panic!("{answer}");
    };
    assert_eq!(error["path"], json!(["b"]));
    assert_eq!(error["extensions"]["code"], "SUBGRAPH_VALUE_INVALID");
    assert!(!answer.to_string().contains('X'), "{answer}");
}

#[test]
fn an_object_of_no_type_is_null_where_its_type_is_asked_for() {
    let gateway = Scripted::new(&[NONE, FIELDS]);
    let answer = gateway.answer("{ b { __typename field } }");
    assert_eq!(answer, json!({ "data": { "b": null } }));
}

#[test]
fn an_object_of_no_type_has_what_its_interface_has_elsewhere() {
    let gateway = Scripted::new(&[NONE, FIELDS]);
    let answer = gateway.answer("{ b { field title } }");
    assert_eq!(
        answer,
        json!({ "data": { "b": { "field": "foo", "title": null } } })
    );
    let key = json!({ "__typename": "I", "id": "1" });
    assert_eq!(gateway.sent("types"), [key]);
}

#[test]
fn an_object_of_no_visible_type_is_asked_for_in_other_subgraphs_that_have_it_so() {
    for types in [HIDDEN, NONE] {
        let more: Script = (
            "more",
            r#"type I @key(fields: "id") @interfaceObject { id: ID! more: Int }"#,
            |request| entities(request, |_| json!({ "more": 7 })),
        );
        let gateway = Scripted::new(&[types, FIELDS, more]);
        let answer = gateway.answer("{ b { field more ... on I { x: more } } }");
        let expected = json!({ "field": "foo", "more": 7, "x": 7 });
        assert_eq!(answer, json!({ "data": { "b": expected } }));
        let key = json!({ "__typename": "I", "id": "1" });
        assert_eq!(gateway.sent("more"), [key]);
    }
}

#[test]
fn an_interface_without_types_can_be_asked_for_where_it_is_one() {
    let types: Script = (
        NONE.0,
        r#"type Query { a: I }
           interface I @key(fields: "id") { id: ID! title: String }"#,
        |_| json!({ "data": { "a": { "__typename": "Gone", "id": "1" } } }),
    );
    let gateway = Scripted::new(&[types, FIELDS]);
    let answer = gateway.answer("{ a { id field } }");
    assert_eq!(answer["data"], json!({ "a": null }));
    assert_eq!(
        answer["errors"][0]["extensions"]["code"],
        "SUBGRAPH_VALUE_INVALID"
    );
}

#[test]
fn a_field_can_require_an_interface_that_has_no_types() {
    let types: Script = (
        "types",
        r#"type Query { thing: Thing }
           type Thing @key(fields: "id") { id: ID! i: I }
           interface I { word: String }"#,
        |_| json!({ "data": { "thing": { "id": "1", "i": null } } }),
    );
    let made: Script = (
        "made",
        r#"type Thing @key(fields: "id") {
             id: ID! i: I @external made: String @requires(fields: "i { word }") }
           interface I { word: String }"#,
        |request| entities(request, |it| json!({ "made": it["i"].to_string() })),
    );
    let gateway = Scripted::new(&[types, made]);
    let answer = gateway.answer("{ thing { made } }");
    assert_eq!(answer, json!({ "data": { "thing": { "made": "null" } } }));
}

/// Knows the interface with two types.
const TYPES: Script = (
    "types",
    r#"type Query { any: String }
       interface I @key(fields: "id") { id: ID! title: String both: String }
       type X implements I @key(fields: "id") { id: ID! title: String @shareable both: String @shareable }
       type Y implements I @key(fields: "id") { id: ID! title: String both: String @shareable }"#,
    |request| {
        entities(request, |it| {
            if it["id"] == "1" {
                json!({ "__typename": "X", "title": "x", "both": "b" })
            } else {
                json!({ "__typename": "Y", "title": "y", "both": "b" })
            }
        })
    },
);

/// Knows one of them, so that the two are not alike.
const ONE: Script = (
    "one",
    r#"type X @key(fields: "id") { id: ID! title: String @shareable }"#,
    |request| entities(request, |_| json!({ "title": "x" })),
);

/// Has the interface as an object type, and shares a field.
const SHARED: Script = (
    "shared",
    r#"type Query { b: [I] }
       type I @key(fields: "id") @interfaceObject { id: ID! both: String @shareable below: [Below] }
       type Below @key(fields: "word") { word: String }"#,
    |_| {
        let object = |id: &str| json!({ "id": id, "both": "b", "below": [{ "word": id }] });
        json!({ "data": { "b": [object("1"), object("2")] } })
    },
);

/// Has the interface as an object type too, and computes a field.
const LENT: Script = (
    "lent",
    r#"type I @key(fields: "id") @interfaceObject {
         id: ID! lent: String both: String @external made: String @requires(fields: "both") }
       type Below @key(fields: "word") { word: String deep: String }"#,
    |request| {
        entities(
            request,
            |it| json!({ "lent": it["id"], "made": it["both"], "deep": it["word"] }),
        )
    },
);

#[test]
fn types_that_are_not_alike_are_not_asked_for_where_they_do_not_matter() {
    let gateway = Scripted::new(&[TYPES, ONE, SHARED, LENT]);
    let answer = gateway.answer("{ b { id both } }");
    let object = |id: &str| json!({ "id": id, "both": "b" });
    assert_eq!(
        answer,
        json!({ "data": { "b": [object("1"), object("2")] } })
    );
    let plan = gateway.plan("{ b { id both } }");
    let expected = "waves 1, requests 1, fields 3\n0: shared\n   query { b { id both } }\n";
    assert_eq!(plan, expected);
    assert_eq!(gateway.sent("types"), Vec::<Json>::new());
}

#[test]
fn objects_of_types_that_are_not_alike_are_asked_for_as_those_of_their_interface() {
    let gateway = Scripted::new(&[TYPES, ONE, SHARED, LENT]);
    let answer = gateway.answer("{ b { lent made below { deep } } }");
    let object = |id: &str| json!({ "lent": id, "made": "b", "below": [{ "deep": id }] });
    assert_eq!(
        answer,
        json!({ "data": { "b": [object("1"), object("2")] } })
    );
    assert_eq!(gateway.sent("types"), Vec::<Json>::new());
    let item = |id: &str| json!({ "__typename": "I", "id": id, "both": "b" });
    let below = |word: &str| json!({ "__typename": "Below", "word": word });
    let mut sent = gateway.sent("lent");
    sent.sort_by_key(ToString::to_string);
    assert_eq!(sent, [below("1"), below("2"), item("1"), item("2")]);
}

#[test]
fn types_are_asked_for_where_a_field_is_not_to_be_had_without_them() {
    let gateway = Scripted::new(&[TYPES, ONE, SHARED, LENT]);
    let answer = gateway.answer("{ b { both title below { deep } } }");
    let object =
        |id: &str, title: &str| json!({ "both": "b", "title": title, "below": [{ "deep": id }] });
    assert_eq!(
        answer,
        json!({ "data": { "b": [object("1", "x"), object("2", "y")] } })
    );
}

#[test]
fn a_type_condition_asks_for_the_types_even_if_all_types_have_one() {
    let types: Script = (TYPES.0, TYPES.1, |request| {
        entities(request, |it| {
            if it["id"] == "1" {
                json!({ "__typename": "X" })
            } else {
                Json::Null
            }
        })
    });
    let gateway = Scripted::new(&[types, ONE, SHARED, LENT]);
    let answer = gateway.answer("{ b { ... on X { id } ... on Y { id } } }");
    assert_eq!(
        gateway.sent("types").len(),
        2,
        "{answer}: the second object may be of neither type"
    );
}

#[test]
fn an_error_is_at_the_place_of_an_object_whose_type_does_not_matter() {
    let lent: Script = (LENT.0, LENT.1, |request| {
        let mut answer = entities(request, |it| json!({ "lent": it["id"], "made": null }));
        let error = json!({ "message": "broken", "path": ["_entities", 1, "made"] });
        answer["errors"] = json!([error]);
        answer
    });
    let gateway = Scripted::new(&[TYPES, ONE, SHARED, lent]);
    let answer = gateway.answer("{ b { x: made } }");
    assert_eq!(
        answer["data"],
        json!({ "b": [{ "x": null }, { "x": null }] })
    );
    let errors = answer["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 1, "{answer}");
    assert_eq!(errors[0]["path"], json!(["b", 1, "x"]));
}
