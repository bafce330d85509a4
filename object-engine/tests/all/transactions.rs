//! What a mutation asks of a store, and what it answers when the store fails or others write too.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use async_trait::async_trait;
use graph_store::image::ImageStore;
use graph_store::query::{Hydrated, HydrationRequest, Objects, Selection};
use graph_store::write::{
    ChangePosition, ChangeRecord, ChangesSince, NewRecord, QuadChange, QuadPattern, RecordQuery,
};
use graph_store::{CallContext, GraphStore, StoreError, StoreInfo, Transaction, WriteStore};
use graphql_gen::typesystem::ApiOptions;
use graphql_service::{Request, RequestContext};
use object_engine::{ObjectService, ServiceOptions};
use oxrdf::Quad;
use oxrdfio::RdfFormat;
use serde_json::Value;

use crate::images;

/// What happens to a commit.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Conflict,
    Unknown,
}

/// The embedded store behind something that counts, hides and fails.
struct Wrapped {
    store: ImageStore,
    fates: Arc<Mutex<VecDeque<Fate>>>,
    steps: Arc<Mutex<Vec<&'static str>>>,
    /// Like a plain SPARQL endpoint, it cannot show what is not committed.
    is_blind: bool,
    is_read_only: bool,
    is_broken_after_commit: Arc<Mutex<bool>>,
}

impl Wrapped {
    fn new(trig: &str) -> Self {
        Wrapped {
            store: images::from_text(RdfFormat::TriG, trig),
            fates: Arc::default(),
            steps: Arc::default(),
            is_blind: false,
            is_read_only: false,
            is_broken_after_commit: Arc::default(),
        }
    }

    fn within(&self) -> &dyn WriteStore {
        let writer = self.store.writer();
        writer.expect("the embedded store is written to")
    }

    fn step(&self, name: &'static str) {
        self.steps.lock().expect("no panic").push(name);
    }
}

#[async_trait]
impl GraphStore for Wrapped {
    async fn select(
        &self,
        selection: &Selection,
        context: &CallContext,
    ) -> Result<Objects, StoreError> {
        self.step("select");
        if self.steps.lock().expect("no panic").contains(&"commit")
            && *self.is_broken_after_commit.lock().expect("no panic")
        {
            return Err(StoreError::Unavailable("gone".into()));
        }
        self.store.select(selection, context).await
    }

    async fn hydrate(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Result<Hydrated, StoreError> {
        self.step("hydrate");
        self.store.hydrate(request, context).await
    }

    async fn probe(&self, context: &CallContext) -> Result<StoreInfo, StoreError> {
        self.store.probe(context).await
    }

    fn writer(&self) -> Option<&dyn WriteStore> {
        (!self.is_read_only).then_some(self)
    }
}

#[async_trait]
impl WriteStore for Wrapped {
    async fn begin(&self, context: &CallContext) -> Result<Box<dyn Transaction>, StoreError> {
        self.step("begin");
        Ok(Box::new(Watched {
            inner: self.within().begin(context).await?,
            fate: self.fates.lock().expect("no panic").pop_front(),
            steps: Arc::clone(&self.steps),
            is_blind: self.is_blind,
        }))
    }

    async fn records(
        &self,
        query: &RecordQuery,
        context: &CallContext,
    ) -> Result<Vec<ChangeRecord>, StoreError> {
        self.within().records(query, context).await
    }

    async fn position(&self, context: &CallContext) -> Result<ChangePosition, StoreError> {
        self.within().position(context).await
    }

    async fn changes_since(
        &self,
        position: &ChangePosition,
        limit: usize,
        context: &CallContext,
    ) -> Result<ChangesSince, StoreError> {
        self.within().changes_since(position, limit, context).await
    }

    async fn last_sequence(&self, context: &CallContext) -> Result<u64, StoreError> {
        self.within().last_sequence(context).await
    }

    async fn forget_records(
        &self,
        before: SystemTime,
        context: &CallContext,
    ) -> Result<u64, StoreError> {
        self.within().forget_records(before, context).await
    }

    fn is_durable(&self) -> bool {
        false
    }
}

struct Watched {
    inner: Box<dyn Transaction>,
    fate: Option<Fate>,
    steps: Arc<Mutex<Vec<&'static str>>>,
    is_blind: bool,
}

impl Watched {
    fn step(&self, name: &'static str) {
        self.steps.lock().expect("no panic").push(name);
    }
}

#[async_trait]
impl Transaction for Watched {
    fn view(&self) -> Option<&dyn GraphStore> {
        if self.is_blind {
            None
        } else {
            self.inner.view()
        }
    }

    async fn quads(
        &mut self,
        patterns: &[QuadPattern],
        context: &CallContext,
    ) -> Result<Vec<Quad>, StoreError> {
        self.step("quads");
        self.inner.quads(patterns, context).await
    }

