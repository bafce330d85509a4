//! `/metrics` of running services has each metric of the table after some traffic, and no other.

use std::collections::BTreeSet;
use std::io::Write;
use std::net::TcpStream;

use serde_json::json;
use servers::metrics::METRICS;

use super::text::{check, series};
use super::{SECRET, token};
use crate::gateway::process::Gateway;
use crate::gateway::soml::{Soml, get, post, send, wait_until_indexed};
use crate::gateway::subgraph::Subgraph;
use crate::processes::agent;
use crate::sparql_server::SparqlServer;

const ON: [&str; 2] = ["--set", "metrics.enabled=true"];

/// What only builds with traces have.
const OF_TRACES: &str = "traces_spans_total";

/// Returns status and body of `/metrics`.
fn scrape(base: &str, token: Option<&str>) -> (u16, String) {
    let request = agent().get(format!("{base}/metrics"));
    let request = match token {
        Some(token) => request.header("authorization", format!("Bearer {token}")),
        None => request,
    };
    let mut answer = request.call().unwrap();
    let status = answer.status().as_u16();
    (status, answer.body_mut().read_to_string().unwrap())
}

fn scraped(base: &str) -> String {
    let (status, text) = scrape(base, None);
    assert_eq!(status, 200, "{text}");
    text
}

/// Returns the sum of the values of a metric over the series with some labels.
fn sum(text: &str, name: &str, labels: &[(&str, &str)]) -> f64 {
    let found = series(text).into_iter().filter(|series| {
        let has = |(label, value): &(&str, &str)| {
            series.labels.get(*label).map(String::as_str) == Some(value)
        };
        series.name == name && labels.iter().all(has)
    });
    found.map(|series| series.value).sum()
}

#[test]
fn every_metric_of_the_table_is_found_after_some_traffic_and_no_other() {
    let mut names = BTreeSet::new();
    names.extend(of_all_services_in_one_process());
    names.extend(of_an_object_service_over_a_server());
    names.extend(of_a_gateway_over_a_server());
    let expected: BTreeSet<&str> = METRICS.iter().map(|metric| metric.name).collect();
    let mut missing: Vec<_> = expected.difference(&names).copied().collect();
    missing.retain(|name| *name != OF_TRACES);
    assert!(missing.is_empty(), "{missing:?}");
}

fn of_all_services_in_one_process() -> BTreeSet<&'static str> {
    let demo = Soml::demo(&ON, &[], "Composed:");
    let [objects, search, gateway] =
        ["GraphQL:", "Search:", "Gateway:"].map(|word| demo.base(word));
    wait_until_indexed(search);
    let query = "query Q { planet(limit: 1) { name } }";
    for base in [objects, gateway] {
        for _ in 0..3 {
            assert_eq!(post(base, query, None).0, 200);
        }
    }
    let searched = "{ planet_search(query: {match: {name: {query: \"tatooine\"}}}) { totalHits } }";
    post(search, searched, None);
    for invented in ["/invented/7", "/invented/8", "/docs/none?x=/invented"] {
        agent().get(format!("{objects}{invented}")).call().unwrap();
    }
    post(objects, "{ invented }", None);
    send(objects, "/graphql", None, &json!({"query": "{"}));
    let text = scraped(gateway);
    // A process has one set of metrics.
    for service in ["object-service", "search-service", "federation-gateway"] {
        for (metric, name) in [
            ("http_server_request_duration_seconds_count", "http"),
            ("graphql_operation_duration_seconds_count", "graphql"),
        ] {
            assert!(
                sum(&text, metric, &[("service_name", service)]) >= 1.0,
                "{service} {name}: {text}"
            );
        }
    }
    let of_objects = ("service_name", "object-service");
    let duration = "http_server_request_duration_seconds_count";
    let posted = [
        of_objects,
        ("http_request_method", "POST"),
        ("http_route", "/graphql"),
    ];
    assert_eq!(sum(&text, duration, &posted), 5.0);
    assert_eq!(
        sum(&text, duration, &[of_objects, ("http_route", "_OTHER")]),
        2.0
    );
    assert_eq!(
        sum(
            &text,
            duration,
            &[of_objects, ("http_route", "/docs/{page}")]
        ),
        1.0
    );
    let operations = "graphql_operation_duration_seconds_count";
    let executed = [
        of_objects,
        ("graphql_operation_type", "query"),
        ("graphql_outcome", "executed"),
    ];
    assert_eq!(sum(&text, operations, &executed), 3.0);
    let refused = [
        of_objects,
        ("graphql_operation_type", "_OTHER"),
        ("graphql_outcome", "refused"),
    ];
    assert_eq!(sum(&text, operations, &refused), 2.0);
    for (code, errors) in [
        ("GRAPHQL_VALIDATION_FAILED", 1.0),
        ("GRAPHQL_PARSE_FAILED", 1.0),
        ("PATH_NOT_FOUND", 3.0),
    ] {
        let of_code = [of_objects, ("error_type", code)];
        assert_eq!(
            sum(&text, "graphql_errors_total", &of_code),
            errors,
            "{code}"
        );
    }
    let hits = [("cache_name", "documents"), ("cache_outcome", "hit")];
    assert!(sum(&text, "cache_requests_total", &hits) >= 2.0, "{text}");
    assert!(!text.contains("invented"), "{text}");
    // Whichever service is asked, it is the same.
    assert_eq!(check(&scraped(objects)), check(&text));
    check(&text)
}

