//! Properties that decide whether and how indexes are built.

use std::time::{Duration, Instant};

use search_service::Engines;
use servers::config::Positive;

use super::stoppable::Stoppable;
use super::{World, YAML, embedded, on_both_engines, planets};

on_both_engines! {
    without_indexing_what_is_there_is_searched_and_nothing_built
}

fn without_indexing_what_is_there_is_searched_and_nothing_built(world: &World) {
    let parts = world.parts(planets(20));
    let engines = parts.engines.clone();
    let builds = world.serve_parts(parts);
    let mut parts = world.parts_over(planets(0), engines);
    parts.data = None;
    let reads = world.serve_with(parts, None);
    reads.store("sky", &world.soml("title: {}, size: {range: int}"));
    assert_eq!(reads.bind("sky").status, 200);
    assert_eq!(reads.total(), 20);
    let info = reads.info();
    assert_eq!(info["indexingEnabled"], false);
    assert_eq!(
        info["indexes"][0]["index"],
        builds.info()["indexes"][0]["index"]
    );
    reads.store("sky", &world.soml("title: {}, more: {}"));
    assert_eq!(reads.bind("sky").status, 200);
    let missing = reads.search();
    let code = &missing["errors"][0]["extensions"]["code"];
    assert_eq!(code, "INDEX_MISSING", "{missing:#}");
    assert_eq!(reads.info()["state"], "INCOMPLETE");
    assert_eq!(builds.total(), 20, "nothing was deleted");
    reads.unbind("sky");
    builds.unbind("sky");
}

#[test]
fn a_run_is_tried_again_as_often_as_is_said() {
    let mut world = World::embedded();
    world.settings.search.retry.max_retries = 2;
    let engine = Stoppable::new(embedded());
    let sky = world.serve_parts(world.parts_over(planets(20), Engines::of(engine.clone())));
    engine.fail_switches(10);
    sky.store("sky", &world.soml("title: {}, more: {}"));
    assert_eq!(sky.bind("sky").status, 200);
    sky.wait("the run is given up", |sky| {
        sky.info()["next"]["state"] == "FAILED"
    });
    assert_eq!(engine.failing_switches(), 7, "once, and twice again");
    assert_eq!(sky.info()["errorCode"], "ENGINE_UNAVAILABLE");
    assert_eq!(sky.total(), 20, "what was bound still answers");
    engine.fail_switches(2);
    assert_eq!(sky.bind("sky").status, 200);
    sky.wait("the new index answers", |sky| {
        sky.info()["state"] == "READY" && sky.info()["next"].is_null()
    });
    assert_eq!(engine.failing_switches(), 0);
    assert_eq!(sky.total(), 20);
}

#[test]
fn a_run_begins_after_the_initial_delay() {
    let mut world = World::embedded();
    let delay = Duration::from_millis(300);
    world.settings.search.retry.initial_delay.0 = delay;
    let sky = world.serve_with(world.parts(planets(20)), None);
    sky.store("sky", &world.soml("title: {}"));
    let begun = Instant::now();
    assert_eq!(sky.bind("sky").status, 200);
    sky.wait("the index answers", |sky| sky.total() == 20);
    assert!(begun.elapsed() >= delay);
}

#[test]
fn levels_are_allowed_up_to_the_maximum_that_is_set() {
    let levels = |max: u32| {
        let mut world = World::embedded();
        world.settings.search.max_nesting_level = Positive(max);
        let sky = world.serve_with(world.parts(planets(1)), None);
        let text = world.soml("a: {search: {type: {nestingLevel: 3}}}");
        let validated = sky
            .service
            .send("POST", "/soml/validate", &[YAML], text.as_bytes());
        let document = validated.json();
        (
            document["valid"].clone(),
            document["errors"][0]["code"].clone(),
        )
    };
    assert_eq!(levels(3), (true.into(), serde_json::Value::Null));
    assert_eq!(levels(2), (false.into(), "SEARCH_NESTING_LEVEL".into()));
}
