//! What is wrong with single indexes is looked up each time, and said with the severity that is set.

use std::sync::Arc;
use std::time::{Duration, Instant};

use graph_store::CallContext;
use search_index::engine::{Binding, Engine, PhysicalName, Switch};
use search_index::mapping::{IndexDefinition, Indexes, MappingOptions, Owner};
use search_service::Severity;
use search_service::{Engines, Storage};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::fake_cluster::{FakeCluster, FakeIndex, Manner};
use super::stoppable::{Health, Stoppable};
use super::{Sky, World, add_planet, block_on, embedded, image, on_both_engines, planets};
use crate::processes::PATIENCE;

on_both_engines! {
    an_index_that_somebody_deletes_is_said_to_be_gone
    an_alias_that_leads_elsewhere_is_said_and_mended
}

/// Returns the codes of the problems of the only index.
fn problems(sky: &Sky) -> Vec<String> {
    let info = sky.info();
    let problems = info["indexes"][0]["problems"].as_array().unwrap().clone();
    let codes = problems.iter().map(|one| one["code"].as_str().unwrap());
    codes.map(str::to_owned).collect()
}

fn index_of(sky: &Sky) -> PhysicalName {
    let info = sky.info();
    PhysicalName::from_engine(info["indexes"][0]["index"].as_str().unwrap())
}

fn an_index_that_somebody_deletes_is_said_to_be_gone(world: &World) {
    let parts = world.parts(planets(20));
    let engine = parts.engines.searched();
    let sky = world.serve_parts(parts);
    assert_eq!(problems(&sky), [""; 0]);
    assert_eq!(sky.check("2200")["status"], "OK");
    block_on(engine.delete(&index_of(&sky), &CallContext::new())).unwrap();
    assert_eq!(problems(&sky), ["GONE"]);
    assert_eq!(sky.info()["indexes"][0]["state"], "MISSING");
    let check = sky.check("2200");
    assert_eq!(check["status"], "WARNING");
    assert!(
        check["message"].as_str().unwrap().contains("is missing"),
        "{check}"
    );
    assert_eq!(sky.check("2100")["status"], "OK", "the engine answers");
    // It is mended as `/__trouble` says.
    assert_eq!(sky.bind("sky").status, 200);
    sky.wait_until_ok("2200");
    assert_eq!(sky.total(), 20);
    sky.unbind("sky");
}

#[test]
fn what_is_wrong_with_an_index_has_the_severity_that_is_set() {
    for (severity, status) in [(Severity::Medium, "WARNING"), (Severity::High, "ERROR")] {
        let mut world = World::embedded();
        world.settings.search.severities.indexing_indexes = severity;
        let engine = embedded();
        let engines = Engines::of(Arc::clone(&engine));
        let sky = world.serve_parts(world.parts_over(planets(3), engines));
        block_on(engine.delete(&index_of(&sky), &CallContext::new())).unwrap();
        assert_eq!(sky.check("2200")["status"], status);
    }
}

/// Returns the definition of the index of a world.
fn definition(world: &World, props: &str) -> IndexDefinition {
    let schema = soml_core::load(&world.soml(props)).schema.unwrap();
    let indexes = Indexes::new(&schema, &MappingOptions::default()).unwrap();
    indexes.indexes[0].clone()
}

fn create(engine: &Engine, definition: &IndexDefinition, name: &PhysicalName, owner: &str) {
    let binding = Binding { definition, name };
    let (owner, context) = (Owner::new(owner), CallContext::new());
    block_on(engine.create(binding, &owner, &context)).unwrap();
}

