//! One request is one tree of spans, over all services, the store and the engine: in one process and over several.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::http::{HeaderMap, Method};
use axum::routing::get;
use graph_store::CallContext;
use opentelemetry::trace::TracerProvider;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_sdk::trace::SdkTracerProvider;
use search_index::engine::SearchEngine;
use search_index::opensearch::{OpenSearch, OpenSearchOptions};
use serde_json::json;
use servers::demo::STAR_WARS;
use tempfile::TempDir;
use traces::Exchange;
use tracing_subscriber::layer::SubscriberExt;

use crate::gateway::collector::{Collector, Manner, Span};
use crate::gateway::process::Gateway;
use crate::gateway::soml::{Soml, send, wait_until_indexed};
use crate::gateway::subgraph::served;
use crate::processes::{Running, agent, base};
use crate::sparql_server::SparqlServer;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// Asks the search service for a planet, and the object service for what is not in the index.
const SEARCH: &str = "query Tree { planet_search(query: {match: {name: {query: \"Tatooine\"}}}, size: 1) { \
                      hits { planet { id name climate resident { name } } } } }";

/// A schema in a file, and a store that has its data.
fn star_wars(text: &str) -> (TempDir, String, SparqlServer) {
    let folder = TempDir::new().unwrap();
    let schema = folder.path().join("star-wars.yaml");
    std::fs::write(&schema, text).unwrap();
    let schema = schema.to_str().unwrap().to_owned();
    (folder, schema, SparqlServer::with(&STAR_WARS.whole_data()))
}

/// Returns the variables that have a program send its spans soon.
fn sent_to(collector: &Collector) -> [(&'static str, &str); 2] {
    [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.base.as_str()),
        ("OTEL_BSP_SCHEDULE_DELAY", "50"),
    ]
}

/// Sends an operation in the trace of a caller.
fn post(base: &str, query: &str, traceparent: &str) -> serde_json::Value {
    let mut answer = agent()
        .post(format!("{base}/graphql"))
        .header("traceparent", traceparent)
        .content_type("application/json")
        .send(json!({ "query": query }).to_string())
        .unwrap();
    let answer = answer.body_mut().read_to_string().unwrap();
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    assert!(answer.get("errors").is_none(), "{answer:#}");
    answer
}

/// The spans of one trace.
struct Tree(Vec<Span>);

impl Tree {
    /// Waits until all spans of a trace have arrived: the last one is that of the request that began it here.
    fn of(collector: &Collector) -> Self {
        let is_whole = |spans: &[Span]| {
            let of_trace: Vec<&Span> = spans.iter().filter(|it| it.trace_id == TRACE).collect();
            let known: BTreeSet<&str> = of_trace.iter().map(|it| it.id.as_str()).collect();
            let is_known = |span: &&Span| {
                known.contains(span.parent.as_str()) || span.parent == "00f067aa0ba902b7"
            };
            !of_trace.is_empty() && of_trace.iter().all(is_known)
        };
        let mut spans = collector.until(is_whole);
        spans.retain(|span| span.trace_id == TRACE);
        Tree(spans)
    }

    fn named(&self, name: &str) -> Vec<&Span> {
        self.0.iter().filter(|span| span.name == name).collect()
    }

    /// Returns the only span of a name below another one.
    fn only(&self, name: &str, parent: &str) -> &Span {
        let named = self.named(name);
        let mut below = named.into_iter().filter(|span| span.parent == parent);
        match (below.next(), below.next()) {
            (Some(span), None) => span,
            _ => panic!("{name} below {parent}: {:#?}", self.0),
        }
    }

    /// Returns the spans of a kind of server below another one.
    fn of_system(&self, system: &str, parent: &Span) -> Vec<&Span> {
        let is_of =
            |span: &&Span| span.attribute("db.system.name") == system && span.parent == parent.id;
        self.0.iter().filter(is_of).collect()
    }
}

/// Checks that each request of a trace to a store was sent in the context of its own span.
fn check_store(store: &SparqlServer, spans: &[&Span]) {
    let asked = store.asked.lock().unwrap();
    let of_trace = |headers: &&HeaderMap| {
        let parent = headers.get("traceparent");
        parent.is_some_and(|parent| parent.to_str().unwrap().contains(TRACE))
    };
    let sent = asked.iter().filter(of_trace);
    let sent: BTreeSet<String> = sent
        .map(|headers| headers["traceparent"].to_str().unwrap().to_owned())
        .collect();
    let expected = spans.iter().map(|it| format!("00-{TRACE}-{}-01", it.id));
    assert_eq!(sent, expected.collect());
}

