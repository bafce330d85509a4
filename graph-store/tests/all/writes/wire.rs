//! What is sent to a server of RDF4J's protocol, request by request.

use call_context::CallError;
use std::sync::Arc;
use std::time::Duration;

use graph_store::remote::http::{
    ConnectionOptions, HttpEndpoint, HttpStore, ServerKind, ServerType,
};
use graph_store::{CallContext, GraphStore, StoreError};

use super::{about, change, quad, record, text};
use crate::faults::endpoint::{Answer, Endpoint, Received};

const NO_ROWS: &str = r#"{"head":{"vars":["s","p","o","g","n"]},"results":{"bindings":[]}}"#;
const CONFLICT: &str =
    "Transaction handling error: org.eclipse.rdf4j.sail.SailConflictException: x";
const ERROR: &str = "500 Internal Server Error";

/// Answers as RDF4J does, unless `fault` answers.
fn server(request: &Received, fault: impl Fn(&str) -> Option<Answer>) -> Answer {
    let line = request.head.lines().next().unwrap();
    if let Some(answer) = fault(line) {
        return answer;
    }
    let json = "application/sparql-results+json";
    if line.starts_with("POST /r/repositories/x/transactions?") {
        return Answer::new("201 Created", "text/plain", "").with(
            "Location",
            "http://elsewhere/r/repositories/x/transactions/t%201",
        );
    }
    if line.contains("action=UPDATE") || line.starts_with("DELETE ") {
        return Answer::new("204 No Content", "text/plain", "");
    }
    if line.contains("action=ADD") || line.contains("action=COMMIT") {
        return Answer::new("200 OK", "text/plain", "");
    }
    Answer::new("200 OK", json, NO_ROWS)
}

fn store(endpoint: &Endpoint, kind: ServerKind) -> Arc<dyn GraphStore> {
    let options = ConnectionOptions {
        addresses: format!("http://{}/r", endpoint.address).parse().unwrap(),
        repository: Some("x".to_owned()),
        server: ServerType::Known(kind),
        max_retries: 2,
        retry_interval: Duration::from_millis(5),
        ..ConnectionOptions::default()
    };
    Arc::new(HttpStore::new(Arc::new(
        HttpEndpoint::new(options).unwrap(),
    )))
}

/// How long a test waits for what must happen, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(60);

fn context() -> CallContext {
    until(PATIENCE)
}

fn until(time: Duration) -> CallContext {
    CallContext::new()
        .with_timeout(time)
        .with_request_id("the-request")
}

/// Returns what was sent, in short.
fn sent(endpoint: &Endpoint) -> Vec<String> {
    let short = |request: &Received| {
        let line = request.head.lines().next().unwrap();
        let known = [
            "action=QUERY",
            "action=UPDATE",
            "action=ADD",
            "action=COMMIT",
            "DELETE",
            "transactions",
            "statements",
        ];
        let found = known.into_iter().find(|part| line.contains(part));
        found
            .unwrap_or("read")
            .trim_start_matches("action=")
            .to_owned()
    };
    endpoint.requests().iter().map(short).collect()
}

/// Adds a quad, and returns what came of it when the transaction has ended.
async fn write(store: &Arc<dyn GraphStore>) -> Result<u64, StoreError> {
    write_by("action=ADD", store).await
}

/// Makes a change in which there is a request; one by an update removes a quad too.
async fn write_by(action: &str, store: &Arc<dyn GraphStore>) -> Result<u64, StoreError> {
    write_within(PATIENCE, action, store).await
}

/// Makes such a change, for which there is so much time once the transaction has begun.
async fn write_within(
    time: Duration,
    action: &str,
    store: &Arc<dyn GraphStore>,
) -> Result<u64, StoreError> {
    let mut transaction = store.writer().unwrap().begin(&context()).await?;
    transaction.quads(&[about("a")], &context()).await?;
    let context = until(time);
    let [old, new] = ["old", "new"].map(|name| quad("a", "name", text(name), None));
    let removed = (action == "action=UPDATE").then_some(old);
    let change = change(removed.as_slice(), &[new]);
    transaction.apply(change, &context).await?;
    Ok(transaction.commit(record(), &context).await?.sequence)
}