#[test]
fn an_index_in_the_place_of_ours_is_told_from_ours() {
    for (owner, props, expected) in [
        ("theirs", "title: {}, size: {range: int}", "FOREIGN"),
        ("", "title: {}, more: {}", "REDEFINED"),
    ] {
        let world = World::embedded();
        let engine = embedded();
        let engines = Engines::of(Arc::clone(&engine));
        let sky = world.serve_parts(world.parts_over(planets(3), engines));
        let name = index_of(&sky);
        block_on(engine.delete(&name, &CallContext::new())).unwrap();
        let owner = match owner {
            "" => world.settings.name.as_str(),
            other => other,
        };
        create(&engine, &definition(&world, props), &name, owner);
        assert_eq!(problems(&sky), [expected]);
        assert_eq!(sky.check("2200")["status"], "WARNING");
    }
}

fn an_alias_that_leads_elsewhere_is_said_and_mended(world: &World) {
    let parts = world.parts(planets(3));
    let engine = parts.engines.searched();
    let sky = world.serve_parts(parts);
    let definition = definition(world, "title: {}");
    let other = PhysicalName::new(&definition, 7);
    create(&engine, &definition, &other, &world.settings.name);
    let switch = Switch {
        alias: definition.alias(),
        to: Some(other),
        replaces_index: false,
        lease: 0,
    };
    block_on(engine.switch(&[switch], &CallContext::new())).unwrap();
    assert_eq!(problems(&sky), ["ALIAS_ELSEWHERE"]);
    assert_eq!(sky.check("2200")["status"], "WARNING");
    assert_eq!(sky.total(), 3, "what is bound addresses its index itself");
    assert_eq!(sky.bind("sky").status, 200);
    sky.wait_until_ok("2200");
    assert_eq!(sky.total(), 3);
    sky.unbind("sky");
}

#[test]
fn documents_that_the_engine_does_not_take_are_said_and_after_a_restart_too() {
    let world = World::embedded();
    let engine = Stoppable::new(embedded());
    engine.refuse_planet(usize::MAX, "p7", 400);
    // The second service finds the index that the first has built.
    for _ in 0..2 {
        let engines = Engines::of(engine.clone());
        let sky = world.serve_parts(world.parts_over(planets(20), engines));
        assert_eq!(problems(&sky), ["REJECTED"]);
        assert_eq!(sky.info()["indexes"][0]["rejected"], 1);
        assert_eq!(index_of(&sky).as_str().rsplit('-').next(), Some("1"));
        let message = sky.check("2200")["message"].to_string();
        assert!(message.contains("have no document"), "{message}");
        let refused = &sky.info()["indexes"][0]["refused"];
        let expected =
            json!([{"iri": "http://e/p7", "property": null, "reason": "as a test says"}]);
        assert_eq!(*refused, expected);
    }
}

#[test]
fn how_far_an_index_is_behind_its_data_is_said() {
    let world = World::embedded();
    let store = image("@prefix v: <http://e/> . v:a a v:Planet ; v:title \"A\" .");
    let engine = Stoppable::new(embedded());
    let sky = world.serve_parts(world.parts_over(store.clone(), Engines::of(engine.clone())));
    let index = |sky: &Sky| sky.info()["indexes"][0].clone();
    assert_eq!(
        (&index(&sky)["sequence"], &index(&sky)["secondsBehind"]),
        (&json!(0), &json!(0.0))
    );
    engine.hold_bulks(true);
    add_planet(&*store, "b");
    let info = sky.info();
    assert_eq!(
        (&info["sequence"], &info["indexes"][0]["sequence"]),
        (&json!(1), &json!(0))
    );
    assert!(
        info["indexes"][0]["secondsBehind"].as_f64().unwrap() > 0.0,
        "{info}"
    );
    assert_eq!(problems(&sky), [""; 0], "that is not long");
    assert_eq!(sky.total(), 1);
    engine.hold_bulks(false);
    sky.wait("the planet is found", |sky| sky.total() == 2);
    sky.wait("the index is level", |sky| index(sky)["sequence"] == 1);
    assert_eq!(index(&sky)["secondsBehind"], 0.0);
    sky.wait_until_ok("2200");
}

