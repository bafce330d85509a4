//! What mutations tell whoever may write more than they may read.

use std::sync::Arc;
use std::time::Duration;

use graph_store::{CallContext, GraphStore};
use graphql_gen::typesystem::ApiOptions;
use graphql_service::{Caller, Request, RequestContext};
use object_engine::{ObjectService, ServiceOptions};
use serde_json::{Value, json};

use crate::fixture::{json, runtime, service};
use crate::images;

const SCHEMA: &str = "
id: /soml/writing
specialPrefixes: {base_iri: 'http://e/', vocab_iri: 'http://v/', vocab_prefix: v}
config: {lang: {validate: 'ANY;UNIQ'}}
objects:
  Person:
    props:
      mass: {range: int}
      nick: {max: 2}
      born: {range: int, immutable: true}
      motto: {range: langString, max: inf}
      friend: {range: Being, max: 2}
      ship: {range: Ship, inverseAlias: crew, max: inf}
  Being: {kind: abstract, props: {label: {}}}
  Pet: {inherits: Being}
  Ghost: {inherits: Being, props: {haunts: {range: Person, min: 1, max: inf}}}
  Ship: {props: {crew: {range: Person, min: 1, max: inf}}}
  Raider: {inherits: Ship}
rbac:
  roles:
    All: {actions: ['*/*/*']}
    NoMass: {actions: ['*/*/*'], notActions: ['Person/mass/*']}
    Reader: {actions: ['*/*/read'], notActions: ['Person/mass/read']}
    Blind: {actions: ['*/*/*'], notActions: ['Person/mass/read', 'Person/nick/read', 'Person/born/read', 'Person/motto/read']}
    NoGhost: {actions: ['*/*/*'], notActions: ['Ghost/*/*']}
    NoRaider: {actions: ['*/*/*'], notActions: ['Raider/*/*']}
    NoId: {actions: ['*/*/*'], notActions: ['Person/id/read']}
";

const DATA: &str = "
@prefix v: <http://v/> . @prefix : <http://e/> .
:luke a v:Person ; v:mass 77 ; v:nick 'a', 'b' ; v:born 19 ; v:motto 'now'@en ; v:friend :rex, :boo .
:leia a v:Person ; v:mass 49 .
:rex a v:Pet ; v:label 'Rex' .
:boo a v:Ghost ; v:label 'Boo' ; v:haunts :leia .
:bar a v:Ghost ; v:label 'Bar' ; v:haunts :leia .
:one a v:Raider ; v:crew :luke .
:two a v:Raider ; v:crew :luke .
";

fn store(data: &str) -> Arc<dyn GraphStore> {
    Arc::new(images::from_turtle(data))
}

fn fixture(store: Arc<dyn GraphStore>) -> ObjectService {
    let options = ServiceOptions::new()
        .with_api(ApiOptions::default().with_mutations(true))
        .with_roles_enforced(true);
    service(SCHEMA, store, options)
}

fn context(role: &str) -> RequestContext {
    RequestContext::new().with_caller(Arc::new(Caller::with_roles([role])))
}

/// The answer to a mutation over some data.
fn told_of(data: &str, role: &str, field: &str) -> Value {
    let request = Request::new(format!("mutation {{ {field} }}"));
    let service = fixture(store(data));
    json(&crate::fixture::answer(&service, request, context(role)))
}

fn told(role: &str, field: &str) -> Value {
    told_of(DATA, role, field)
}

