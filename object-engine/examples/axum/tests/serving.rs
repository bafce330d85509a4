//! The example as a user starts it, and the handlers of `async-graphql-axum` over TCP.

mod client;
mod stores;

use graph_store::call_context::CallError;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use client::{Server, get, multipart, post, post_as};
use graph_store::StoreError;
use serde_json::{Value, json};
use stores::{Waiting, books};
use tokio_tungstenite::tungstenite::Message;

/// A program that ends with the test.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        self.0.kill().expect("the program runs until now");
        self.0.wait().expect("the program ends");
    }
}

#[test]
fn the_application_answers_from_a_schema_and_a_data_file() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/examples");
    let mut program = Command::new(env!("CARGO_BIN_EXE_example-axum"));
    let program = program.arg(examples.join("books.yaml"));
    let program = program
        .arg(examples.join("books.ttl"))
        .stdout(Stdio::piped());
    let mut program = Program(program.spawn().expect("the program starts"));
    let output = program.0.stdout.take().expect("its output is piped");
    let (sender, said) = channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = BufReader::new(output).read_line(&mut line);
        sender.send(read.map(|_| line))
    });
    let address = said.recv_timeout(client::PATIENCE);
    let address = address.expect("it says something").expect("a line");
    let request = json!({"query": "{ book(orderBy: {year: ASC}, limit: 1) { title } }"});
    let answer = post(address.trim(), &request.to_string());
    assert_eq!(answer, r#"{"data":{"book":[{"title":"Hamlet"}]}}"#);
}

const QUERY: &str = "query Q($year: Integer) {
    book(where: {year: {EQ: $year}}) { year title author { name } }
}";
const HAMLET: &str = r#"{"data":{"book":[{"year":"1603","title":"Hamlet","author":{"name":"William Shakespeare"}}]}}"#;

#[test]
fn get_and_post_answer() {
    let server = Server::start(books(), None);
    let variables = r#"{"year": 1603}"#;
    let parameters = [("query", QUERY), ("variables", variables)];
    assert_eq!(get(&server.graphql(), &parameters), HAMLET);
    let body = json!({"query": QUERY, "variables": {"year": 1603}});
    assert_eq!(post(&server.graphql(), &body.to_string()), HAMLET);
}

#[test]
fn errors_keep_place_and_code() {
    let server = Server::start(books(), None);
    let body = json!({"query": "{\n  book { titel }\n}"});
    let answer: Value =
        serde_json::from_str(&post(&server.graphql(), &body.to_string())).expect("JSON");
    let error = &answer["errors"][0];
    assert_eq!(error["locations"], json!([{"line": 2, "column": 10}]));
    assert_eq!(error["extensions"]["code"], "GRAPHQL_VALIDATION_FAILED");
}

#[test]
fn a_batch_is_answered_in_its_order() {
    let server = Server::start(books(), None);
    let titles = json!({"query": "{ book(orderBy: {year: ASC}) { title } }"});
    let one = json!({"query": QUERY, "operationName": "Q", "variables": {"year": 1603}});
    let answer = post(&server.graphql(), &json!([titles, one]).to_string());
    let expected =
        r#"{"data":{"book":[{"title":"Hamlet"},{"title":"The Tempest"},{"title":"Faust"}]}}"#;
    assert_eq!(answer, format!("[{expected},{HAMLET}]"));
}

#[test]
fn multipart_requests_answer_unless_they_bring_files() {
    let server = Server::start(books(), None);
    let operations = json!({"query": QUERY, "variables": {"year": 1603}}).to_string();
    let fields = [("operations", operations.as_str()), ("map", "{}")];
    assert_eq!(multipart(&server.graphql(), &fields, None), HAMLET);
    let map = r#"{"0": ["variables.year"]}"#;
    let fields = [("operations", operations.as_str()), ("map", map)];
    let answer = multipart(&server.graphql(), &fields, Some("0"));
    assert!(answer.contains("REQUEST_UNSUPPORTED"), "{answer}");
}

#[test]
fn a_client_of_multipart_mixed_gets_one_part() {
    let server = Server::start(books(), None);
    let body = json!({"query": QUERY, "variables": {"year": 1603}}).to_string();
    let answer = post_as(&server.graphql(), "multipart/mixed", &body);
    let data = HAMLET.trim_end_matches('}');
    assert_eq!(answer.matches(data).count(), 1, "{answer}");
}

#[test]
fn a_web_socket_answers_a_query_and_ends_it() {
    for protocol in ["graphql-transport-ws", "graphql-ws"] {
        let (start, next) = match protocol {
            "graphql-ws" => ("start", "data"),
            _ => ("subscribe", "next"),
        };
        let server = Server::start(books(), None);
        let mut socket = server.socket(protocol);
        let payload = json!({"query": QUERY, "variables": {"year": 1603}});
        let message = json!({"type": start, "id": "7", "payload": payload});
        socket.send(&message);
        let answer = socket.receive();
        let wanted: Value = serde_json::from_str(HAMLET).expect("JSON");
        assert_eq!(
            answer,
            json!({"type": next, "id": "7", "payload": wanted}),
            "{protocol}"
        );
        assert_eq!(socket.receive(), json!({"type": "complete", "id": "7"}));
    }
}

#[test]
fn the_time_of_the_executor_reaches_the_store() {
    let mut time = Duration::from_millis(50);
    let work = loop {
        let (service, work) = Waiting::service();
        let server = Server::start(service, Some(time));
        let body = json!({"query": "{ book { title } }"});
        let answer = post(&server.graphql(), &body.to_string());
        assert!(answer.contains("DEADLINE_EXCEEDED"), "{answer}");
        if work.begun.try_recv().is_ok() {
            break work;
        }
        // On a busy machine the time may be over before the store is asked.
        assert!(time < client::PATIENCE, "the store is not asked");
        time *= 2;
    };
    let error = work.ended.recv_timeout(client::PATIENCE).expect("it ends");
    assert!(
        matches!(error, StoreError::Call(CallError::Deadline)),
        "{error}"
    );
}

#[test]
fn work_stops_when_the_client_of_a_post_goes_away() {
    let (service, work) = Waiting::service();
    let server = Server::start(service, None);
    let body = json!({"query": "{ book { title } }"}).to_string();
    let connection = server.post_without_reading(&body);
    let begun = work.begun.recv_timeout(client::PATIENCE);
    begun.expect("it begins");
    drop(connection);
    let error = work.ended.recv_timeout(client::PATIENCE).expect("it ends");
    assert!(
        matches!(error, StoreError::Call(CallError::Cancelled)),
        "{error}"
    );
}

#[test]
fn work_stops_when_a_web_socket_ends_the_operation_or_closes() {
    for leave in [
        Message::text(r#"{"type": "complete", "id": "1"}"#),
        Message::Close(None),
    ] {
        let (service, work) = Waiting::service();
        let server = Server::start(service, None);
        let mut socket = server.socket("graphql-transport-ws");
        let payload = json!({"query": "{ book { title } }"});
        socket.send(&json!({"type": "subscribe", "id": "1", "payload": payload}));
        let begun = work.begun.recv_timeout(client::PATIENCE);
        begun.expect("it begins");
        // Messages are still answered.
        socket.send(&json!({"type": "ping"}));
        assert_eq!(socket.receive(), json!({"type": "pong"}));
        socket.send_message(leave);
        let error = work.ended.recv_timeout(client::PATIENCE).expect("it ends");
        assert!(
            matches!(error, StoreError::Call(CallError::Cancelled)),
            "{error}"
        );
    }
}
