//! Supergraphs that nobody would write: they must not take the thread that reads or plans.

use std::fmt::Write;

use serde_json::{Value as Json, json};

use crate::scripted::{Script, Scripted, entities};

const HEAD: &str = r#"schema
  @link(url: "https://specs.apollo.dev/link/v1.0")
  @link(url: "https://specs.apollo.dev/join/v0.5", for: EXECUTION)
  @link(url: "https://specs.apollo.dev/context/v0.1", for: SECURITY)
{ query: Query }
directive @context(name: String!) repeatable on INTERFACE | OBJECT | UNION
directive @join__field(graph: join__Graph, requires: join__FieldSet, provides: join__FieldSet, type: String, external: Boolean, override: String, usedOverridden: Boolean, overrideLabel: String, contextArguments: [join__ContextArgument!]) repeatable on FIELD_DEFINITION | INPUT_FIELD_DEFINITION
directive @join__graph(name: String!, url: String!) on ENUM_VALUE
directive @join__implements(graph: join__Graph!, interface: String!) repeatable on OBJECT | INTERFACE
directive @join__type(graph: join__Graph!, key: join__FieldSet, extension: Boolean! = false, resolvable: Boolean! = true, isInterfaceObject: Boolean! = false) repeatable on OBJECT | INTERFACE | UNION | ENUM | INPUT_OBJECT | SCALAR
directive @link(url: String, as: String, for: link__Purpose, import: [link__Import]) repeatable on SCHEMA
input join__ContextArgument { name: String! type: String! context: String! selection: join__FieldValue! }
scalar join__FieldSet
scalar join__FieldValue
scalar link__Import
enum link__Purpose { SECURITY EXECUTION }
enum join__Graph { A @join__graph(name: "a", url: "") B @join__graph(name: "b", url: "") }
type Query @join__type(graph: A) @join__type(graph: B) { t: T0 @join__field(graph: A) }
"#;

fn over(types: &str, subgraphs: &[Script]) -> Scripted {
    Scripted::over(&format!("{HEAD}{types}"), subgraphs)
}

#[test]
fn a_chain_of_keys_with_objects_that_have_keys_with_objects_does_not_take_the_stack() {
    let mut types = String::new();
    for number in 0..2_000 {
        let next = number + 1;
        let keys = ["A", "B"].map(|it| format!("@join__type(graph: {it}, key: \"next {{ id }}\")"));
        let _ = writeln!(
            types,
            "type T{number} {} {{
               id: ID! @join__field(graph: A) @join__field(graph: B, external: true)
               next: T{next}! @join__field(graph: A) @join__field(graph: B)
               f: Int @join__field(graph: B) }}",
            keys.join(" ")
        );
    }
    types.push_str("type T2000 @join__type(graph: A) @join__type(graph: B) { id: ID! }");
    let a: Script = (
        "a",
        "",
        |_| json!({ "data": { "t": { "next": { "id": "1" } } } }),
    );
    let b: Script = ("b", "", |request| entities(request, |_| json!({ "f": 7 })));
    let gateway = over(&types, &[a, b]);
    let answer = gateway.answer("{ t { f } }");
    assert_eq!(answer, json!({ "data": { "t": { "f": 7 } } }));
    let key = json!({ "__typename": "T0", "next": { "id": "1" } });
    assert_eq!(gateway.sent("b"), [key]);
}

#[test]
fn a_field_that_is_provided_is_given_no_value_from_a_context() {
    let types = r#"
      type T0 @join__type(graph: A, key: "id") @join__type(graph: B, key: "id")
        @context(name: "a__c") {
        id: ID! word: String @join__field(graph: A) child: U @join__field(graph: A, provides: "f") }
      type U @join__type(graph: A, key: "id") @join__type(graph: B, key: "id") {
        id: ID!
        f: Int @join__field(graph: B) @join__field(graph: A, external: true, contextArguments: [
          { context: "a__c", name: "w", type: "String", selection: "{ word }" }]) }"#;
    let a: Script = (
        "a",
        "",
        |_| json!({ "data": { "t": { "id": "1", "child": { "id": "2", "f": 1 } } } }),
    );
    let b: Script = ("b", "", |request| entities(request, |_| json!({ "f": 1 })));
    let gateway = over(types, &[a, b]);
    let answer = gateway.answer("{ t { child { f } } }");
    assert_eq!(answer, json!({ "data": { "t": { "child": { "f": 1 } } } }));
}