#[test]
fn the_edge_counts_requests_by_its_routes_and_shows_the_metrics_of_its_process() {
    let edge = ["--set", "edge.enabled=true", "--set", "edge.port=0"];
    let demo = Soml::demo(&[&ON[..], &edge].concat(), &[], "Composed:");
    let base = demo.base("Edge:").trim_end_matches('/');
    for path in ["/objects/__live", "/objects/__gtg", "/__live"] {
        let answer = agent().get(format!("{base}{path}")).call().unwrap();
        assert_eq!(answer.status(), 200, "{path}");
    }
    let text = scraped(base);
    check(&text);
    let counted = |route| {
        let labels = [("service_name", "edge"), ("http_route", route)];
        sum(&text, "http_server_request_duration_seconds_count", &labels)
    };
    assert_eq!(counted("/objects"), 2.0, "{text}");
    assert_eq!(counted("/__live"), 1.0, "{text}");
    assert!(
        sum(
            &text,
            "http_server_request_duration_seconds_count",
            &[("service_name", "object-service")]
        ) >= 1.0
    );
}

fn of_an_object_service_over_a_server() -> BTreeSet<&'static str> {
    let store =
        SparqlServer::with("<http://e/mars> a <http://e/Planet> ; <http://e/title> \"Mars\" .");
    let folder = tempfile::TempDir::new().unwrap();
    let schema = folder.path().join("planets.yaml");
    let text = "id: /soml/planets\nspecialPrefixes: {vocab_iri: 'http://e/', vocab_prefix: e}\n\
                objects: {Planet: {props: {title: {}}}}\n";
    std::fs::write(&schema, text).unwrap();
    let schema = schema.display().to_string();
    let flags = store.flags();
    let kept = format!("search.storage.location={}", folder.path().display());
    // Nobody answers at that port.
    let engine = [
        "--set",
        "search.enabled=true",
        "--set",
        "indexer.rest.uris=http://127.0.0.1:9",
        "--set",
        &kept,
    ];
    let mut arguments = vec!["--schema", &schema];
    arguments.extend(flags.iter().map(String::as_str));
    arguments.extend(ON.iter().chain(&engine));
    let soml = Soml::start(&arguments, &[], "Search:");
    let base = soml.base("GraphQL:");
    let (status, answer) = post(base, "{ planet { title } }", None);
    assert_eq!(
        (status, &answer["data"]["planet"][0]["title"]),
        (200, &json!("Mars")),
        "{answer}"
    );
    let duration = "db_client_operation_duration_seconds_count";
    let port = store
        .address
        .rsplit(':')
        .next()
        .unwrap()
        .split('/')
        .next()
        .unwrap();
    let asked = [
        ("db_system_name", "rdf4j"),
        ("db_operation_name", "query"),
        ("server_address", "127.0.0.1"),
        ("server_port", port),
        ("error_type", ""),
    ];
    let text = scraped(base);
    assert!(sum(&text, duration, &asked) >= 1.0, "{text}");
    let failed = [
        ("db_system_name", "opensearch"),
        ("server_port", "9"),
        ("error_type", "connect"),
    ];
    // Whoever asks for its health has the engine asked.
    get(soml.base("Search:"), "/__health?cache=false");
    assert!(sum(&scraped(base), duration, &failed) >= 1.0);
    check(&scraped(base))
}

