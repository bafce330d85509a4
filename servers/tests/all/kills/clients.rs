//! Clients that write, each to batches of its own, while processes are killed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;

use super::batches::{Batch, Step};
use crate::random::Random;

const CLIENTS: usize = 4;

/// Time that a client waits for an answer, more than any request may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// Codes after which nothing may be written.
const REFUSALS: &[&str] = &[
    "DEADLINE_EXCEEDED",
    "STORE_FAILED",
    "STORE_UNAVAILABLE",
    "WRITE_CONFLICT",
];

/// How often something happened.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts(BTreeMap<String, u64>);

impl Counts {
    fn count(&mut self, what: &str) {
        *self.0.entry(what.to_owned()).or_default() += 1;
    }

    pub(super) fn add(&mut self, other: &Counts) {
        for (what, count) in &other.0 {
            *self.0.entry(what.clone()).or_default() += count;
        }
    }
}

/// How a request was answered.
#[derive(Debug)]
enum Outcome {
    Done,
    Refused(String),
    /// There was no answer, or it said that the outcome is unknown.
    Unknown,
    /// No request may be answered like this.
    Wrong(String),
}

/// Running clients.
pub(super) struct Clients {
    stage: Arc<Stage>,
    threads: Vec<JoinHandle<()>>,
}

/// What clients and the test share.
#[derive(Default)]
struct Stage {
    state: Mutex<State>,
    changed: Condvar,
    stamp: AtomicU64,
}

#[derive(Default)]
struct State {
    /// The address of the service, while requests may be sent.
    base: Option<String>,
    /// Requests that are not answered.
    busy: usize,
    has_ended: bool,
    batches: BTreeMap<String, Batch>,
    counts: Counts,
    wrong: Vec<String>,
}

impl Stage {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Waits until a request may be sent; returns where to, or `None` at the end.
    fn enter(&self) -> Option<String> {
        let must_wait = |state: &mut State| state.base.is_none() && !state.has_ended;
        let mut state = self.changed.wait_while(self.state(), must_wait).unwrap();
        if state.has_ended {
            return None;
        }
        state.busy += 1;
        self.changed.notify_all();
        state.base.clone()
    }

    /// Keeps what a request has come to.
    fn leave(&self, batch: &Batch, outcome: &Outcome) {
        let mut state = self.state();
        state.busy -= 1;
        state.batches.insert(batch.name.clone(), batch.clone());
        match outcome {
            Outcome::Done => state.counts.count("carried out"),
            Outcome::Refused(code) => state.counts.count(code),
            Outcome::Unknown => state.counts.count("unknown"),
            Outcome::Wrong(why) => state.wrong.push(why.clone()),
        }
        self.changed.notify_all();
    }
}

impl Clients {
    /// Starts clients that wait for [`Clients::open`].
    pub(super) fn start(seed: u64) -> Self {
        let stage = Arc::<Stage>::default();
        let threads = (0..CLIENTS).map(|number| {
            let stage = Arc::clone(&stage);
            let random = Random::new(seed.wrapping_add(number as u64));
            thread::spawn(move || Client::new(stage, number).run(random))
        });
        Clients {
            threads: threads.collect(),
            stage,
        }
    }

    /// Lets the clients write to the service at an address, and waits until they have begun.
    pub(super) fn open(&self, base: &str) {
        let mut state = self.stage.state();
        state.base = Some(base.to_owned());
        self.stage.changed.notify_all();
        let is_idle = |state: &mut State| state.busy == 0;
        let wait = self
            .stage
            .changed
            .wait_timeout_while(state, PATIENCE, is_idle);
        assert!(!wait.unwrap().1.timed_out(), "the clients do not begin");
    }

    /// Lets the clients begin nothing new.
    pub(super) fn wait_for_address(&self) {
        self.stage.state().base = None;
    }

    pub(super) fn are_busy(&self) -> bool {
        self.stage.state().busy > 0
    }