#[test]
fn indexes_of_a_schema_that_was_bound_during_the_look_are_not_said_to_be_ready() {
    let mut world = World::embedded();
    world.settings.search.health_check_timeout = servers::config::Positive(120_000);
    world.settings.health_cache = Duration::from_secs(3_600);
    let engine = Stoppable::new(embedded());
    let sky = world.serve_parts(world.parts_over(planets(3), Engines::of(engine.clone())));
    sky.store("sky", &world.soml("title: {}, mass: {range: int}"));
    engine.set_health(Health::Held);
    std::thread::scope(|scope| {
        let looking = scope.spawn(|| sky.check("2200"));
        let begun = Instant::now();
        while engine.held() == 0 && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
        if engine.held() == 0 {
            // Whoever looks has to end before the test can.
            engine.set_health(Health::Answered);
            panic!("nobody looks at the engine");
        }
        assert_eq!(sky.bind("sky").status, 200);
        sky.wait("the other schema is bound", |sky| {
            let sdl = sky.service.get("/schema.graphql").text();
            sdl.contains("mass")
        });
        engine.set_health(Health::Answered);
        let check = looking.join().unwrap();
        assert_eq!(check["status"], "WARNING", "{check}");
        let message = check["message"].as_str().unwrap();
        assert!(message.contains("not been looked at yet"), "{check}");
    });
    // What was found out before is not kept.
    sky.wait_until_ok("2200");
}

#[test]
fn an_engine_that_does_not_count_in_time_still_answers() {
    let mut world = World::embedded();
    world.settings.search.health_check_timeout = servers::config::Positive(500);
    let engine = Stoppable::new(embedded());
    let sky = world.serve_parts(world.parts_over(planets(3), Engines::of(engine.clone())));
    engine.hold_counts(true);
    // On a busy machine other answers may be late as well.
    sky.wait("only the count is late", |sky| {
        problems(sky) == ["NOT_COUNTED"]
    });
    sky.wait("the engine answers", |sky| {
        sky.check("2100")["status"] == "OK" && sky.check("2200")["status"] == "WARNING"
    });
    engine.hold_counts(false);
    sky.wait("all is counted", |sky| problems(sky).is_empty());
}

#[test]
fn files_of_the_embedded_engine_that_are_gone_are_said_while_searches_still_answer() {
    let (world, folder) = (World::embedded(), TempDir::new().unwrap());
    let mut settings = world.settings.clone();
    settings.search.location = folder.path().display().to_string();
    let storage = settings.search_storage();
    let engines = Engines::open(&settings.engine_options(), &storage).unwrap();
    let sky = world.serve_parts(world.parts_over(planets(20), engines));
    assert_eq!(sky.check("2200")["status"], "OK");
    let Storage::Folder(ours) = storage else {
        panic!("it is in a folder");
    };
    for entry in std::fs::read_dir(ours.join("indexes")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            std::fs::remove_dir_all(path).unwrap();
        }
    }
    assert_eq!(problems(&sky), ["UNHEALTHY"]);
    let check = sky.check("2200");
    assert_eq!(check["status"], "WARNING");
    let place = folder.path().display().to_string();
    assert!(!check.to_string().contains(&place), "{check}");
    assert_eq!(sky.total(), 20);
}

/// A service over a cluster that has one index of three documents for it, as another instance has built it.
fn over_cluster() -> (FakeCluster, Sky) {
    over_cluster_in(30_000)
}

/// The same, with so many milliseconds for a health check.
fn over_cluster_in(time: u32) -> (FakeCluster, Sky) {
    over_cluster_of(World::embedded(), time)
}

