//! What clients are told when a store takes longer than a request may.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use graph_store::image::ImageStore;
use graph_store::query::{Hydrated, HydrationRequest, Objects, Selection};
use graph_store::write::{
    ChangePosition, ChangeRecord, ChangesSince, NewRecord, QuadChange, QuadPattern, RecordQuery,
};
use graph_store::{
    CallContext, GraphStore, LocalStore, StoreError, StoreInfo, Transaction, WriteStore,
};
use oxrdf::Quad;
use serde_json::{Value, json};
use servers::config::Settings;
use tokio::sync::Semaphore;

use crate::images;
use crate::processes::PATIENCE;
use crate::service::Service;

/// How long a request may take, unless the machine is busy.
const TIMEOUT: Duration = Duration::from_millis(250);

/// What takes long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slow {
    /// What is applied.
    Apply,
    /// The answer to the commit, which is carried out at once.
    Commit,
}

/// The embedded store behind something slow.
struct SlowStore {
    inner: ImageStore,
    slow: Slow,
    gate: Arc<Gate>,
    /// Its work is done on threads that may be blocked.
    is_local: bool,
}

/// Where a store waits until the test lets it go on.
struct Gate {
    /// Closed when the store may go on.
    waits: Semaphore,
    reached: Sender<()>,
    ended: Sender<()>,
}

/// What a store tells the test.
struct Told {
    /// It has come to what is slow.
    reached: Receiver<()>,
    /// A transaction has ended.
    ended: Receiver<()>,
}

impl Gate {
    /// Waits, as a store of the kind does.
    async fn pass(&self, is_local: bool) {
        let _ = self.reached.send(());
        if !is_local {
            let _ = self.waits.acquire().await;
        }
        while !self.waits.is_closed() {
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn open(&self) {
        self.waits.close();
    }
}

impl SlowStore {
    fn new(slow: Slow, is_local: bool) -> (Arc<Self>, Told) {
        let (reached, is_reached) = mpsc::channel();
        let (ended, has_ended) = mpsc::channel();
        let gate = Arc::new(Gate {
            waits: Semaphore::new(0),
            reached,
            ended,
        });
        let store = Arc::new(SlowStore {
            inner: images::empty(),
            slow,
            gate,
            is_local,
        });
        let told = Told {
            reached: is_reached,
            ended: has_ended,
        };
        (store, told)
    }

    fn writer_within(&self) -> &dyn WriteStore {
        self.inner.writer().unwrap()
    }
}

#[async_trait]
impl GraphStore for SlowStore {
    async fn select(
        &self,
        selection: &Selection,
        context: &CallContext,
    ) -> Result<Objects, StoreError> {
        self.inner.select(selection, context).await
    }

    async fn hydrate(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Result<Hydrated, StoreError> {
        self.inner.hydrate(request, context).await
    }

    async fn probe(&self, context: &CallContext) -> Result<StoreInfo, StoreError> {
        self.inner.probe(context).await
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        self.is_local.then_some(self as &dyn LocalStore)
    }

    fn writer(&self) -> Option<&dyn WriteStore> {
        Some(self)
    }
}

impl LocalStore for SlowStore {}

#[async_trait]
impl WriteStore for SlowStore {
    async fn begin(&self, context: &CallContext) -> Result<Box<dyn Transaction>, StoreError> {
        Ok(Box::new(SlowTransaction {
            inner: self.writer_within().begin(context).await?,
            slow: self.slow,
            is_local: self.is_local,
            end: AtEnd(Arc::clone(&self.gate)),
        }))
    }

    async fn records(
        &self,
        query: &RecordQuery,
        context: &CallContext,
    ) -> Result<Vec<ChangeRecord>, StoreError> {
        self.writer_within().records(query, context).await
    }

    async fn position(&self, context: &CallContext) -> Result<ChangePosition, StoreError> {
        self.writer_within().position(context).await
    }

    async fn changes_since(
        &self,
        position: &ChangePosition,
        limit: usize,
        context: &CallContext,
    ) -> Result<ChangesSince, StoreError> {
        self.writer_within()
            .changes_since(position, limit, context)
            .await
    }

    async fn last_sequence(&self, context: &CallContext) -> Result<u64, StoreError> {
        self.writer_within().last_sequence(context).await
    }

    async fn forget_records(
        &self,
        before: SystemTime,
        context: &CallContext,
    ) -> Result<u64, StoreError> {
        self.writer_within().forget_records(before, context).await
    }

    fn is_durable(&self) -> bool {
        false
    }
}

struct SlowTransaction {
    inner: Box<dyn Transaction>,
    slow: Slow,
    is_local: bool,
    end: AtEnd,
}

/// Tells the test when it is dropped.
struct AtEnd(Arc<Gate>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        // The test may be over.
        let _ = self.0.ended.send(());
    }
}

#[async_trait]
impl Transaction for SlowTransaction {
    fn view(&self) -> Option<&dyn GraphStore> {
        self.inner.view()
    }

    async fn quads(
        &mut self,
        patterns: &[QuadPattern],
        context: &CallContext,
    ) -> Result<Vec<Quad>, StoreError> {
        self.inner.quads(patterns, context).await
    }

    async fn apply(&mut self, change: QuadChange, context: &CallContext) -> Result<(), StoreError> {
        self.inner.apply(change, context).await?;
        if self.slow == Slow::Apply {
            self.end.0.pass(self.is_local).await;
        }
        Ok(())
    }

    async fn commit(
        self: Box<Self>,
        record: NewRecord,
        context: &CallContext,
    ) -> Result<ChangeRecord, StoreError> {
        let record = self.inner.commit(record, context).await?;
        if self.slow == Slow::Commit {
            self.end.0.pass(self.is_local).await;
        }
        Ok(record)
    }

    async fn roll_back(self: Box<Self>) {
        self.inner.roll_back().await;
    }
}

const PLANET: &str = "https://swapi.co/resource/planet/late";

/// Sends a mutation to a service over a slow store; returns the answer, and the records once all is done.
fn told(slow: Slow, is_local: bool) -> (u16, Value, Vec<ChangeRecord>) {
    let mut timeout = TIMEOUT;
    loop {
        if let Some(told) = told_after(timeout, slow, is_local) {
            return told;
        }
        assert!(timeout < PATIENCE, "the store is never asked");
        timeout *= 2;
    }
}

/// Does so with a timeout of the request; `None` where it was over before the store came to what is slow.
fn told_after(
    request_timeout: Duration,
    slow: Slow,
    is_local: bool,
) -> Option<(u16, Value, Vec<ChangeRecord>)> {
    let settings = Settings {
        request_timeout,
        ..Settings::default()
    };
    let (store, told) = SlowStore::new(slow, is_local);
    let service = Service::over(settings, Arc::clone(&store) as _);
    let mutation = format!(
        "mutation {{ create_Planet(objects: [{{id: \"{PLANET}\", rdfs_label: \"Late\"}}]) {{
            affected_count {{ count }} }} }}"
    );
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/graphql-response+json"),
    ];
    let body = json!({ "query": mutation }).to_string();
    // It does not wait for the store.
    let answer = service.send("POST", "/graphql", &headers, body.as_bytes());
    store.gate.open();
    told.reached.try_recv().ok()?;
    let ended = told.ended.recv_timeout(PATIENCE);
    ended.expect("the transaction ends");
    let query = RecordQuery::After {
        sequence: 0,
        limit: 10,
    };
    let context = CallContext::new();
    let records = futures_of(store.writer_within().records(&query, &context));
    Some((answer.status, answer.json(), records.unwrap()))
}

