//! What the store in RDF4J does when the server misbehaves, and what each option of the connection changes about it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use graph_store::remote::http::{Secret, ServerKind, ServerType};
use schema_registry::{
    Binding, Expected, LeaseRecord, Rdf4jOptionsError, Rdf4jSchemaOptions, Rdf4jSchemaStore,
    SchemaStore, SchemaStoreError, ServiceKind,
};
use tokio::net::TcpSocket;

use crate::rdf4j_endpoint::{Answer, CONFLICT, Endpoint, PATIENCE, Request, options};

const SHORT: Duration = Duration::from_millis(50);

/// Reads, or makes a change.
pub(crate) async fn call(store: &Rdf4jSchemaStore, is_read: bool) -> Result<(), SchemaStoreError> {
    if is_read {
        store.get("films").await.map(drop)
    } else {
        store.set_binding(ServiceKind::Objects, None).await
    }
}

fn with(endpoint: &Endpoint, change: impl FnOnce(&mut Rdf4jSchemaOptions)) -> Rdf4jSchemaStore {
    let mut options = endpoint.options();
    change(&mut options);
    Rdf4jSchemaStore::new(options).unwrap()
}

/// Answers requests of a kind with a status so many times.
fn failing(
    kind: &'static str,
    status: &'static str,
    times: usize,
) -> impl Fn(&Request) -> Option<Answer> + Send + Sync {
    let failures = AtomicUsize::new(0);
    move |request| {
        let fails = request.kind() == kind && failures.fetch_add(1, Ordering::SeqCst) < times;
        fails.then(|| Answer::status(status)).flatten()
    }
}

