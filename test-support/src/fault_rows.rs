//! The rows of the fault table: what a subgraph does, and what the gateway makes of it. The gateway as a process is
//! held to the same rows.

use std::io::Write as _;
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::sockets::{Behaviour, answer, with_headers};

/// When the gateway knows of a fault.
#[derive(Clone, Copy, PartialEq)]
pub enum When {
    AtOnce,
    Idle,
    Exchange,
    Deadline,
}

/// What is missing of the answer.
#[derive(Clone, Copy, PartialEq)]
pub enum Missing {
    /// All fields that the subgraph was asked for.
    All,
    /// The one value that is wrong.
    One,
}

/// A row of the table.
pub struct Row {
    pub fault: &'static str,
    pub behaviour: Behaviour,
    pub missing: Missing,
    pub code: &'static str,
    /// A part of the message.
    pub reason: &'static str,
    pub when: When,
    /// Most bytes that are read, and how the table says it.
    pub read: (usize, &'static str),
    /// The answer, where the fault is in nothing else.
    pub text: Option<&'static str>,
}

/// Limit on the answer of one subgraph.
pub const LIMIT: usize = 1 << 20;
/// Bytes that arrive in one piece, at most.
const PIECE: usize = 1 << 19;

pub const QUERY: &str = "{ me { name } items: topProducts { title: name there: inStock } }";
const JSON: &str = "application/json";
const DOWN: &str = "DOWNSTREAM_SERVICE_ERROR";

const NOBODY: &str = "nobody listens at the address";

impl Row {
    /// Returns whether there is no server that could do anything.
    pub fn is_about_nobody(&self) -> bool {
        self.fault == NOBODY
    }
}

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
            NOBODY,
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
            read: (1 << 16, "what arrived"),
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
            "not have a GraphQL media type",
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
pub fn answers() -> Vec<Row> {
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

pub fn rows() -> Vec<Row> {
    let mut rows = connections();
    rows.extend(statuses());
    rows.extend(sizes());
    rows.extend(answers());
    rows
}

/// What the subgraphs `products` and `accounts` answer, as they should.
pub fn products() -> Json {
    json!({ "data": { "topProducts": [
        { "__typename": "Product", "upc": "1", "name": "Table" }, null,
        { "__typename": "Product", "upc": "2", "name": "Chair" },
    ] } })
}

pub fn accounts() -> Json {
    json!({ "data": { "me": { "id": "1", "name": "Ada" } } })
}

/// Checks an answer against a row; nothing else is missing, and there is one error.
pub fn check(row: &Row, response: &Json) {
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
    let named = match row.code {
        // It is found when the answer is written, of which all subgraphs are a part.
        "SUBGRAPH_VALUE_INVALID" => Json::Null,
        _ => json!("inventory"),
    };
    assert_eq!(error["extensions"]["serviceName"], named, "{fault}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(row.reason), "{fault}: {message}");
    assert!(!message.contains("127.0.0.1"), "{fault}: {message}");
}