/// Checks a span of a request to a store.
fn check_query(span: &Span, store: &SparqlServer) {
    assert_eq!(span.kind, SpanKind::Client);
    let server = store.address.trim_start_matches("http://");
    let server = server.split('/').next().unwrap();
    let (host, port) = server.split_once(':').unwrap();
    assert_eq!(span.name, format!("query {server}"));
    for (name, value) in [
        ("db.system.name", "rdf4j"),
        ("db.operation.name", "query"),
        ("http.request.method", "POST"),
        ("http.response.status_code", "200"),
        ("server.address", host),
        ("server.port", port),
        ("error.type", ""),
    ] {
        assert_eq!(span.attribute(name), value, "{name}: {span:#?}");
    }
}

#[test]
fn a_request_is_one_tree_over_all_services_of_a_process_the_store_and_the_engine() {
    // No other service defines fleets here.
    let text = STAR_WARS
        .searched_schema()
        .replace("    extend: true\n", "");
    let (folder, schema, store) = star_wars(&text);
    let collector = Collector::start(Manner::Takes);
    let flags = store.flags();
    let mut arguments = vec!["--schema", &schema];
    arguments.extend(flags.iter().map(String::as_str));
    let kept = format!("search.storage.location={}", folder.path().display());
    for property in [
        kept.as_str(),
        "search.enabled=true",
        "gateway.enabled=true",
        "graphql.federation.enabled=true",
    ] {
        arguments.extend(["--set", property]);
    }
    let soml = Soml::start(&arguments, &sent_to(&collector), "Composed:");
    wait_until_indexed(soml.base("Search:"));
    let answer = post(soml.base("Gateway:"), SEARCH, CALLER);
    let planet = &answer["data"]["planet_search"]["hits"][0]["planet"];
    assert_eq!(planet["name"], "Tatooine", "{answer:#}");

    let tree = Tree::of(&collector);
    // A proxy, or the edge, is the root.
    let request = tree.only("POST /graphql", "00f067aa0ba902b7");
    assert_eq!(request.kind, SpanKind::Server);
    let operation = tree.only("query Tree", &request.id);
    tree.only("plan", &operation.id);
    let search = tree.only("subgraph search", &operation.id);
    let objects = tree.only("subgraph objects", &operation.id);
    for subgraph in [search, objects] {
        assert_eq!(subgraph.kind, SpanKind::Internal);
        assert_eq!(subgraph.attribute("server.address"), "");
    }
    assert_eq!(objects.attribute("graphql.subgraph.representations"), "1");

    let searched = tree.only("query", &search.id);
    let [in_engine] = tree.of_system("tantivy", searched).try_into().unwrap();
    assert_eq!(in_engine.attribute("db.operation.name"), "search");
    assert!(in_engine.attribute("db.collection.name").contains("planet"));

    let read = tree.only("query", &objects.id);
    tree.only("plan", &read.id);
    let queries = tree.of_system("rdf4j", read);
    assert!(!queries.is_empty(), "{:#?}", tree.0);
    for query in &queries {
        check_query(query, &store);
    }
    let stored: Vec<&Span> = tree
        .0
        .iter()
        .filter(|span| span.attribute("db.system.name") == "rdf4j")
        .collect();
    check_store(&store, &stored);
    // Each is a part of the request in time, too, and of the same process.
    for span in &tree.0 {
        assert!(request.nanoseconds.0 <= span.nanoseconds.0, "{span:#?}");
        assert!(span.nanoseconds.1 <= request.nanoseconds.1, "{span:#?}");
        assert_eq!(span.resource, request.resource);
    }
    let sent = collector.text();
    for hidden in ["SELECT", "Tatooine", "planet_search", "climate"] {
        assert!(!sent.contains(hidden), "{hidden}: {:#?}", tree.0);
    }
}

