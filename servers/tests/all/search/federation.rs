//! The search service behind a federation gateway, which completes what hits refer to.

use std::sync::Arc;

use graphql_gen::typesystem::{Api, ApiOptions, FederationMode};
use search_index::mapping::{Indexes, MappingOptions};
use search_index::sdl::SearchApi;
use serde_json::json;
use servers::demo::STAR_WARS;

use super::{World, on_both_engines, store};
use crate::service::Service;

on_both_engines! {
    hits_refer_to_objects_that_a_gateway_completes
}

fn hits_refer_to_objects_that_a_gateway_completes(world: &World) {
    let data = store(
        "@prefix v: <http://e/> .
         v:a a v:Body, v:Star ; v:title \"Sun\" . v:b a v:Body, v:Moon ; v:title \"Moon\" .
         v:c a v:Body ; v:title \"Dust\" .",
    );
    let mut parts = world.parts(data);
    parts.options.federation = true;
    let (object, root, field) = (&world.object, world.root(), world.field());
    let soml = format!(
        "id: /soml/sky\nspecialPrefixes: {{vocab_iri: 'http://e/', vocab_prefix: v}}\nobjects:\n  \
         {object}: {{kind: abstract, type: v:Body, search: yes, props: {{title: {{}}}}}}\n  \
         Star: {{inherits: {object}, search: {{index: no}}}}\n  \
         Moon: {{inherits: {object}, search: {{index: no}}}}\n"
    );
    let (service, _app) = Service::search(parts, Some(&soml));

    let query = "{ _service { sdl } }";
    let answer = service.post(&json!({ "query": query })).json();
    let sdl = answer["data"]["_service"]["sdl"].as_str().unwrap();
    let star = format!("extend type Star implements {object} @key(fields: \"id\") {{");
    assert!(sdl.contains(&star), "{sdl}");

    let found = |text: &str| {
        let query = format!(
            "{{ {root}(query: {{match: {{title: {{query: \"{text}\"}}}}}}) \
             {{ hits {{ {field} {{ __typename id ...on Moon {{ moon: id }} }} }} }} }}"
        );
        service.post(&json!({ "query": query })).json()
    };
    let of = |hit: serde_json::Value| json!({root.as_str(): {"hits": [{field.as_str(): hit}]}});
    let moon = json!({"__typename": "Moon", "id": "http://e/b", "moon": "http://e/b"});
    assert_eq!(found("moon"), json!({"data": of(moon)}));
    let star = json!({"__typename": "Star", "id": "http://e/a"});
    assert_eq!(found("sun"), json!({"data": of(star)}));
    let dust = found("dust");
    assert_eq!(dust["data"], of(json!(null)), "{dust:#}");
    assert_eq!(dust["errors"][0]["extensions"]["code"], "HIT_TYPE_UNKNOWN");

    let body = json!({
        "query": "query($of: [_Any!]!) { _entities(representations: $of) { ...on Moon { id } } }",
        "variables": {"of": [{"__typename": "Moon", "id": "http://e/b"}]},
    });
    let entities = service.post(&body).json();
    assert_eq!(
        entities,
        json!({"data": {"_entities": [{"id": "http://e/b"}]}})
    );

    let examples = service.get("/examples").json();
    for example in examples["examples"].as_array().unwrap() {
        let answer = service.post(&json!({ "query": example["query"] })).json();
        let errors = &answer["errors"][0]["extensions"]["code"];
        assert!(
            errors.is_null() || errors == "HIT_TYPE_UNKNOWN",
            "{example}: {answer}"
        );
    }
    service.send("DELETE", "/soml/sky/search", &[], b"");
}

#[test]
fn without_federation_there_is_nothing_for_a_gateway() {
    let sky = World::embedded().serve();
    for query in [
        "{ _service { sdl } }",
        "{ _entities(representations: []) { __typename } }",
    ] {
        let answer = sky.service.post(&json!({ "query": query })).json();
        let code = &answer["errors"][0]["extensions"]["code"];
        assert_eq!(code, "GRAPHQL_VALIDATION_FAILED", "{answer}");
    }
}

#[test]
fn objects_have_the_types_that_the_object_service_gives_them() {
    let soml = soml_core::load(&STAR_WARS.searched_schema())
        .schema
        .unwrap();
    let soml = Arc::new(soml);
    let options = ApiOptions::default().with_federation(FederationMode::V1);
    let objects = Api::new(Arc::clone(&soml), &options).unwrap();
    let indexes = Indexes::new(&soml, &MappingOptions::default()).unwrap();
    let searches = SearchApi::subgraph(soml, indexes).unwrap();
    let hit = searches
        .schema()
        .get_object("Character_Search_Hit")
        .unwrap();
    let character = hit.fields["character"].ty.inner_named_type();
    assert_eq!(character, "Character");
    let union = searches.schema().get_union("_Entity").unwrap();
    assert!(union.members.len() > 30, "{}", union.members.len());
    for member in &union.members {
        let of = |schema: &search_index::apollo_compiler::Schema| {
            let object = schema.get_object(member).unwrap();
            object.implements_interfaces.clone()
        };
        let (known, ours) = (of(objects.schema()), of(searches.schema()));
        assert!(ours.is_subset(&known), "{}: {ours:?}", member.name);
    }
}
