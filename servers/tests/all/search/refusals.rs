//! What the engine does not take: single documents of a bulk, for now or for good, whole indexes whose
//! node is gone, and indexes that are somebody else's.

use std::sync::Arc;

use search_service::{Engines, Storage};
use serde_json::json;

use super::stoppable::Stoppable;
use super::{Sky, World, embedded, on_both_engines, planets};

on_both_engines! {
    unchanged_indexes_are_built_again_where_previous_ones_are_removed
    an_index_of_another_application_stays_and_is_named
}

/// Serves 20 planets over an engine that a test can stop.
fn serve(world: &World) -> (Arc<Stoppable>, Sky) {
    let engine = Stoppable::new(embedded());
    let engines = Engines::of(engine.clone());
    let sky = world.serve_parts(world.parts_over(planets(20), engines));
    (engine, sky)
}

/// Binds another version of the schema, whose index has to be built.
fn bind_more(world: &World, sky: &Sky) {
    sky.store("sky", &world.soml("title: {}, more: {}"));
    let bound = sky.bind("sky");
    assert_eq!(bound.status, 200, "{}", bound.text());
}

/// Returns whether the other version of the schema is served.
fn has_more(sky: &Sky) -> bool {
    let sdl = sky.service.get("/schema.graphql").text();
    sdl.contains("  more: String")
}

#[test]
fn documents_that_the_engine_has_no_room_for_are_written_again() {
    let world = World::embedded();
    let (engine, sky) = serve(&world);
    engine.refuse_planet(2, "p7", 429);
    bind_more(&world, &sky);
    sky.wait("the new index answers", has_more);
    assert_eq!(sky.total(), 20);
    let index = &sky.info()["indexes"][0];
    assert_eq!(
        (&index["documents"], &index["rejected"]),
        (&json!(20), &json!(0)),
        "{index:#}"
    );
    assert_eq!(engine.refused(), 2);
}

#[test]
fn a_document_that_the_engine_does_not_take_is_counted_and_the_others_are_found() {
    let world = World::embedded();
    let (engine, sky) = serve(&world);
    engine.refuse_planet(usize::MAX, "p7", 400);
    bind_more(&world, &sky);
    sky.wait("the new index answers", has_more);
    assert_eq!(sky.total(), 19);
    let info = sky.info();
    assert_eq!(info["state"], "READY");
    assert_eq!(info["indexes"][0]["rejected"], 1, "{info:#}");
}

#[test]
fn a_document_that_the_engine_does_not_take_ends_a_run_that_must_not_leave_any_out() {
    let mut world = World::embedded();
    world.settings.search.ignore_malformed = false;
    let (engine, sky) = serve(&world);
    engine.refuse_planet(usize::MAX, "p7", 400);
    // The values fit, however soon the engine refuses them.
    bind_more(&world, &sky);
    sky.wait("the run has failed", |sky| {
        sky.info()["next"]["state"] == "FAILED"
    });
    let error = sky.info()["error"].to_string();
    assert!(
        error.contains("http://e/p7") && error.contains("400"),
        "{error}"
    );
    assert_eq!(sky.check("2200")["status"], "WARNING");
    assert!(!has_more(&sky));
    assert_eq!(sky.total(), 20, "what was bound still answers");
    engine.refuse(0, |_, _| None);
    bind_more(&world, &sky);
    sky.wait("the new index answers", has_more);
    assert_eq!(sky.total(), 20);
}

#[test]
fn an_index_that_loses_its_node_while_it_is_built_is_built_on_those_that_are_left() {
    let world = World::embedded();
    let (engine, sky) = serve(&world);
    engine.lose_indexes(1);
    bind_more(&world, &sky);
    sky.wait("the new index answers", has_more);
    let index = &sky.info()["indexes"][0];
    assert_eq!(index["documents"], 20, "{index:#}");
    let name = index["index"].as_str().unwrap();
    assert!(name.ends_with("-3"), "the second one was lost: {name}");
    assert_eq!(sky.check("2200")["status"], "OK");
}