fn errors(answer: &Value) -> Vec<(String, String)> {
    let errors = answer["errors"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    errors
        .map(|error| (text(&error["extensions"]["code"]), text(&error["message"])))
        .collect()
}

#[track_caller]
fn assert_errors(answer: &Value, expected: &[(&str, &str)]) {
    let found = errors(answer);
    let found: Vec<_> = found
        .iter()
        .map(|(code, text)| (code.as_str(), text.as_str()))
        .collect();
    assert_eq!(found, expected, "{answer}");
}

const DENIED: &str = "ACCESS_DENIED";

#[test]
fn a_missing_right_is_reported_once_and_nothing_else_is() {
    for (id, mass) in [("luke", 77), ("luke", 78), ("nobody", 1), ("boo", 1)] {
        let entry =
            format!("{{id: \"http://e/{id}\", mass: {mass}, friend: [{{ids: [\"http://e/x\"]}}]}}");
        let create = format!(
            "create_Person(dryRun: true, objects: [{entry}, {{mass: 1}}]) {{ affected_count {{ count }} }}"
        );
        let update = format!("update_Person(objects: [{entry}]) {{ affected_count {{ count }} }}");
        let mass = "`mass` of `Person` cannot be written without permission";
        assert_errors(&told("NoMass", &create), &[(DENIED, mass)]);
        assert_errors(&told("NoMass", &update), &[(DENIED, mass)]);
        let id = "`id` of `Person` cannot be written without permission";
        let friend = "`friend` of `Person` cannot be written without permission";
        assert_errors(
            &told("Reader", &create),
            &[(DENIED, id), (DENIED, mass), (DENIED, friend)],
        );
    }
    let delete = "delete_Person(where: {ID: [\"http://e/leia\", \"http://e/x\"]}) { affected_count { count } }";
    let message = "`Person` objects cannot be deleted without permission";
    assert_errors(&told("Reader", delete), &[(DENIED, message)]);
}

#[test]
fn a_mutation_without_a_right_does_not_wait_for_the_store() {
    let store = store(DATA);
    let service = fixture(Arc::clone(&store));
    let query = "mutation { create_Person(objects: [{mass: 1}]) { affected_count { count } } }";
    let answer = runtime().block_on(async {
        let writer = store.writer().expect("a store that is written to");
        let other = writer
            .begin(&CallContext::new())
            .await
            .expect("a transaction");
        let answer = service.execute(Request::new(query), context("NoMass"));
        let answer = tokio::time::timeout(Duration::from_secs(60), answer).await;
        other.roll_back().await;
        answer.expect("it is answered while another writer has its turn")
    });
    let answer = json(&answer.body.to_vec());
    assert_eq!(errors(&answer).len(), 1, "{answer}");
}

#[test]
fn what_is_compared_with_stored_values_needs_the_right_to_read_them() {
    let update = |change: &str| {
        format!(
            "update_Person(objects: [{{id: \"http://e/luke\", {change}}}]) {{ affected_count {{ count }} }}"
        )
    };
    for (change, message) in [
        (
            "nick: {value: [\"c\"], patch: \"a\"}",
            "`nick` of `Person` cannot be read without permission, which `patch` needs",
        ),
        (
            "nick: {value: [\"c\"], patch: \"x\"}",
            "`nick` of `Person` cannot be read without permission, which `patch` needs",
        ),
        (
            "born: 19",
            "`born` of `Person` cannot be read without permission, which changing a value that can be set once needs",
        ),
        (
            "born: 20",
            "`born` of `Person` cannot be read without permission, which changing a value that can be set once needs",
        ),
        (
            "motto: {value: [{value: \"x\", lang: \"en\"}]}",
            "`motto` of `Person` cannot be read without permission, which adding to texts with one value in each language \
             needs",
        ),
    ] {
        assert_errors(&told("Blind", &update(change)), &[(DENIED, message)]);
    }
    let replace = update(
        "motto: {value: [{value: \"x\", lang: \"en\"}], replace: true}, mass: 5, nick: {replace: true}",
    );
    assert_errors(&told("Blind", &replace), &[]);
    let all = update("nick: {value: [\"c\"], patch: \"x\"}");
    assert_errors(
        &told("All", &all),
        &[("VALUE_NOT_FOUND", "`nick` has no such value")],
    );
}

#[test]
fn findings_about_what_may_not_be_read_tell_no_number() {
    let update = "update_Person(objects: [{id: \"http://e/luke\", nick: {value: [\"c\"]}}]) { affected_count { count } }";
    let words = "`nick` of `http://e/luke` takes at most 2";
    assert_errors(&told("Blind", update), &[("MAX_VIOLATED", words)]);
    let all = "`nick` of `http://e/luke` takes at most 2, and has 3";
    assert_errors(&told("All", update), &[("MAX_VIOLATED", all)]);
    let befriend = "create_Pet(objects: [{id: \"http://e/new\"}]) { affected_count { count } }
        update_Person(objects: [{id: \"http://e/luke\", friend: [{ids: [\"http://e/new\"]}]}]) { affected_count { count } }";
    let words = "`friend` of `http://e/luke` takes at most 2";
    assert_errors(&told("NoGhost", befriend), &[("MAX_VIOLATED", words)]);
}

#[test]
fn a_hidden_object_is_reported_as_a_missing_one() {
    let of = |id: &str, text: &str| text.replace('@', &format!("http://e/{id}"));
    for (id, exists) in [("boo", true), ("nobody", false)] {
        let data = if exists {
            DATA.to_owned()
        } else {
            DATA.replace(":boo", ":foo")
        };
        let reference = of(
            id,
            "update_Person(objects: [{id: \"http://e/luke\", friend: [{ids: [\"@\"], replace: true}]}]) { affected_count { count } }",
        );
        let message = of(id, "there is no `Being` with the id `@`");
        let answer = told_of(&data, "NoGhost", &reference);
        assert_errors(&answer, &[("REFERENCE_NOT_FOUND", &message)]);
        let patch = of(
            id,
            "update_Person(objects: [{id: \"http://e/luke\", friend: [{patch: \"@\"}]}]) { affected_count { count } }",
        );
        let answer = told_of(&data, "NoGhost", &patch);
        assert_errors(
            &answer,
            &[("VALUE_NOT_FOUND", "`friend` has no such value")],
        );
    }
    for id in ["one", "nobody"] {
        let update = of(
            id,
            "update_Ship(objects: [{id: \"@\"}]) { affected_count { count } }",
        );
        let message = of(id, "there is no `Ship` with the id `@`");
        assert_errors(&told("NoRaider", &update), &[("NOT_FOUND", &message)]);
        let delete = of(
            id,
            "delete_Ship(where: {ID: [\"@\"]}) { affected_count { count } }",
        );
        assert_errors(&told("NoRaider", &delete), &[("NOT_FOUND", &message)]);
    }
}

#[test]
fn hidden_objects_that_stand_in_the_way_are_one_finding() {
    let clear = "update_Person(objects: [{id: \"http://e/luke\", ship: null}]) { affected_count { count } }";
    let answer = told("NoRaider", clear);
    assert_errors(
        &answer,
        &[("REFERENCED", "other objects need what would be changed")],
    );
    assert_eq!(
        answer["errors"][0]["extensions"].get("ids"),
        None,
        "{answer}"
    );
    let one = told_of(
        &DATA.replace(":two a v:Raider ; v:crew :luke .", ""),
        "NoRaider",
        clear,
    );
    assert_eq!(one, answer);
    let codes: Vec<_> = errors(&told("All", clear))
        .into_iter()
        .map(|(code, _)| code)
        .collect();
    assert_eq!(codes, ["MIN_VIOLATED", "MIN_VIOLATED"]);
}

#[test]
fn who_needs_what_would_be_deleted_is_told_to_whom_may_read_it() {
    let delete = "delete_Person(where: {ID: [\"http://e/leia\"]}) { affected_count { count } }";
    let answer = told("NoGhost", delete);
    assert_errors(
        &answer,
        &[("REFERENCED", "other objects need what would be deleted")],
    );
    assert_eq!(
        answer["errors"][0]["extensions"].get("ids"),
        None,
        "{answer}"
    );
    let answer = told("All", delete);
    assert_errors(
        &answer,
        &[("REFERENCED", "2 other objects need what would be deleted")],
    );
    let ids = json!(["http://e/bar", "http://e/boo"]);
    assert_eq!(answer["errors"][0]["extensions"]["ids"], ids);
}

#[test]
fn affected_ids_need_the_right_to_read_them() {
    let update = "update_Person(where: {mass: {EQ: 49}}, objects: [{mass: 50}]) {
        affected_count { kind count } affected_objects { kind ids } }";
    let answer = told("NoId", update);
    assert_eq!(
        answer["data"]["update_Person"],
        json!({
            "affected_count": [{"kind": "Person", "count": 1}],
            "affected_objects": [{"kind": "Person"}],
        })
    );
    let error = &answer["errors"][0];
    assert_eq!(error["extensions"]["code"], "ACCESS_FIELD_REMOVED");
    assert_eq!(
        error["path"],
        json!(["update_Person", "affected_objects", "ids"])
    );
    assert!(error["locations"][0]["line"].is_u64(), "{answer}");
    let by_id =
        "update_Person(objects: [{id: \"http://e/leia\", mass: 50}]) { affected_count { count } }";
    let message = "`id` of `Person` cannot be read without permission";
    assert_errors(&told("NoId", by_id), &[(DENIED, message)]);
    let nick = "update_Person(where: {mass: {EQ: 77}}, objects: [{nick: {value: [\"c\"]}}]) { affected_count { count } }";
    let message = "`nick` of the object takes at most 2, and has 3";
    assert_errors(&told("NoId", nick), &[("MAX_VIOLATED", message)]);
}