fn of_a_gateway_over_a_server() -> BTreeSet<&'static str> {
    let (planets, moons) = (Subgraph::planets(), Subgraph::moons());
    let urls = [planets, moons].map(|it| (it.url("/graphql"), it));
    let url = &urls[1].0;
    let gateway = Gateway::over(&[&urls[0].0, url], &[("METRICS_ENABLED", "true")]);
    gateway.query("{ moonCount }");
    let text = gateway.get("/metrics").text;
    let port = url.rsplit(':').next().unwrap().split('/').next().unwrap();
    let asked = [
        ("http_request_method", "POST"),
        ("server_port", port),
        ("error_type", ""),
    ];
    let duration = "http_client_request_duration_seconds_count";
    assert_eq!(sum(&text, duration, &asked), 1.0, "{text}");
    check(&text)
}

#[test]
fn metrics_are_not_for_strangers_where_there_is_security_and_off_unless_asked_for() {
    let secret = format!("security.secret={SECRET}");
    let secured = ["--set", &secret];
    let demo = Soml::demo(&[&secured[..], &ON].concat(), &[], "Composed:");
    let user = token("nothing");
    for word in ["GraphQL:", "Search:", "Gateway:"] {
        let base = demo.base(word);
        let (status, text) = scrape(base, None);
        assert_eq!(status, 401, "{word}");
        assert!(!text.contains("service_name"), "{text}");
        assert_eq!(scrape(base, Some("x.y.z")).0, 401, "{word}");
        let (status, text) = scrape(base, Some(&user));
        assert_eq!(status, 200, "{word}");
        check(&text);
        let refused = [("error_type", "AUTHENTICATION_REQUIRED")];
        assert!(
            sum(&text, "graphql_errors_total", &refused) >= 1.0,
            "{text}"
        );
    }
    drop(demo);
    // This one leaves tokens to its subgraphs.
    let (planets, moons) = (Subgraph::planets(), Subgraph::moons());
    let urls = [planets.url("/graphql"), moons.url("/graphql")];
    let variables = [("METRICS_ENABLED", "true"), ("SECURITY_SECRET", SECRET)];
    let gateway = Gateway::over(&[&urls[0], &urls[1]], &variables);
    gateway.query("{ moonCount }");
    assert_eq!(scrape(&gateway.base, None).0, 401);
    assert_eq!(scrape(&gateway.base, Some(&user)).0, 200);
    assert_eq!(gateway.get("/__loggers").status, 401);
    drop(gateway);
    let plain = Soml::demo(&[], &[], "Composed:");
    for word in ["GraphQL:", "Search:", "Gateway:"] {
        assert_eq!(scrape(plain.base(word), None).0, 404, "{word}");
    }
}

#[test]
fn clients_that_ask_in_a_loop_or_take_nothing_hold_nobody_up() {
    let demo = Soml::demo(&ON, &[], "Composed:");
    let base = demo.base("GraphQL:");
    let address = base.trim_start_matches("http://");
    let request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let stalled: Vec<TcpStream> = (0..20)
        .map(|_| {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(request.repeat(50).as_bytes()).unwrap();
            stream
        })
        .collect();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..5).for_each(|_| drop(scraped(base))));
        }
        for _ in 0..50 {
            let (status, answer) = post(base, "{ __typename }", None);
            assert_eq!(
                (status, &answer["data"]["__typename"]),
                (200, &json!("Query"))
            );
        }
    });
    drop(stalled);
    check(&scraped(base));
}