    async fn apply(&mut self, change: QuadChange, context: &CallContext) -> Result<(), StoreError> {
        self.step("apply");
        self.inner.apply(change, context).await
    }

    async fn commit(
        self: Box<Self>,
        record: NewRecord,
        context: &CallContext,
    ) -> Result<ChangeRecord, StoreError> {
        self.step("commit");
        match self.fate {
            Some(Fate::Conflict) => Err(StoreError::Conflict),
            Some(Fate::Unknown) => Err(StoreError::OutcomeUnknown("lost".into())),
            None => self.inner.commit(record, context).await,
        }
    }

    async fn roll_back(self: Box<Self>) {
        self.step("roll back");
        self.inner.roll_back().await;
    }
}

const SCHEMA: &str = "
id: /soml/transactions
specialPrefixes: {base_iri: 'http://e/', vocab_iri: 'http://v/', vocab_prefix: v}
objects:
  Person: {props: {age: {range: int}, friend: {range: Person, max: inf}, knownBy: {range: Person, inverseAlias: friend, max: inf}}}
";

const DATA: &str = "@prefix : <http://v/> . <http://e/a> a :Person ; :age 1 ; :friend <http://e/b> . <http://e/b> a :Person .";

const CREATE: &str = r#"mutation { create_Person(objects: [{id: "http://e/n", age: 5, friend: [{ids: ["http://e/a"]}]}])
    { affected_count { count } person { age friend { age } } } }"#;

fn service(store: &Arc<Wrapped>) -> ObjectService {
    let options = ServiceOptions::new()
        .with_api(ApiOptions::default().with_mutations(true))
        .with_conflict_retries(2);
    let store: Arc<dyn GraphStore> = Arc::clone(store) as _;
    crate::fixture::service(SCHEMA, store, options)
}

fn answer(store: &Arc<Wrapped>, request: &str) -> Value {
    answer_in(store, request, RequestContext::new())
}

fn answer_in(store: &Arc<Wrapped>, request: &str, context: RequestContext) -> Value {
    let answer = crate::fixture::answer(&service(store), Request::new(request), context);
    crate::fixture::json(&answer)
}

/// Returns the steps so far, without those of reading back.
fn steps(store: &Wrapped) -> Vec<&'static str> {
    store.steps.lock().expect("no panic").clone()
}

fn code(answer: &Value) -> &Value {
    &answer["errors"][0]["extensions"]["code"]
}

fn ages(store: &Arc<Wrapped>) -> Value {
    answer(store, "{ person(orderBy: {id: ASC}) { id age } }")["data"]["person"].clone()
}

#[test]
fn a_new_object_takes_four_round_trips() {
    let store = Arc::new(Wrapped::new(DATA));
    let found = answer(&store, CREATE);
    assert_eq!(found["errors"], Value::Null, "{found}");
    assert_eq!(
        found["data"]["create_Person"]["person"][0]["friend"][0]["age"],
        1
    );
    assert_eq!(steps(&store), ["begin", "quads", "apply", "commit"]);
}

