//! Binding again: what clients see meanwhile, what is built, and what is refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use schema_registry::{InMemorySchemaStore, ServiceKind};
use search_service::{Engines, SearchParts, Storage};
use serde_json::json;
use tempfile::TempDir;

use super::data_away::{Manner, Unruly};
use super::stoppable::Stoppable;
use super::{Sky, World, block_on, on_both_engines};

on_both_engines! {
    a_client_that_searches_sees_no_error_and_no_part_of_an_index
    unchanged_indexes_are_not_built_again
    malformed_values_are_refused_where_they_must_not_be_ignored
}

fn a_client_that_searches_sees_no_error_and_no_part_of_an_index(world: &World) {
    let sky = &world.serve();
    let searches = &AtomicUsize::new(0);
    std::thread::scope(|scope| {
        // The client ends with it, also where an index does not answer.
        let binding = Arc::new(());
        let goes_on = Arc::downgrade(&binding);
        scope.spawn(move || {
            while goes_on.strong_count() > 0 {
                let answer = sky.search();
                let total = &answer["data"][&sky.root]["total"]["value"];
                assert_eq!(*total, 20, "{answer:#}");
                searches.fetch_add(1, Ordering::Relaxed);
            }
        });
        for round in 0..4 {
            let props = format!("title: {{}}, size: {{range: int}}, other{round}: {{}}");
            sky.store("sky", &world.soml(&props));
            let bound = sky.bind("sky");
            assert_eq!(bound.status, 200, "{}", bound.text());
            let index = format!("svc-{}-{}", world.object.to_lowercase(), round + 2);
            let before = searches.load(Ordering::Relaxed);
            sky.wait("the new index answers, and some searches", |sky| {
                sky.info()["indexes"][0]["index"] == index.as_str()
                    && searches.load(Ordering::Relaxed) > before + 2
            });
        }
    });
    let sdl = sky.service.get("/schema.graphql").text();
    assert!(sdl.contains("other3") && !sdl.contains("other2"));
    sky.unbind("sky");
}

fn unchanged_indexes_are_not_built_again(world: &World) {
    let sky = world.serve();
    let before = sky.info()["indexes"][0].clone();
    sky.store(
        "sky",
        &format!(
            "{}# no matter\n",
            world.soml("title: {}, size: {range: int}")
        ),
    );
    assert_eq!(sky.bind("sky").status, 200);
    sky.wait("the run has ended", |sky| sky.info()["state"] == "READY");
    let after = sky.info()["indexes"][0].clone();
    assert_eq!(after["index"], before["index"]);
    assert_eq!(after["fingerprint"], before["fingerprint"]);
    sky.unbind("sky");
}

fn malformed_values_are_refused_where_they_must_not_be_ignored(world: &World) {
    let store = super::store(
        "@prefix v: <http://e/> . v:a a v:Planet ; v:title \"A\" ; v:size \"large\" .
         v:b a v:Planet ; v:title \"B\" ; v:size 3 .",
    );
    let (title, sized) = (
        world.soml("title: {}"),
        world.soml("title: {}, size: {range: int}"),
    );
    let mut parts = world.parts(store);
    parts.options.ignore_malformed = false;
    let sky = world.serve_with(parts, Some(&title));
    assert_eq!(sky.total(), 2);
    sky.store("sky", &sized);
    let refused = sky.bind("sky");
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (422, "VALUES_MALFORMED")
    );
    let error = refused.json()["errors"][0]["extensions"].clone();
    assert_eq!(error["iri"], "http://e/a", "{error}");
    assert_eq!(error["property"], "size");
    assert!(error["value"].as_str().unwrap().contains("large"));
    assert_eq!(sky.total(), 2, "what was bound still answers");
    let sdl = sky.service.get("/schema.graphql").text();
    assert!(!sdl.contains("\n  size: Int\n"), "{sdl}");
    sky.unbind("sky");
}

#[test]
fn malformed_values_are_counted_where_they_are_ignored() {
    let world = World::embedded();
    let store = super::store(
        "@prefix v: <http://e/> . v:a a v:Planet ; v:title \"A\" ; v:size \"large\" .",
    );
    let sky = world.serve_parts(world.parts(store));
    let malformed = sky.info()["indexes"][0]["malformed"]["size"].clone();
    assert_eq!(malformed["count"], 1, "{malformed}");
    assert_eq!(malformed["examples"][0]["iri"], "http://e/a");
}

#[test]
fn an_unbuilt_schema_is_served_and_says_that_its_indexes_are_being_built() {
    let world = World::embedded();
    let engine = super::stoppable::Stoppable::new(super::embedded());
    engine.hold_bulks(true);
    let engines = search_service::Engines::of(engine.clone());
    let parts = world.parts_over(super::planets(20), engines);
    let sky = world.serve_with(parts, None);
    sky.store("sky", &world.soml("title: {}"));
    assert_eq!(sky.bind("sky").status, 200);
    let answer = sky.search();
    assert_eq!(answer["data"], json!({sky.root.as_str(): null}));
    assert_eq!(
        answer["errors"][0]["extensions"]["code"], "INDEX_BUILDING",
        "{answer}"
    );
    assert_eq!(sky.info()["state"], "BUILDING");
    assert_eq!(sky.check("2200")["status"], "WARNING");
    engine.hold_bulks(false);
    sky.wait_until_ok("2200");
    assert_eq!(sky.total(), 20);
    assert!(sky.app.has_schema());
}