    /// Lets the clients begin nothing new, and waits until they have ended what they do.
    pub(super) fn pause(&self) {
        self.wait_for_address();
        let is_busy = |state: &mut State| state.busy > 0;
        let (state, changed) = (self.stage.state(), &self.stage.changed);
        let waited = changed.wait_timeout_while(state, 2 * PATIENCE, is_busy);
        let (state, timeout) = waited.unwrap();
        assert!(!timeout.timed_out(), "a client does not end");
        assert!(state.wrong.is_empty(), "{}", state.wrong.join("\n"));
    }

    /// Returns all batches so far.
    pub(super) fn batches(&self) -> Vec<Batch> {
        self.stage.state().batches.values().cloned().collect()
    }

    /// Ends the clients.
    pub(super) fn end(self) -> Counts {
        self.stage.state().has_ended = true;
        self.stage.changed.notify_all();
        for thread in self.threads {
            thread.join().unwrap();
        }
        self.stage.state().counts.clone()
    }
}

struct Client {
    stage: Arc<Stage>,
    number: usize,
    agent: ureq::Agent,
}

impl Client {
    fn new(stage: Arc<Stage>, number: usize) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE));
        Client {
            stage,
            number,
            agent: config.build().into(),
        }
    }

    /// Writes one batch after the other.
    fn run(&self, mut random: Random) {
        for serial in 0.. {
            let name = format!("b{}-{serial}", self.number);
            let mut batch = Batch::new(name, &mut random);
            loop {
                let stamp = self.stage.stamp.fetch_add(1, Ordering::SeqCst) + 1;
                let Some(step) = batch.next(stamp, &mut random) else {
                    break;
                };
                if !self.carry_out(&mut batch, step) {
                    return;
                }
                // Under the key of the request it is safe to repeat it.
                if batch.open.is_some() && random.chance(50) && !self.carry_out(&mut batch, step) {
                    return;
                }
                if batch.open.is_some() {
                    break;
                }
            }
        }
    }

    /// Sends the request of a step, and notes in the batch what came of it; `false` at the end.
    fn carry_out(&self, batch: &mut Batch, step: Step) -> bool {
        let is_repeated = batch.open.is_some();
        let Some(base) = self.stage.enter() else {
            return false;
        };
        let outcome = self.send(&base, batch, step);
        match &outcome {
            Outcome::Done => {
                batch.done.push(step);
                batch.open = None;
            }
            Outcome::Refused(_) if !is_repeated => {}
            _ => batch.open = Some(step),
        }
        self.stage.leave(batch, &outcome);
        if matches!(outcome, Outcome::Refused(_)) {
            thread::sleep(Duration::from_millis(100));
        }
        true
    }

    fn send(&self, base: &str, batch: &Batch, step: Step) -> Outcome {
        let sent = self
            .agent
            .post(format!("{base}/graphql"))
            .header("content-type", "application/json")
            .header("accept", "application/graphql-response+json")
            .header("idempotency-key", format!("{}/{}", batch.name, step.stamp))
            .send(batch.request(step).to_string());
        let Ok(text) = sent.and_then(|mut answer| answer.body_mut().read_to_string()) else {
            return Outcome::Unknown;
        };
        let Ok(answer) = serde_json::from_str::<Value>(&text) else {
            return Outcome::Wrong(format!("no JSON: {text}"));
        };
        let code = answer["errors"][0]["extensions"]["code"].as_str();
        match code {
            Some("WRITE_OUTCOME_UNKNOWN") => Outcome::Unknown,
            Some(code) if REFUSALS.contains(&code) => Outcome::Refused(code.to_owned()),
            None if answer["extensions"]["idempotentReplay"] == true => Outcome::Done,
            None if affected(&answer) == batch.size as u64 => Outcome::Done,
            _ => Outcome::Wrong(format!("{}, {step:?}: {text}", batch.name)),
        }
    }
}

/// The number of objects that all fields of a mutation have affected.
fn affected(answer: &Value) -> u64 {
    let fields = answer["data"].as_object().into_iter().flatten();
    let counts =
        fields.flat_map(|(_, field)| field["affected_count"].as_array().into_iter().flatten());
    counts.filter_map(|group| group["count"].as_u64()).sum()
}