#[test]
fn many_new_objects_take_as_many_round_trips_as_one() {
    let store = Arc::new(Wrapped::new(DATA));
    let people: Vec<String> = (0..500)
        .map(|n| format!(r#"{{id: "http://e/p{n}", age: {n}, friend: [{{ids: ["http://e/a", "http://e/p{}"]}}]}}"#, (n + 1) % 500))
        .collect();
    let request = format!(
        "mutation {{ create_Person(objects: [{}]) {{ affected_count {{ count }} }} }}",
        people.join(",")
    );
    let found = answer(&store, &request);
    assert_eq!(
        found["data"]["create_Person"]["affected_count"][0]["count"], 500,
        "{found}"
    );
    assert_eq!(steps(&store), ["begin", "quads", "apply", "commit"]);
}

#[test]
fn updates_and_deletions_take_at_most_five_round_trips() {
    for request in [
        r#"mutation { update_Person(objects: [{id: "http://e/a", age: 7, friend: null}]) { affected_count { count } } }"#,
        r#"mutation { update_Person(objects: [{id: "http://e/b", knownBy: null}]) { affected_count { count } } }"#,
        r#"mutation { update_Person(where: {age: {EQ: 1}}, objects: [{age: 7}]) { affected_count { count } } }"#,
        r#"mutation { delete_Person(where: {ID: ["http://e/b"]}) { affected_count { count } } }"#,
    ] {
        let store = Arc::new(Wrapped::new(DATA));
        let found = answer(&store, request);
        assert_eq!(found["errors"], Value::Null, "{request}: {found}");
        // Where the transaction has a view, it selects.
        let selects = usize::from(request.contains("where"));
        let taken = steps(&store).len() + selects;
        assert!(taken <= 5, "{request}: {:?}", steps(&store));
    }
}

#[test]
fn a_conflict_repeats_the_whole_request() {
    let store = Arc::new(Wrapped::new(DATA));
    *store.fates.lock().expect("no panic") = VecDeque::from([Fate::Conflict, Fate::Conflict]);
    let found = answer(&store, CREATE);
    assert_eq!(found["errors"], Value::Null, "{found}");
    let one = ["begin", "quads", "apply", "commit"];
    assert_eq!(steps(&store), [one, one, one].concat());
    assert_eq!(ages(&store).as_array().map(Vec::len), Some(3));
}

#[test]
fn conflicts_without_end_are_reported_and_nothing_is_written() {
    let store = Arc::new(Wrapped::new(DATA));
    *store.fates.lock().expect("no panic") = VecDeque::from([Fate::Conflict; 3]);
    let found = answer(&store, CREATE);
    assert_eq!(code(&found), "WRITE_CONFLICT");
    assert_eq!(found["data"], Value::Null);
    assert_eq!(ages(&store).as_array().map(Vec::len), Some(2));
}

#[test]
fn an_unknown_outcome_is_said_and_not_repeated() {
    let store = Arc::new(Wrapped::new(DATA));
    *store.fates.lock().expect("no panic") = VecDeque::from([Fate::Unknown]);
    let found = answer(&store, CREATE);
    assert_eq!(code(&found), "WRITE_OUTCOME_UNKNOWN");
    assert_eq!(steps(&store), ["begin", "quads", "apply", "commit"]);
}

#[test]
fn a_store_that_is_only_read_refuses() {
    let mut store = Wrapped::new(DATA);
    store.is_read_only = true;
    let store = Arc::new(store);
    let found = answer(&store, CREATE);
    assert_eq!(code(&found), "STORE_READ_ONLY");
    assert_eq!(steps(&store), [""; 0]);
}

#[test]
fn what_is_refused_is_rolled_back() {
    let store = Arc::new(Wrapped::new(DATA));
    let found = answer(
        &store,
        r#"mutation { create_Person(objects: [{id: "http://e/a"}]) { affected_count { count } } }"#,
    );
    assert_eq!(code(&found), "ID_NOT_AVAILABLE");
    assert_eq!(steps(&store), ["begin", "quads", "roll back"]);
}

#[test]
fn a_store_without_a_view_is_read_after_the_commit() {
    let mut store = Wrapped::new(DATA);
    store.is_blind = true;
    let store = Arc::new(store);
    let found = answer(&store, CREATE);
    assert_eq!(found["errors"], Value::Null, "{found}");
    assert_eq!(found["data"]["create_Person"]["person"][0]["age"], 5);
    assert_eq!(
        steps(&store)[..5],
        ["begin", "quads", "apply", "commit", "select"]
    );

    let dry = CREATE
        .replace("objects:", "dryRun: true, objects:")
        .replace("http://e/n", "http://e/m");
    assert_eq!(code(&answer(&store, &dry)), "STORE_UNSUPPORTED");
    let counted = dry.replace("person { age friend { age } }", "");
    let found = answer(&store, &counted);
    assert_eq!(
        found["data"]["create_Person"]["affected_count"][0]["count"], 1,
        "{found}"
    );
    assert_eq!(ages(&store).as_array().map(Vec::len), Some(3));

    let late = format!(
        "mutation {{ a: {} b: update_Person(where: {{age: {{EQ: 5}}}}, objects: [{{age: 6}}]) {{ affected_count {{ count }} }} }}",
        CREATE
            .replace("mutation {", "")
            .trim_end_matches('}')
            .replace("http://e/n", "http://e/m"),
    );
    assert_eq!(code(&answer(&store, &late)), "STORE_UNSUPPORTED", "{late}");
}

#[test]
fn a_result_that_cannot_be_read_does_not_hide_that_it_was_written() {
    let mut store = Wrapped::new(DATA);
    store.is_blind = true;
    *store.is_broken_after_commit.lock().expect("no panic") = true;
    let store = Arc::new(store);
    assert_eq!(code(&answer(&store, CREATE)), "READ_BACK_FAILED");
    *store.is_broken_after_commit.lock().expect("no panic") = false;
    assert_eq!(ages(&store).as_array().map(Vec::len), Some(3));
}

#[test]
fn a_repetition_under_a_key_is_carried_out_once() {
    let store = Arc::new(Wrapped::new(DATA));
    let context = || RequestContext::new().with_idempotency_key("k-1");
    let first = answer_in(&store, CREATE, context());
    let again = answer_in(&store, CREATE, context());
    assert_eq!(first["data"], again["data"]);
    assert_eq!(again["extensions"]["idempotentReplay"], true);
    assert_eq!(
        steps(&store)
            .iter()
            .filter(|step| **step == "commit")
            .count(),
        1
    );

    let other = CREATE.replace("age: 5", "age: 6");
    assert_eq!(
        code(&answer_in(&store, &other, context())),
        "IDEMPOTENCY_KEY_REUSED"
    );
    let without = answer(&store, CREATE);
    assert_eq!(code(&without), "ID_NOT_AVAILABLE");
}
