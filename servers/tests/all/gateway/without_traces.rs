//! What a build without traces says to whoever asks for them.

use super::process::Gateway;
use super::subgraph::Subgraph;

#[test]
fn a_build_without_traces_does_not_start_where_they_are_asked_for() {
    for (name, value, property) in [
        ("TRACES_ENABLED", "true", "traces.enabled"),
        (
            "TRACES_ENDPOINT",
            "http://127.0.0.1:4318/v1/traces",
            "traces.endpoint",
        ),
    ] {
        let subgraph = ("GRAPHQL_SERVICE_0", "http://127.0.0.1:9/graphql");
        let (code, log) = Gateway::start(&[subgraph, (name, value)]).end();
        assert_eq!(code, Some(64), "{log}");
        assert!(log.contains(property), "{log}");
        assert!(log.contains("--features otlp"), "{log}");
    }
}

#[test]
fn a_variable_for_all_programs_of_a_machine_is_a_warning_in_a_build_without_traces() {
    let planets = Subgraph::planets();
    let address = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
    let gateway = Gateway::over(&[&planets.url("/graphql")], &[address]);
    let caller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    gateway.post("{ planets { title } }", &[("traceparent", caller)]);
    let [asked] = planets.asked().try_into().unwrap();
    assert_eq!(asked.header("traceparent"), None);
    let (_, log) = gateway.stop();
    assert!(
        log.contains("OTEL_EXPORTER_OTLP_ENDPOINT has no effect"),
        "{log}"
    );
}