#[test]
fn an_interface_object_without_types_is_answered_in_every_place() {
    let types = r#"
      type T0 @join__type(graph: A, key: "id") @join__type(graph: B, key: "id") {
        id: ID! i: I @join__field(graph: B, requires: "is { id }")
        is: [[I]] @join__field(graph: A) @join__field(graph: B, external: true) }
      interface I @join__type(graph: A, key: "id", isInterfaceObject: true) @join__type(graph: B, key: "id") {
        id: ID! a: Int @join__field(graph: A) b: Int @join__field(graph: B) }"#;
    let a: Script = ("a", "", |request| {
        if request.query.contains("_entities") {
            return entities(request, |_| json!({ "a": 7 }));
        }
        let object = json!({ "id": "1", "a": 7 });
        json!({ "data": { "t": { "id": "1", "is": [null, [object, null]] } } })
    });
    let b: Script = ("b", "", |request| {
        entities(request, |it| {
            if it["__typename"] == "I" {
                Json::Null
            } else {
                json!({ "i": { "__typename": "I", "id": "1", "b": 1 } })
            }
        })
    });
    let gateway = over(types, &[a, b]);
    let answer = gateway.answer("{ t { is { a b } } }");
    let object = json!({ "a": 7, "b": null });
    assert_eq!(
        answer,
        json!({ "data": { "t": { "is": [null, [object, null]] } } })
    );
    // Where it is an interface, its objects have types.
    let answer = gateway.answer("{ t { i { a } } }");
    let t = &answer["data"]["t"]["i"];
    assert!(*t == Json::Null || *t == json!({ "a": 7 }), "{answer}");
}

#[test]
fn fields_of_unknown_types_in_each_other_are_planned_where_one_below_needs_the_types_of_the_first()
{
    let types = r#"
      type T0 @join__type(graph: A) { i: I @join__field(graph: A) }
      interface I @join__type(graph: A, key: "id", isInterfaceObject: true)
        @join__type(graph: B, key: "id") @context(name: "a__c") {
        id: ID! word: String @join__field(graph: B) j: J @join__field(graph: A) }
      type I1 implements I @join__implements(graph: B, interface: "I")
        @join__type(graph: B, key: "id") {
        id: ID! @join__field(graph: B) word: String @join__field(graph: B) j: J @join__field }
      type I2 implements I @join__implements(graph: B, interface: "I")
        @join__type(graph: B, key: "id") @join__type(graph: B, key: "n") {
        id: ID! @join__field(graph: B) word: String @join__field(graph: B) j: J @join__field
        n: Int @join__field(graph: B) }
      interface J @join__type(graph: A, key: "id", isInterfaceObject: true)
        @join__type(graph: B, key: "id") {
        id: ID! j: J @join__field(graph: A) p: P @join__field(graph: A) }
      type J1 implements J @join__implements(graph: B, interface: "J")
        @join__type(graph: B, key: "id") {
        id: ID! @join__field(graph: B) j: J @join__field p: P @join__field }
      type J2 implements J @join__implements(graph: B, interface: "J")
        @join__type(graph: B, key: "id") @join__type(graph: B, key: "n") {
        id: ID! @join__field(graph: B) j: J @join__field p: P @join__field
        n: Int @join__field(graph: B) }
      type P @join__type(graph: A, key: "id") {
        id: ID!
        x: Int @join__field(graph: A, contextArguments: [
          { context: "a__c", name: "w", type: "String", selection: "{ word }" }]) }"#;
    let gateway = over(types, &[]);
    for depth in 1..=8 {
        let (open, close) = ("{ j ".repeat(depth), "} ".repeat(depth));
        let plan = gateway.plan(&format!("{{ t {{ i {open}{{ p {{ x }} }} {close}}} }}"));
        assert!(plan.contains("word"), "{plan}");
    }
}
