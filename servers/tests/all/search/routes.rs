//! Every path of the search service.

use serde_json::json;

use super::{World, YAML, on_both_engines};

on_both_engines! {
    a_schema_is_bound_searched_and_unbound
    dates_are_searched_and_shown_in_utc
    values_of_all_types_are_found_as_the_references_say
}

fn a_schema_is_bound_searched_and_unbound(world: &World) {
    let sky = world.serve();
    let (root, field) = (&sky.root, &sky.field);
    let query = format!(
        "{{ {root}(query: {{match: {{title: {{query: \"plamet 7\", operator: AND, fuzziness: \"1\"}}}}}}, \
         size: 1) {{ max_score hits {{ score {field} {{ id title size }} }} }} }}"
    );
    let answer = sky.service.post(&json!({ "query": query })).json();
    let hit = &answer["data"][root]["hits"][0];
    assert_eq!(hit[field]["id"], "http://e/p7", "{answer:#}");
    assert_eq!(hit["score"], answer["data"][root]["max_score"]);

    let info = sky.info();
    assert_eq!(
        (&info["schema"], &info["state"]),
        (&json!("sky"), &json!("READY"))
    );
    let index = &info["indexes"][0];
    let alias = format!("svc-{}", world.object.to_lowercase());
    assert_eq!(index["alias"], alias);
    assert_eq!(index["index"], format!("{alias}-1"));
    assert_eq!(
        (&index["documents"], &index["state"]),
        (&json!(20), &json!("READY"))
    );
    assert_eq!(index["progress"]["stage"], "DONE");

    assert_eq!(sky.unbind("sky").status, 204);
    for (answer, what) in [
        (
            sky.service.post(&json!({ "query": "{ __typename }" })),
            "/graphql",
        ),
        (sky.service.get("/soml/info"), "/soml/info"),
        (sky.service.get("/__gtg"), "/__gtg"),
        (sky.service.get("/schema.graphql"), "/schema.graphql"),
    ] {
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (503, "SCHEMA_NOT_BOUND"),
            "{what}"
        );
    }
    assert_eq!(sky.unbind("sky").status, 204);

    let bound = sky.bind("sky");
    assert_eq!(bound.status, 200, "{}", bound.text());
    assert_eq!(bound.header("content-type"), "application/ld+json");
    let document = bound.json();
    assert_eq!(
        (&document["@id"], &document["bound"]),
        (&json!("/soml/sky"), &json!(true))
    );
    sky.wait("the indexes are there", |sky| sky.total() == 20);
    assert_eq!(
        sky.info()["indexes"][0]["index"],
        format!("{alias}-1"),
        "nothing was indexed again"
    );
    sky.unbind("sky");
}

fn dates_are_searched_and_shown_in_utc(world: &World) {
    let store = super::store(
        "@prefix v: <http://e/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
         v:a a v:Planet ; v:seen \"2020-01-01T01:00:00+02:00\"^^xsd:dateTime .
         v:b a v:Planet ; v:seen \"2020-01-02T00:00:00.5Z\"^^xsd:dateTime .",
    );
    let parts = world.parts(store);
    let soml = world.soml("seen: {range: dateTime}");
    let (service, _app) = crate::service::Service::search(parts, Some(&soml));
    let (root, field) = (world.root(), world.field());
    let search = |bound: &str| {
        let query = format!(
            "{{ {root}(query: {{range: {{seen: {{lt: \"{bound}\"}}}}}}) {{ hits {{ {field} {{ id seen }} }} }} }}"
        );
        service.post(&json!({ "query": query })).json()
    };
    let found = search("2020-01-01T00:00:00Z");
    let expected =
        json!([{field.as_str(): {"id": "http://e/a", "seen": "2019-12-31T23:00:00.000Z"}}]);
    assert_eq!(found["data"][&root]["hits"], expected);
    for malformed in [
        "2020-01-01T00:00:00",
        "2020-01-01T00:00:00.000",
        "2020-01-01",
    ] {
        let answer = search(malformed);
        assert_eq!(
            answer["errors"][0]["extensions"]["code"], "DATE_FORMAT",
            "{malformed}: {answer}"
        );
    }
    service.send("DELETE", "/soml/sky/search", &[], b"");
}

