//! Three roles at once: each is answered as the model answers it with the rights of that role, and so are
//! commits that fail by a conflict and are repeated.
//!
//! The model refuses what a role may not write, and shows what it may read. So an answer that is that of the
//! model shows nothing else: neither objects, nor counts, nor which of them stand in the way.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::SystemTime;

use async_trait::async_trait;
use graph_store::query::{Hydrated, HydrationRequest, Objects, Selection, Window};
use graph_store::write::{
    ChangePosition, ChangeRecord, ChangesSince, NewRecord, QuadChange, QuadPattern, RecordQuery,
};
use graph_store::{
    CallContext, GraphStore, LocalStore, StoreError, StoreFeatures, StoreInfo, Transaction,
    Windowed, WriteStore,
};
use graphql_gen::typesystem::ApiOptions;
use graphql_service::Caller;
use graphql_service::RequestContext;
use object_engine::ServiceOptions;
use oxrdf::{Quad, Term};
use serde_json::Value;
use tokio::sync::Barrier;

use super::answer::{codes_of, difference};
use super::request::Request;
use super::rules::{Answer, State, carry_out};
use super::sequential::shown;
use super::subject::{Subject, changes_of};
use crate::back_end::Kind;
use crate::differential::random::Random;
use crate::differential::random_tests::{count, setting};
use crate::differential::reference::Model;
use crate::fixture;

const ROLES: [&str; 3] = ["A", "B", "C"];

/// Of a hundred commits, how many fail by a conflict.
const CONFLICTS: usize = 60;

/// A store some of whose commits conflict with writers elsewhere.
struct Contended {
    inner: Arc<dyn GraphStore>,
    seed: u64,
    commits: Arc<AtomicU64>,
}

impl Contended {
    fn writer_within(&self) -> &dyn WriteStore {
        self.inner.writer().expect("a store that is written to")
    }
}

#[async_trait]
impl GraphStore for Contended {
    async fn select(
        &self,
        selection: &Selection,
        context: &CallContext,
    ) -> Result<Objects, StoreError> {
        self.inner.select(selection, context).await
    }

    async fn count(&self, selection: &Selection, context: &CallContext) -> Result<u64, StoreError> {
        self.inner.count(selection, context).await
    }

    async fn select_window(
        &self,
        selection: &Selection,
        window: &Window,
        context: &CallContext,
    ) -> Result<Windowed, StoreError> {
        self.inner.select_window(selection, window, context).await
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

    fn features(&self) -> StoreFeatures {
        self.inner.features()
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        self.inner.local()
    }

    fn writer(&self) -> Option<&dyn WriteStore> {
        Some(self)
    }
}

#[async_trait]
impl WriteStore for Contended {
    async fn begin(&self, context: &CallContext) -> Result<Box<dyn Transaction>, StoreError> {
        let inner = self.writer_within().begin(context).await?;
        let number = self.commits.fetch_add(1, Ordering::SeqCst);
        let fails =
            Random::new(self.seed.wrapping_mul(1_000).wrapping_add(number)).chance(CONFLICTS);
        Ok(Box::new(Contest { inner, fails }))
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

    fn as_returned(&self, term: Term) -> Term {
        self.writer_within().as_returned(term)
    }

    fn is_durable(&self) -> bool {
        false
    }
}

struct Contest {
    inner: Box<dyn Transaction>,
    fails: bool,
}

#[async_trait]
impl Transaction for Contest {
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
        self.inner.apply(change, context).await
    }

    async fn commit(
        self: Box<Self>,
        record: NewRecord,
        context: &CallContext,
    ) -> Result<ChangeRecord, StoreError> {
        if self.fails {
            self.inner.roll_back().await;
            return Err(StoreError::Conflict);
        }
        self.inner.commit(record, context).await
    }

