//! What the engine does when a server does not do what it should.

use std::error::Error;
use std::io::Write;
use std::net::TcpListener;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use call_context::{CallContext, CallError};
use outbound::Secret;
use search_index::engine::{
    Binding, Built, BulkOperation, EngineError, EngineHealth, IndexCondition, IndexHealth, Mark,
    PhysicalName, SearchEngine,
};
use search_index::mapping::Owner;
use search_index::opensearch::OpenSearch;

use super::fake::{Fake, options, say, say_with};
use crate::searches::API;

const COUNT: &str = r#"{"count":7,"_shards":{"total":1,"successful":1,"skipped":0,"failed":0}}"#;
const MISSING: &str =
    r#"{"error":{"type":"index_not_found_exception","reason":"no such index [x]"},"status":404}"#;

/// Longest time for what takes a moment.
const PATIENCE: Duration = Duration::from_secs(60);

/// A timeout of what nobody answers.
const SHORT: Duration = Duration::from_millis(200);

/// A timeout that no test waits for.
const NEVER: Duration = Duration::from_secs(600);

fn name() -> PhysicalName {
    PhysicalName::from_engine("svc-x-1")
}

async fn count(engine: &OpenSearch) -> Result<u64, EngineError> {
    engine.count(&name(), &CallContext::new()).await
}

#[tokio::test]
async fn a_server_that_is_busy_is_asked_again() {
    for status in [429, 502, 503, 504] {
        let fake = Fake::saying(&[(status, "{}"), (status, "busy"), (200, COUNT)]);
        assert_eq!(count(&fake.engine()).await.expect("an answer"), 7);
        assert_eq!(fake.requests(), ["GET /svc-x-1/_count"; 3], "{status}");
    }
}

#[tokio::test]
async fn a_server_that_stays_busy_is_asked_a_few_times() {
    let fake = Fake::saying(&[(429, "{}")]);
    let error = count(&fake.engine()).await.expect_err("no answer");
    assert!(matches!(error, EngineError::Overloaded(_)), "{error:?}");
    assert_eq!(fake.requests().len(), 5);
    let fake = Fake::saying(&[(503, "{}")]);
    let error = count(&fake.engine()).await.expect_err("no answer");
    assert!(matches!(error, EngineError::Unavailable(_)), "{error:?}");
    assert_eq!(fake.requests().len(), 5);
}

#[tokio::test]
async fn other_refusals_are_final_and_say_why() {
    let reason =
        r#"{"error":{"type":"t","reason":"why","caused_by":{"type":"c","reason":"because"}}}"#;
    let fake = Fake::saying(&[(400, reason)]);
    let error = count(&fake.engine()).await.expect_err("a refusal");
    let source = error.source().expect("a source").to_string();
    assert!(
        source.ends_with("400 Bad Request: t: why: because"),
        "{source}"
    );
    assert_eq!(fake.requests().len(), 1);
    let error = count(&Fake::saying(&[(404, MISSING)]).engine()).await;
    assert!(matches!(error, Err(EngineError::NotFound { name }) if name == "svc-x-1"));
    // A redirection would take the password elsewhere.
    let error = count(&Fake::saying(&[(302, "")]).engine()).await;
    assert!(matches!(error, Err(EngineError::Failed(_))));
}

#[tokio::test]
async fn a_wrong_password_is_in_no_message() {
    let fake = Fake::start(|_, request, stream| say(stream, 401, request));
    let options = fake.options().with_user("me", Secret::new("open sesame"));
    let engine = OpenSearch::new(options).expect("an engine");
    let error = count(&engine).await.expect_err("a refusal");
    assert!(matches!(error, EngineError::Denied(_)), "{error:?}");
    let text = format!("{error} {error:?} {:?} {engine:?}", error.source());
    // The password, and how it is sent.
    for secret in ["sesame", "b3BlbiBzZXNhbWU", "bWU6b3BlbiBzZXNhbWU="] {
        assert!(!text.contains(secret), "{text}");
    }
    assert_eq!(fake.requests().len(), 1, "it is not tried again");
}

