//! Indexes are compared with the data: at the start, and when a schema is bound.

use std::sync::Arc;

use graph_store::GraphStore;
use graph_store::image::{FolderOptions, ImageBuilder, ImageStore};
use search_index::engine::Engine;
use search_service::Engines;
use tempfile::TempDir;

use super::{Sky, World, add_planet, embedded, store, unknowing};

const A: &str = "@prefix v: <http://e/> . v:a a v:Planet ; v:title \"A\" .";
const MALFORMED: &str =
    "@prefix v: <http://e/> . v:a a v:Planet ; v:title \"A\" ; v:size \"large\" .";

fn number(sky: &Sky) -> String {
    let info = sky.info();
    let index = info["indexes"][0]["index"].as_str().unwrap();
    index.rsplit('-').next().unwrap().to_owned()
}

/// Starts a service with the schema of a world.
fn start(world: &World, data: Arc<dyn GraphStore>, engine: &Engine) -> Sky {
    let engines = Engines::of(Arc::clone(engine));
    world.serve_parts(world.parts_over(data, engines))
}

#[test]
fn a_restart_follows_what_has_changed_since_and_builds_nothing() {
    let (world, folder) = (World::embedded(), TempDir::new().unwrap());
    let mut settings = world.settings.clone();
    settings.search.location = folder.path().join("search").display().to_string();
    let storage = settings.search_storage();
    let data = folder.path().join("data");
    let options = FolderOptions::default();
    drop(ImageStore::create(&data, ImageBuilder::new(), &options).unwrap());
    let run = |known: usize, adds: &[&str]| {
        let store = Arc::new(ImageStore::open(&data, &options).unwrap());
        let engines = Engines::open(&settings.engine_options(), &storage).unwrap();
        let mut parts = world.parts_over(store.clone(), engines);
        parts.storage = storage.clone();
        let sky = world.serve_parts(parts);
        sky.wait("what was added before is found", |sky| sky.total() == known);
        sky.wait_until_ok("2200");
        assert_eq!(number(&sky), "1");
        // The service may follow them, or end before.
        adds.iter().for_each(|name| add_planet(&*store, name));
        let Sky { service, app, .. } = sky;
        drop(service);
        drop(app);
    };
    run(0, &["a"]);
    run(1, &["b", "c"]);
    run(3, &[]);
    let store = Arc::new(ImageStore::open(&data, &options).unwrap());
    // Other data are indexed anew, while the service runs.
    let engines = Engines::open(&settings.engine_options(), &storage).unwrap();
    let mut parts = world.parts_over(store.clone(), engines);
    parts.storage = storage.clone();
    let sky = world.serve_parts(parts);
    assert_eq!(sky.total(), 3);
    store.replace_data(ImageBuilder::new()).unwrap();
    sky.wait("the data are indexed anew", |sky| sky.total() == 0);
    assert_eq!(number(&sky), "2");
    sky.wait_until_ok("2200");
}

#[test]
fn a_bind_builds_nothing_where_an_index_follows_the_data() {
    let (world, engine) = (World::embedded(), embedded());
    let data = super::image(A);
    let sky = start(&world, data.clone(), &engine);
    assert_eq!(sky.bind("sky").status, 200);
    sky.wait("the run has ended", |sky| sky.info()["state"] == "READY");
    assert_eq!(number(&sky), "1");
    add_planet(&*data, "b");
    sky.wait("the planet is found", |sky| sky.total() == 2);
    assert_eq!(sky.bind("sky").status, 200);
    sky.wait("the run has ended", |sky| sky.info()["state"] == "READY");
    assert_eq!(number(&sky), "1");
    assert_eq!(sky.total(), 2);
}

#[test]
fn where_the_store_knows_nothing_a_start_warns_and_a_bind_builds_anew() {
    let (world, engine) = (World::embedded(), embedded());
    {
        let sky = start(&world, unknowing(A), &engine);
        assert_eq!(sky.check("2200")["status"], "OK", "it was just built");
    }
    let two = format!("{A} v:b a v:Planet ; v:title \"B\" .");
    let sky = start(&world, unknowing(&two), &engine);
    assert_eq!((sky.total(), number(&sky)), (1.into(), "1".to_owned()));
    let check = sky.check("2200");
    assert_eq!(check["status"], "WARNING");
    let message = check["message"].as_str().unwrap();
    assert!(message.contains("before the service started"), "{message}");
    let info = sky.info();
    assert_eq!(info["indexes"][0]["problems"][0]["code"], "MAY_BE_OLDER");
    assert_eq!(sky.bind("sky").status, 200);
    sky.wait("the new index answers", |sky| sky.total() == 2);
    assert_eq!(number(&sky), "2");
    sky.wait_until_ok("2200");
}

#[test]
fn an_index_without_some_values_is_not_served_where_none_may_be_missing() {
    let (world, engine) = (World::embedded(), embedded());
    {
        let sky = start(&world, store(MALFORMED), &engine);
        assert_eq!(sky.total(), 1);
        assert_eq!(sky.info()["indexes"][0]["malformedValues"], 1);
        assert_eq!(sky.check("2200")["status"], "OK", "they may be missing");
    }
    let mut parts = world.parts_over(store(MALFORMED), Engines::of(Arc::clone(&engine)));
    parts.options.ignore_malformed = false;
    let sky = world.serve_with(parts, None);
    sky.store("sky", &world.soml("title: {}, size: {range: int}"));
    let refused = sky.bind("sky");
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (422, "VALUES_MALFORMED")
    );
    let error = refused.json()["errors"][0]["extensions"].clone();
    assert_eq!(error["iri"], "http://e/a", "{error}");
    let search = sky.search();
    let code = &search["errors"][0]["extensions"]["code"];
    assert_eq!(code, "SCHEMA_NOT_BOUND", "{search}");
}

#[test]
fn a_restart_with_values_that_may_not_be_missing_starts_without_the_schema_and_says_so() {
    let (world, engine) = (World::embedded(), embedded());
    drop(start(&world, store(MALFORMED), &engine));
    let mut parts = world.parts_over(store(MALFORMED), Engines::of(Arc::clone(&engine)));
    parts.options.ignore_malformed = false;
    let sky = world.serve_parts(parts);
    let check = sky.check("2100");
    assert_eq!(check["status"], "WARNING");
    let message = check["message"].as_str().unwrap();
    assert!(message.contains("VALUES_MALFORMED"), "{message}");
    assert_eq!(sky.service.get("/__gtg").code(), "SCHEMA_NOT_BOUND");
    assert_eq!(sky.service.get("/__live").status, 200);
}

#[test]
fn without_indexing_an_index_without_some_values_is_said() {
    let (world, engine) = (World::embedded(), embedded());
    drop(start(&world, store(MALFORMED), &engine));
    let mut parts = world.parts_over(store(A), Engines::of(Arc::clone(&engine)));
    parts.data = None;
    parts.options.ignore_malformed = false;
    let sky = world.serve_parts(parts);
    assert_eq!(sky.total(), 1);
    let info = sky.info();
    assert_eq!(info["indexes"][0]["problems"][0]["code"], "MALFORMED");
    assert_eq!(sky.check("2200")["status"], "WARNING");
}