/// Returns the error with its sources, as the log has it.
fn logged(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text += &format!(": {cause}");
        source = cause.source();
    }
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_credentials_are_never_sent_again() {
    for (kind, is_read) in [
        ("read", true),
        ("begin", false),
        ("QUERY", false),
        ("UPDATE", false),
        ("COMMIT", false),
    ] {
        for status in ["401 Unauthorized", "403 Forbidden"] {
            let endpoint = Endpoint::rdf4j(failing(kind, status, usize::MAX)).await;
            let store = with(&endpoint, |options| {
                options.connection.max_retries = 3;
                options.connection.retry_http_codes = "4xx; 5xx".parse().unwrap();
                options.connection.username = Some("somebody".to_owned());
                options.connection.credentials = Some(Secret::new("hidden"));
            });
            let error = call(&store, is_read).await.unwrap_err();
            let is_denied = matches!(error, SchemaStoreError::AccessDenied(_));
            assert!(is_denied, "{kind} {status}: {error:?}");
            assert_eq!(endpoint.count(kind), 1, "{:?}", endpoint.sent());
            assert!(!error.to_string().contains("127.0.0.1"), "{error}");
            let logged = logged(&error);
            assert!(
                logged.contains("127.0.0.1") && !logged.contains("hidden"),
                "{logged}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_user_is_sent_with_every_request() {
    let endpoint = Endpoint::rdf4j(|_| None).await;
    endpoint.lose_repository();
    let store = with(&endpoint, |options| {
        options.connection.username = Some("somebody".to_owned());
        options.connection.credentials = Some(Secret::new("hidden"));
    });
    store.probe().await.unwrap();
    call(&store, false).await.unwrap();
    assert_eq!(endpoint.count("create"), 1);
    for request in endpoint.requests() {
        let head = request.head.to_ascii_lowercase();
        assert!(
            head.contains("authorization: basic c29tzwjvzhk6aglkzgvu"),
            "{head}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_and_changes_are_repeated_after_the_statuses_of_the_options_as_often_as_they_say() {
    const BUSY: &str = "503 Service Unavailable";
    const ERROR: &str = "500 Internal Server Error";
    for (kind, is_read) in [
        ("read", true),
        ("begin", false),
        ("QUERY", false),
        ("UPDATE", false),
        ("COMMIT", false),
    ] {
        for (codes, status, times, retries, sent, works) in [
            ("503", BUSY, 1, 1, 2, true),
            ("503", BUSY, 2, 1, 2, false),
            ("503", BUSY, 2, 2, 3, true),
            ("503", BUSY, 1, 0, 1, false),
            ("503", ERROR, 1, 1, 1, false),
            ("5xx", ERROR, 1, 1, 2, true),
            ("50x", ERROR, 1, 1, 2, true),
            ("51x, 50x", BUSY, 1, 1, 2, true),
            ("4xx;51x", ERROR, 1, 1, 1, false),
        ] {
            let endpoint = Endpoint::rdf4j(failing(kind, status, times)).await;
            let store = with(&endpoint, |options| {
                options.connection.retry_http_codes = codes.parse().unwrap();
                options.connection.max_retries = retries;
            });
            let result = call(&store, is_read).await;
            let said = format!("{kind} {codes} {status} {retries}: {:?}", endpoint.sent());
            assert_eq!(endpoint.count(kind), sent, "{said}");
            match (result, works, status) {
                (Ok(()), true, _)
                | (Err(SchemaStoreError::Unavailable(_)), false, BUSY)
                | (Err(SchemaStoreError::Failed(_)), false, ERROR) => {}
                (other, ..) => panic!("{said}: {other:?}"),
            }
            // No transaction stays open, and none is committed after a failure.
            let [begun, ended] = ["begin", "end"].map(|kind| endpoint.count(kind));
            if kind != "begin" && !is_read {
                assert_eq!(ended, begun - usize::from(works), "{said}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_repeated_waits_for_the_interval() {
    for (kind, is_read) in [("read", true), ("begin", false), ("QUERY", false)] {
        let endpoint = Endpoint::rdf4j(failing(kind, "503 Service Unavailable", 2)).await;
        let store = with(&endpoint, |options| {
            options.connection.max_retries = 2;
            options.connection.retry_interval = SHORT;
        });
        let begun = Instant::now();
        call(&store, is_read).await.unwrap();
        assert!(begun.elapsed() >= SHORT * 2, "{kind}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_main_server_is_asked_first_and_the_next_one_when_it_is_down() {
    for is_read in [true, false] {
        let (main, other) = (
            Endpoint::rdf4j(|_| None).await,
            Endpoint::rdf4j(|_| None).await,
        );
        let store = with(&main, |options| {
            let addresses = format!("{}; {}", main.url(), other.url());
            options.connection.addresses = addresses.parse().unwrap();
        });
        call(&store, is_read).await.unwrap();
        assert_eq!((main.sent().is_empty(), other.sent()), (false, vec![]));
        main.change(|_| Some(Answer::Cut));
        call(&store, is_read).await.unwrap();
        assert!(!other.sent().is_empty(), "{is_read}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_for_a_connection_waits_for_so_long() {
    for is_read in [true, false] {
        let endpoint = Endpoint::rdf4j(|_| None).await;
        let store = Arc::new(with(&endpoint, |options| {
            options.connection.max_concurrent_connections = 1;
            options.connection.connection_request_timeout = SHORT;
        }));
        call(&store, true).await.unwrap();
        endpoint.change(|_| Some(Answer::Hangs));
        let first = tokio::spawn({
            let store = Arc::clone(&store);
            async move { call(&store, true).await }
        });
        endpoint.is_asked("read").await;
        let second = call(&store, is_read).await;
        assert!(
            matches!(second, Err(SchemaStoreError::Unavailable(_))),
            "{second:?}"
        );
        assert_eq!(endpoint.requests().len(), 1);
        first.abort();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn silence_ends_a_call_by_the_socket_timeout_or_else_by_the_timeout_of_the_call() {
    for (kind, is_read) in [
        ("read", true),
        ("begin", false),
        ("QUERY", false),
        ("UPDATE", false),
    ] {
        for (socket, all) in [(SHORT, PATIENCE * 10), (Duration::ZERO, SHORT * 4)] {
            let endpoint =
                Endpoint::rdf4j(move |request| (request.kind() == kind).then_some(Answer::Hangs))
                    .await;
            let store = with(&endpoint, |options| {
                options.connection.socket_timeout = socket;
                options.timeout = all;
            });
            let ended = tokio::time::timeout(PATIENCE, call(&store, is_read)).await;
            let ended = ended.expect("it ends");
            let is_unavailable = matches!(ended, Err(SchemaStoreError::Unavailable(_)));
            assert!(is_unavailable, "{kind} {ended:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_cannot_be_connected_to_is_waited_for_until_the_connect_timeout() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    let _listener = socket.listen(1).unwrap();
    // Nobody accepts, so after some connections no more are made.
    let mut made = Vec::new();
    while let Ok(connection) =
        tokio::time::timeout(SHORT * 4, tokio::net::TcpStream::connect(address)).await
    {
        made.push(connection.unwrap());
    }
    for is_read in [true, false] {
        let mut options = options(&format!("http://{address}/r"));
        options.connection.connect_timeout = SHORT;
        options.timeout = PATIENCE * 10;
        let store = Rdf4jSchemaStore::new(options).unwrap();
        let ended = tokio::time::timeout(PATIENCE, call(&store, is_read)).await;
        let error = ended.expect("it ends").unwrap_err();
        assert!(
            matches!(error, SchemaStoreError::Unavailable(_)),
            "{error:?}"
        );
        assert!(logged(&error).contains("connected"), "{}", logged(&error));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_not_there_or_breaks_off_is_unavailable() {
    let endpoint = Endpoint::rdf4j(|_| None).await;
    let absent = endpoint.options();
    drop(endpoint);
    for is_read in [true, false] {
        let refused = call(&Rdf4jSchemaStore::new(absent.clone()).unwrap(), is_read).await;
        assert!(
            matches!(refused, Err(SchemaStoreError::Unavailable(_))),
            "{refused:?}"
        );
        let cut = if is_read { "read" } else { "QUERY" };
        let endpoint =
            Endpoint::rdf4j(move |request| (request.kind() == cut).then_some(Answer::CutResult))
                .await;
        let broken = call(&endpoint.store(), is_read).await;
        assert!(
            matches!(broken, Err(SchemaStoreError::Unavailable(_))),
            "{broken:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_probe_reads_and_writes_each_time() {
    let endpoint = Endpoint::rdf4j(|_| None).await;
    let store = endpoint.store();
    for _ in 0..2 {
        store.probe().await.unwrap();
    }
    assert_eq!(endpoint.sent(), ["read", "update", "read", "update"]);
    let requests = endpoint.requests();
    let update = requests.iter().find(|request| request.kind() == "update");
    let update = &update.unwrap().body;
    let found = "<urn:soml:schemas:probe> <urn:soml:schemas:vocabulary:probe> ?value";
    assert_eq!(update.matches(found).count(), 2, "{update}");
    assert!(
        update.starts_with("DELETE {") && !update.contains("INSERT"),
        "{update}"
    );
    for kind in ["read", "update"] {
        endpoint.change(failing(kind, "403 Forbidden", usize::MAX));
        let denied = store.probe().await;
        assert!(
            matches!(denied, Err(SchemaStoreError::AccessDenied(_))),
            "{denied:?}"
        );
        endpoint.change(failing(kind, "500 Internal Server Error", usize::MAX));
        let failed = store.probe().await;
        assert!(
            matches!(failed, Err(SchemaStoreError::Failed(_))),
            "{failed:?}"
        );
    }
    endpoint.change(|_| None);
    store.probe().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_probe_ends_by_the_timeout_of_health_checks() {
    for kind in ["other", "read", "update", "create"] {
        let endpoint =
            Endpoint::rdf4j(move |request| (request.kind() == kind).then_some(Answer::Hangs)).await;
        endpoint.lose_repository();
        let store = with(&endpoint, |options| {
            options.connection.health_check_timeout = SHORT * 4;
            options.timeout = PATIENCE * 10;
        });
        let ended = tokio::time::timeout(PATIENCE, store.probe()).await;
        let ended = ended.expect("it ends");
        assert!(
            matches!(ended, Err(SchemaStoreError::Unavailable(_))),
            "{kind} {ended:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_whose_answer_is_lost_is_looked_for_or_made_again() {
    let is_mark = |request: &Request| request.kind() == "read" && request.body.contains("?type");
    for lost in [
        Answer::Cut,
        Answer::Says("500 Internal Server Error", "who knows".to_owned()),
        Answer::Says("502 Bad Gateway", String::new()),
    ] {
        // It is found.
        let answer = lost.clone();
        let endpoint = Endpoint::rdf4j(move |request| match request.kind() {
            "COMMIT" => Some(answer.clone()),
            "read" if is_mark(request) => {
                Some(Answer::Row(r#"{"type":{"type":"uri","value":"urn:x"}}"#))
            }
            _ => None,
        })
        .await;
        call(&endpoint.store(), false).await.unwrap();
        let looked = ["begin", "QUERY", "UPDATE", "COMMIT", "end", "read"];
        assert_eq!(endpoint.sent()[..6], looked, "{lost:?}");
        assert_eq!(endpoint.count("begin"), 1);
    }
    // It is not, and is made again once it cannot come any more.
    let commits = AtomicUsize::new(0);
    let endpoint = Endpoint::rdf4j(move |request| {
        let is_first = request.kind() == "COMMIT" && commits.fetch_add(1, Ordering::SeqCst) == 0;
        is_first.then_some(Answer::Cut)
    })
    .await;
    let store = with(&endpoint, |options| options.connection.max_retries = 1);
    call(&store, false).await.unwrap();
    assert_eq!((endpoint.count("begin"), endpoint.count("COMMIT")), (2, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_is_not_found_out_about_is_of_unknown_outcome() {
    let endpoint = Endpoint::rdf4j(|request| match request.kind() {
        "COMMIT" => Some(Answer::Cut),
        "end" | "read" => Answer::status("503 Service Unavailable"),
        _ => None,
    })
    .await;
    let store = with(&endpoint, |options| options.timeout = SHORT * 10);
    let lost = call(&store, false).await.unwrap_err();
    assert!(
        matches!(lost, SchemaStoreError::OutcomeUnknown(_)),
        "{lost:?}"
    );
    assert!(
        lost.is_transient() && !lost.to_string().contains("127.0.0.1"),
        "{lost}"
    );
    assert_eq!(endpoint.count("begin"), 1, "it is not made again");
    // A commit that hangs leaves time to look for it.
    endpoint.change(|request| match request.kind() {
        "COMMIT" => Some(Answer::Hangs),
        "read" => Some(Answer::Row(r#"{"type":{"type":"uri","value":"urn:x"}}"#)),
        _ => None,
    });
    let store = with(&endpoint, |options| {
        options.timeout = Duration::from_secs(4)
    });
    call(&store, false).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_conflicts_is_compared_again() {
    for conflict in ["QUERY", "UPDATE", "COMMIT"] {
        let has_conflicted = AtomicBool::new(false);
        let endpoint = Endpoint::rdf4j(move |request| {
            if request.kind() == conflict && !has_conflicted.swap(true, Ordering::SeqCst) {
                let text = CONFLICT.to_owned();
                return Some(Answer::Says("500 Internal Server Error", text));
            }
            let revision = if has_conflicted.load(Ordering::SeqCst) {
                r#"{"revision":{"type":"literal","value":"two"}}"#
            } else {
                r#"{"revision":{"type":"literal","value":"one"}}"#
            };
            (request.kind() == "QUERY").then_some(Answer::Row(revision))
        })
        .await;
        let one = Expected::revision("one");
        let replaced = endpoint.store().replace("films", "x: 1".into(), &one).await;
        let is_mismatch = matches!(replaced, Err(SchemaStoreError::RevisionMismatch));
        assert!(is_mismatch, "{conflict} {replaced:?}");
        let sent = endpoint.sent();
        let at = sent.iter().position(|kind| *kind == conflict).unwrap();
        assert_eq!(
            sent[at + 1..],
            ["end", "begin", "QUERY", "COMMIT"],
            "{sent:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_always_conflicts_is_given_up() {
    let endpoint = Endpoint::rdf4j(|request| {
        let conflict = Answer::Says("500 Internal Server Error", CONFLICT.to_owned());
        (request.kind() == "COMMIT").then_some(conflict)
    })
    .await;
    let given_up = call(&endpoint.store(), false).await;
    assert!(
        matches!(given_up, Err(SchemaStoreError::Unavailable(_))),
        "{given_up:?}"
    );
    assert_eq!(endpoint.count("begin"), endpoint.count("end"));
    assert!((2..100).contains(&endpoint.count("begin")));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_written_where_a_comparison_fails() {
    let endpoint = Endpoint::rdf4j(|_| None).await;
    let store = endpoint.store();
    let replaced = store
        .replace("films", "".into(), &Expected::default())
        .await;
    assert!(
        matches!(replaced, Err(SchemaStoreError::NotFound)),
        "{replaced:?}"
    );
    let record = LeaseRecord {
        holder: "a".to_owned(),
        number: 1,
        beat: 0,
    };
    assert!(!store.swap_lease("x", Some(&record), &record).await.unwrap());
    assert!(!store.unbind(ServiceKind::Search, "films").await.unwrap());
    // RDF4J keeps the memory of some that are rolled back.
    assert_eq!(endpoint.count("begin"), endpoint.count("COMMIT"));
    assert_eq!(endpoint.count("UPDATE") + endpoint.count("end"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_bound_is_one_query() {
    let endpoint = Endpoint::rdf4j(|_| None).await;
    let store = endpoint.store();
    assert!(store.is_shared());
    let state = store.binding_state(ServiceKind::Objects).await.unwrap();
    assert_eq!(state.binding, Binding::Unknown);
    assert_eq!(endpoint.sent(), ["read"]);
    assert!(
        !endpoint.requests()[1].body.contains("text"),
        "no text is read"
    );
    store.list().await.unwrap();
    let requests = endpoint.requests();
    assert!(!requests.last().unwrap().body.contains("vocabulary:text"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_other_programs_have_damaged_is_named() {
    const TWO: &str = r#"{"text":{"type":"literal","value":"x"},"revision":{"type":"literal","value":"1"}},
        {"text":{"type":"literal","value":"x"},"revision":{"type":"literal","value":"2"}}"#;
    let seen = Arc::new(Mutex::new(String::new()));
    let last = Arc::clone(&seen);
    let endpoint = Endpoint::rdf4j(move |request| {
        if request.kind() == "UPDATE" {
            last.lock().unwrap().clone_from(&request.body);
        }
        let is_read = matches!(request.kind(), "read" | "QUERY");
        is_read.then_some(Answer::Row(TWO))
    })
    .await;
    let store = endpoint.store();
    let damaged = store.get("films").await.unwrap_err();
    assert!(
        logged(&damaged).contains("<urn:soml:schemas:schema:films>"),
        "{}",
        logged(&damaged)
    );
    // Whoever sends it again mends it.
    let replaced = store
        .replace("films", "y: 1".into(), &Expected::default())
        .await;
    assert_eq!(&*replaced.unwrap().text, "y: 1");
    assert!(seen.lock().unwrap().contains("y: 1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_another_protocol_is_refused() {
    let endpoint = Endpoint::rdf4j(|request| {
        let is_query = request.line.starts_with("POST ");
        is_query
            .then_some(Answer::Row(""))
            .or_else(|| Answer::status("404 Not Found"))
    })
    .await;
    for is_read in [true, false] {
        let error = call(&endpoint.store(), is_read).await.unwrap_err();
        assert!(matches!(error, SchemaStoreError::Failed(_)), "{error:?}");
        assert!(
            logged(&error).contains("RDF4J's protocol"),
            "{}",
            logged(&error)
        );
    }
}

#[test]
fn options_that_cannot_work_are_refused() {
    let refused = |change: fn(&mut Rdf4jSchemaOptions)| {
        let mut options = options("http://127.0.0.1:1/r");
        change(&mut options);
        match Rdf4jSchemaStore::new(options) {
            Ok(_) => panic!("it is accepted"),
            Err(error) => error,
        }
    };
    type Error = Rdf4jOptionsError;
    for (error, is_right) in [
        (
            refused(|options| options.application.clear()),
            (|error| matches!(error, Error::NoApplication)) as fn(&Error) -> bool,
        ),
        (
            refused(|options| options.timeout = Duration::ZERO),
            |error| matches!(error, Error::NoTimeout),
        ),
        (
            refused(|options| options.connection.addresses = "".parse().unwrap()),
            |error| matches!(error, Error::Connection(_)),
        ),
        (
            refused(|options| {
                options.connection.server = ServerType::Known(ServerKind::Fuseki);
            }),
            |error| matches!(error, Error::Server { kind: "fuseki" }),
        ),
        (
            refused(|options| options.connection.repository = Some("a\"b".to_owned())),
            |error| matches!(error, Error::RepositoryName { .. }),
        ),
        (
            refused(|options| options.repository_config = Some("[".to_owned())),
            |error| matches!(error, Error::ConfigSyntax { .. }),
        ),
    ] {
        assert!(is_right(&error), "{error:?}");
    }
    assert_eq!(Rdf4jSchemaOptions::new("app").repository(), "svc-system");
    let mut own = options("http://127.0.0.1:1/r");
    own.connection.repository = Some("a b".to_owned());
    own.auto_create_repository = false;
    assert!(own.validate().is_ok(), "it is not created");
}
