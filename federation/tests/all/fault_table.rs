//! The table of faults in `docs/federation.md`: each row is made to happen on real sockets, and in the same
//! process where it is about the answer alone. `UPDATE_EXPECT=1` rewrites the table.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use federation::supergraph::Subgraph;
use federation::transport::http::HttpTransport;
use federation::{
    Allowance, Gateway, GatewayLimits, GatewayOptions, InProcess, SubgraphRequest,
    SubgraphTransport, Supergraph, TransportError,
};
use graphql_service::{CallContext, Request, RequestContext, Service};
use serde_json::Value as Json;
use test_support::fault_rows::{
    LIMIT, Missing, QUERY, Row, When, accounts, answers, check, products, rows,
};

use crate::http::{LONG, options, runtime};
use crate::sockets::{Behaviour, PATIENCE, Server, nobody};

/// Returns the time-out that a row is about.
fn time(when: When) -> Duration {
    Duration::from_millis(match when {
        When::AtOnce => 0,
        When::Idle => 400,
        When::Exchange => 700,
        When::Deadline => 200,
    })
}

/// The subgraphs that answer as they should.
fn good() -> InProcess {
    InProcess::new()
        .with_function("products", |_| products())
        .with_function("accounts", |_| accounts())
}

/// Sends what is for `inventory` over HTTP, or answers it as text, and keeps what its answer may hold.
struct Watched {
    good: InProcess,
    inventory: Result<HttpTransport, &'static str>,
    allowance: Mutex<Option<Arc<Allowance>>>,
}

#[async_trait]
impl SubgraphTransport for Watched {
    async fn send(
        &self,
        subgraph: &Subgraph,
        request: SubgraphRequest,
        context: &RequestContext,
    ) -> Result<Bytes, TransportError> {
        if subgraph.name != "inventory" {
            return self.good.send(subgraph, request, context).await;
        }
        *self.allowance.lock().unwrap() = Some(Arc::clone(&request.allowance));
        match &self.inventory {
            Ok(http) => http.send(subgraph, request, context).await,
            Err(text) => Ok(Bytes::from_static(text.as_bytes())),
        }
    }
}

fn supergraph() -> Arc<Supergraph> {
    let sdl = include_str!("../cases/shop/supergraph.graphql");
    Arc::new(Supergraph::parse(sdl, "supergraph.graphql").unwrap())
}

fn http(url: &str, when: When, time: Duration) -> HttpTransport {
    let mut options = options();
    if when == When::Idle {
        options.idle_timeout = time;
    }
    if when == When::Exchange {
        options.request_timeout = time;
    }
    HttpTransport::new([("inventory", url)], options).unwrap()
}

/// Asks the gateway, and returns its answer with the bytes that `inventory` was allowed, if it was asked.
fn ask(
    inventory: Result<HttpTransport, &'static str>,
    context: RequestContext,
) -> (Json, Option<Arc<Allowance>>) {
    let watched = Arc::new(Watched {
        good: good(),
        inventory,
        allowance: Mutex::default(),
    });
    let mut options = GatewayOptions::default();
    options.gateway_limits = GatewayLimits::default().subgraph_bytes(LIMIT);
    let transport: Arc<Watched> = Arc::clone(&watched);
    let gateway = Gateway::new(supergraph(), transport, options).unwrap();
    let response = runtime().block_on(gateway.respond(Request::new(QUERY), context));
    let allowance = watched.allowance.lock().unwrap().take();
    let response = serde_json::from_slice(&response.body.to_bytes()).unwrap();
    (response, allowance)
}

/// Asks about what a row is of. On a busy machine its time may be over before the request reaches the server; then
/// it is given more.
fn ask_over_http(row: &Row, server: &Server) -> (Json, Arc<Allowance>) {
    let url = if row.is_about_nobody() {
        nobody()
    } else {
        server.url()
    };
    let mut time = time(row.when);
    loop {
        let context = RequestContext::from(CallContext::new().with_timeout(match row.when {
            When::Deadline => time,
            _ => LONG,
        }));
        let begun = Instant::now();
        let (response, allowance) = ask(Ok(http(&url, row.when, time)), context);
        let took = begun.elapsed();
        assert!(took >= time, "{}: {took:?}", row.fault);
        let has_arrived = !server.seen.requests.lock().unwrap().is_empty();
        match allowance {
            Some(allowance) if has_arrived || row.when == When::AtOnce => {
                return (response, allowance);
            }
            _ => assert!(time < PATIENCE, "{}: nothing is sent", row.fault),
        }
        time *= 2;
    }
}

#[test]
fn each_row_of_the_fault_table_is_true_over_http() {
    for row in rows() {
        let server = Server::start(row.behaviour.clone());
        let (response, allowance) = ask_over_http(&row, &server);
        check(&row, &response);
        let read = allowance.taken();
        assert!(read <= row.read.0, "{}: {read} bytes", row.fault);
        if let Behaviour::Endless(..) | Behaviour::Drips(..) | Behaviour::Silent = row.behaviour {
            assert!(server.is_abandoned(), "{}: the exchange goes on", row.fault);
        }
    }
}

#[test]
fn rows_about_the_answer_alone_are_true_in_the_same_process() {
    let mut count = 0;
    for row in rows() {
        let Some(text) = row.text else {
            continue;
        };
        let (response, _) = ask(Err(text), RequestContext::new());
        check(&row, &response);
        count += 1;
    }
    assert_eq!(count, answers().len());
}

/// Returns the table of the page.
fn table() -> String {
    let mut out = String::from(
        "| what the subgraph does | data | code | path of the error | when it is noticed | bytes of the body that are read |\n|---|---|---|---|---|---|\n",
    );
    for row in rows() {
        let (data, path) = match row.missing {
            Missing::All => ("all fields are null", "common path"),
            Missing::One => ("the value is null", "the value"),
        };
        let when = match row.when {
            When::AtOnce => "at once",
            When::Idle => "after `idle_timeout`",
            When::Exchange => "after `request_timeout`",
            When::Deadline => "at the deadline",
        };
        let _ = writeln!(
            out,
            "| {} | {data} | `{}` | {path} | {when} | {} |",
            row.fault, row.code, row.read.1
        );
    }
    out
}

#[test]
fn the_fault_table_of_the_page_is_this_one() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/federation.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let (begin, end) = ("<!-- faults -->\n\n", "\n<!-- end of faults -->");
    let (before, rest) = text.split_once(begin).unwrap();
    let (known, after) = rest.split_once(end).unwrap();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&page, format!("{before}{begin}{}{end}{after}", table())).unwrap();
        return;
    }
    assert_eq!(known, table(), "UPDATE_EXPECT=1 rewrites it");
}