/// A server whose answer has no end.
fn endless() -> Fake {
    Fake::start(|_, _, stream| {
        write!(
            stream,
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
        )?;
        loop {
            let blanks = " ".repeat(1 << 10);
            write!(stream, "{:x}\r\n{blanks}\r\n", blanks.len())?;
            std::thread::sleep(Duration::from_millis(1));
        }
    })
}

#[tokio::test]
async fn an_answer_without_end_ends_at_the_limit() {
    let mut options = endless().options();
    options.max_answer_bytes = 100 << 10;
    let engine = OpenSearch::new(options).expect("an engine");
    let error = count(&engine).await.expect_err("no answer");
    assert!(
        matches!(error, EngineError::AnswerTooLarge { limit: 102_400 }),
        "{error:?}"
    );
    // The size is known before.
    let fake = Fake::start(|_, _, stream| {
        write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-length: 9999999999\r\n\r\n"
        )?;
        std::thread::sleep(NEVER);
        Ok(())
    });
    let error = count(&fake.engine()).await.expect_err("no answer");
    assert!(
        matches!(error, EngineError::AnswerTooLarge { .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn deadlines_cancellation_and_timeouts_end_a_request() {
    let mut patient = endless().options();
    (patient.request_timeout, patient.max_answer_bytes) = (NEVER, u64::MAX);
    let engine = OpenSearch::new(patient).expect("an engine");
    let begun = Instant::now();
    let context = CallContext::new().with_timeout(Duration::from_millis(100));
    let error = engine
        .count(&name(), &context)
        .await
        .expect_err("no answer");
    assert!(
        matches!(error, EngineError::Call(CallError::Deadline)),
        "{error:?}"
    );
    let context = CallContext::new();
    let token = context.cancellation.clone();
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        token.cancel();
    };
    let name = name();
    let (error, ()) = tokio::join!(engine.count(&name, &context), cancel);
    let error = error.expect_err("no answer");
    assert!(
        matches!(error, EngineError::Call(CallError::Cancelled)),
        "{error:?}"
    );
    let mut options = endless().options();
    (options.request_timeout, options.max_retries) = (Duration::from_millis(100), 1);
    let engine = OpenSearch::new(options).expect("an engine");
    let error = count(&engine).await.expect_err("no answer");
    assert!(matches!(error, EngineError::TimedOut(_)), "{error:?}");
    assert!(begun.elapsed() < PATIENCE);
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_no_answer() {
    let fake = Fake::start(|number, _, stream| match number {
        0 => write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{COUNT}"
        ),
        // Without a length the end of the connection is that of the answer.
        1 => write!(stream, "HTTP/1.1 200 OK\r\n\r\n{}", &COUNT[..20]),
        _ => say(stream, 200, COUNT),
    });
    let engine = fake.engine();
    let error = count(&engine).await.expect_err("half an answer");
    assert!(matches!(error, EngineError::Failed(_)), "{error:?}");
    assert_eq!(count(&engine).await.expect("an answer"), 7);
    assert_eq!(fake.requests().len(), 3);
}

#[tokio::test]
async fn a_creation_whose_answer_is_lost_is_not_repeated() {
    let root = r#"{"version":{"number":"3.7.0","distribution":"opensearch"}}"#;
    let fake = Fake::start(move |number, _, stream| match number {
        0 => say(stream, 200, root),
        1 => say(stream, 200, r#"{"nodes":{}}"#),
        _ => Ok(()),
    });
    let definition = &API.indexes().indexes[0];
    let name = name();
    let binding = Binding {
        definition,
        name: &name,
    };
    let created = fake
        .engine()
        .create(binding, &Owner::new("test"), &CallContext::new())
        .await;
    assert!(
        matches!(created, Err(EngineError::Unavailable(_))),
        "{created:?}"
    );
    let paths = fake.paths();
    assert_eq!(paths[2..], ["PUT /svc-x-1"], "{paths:?}");
}

#[tokio::test]
async fn other_engines_and_versions_are_refused_by_name() {
    for (version, found) in [
        (
            r#"{"number":"7.10.2","build_flavor":"default"}"#,
            "an unnamed distribution 7.10.2",
        ),
        (
            r#"{"number":"1.3.20","distribution":"opensearch"}"#,
            "opensearch 1.3.20",
        ),
        (
            r#"{"number":"30.0.0","distribution":"opensearch"}"#,
            "opensearch 30.0.0",
        ),
    ] {
        let fake = Fake::saying(&[(200, &format!(r#"{{"version":{version}}}"#))]);
        let error = fake
            .engine()
            .info(&CallContext::new())
            .await
            .expect_err("a refusal");
        let expected = format!("the search engine is {found}; OpenSearch 2 or 3 is needed");
        assert_eq!(error.to_string(), expected);
    }
}

#[tokio::test]
async fn a_node_that_is_down_is_left_out() {
    let closed = TcpListener::bind("127.0.0.1:0").expect("a port");
    let dead = format!("http://{}", closed.local_addr().expect("an address"));
    drop(closed);
    // This one closes connections without an answer.
    let closing = Fake::start(|_, _, _| Ok(()));
    let fake = Fake::saying(&[(200, COUNT)]);
    let mut options = options(&format!("{dead}, {}, {}", closing.address, fake.address));
    options.aside_interval = PATIENCE;
    let engine = OpenSearch::new(options).expect("an engine");
    for _ in 0..20 {
        assert_eq!(count(&engine).await.expect("an answer"), 7);
    }
    assert_eq!(fake.requests().len(), 20);
    assert_eq!(closing.requests().len(), 1);
}

/// A server that takes requests and never answers.
fn mute() -> Fake {
    Fake::start(|_, _, _| {
        std::thread::sleep(NEVER);
        Ok(())
    })
}

#[tokio::test]
async fn what_a_node_leaves_unanswered_is_asked_of_another_and_not_of_the_same() {
    let (one, other) = (mute(), Fake::saying(&[(200, COUNT)]));
    let engine = |addresses: &str, timeout| {
        let mut options = options(addresses);
        options.request_timeout = timeout;
        OpenSearch::new(options).expect("an engine")
    };
    let addresses = format!("{}, {}", one.address, other.address);
    for _ in 0..3 {
        let mut timeout = SHORT;
        let answer = loop {
            match count(&engine(&addresses, timeout)).await {
                // The machine is so busy that the other node cannot answer in time either.
                Err(EngineError::TimedOut(_)) if timeout < PATIENCE => timeout *= 2,
                answer => break answer,
            }
        };
        assert_eq!(answer.expect("an answer"), 7);
    }
    let nodes = [mute(), mute()];
    let addresses = nodes.each_ref().map(|node| node.address.as_str());
    let engine = engine(&addresses.join(", "), SHORT);
    let error = count(&engine).await.expect_err("no answer");
    assert!(matches!(error, EngineError::TimedOut(_)), "{error:?}");
    // On a busy machine the time of a request may end before it arrives.
    assert!(nodes.iter().all(|node| node.requests().len() <= 1));
}

#[tokio::test]
async fn a_node_is_asked_again_when_it_says() {
    let asked_again = async |status| {
        let fake = Fake::start(move |number, _, stream| match number {
            0 => say_with(stream, status, "retry-after: 1\r\n", "{}"),
            _ => say(stream, 200, COUNT),
        });
        let engine = fake.engine();
        let begun = Instant::now();
        assert_eq!(count(&engine).await.expect("an answer"), 7);
        // The delay of the client alone is 5 ms.
        assert!(begun.elapsed() >= Duration::from_millis(900), "{status}");
        assert_eq!(fake.requests().len(), 2);
    };
    tokio::join!(asked_again(429), asked_again(503));
    // Another node need not be waited for.
    let busy = Fake::start(|_, _, stream| say_with(stream, 429, "retry-after: 3600\r\n", "{}"));
    let other = Fake::saying(&[(200, COUNT)]);
    let engine = options(&format!("{}, {}", busy.address, other.address));
    let engine = OpenSearch::new(engine).expect("an engine");
    for _ in 0..6 {
        assert_eq!(count(&engine).await.expect("an answer"), 7);
    }
    assert_eq!(busy.requests().len(), 1);
}

/// What a cluster says of an index of this name, whose second shard has no primary.
fn red(number: usize, can_allocate: &str) -> String {
    let shards = r#"{"0":{"primary_active":true},"1":{"primary_active":false}}"#;
    match number {
        0 => format!(r#"{{"indices":{{"svc-x-1":{{"shards":{shards}}}}}}}"#),
        _ => format!(
            r#"{{"current_state":"unassigned","can_allocate":"{can_allocate}","allocate_explanation":"why"}}"#
        ),
    }
}

#[tokio::test]
async fn an_index_that_lost_a_shard_is_told_from_one_that_waits_for_it() {
    let why = || "shard 1 is unassigned: why".to_owned();
    for (can_allocate, expected) in [
        ("no_valid_shard_copy", IndexCondition::Lost(why())),
        ("allocation_delayed", IndexCondition::Waiting(why())),
        ("no", IndexCondition::Waiting(why())),
    ] {
        let can_allocate = can_allocate.to_owned();
        let fake =
            Fake::start(move |number, _, stream| say(stream, 200, &red(number, &can_allocate)));
        let found = fake.engine().condition(&name(), &CallContext::new()).await;
        assert_eq!(found.expect("a condition"), expected);
        let paths = fake.paths();
        let expected = [
            "GET /_cluster/health/svc-x-1",
            "POST /_cluster/allocation/explain",
        ];
        assert_eq!(paths, expected);
    }
    let whole = r#"{"indices":{"svc-x-1":{"shards":{"0":{"primary_active":true}}}}}"#;
    let fake = Fake::saying(&[(200, whole)]);
    let found = fake.engine().condition(&name(), &CallContext::new()).await;
    assert_eq!(found.expect("a condition"), IndexCondition::Available);
}

#[tokio::test]
async fn the_engine_is_told_to_give_up_before_its_answer_is() {
    let ours = r#"{"svc-x-1":{"aliases":{},"mappings":{"_meta":{"application":"test","schema":"s","object":"Planet","fingerprint":"f"}}}}"#;
    let fake = Fake::start(move |_, request, stream| {
        if request.starts_with("POST") {
            say(stream, 200, r#"{"items":[{"index":{"status":201}}]}"#)
        } else {
            say(stream, 200, ours)
        }
    });
    let mut options = fake.options();
    options.request_timeout = Duration::from_secs(8);
    let engine = OpenSearch::new(options).expect("an engine");
    let (definition, name, context) = (&API.indexes().indexes[0], name(), CallContext::new());
    let binding = Binding {
        definition,
        name: &name,
    };
    let documents = [super::planet(&crate::schema(crate::searches::SKY), 1)];
    let written = engine
        .bulk(binding, &BulkOperation::all(documents), 0, &context)
        .await;
    assert_eq!(written.expect("an answer"), []);
    engine.delete(&name, &context).await.expect("deleted");
    let requests = fake.requests();
    let find = |method: &str| {
        let found = requests.iter().find(|request| request.starts_with(method));
        found.cloned().unwrap_or_default()
    };
    assert!(find("POST").ends_with("&timeout=4000ms"), "{requests:?}");
    let both = "?cluster_manager_timeout=4000ms&timeout=4000ms";
    assert!(find("DELETE").ends_with(both), "{requests:?}");
}

#[tokio::test]
async fn a_node_that_answers_is_not_left_out_for_an_index_that_is_away() {
    let away = r#"{"error":{"type":"search_phase_execution_exception","reason":"all shards failed"},"status":503}"#;
    let one = Fake::start(move |_, request, stream| {
        if request.contains("svc-x-1") {
            say(stream, 503, away)
        } else {
            say(stream, 200, COUNT)
        }
    });
    let other = Fake::saying(&[(200, COUNT)]);
    let mut options = options(&format!("{}, {}", one.address, other.address));
    options.aside_interval = PATIENCE;
    let engine = OpenSearch::new(options).expect("an engine");
    // The other node may know more of the index.
    assert_eq!(count(&engine).await.expect("an answer"), 7);
    let asked = one.requests().len();
    let present = PhysicalName::from_engine("svc-y-1");
    for _ in 0..4 {
        let counted = engine.count(&present, &CallContext::new()).await;
        assert_eq!(counted.expect("an answer"), 7);
    }
    assert_eq!(
        one.requests().len(),
        asked + 2,
        "the nodes are asked in turn"
    );
}

#[tokio::test]
async fn connections_are_bounded() {
    let (answer, answers) = mpsc::channel::<()>();
    let answers = Mutex::new(answers);
    let fake = Fake::start(move |_, _, stream| {
        let answers = answers.lock().expect("no answer fails");
        let _ = answers.recv_timeout(PATIENCE);
        drop(answers);
        say(stream, 200, COUNT)
    });
    let mut options = fake.options();
    options.max_connections = 2;
    options.max_retries = 0;
    options.access_timeout = SHORT;
    let engine = OpenSearch::new(options).expect("an engine");
    // The others have the connections until this one has been refused.
    let last = async {
        let refused = count(&engine).await;
        drop(answer);
        refused
    };
    let (one, other, last) = tokio::join!(count(&engine), count(&engine), last);
    assert_eq!(one.expect("an answer"), 7);
    assert_eq!(other.expect("an answer"), 7);
    assert!(matches!(last, Err(EngineError::Overloaded(_))), "{last:?}");
}

#[tokio::test]
async fn health_is_what_the_cluster_says_of_the_indexes_that_are_asked_for() {
    let says = r#"{"status":"red","number_of_nodes":1,"number_of_data_nodes":1,"indices":{
        "svc-x-1":{"status":"yellow","initializing_shards":0,"unassigned_shards":1},
        "svc-theirs-1":{"status":"red","initializing_shards":0,"unassigned_shards":1}}}"#;
    let fake = Fake::saying(&[(200, says)]);
    let (engine, context) = (fake.engine(), CallContext::new());
    let health = engine.health(&[name()], &context).await.expect("health");
    let expected = [(name(), IndexHealth::good())];
    assert_eq!(health, EngineHealth::new(1, expected));
    let none = engine.health(&[], &context).await.expect("health");
    assert_eq!(none, EngineHealth::new(1, []));
    let paths = ["GET /_cluster/health/svc-*", "GET /_cluster/health"];
    assert_eq!(fake.paths(), paths);
}

#[tokio::test]
async fn what_is_noted_of_an_index_is_added_to_its_mark() {
    let ours = r#"{"svc-x-1":{"aliases":{},"mappings":{"_meta":{"application":"test","schema":"s","object":"Planet","fingerprint":"f"}}}}"#;
    let bodies = Arc::<Mutex<Vec<String>>>::default();
    let seen = Arc::clone(&bodies);
    let fake = Fake::start(move |_, request, stream| {
        if request.starts_with("PUT") {
            let body = request.rsplit("\r\n").next().unwrap_or_default();
            seen.lock().expect("a lock").push(body.to_owned());
        }
        say(stream, 200, ours)
    });
    let built = Built {
        documents: 3,
        ..Built::default()
    };
    let (engine, name, context) = (fake.engine(), name(), CallContext::new());
    let noted = engine.note_built(&name, &built, &context).await;
    noted.expect("noted");
    assert_eq!(fake.paths()[1..], ["PUT /svc-x-1/_mapping"]);
    let body = bodies.lock().expect("a lock")[0].clone();
    let body: serde_json::Value = serde_json::from_str(&body).expect("JSON");
    let mark: Mark = serde_json::from_value(body["_meta"].clone()).expect("a mark");
    assert_eq!((mark.fingerprint.as_str(), mark.built), ("f", Some(built)));
}

#[tokio::test]
async fn nothing_is_written_to_the_index_of_another_application() {
    let foreign = r#"{"svc-x-1":{"aliases":{},"mappings":{"_meta":{"application":"theirs","schema":"s","object":"Planet","fingerprint":"f"}}}}"#;
    let fake = Fake::saying(&[(200, foreign)]);
    let engine = fake.engine();
    let context = CallContext::new();
    let definition = &API.indexes().indexes[0];
    let name = name();
    let binding = Binding {
        definition,
        name: &name,
    };
    let documents = [super::planet(&crate::schema(crate::searches::SKY), 1)];
    let written = engine
        .bulk(binding, &BulkOperation::all(documents), 0, &context)
        .await;
    assert!(
        matches!(written, Err(EngineError::NotOurs { .. })),
        "{written:?}"
    );
    let deleted = engine.delete(&name, &context).await;
    assert!(
        matches!(deleted, Err(EngineError::NotOurs { .. })),
        "{deleted:?}"
    );
    assert!(
        fake.requests()
            .iter()
            .all(|request| request.starts_with("GET "))
    );
}