#[test]
fn a_tree_leads_over_processes_by_http() {
    let (_folder, schema, store) = star_wars(STAR_WARS.schema);
    let collector = Collector::start(Manner::Takes);
    let flags = store.flags();
    let mut arguments = vec!["--schema", &schema];
    arguments.extend(flags.iter().map(String::as_str));
    arguments.extend(["--set", "graphql.federation.enabled=true"]);
    let objects = Soml::start(&arguments, &sent_to(&collector), "Security:");
    let url = objects.endpoint();
    let mut variables = vec![("GRAPHQL_SERVICE_0_NAME", "objects")];
    variables.extend(sent_to(&collector));
    let gateway = Gateway::over(&[&url], &variables);
    let mut edge = Command::new(env!("CARGO_BIN_EXE_soml"));
    edge.args(["edge", "--port", "0"]).stderr(Stdio::null());
    edge.envs([
        ("SECURITY_ENABLED", "false"),
        ("EDGE_ROUTE_0_PATH", "/"),
        ("EDGE_ROUTE_0_ADDRESS", &gateway.base),
    ]);
    edge.envs(sent_to(&collector));
    let edge = Running::start(&mut edge);
    let said = edge.said_until("Edge:");
    let address = base(&said, "Edge:").trim_end_matches('/');
    post(address, "query Far { planet(limit: 1) { name } }", CALLER);

    let tree = Tree::of(&collector);
    let at_edge = tree.only("POST /*", "00f067aa0ba902b7");
    assert_eq!(at_edge.resource["service.name"], "edge");
    let sent_on = tree.only("POST", &at_edge.id);
    assert_eq!(sent_on.kind, SpanKind::Client);
    let request = tree.only("POST /graphql", &sent_on.id);
    assert_eq!(request.resource["service.name"], "federation-gateway");
    let operation = tree.only("query Far", &request.id);
    let subgraph = tree.only("subgraph objects", &operation.id);
    assert_eq!(subgraph.kind, SpanKind::Client);
    assert_eq!(subgraph.attribute("http.response.status_code"), "200");
    let answered = tree.only("POST /graphql", &subgraph.id);
    assert_eq!(answered.kind, SpanKind::Server);
    assert_eq!(answered.resource["service.name"], "object-service");
    let read = tree.only("query", &answered.id);
    let queries = tree.of_system("rdf4j", read);
    assert!(!queries.is_empty(), "{:#?}", tree.0);
    for query in &queries {
        check_query(query, &store);
    }
    check_store(&store, &queries);
}

#[test]
fn a_store_that_is_gone_is_in_the_spans() {
    let folder = TempDir::new().unwrap();
    let schema = folder.path().join("star-wars.yaml");
    std::fs::write(&schema, STAR_WARS.schema).unwrap();
    let collector = Collector::start(Manner::Takes);
    // Nobody listens there any more.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let address = format!("sparql.endpoint.address=http://127.0.0.1:{port}/repositories/r");
    let arguments = [
        "--schema",
        schema.to_str().unwrap(),
        "--set",
        &address,
        "--set",
        "sparql.endpoint.type=rdf4j",
        "--set",
        "sparql.endpoint.maxRetries=0",
    ];
    let soml = Soml::start(&arguments, &sent_to(&collector), "Security:");
    let base = soml.base("GraphQL:");
    let query = json!({ "query": "query Gone { planet(limit: 1) { name } }" });
    let (_, answer) = send(base, "/graphql", None, &query);
    assert!(answer.get("errors").is_some(), "{answer:#}");
    let is_failed = |span: &Span| !span.attribute("error.type").is_empty();
    let spans = collector.until(|spans| {
        let has = |name: &str| spans.iter().any(|span| span.name == name);
        has("POST /graphql") && spans.iter().any(is_failed)
    });
    let failed = spans.iter().find(|span| is_failed(span)).unwrap();
    assert_eq!(failed.attribute("error.type"), "connection", "{spans:#?}");
    assert!(failed.is_error);
    let mut parents = spans.iter().filter(|span| span.id == failed.parent);
    assert_eq!(parents.next().unwrap().name, "query Gone", "{spans:#?}");
}