/// Items 2 to 6 of the list of behaviours to test.
fn values_of_all_types_are_found_as_the_references_say(world: &World) {
    let store = super::store(
        "@prefix v: <http://e/> .
         v:a a v:Planet ; v:height 177.0e0 ; v:label \"moon\"@en , \"Mond\"@de ; v:title \"Tatooine\" .
         v:b a v:Planet ; v:height 170.0e0 ; v:title \"Alderaan\" .",
    );
    let soml = world
        .soml("height: {range: double}, label: {range: stringOrLangString, max: inf}, title: {}");
    let (service, _app) = crate::service::Service::search(world.parts(store), Some(&soml));
    let (root, field) = (world.root(), world.field());
    let search = |arguments: &str| {
        let query = format!(
            "{{ {root}{arguments} {{ max_score hits {{ score {field} {{ id label {{ value lang }} }} }} }} }}"
        );
        let answer = service.post(&json!({ "query": query })).json();
        assert!(answer.get("errors").is_none(), "{query}: {answer:#}");
        answer["data"][&root].clone()
    };
    let all = search("");
    assert_eq!(all["max_score"], 1.0);
    assert_eq!(all["hits"].as_array().unwrap().len(), 2);
    let by_string = search("(query: {term: {height: {value: \"177\"}}})");
    assert_eq!(by_string["hits"].as_array().unwrap().len(), 1);
    let one = search("(query: {bool: {must: {match: {title: {query: \"tatooine\"}}}}})");
    let list = search("(query: {bool: {must: [{match: {title: {query: \"tatooine\"}}}]}})");
    assert_eq!(one, list);
    let boosted = "(query: {match: {title: {query: \"tatoine\", fuzziness: \"2\", boost: 4.0}}})";
    let (plain, boosted) = (
        search(&boosted.replace(", boost: 4.0", "")),
        search(boosted),
    );
    let score = |answer: &serde_json::Value| answer["max_score"].as_f64().unwrap();
    assert!(
        (score(&boosted) / score(&plain) - 4.0).abs() < 1e-3,
        "{plain} {boosted}"
    );
    let labels = json!([{"value": "Mond", "lang": "de"}, {"value": "moon", "lang": "en"}]);
    let mut found = plain["hits"][0][&field]["label"]
        .as_array()
        .unwrap()
        .clone();
    found.sort_by_key(|label| label["lang"].to_string());
    assert_eq!(json!(found), labels);
    service.send("DELETE", "/soml/sky/search", &[], b"");
}

#[test]
fn an_unknown_schema_is_404_and_one_that_cannot_be_searched_422() {
    let world = World::embedded();
    let sky = world.serve();
    let unknown = sky.bind("none");
    assert_eq!(
        (unknown.status, unknown.code().as_str()),
        (404, "SCHEMA_NOT_FOUND")
    );
    sky.store(
        "plain",
        "id: /soml/plain\nobjects:\n  A: {props: {b: {}}}\n",
    );
    let plain = sky.bind("plain");
    assert_eq!(
        (plain.status, plain.code().as_str()),
        (422, "SEARCH_NOTHING_INDEXED")
    );
    let changed = sky
        .service
        .send("PUT", "/soml/sky/search", &[("if-match", "\"x\"")], b"");
    assert_eq!(
        (changed.status, changed.code().as_str()),
        (412, "PRECONDITION_FAILED")
    );
    assert_eq!(sky.total(), 20, "what was bound still answers");
}

#[test]
fn validation_reports_findings_of_the_document_and_of_its_indexes() {
    let world = World::embedded();
    let sky = world.serve();
    let validate = |text: &str| {
        let answer = sky
            .service
            .send("POST", "/soml/validate", &[YAML], text.as_bytes());
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.header("content-type"), "application/ld+json");
        let document = answer.json();
        assert_eq!(document["input"], text);
        document
    };
    assert_eq!(validate(&world.soml("title: {}"))["valid"], true);
    let deep = "id: /soml/a\nobjects:\n  A: {search: {index: yes, type: {nestingLevel: 9}}, props: {b: {range: A}}}\n";
    let document = validate(deep);
    assert_eq!(document["valid"], false);
    assert_eq!(document["errors"][0]["code"], "SEARCH_NESTING_LEVEL");
    assert_eq!(document["errors"][0]["line"], 3);
    let broken =
        validate("id: /soml/a\nobjects:\n  A: {search: yes, props: {b: {range: Nothing}}}\n");
    assert_eq!(broken["errors"][0]["code"], "UNKNOWN_RANGE", "{broken:#}");
    let unknown = validate(
        "id: /soml/a\nobjects:\n  A: {search: {index: yes, analysis: {analyzer: klingon}}, props: {b: {}}}\n",
    );
    assert_eq!(unknown["errors"][0]["code"], "ANALYZER_UNSUPPORTED");
}

#[test]
fn pages_and_probes_are_those_of_every_service() {
    let sky = World::embedded().serve();
    let page = sky
        .service
        .send("GET", "/", &[("accept", "text/html")], b"");
    assert_eq!(page.status, 200);
    assert!(page.text().contains("_search(size: 5)"), "{}", page.text());
    let examples = sky.service.get("/examples").json();
    for example in examples["examples"].as_array().unwrap() {
        let answer = sky
            .service
            .post(&json!({ "query": example["query"] }))
            .json();
        assert!(answer.get("errors").is_none(), "{example}: {answer}");
    }
    assert!(
        sky.service
            .get("/schema.graphql")
            .text()
            .contains(&format!("  {}(", sky.root))
    );
    assert_eq!(sky.service.get("/docs/configuration").status, 200);
    assert_eq!(sky.service.get("/__live").status, 200);
    assert_eq!(sky.service.get("/__ready").status, 200);
    let about = sky.service.get("/__about").json();
    assert_eq!(about["schema"], "sky");
    assert!(sky.service.get("/__trouble").text().contains("id=\"2200\""));
    assert_eq!(sky.service.get("/soml").status, 404);
    assert_eq!(sky.service.get("/soml/sky/search").status, 405);
    let traced = sky
        .service
        .send("GET", "/__about", &[("x-request-id", "a \"b\", c")], b"");
    assert_eq!(traced.header("x-request-id"), "a \"b\", c");
}