    async fn roll_back(self: Box<Self>) {
        self.inner.roll_back().await;
    }
}

/// A mutation by a role, and how it went.
struct Event {
    request: Request,
    role: &'static str,
    /// When it was sent and answered, in the order of all such moments.
    start: usize,
    end: usize,
    actual: Value,
    sequence: Option<u64>,
}

/// The answers to each role.
#[derive(Default)]
struct Tally(BTreeMap<&'static str, BTreeMap<String, usize>>);

impl Tally {
    fn count(&mut self, event: &Event) {
        let counts = self.0.entry(event.role).or_default();
        let mut codes = codes_of(&event.actual);
        codes.dedup();
        if codes.is_empty() {
            codes.push("carried out".to_owned());
        }
        for code in codes {
            *counts.entry(code).or_default() += 1;
        }
    }

    fn of(&self, what: &str) -> usize {
        let roles = self.0.values();
        roles.filter_map(|counts| counts.get(what)).sum()
    }
}

/// Sends the requests of all roles at once, those of each one after the other.
fn race(subject: &Subject, requests: Vec<Vec<Request>>) -> Vec<Event> {
    let clock = Arc::new(AtomicUsize::new(0));
    let barrier = Arc::new(Barrier::new(requests.len()));
    let runtime = fixture::runtime();
    let writers = requests.into_iter().zip(ROLES).map(|(requests, role)| {
        let (clock, barrier) = (Arc::clone(&clock), Arc::clone(&barrier));
        let service = Arc::clone(&subject.service);
        let sent = requests.iter().map(|request| subject.sent(request));
        let sent: Vec<_> = sent.collect();
        runtime.spawn(async move {
            barrier.wait().await;
            let mut events = Vec::new();
            for (number, (request, sent)) in requests.into_iter().zip(sent).enumerate() {
                let mut context = RequestContext::new();
                context.idempotency_key = Some(format!("{role}-{number}"));
                context.caller = Some(Arc::new(Caller::with_roles([role])));
                let start = clock.fetch_add(1, Ordering::SeqCst);
                let answer = service.execute(sent, context).await.body.to_vec();
                let end = clock.fetch_add(1, Ordering::SeqCst);
                events.push(Event {
                    request,
                    role,
                    start,
                    end,
                    actual: fixture::json(&answer),
                    sequence: None,
                });
            }
            events
        })
    });
    let writers: Vec<_> = writers.collect();
    let mut all = Vec::new();
    for writer in writers {
        let events = runtime.block_on(writer).expect("a writer does not panic");
        for (number, mut event) in events.into_iter().enumerate() {
            let key = super::concurrent::kept_key(&format!("{}-{number}", event.role));
            event.sequence = sequence_of(subject, key);
            all.push(event);
        }
    }
    all
}

fn sequence_of(subject: &Subject, key: String) -> Option<u64> {
    let store = subject.store();
    let writer = store.writer().expect("a store that is written to");
    let context = CallContext::new();
    let query = RecordQuery::IdempotencyKey(key);
    let records = fixture::runtime().block_on(writer.records(&query, &context));
    let records = records.expect("records are read");
    records.first().map(|record| record.sequence)
}

/// Carries out the mutations in the model, each with the rights of its role.
fn replay(seed: u64, subject: &Subject, mut events: Vec<Event>, tally: &mut Tally) {
    let models: HashMap<&str, Model<'_>> = ROLES
        .into_iter()
        .map(|role| (role, Model::of(&subject.schema, &[role.to_owned()])))
        .collect();
    events.sort_by_key(|event| (event.sequence.unwrap_or(u64::MAX), event.start));
    let (committed, others): (Vec<&Event>, Vec<&Event>) =
        events.iter().partition(|event| event.sequence.is_some());
    let fail = |event: &Event, why: &str| -> ! {
        let document = event.request.document(&subject.schema);
        let (soml, actual, role) = (&subject.soml, &event.actual, event.role);
        panic!("MODEL_SEED={seed} MODEL_CASES=1 as {role}\n{soml}\n{document}\n{actual:#}\n{why}");
    };
    let mut states: Vec<State> = vec![subject.start.clone()];
    let records = subject.records(0);
    for event in &committed {
        let (before, model) = (states.last().expect("the first one"), &models[event.role]);
        let expected = carry_out(model, before, &event.request);
        if let Some(difference) = difference(model, &event.request, &expected, &event.actual) {
            fail(event, &format!("{}\n{difference}", shown(before)));
        }
        let Answer::Done(done) = expected else {
            fail(event, "it is written");
        };
        let mut records = records.iter();
        let record = records.find(|record| Some(record.sequence) == event.sequence);
        if record.map(changes_of) != Some(done.changes.clone()) {
            fail(
                event,
                &format!("{record:?} does not say {:?}", done.changes),
            );
        }
        states.push(done.state);
    }
    for event in &others {
        if is_conflict(&event.actual) {
            continue;
        }
        let first = committed.iter().filter(|other| other.end < event.start);
        let (first, model) = (first.count(), &models[event.role]);
        let last = committed.iter().position(|other| other.start > event.end);
        let last = last.unwrap_or(committed.len()).max(first);
        let explains = |state: &State| {
            let expected = carry_out(model, state, &event.request);
            let is_written = matches!(expected, Answer::Done(_)) && !event.request.is_dry_run();
            !is_written && difference(model, &event.request, &expected, &event.actual).is_none()
        };
        if !states[first..=last].iter().any(explains) {
            let expected = carry_out(model, &states[first], &event.request);
            let why = difference(model, &event.request, &expected, &event.actual);
            fail(
                event,
                &format!("no state of {first} to {last} explains it: {why:?}"),
            );
        }
    }
    let (stored, end) = (subject.quads(), states.last().expect("the first one"));
    let only = |a: &State, b: &State| shown(&a.difference(b).cloned().collect());
    assert!(
        stored == *end,
        "MODEL_SEED={seed}: something else is stored; more: {}\nless: {}",
        only(&stored, end),
        only(end, &stored)
    );
    events.iter().for_each(|event| tally.count(event));
}

/// Returns whether an answer says that there was a conflict, and nothing but that.
fn is_conflict(actual: &Value) -> bool {
    if codes_of(actual) != ["WRITE_CONFLICT"] {
        return false;
    }
    let error = &actual["errors"][0];
    let members = error["extensions"].as_object().expect("a code");
    assert!(actual["data"].is_null() && members.len() == 1, "{actual}");
    assert!(error.get("path").is_none(), "{actual}");
    true
}

#[expect(clippy::print_stdout, reason = "the figures are for people to read")]
fn run(full: u64, kind: Kind) {
    let first = setting("MODEL_SEED", 1);
    let sequences = count("MODEL_CASES", full);
    let mut tally = Tally::default();
    for seed in first..first + sequences {
        let mut subject = Subject::new(seed, kind, true);
        let store: Arc<dyn GraphStore> = Arc::new(Contended {
            inner: subject.store(),
            seed,
            commits: Arc::default(),
        });
        let options = ServiceOptions::new()
            .with_api(ApiOptions::default().with_mutations(true))
            .with_roles_enforced(true)
            .with_conflict_retries(2);
        subject.service = Arc::new(fixture::service(&subject.soml, store, options));
        let start = subject.start.clone();
        let mut requests: Vec<Vec<Request>> = vec![Vec::new(); ROLES.len()];
        for at in 0..subject.random.between(6, 18) {
            let request = subject.request(&start);
            requests[at % ROLES.len()].push(request);
        }
        let events = race(&subject, requests);
        replay(seed, &subject, events, &mut tally);
    }
    println!("{sequences} sequences: {:?}", tally.0);
    for code in [
        "carried out",
        "ACCESS_DENIED",
        "WRITE_CONFLICT",
        "REFERENCE_NOT_FOUND",
    ] {
        assert!(tally.of(code) > 0, "nothing is answered by {code}");
    }
}

#[test]
fn three_roles_at_once_write_and_see_what_they_may() {
    run(200, Kind::Image);
}

#[test]
fn so_they_do_with_changes() {
    run(100, Kind::WrittenImage);
}
