//! The table of faults in `docs/federation.md`: each row is made to happen on real sockets, and in the same
//! process where it is about the answer alone. `UPDATE_EXPECT=1` rewrites the table.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use federation::supergraph::Subgraph;
use federation::transport::http::{HttpOptions, HttpTransport};
use federation::{
    Allowance, Gateway, GatewayLimits, GatewayOptions, InProcess, SubgraphRequest,
    SubgraphTransport, Supergraph, TransportError,
};
use graphql_service::{Request, RequestContext, Service};
use serde_json::{Value as Json, json};

use crate::http::runtime;
use crate::sockets::{Behaviour, Server, answer, nobody, with_headers};

/// When the gateway knows of a fault.
#[derive(Clone, Copy, PartialEq)]
enum When {
    AtOnce,
    Idle,
    Exchange,
    Deadline,
}

/// What is missing of the answer.
#[derive(Clone, Copy, PartialEq)]
enum Missing {
    /// All fields that the subgraph was asked for.
    All,
    /// The one value that is wrong.
    One,
}

/// A row of the table.
struct Row {
    fault: &'static str,
    behaviour: Behaviour,
    missing: Missing,
    code: &'static str,
    /// A part of the message.
    reason: &'static str,
    when: When,
    /// Most bytes that are read, and how the table says it.
    read: (usize, &'static str),
    /// The answer, where the fault is in nothing else.
    text: Option<&'static str>,
}

/// Limit on the answer of one subgraph.
const LIMIT: usize = 1 << 20;
/// Bytes that arrive in one piece, at most.
const PIECE: usize = 1 << 19;

const IDLE: Duration = Duration::from_millis(400);
const EXCHANGE: Duration = Duration::from_millis(700);
const DEADLINE: Duration = Duration::from_millis(200);

const QUERY: &str = "{ me { name } items: topProducts { title: name there: inStock } }";
const JSON: &str = "application/json";
const DOWN: &str = "DOWNSTREAM_SERVICE_ERROR";

fn row(fault: &'static str, behaviour: Behaviour, reason: &'static str) -> Row {
    Row {
        fault,
        behaviour,
        missing: Missing::All,
        code: DOWN,
        reason,
        when: When::AtOnce,
        read: (0, "none"),
        text: None,
    }
}

/// A row about an answer that is complete.
fn answered(fault: &'static str, text: &'static str, reason: &'static str) -> Row {
    Row {
        read: (text.len(), "all"),
        text: Some(text),
        ..row(
            fault,
            Behaviour::Answers(answer("200 OK", JSON, text)),
            reason,
        )
    }
}

const CHUNKED: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";

fn bomb() -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&vec![b' '; 64 << 20]).unwrap();
    encoder.finish().unwrap()
}

