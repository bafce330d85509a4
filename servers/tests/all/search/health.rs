//! Health of the search service: its checks, and how bad each finding is.

use search_service::Engines;
use search_service::Severity;

use super::stoppable::{Health, Stoppable};
use super::{World, embedded, on_both_engines, planets};

on_both_engines! {
    all_is_well_with_a_bound_schema
}

/// On a server of one node, copies have no place, and that is well too.
fn all_is_well_with_a_bound_schema(world: &World) {
    let sky = world.serve();
    let record = sky.service.get("/__health").json();
    assert_eq!(record["status"], "OK", "{record:#}");
    for (id, kind) in [("2100", "search"), ("2200", "indexes"), ("2300", "indexer")] {
        let check = sky.check(id);
        assert_eq!(
            (&check["status"], &check["type"]),
            (&"OK".into(), &kind.into()),
            "{check}"
        );
    }
    assert_eq!(sky.service.get("/__gtg").json()["gtg"], "OK");
    crate::health_records::check(&sky.service.base);
    sky.unbind("sky");
    crate::health_records::check(&sky.service.base);
}

#[test]
fn each_severity_is_that_of_its_property() {
    let levels = [
        (Severity::Low, "WARNING"),
        (Severity::Medium, "WARNING"),
        (Severity::High, "ERROR"),
    ];
    for (severity, status) in levels {
        let mut world = World::embedded();
        let severities = &mut world.settings.search.severities;
        severities.soml = severity;
        severities.engine = severity;
        severities.indexing_soml = severity;
        severities.unavailable = severity;
        severities.indexing_indexes = severity;
        severities.indexing_unavailable = severity;
        severities.indexer = severity;
        let engine = Stoppable::new(embedded());
        let sky = world.serve_parts(world.parts_over(planets(1), Engines::of(engine.clone())));
        sky.unbind("sky");
        assert_eq!(sky.check("2100")["status"], status, "no schema");
        assert_eq!(sky.check("2200")["status"], status, "no schema");
        assert_eq!(sky.check("2300")["status"], "OK");
        engine.stop(true);
        for id in ["2100", "2200", "2300"] {
            assert_eq!(sky.check(id)["status"], status, "no engine: {id}");
        }
        engine.stop(false);
        engine.set_health(Health::Failed);
        for id in ["2100", "2200", "2300"] {
            assert_eq!(sky.check(id)["status"], status, "the check fails: {id}");
        }
        engine.set_health(Health::Answered);
        engine.lose_indexes(usize::MAX);
        sky.store("sky", &world.soml("title: {}, more: {}"));
        assert_eq!(sky.bind("sky").status, 200);
        sky.wait("the run has failed", |sky| sky.info()["state"] == "FAILED");
        assert_eq!(sky.check("2200")["status"], status, "no index");
        assert_eq!(sky.check("2100")["status"], "OK");
    }
}

#[test]
fn severities_are_those_of_the_interface_where_nothing_is_set() {
    let severities = servers::config::Settings::default().search.severities;
    let medium = [
        severities.soml,
        severities.engine,
        severities.indexing_soml,
        severities.indexing_indexes,
    ];
    assert_eq!(medium, [Severity::Medium; 4]);
    let high = [
        severities.unavailable,
        severities.indexing_unavailable,
        severities.indexer,
    ];
    assert_eq!(high, [Severity::High; 3]);
}

#[test]
fn an_engine_that_does_not_answer_its_check_in_time_is_away() {
    let mut world = World::embedded();
    world.settings.search.health_check_timeout = servers::config::Positive(50);
    let engine = Stoppable::new(embedded());
    let sky = world.serve_parts(world.parts_over(planets(1), Engines::of(engine.clone())));
    engine.set_health(Health::Silent);
    let message = sky.check("2100")["message"].clone();
    assert_eq!(message, "the search engine did not respond in time");
    engine.set_health(Health::Answered);
    // On a busy machine an answer may be late as well.
    sky.wait("it is back", |sky| sky.check("2100")["status"] == "OK");
}

#[test]
fn a_record_is_cached_as_that_of_every_service() {
    let mut world = World::embedded();
    world.settings.health_cache = std::time::Duration::from_secs(3_600);
    let engine = Stoppable::new(embedded());
    let sky = world.serve_parts(world.parts_over(planets(1), Engines::of(engine.clone())));
    assert_eq!(sky.service.get("/__health").json()["status"], "OK");
    engine.stop(true);
    assert_eq!(sky.service.get("/__health").json()["status"], "OK");
    assert_eq!(
        sky.service.get("/__health?cache=false").json()["status"],
        "ERROR"
    );
}
