//! The seams between the services: whatever can be read is the same at the service and through the gateway, for
//! every role, after restarts, and when what was unavailable is back. `docs/internals/seams.md` has the table.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answers;
#[path = "../all/processes.rs"]
#[expect(dead_code, reason = "shared with another test binary")]
mod processes;
mod proxy;
mod rows;
mod world;

use std::fmt::Write;
use std::thread;

use answers::Said;
use proxy::{Mode, Proxy};
use rows::{ROWS, Row, Service};
use serde_json::Value;
use test_support::repository;
use world::{BackEnds, Program, ROLES, World};

/// Runs each behaviour over the embedded back ends, and over servers where they are named.
macro_rules! over_all_back_ends {
    ($($name:ident)*) => {
        mod embedded {
            $(#[test]
            fn $name() {
                super::$name(&mut crate::World::start(crate::BackEnds::Embedded));
            })*
        }

        mod over_opensearch_and_rdf4j {
            $(#[test]
            #[ignore = "needs an RDF4J Server named by RDF4J_URL and an OpenSearch server named by OPENSEARCH_URL"]
            fn $name() {
                super::$name(&mut crate::World::start(crate::BackEnds::Servers));
            })*
        }
    };
}

over_all_back_ends! {
    whatever_is_read_is_the_same_through_the_gateway_for_every_role
    answers_are_the_same_after_a_restart_of_each_service
    a_subgraph_that_closes_connections_is_an_error_and_comes_back
    an_object_service_that_hangs_is_an_error_and_comes_back
    a_search_service_that_hangs_is_an_error_and_comes_back
}

mod outages_of_opensearch_and_rdf4j {
    /// Defines tests over servers alone, since nothing embedded can be cut off.
    macro_rules! over_servers {
        ($($name:ident)*) => {
            $(#[test]
            #[ignore = "needs an RDF4J Server named by RDF4J_URL and an OpenSearch server named by OPENSEARCH_URL"]
            fn $name() {
                super::$name(&mut crate::World::start(crate::BackEnds::Servers));
            })*
        };
    }

    over_servers! {
        a_store_that_closes_connections_is_an_error_and_comes_back
        a_store_that_hangs_is_an_error_and_comes_back
        an_engine_that_closes_connections_is_an_error_and_comes_back
        an_engine_that_hangs_is_an_error_and_comes_back
    }
}

fn whatever_is_read_is_the_same_through_the_gateway_for_every_role(world: &mut World) {
    let answers = Answers::of(world, "at the start");
    for (row, role, said) in &answers.0 {
        let is_seen = match row.service {
            // Searches do not know of roles yet.
            Service::Search => true,
            Service::Objects => ["All", "Some"].contains(role),
        };
        assert!(
            is_seen || said.data.is_null(),
            "{role}: {}: {said:?}",
            row.name
        );
    }
    // What one role may not see is not equal only because nobody sees it.
    let seen = |role| {
        let seen = answers.0.iter().filter(|(_, of, _)| *of == role);
        let all: Vec<_> = seen.map(|(.., said)| said.data.to_string()).collect();
        all.concat()
    };
    for secret in ["debts", "1234", "12345678901234567890.125", "bronze"] {
        assert!(seen("All").contains(secret), "{secret}");
        assert!(!seen("Some").contains(secret), "{secret}");
    }
    assert!(seen("Some").contains("Laughing boy"));
}

fn answers_are_the_same_after_a_restart_of_each_service(world: &mut World) {
    let before = Answers::of(world, "before");
    for program in [Program::Objects, Program::Search, Program::Gateway] {
        world.restart(program);
        before.still_hold(world, &format!("after a restart of {program:?}"));
    }
}

fn a_subgraph_that_closes_connections_is_an_error_and_comes_back(world: &mut World) {
    OBJECTS.happens(world, Mode::Closes);
    SEARCH.happens(world, Mode::Closes);
}

fn an_object_service_that_hangs_is_an_error_and_comes_back(world: &mut World) {
    OBJECTS.happens(world, Mode::Hangs);
}

fn a_search_service_that_hangs_is_an_error_and_comes_back(world: &mut World) {
    SEARCH.happens(world, Mode::Hangs);
}

fn a_store_that_closes_connections_is_an_error_and_comes_back(world: &mut World) {
    STORE.happens(world, Mode::Closes);
}

fn a_store_that_hangs_is_an_error_and_comes_back(world: &mut World) {
    STORE.happens(world, Mode::Hangs);
}

fn an_engine_that_closes_connections_is_an_error_and_comes_back(world: &mut World) {
    ENGINE.happens(world, Mode::Closes);
}

fn an_engine_that_hangs_is_an_error_and_comes_back(world: &mut World) {
    ENGINE.happens(world, Mode::Hangs);
}

/// What is said of each capability to each role.
struct Answers(Vec<(&'static Row, &'static str, Said)>);

