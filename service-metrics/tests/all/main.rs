//! What is recorded is found under the names of the table, with all labels and no others.

use http::{Method, StatusCode};
use metrics_exporter_prometheus::PrometheusBuilder;
use service_metrics::table::SLOTS_IN_USE;
use service_metrics::{
    BOUNDS, CacheMetrics, OperationKind, OperationMetrics, OperationOutcome, Peer, ServerMetrics,
    describe, refresh, watch,
};

/// Returns what is recorded meanwhile, as Prometheus reads it.
fn recorded(record: impl FnOnce()) -> String {
    let builder = PrometheusBuilder::new()
        .set_buckets(BOUNDS)
        .expect("there are bounds");
    let recorder = builder.build_recorder();
    metrics::with_local_recorder(&recorder, || {
        describe();
        record();
    });
    recorder.handle().render()
}

fn assert_has(text: &str, line: &str) {
    assert!(text.lines().any(|known| known == line), "{line}: {text}");
}

#[test]
fn requests_are_recorded_by_route_and_never_by_what_clients_invent() {
    let text = recorded(|| {
        let server = ServerMetrics::new("s", ["/graphql", "/files/{name}"]);
        let status = |status| StatusCode::from_u16(status).unwrap();
        server.begin(&Method::POST, Some(0)).end(status(200));
        server.begin(&Method::POST, Some(0)).end(status(200));
        server.begin(&Method::GET, Some(1)).end(status(304));
        let invented = Method::from_bytes(b"BREW").unwrap();
        server.begin(&invented, None).end(status(999));
        drop(server.begin(&Method::GET, None));
        std::mem::forget(server.begin(&Method::GET, None));
    });
    let count = "http_server_request_duration_seconds_count";
    for (method, route, status, requests) in [
        ("POST", "/graphql", "200", 2),
        ("GET", "/files/{name}", "304", 1),
        ("_OTHER", "_OTHER", "_OTHER", 1),
        ("GET", "_OTHER", "none", 1),
    ] {
        let line = format!(
            "{count}{{service_name=\"s\",http_request_method=\"{method}\",http_route=\"{route}\",\
             http_response_status_code=\"{status}\"}} {requests}"
        );
        assert_has(&text, &line);
    }
    assert_has(&text, "http_server_active_requests{service_name=\"s\"} 1");
    assert_has(
        &text,
        "# HELP http_server_active_requests Requests that have no response yet.",
    );
    assert!(!text.contains("BREW"));
}

#[test]
fn what_is_asked_of_others_is_recorded_with_how_it_ended() {
    let text = recorded(|| {
        let peer = Peer::of_url("http://user:secret@store.example:7200/repositories/x");
        peer.operation("rdf4j", "query").succeed();
        peer.operation("rdf4j", "query").refuse(503);
        peer.operation("opensearch", "_bulk").fail("timeout");
        drop(peer.request(&Method::POST));
    });
    let count = "db_client_operation_duration_seconds_count";
    for (system, operation, error) in [
        ("rdf4j", "query", ""),
        ("rdf4j", "query", "503"),
        ("opensearch", "_bulk", "timeout"),
    ] {
        let line = format!(
            "{count}{{db_system_name=\"{system}\",db_operation_name=\"{operation}\",\
             server_address=\"store.example\",server_port=\"7200\",error_type=\"{error}\"}} 1"
        );
        assert_has(&text, &line);
    }
    assert_has(
        &text,
        "http_client_request_duration_seconds_count{http_request_method=\"POST\",\
         server_address=\"store.example\",server_port=\"7200\",error_type=\"cancelled\"} 1",
    );
    assert!(!text.contains("secret"));
}

#[test]
fn operations_errors_and_caches_are_counted() {
    let text = recorded(|| {
        let operations = OperationMetrics::new("s");
        let taken = std::time::Duration::from_millis(7);
        operations.record(OperationKind::Query, OperationOutcome::WithErrors, taken);
        operations.errors("LIMIT_DEPTH", 3);
        operations.slow();
        let cache = CacheMetrics::new("documents");
        assert_eq!(cache.found(Some(1)), Some(1));
        assert_eq!(cache.found(None::<u8>), None);
        cache.count(false);
    });
    for line in [
        "graphql_operation_duration_seconds_bucket{service_name=\"s\",graphql_operation_type=\"query\",\
         graphql_outcome=\"executed_with_errors\",le=\"0.01\"} 1",
        "graphql_errors_total{service_name=\"s\",error_type=\"LIMIT_DEPTH\"} 3",
        "graphql_slow_operations_total{service_name=\"s\"} 1",
        "cache_requests_total{cache_name=\"documents\",cache_outcome=\"hit\"} 1",
        "cache_requests_total{cache_name=\"documents\",cache_outcome=\"miss\"} 2",
    ] {
        assert_has(&text, line);
    }
}

#[test]
fn what_is_watched_is_summed_and_nothing_once_nobody_reads_it() {
    let add = |value| watch(move |readings| readings.add(&SLOTS_IN_USE, ["long".into()], value));
    let line = |value| format!("service_slots_in_use{{slot_weight=\"long\"}} {value}");
    let watches = (add(2.0), add(3.0));
    assert_has(&recorded(refresh), &line(5));
    drop(watches);
    assert_has(&recorded(refresh), &line(0));
}
