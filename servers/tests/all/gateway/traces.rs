//! Traces of requests to the gateway, as a collector gets them.

use std::io::Write;
use std::net::TcpStream;
use std::sync::{Mutex, mpsc};
use std::time::Instant;

use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use serde_json::json;

use super::collector::{Collector, Manner, Span};
use super::process::Gateway;
use super::sharing::{Held, joined};
use super::subgraph::{MOONS, PLANETS, Said, Subgraph, moons, planets};
use crate::processes::PATIENCE;

const CALLER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

const SKY: &str = "query Sky { planets { title moons } moonCount }";

/// Sends spans soon, and does not give up.
const QUICK: [(&str, &str); 2] = [
    ("OTEL_BSP_SCHEDULE_DELAY", "50"),
    ("OTEL_EXPORTER_OTLP_TIMEOUT", "600000"),
];

/// Two subgraphs, and a gateway that sends traces of them.
struct Sky {
    planets: Subgraph,
    moons: Subgraph,
    gateway: Gateway,
}

impl Sky {
    fn over(planets: Subgraph, moons: Subgraph, base: &str, variables: &[(&str, &str)]) -> Self {
        let urls = [planets.url("/graphql"), moons.url("/graphql")];
        let mut all = vec![
            ("GRAPHQL_SERVICE_0_NAME", "planets"),
            ("GRAPHQL_SERVICE_1_NAME", "moons"),
        ];
        if !base.is_empty() {
            all.push(("OTEL_EXPORTER_OTLP_ENDPOINT", base));
        }
        all.extend(QUICK);
        all.extend(variables);
        let gateway = Gateway::over(&[&urls[0], &urls[1]], &all);
        Sky {
            planets,
            moons,
            gateway,
        }
    }

    fn traced(collector: &Collector, variables: &[(&str, &str)]) -> Self {
        Sky::over(
            Subgraph::planets(),
            Subgraph::moons(),
            &collector.base,
            variables,
        )
    }
}

/// Returns how many spans have met with an outcome, as the last line of a log that counts them says.
fn counted(log: &str, outcome: &str) -> u64 {
    let start = format!(" {outcome}=");
    let mut lines = log.lines().rev();
    let line = lines.find(|line| line.contains("spans were lost since the start"));
    let line = line.unwrap_or_else(|| panic!("{log}"));
    let (_, rest) = line.split_once(&start).unwrap();
    let digits = rest.split(|it: char| !it.is_ascii_digit()).next();
    digits.unwrap().parse().unwrap()
}

/// Returns the only span with a name.
fn only<'s>(spans: &'s [Span], name: &str) -> &'s Span {
    let mut named = spans.iter().filter(|span| span.name == name);
    match (named.next(), named.next()) {
        (Some(span), None) => span,
        _ => panic!("{name}: {spans:#?}"),
    }
}

/// Returns what was sent to a subgraph as the identifiers of a trace and of a span, and whether it is sampled.
fn sent(asked: &super::subgraph::Asked) -> (String, String, bool) {
    let text = asked.header("traceparent").unwrap();
    let parts: Vec<&str> = text.split('-').collect();
    assert_eq!((parts.len(), parts[0]), (4, "00"), "{text}");
    (parts[1].to_owned(), parts[2].to_owned(), parts[3] == "01")
}