impl Answers {
    /// Asks everything at the services and through the gateway, which have to agree.
    fn of(world: &World, when: &str) -> Answers {
        let (mut answers, mut differences) = (Vec::new(), String::new());
        for row in ROWS {
            for role in ROLES {
                let said = world.ask(row, role);
                let through = world.ask_gateway(row, role);
                differ(&mut differences, (row, role), [&said, &through]);
                answers.push((row, role, said));
            }
        }
        assert!(
            differences.is_empty(),
            "{when}, through the gateway: {differences}\n{}",
            world.log()
        );
        Answers(answers)
    }

    /// Asks everything again.
    fn still_hold(&self, world: &World, when: &str) {
        let mut differences = String::new();
        let again = Answers::of(world, when);
        for ((row, role, before), (.., after)) in self.0.iter().zip(&again.0) {
            differ(&mut differences, (row, role), [before, after]);
        }
        assert!(
            differences.is_empty(),
            "{when}: {differences}\n{}",
            world.log()
        );
    }

    fn get(&self, row: &Row, role: &str) -> &Said {
        let mut found = self.0.iter();
        let found = found.find(|(of, to, _)| of.name == row.name && *to == role);
        &found.unwrap().2
    }
}

fn differ(differences: &mut String, (row, role): (&Row, &str), [one, other]: [&Said; 2]) {
    if one != other {
        let _ = write!(
            differences,
            "\n{}, {role}:\n  {one:?}\n  {other:?}",
            row.name
        );
    }
}

/// Something that is unavailable for a while.
struct Outage {
    /// In front of what is unavailable.
    proxy: fn(&World) -> &Proxy,
    /// The service that cannot answer.
    service: Service,
    /// The service whose health tells of it, beside the gateway.
    program: Option<Program>,
}

const OBJECTS: Outage = Outage {
    proxy: |world| &world.objects,
    service: Service::Objects,
    program: None,
};
const SEARCH: Outage = Outage {
    proxy: |world| &world.search,
    service: Service::Search,
    program: None,
};
const STORE: Outage = Outage {
    proxy: |world| &world.store,
    service: Service::Objects,
    program: Some(Program::Objects),
};
const ENGINE: Outage = Outage {
    proxy: |world| &world.engine,
    service: Service::Search,
    program: Some(Program::Search),
};

impl Outage {
    /// Cuts something off, looks at what is said meanwhile, and waits until all is as it was.
    fn happens(&self, world: &World, mode: Mode) {
        let before = Answers::of(world, "before");
        let programs = [Some(Program::Gateway), self.program].into_iter().flatten();
        let programs: Vec<_> = programs.collect();
        let health = || programs.iter().map(|program| world.health(*program));
        let healthy: Vec<_> = health().collect();
        (self.proxy)(world).set(mode);
        // At the same time, since each waits until its time is up where nothing is answered.
        thread::scope(|scope| {
            for row in ROWS {
                scope.spawn(|| self.is_told(world, row, &before));
            }
        });
        for (program, healthy) in programs.iter().zip(&healthy) {
            world.eventually("health tells of it", || world.health(*program) != *healthy);
            world.eventually("it is not good to go", || !world.is_good_to_go(*program));
        }
        (self.proxy)(world).set(Mode::Passes);
        world.eventually("all is healthy again", || {
            let is_good = |program: &Program| world.is_good_to_go(*program);
            health().eq(healthy.iter().cloned()) && programs.iter().all(is_good)
        });
        before.still_hold(world, "when it is back");
    }

    /// What needs it is an error; everything else is answered as before.
    fn is_told(&self, world: &World, row: &Row, before: &Answers) {
        let through = world.ask_gateway(row, "All");
        if row.service != self.service {
            assert_eq!(through, *before.get(row, "All"), "{}", row.name);
            return;
        }
        assert_eq!(through.data, Value::Null, "{}: {through:?}", row.name);
        assert!(!through.errors.is_empty(), "{}", row.name);
        if self.program.is_some() {
            let said = world.ask(row, "All");
            assert_eq!(said.data, Value::Null, "{}: {said:?}", row.name);
            assert_eq!(
                said.codes(),
                through.codes(),
                "{}: {said:?} {through:?}",
                row.name
            );
        }
    }
}

#[test]
fn the_page_on_seams_lists_each_capability() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/internals/seams.md");
    let page = std::fs::read_to_string(page).unwrap();
    let table = page
        .lines()
        .skip_while(|line| !line.starts_with("| capability"));
    let rows = table.skip(2).take_while(|line| line.starts_with('|'));
    let listed: Vec<_> = rows
        .map(|row| {
            let mut cells = row.split('|').map(str::trim).skip(1);
            (cells.next().unwrap(), cells.next().unwrap())
        })
        .collect();
    let expected: Vec<_> = ROWS
        .iter()
        .map(|row| match row.service {
            Service::Objects => (row.name, "objects"),
            Service::Search => (row.name, "search"),
        })
        .collect();
    assert_eq!(listed, expected);
}
