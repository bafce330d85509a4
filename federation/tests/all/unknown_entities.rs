//! Entities that a subgraph does not know: nobody is asked for them by what it would have told, and what is computed
//! from it is given null.

use graphql_service::Request;
use serde_json::{Value as Json, json};

use crate::scripted::{Script, Scripted, entities};

/// Leads to three things, of which the first and the last are one.
const LISTS: Script = (
    "lists",
    r#"type Query { things: [Thing!] }
       type Thing @key(fields: "one") { one: ID! }"#,
    |_| json!({ "data": { "things": [{ "one": "1" }, { "one": "2" }, { "one": "1" }] } }),
);

/// Knows the second thing alone.
const KEYS: Script = (
    "keys",
    r#"type Thing @key(fields: "one") @key(fields: "two") { one: ID! two: ID! }"#,
    |request| second(request, json!({ "two": "b" })),
);

const NAMES: Script = (
    "names",
    r#"type Thing @key(fields: "two") { two: ID! name: String three: ID! }"#,
    |request| entities(request, |_| json!({ "name": "it", "three": "c" })),
);

fn second(request: &Request, entity: Json) -> Json {
    entities(request, |it| {
        if it["one"] == "2" {
            entity.clone()
        } else {
            Json::Null
        }
    })
}

#[test]
fn an_entity_whose_key_is_unknown_is_asked_for_no_further() {
    let gateway = Scripted::new(&[LISTS, KEYS, NAMES]);
    let answer = gateway.answer("{ things { name } }");
    let expected = json!([{ "name": null }, { "name": "it" }, { "name": null }]);
    assert_eq!(answer, json!({ "data": { "things": expected } }));
    let key = |one: &str| json!({ "__typename": "Thing", "one": one });
    assert_eq!(gateway.sent("keys"), [key("1"), key("2")]);
    assert_eq!(
        gateway.sent("names"),
        [json!({ "__typename": "Thing", "two": "b" })]
    );
}

#[test]
fn nobody_is_asked_where_no_key_is_known() {
    let keys: Script = (KEYS.0, KEYS.1, |request| entities(request, |_| Json::Null));
    let gateway = Scripted::new(&[LISTS, keys, NAMES]);
    let answer = gateway.answer("{ things { two name } }");
    // `two` is not null, so the things are not, and there is no list without them.
    assert_eq!(answer["data"], json!({ "things": null }));
    assert_eq!(gateway.sent("names"), Vec::<Json>::new());
}

#[test]
fn what_comes_behind_what_was_not_asked_for_is_not_asked_for_either() {
    let last: Script = (
        "last",
        r#"type Thing @key(fields: "three") { three: ID! more: Int }"#,
        |request| entities(request, |_| json!({ "more": 3 })),
    );
    let names: Script = (
        NAMES.0,
        r#"type Thing @key(fields: "two") @key(fields: "three") { two: ID! three: ID! name: String }"#,
        NAMES.2,
    );
    let gateway = Scripted::new(&[LISTS, KEYS, names, last]);
    let answer = gateway.answer("{ things { more } }");
    let expected = json!([{ "more": null }, { "more": 3 }, { "more": null }]);
    assert_eq!(answer, json!({ "data": { "things": expected } }));
    assert_eq!(
        gateway.sent("last"),
        [json!({ "__typename": "Thing", "three": "c" })]
    );
}

#[test]
fn a_key_that_a_subgraph_answers_with_null_is_sent_as_null() {
    let keys: Script = (
        KEYS.0,
        r#"type Thing @key(fields: "one") @key(fields: "two") { one: ID! two: ID }"#,
        |request| second(request, json!({ "two": null })),
    );
    let names: Script = (
        NAMES.0,
        r#"type Thing @key(fields: "two") { two: ID name: String }"#,
        NAMES.2,
    );
    let gateway = Scripted::new(&[LISTS, keys, names]);
    let answer = gateway.answer("{ things { name } }");
    let expected = json!([{ "name": null }, { "name": "it" }, { "name": null }]);
    assert_eq!(answer, json!({ "data": { "things": expected } }));
    assert_eq!(
        gateway.sent("names"),
        [json!({ "__typename": "Thing", "two": null })]
    );
}

