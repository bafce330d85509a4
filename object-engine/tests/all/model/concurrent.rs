//! Four writers at once: the change records say in which order their mutations took effect, and the model,
//! which carries them out in this order, answers alike.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::sync::Barrier;

use super::answer::{codes_of, difference};
use super::request::Request;
use super::rules::{Answer, State, carry_out};
use super::sequential::shown;
use super::subject::{Subject, changes_of};
use crate::back_end::Kind;
use crate::differential::random_tests::{count, setting};
use crate::differential::reference::Model;
use crate::fixture;
use graphql_service::RequestContext;

const WRITERS: usize = 4;

/// A mutation, and how it went.
struct Event {
    request: Request,
    /// When it was sent and answered, in the order of all such moments.
    start: usize,
    end: usize,
    actual: Value,
    /// Its place among the records, where it was committed.
    sequence: Option<u64>,
}

#[derive(Default)]
struct Tally {
    requests: usize,
    committed: usize,
    overlapping: usize,
    conflicts: usize,
}

/// Returns the key under which the service keeps that of a client without a name.
pub(super) fn kept_key(key: &str) -> String {
    let mut hash = Sha256::new();
    for text in ["", key] {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.finalize().iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Sends the requests of all writers at once, those of each one after the other.
fn race(subject: &Subject, requests: Vec<Vec<Request>>) -> Vec<Event> {
    let clock = Arc::new(AtomicUsize::new(0));
    let barrier = Arc::new(Barrier::new(requests.len()));
    let runtime = fixture::runtime();
    let writers = requests.into_iter().enumerate().map(|(writer, requests)| {
        let (clock, barrier) = (Arc::clone(&clock), Arc::clone(&barrier));
        let service = Arc::clone(&subject.service);
        let sent: Vec<_> = requests
            .iter()
            .map(|request| subject.sent(request))
            .collect();
        runtime.spawn(async move {
            barrier.wait().await;
            let mut events = Vec::new();
            for (number, (request, sent)) in requests.into_iter().zip(sent).enumerate() {
                let context = RequestContext::new();
                let context = context.with_idempotency_key(format!("{writer}-{number}"));
                let start = clock.fetch_add(1, Ordering::SeqCst);
                // Others begin in the meantime, also where one core does everything.
                tokio::task::yield_now().await;
                let answer = service.execute(sent, context).await.body.to_vec();
                let end = clock.fetch_add(1, Ordering::SeqCst);
                let actual = fixture::json(&answer);
                events.push(Event {
                    request,
                    start,
                    end,
                    actual,
                    sequence: None,
                });
            }
            events
        })
    });
    let writers: Vec<_> = writers.collect();
    let records = |events: Vec<Vec<Event>>| {
        let known = subject.records(0).into_iter().filter_map(|record| {
            let key = record.said.idempotency_key.clone()?;
            Some((key, record.sequence))
        });
        let known: HashMap<String, u64> = known.collect();
        let mut all = Vec::new();
        for (writer, events) in events.into_iter().enumerate() {
            for (number, mut event) in events.into_iter().enumerate() {
                let key = kept_key(&format!("{writer}-{number}"));
                event.sequence = known.get(&key).copied();
                all.push(event);
            }
        }
        all
    };
    records(runtime.block_on(async {
        let mut events = Vec::new();
        for writer in writers {
            events.push(writer.await.expect("a writer does not panic"));
        }
        events
    }))
}

/// Replays what four writers did in the order of the records.
fn replay(seed: u64, subject: &Subject, mut events: Vec<Event>, tally: &mut Tally) {
    let model = Model::new(&subject.schema);
    events.sort_by_key(|event| (event.sequence.unwrap_or(u64::MAX), event.start));
    let (committed, others): (Vec<&Event>, Vec<&Event>) =
        events.iter().partition(|event| event.sequence.is_some());
    let fail = |event: &Event, why: &str| -> ! {
        let document = event.request.document(&subject.schema);
        let (soml, actual) = (&subject.soml, &event.actual);
        panic!("MODEL_SEED={seed} MODEL_CASES=1\n{soml}\n{document}\n{actual:#}\n{why}");
    };
    let mut touched: HashMap<usize, BTreeSet<String>> = HashMap::new();
    let mut states: Vec<State> = vec![subject.start.clone()];
    let records = subject.records(0);
    for (at, event) in committed.iter().enumerate() {
        if let Some(later) = committed[..at].iter().find(|other| other.start > event.end) {
            fail(
                event,
                &format!("sequence {:?} had not begun", later.sequence),
            );
        }
        let before = states.last().expect("the first one");
        let expected = carry_out(&model, before, &event.request);
        if let Some(difference) = difference(&model, &event.request, &expected, &event.actual) {
            fail(event, &format!("{}\n{difference}", shown(before)));
        }
        let Answer::Done(done) = expected else {
            fail(event, "a record says that it was committed");
        };
        let record = records
            .iter()
            .find(|record| Some(record.sequence) == event.sequence);
        if record.map(changes_of) != Some(done.changes.clone()) {
            fail(
                event,
                &format!("{record:?} does not say {:?}", done.changes),
            );
        }
        let objects = done.changes.iter().map(|(_, _, id)| id.clone());
        touched.entry(event.start).or_default().extend(objects);
        states.push(done.state);
    }
    for event in &others {
        // What is not committed was answered by what held at some moment while it was open.
        let first = committed
            .iter()
            .filter(|other| other.end < event.start)
            .count();
        let before = committed
            .iter()
            .take_while(|other| other.start < event.end)
            .count();
        let last = committed[..]
            .iter()
            .position(|other| other.start > event.end)
            .unwrap_or(committed.len())
            .max(before);
        if codes_of(&event.actual).contains(&"WRITE_CONFLICT".to_owned()) {
            tally.conflicts += 1;
            continue;
        }
        let explains = |state: &State| {
            let expected = carry_out(&model, state, &event.request);
            let is_written = matches!(expected, Answer::Done(_)) && !event.request.is_dry_run();
            !is_written && difference(&model, &event.request, &expected, &event.actual).is_none()
        };
        if !states[first..=last].iter().any(explains) {
            let expected = carry_out(&model, &states[first], &event.request);
            let why = difference(&model, &event.request, &expected, &event.actual);
            fail(
                event,
                &format!("no state of {first} to {last} explains it: {why:?}"),
            );
        }
    }
    let end = states.last().expect("the first one");
    let stored = subject.quads();
    assert!(
        stored == *end,
        "MODEL_SEED={seed}: {} is stored, and not {}",
        shown(&stored.difference(end).cloned().collect()),
        shown(&end.difference(&stored).cloned().collect())
    );
    tally.requests += events.len();
    tally.committed += committed.len();
    let named = |event: &Event| {
        let document = event.request.document(&subject.schema);
        let ids = document
            .split('"')
            .filter(|text| text.starts_with("http://e/T"));
        let mut ids: BTreeSet<String> = ids.map(str::to_owned).collect();
        ids.extend(touched.get(&event.start).into_iter().flatten().cloned());
        ids
    };
    let named: Vec<BTreeSet<String>> = events.iter().map(named).collect();
    for (at, event) in events.iter().enumerate() {
        let meets = events.iter().enumerate().any(|(other, of)| {
            let is_open = of.start < event.end && event.start < of.end;
            other != at && is_open && !named[at].is_disjoint(&named[other])
        });
        tally.overlapping += usize::from(meets);
    }
}

#[expect(clippy::print_stdout, reason = "the figures are for people to read")]
fn run(full: u64, kind: Kind) {
    let first = setting("MODEL_SEED", 1);
    let mut tally = Tally::default();
    let sequences = count("MODEL_CASES", full);
    for seed in first..first + sequences {
        let mut subject = Subject::new(seed, kind, false);
        let start = subject.start.clone();
        let mut requests: Vec<Vec<Request>> = vec![Vec::new(); WRITERS];
        for at in 0..subject.random.between(5, 20) {
            let request = subject.request(&start);
            requests[at % WRITERS].push(request);
        }
        let events = race(&subject, requests);
        replay(seed, &subject, events, &mut tally);
    }
    let Tally {
        requests,
        committed,
        overlapping,
        conflicts,
    } = tally;
    println!(
        "{sequences} sequences, {requests} requests, {committed} committed, {overlapping} beside an open one \
         about the same object, {conflicts} conflicts"
    );
    assert!(overlapping * 100 >= requests * 30, "too few requests meet");
}

#[test]
fn four_writers_take_effect_in_the_order_of_the_records() {
    run(300, Kind::Image);
}

#[test]
fn so_they_do_with_changes() {
    run(300, Kind::WrittenImage);
}

#[test]
fn so_they_do_over_an_image_in_a_folder() {
    run(100, Kind::Folder);
}

#[test]
#[ignore = "needs a running RDF4J Server named by RDF4J_URL"]
fn so_they_do_over_rdf4j() {
    run(30, Kind::Rdf4j { infers: false });
}
