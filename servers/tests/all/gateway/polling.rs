//! A gateway that looks for changed schemas of its subgraphs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::process::Gateway;
use super::subgraph::{MOONS, PLANETS, Subgraph};
use super::supergraph::{is_stale, stale};
use crate::processes::PATIENCE;

/// The schema of planets with one more field.
fn with_field(number: u32) -> String {
    format!("{PLANETS} extend type Query {{ field{number}: Int }}")
}

fn has_field(gateway: &Gateway, number: u32) -> bool {
    let sdl = gateway.get("/schema.graphql").text;
    sdl.contains(&format!("field{number}: Int"))
}

fn polled(urls: &[&str], variables: &[(&str, &str)]) -> Gateway {
    let own = [("POLL_INTERVAL", "20ms"), ("SERVICE_DWELL", "50")];
    let all: Vec<_> = own.iter().chain(variables).copied().collect();
    Gateway::over(urls, &all)
}

/// Waits until the gateway has looked for the schema of a subgraph some more times.
fn is_looked_at_again(gateway: &Gateway, subgraph: &Subgraph) {
    let looks = subgraph.asked_for_schema().len();
    gateway.wait("another look", |_| {
        subgraph.asked_for_schema().len() > looks + 3
    });
}

#[test]
fn a_changed_schema_is_served_after_the_interval_and_a_faulty_one_never() {
    let (mut planets, moons) = (Subgraph::planets(), Subgraph::moons());
    let urls = [planets.url("/graphql"), moons.url("/graphql")];
    let gateway = polled(&[&urls[0], &urls[1]], &[]);
    planets.set_sdl(&with_field(1));
    gateway.wait("the field", |gateway| has_field(gateway, 1));
    // A query field that another subgraph has too, a text that is no schema, and nobody at all.
    planets.set_sdl(&format!(
        "{} extend type Query {{ moonCount: Int }}",
        with_field(2)
    ));
    gateway.wait_for_log("[INVALID_FIELD_SHARING]", 1);
    gateway.wait("health", |gateway| {
        is_stale(gateway, "INVALID_FIELD_SHARING; see the log")
    });
    is_looked_at_again(&gateway, &moons);
    planets.set_sdl("type Query {");
    gateway.wait_for_log("expected Field Definition", 1);
    is_looked_at_again(&gateway, &moons);
    planets.pause();
    gateway.wait_for_log("it does not answer: ", 1);
    gateway.wait("health", |gateway| {
        is_stale(
            gateway,
            "the schemas of the subgraphs service_0 cannot be read",
        )
    });
    is_looked_at_again(&gateway, &moons);
    assert!(has_field(&gateway, 1) && !has_field(&gateway, 2));
    planets.set_sdl(&with_field(3));
    planets.resume();
    gateway.wait("the other field", |gateway| has_field(gateway, 3));
    gateway.wait("nothing to say", |gateway| stale(gateway).is_none());
    let (_, log) = gateway.stop();
    // Each reason once, though it was looked at again and again.
    assert_eq!(log.matches("[INVALID_FIELD_SHARING]").count(), 1, "{log}");
    assert_eq!(log.matches("expected Field Definition").count(), 1, "{log}");
    let away = log.matches("it does not answer: ").count();
    assert!((1..=2).contains(&away), "{log}");
    assert!(
        log.contains("the current composite schema is kept: "),
        "{log}"
    );
}

#[test]
fn plans_of_the_operations_in_use_are_made_before_the_switch() {
    let (planets, moons) = (Subgraph::planets(), Subgraph::moons());
    let urls = [planets.url("/graphql"), moons.url("/graphql")];
    let gateway = polled(&[&urls[0], &urls[1]], &[]);
    gateway.query("{ planets { title moons } }");
    gateway.query(
        "query($a: Boolean!) { planets @include(if: $a) { title } moonCount }"
            .replace("$a: Boolean!", "$a: Boolean! = true")
            .as_str(),
    );
    planets.set_sdl(&with_field(1));
    gateway.wait("the field", |gateway| has_field(gateway, 1));
    let (_, log) = gateway.stop();
    let line = log
        .lines()
        .find(|line| line.contains("the composite schema has changed"));
    let line = line.unwrap_or_else(|| panic!("{log}"));
    assert!(line.contains("planned=2"), "{line}");
}

#[test]
fn many_switches_under_load_fail_no_request() {
    const SWITCHES: u32 = 200;
    const CLIENTS: usize = 50;
    let (planets, moons) = (Subgraph::planets(), Subgraph::moons());
    let urls = [planets.url("/graphql"), moons.url("/graphql")];
    let gateway = polled(&[&urls[0], &urls[1]], &[("LOGGING_LEVEL", "warn")]);
    let answered = AtomicU64::new(0);
    let expected = json!({"data": {"planets": [{"title": "Tatooine", "moons": 3},
        {"title": "Hoth", "moons": 3}], "moonCount": 6}});
    let address = format!("{}/graphql", gateway.base);
    std::thread::scope(|scope| {
        // The clients end with it, also where a switch does not come.
        let switching = Arc::new(());
        for _ in 0..CLIENTS {
            let switching = Arc::downgrade(&switching);
            let (address, expected, answered) = (&address, &expected, &answered);
            scope.spawn(move || {
                let agent: ureq::Agent = ureq::Agent::config_builder()
                    .timeout_global(Some(PATIENCE))
                    .build()
                    .into();
                let body = json!({"query": "{ planets { title moons } moonCount }"}).to_string();
                while switching.strong_count() > 0 {
                    let sent = agent
                        .post(address)
                        .content_type("application/json")
                        .send(&body);
                    let text = sent.unwrap().body_mut().read_to_string().unwrap();
                    let answer: Value = serde_json::from_str(&text).unwrap();
                    assert_eq!(answer, *expected);
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for switch in 1..=SWITCHES {
            // Both subgraphs change, in turns.
            match switch % 2 {
                0 => planets.set_sdl(&with_field(switch)),
                _ => moons.set_sdl(&format!(
                    "{MOONS} extend type Query {{ field{switch}: Int }}"
                )),
            }
            let before = answered.load(Ordering::Relaxed);
            gateway.wait("the switch, and an answer", |gateway| {
                has_field(gateway, switch) && answered.load(Ordering::Relaxed) > before
            });
        }
    });
}

#[test]
fn each_look_logs_in_again_and_a_failed_one_leaves_the_schema() {
    use super::log_in::{Provider, secured};
    let provider = Provider::failing(0, 500);
    let subgraph = Subgraph::start_with(PLANETS, Some("good"), super::subgraph::planets);
    let variables = [("POLL_INTERVAL", "30ms"), ("IDP_LOGIN_RETRIES", "0")];
    let mut gateway = secured(&subgraph, provider.port, &variables);
    gateway.composed();
    gateway.wait("log-ins", |_| provider.tries() > 3);
    provider.fail();
    // The look of the last log-in but one is over.
    let tries = provider.tries();
    gateway.wait("failed log-ins", |_| provider.tries() > tries + 2);
    subgraph.set_sdl(&with_field(1));
    let tries = provider.tries();
    gateway.wait("failed log-ins", |_| provider.tries() > tries + 2);
    assert!(!has_field(&gateway, 1));
    provider.recover();
    gateway.wait("the field", |gateway| has_field(gateway, 1));
    let asked = subgraph.asked_for_schema();
    assert!(
        asked
            .iter()
            .all(|asked| asked.header("authorization") == Some("Bearer good"))
    );
}