fn over_cluster_of(mut world: World, time: u32) -> (FakeCluster, Sky) {
    let cluster = FakeCluster::start();
    world.settings.search.host = cluster.address.parse().unwrap();
    world.settings.search.health_check_timeout = servers::config::Positive(time);
    let mut parts = world.parts(planets(0));
    parts.data = None;
    let sky = world.serve_with(parts, None);
    sky.store("sky", &world.soml("title: {}"));
    assert_eq!(sky.bind("sky").status, 200);
    let info = sky.info();
    let index = &info["indexes"][0];
    assert_eq!(index["state"], "MISSING");
    let alias = index["alias"].as_str().unwrap().to_owned();
    let mark = json!({
        "application": world.settings.name,
        "schema": "sky",
        "object": index["object"],
        "fingerprint": index["fingerprint"],
        "built": {"documents": 3, "malformed": 0, "rejected": 0, "data": null},
    });
    let ours = FakeIndex {
        name: format!("{alias}-1"),
        aliases: vec![alias],
        mark,
        status: "yellow",
        documents: 3,
    };
    let theirs = FakeIndex {
        name: "svc-theirs-1".to_owned(),
        aliases: Vec::new(),
        mark: Value::Null,
        status: "red",
        documents: 0,
    };
    cluster.change(|state| state.indexes = vec![ours, theirs]);
    assert_eq!(sky.bind("sky").status, 200);
    (cluster, sky)
}

#[test]
fn a_cluster_is_judged_by_our_indexes_alone() {
    let (cluster, sky) = over_cluster();
    assert_eq!(problems(&sky), [""; 0], "{:#}", sky.info());
    assert_eq!(sky.check("2200")["status"], "OK", "theirs is red");
    cluster.change(|state| state.indexes[0].status = "red");
    assert_eq!(problems(&sky), ["UNHEALTHY"]);
    assert_eq!(sky.check("2200")["status"], "WARNING");
    assert_eq!(sky.check("2100")["status"], "OK");
    cluster.change(|state| state.indexes[0].status = "green");
    assert_eq!(problems(&sky), [""; 0]);
}

#[test]
fn a_cluster_whose_indexes_somebody_has_changed_is_looked_at_each_time() {
    let (cluster, sky) = over_cluster();
    cluster.change(|state| state.indexes[0].documents = 2);
    assert_eq!(problems(&sky), ["INCOMPLETE"]);
    let message = sky.check("2200")["message"].to_string();
    assert!(
        message.contains("has 2 documents and was built with 3"),
        "{message}"
    );
    cluster.change(|state| state.indexes[0].mark["application"] = json!("theirs"));
    assert_eq!(problems(&sky), ["FOREIGN"]);
    cluster.change(|state| drop(state.indexes.remove(0)));
    assert_eq!(problems(&sky), ["GONE"]);
    assert_eq!(sky.check("2200")["status"], "WARNING");
    let asked = cluster.health_requests();
    assert!(
        asked
            .iter()
            .all(|path| path.starts_with("/_cluster/health")),
        "{asked:?}"
    );
}

#[test]
fn a_cluster_that_hangs_is_said_to_hang() {
    let (cluster, sky) = over_cluster_in(500);
    cluster.change(|state| state.manner = Manner::Silent);
    let check = sky.check("2100");
    assert_eq!(
        check["message"],
        "the search engine did not respond in time"
    );
    let info = sky.info();
    assert_eq!(info["errorCode"], "ENGINE_TIMEOUT");
    assert!(!info.to_string().contains(&cluster.address), "{info:#}");
    assert_eq!(sky.service.get("/__gtg").status, 503);
    cluster.change(|state| state.manner = Manner::Right);
    sky.wait_until_ok("2200");
}

/// Another instance builds the index anew and deletes the old one, which this one searches.
#[test]
fn an_index_that_another_instance_has_built_anew_is_followed() {
    let mut world = World::embedded();
    world.settings.search.drop_delay = std::time::Duration::from_millis(400);
    let (cluster, sky) = over_cluster_of(world, 30_000);
    let before = index_of(&sky).to_string();
    assert!(before.ends_with("-1"), "{before}");
    let after = before.replace("-1", "-2");
    cluster.change(|state| {
        let mut new = state.indexes[0].clone();
        new.name.clone_from(&after);
        state.indexes[0] = new;
    });
    sky.wait("it is followed", |sky| index_of(sky).as_str() == after);
    assert_eq!(problems(&sky), [""; 0]);
}
