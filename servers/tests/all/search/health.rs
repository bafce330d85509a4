//! Health of the search service: its checks, and how bad each finding is.

use servers::config::Severity;
use servers::search::Engines;

use super::stoppable::Stoppable;
use super::{World, embedded, planets};

#[test]
fn all_is_well_with_a_bound_schema() {
    let sky = World::embedded().serve();
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
    }
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