#[test]
fn what_is_logged_and_how_much_does_not_decide_what_is_traced() {
    let collector = Collector::start(Manner::Takes);
    for (level, name) in [("off", "Silent"), ("trace", "Loud")] {
        let mut variables = vec![("LOGGING_LEVEL", level)];
        variables.extend(sent_to(&collector));
        let soml = Soml::demo(&[], &variables, "GraphQL:");
        let query = format!("query {name} {{ __typename }}");
        post(soml.base("GraphQL:"), &query, CALLER);
        let spans = collector.until(|spans| {
            spans
                .iter()
                .any(|span| span.name == format!("query {name}"))
        });
        assert!(
            spans.iter().all(|span| span.trace_id == TRACE),
            "{spans:#?}"
        );
    }
}

#[test]
fn keys_of_tokens_are_fetched_as_a_part_of_the_request_that_needs_them() {
    let asked = Arc::<Mutex<Vec<HeaderMap>>>::default();
    let noted = Arc::clone(&asked);
    let keys = move |headers: HeaderMap| {
        noted.lock().unwrap().push(headers);
        async { "{\"keys\": []}" }
    };
    let (_runtime, address) = served(Router::new().route("/keys", get(keys)));
    let collector = Collector::start(Manner::Takes);
    let url = format!("http://{address}/keys");
    let mut variables = vec![("SECURITY_JWKS_URL", url.as_str())];
    variables.extend(sent_to(&collector));
    let soml = Soml::demo(&[], &variables, "Security:");
    // Of a key that nobody knows: `{"alg":"RS256","kid":"x"}`, `{}`.
    let token = "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.e30.AAAA";
    let refused = agent()
        .post(format!("{}/graphql", soml.base("GraphQL:")))
        .header("traceparent", CALLER)
        .header("authorization", format!("Bearer {token}"))
        .content_type("application/json")
        .send("{\"query\": \"{ __typename }\"}")
        .unwrap();
    assert_eq!(refused.status(), 401);
    let tree = Tree::of(&collector);
    let request = tree.only("POST /graphql", "00f067aa0ba902b7");
    assert_eq!(request.attribute("http.response.status_code"), "401");
    let fetch = tree.only("GET", &request.id);
    assert_eq!(fetch.kind, SpanKind::Client);
    assert_eq!(fetch.attribute("server.port"), address.port().to_string());
    assert_eq!(fetch.attribute("http.response.status_code"), "200");
    let asked = asked.lock().unwrap();
    // The first time is the start of the service, which nobody has asked for.
    let sent = asked
        .iter()
        .filter_map(|headers| headers.get("traceparent"));
    let sent: Vec<_> = sent.collect();
    assert_eq!(sent, [format!("00-{TRACE}-{}-01", fetch.id).as_str()]);
    assert!(!collector.text().contains("eyJ"));
}

#[test]
fn requests_to_opensearch_carry_the_context_of_their_spans() {
    let asked = Arc::<Mutex<Vec<HeaderMap>>>::default();
    let noted = Arc::clone(&asked);
    let info = move |headers: HeaderMap| {
        noted.lock().unwrap().push(headers);
        async { "{\"version\": {\"number\": \"3.7.0\", \"distribution\": \"opensearch\"}}" }
    };
    let (runtime, address) = served(Router::new().fallback(info));
    let addresses = format!("http://{address}").parse().unwrap();
    let engine = OpenSearch::new(OpenSearchOptions::new(addresses, "test")).unwrap();
    let provider = SdkTracerProvider::builder().build();
    let layer = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("test"))
        .with_context_activation(false);
    let subscriber = tracing_subscriber::registry().with(layer);
    tracing::subscriber::with_default(subscriber, || {
        let mut headers = HeaderMap::new();
        headers.insert("traceparent", CALLER.parse().unwrap());
        let request = Exchange::server(&Method::POST, "http", "/graphql", &headers);
        let context = CallContext::new().with_span(traces::operation(request.span()));
        runtime.block_on(engine.info(&context)).unwrap();
        // Nobody has asked for this.
        let alone = OpenSearchOptions::new(format!("http://{address}").parse().unwrap(), "test");
        let alone = OpenSearch::new(alone).unwrap();
        runtime.block_on(alone.info(&CallContext::new())).unwrap();
    });
    let asked = asked.lock().unwrap();
    let parent = asked[0]["traceparent"].to_str().unwrap();
    assert!(parent.starts_with(&CALLER[..36]) && parent != CALLER);
    assert!(asked.last().unwrap().get("traceparent").is_none());
}