#[test]
fn a_key_is_unknown_where_one_part_of_it_is() {
    let names: Script = (
        NAMES.0,
        r#"type Thing @key(fields: "one two") { one: ID! two: ID! name: String }"#,
        NAMES.2,
    );
    let keys: Script = (
        KEYS.0,
        r#"type Thing @key(fields: "one") { one: ID! two: ID! @shareable }"#,
        KEYS.2,
    );
    let gateway = Scripted::new(&[LISTS, keys, names]);
    let answer = gateway.answer("{ things { name } }");
    let expected = json!([{ "name": null }, { "name": "it" }, { "name": null }]);
    assert_eq!(answer, json!({ "data": { "things": expected } }));
    assert_eq!(
        gateway.sent("names"),
        [json!({ "__typename": "Thing", "one": "2", "two": "b" })]
    );
}

/// Names by an object inside of the key.
const NESTED: Script = (
    "names",
    r#"type Thing @key(fields: "k { id }") { k: K! name: String }
       type K { id: ID! @shareable }"#,
    |request| entities(request, |_| json!({ "name": "it" })),
);

#[test]
fn a_nested_key_is_unknown_as_a_whole() {
    let keys: Script = (
        "keys",
        r#"type Thing @key(fields: "one") { one: ID! k: K! @shareable }
           type K { id: ID! @shareable }"#,
        |request| second(request, json!({ "k": { "id": "b" } })),
    );
    let gateway = Scripted::new(&[LISTS, keys, NESTED]);
    let answer = gateway.answer("{ things { name } }");
    let expected = json!([{ "name": null }, { "name": "it" }, { "name": null }]);
    assert_eq!(answer, json!({ "data": { "things": expected } }));
    assert_eq!(
        gateway.sent("names"),
        [json!({ "__typename": "Thing", "k": { "id": "b" } })]
    );
}

#[test]
fn a_nested_key_is_unknown_where_another_subgraph_gave_its_object() {
    let lists: Script = (
        "lists",
        r#"type Query { things: [Thing!] }
           type Thing @key(fields: "one") { one: ID! k: K! @shareable }
           type K { word: String }"#,
        |_| {
            let thing = |one: &str| json!({ "one": one, "k": { "word": "w" } });
            json!({ "data": { "things": [thing("1"), thing("2")] } })
        },
    );
    let keys: Script = (
        "keys",
        r#"type Thing @key(fields: "one") { one: ID! k: K! @shareable }
           type K { id: ID! @shareable }"#,
        |request| second(request, json!({ "k": { "id": "b" } })),
    );
    let gateway = Scripted::new(&[lists, keys, NESTED]);
    let answer = gateway.answer("{ things { k { word } name } }");
    let thing = |name: Json| json!({ "k": { "word": "w" }, "name": name });
    let expected = json!([thing(Json::Null), thing(json!("it"))]);
    assert_eq!(answer, json!({ "data": { "things": expected } }));
    assert_eq!(
        gateway.sent("names"),
        [json!({ "__typename": "Thing", "k": { "id": "b" } })]
    );
}

#[test]
fn a_key_with_a_list_is_unknown_where_one_item_is() {
    let lists: Script = (
        "lists",
        r#"type Query { things: [Thing!] }
           type Thing @key(fields: "one") { one: ID! parts: [Part!]! @shareable }
           type Part @key(fields: "code") { code: ID! }"#,
        |_| {
            let part = |code: &str| json!({ "code": code });
            let first = json!({ "one": "1", "parts": [part("x"), part("y")] });
            let second = json!({ "one": "2", "parts": [part("y"), part("y")] });
            let third = json!({ "one": "3", "parts": [] });
            json!({ "data": { "things": [first, second, third] } })
        },
    );
    let keys: Script = (
        "keys",
        r#"type Part @key(fields: "code") { code: ID! id: ID! @shareable }"#,
        |request| {
            entities(request, |it| {
                if it["code"] == "y" {
                    json!({ "id": "b" })
                } else {
                    Json::Null
                }
            })
        },
    );
    let names: Script = (
        "names",
        r#"type Thing @key(fields: "parts { id }") { parts: [Part!]! @shareable name: String }
           type Part @key(fields: "id") { id: ID! @shareable }"#,
        |request| entities(request, |_| json!({ "name": "it" })),
    );
    let gateway = Scripted::new(&[lists, keys, names]);
    let answer = gateway.answer("{ things { name } }");
    let expected = json!([{ "name": null }, { "name": "it" }, { "name": "it" }]);
    assert_eq!(answer, json!({ "data": { "things": expected } }));
    let parts = |parts: Json| json!({ "__typename": "Thing", "parts": parts });
    assert_eq!(
        gateway.sent("names"),
        [
            parts(json!([{ "id": "b" }, { "id": "b" }])),
            parts(json!([]))
        ]
    );
}

