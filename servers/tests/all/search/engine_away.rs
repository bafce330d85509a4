//! The search engine is away: at the start, and while the service runs.

use std::sync::Arc;

use search_service::Engines;
use servers::config::Positive;

use super::data_away::{Manner, Unruly};
use super::fake_cluster::{self, FakeCluster};
use super::stoppable::Stoppable;
use super::{Sky, World, embedded, planets};

#[test]
fn an_engine_that_comes_late_is_waited_for() {
    let world = World::embedded();
    let engine = Stoppable::new(embedded());
    engine.stop(true);
    let sky = world.serve_parts(world.parts_over(planets(20), Engines::of(engine.clone())));
    let search = sky.search();
    assert_eq!(
        search["errors"][0]["extensions"]["code"], "SCHEMA_NOT_BOUND",
        "{search}"
    );
    assert_eq!(sky.service.get("/__gtg").status, 503);
    let bound = sky.bind("sky");
    assert_eq!(
        (bound.status, bound.code().as_str()),
        (503, "ENGINE_UNAVAILABLE")
    );
    for id in ["2100", "2200", "2300"] {
        assert_ne!(sky.check(id)["status"], "OK", "{id}");
    }
    engine.stop(false);
    sky.wait("the schema is bound", |sky| sky.total() == 20);
    sky.wait("it is good to go", |sky| {
        sky.service.get("/__gtg").status == 200
    });
}

#[test]
fn an_engine_that_stops_fails_searches_and_health_until_it_is_back() {
    let world = World::embedded();
    let engine = Stoppable::new(embedded());
    let sky = world.serve_parts(world.parts_over(planets(20), Engines::of(engine.clone())));
    assert_eq!(sky.total(), 20);
    engine.stop(true);
    let answer = sky.search();
    assert_eq!(
        answer["errors"][0]["extensions"]["code"], "ENGINE_UNAVAILABLE",
        "{answer}"
    );
    let gtg = sky.service.get("/__gtg");
    assert_eq!(
        (gtg.status, gtg.code().as_str()),
        (503, "ENGINE_UNAVAILABLE")
    );
    engine.stop(false);
    assert_eq!(sky.total(), 20);
    assert_eq!(sky.service.get("/__gtg").status, 200);
}

#[test]
fn a_run_that_the_engine_leaves_is_tried_again() {
    let world = World::embedded();
    let engine = Stoppable::new(embedded());
    let sky = world.serve_parts(world.parts_over(planets(20), Engines::of(engine.clone())));
    engine.hold_bulks(true);
    sky.store("sky", &world.soml("title: {}, more: {}"));
    assert_eq!(sky.bind("sky").status, 200);
    sky.wait("the run has begun", |sky| {
        sky.info()["next"]["state"] == "BUILDING"
    });
    engine.stop(true);
    engine.hold_bulks(false);
    sky.wait("it is tried again", |sky| {
        let info = sky.info();
        let next = &info["next"]["state"];
        next == "RETRYING" && info["tries"].as_u64().is_some_and(|tries| tries > 1)
    });
    let info = sky.info();
    assert_eq!(info["errorCode"], "ENGINE_UNAVAILABLE");
    assert_eq!(info["error"], "the search engine cannot be reached");
    let message = sky.check("2200")["message"].to_string();
    assert!(sky.app.has_schema() && message.contains("cannot be reached"));
    engine.stop(false);
    sky.wait("the new schema answers", |sky| {
        sky.service
            .get("/schema.graphql")
            .text()
            .contains("  more: String")
    });
    assert_eq!(sky.total(), 20);
}

#[test]
fn nobody_at_the_port_is_an_engine_that_is_away() {
    let mut world = World::embedded();
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    world.settings.search.host = format!("http://127.0.0.1:{port}").parse().unwrap();
    let sky = world.serve();
    let answer = sky.bind("sky");
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (503, "ENGINE_UNAVAILABLE")
    );
    assert!(
        !answer.text().contains(&port.to_string()),
        "{}",
        answer.text()
    );
    let search = sky.check("2100");
    assert_eq!(search["status"], "WARNING");
    assert_eq!(search["message"], "the search engine cannot be reached");
    assert_eq!(sky.check("2200")["status"], "ERROR");
    assert_eq!(sky.check("2300")["status"], "ERROR");
    assert_eq!(sky.service.get("/__gtg").status, 503);
    assert_eq!(sky.service.get("/__live").status, 200);
}

/// A server that takes connections and never answers, as one does that hangs, or whose packets get lost.
#[test]
fn an_engine_that_hangs_at_the_start_is_waited_for_as_one_that_cannot_be_reached() {
    let mut world = World::embedded();
    let cluster = FakeCluster::start();
    cluster.change(|state| state.manner = fake_cluster::Manner::Silent);
    world.settings.search.host = cluster.address.parse().unwrap();
    world.settings.search.health_check_timeout = Positive(200);
    // The start does not end in an error.
    let sky = world.serve();
    let answer = sky.bind("sky");
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (504, "ENGINE_TIMEOUT"),
        "{}",
        answer.text()
    );
    let message = "the search engine did not respond in time";
    assert_eq!(sky.check("2100")["message"], message);
    assert_eq!(sky.check("2200")["status"], "ERROR");
    assert_eq!(sky.service.get("/__gtg").status, 503);
    assert_eq!(sky.service.get("/__live").status, 200);
}