#[test]
fn another_bind_and_an_unbind_end_the_run_before() {
    let world = World::embedded();
    let engine = super::stoppable::Stoppable::new(super::embedded());
    let engines = search_service::Engines::of(engine.clone());
    let sky = world.serve_parts(world.parts_over(super::planets(20), engines));
    engine.hold_bulks(true);
    sky.store("sky", &world.soml("title: {}, a: {}"));
    assert_eq!(sky.bind("sky").status, 200);
    sky.wait("a run has begun", |sky| {
        sky.info()["next"]["state"] == "BUILDING"
    });
    sky.store("sky", &world.soml("title: {}, b: {}"));
    assert_eq!(sky.bind("sky").status, 200);
    assert_eq!(sky.total(), 20, "the first index still answers");
    engine.hold_bulks(false);
    sky.wait("the last schema answers", |sky| {
        sky.info()["state"] == "READY"
            && sky
                .service
                .get("/schema.graphql")
                .text()
                .contains("  b: String")
    });
    assert!(
        !sky.service
            .get("/schema.graphql")
            .text()
            .contains("  a: String")
    );
    engine.hold_bulks(true);
    sky.store("sky", &world.soml("title: {}, c: {}"));
    assert_eq!(sky.bind("sky").status, 200);
    assert_eq!(sky.unbind("sky").status, 204);
    engine.hold_bulks(false);
    assert_eq!(
        sky.search()["errors"][0]["extensions"]["code"],
        "SCHEMA_NOT_BOUND"
    );
}

/// Has what is bound kept in a folder, where there is one.
fn keep(parts: &mut SearchParts, folder: Option<&TempDir>) {
    if let Some(folder) = folder {
        let storage = Storage::Folder(folder.path().to_owned());
        let schemas = Arc::new(InMemorySchemaStore::default());
        parts.schemas = block_on(storage.keeping(schemas, false)).unwrap();
    }
}

/// Compares what the store of schemas says is bound.
fn assert_kept(sky: &Sky, expected: Option<&str>) {
    let kept = block_on(sky.schemas.binding(ServiceKind::Search)).unwrap();
    assert_eq!(kept.id(), expected);
}

/// Stores another schema than the one that is bound.
fn store_sea(world: &World, sky: &Sky) {
    let sea = world.soml("title: {}, more: {}");
    sky.store("sea", &sea.replace("/soml/sky", "/soml/sea"));
}

fn is_not_bound(sky: &Sky) -> bool {
    sky.search()["errors"][0]["extensions"]["code"] == "SCHEMA_NOT_BOUND"
}

#[test]
fn unbinding_a_schema_that_is_only_being_checked_leaves_what_is_bound() {
    for folder in [None, Some(TempDir::new().unwrap())] {
        let mut world = World::embedded();
        world.settings.search.ignore_malformed = false;
        let store = Unruly::new(Manner::Right);
        let mut parts = world.parts(store.clone());
        keep(&mut parts, folder.as_ref());
        let sky = world.serve_parts(parts);
        store_sea(&world, &sky);
        store.set(Manner::Held);
        let superseded = std::thread::scope(|scope| {
            let binding = scope.spawn(|| sky.bind("sea"));
            sky.wait("values are checked", |sky| {
                store.faults() == 1 && sky.info()["next"]["schema"] == "sea"
            });
            assert_eq!(sky.unbind("sea").status, 204);
            binding.join().unwrap()
        });
        assert_eq!(
            (superseded.status, superseded.code().as_str()),
            (409, "BINDING_SUPERSEDED")
        );
        let info = sky.info();
        assert_eq!(
            (&info["schema"], &info["state"]),
            (&"sky".into(), &"READY".into())
        );
        assert_eq!(sky.total(), 20);
        assert_kept(&sky, Some("sky"));
    }
}

#[test]
fn unbinding_what_answers_does_not_end_a_bind_whose_values_are_checked() {
    for folder in [None, Some(TempDir::new().unwrap())] {
        let mut world = World::embedded();
        world.settings.search.ignore_malformed = false;
        let store = Unruly::new(Manner::Right);
        let mut parts = world.parts(store.clone());
        keep(&mut parts, folder.as_ref());
        let sky = world.serve_parts(parts);
        store_sea(&world, &sky);
        store.set(Manner::Held);
        let bound = std::thread::scope(|scope| {
            let binding = scope.spawn(|| sky.bind("sea"));
            sky.wait("values are checked", |sky| {
                store.faults() == 1 && sky.info()["next"]["schema"] == "sea"
            });
            assert_eq!(sky.unbind("sky").status, 204);
            assert!(is_not_bound(&sky));
            assert_kept(&sky, None);
            store.set(Manner::Right);
            binding.join().unwrap()
        });
        assert_eq!(bound.status, 200, "{}", bound.text());
        sky.wait("the index answers", |sky| sky.total() == 20);
        assert_eq!(sky.info()["schema"], "sea");
        assert_kept(&sky, Some("sea"));
    }
}