#[test]
fn an_engine_that_loses_every_index_ends_the_run_and_the_next_one_ends_well() {
    let world = World::embedded();
    let (engine, sky) = serve(&world);
    engine.lose_indexes(usize::MAX);
    bind_more(&world, &sky);
    sky.wait("the run has failed", |sky| {
        sky.info()["next"]["state"] == "FAILED"
    });
    let error = sky.info()["error"].to_string();
    assert!(error.contains("number_of_replicas"), "{error}");
    assert_eq!(sky.check("2200")["status"], "WARNING");
    assert_eq!(sky.total(), 20, "what was bound still answers");
    engine.lose_indexes(0);
    bind_more(&world, &sky);
    sky.wait("the new index answers", has_more);
    assert_eq!(sky.total(), 20);
}

fn unchanged_indexes_are_built_again_where_previous_ones_are_removed(world: &World) {
    let mut parts = world.parts(planets(20));
    parts.options.remove_previous = true;
    let sky = world.serve_parts(parts);
    let before = sky.info()["indexes"][0].clone();
    assert_eq!(sky.bind("sky").status, 200);
    sky.wait("another index answers", |sky| {
        let info = sky.info();
        info["state"] == "READY" && info["indexes"][0]["index"] != before["index"]
    });
    let after = sky.info()["indexes"][0].clone();
    assert_eq!(after["fingerprint"], before["fingerprint"]);
    assert_eq!(after["documents"], 20);
    assert_eq!(sky.total(), 20);
    sky.unbind("sky");
}

fn an_index_of_another_application_stays_and_is_named(world: &World) {
    let parts = world.parts(planets(20));
    let engines = parts.engines.clone();
    let first = world.serve_parts(parts);
    let index = first.info()["indexes"][0]["index"].clone();
    let index = index.as_str().unwrap();
    let other = |ignore_malformed: bool| {
        let mut settings = world.settings.clone();
        settings.name += "-other";
        settings.search.remove_previous = true;
        settings.search.ignore_malformed = ignore_malformed;
        let engines = if settings.search.is_embedded() {
            engines.clone()
        } else {
            Engines::open(&settings.engine_options(), &Storage::Memory).unwrap()
        };
        let mut parts = world.parts_over(planets(3), engines);
        parts.host.options = settings.host_options();
        parts.options = settings.search_options();
        let sky = world.serve_with(parts, None);
        sky.store("sky", &world.soml("title: {}"));
        sky
    };
    let lenient = other(true);
    assert_eq!(lenient.bind("sky").status, 200);
    lenient.wait("the run has failed", |sky| sky.info()["state"] == "FAILED");
    let info = lenient.info();
    assert_eq!(info["errorCode"], "INDEX_NOT_OURS", "{info:#}");
    assert!(info["error"].to_string().contains(index), "{info:#}");
    let search = lenient.search();
    assert_eq!(search["errors"][0]["extensions"]["code"], "INDEX_MISSING");
    lenient.unbind("sky");

    let refused = other(false).bind("sky");
    let told = (refused.status, refused.code());
    assert_eq!(told, (409, "INDEX_NOT_OURS".to_owned()));
    assert!(refused.text().contains(index), "{}", refused.text());
    assert_eq!(first.total(), 20, "theirs is as it was");
    first.unbind("sky");
}

#[test]
#[ignore = "needs an OpenSearch server named by OPENSEARCH_URL"]
fn an_index_without_an_owner_is_replaced_only_where_previous_ones_are_removed() {
    let world = World::opensearch();
    let address = std::env::var("OPENSEARCH_URL").unwrap();
    let name = format!("svc-{}", world.object.to_lowercase());
    let created = ureq::put(format!("{address}/{name}")).send_empty();
    assert_eq!(created.unwrap().status(), 200);
    let serve = |remove_previous: bool| {
        let mut parts = world.parts(planets(20));
        parts.options.remove_previous = remove_previous;
        world.serve_parts(parts)
    };
    {
        let sky = serve(false);
        let info = sky.info();
        assert_eq!(info["errorCode"], "INDEX_NOT_OURS", "{info:#}");
        assert!(info["error"].to_string().contains(&name), "{info:#}");
        let head = ureq::head(format!("{address}/{name}")).call();
        assert_eq!(head.unwrap().status(), 200, "it is still there");
        sky.unbind("sky");
    }
    let sky = serve(true);
    assert_eq!(sky.total(), 20);
    assert_eq!(sky.info()["indexes"][0]["alias"], name);
    sky.unbind("sky");
}
