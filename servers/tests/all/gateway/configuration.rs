//! What a gateway is told by variables, and what it refuses.

use serde_json::json;

use super::process::Gateway;
use super::subgraph::Subgraph;

/// Starts a gateway that must not start; returns its exit code and what it says.
fn refused(variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let mut gateway = Gateway::start(variables);
    assert_eq!(gateway.base, "", "{:?}", gateway.said);
    gateway.end()
}

#[test]
fn subgraphs_are_numbered_with_gaps_and_named_after_their_numbers() {
    let (planets, moons) = (Subgraph::planets(), Subgraph::moons());
    let (first, second) = (planets.url("/graphql"), moons.url("/graphql?key=hunter2"));
    let mut gateway = Gateway::start(&[
        ("GRAPHQL_SERVICE_12", &second),
        ("GRAPHQL_SERVICE_3", &first),
        ("GRAPHQL_SERVICE_3_NAME", "planets"),
    ]);
    gateway.composed();
    let said: Vec<_> = gateway
        .said
        .iter()
        .filter(|line| line.starts_with("Subgraph:"))
        .collect();
    let port = moons.address.port();
    assert!(
        said[0].starts_with("Subgraph: planets  (http://127.0.0.1"),
        "{said:?}"
    );
    assert!(
        said[1].starts_with(&format!(
            "Subgraph: service_12  (http://127.0.0.1:{port}/graphql?***)"
        )),
        "{said:?}"
    );
    assert_eq!(
        gateway.query("{ moonCount }"),
        json!({"data": {"moonCount": 6}})
    );
    // The log says which name stands for which address, and shows nothing that may be secret.
    let (_, log) = gateway.stop();
    let line = log.lines().find(|line| line.contains("service_12"));
    let place = format!("http://127.0.0.1:{port}/graphql?***");
    assert!(line.is_some_and(|line| line.contains(&place)), "{log}");
    assert!(!log.contains("hunter2"), "{log}");
}

#[test]
fn malformed_variables_are_refused_by_name() {
    let good = ("GRAPHQL_SERVICE_0", "http://127.0.0.1:9/graphql");
    for (name, value) in [
        ("GRAPHQL_SERVICE_0", "127.0.0.1:9"),
        ("GRAPHQL_SERVICE_1", "ftp://a/"),
        ("GRAPHQL_SERVICE_0_GTG", "gtg"),
        ("GRAPHQL_SERVICE_0_HEALTH", "http://a/#b"),
        ("GRAPHQL_SERVICE_0_NAME", "a b"),
        ("FORWARD_HEADERS", "Authorization, Connection"),
        ("CACHE_MAX_AGE", "soon"),
        ("SERVICE_DWELL", "0"),
        ("POLL_INTERVAL", "-1"),
        ("SECURITY_ENABLED", "maybe"),
        ("IDP_APPLICATION_ID", "1"),
        ("IDP_PROTOCOL", "ftp"),
        ("IDP_HOST", "http://idp"),
        ("IDP_PORT", "99999"),
        ("IDP_LOGIN_RETRIES", "-1"),
        ("IDP_LOGIN_RETRY_DELAY", "2 s"),
        ("GATEWAY_MUTATIONS_ENABLED", "no"),
        ("GATEWAY_LIMITS_PLAN", "x"),
    ] {
        let (code, log) = refused(&[good, (name, value)]);
        assert_eq!(code, Some(64), "{name}: {log}");
        assert!(
            log.contains(&format!("the environment ({name})")),
            "{name}: {log}"
        );
        assert!(log.contains("expected"), "{name}: {log}");
    }
}