#[test]
fn something_else_at_the_address_at_the_start_is_waited_for_too() {
    let mut world = World::embedded();
    let cluster = FakeCluster::start();
    cluster.change(|state| state.manner = fake_cluster::Manner::NotFound);
    world.settings.search.host = cluster.address.parse().unwrap();
    let sky = world.serve();
    let answer = sky.bind("sky");
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (502, "ENGINE_FAILED"),
        "{}",
        answer.text()
    );
    assert!(
        !answer.text().contains(&cluster.address),
        "{}",
        answer.text()
    );
    for id in ["2100", "2200", "2300"] {
        assert_ne!(sky.check(id)["status"], "OK", "{id}");
    }
}

#[test]
fn while_a_schema_is_not_bound_yet_health_says_that_it_is_tried_again() {
    let world = World::embedded();
    let engine = Stoppable::new(embedded());
    engine.stop(true);
    let sky = world.serve_parts(world.parts_over(planets(20), Engines::of(engine.clone())));
    engine.stop_info(true);
    engine.stop(false);
    sky.wait("it is tried again", |sky| {
        let message = sky.check("2100")["message"].to_string();
        message.contains("cannot be bound yet (ENGINE_UNAVAILABLE), and is tried again")
    });
    engine.stop_info(false);
    sky.wait("the schema is bound", |sky| sky.total() == 20);
}

#[test]
fn a_start_that_was_tried_as_often_as_is_said_is_said_to_be_tried_no_more() {
    let mut world = World::embedded();
    world.settings.search.retry.max_retries = 2;
    let engine = Stoppable::new(embedded());
    engine.stop_info(true);
    let sky = world.serve_parts(world.parts_over(planets(20), Engines::of(engine.clone())));
    sky.wait("it is given up", |sky| {
        let message = sky.check("2100")["message"].to_string();
        message.contains("cannot be bound (ENGINE_UNAVAILABLE), and is not tried again")
    });
    engine.stop_info(false);
    assert_eq!(sky.bind("sky").status, 200);
    sky.wait("the schema is bound", |sky| sky.total() == 20);
    sky.wait_until_ok("2100");
}

/// Serves without a schema, since the engine is away, and holds the check of the values once it is back.
fn held_start(world: &mut World) -> (Sky, Arc<Unruly>) {
    world.settings.search.ignore_malformed = false;
    let (engine, store) = (Stoppable::new(embedded()), Unruly::new(Manner::Held));
    engine.stop_info(true);
    let engines = Engines::of(engine.clone());
    let sky = world.serve_parts(world.parts_over(store.clone(), engines));
    let other = world.soml("title: {}, more: {}");
    sky.store("sea", &other.replace("/soml/sky", "/soml/sea"));
    engine.stop_info(false);
    sky.wait("the start checks values", |_| store.faults() == 1);
    (sky, store)
}

fn wait_for_the_start_to_wait(sky: &Sky, store: &Unruly) {
    sky.wait("the bind checks values in place of the start", |sky| {
        let message = sky.check("2100")["message"].to_string();
        store.faults() == 2 && message.contains("(BINDING_SUPERSEDED), and is tried again")
    });
}

#[test]
fn a_start_that_is_tried_again_does_not_come_before_what_a_user_binds() {
    let mut world = World::embedded();
    let (sky, store) = held_start(&mut world);
    let bound = std::thread::scope(|scope| {
        let binding = scope.spawn(|| sky.bind("sea"));
        wait_for_the_start_to_wait(&sky, &store);
        store.set(Manner::Right);
        binding.join().unwrap()
    });
    assert_eq!(bound.status, 200, "{}", bound.text());
    sky.wait("the index is ready", |sky| sky.info()["state"] == "READY");
    assert_eq!(
        (&sky.info()["schema"], sky.total()),
        (&"sea".into(), 20.into())
    );
}

#[test]
fn a_start_goes_on_when_what_a_user_binds_comes_to_nothing() {
    let mut world = World::embedded();
    let (sky, store) = held_start(&mut world);
    let refused = std::thread::scope(|scope| {
        let binding = scope.spawn(|| sky.bind("sea"));
        wait_for_the_start_to_wait(&sky, &store);
        assert_eq!(sky.unbind("sea").status, 204);
        binding.join().unwrap()
    });
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (409, "BINDING_SUPERSEDED")
    );
    store.set(Manner::Right);
    sky.wait("the index answers", |sky| sky.total() == 20);
    assert_eq!(sky.info()["schema"], "sky");
}