/// Waits until a request has come.
async fn until_sent(endpoint: &Endpoint, what: &str, times: usize) {
    let count = || sent(endpoint).iter().filter(|one| *one == what).count();
    let came = async {
        while count() < times {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let came = tokio::time::timeout(PATIENCE, came).await;
    assert!(came.is_ok(), "{:?}", sent(endpoint));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_begun_read_updated_and_committed() {
    let endpoint = Endpoint::start(|request| server(request, |_| None)).await;
    let store = store(&endpoint, ServerKind::Rdf4j);
    assert_eq!(write_by("action=UPDATE", &store).await.unwrap(), 1);
    assert_eq!(write(&store).await.unwrap(), 2);
    // The first of a process makes those that are still open conflict, and asks which sequence is next.
    let change = [
        "statements",
        "read",
        "transactions",
        "QUERY",
        "UPDATE",
        "COMMIT",
    ];
    let addition = ["transactions", "QUERY", "ADD", "COMMIT"];
    assert_eq!(sent(&endpoint), [&change[..], &addition[..]].concat());
    let requests = endpoint.requests();
    let line = |number: usize| requests[number].head.lines().next().unwrap();
    assert_eq!(
        line(2),
        "POST /r/repositories/x/transactions?transaction-setting__org.eclipse.rdf4j.\
         IsolationLevel=SERIALIZABLE HTTP/1.1"
    );
    // The address that the server thinks it has is not used.
    let query = "PUT /r/repositories/x/transactions/t%25201?action=QUERY&infer=false&timeout=";
    let time = line(3).strip_prefix(query);
    let time = time.and_then(|rest| rest.strip_suffix(" HTTP/1.1")?.parse().ok());
    let is_left = time.is_some_and(|time| (1..=PATIENCE.as_secs()).contains(&time));
    assert!(is_left, "{}", line(3));
    let content_type = |number: usize| requests[number].header("content-type").unwrap();
    assert_eq!(content_type(3), "application/sparql-query; charset=utf-8");
    assert_eq!(content_type(4), "application/sparql-update; charset=utf-8");
    assert_eq!(content_type(8), "application/n-quads; charset=utf-8");
    let added = &requests[8].body;
    let line_of_data = "<http://e/a> <http://e/name> \"new\" .\n";
    assert!(added.contains(line_of_data), "{added}");
    assert!(
        requests[1..]
            .iter()
            .all(|request| request.header("x-request-id") == Some("the-request"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_is_rolled_back_at_once_and_never_committed() {
    for (part, text, is_conflict) in [
        ("action=QUERY", "broken", false),
        ("action=UPDATE", "broken", false),
        ("action=UPDATE", CONFLICT, true),
        ("action=ADD", "broken", false),
        ("action=ADD", CONFLICT, true),
        ("action=COMMIT", CONFLICT, true),
        ("action=COMMIT", "disk full", false),
    ] {
        let endpoint = Endpoint::start(move |request| {
            server(request, |line| {
                line.contains(part)
                    .then(|| Answer::new(ERROR, "text/plain", text))
            })
        })
        .await;
        let store = store(&endpoint, ServerKind::Rdf4j);
        match write_by(part, &store).await {
            Err(StoreError::Conflict) if is_conflict => {}
            Err(StoreError::Failed(error)) if !is_conflict => {
                assert!(error.to_string().contains(text), "{error}");
            }
            other => panic!("{part} {text}: {other:?}"),
        }
        until_sent(&endpoint, "DELETE", 1).await;
        let sent = sent(&endpoint);
        let failed = part.trim_start_matches("action=");
        let at = sent.iter().position(|one| one == failed).unwrap();
        assert_eq!(sent[at + 1], "DELETE", "{sent:?}");
        assert!(!sent[at + 1..].contains(&"COMMIT".to_owned()), "{sent:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_is_dropped_is_rolled_back_before_the_next_begins() {
    let endpoint = Endpoint::start(|request| server(request, |_| None)).await;
    let store = store(&endpoint, ServerKind::Rdf4j);
    let mut transaction = store.writer().unwrap().begin(&context()).await.unwrap();
    transaction.quads(&[about("a")], &context()).await.unwrap();
    // Dropped where there is no runtime.
    std::thread::spawn(move || drop(transaction))
        .join()
        .unwrap();
    write(&store).await.unwrap();
    let expected = [
        "statements",
        "read",
        "transactions",
        "QUERY",
        "DELETE",
        "transactions",
    ];
    assert_eq!(sent(&endpoint)[..6], expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadline_within_a_transaction_rolls_it_back() {
    let endpoint = Endpoint::start(|request| {
        server(request, |line| {
            let late = line.contains("action=ADD");
            late.then(|| Answer::new("200 OK", "text/plain", "").after(PATIENCE * 10))
        })
    })
    .await;
    let store = store(&endpoint, ServerKind::Rdf4j);
    let written = write_within(Duration::from_millis(300), "action=ADD", &store).await;
    assert!(
        matches!(written, Err(StoreError::Call(CallError::Deadline))),
        "{written:?}"
    );
    until_sent(&endpoint, "DELETE", 1).await;
    assert!(!sent(&endpoint).contains(&"COMMIT".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_is_sent_again_only_if_it_was_certainly_not_done() {
    for (status, times) in [
        ("429 Too Many Requests", 3),
        ("425 Too Early", 3),
        ("408 Request Timeout", 3),
        ("503 Service Unavailable", 1),
        ("502 Bad Gateway", 1),
        ("500 Internal Server Error", 1),
        ("400 Bad Request", 1),
        ("403 Forbidden", 1),
    ] {
        for part in ["action=UPDATE", "action=ADD", "action=COMMIT"] {
            let endpoint = Endpoint::start(move |request| {
                server(request, |line| {
                    line.contains(part)
                        .then(|| Answer::new(status, "text/plain", "no"))
                })
            })
            .await;
            let store = store(&endpoint, ServerKind::Rdf4j);
            write_by(part, &store).await.unwrap_err();
            until_sent(&endpoint, "DELETE", 1).await;
            let sent = sent(&endpoint);
            let short = part.trim_start_matches("action=");
            let count = sent.iter().filter(|one| *one == short).count();
            assert_eq!(count, times, "{status} {part} {sent:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_lets_both_of_two_racing_writers_win_is_refused() {
    let endpoint = Endpoint::start(|request| server(request, |_| None)).await;
    // Every commit is said to have worked.
    let store = store(&endpoint, ServerKind::GraphDb);
    let written = write(&store).await;
    assert!(
        matches!(written, Err(StoreError::NotIsolated(_))),
        "{written:?}"
    );
    let sent = sent(&endpoint);
    assert_eq!(
        sent.iter().filter(|one| *one == "COMMIT").count(),
        7,
        "{sent:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_said_not_to_keep_writers_apart_is_not_written_to() {
    let endpoint = Endpoint::start(|request| server(request, |_| None)).await;
    let options = ConnectionOptions {
        addresses: format!("http://{}/r", endpoint.address).parse().unwrap(),
        server: ServerType::Known(ServerKind::Rdf4j),
        is_isolated: false,
        ..ConnectionOptions::default()
    };
    let store: Arc<dyn GraphStore> = Arc::new(HttpStore::new(Arc::new(
        HttpEndpoint::new(options).unwrap(),
    )));
    let written = write(&store).await;
    assert!(
        matches!(written, Err(StoreError::NotIsolated(_))),
        "{written:?}"
    );
    assert!(endpoint.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_without_an_address_for_updates_is_read_only() {
    let endpoint = Endpoint::healthy().await;
    let options = ConnectionOptions {
        addresses: endpoint.url().parse().unwrap(),
        server: ServerType::Known(ServerKind::Sparql11),
        ..ConnectionOptions::default()
    };
    let with = |options| HttpStore::new(Arc::new(HttpEndpoint::new(options).unwrap()));
    assert!(with(options.clone()).writer().is_none());
    let options = ConnectionOptions {
        update_addresses: endpoint.url().parse().unwrap(),
        ..options
    };
    assert!(with(options).writer().is_some());
}