/// Serves a schema, and binds another one whose indexes are not complete before the engine is let go on.
fn bind_and_hold(world: &World, folder: Option<&TempDir>) -> (Sky, Arc<Stoppable>) {
    let engine = Stoppable::new(super::embedded());
    let mut parts = world.parts_over(super::planets(20), Engines::of(engine.clone()));
    keep(&mut parts, folder);
    let sky = world.serve_parts(parts);
    store_sea(world, &sky);
    engine.hold_bulks(true);
    assert_eq!(sky.bind("sea").status, 200);
    assert_eq!(sky.info()["schema"], "sky");
    assert_eq!(sky.total(), 20, "the first schema still answers");
    assert_kept(&sky, Some("sea"));
    (sky, engine)
}

#[test]
fn unbinding_what_still_answers_leaves_the_schema_that_was_bound_in_its_place() {
    for folder in [None, Some(TempDir::new().unwrap())] {
        let world = World::embedded();
        let (sky, engine) = bind_and_hold(&world, folder.as_ref());
        assert_eq!(sky.unbind("sky").status, 204);
        let info = sky.info();
        assert_eq!(
            (&info["schema"], &info["state"]),
            (&"sea".into(), &"BUILDING".into())
        );
        let answer = sky.search();
        assert_eq!(
            answer["errors"][0]["extensions"]["code"], "INDEX_BUILDING",
            "{answer}"
        );
        assert_kept(&sky, Some("sea"));
        engine.hold_bulks(false);
        sky.wait("the index answers", |sky| sky.total() == 20);
        assert_eq!(sky.info()["schema"], "sea");
        assert_kept(&sky, Some("sea"));
        assert_eq!(sky.unbind("sea").status, 204);
        assert!(is_not_bound(&sky));
        assert_kept(&sky, None);
    }
}

#[test]
fn unbinding_what_was_bound_last_leaves_none() {
    for folder in [None, Some(TempDir::new().unwrap())] {
        let world = World::embedded();
        let (sky, engine) = bind_and_hold(&world, folder.as_ref());
        assert_eq!(sky.unbind("sea").status, 204);
        engine.hold_bulks(false);
        assert!(is_not_bound(&sky));
        assert_kept(&sky, None);
    }
}

const MALFORMED: &str =
    "@prefix v: <http://e/> . v:a a v:Planet ; v:title \"A\" ; v:size \"large\" .
     v:b a v:Planet ; v:title \"B\" ; v:size 3 .";

/// Serves the titles of malformed data, where the engine is what a test says.
fn serve_titles(world: &World, parts: SearchParts, is_bound: bool) -> Sky {
    let titles = world.soml("title: {}");
    let sky = world.serve_with(parts, is_bound.then_some(titles.as_str()));
    sky.store("sky", &titles);
    let sizes = world.soml("title: {}, size: {range: int}");
    sky.store("sea", &sizes.replace("/soml/sky", "/soml/sea"));
    sky
}

fn assert_malformed(sky: &Sky) {
    let refused = sky.bind("sea");
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (422, "VALUES_MALFORMED")
    );
}

#[test]
fn indexes_of_what_is_bound_are_still_built_after_another_bind_is_refused() {
    let mut world = World::embedded();
    world.settings.search.ignore_malformed = false;
    let engine = Stoppable::new(super::embedded());
    engine.hold_bulks(true);
    let parts = world.parts_over(super::store(MALFORMED), Engines::of(engine.clone()));
    let sky = serve_titles(&world, parts, false);
    assert_eq!(sky.bind("sky").status, 200);
    for _ in 0..2 {
        assert_malformed(&sky);
        let info = sky.info();
        assert_eq!(
            (&info["schema"], &info["state"]),
            (&"sky".into(), &"BUILDING".into())
        );
    }
    engine.hold_bulks(false);
    sky.wait("the index is ready", |sky| sky.info()["state"] == "READY");
    assert_eq!(sky.total(), 2);
}

#[test]
fn what_is_known_of_the_bound_indexes_is_not_lost_when_another_bind_is_refused() {
    let mut world = World::embedded();
    world.settings.search.ignore_malformed = false;
    let engine = super::embedded();
    let serve = || {
        let engines = Engines::of(Arc::clone(&engine));
        let parts = world.parts_over(super::unknowing(MALFORMED), engines);
        serve_titles(&world, parts, true)
    };
    drop(serve());
    let sky = serve();
    for _ in 0..2 {
        let problem = sky.info()["indexes"][0]["problems"][0]["code"].clone();
        assert_eq!(problem, "MAY_BE_OLDER");
        assert_eq!(sky.check("2200")["status"], "WARNING");
        assert_malformed(&sky);
    }
    assert_eq!(sky.total(), 2);
}