#[test]
fn one_trace_leads_from_the_client_over_the_gateway_to_two_subgraphs() {
    let collector = Collector::start(Manner::Takes);
    let sky = Sky::traced(&collector, &[]);
    let headers = [("traceparent", CALLER), ("tracestate", "vendor=1,other=2")];
    let reply = sky.gateway.post(SKY, &headers);
    assert!(reply.json().get("errors").is_none(), "{}", reply.text);
    let spans = collector.spans(6);
    assert_eq!(spans.len(), 6, "{spans:#?}");
    let request = only(&spans, "POST /graphql");
    assert_eq!(request.parent, "00f067aa0ba902b7");
    assert_eq!(request.kind, SpanKind::Server);
    for (name, value) in [
        ("http.request.method", "POST"),
        ("http.response.status_code", "200"),
        ("http.route", "/graphql"),
        ("url.path", "/graphql"),
        ("url.scheme", "http"),
    ] {
        assert_eq!(request.attribute(name), value, "{name}: {request:#?}");
    }
    assert_eq!(request.resource["service.name"], "federation-gateway");
    let operation = only(&spans, "query Sky");
    assert_eq!(operation.attribute("graphql.operation.name"), "Sky");
    assert_eq!(operation.attribute("graphql.operation.type"), "query");
    let plan = only(&spans, "plan");
    for (span, parent) in [(operation, request), (plan, operation)] {
        assert_eq!((&span.parent, span.kind), (&parent.id, SpanKind::Internal));
    }
    for span in &spans {
        assert_eq!(span.trace_id, "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(span.state, "vendor=1,other=2");
        assert!(!span.is_error && span.nanoseconds.0 <= span.nanoseconds.1);
        assert!(request.nanoseconds.0 <= span.nanoseconds.0, "{spans:#?}");
        assert!(span.nanoseconds.1 <= request.nanoseconds.1, "{spans:#?}");
    }
    let mut to_planets = spans.iter().filter(|span| span.name == "subgraph planets");
    let to_planets = to_planets.next().unwrap();
    let entities = spans
        .iter()
        .find(|span| span.attribute("graphql.subgraph.representations") == "2");
    assert_eq!(entities.unwrap().name, "subgraph moons");
    for span in spans
        .iter()
        .filter(|span| span.name.starts_with("subgraph"))
    {
        assert_eq!((&span.parent, span.kind), (&operation.id, SpanKind::Client));
        assert_eq!(span.attribute("http.response.status_code"), "200");
        assert_eq!(span.attribute("server.address"), "127.0.0.1");
        for side in ["request", "response"] {
            let bytes = span.attribute(&format!("http.{side}.body.size"));
            assert!(bytes.parse::<u64>().unwrap() > 10, "{span:#?}");
        }
    }
    let [asked] = sky.planets.asked().try_into().unwrap();
    let expected = (request.trace_id.clone(), to_planets.id.clone(), true);
    assert_eq!(sent(&asked), expected);
    assert_eq!(asked.header("tracestate"), Some("vendor=1,other=2"));
    let mut of_moons: Vec<_> = sky.moons.asked().iter().map(|it| sent(it).1).collect();
    let mut known: Vec<_> = spans
        .iter()
        .filter(|span| span.name == "subgraph moons")
        .map(|span| span.id.clone())
        .collect();
    of_moons.sort();
    known.sort();
    assert_eq!(of_moons, known);
    let (_, log) = sky.gateway.stop();
    assert!(log.contains(&request.trace_id), "{log}");
}

#[test]
fn an_operation_is_planned_once_and_named_by_its_type_if_it_has_no_name() {
    let collector = Collector::start(Manner::Takes);
    let sky = Sky::traced(&collector, &[]);
    for _ in 0..3 {
        sky.gateway.query("{ moonCount }");
    }
    sky.gateway
        .query("mutation { rename(id: \"1\", title: \"x\") { title } }");
    let get = sky.gateway.get("/graphql?query=%7B%20moonCount%20%7D");
    assert_eq!(get.status, 200);
    sky.gateway.get("/__gtg");
    let spans = collector.spans(17);
    let named = |name: &str| spans.iter().filter(|span| span.name == name).count();
    assert_eq!((named("query"), named("mutation")), (4, 1), "{spans:#?}");
    assert_eq!((named("plan"), spans.len()), (2, 17), "{spans:#?}");
    assert_eq!(
        (named("POST /graphql"), named("GET /graphql")),
        (4, 1),
        "{spans:#?}"
    );
    let traces: std::collections::BTreeSet<_> = spans.iter().map(|span| &span.trace_id).collect();
    assert_eq!(traces.len(), 5);
    let mutation = only(&spans, "mutation");
    let of = |span: &&Span| span.parent == mutation.id && span.name == "subgraph planets";
    let request = spans.iter().find(of).unwrap();
    assert_eq!(request.attribute("graphql.operation.type"), "mutation");
}

#[test]
fn a_context_that_is_malformed_begins_a_new_trace() {
    let collector = Collector::start(Manner::Takes);
    let sky = Sky::traced(&collector, &[]);
    let malformed = CALLER.to_uppercase();
    let headers = [("traceparent", malformed.as_str()), ("tracestate", "a=1")];
    sky.gateway.post("{ moonCount }", &headers);
    let spans = collector.spans(4);
    let request = only(&spans, "POST /graphql");
    assert_eq!(request.parent, "");
    assert_ne!(request.trace_id, "4bf92f3577b34da6a3ce929d0e0e4736");
    let [asked] = sky.moons.asked().try_into().unwrap();
    assert_eq!(sent(&asked).0, request.trace_id);
    assert_eq!(asked.header("tracestate"), None);
}

#[test]
fn what_is_not_sampled_is_not_sent_and_subgraphs_are_told_so() {
    let collector = Collector::start(Manner::Takes);
    let sky = Sky::traced(&collector, &[]);
    let unsampled = CALLER.replace("-01", "-00");
    sky.gateway
        .post("{ moonCount }", &[("traceparent", &unsampled)]);
    let [asked] = sky.moons.asked().try_into().unwrap();
    let (trace, span, is_sampled) = sent(&asked);
    assert_eq!(trace, "4bf92f3577b34da6a3ce929d0e0e4736");
    assert!(!is_sampled && span != "00f067aa0ba902b7");
    let off = Sky::traced(&collector, &[("OTEL_TRACES_SAMPLER", "always_off")]);
    off.gateway.post(SKY, &[("traceparent", CALLER)]);
    for asked in off.planets.asked().iter().chain(&off.moons.asked()) {
        let (trace, _, is_sampled) = sent(asked);
        assert_eq!(trace, "4bf92f3577b34da6a3ce929d0e0e4736");
        assert!(!is_sampled);
    }
    off.gateway.stop();
    // What comes after it was sent, and nothing before it.
    sky.gateway.query("query After { moonCount }");
    let spans = collector.until(|spans| spans.iter().any(|span| span.name == "query After"));
    assert!(spans.iter().all(|span| span.name != "query"), "{spans:#?}");
    only(&spans, "query After");
}

#[test]
fn a_share_of_traces_is_sampled_as_a_whole() {
    let collector = Collector::start(Manner::Takes);
    let share = [
        ("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"),
        ("OTEL_TRACES_SAMPLER_ARG", "0.25"),
    ];
    let sky = Sky::traced(&collector, &share);
    for _ in 0..200 {
        sky.gateway.query("query Counted { moonCount }");
    }
    // This one is sampled in any case, and is sent after those before.
    let last = [("traceparent", CALLER)];
    sky.gateway.post("query Last { planets { id } }", &last);
    let named = |spans: &[Span], name: &str| spans.iter().filter(|span| span.name == name).count();
    let spans = collector.until(|spans| {
        let is_whole = named(spans, "subgraph moons") == named(spans, "query Counted");
        is_whole && named(spans, "query Last") == 1
    });
    let sampled = named(&spans, "query Counted");
    // Five times the standard deviation of a share of 200.
    assert!((20..=80).contains(&sampled), "{sampled}");
}

#[test]
fn without_an_address_nothing_is_traced_and_headers_are_forwarded_as_listed() {
    let (planets, moons) = (Subgraph::planets(), Subgraph::moons());
    let names = [("FORWARD_HEADERS", "traceparent")];
    let sky = Sky::over(planets, moons, "", &names);
    sky.gateway
        .post("{ moonCount }", &[("traceparent", CALLER)]);
    let [asked] = sky.moons.asked().try_into().unwrap();
    assert_eq!(asked.header("traceparent"), Some(CALLER));
}

#[test]
fn spans_have_neither_documents_nor_variables_nor_headers() {
    let collector = Collector::start(Manner::Takes);
    let variables = [
        ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=of-the-collector"),
        ("FORWARD_HEADERS", "Authorization, X-Tenant"),
        ("LOGGING_LEVEL", "debug"),
    ];
    let sky = Sky::traced(&collector, &variables);
    let body = json!({
        "query": "mutation Named($title: String!) { rename(id: \"in-the-document\", title: $title) { aliased: title } }",
        "variables": {"title": "in-a-variable"}
    });
    let headers = [
        ("content-type", "application/json"),
        ("authorization", "Bearer of-the-client"),
        ("x-tenant", "of-a-header"),
        ("cookie", "of-a-cookie"),
    ];
    let reply = { &sky.gateway }.send(
        "POST",
        "/graphql?in=the-address",
        &headers,
        &body.to_string(),
    );
    assert_eq!(reply.status, 200, "{}", reply.text);
    sky.gateway.post("{ moonCount unknownField }", &[]);
    // The second operation does not fit the schema.
    let spans = collector.spans(6);
    only(&spans, "mutation Named");
    let text = collector.text();
    for hidden in [
        "in-the-document",
        "in-a-variable",
        "of-the-client",
        "of-a-header",
        "of-a-cookie",
        "the-address",
        "aliased",
        "unknownField",
        "of-the-collector",
    ] {
        assert!(!text.contains(hidden), "{hidden}: {spans:#?}");
    }
    let sent = collector.headers();
    assert!(
        sent.iter()
            .all(|headers| headers["api-key"] == "of-the-collector")
    );
    let (_, log) = sky.gateway.stop();
    assert!(!log.contains("of-the-collector"), "{log}");
}

#[test]
fn each_operation_of_a_batch_has_a_span_of_its_own() {
    let collector = Collector::start(Manner::Takes);
    let sky = Sky::traced(&collector, &[("GATEWAY_BATCHING_MAXOPERATIONS", "5")]);
    let body =
        json!([{"query": "query One { moonCount }"}, {"query": "query Two { planets { id } }"}]);
    let headers = [("content-type", "application/json")];
    let reply = sky
        .gateway
        .send("POST", "/graphql", &headers, &body.to_string());
    assert_eq!(reply.status, 200, "{}", reply.text);
    let spans = collector.spans(7);
    let request = only(&spans, "POST /graphql");
    for (operation, subgraph) in [
        ("query One", "subgraph moons"),
        ("query Two", "subgraph planets"),
    ] {
        let operation = only(&spans, operation);
        assert_eq!(operation.parent, request.id);
        assert_eq!(only(&spans, subgraph).parent, operation.id);
    }
}

#[test]
fn what_goes_wrong_is_in_the_spans() {
    let refuses = Subgraph::start(MOONS, |asked| {
        if asked.query.contains("_entities") {
            Said {
                status: 403,
                headers: Vec::new(),
                body: json!({"errors": [{"message": "no"}]}),
            }
        } else {
            moons(asked)
        }
    });
    let collector = Collector::start(Manner::Takes);
    let sky = Sky::over(Subgraph::planets(), refuses, &collector.base, &[]);
    let answer = sky.gateway.query("query Refused { planets { moons } }");
    assert_eq!(answer["errors"][0]["extensions"]["code"], "FORBIDDEN");
    let spans = collector.spans(5);
    let refused = only(&spans, "subgraph moons");
    assert_eq!(refused.attribute("error.type"), "403");
    assert_eq!(refused.attribute("http.response.status_code"), "403");
    assert!(refused.is_error && !only(&spans, "query Refused").is_error);
}

#[test]
fn a_client_that_goes_away_ends_the_spans_of_its_request() {
    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    let slow = Subgraph::start(PLANETS, move |asked| {
        // Ends when the test drops the other side.
        let _ = released.lock().unwrap().recv_timeout(PATIENCE);
        planets(asked)
    });
    let collector = Collector::start(Manner::Takes);
    let sky = Sky::over(slow, Subgraph::moons(), &collector.base, &[]);
    let address = sky.gateway.base.trim_start_matches("http://");
    let body = json!({"query": "query Gone { planets { title } }"}).to_string();
    let mut client = TcpStream::connect(address).unwrap();
    write!(
        client,
        "POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    // The plan is sent when it is there; the other spans are still open then.
    collector.spans(1);
    drop(client);
    let spans = collector.spans(4);
    only(&spans, "query Gone");
    for cancelled in ["POST /graphql", "subgraph planets"] {
        let cancelled = only(&spans, cancelled);
        assert_eq!(cancelled.attribute("error.type"), "cancelled");
    }
    drop(release);
}

#[test]
fn a_request_that_joins_an_equal_one_has_a_span_that_names_that() {
    let collector = Collector::start(Manner::Takes);
    let held = Held::new();
    let named = [
        ("GRAPHQL_SERVICE_0_NAME", "planets"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &*collector.base),
    ];
    let gateway = held.gateway(&[&named[..], &QUICK].concat());
    joined(&held, &gateway, "joined a request in flight", &[]);
    let spans = collector.spans(7);
    let subgraph = spans.iter().filter(|span| span.name == "subgraph planets");
    let (waiting, sent): (Vec<&Span>, Vec<&Span>) =
        subgraph.partition(|span| span.kind == SpanKind::Internal);
    assert_eq!((waiting.len(), sent.len()), (1, 1), "{spans:#?}");
    let leader = |span: &Span| span.attribute("graphql.subgraph.joined").to_owned();
    assert_eq!(leader(waiting[0]), "the-first");
    assert_eq!(leader(sent[0]), "");
    assert_ne!(waiting[0].trace_id, sent[0].trace_id);
}

#[test]
fn a_collector_that_stalls_slows_neither_requests_nor_the_end() {
    let collector = Collector::start(Manner::Stalls);
    let sky = Sky::traced(&collector, &[("OTEL_BSP_MAX_QUEUE_SIZE", "16")]);
    // The first batch is on its way from here on, and is never answered.
    sky.gateway.query("{ moonCount }");
    collector.spans(1);
    for _ in 0..100 {
        sky.gateway.query("{ moonCount }");
    }
    sky.gateway.wait_for_log("spans were lost", 1);
    // Nobody waits for the collector: the gateway would have been killed.
    let (code, log) = sky.gateway.stop();
    assert_eq!(code, Some(0));
    // Of 300 further spans, 12 to 15 have room beside the first one to four.
    let dropped = counted(&log, "dropped");
    assert!((285..=288).contains(&dropped), "{log}");
    assert_eq!(counted(&log, "sent"), 0);
    assert!(log.contains("spans were lost dropped="), "{log}");
    assert!(log.contains("spans were not sent before the end"), "{log}");
}

#[test]
fn spans_that_a_collector_does_not_take_are_counted_and_logged_once_in_a_while() {
    let failing = Collector::start(Manner::Answers(500));
    let away = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    for (base, reason) in [
        (failing.base.as_str(), "the collector answers 500"),
        (&away, "Connection refused"),
    ] {
        let begun = Instant::now();
        let sky = Sky::over(Subgraph::planets(), Subgraph::moons(), base, &[]);
        sky.gateway.query("{ moonCount }");
        sky.gateway.wait_for_log("spans were lost", 1);
        for _ in 0..5 {
            sky.gateway.query("{ moonCount }");
        }
        let (code, log) = sky.gateway.stop();
        assert_eq!(code, Some(0));
        let lost: Vec<_> = log
            .lines()
            .filter(|line| line.contains("spans were lost"))
            .collect();
        // One line at once, one for each minute in which more were lost, and one at the end.
        let minutes = usize::try_from(begun.elapsed().as_secs() / 60).unwrap();
        assert!((2..=2 + minutes).contains(&lost.len()), "{log}");
        let (first, last) = (lost[0], lost[lost.len() - 1]);
        assert!(first.contains(reason), "{first}");
        // With what was under way at the end, if there was no time for it.
        let waiting = log.contains("spans were not sent before the end");
        assert!(waiting || counted(&log, "failed") == 19, "{last}");
    }
}

#[test]
fn spans_that_a_collector_rejects_are_counted() {
    let collector = Collector::start(Manner::Rejects(1));
    let sky = Sky::traced(&collector, &[("METRICS_ENABLED", "true")]);
    sky.gateway.query("{ moonCount }");
    sky.gateway.wait_for_log("spans were lost", 1);
    let metrics = sky.gateway.get("/metrics");
    let start = "traces_spans_total{outcome=\"rejected\"} ";
    let mut lines = metrics.text.lines();
    let rejected = lines.find_map(|line| line.strip_prefix(start)).unwrap();
    assert_ne!(rejected, "0");
    let (_, log) = sky.gateway.stop();
    assert!(log.contains("too many of them"), "{log}");
}

#[test]
fn what_waits_is_sent_at_the_end() {
    let is_sent = || {
        let collector = Collector::start(Manner::Takes);
        let sky = Sky::traced(&collector, &[("OTEL_BSP_SCHEDULE_DELAY", "600000")]);
        sky.gateway.query("query Late { moonCount }");
        let (code, log) = sky.gateway.stop();
        assert_eq!(code, Some(0));
        let is_late = log.contains("spans were not sent before the end");
        if !is_late {
            only(&collector.spans(4), "query Late");
            assert!(!log.contains("spans were"), "{log}");
        }
        !is_late
    };
    // The gateway does not wait for long, which may be too short on a busy machine.
    assert!((0..10).any(|_| is_sent()));
}

#[test]
fn the_variables_of_opentelemetry_are_read_and_the_property_wins() {
    let (own, other) = (
        Collector::start(Manner::Takes),
        Collector::start(Manner::Takes),
    );
    let endpoint = format!("{}/v1/traces", own.base);
    let variables = [
        // The name that it had when only the gateway sent traces.
        ("GATEWAY_TRACES_ENDPOINT", endpoint.as_str()),
        ("OTEL_SERVICE_NAME", "sky"),
        ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", "ca.pem"),
    ];
    let sky = Sky::traced(&other, &variables);
    sky.gateway.query("{ moonCount }");
    let spans = own.spans(4);
    let resource = &only(&spans, "query").resource;
    assert_eq!(resource["service.name"], "sky");
    assert_eq!(resource["deployment.environment"], "test");
    assert_eq!(own.headers()[0]["content-encoding"], "gzip");
    assert!(other.spans(0).is_empty());
    let (_, log) = sky.gateway.stop();
    assert!(log.contains(&endpoint), "{log}");
    let idle = "no effect here: OTEL_EXPORTER_OTLP_CERTIFICATE";
    assert!(log.contains(idle), "{log}");
}

#[test]
fn a_variable_that_cannot_be_used_stops_the_start() {
    let variables = [
        ("GRAPHQL_SERVICE_0", "http://127.0.0.1:9/graphql"),
        ("TRACES_ENABLED", "true"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "hidden"),
    ];
    let mut gateway = Gateway::start(&variables);
    let (code, log) = gateway.end();
    assert_eq!(code, Some(64), "{log}");
    assert!(log.contains("OTEL_EXPORTER_OTLP_HEADERS"), "{log}");
    assert!(!log.contains("hidden"), "{log}");
}