#[test]
fn headers_that_cannot_be_forwarded_are_refused_by_name_with_the_reason() {
    let good = ("GRAPHQL_SERVICE_0", "http://127.0.0.1:9/graphql");
    for (name, reason) in [
        ("Host", "it names the host that is called"),
        ("Content-Length", "it describes the body of a request"),
        ("transfer-encoding", "it belongs to one connection"),
        ("accept", "which responses of subgraphs it accepts"),
        ("Sec-WebSocket-Key", "the handshake of one WebSocket"),
    ] {
        let names = format!("Authorization, {name}");
        let (code, log) = refused(&[good, ("FORWARD_HEADERS", &names)]);
        assert_eq!(code, Some(64), "{name}: {log}");
        let named = log.to_lowercase();
        let wanted = format!("without `{}`", name.to_lowercase());
        assert!(
            log.contains("`forward.headers`") && named.contains(&wanted) && log.contains(reason),
            "{name}: {log}"
        );
    }
}

#[test]
fn an_address_with_a_password_is_refused_and_not_shown() {
    let (code, log) = refused(&[("GRAPHQL_SERVICE_0", "http://u:hunter2@127.0.0.1:9/")]);
    assert_eq!(code, Some(64));
    assert!(
        log.contains("graphql.service.0") && !log.contains("hunter2"),
        "{log}"
    );
}

#[test]
fn a_gateway_without_subgraphs_or_with_parts_of_one_says_what_is_missing() {
    let (code, log) = refused(&[]);
    assert_eq!(code, Some(64));
    assert!(log.contains("GRAPHQL_SERVICE_0"), "{log}");
    let (code, log) = refused(&[("GRAPHQL_SERVICE_2_GTG", "http://127.0.0.1:9/__gtg")]);
    assert_eq!(code, Some(64));
    assert!(log.contains("GRAPHQL_SERVICE_2 "), "{log}");
    let (code, log) = refused(&[
        ("GRAPHQL_SERVICE_0", "http://127.0.0.1:9/"),
        ("GRAPHQL_SERVICE_0_NAME", "a"),
        ("GRAPHQL_SERVICE_1", "http://127.0.0.1:8/"),
        ("GRAPHQL_SERVICE_1_NAME", "a"),
    ]);
    assert_eq!(code, Some(64));
    assert!(log.contains("both named `a`"), "{log}");
}

#[test]
fn an_engine_api_key_is_accepted_never_shown_and_said_to_have_no_effect() {
    let planets = Subgraph::planets();
    let key = ("ENGINE_API_KEY", "service:sky:hunter2");
    let gateway = Gateway::over(&[&planets.url("/graphql")], &[key]);
    let (code, log) = gateway.stop();
    assert_eq!(code, Some(0));
    assert!(
        log.contains("`engine.apiKey` is set; no subgraph is registered"),
        "{log}"
    );
    assert!(!log.contains("hunter2"), "{log}");
}

#[test]
fn other_machines_are_served_only_if_subgraphs_are_guarded_or_it_is_allowed() {
    let subgraph = ("GRAPHQL_SERVICE_0", "http://127.0.0.1:9/graphql");
    let (code, log) = refused(&[subgraph, ("APPLICATION_HOST", "0.0.0.0")]);
    assert_eq!(code, Some(64));
    assert!(
        log.contains("SECURITY_ENABLED") && log.contains("--insecure"),
        "{log}"
    );
    let open = [subgraph, ("APPLICATION_HOST", "0.0.0.0")];
    let gateway = Gateway::start_with(&open, &["--insecure"]);
    assert_ne!(gateway.base, "");
}

#[test]
fn the_file_of_properties_names_subgraphs_too() {
    let planets = Subgraph::planets();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gateway.yaml");
    let url = planets.url("/graphql");
    let text = format!("graphql:\n  service:\n    \"0\":\n      url: {url}\n      name: planets\n");
    std::fs::write(&file, text).unwrap();
    let mut gateway = Gateway::start_with(&[], &["--config", file.to_str().unwrap()]);
    gateway.composed();
    assert!(
        gateway
            .said
            .iter()
            .any(|line| line.starts_with("Subgraph: planets"))
    );
}
