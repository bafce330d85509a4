//! Answers that are lost: a change is there once, or not at all, and the caller knows which.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use graph_store::remote::http::{ConnectionOptions, HttpEndpoint, HttpStore};
use graph_store::write::RecordQuery;
use graph_store::{CallContext, GraphStore, StoreError};

use super::{about, begin, change, commit, context, loaded, now, quad, record, text};
use crate::back_end::in_process::Loss;
use crate::back_end::{Kind, Server, Shared};
use crate::faults::endpoint::{Answer, Endpoint, Framing};

#[tokio::test(flavor = "multi_thread")]
async fn an_update_whose_answer_is_lost_is_found_by_its_record_or_never_applied() {
    for (loss, is_applied) in [
        (Loss::After, true),
        (Loss::Before, false),
        (Loss::Late, false),
    ] {
        let shared = loaded(Kind::RemoteApart, &[]);
        let Shared::Here(updates) = &shared else {
            unreachable!()
        };
        let store = shared.instance();
        let new = quad("a", "name", text("new"), None);
        let transaction = begin(&store).await;
        updates.lose(loss);
        let committed = commit(transaction, change(&[], std::slice::from_ref(&new))).await;
        updates.arrive();
        if is_applied {
            assert_eq!(committed.unwrap().sequence, 1);
            assert_eq!(now(&store, &[about("a")]).await, [new]);
            continue;
        }
        assert!(
            matches!(committed, Err(StoreError::Conflict)),
            "{loss:?} {committed:?}"
        );
        assert_eq!(now(&store, &[about("a")]).await, [], "{loss:?}");
        // The sequence that was taken from it is not given again, and readers pass it.
        let repeated = commit(begin(&store).await, change(&[], &[new]))
            .await
            .unwrap();
        assert_eq!(repeated.sequence, 2);
        let query = RecordQuery::After {
            sequence: 0,
            limit: 9,
        };
        let writer = store.writer().unwrap();
        let records = writer.records(&query, &context()).await.unwrap();
        assert_eq!(records, [repeated]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outcome_that_nobody_can_tell_is_unknown_at_the_deadline() {
    let shared = loaded(Kind::RemoteApart, &[]);
    let Shared::Here(updates) = &shared else {
        unreachable!()
    };
    let store = shared.instance();
    let mut time = Duration::from_millis(300);
    let committed = loop {
        let mut transaction = begin(&store).await;
        let new = quad("a", "name", text("new"), None);
        transaction
            .apply(change(&[], &[new]), &context())
            .await
            .unwrap();
        updates.lose(Loss::Down);
        let soon = CallContext::new().with_timeout(time);
        let committed = transaction.commit(record(), &soon).await;
        if updates.is_down() {
            break committed;
        }
        // On a busy machine the time may be over before the update is sent.
        assert!(time < Duration::from_secs(60), "{committed:?}");
        time *= 2;
    };
    assert!(
        matches!(committed, Err(StoreError::OutcomeUnknown(_))),
        "{committed:?}"
    );
}

/// What happens to the next request of some kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// It is not passed on, and there is no answer.
    Before,
    /// It is passed on, and there is no answer.
    After,
    /// The server is gone from then on.
    Down,
    /// It is passed on, and the server is gone from then on.
    DownAfter,
}

/// A server that passes requests on, and cuts the connection at one.
struct Between {
    endpoint: Endpoint,
    cut: Arc<Mutex<Option<(&'static str, Cut)>>>,
}

impl Between {
    async fn start(server: &Server) -> Self {
        let upstream = server.options().addresses.to_string();
        let upstream: reqwest::Url = upstream.parse().unwrap();
        let origin = upstream.origin().ascii_serialization();
        let cut: Arc<Mutex<Option<(&str, Cut)>>> = Arc::default();
        let cuts = Arc::clone(&cut);
        let is_down = std::sync::atomic::AtomicBool::new(false);
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .allow_non_standard_methods(true)
            .build()
            .into();
        let endpoint = Endpoint::start(move |request| {
            let nothing = Answer::new("", "", "").framed(Framing::Cut);
            if is_down.load(std::sync::atomic::Ordering::SeqCst) {
                return nothing;
            }
            let cut = {
                let mut cuts = cuts.lock().unwrap();
                let is_it = cuts
                    .is_some_and(|(part, _)| request.head.lines().next().unwrap().contains(part));
                if is_it {
                    cuts.take().map(|(_, cut)| cut)
                } else {
                    None
                }
            };
            if matches!(cut, Some(Cut::Down | Cut::DownAfter)) {
                is_down.store(true, std::sync::atomic::Ordering::SeqCst);
            }
            if matches!(cut, Some(Cut::Before | Cut::Down)) {
                return nothing;
            }
            let answer = tokio::task::block_in_place(|| pass_on(&agent, &origin, request));
            if cut.is_some() { nothing } else { answer }
        })
        .await;
        Between { endpoint, cut }
    }

    fn cut(&self, part: &'static str, cut: Cut) {
        *self.cut.lock().unwrap() = Some((part, cut));
    }

    fn store(&self, server: &Server) -> Arc<dyn GraphStore> {
        let options = server.options();
        let base: reqwest::Url = options.addresses.to_string().parse().unwrap();
        let address = format!("http://{}{}", self.endpoint.address, base.path());
        let options = ConnectionOptions {
            addresses: address.parse().unwrap(),
            ..options
        };
        Arc::new(HttpStore::new(Arc::new(
            HttpEndpoint::new(options).unwrap(),
        )))
    }
}

fn pass_on(
    agent: &ureq::Agent,
    origin: &str,
    request: &crate::faults::endpoint::Received,
) -> Answer {
    let mut line = request.head.split(' ');
    let (method, path) = (line.next().unwrap(), line.next().unwrap());
    let mut passed = ureq::http::Request::builder()
        .method(method)
        .uri(format!("{origin}{path}"));
    for name in ["content-type", "accept"] {
        if let Some(value) = request.header(name) {
            passed = passed.header(name, value);
        }
    }
    let mut answered = if request.body.is_empty() {
        agent.run(passed.body(()).unwrap()).unwrap()
    } else {
        agent
            .run(passed.body(request.body.clone()).unwrap())
            .unwrap()
    };
    let header = |name: &str| {
        let value = answered.headers().get(name);
        value.map_or(String::new(), |value| value.to_str().unwrap().to_owned())
    };
    let (content_type, location) = (header("content-type"), header("location"));
    let status = answered.status().as_u16();
    let body = answered
        .body_mut()
        .with_config()
        .limit(1 << 30)
        .read_to_vec()
        .unwrap();
    let status = match status {
        200 => "200 OK",
        201 => "201 Created",
        204 => "204 No Content",
        _ => "500 Internal Server Error",
    };
    let mut answer = Answer::new(status, &content_type, "").with("Location", location);
    if status != "204 No Content" {
        answer.body = body;
    }
    answer
}

/// Commits a change whose answer is lost.
async fn lost(server: Server, part: &'static str, cut: Cut) -> (Result<u64, StoreError>, Vec<u64>) {
    let between = Between::start(&server).await;
    let store = between.store(&server);
    let new = quad("a", "name", text("new"), None);
    let mut transaction = begin(&store).await;
    super::read(&mut transaction, &[about("a")]).await;
    transaction
        .apply(change(&[], &[new]), &context())
        .await
        .unwrap();
    between.cut(part, cut);
    // A server that is gone is looked for until the deadline.
    let time = match cut {
        Cut::Down | Cut::DownAfter => Duration::from_secs(3),
        Cut::Before | Cut::After => Duration::from_secs(60),
    };
    let soon = CallContext::new().with_timeout(time);
    let committed = transaction.commit(record(), &soon).await;
    // Seen from another side.
    let shared = Shared::There(server);
    let direct = shared.instance();
    let query = RecordQuery::After {
        sequence: 0,
        limit: 9,
    };
    let records = direct
        .writer()
        .unwrap()
        .records(&query, &context())
        .await
        .unwrap();
    let is_there = !now(&direct, &[about("a")]).await.is_empty();
    assert_eq!(is_there, !records.is_empty(), "{part} {cut:?}");
    let records = records.into_iter().map(|record| record.sequence).collect();
    (committed.map(|record| record.sequence), records)
}

async fn found_out(server: fn() -> Server, part: &'static str) {
    let (committed, records) = lost(server(), part, Cut::After).await;
    assert_eq!((committed.unwrap(), records), (1, vec![1]));
    let (committed, records) = lost(server(), part, Cut::Before).await;
    assert!(
        matches!(committed, Err(StoreError::Conflict)),
        "{committed:?}"
    );
    assert!(records.is_empty(), "{records:?}");
    let (committed, records) = lost(server(), part, Cut::Down).await;
    assert!(
        matches!(committed, Err(StoreError::OutcomeUnknown(_))),
        "{committed:?}"
    );
    assert!(records.is_empty(), "{records:?}");
    let (committed, records) = lost(server(), part, Cut::DownAfter).await;
    assert!(
        matches!(committed, Err(StoreError::OutcomeUnknown(_))),
        "{committed:?}"
    );
    assert_eq!(records, [1]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a running RDF4J server: scripts/servers.sh start"]
async fn a_lost_answer_of_rdf4j_is_found_out() {
    found_out(|| Server::rdf4j(false), "action=COMMIT").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a running Fuseki server: scripts/servers.sh start"]
async fn a_lost_answer_of_fuseki_is_found_out() {
    found_out(Server::fuseki, "/update").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a running RDF4J server: scripts/servers.sh start"]
async fn a_lost_update_of_a_transaction_writes_nothing() {
    for cut in [Cut::Before, Cut::After] {
        let (committed, records) = lost(Server::rdf4j(false), "action=ADD", cut).await;
        assert!(
            matches!(committed, Err(StoreError::Unavailable(_))),
            "{committed:?}"
        );
        assert!(records.is_empty(), "{records:?}");
    }
}