/// Computes a text of fields of others.
fn made(inputs: &'static str) -> Script {
    ("made", inputs, |request| {
        entities(
            request,
            |it| json!({ "made": format!("{}{}", it["two"], it["name"]) }),
        )
    })
}

#[test]
fn what_is_unknown_is_required_as_null() {
    let made = made(
        r#"type Thing @key(fields: "one") {
             one: ID! two: ID! @external made: String @requires(fields: "two") }"#,
    );
    let gateway = Scripted::new(&[LISTS, KEYS, made]);
    let answer = gateway.answer("{ things { made } }");
    let (unknown, known) = ("nullnull", "\"b\"null");
    let expected = json!([{ "made": unknown }, { "made": known }, { "made": unknown }]);
    assert_eq!(answer, json!({ "data": { "things": expected } }));
    let thing = |one: &str, two: Json| json!({ "__typename": "Thing", "one": one, "two": two });
    assert_eq!(
        gateway.sent("made"),
        [thing("1", Json::Null), thing("2", json!("b"))]
    );
}

#[test]
fn what_was_not_asked_for_is_required_as_null() {
    let made = made(
        r#"type Thing @key(fields: "one") {
             one: ID! name: String @external made: String @requires(fields: "name") }"#,
    );
    let gateway = Scripted::new(&[LISTS, KEYS, NAMES, made]);
    gateway.answer("{ things { made } }");
    let thing = |one: &str, name: Json| json!({ "__typename": "Thing", "one": one, "name": name });
    assert_eq!(
        gateway.sent("made"),
        [thing("1", Json::Null), thing("2", json!("it"))]
    );
}

#[test]
fn a_field_that_requires_what_is_its_key_too_is_not_asked_for_without_it() {
    let made = made(
        r#"type Thing @key(fields: "two") {
             two: ID! @external name: String @external made: String @requires(fields: "two name") }"#,
    );
    let gateway = Scripted::new(&[LISTS, KEYS, NAMES, made]);
    let answer = gateway.answer("{ things { made } }");
    let expected = json!([{ "made": null }, { "made": "\"b\"\"it\"" }, { "made": null }]);
    assert_eq!(answer, json!({ "data": { "things": expected } }));
    let thing = json!({ "__typename": "Thing", "two": "b", "name": "it" });
    assert_eq!(gateway.sent("made"), [thing]);
}

#[test]
fn what_failed_is_not_required_as_null() {
    let keys: Script = (KEYS.0, KEYS.1, |request| {
        let mut answer = second(request, json!({ "two": "b" }));
        let error = json!({ "message": "broken", "path": ["_entities", 0, "two"] });
        answer["errors"] = json!([error]);
        answer
    });
    let made = made(
        r#"type Thing @key(fields: "one") {
             one: ID! two: ID! @external made: String @requires(fields: "two") }"#,
    );
    let gateway = Scripted::new(&[LISTS, keys, NAMES, made]);
    let answer = gateway.answer("{ things { made name } }");
    let nothing = json!({ "made": null, "name": null });
    let second = json!({ "made": "\"b\"null", "name": "it" });
    let expected = json!([nothing, second, nothing]);
    assert_eq!(answer["data"], json!({ "things": expected }));
    assert_eq!(gateway.sent("made").len(), 1);
    assert_eq!(gateway.sent("names").len(), 1);
}