fn futures_of<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(work)
}

fn commits_late(is_local: bool) {
    let (status, answer, records) = told(Slow::Commit, is_local);
    assert_eq!(status, 504, "{answer}");
    let error = &answer["errors"][0]["extensions"];
    assert_eq!(error["code"], "WRITE_OUTCOME_UNKNOWN", "{answer}");
    assert_eq!(answer["data"], Value::Null);
    assert_eq!(records.len(), 1);
    assert_eq!(error["request"], records[0].said.request, "{answer}");
}

fn is_late_before_the_commit(is_local: bool) {
    let (_, answer, records) = told(Slow::Apply, is_local);
    let error = &answer["errors"][0]["extensions"];
    assert_eq!(error["code"], "DEADLINE_EXCEEDED", "{answer}");
    assert_eq!(records, []);
}

#[test]
fn whoever_does_not_wait_for_a_commit_is_told_that_its_outcome_is_unknown() {
    commits_late(true);
}

#[test]
fn so_it_is_over_a_store_behind_a_network() {
    commits_late(false);
}

#[test]
fn whoever_is_told_that_the_deadline_passed_finds_nothing_written() {
    is_late_before_the_commit(true);
}

#[test]
fn so_it_finds_nothing_over_a_store_behind_a_network() {
    is_late_before_the_commit(false);
}

#[test]
fn a_long_mutation_may_wait_for_a_store_behind_a_network() {
    let (store, told) = SlowStore::new(Slow::Apply, false);
    let gate = Arc::clone(&store.gate);
    thread::spawn(move || {
        let _ = told.reached.recv_timeout(PATIENCE);
        gate.open();
    });
    let service = Service::over(Settings::default(), store);
    let objects = vec![json!({"rdfs_label": "One of many"}); 500];
    let query = "mutation($objects: [Planet_Create_Input!]!) {
        create_Planet(objects: $objects) { affected_count { count } } }";
    let answer = service.post(&json!({ "query": query, "variables": { "objects": objects } }));
    let count = &answer.json()["data"]["create_Planet"]["affected_count"][0]["count"];
    assert_eq!(*count, 500, "{}", answer.text());
}