/// Rows about connections and time.
fn connections() -> Vec<Row> {
    let cut = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{\"data\":";
    let cut_chunk = format!("{CHUNKED}8\r\n{{\"data\":\r\n").into_bytes();
    vec![
        row(
            "nobody listens at the address",
            Behaviour::Closes(Vec::new()),
            "the connection failed",
        ),
        row(
            "it closes the connection before it answers",
            Behaviour::Closes(Vec::new()),
            "the connection failed",
        ),
        Row {
            read: (8, "what arrived"),
            ..row(
                "it closes the connection within the body, whose length is known",
                Behaviour::Closes(cut.to_vec()),
                "incomplete",
            )
        },
        Row {
            read: (8, "what arrived"),
            ..row(
                "it closes the connection within a chunked body",
                Behaviour::Closes(cut_chunk),
                "incomplete",
            )
        },
        Row {
            code: "DEADLINE_EXCEEDED",
            when: When::Deadline,
            ..row(
                "it has not answered when the deadline of the request passes",
                Behaviour::Silent,
                "the deadline",
            )
        },
        Row {
            when: When::Idle,
            ..row(
                "it says nothing for longer than `idle_timeout`",
                Behaviour::Silent,
                "the next bytes took too long",
            )
        },
        Row {
            when: When::Exchange,
            read: (1 << 10, "what arrived"),
            ..row(
                "it sends bytes one by one for longer than `request_timeout`",
                Behaviour::Drips(
                    format!("{CHUNKED}100000\r\n").into_bytes(),
                    Duration::from_millis(20),
                ),
                "the exchange took too long",
            )
        },
    ]
}

/// Rows about statuses and media types.
fn statuses() -> Vec<Row> {
    let html = "<html>busy</html>";
    let status =
        |status: &str, media: &str, body: &str| Behaviour::Answers(answer(status, media, body));
    let denied = r#"{"errors":[{"message":"who are you?"}]}"#;
    vec![
        row(
            "it answers 200 with HTML",
            status("200 OK", "text/html", html),
            "not of a media type of GraphQL",
        ),
        Row {
            code: "UNAUTHENTICATED",
            ..row(
                "it answers 401",
                status("401 Unauthorized", JSON, denied),
                "the status is 401",
            )
        },
        Row {
            code: "FORBIDDEN",
            ..row(
                "it answers 403",
                status("403 Forbidden", "text/html", html),
                "the status is 403",
            )
        },
        row(
            "it answers 500 with HTML",
            status("500 Oops", "text/html", html),
            "the status is 500",
        ),
        row(
            "it answers 500 with errors as `application/json`",
            status("500 Oops", JSON, denied),
            "the status is 500",
        ),
        Row {
            reason: "who are you?",
            read: (denied.len(), "all"),
            ..row(
                "it answers 500 with errors as `application/graphql-response+json`",
                status("500 Oops", "application/graphql-response+json", denied),
                "",
            )
        },
        row(
            "it redirects to another address",
            Behaviour::Answers(with_headers("302 Found", "location: /\r\n", "")),
            "the status is 302",
        ),
        row(
            "its answer is encoded as nobody asked for",
            Behaviour::Answers(with_headers(
                "200 OK",
                "content-type: application/json\r\ncontent-encoding: br\r\n",
                "x",
            )),
            "encoded",
        ),
    ]
}

/// Rows about size.
fn sizes() -> Vec<Row> {
    let head = format!("{CHUNKED}7fffffff\r\n").into_bytes();
    vec![
        row(
            "its headers have no end",
            Behaviour::Endless(b"HTTP/1.1 200 OK\r\n".to_vec(), b"x-more: more\r\n".to_vec()),
            "the connection failed",
        ),
        row(
            "it announces more than `gateway.limits.subgraphBytes`",
            Behaviour::Endless(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9999999999\r\n\r\n"
                    .to_vec(),
                vec![b' '; 1 << 16],
            ),
            "longer than 1048576 bytes",
        ),
        Row {
            read: (LIMIT + PIECE, "up to the limit"),
            ..row(
                "its body has no end",
                Behaviour::Endless(head, vec![b' '; 1 << 16]),
                "longer than 1048576 bytes",
            )
        },
        Row {
            read: (LIMIT + PIECE, "up to the limit, expanded"),
            ..row(
                "its body is small and expands to more than the limit",
                Behaviour::Answers(with_headers(
                    "200 OK",
                    "content-type: application/json\r\ncontent-encoding: gzip\r\n",
                    bomb(),
                )),
                "longer than 1048576 bytes",
            )
        },
    ]
}

/// Rows about answers that are complete.
fn answers() -> Vec<Row> {
    let response = "not a GraphQL response";
    vec![
        answered(
            "its answer is not JSON, though its media type says so",
            "<html>",
            response,
        ),
        answered("its answer is a list", "[]", response),
        answered(
            "`data` is missing or null, without errors",
            "{}",
            "there are no data",
        ),
        answered(
            "`data` is no object",
            r#"{"data":[]}"#,
            "the data are not an object",
        ),
        answered(
            "`_entities` is missing",
            r#"{"data":{}}"#,
            "the wrong length",
        ),
        answered(
            "`_entities` has another length than was asked for",
            r#"{"data":{"_entities":[{"inStock":true}]}}"#,
            "the wrong length",
        ),
        answered(
            "`_entities` is no list",
            r#"{"data":{"_entities":7}}"#,
            "the wrong length",
        ),
        Row {
            missing: Missing::One,
            code: "SUBGRAPH_VALUE_INVALID",
            ..answered(
                "a value has another type than its field",
                r#"{"data":{"_entities":[{"inStock":"yes"},{"inStock":false}]}}"#,
                "does not fit its type",
            )
        },
        Row {
            missing: Missing::One,
            ..answered(
                "it reports an error of one entity",
                r#"{"data":{"_entities":[{"inStock":null},{"inStock":false}]},"errors":[{"message":"lost","path":["_entities",0,"inStock"]}]}"#,
                "lost",
            )
        },
    ]
}

fn rows() -> Vec<Row> {
    let mut rows = connections();
    rows.extend(statuses());
    rows.extend(sizes());
    rows.extend(answers());
    rows
}

/// The subgraphs that answer as they should.
fn good() -> InProcess {
    let products = json!({ "data": { "topProducts": [
        { "__typename": "Product", "upc": "1", "name": "Table" }, null,
        { "__typename": "Product", "upc": "2", "name": "Chair" },
    ] } });
    let accounts = json!({ "data": { "me": { "id": "1", "name": "Ada" } } });
    InProcess::new()
        .with_function("products", move |_| products.clone())
        .with_function("accounts", move |_| accounts.clone())
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

fn http(url: &str, when: When) -> HttpTransport {
    let mut options = HttpOptions::default();
    if when == When::Idle {
        // The wait for an answer includes that for the connection.
        (options.idle_timeout, options.connect_timeout) = (IDLE / 2, IDLE / 2);
    }
    if when == When::Exchange {
        options.request_timeout = EXCHANGE;
    }
    HttpTransport::new([("inventory", url)], options).unwrap()
}

/// Asks the gateway, and returns its answer with the bytes that `inventory` was allowed.
fn ask(
    inventory: Result<HttpTransport, &'static str>,
    context: RequestContext,
) -> (Json, Arc<Allowance>) {
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
    (response, allowance.unwrap())
}

/// Checks an answer against a row; nothing else is missing, and there is one error.
fn check(row: &Row, response: &Json) {
    let (first, second) = match row.missing {
        Missing::All => (Json::Null, Json::Null),
        Missing::One => (Json::Null, json!(false)),
    };
    let expected = json!({
        "me": { "name": "Ada" },
        "items": [{ "title": "Table", "there": first }, null, { "title": "Chair", "there": second }],
    });
    let fault = row.fault;
    assert_eq!(
        response["data"].to_string(),
        expected.to_string(),
        "{fault}: {response}"
    );
    let errors = response["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 1, "{fault}: {response}");
    let error = &errors[0];
    assert_eq!(error["extensions"]["code"], row.code, "{fault}: {response}");
    let path = match row.missing {
        Missing::All => json!(["items"]),
        Missing::One => json!(["items", 0, "there"]),
    };
    assert_eq!(error["path"], path, "{fault}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(row.reason), "{fault}: {message}");
    assert!(!message.contains("127.0.0.1"), "{fault}: {message}");
}

#[test]
fn each_row_of_the_fault_table_is_true_over_http() {
    for row in rows() {
        let server = Server::start(row.behaviour.clone());
        let url = match row.fault {
            "nobody listens at the address" => nobody(),
            _ => server.url(),
        };
        let timeout = match row.when {
            When::Deadline => DEADLINE,
            _ => Duration::from_secs(30),
        };
        let begun = Instant::now();
        let context = RequestContext::new().with_timeout(timeout);
        let (response, allowance) = ask(Ok(http(&url, row.when)), context);
        let took = begun.elapsed();
        check(&row, &response);
        let wait = match row.when {
            When::AtOnce => Duration::ZERO,
            When::Idle => IDLE,
            When::Exchange => EXCHANGE,
            When::Deadline => DEADLINE,
        };
        let late = wait + Duration::from_secs(10);
        assert!(took >= wait && took < late, "{}: {took:?}", row.fault);
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
