//! Runs over stores that change, hang and fail.

use call_context::CallError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use graph_store::query::{Hydrated, HydrationRequest, Objects, Selection};
use graph_store::{CallContext, DataVersion, GraphStore, StoreError, StoreInfo};
use search_index::indexer::{IndexerError, IndexerOptions, Outcome, Report};
use tokio::sync::watch;

use super::memory::Memory;
use super::{films, indexer, options, run, store, triples};

/// A store behind a network, which does what a test says.
struct Unruly {
    store: Arc<dyn GraphStore>,
    version: Mutex<Option<DataVersion>>,
    /// How many selections still go wrong.
    faults: AtomicUsize,
    fault: Fault,
    /// Probes are answered.
    is_there: AtomicBool,
    probes: watch::Sender<usize>,
    selections: AtomicUsize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// Nobody answers.
    Hangs,
    /// It takes until so many probes were answered.
    Slow(usize),
    /// What answers is no store.
    Fails,
    Away,
}

impl Unruly {
    fn new(turtle: &str, fault: Fault, faults: usize) -> Arc<Unruly> {
        Arc::new(Unruly {
            store: store(turtle),
            version: Mutex::default(),
            faults: AtomicUsize::new(faults),
            fault,
            is_there: AtomicBool::new(matches!(fault, Fault::Slow(_))),
            probes: watch::Sender::new(0),
            selections: AtomicUsize::new(0),
        })
    }

    fn set_version(&self, version: Option<(&str, u64)>) {
        let version = version.map(|(source, sequence)| DataVersion {
            source: source.to_owned(),
            sequence,
        });
        *self.version.lock().expect("a lock") = version;
    }
}

#[async_trait]
impl GraphStore for Unruly {
    async fn select(
        &self,
        selection: &Selection,
        context: &CallContext,
    ) -> Result<Objects, StoreError> {
        self.selections.fetch_add(1, Ordering::SeqCst);
        let left = self.faults.load(Ordering::SeqCst);
        if left > 0 {
            self.faults.store(left - 1, Ordering::SeqCst);
            match self.fault {
                Fault::Hangs => {
                    context.cancellation.cancelled().await;
                    return Err(StoreError::Call(CallError::Cancelled));
                }
                Fault::Slow(probes) => {
                    let mut answered = self.probes.subscribe();
                    let waited = answered.wait_for(|answered| *answered >= probes).await;
                    waited.map(drop).expect("the sender is there");
                }
                Fault::Fails => return Err(StoreError::Failed("404 at http://10.0.0.1".into())),
                Fault::Away => return Err(StoreError::Unavailable("http://10.0.0.1".into())),
            }
        }
        self.store.select(selection, context).await
    }

    async fn hydrate(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Result<Hydrated, StoreError> {
        self.store.hydrate(request, context).await
    }

    async fn probe(&self, context: &CallContext) -> Result<StoreInfo, StoreError> {
        self.probes.send_modify(|probes| *probes += 1);
        if !self.is_there.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        self.store.probe(context).await
    }

    fn version(&self) -> Option<DataVersion> {
        self.version.lock().expect("a lock").clone()
    }
}

fn short() -> IndexerOptions {
    let mut options = options();
    options.silence = Duration::from_millis(2);
    options.probe_timeout = Duration::from_millis(2);
    options
}

fn built(report: &Report) -> Vec<bool> {
    let objects = report.objects.iter();
    objects
        .map(|object| object.outcome != Outcome::Unchanged)
        .collect()
}

#[tokio::test]
async fn an_index_stays_only_if_it_was_built_from_the_data_as_they_are() {
    let (engine, data) = (
        Arc::new(Memory::default()),
        Unruly::new(&triples(3, 2), Fault::Away, 0),
    );
    let run_with = async |rebuild_unknown: bool| {
        let mut options = options();
        options.rebuild_unknown = rebuild_unknown;
        let indexer = indexer(&films("name"), data.clone(), engine.clone(), options);
        run(&indexer).await.expect("a run")
    };
    data.set_version(Some(("x", 1)));
    assert_eq!(built(&run_with(false).await), [true, true]);
    assert_eq!(built(&run_with(true).await), [false, false]);
    for changed in [("x", 2), ("y", 2), ("y", 1)] {
        data.set_version(Some(changed));
        assert_eq!(built(&run_with(false).await), [true, true], "{changed:?}");
        assert_eq!(built(&run_with(false).await), [false, false], "{changed:?}");
    }
    // The store does not say any more.
    data.set_version(None);
    let kept = run_with(false).await;
    assert_eq!(built(&kept), [false, false]);
    assert!(kept.objects.iter().all(|object| object.may_be_older));
    let anew = run_with(true).await;
    assert_eq!(built(&anew), [true, true]);
    assert!(!anew.objects.iter().any(|object| object.may_be_older));
}

#[tokio::test]
async fn an_index_is_as_old_as_the_data_were_before_they_were_read() {
    let (engine, data) = (
        Arc::new(Memory::default()),
        Unruly::new(&triples(3, 2), Fault::Away, 0),
    );
    data.set_version(Some(("x", 1)));
    let changing = Arc::clone(&data);
    engine.set_judge(move |_, _| {
        changing.set_version(Some(("x", 2)));
        None
    });
    let indexer = indexer(&films("name"), data.clone(), engine.clone(), options());
    assert_eq!(built(&run(&indexer).await.expect("a run")), [true, true]);
    let again = run(&indexer).await.expect("a run");
    assert_eq!(built(&again), [true, true], "the data changed meanwhile");
    assert_eq!(built(&run(&indexer).await.expect("a run")), [false, false]);
}

#[tokio::test]
async fn an_index_of_data_that_changed_meanwhile_does_not_stay_when_the_changes_are_lost() {
    let (engine, data) = (
        Arc::new(Memory::default()),
        Unruly::new(&triples(3, 2), Fault::Away, 0),
    );
    data.set_version(Some(("x", 1)));
    let changing = Arc::clone(&data);
    engine.set_judge(move |_, _| {
        changing.set_version(Some(("x", 2)));
        None
    });
    let indexer = indexer(&films("name"), data.clone(), engine.clone(), options());
    run(&indexer).await.expect("a run");
    // As after a crash of the store.
    engine.set_judge(|_, _| None);
    data.set_version(Some(("x", 1)));
    assert_eq!(built(&run(&indexer).await.expect("a run")), [true, true]);
    assert_eq!(built(&run(&indexer).await.expect("a run")), [false, false]);
}

#[tokio::test]
async fn an_index_that_lacks_something_stays_only_where_it_may() {
    let engine = Arc::new(Memory::default());
    let run_with = async |turtle: &str, ignore_malformed: bool| {
        let mut options = options();
        options.ignore_malformed = ignore_malformed;
        // It does not say which data it has, so indexes of others stay.
        let store = Unruly::new(turtle, Fault::Away, 0);
        run(&indexer(&films("name"), store, engine.clone(), options)).await
    };
    let right = triples(3, 2);
    let wrong = format!("{right}v:f1 v:length \"long\" .\n");
    run_with(&wrong, true).await.expect("a run");
    let kept = run_with(&wrong, true).await.expect("a run");
    assert_eq!(built(&kept), [false, false]);
    let refused = run_with(&wrong, false).await.expect_err("an error");
    assert!(matches!(refused, IndexerError::Malformed(_)), "{refused}");
    let films_before = engine.behind("svc-film");
    assert!(films_before.is_some(), "what was there stays");
    let mended = run_with(&right, false).await.expect("a run");
    assert_eq!(built(&mended), [true, false]);

    engine.set_judge(|_, document| (document.id == "http://e/p1").then_some(400));
    let other = films("label");
    let rejecting = indexer(&other, store(&right), engine.clone(), options());
    run(&rejecting).await.expect("a run");
    let mut strict = options();
    strict.ignore_malformed = false;
    let strict = indexer(&other, store(&right), engine.clone(), strict);
    let refused = run(&strict).await.expect_err("an error");
    assert!(
        matches!(&refused, IndexerError::Rejected { iri, .. } if iri == "http://e/p1"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_store_that_answers_nothing_is_given_up_and_asked_again() {
    let (engine, data) = (
        Arc::new(Memory::default()),
        Unruly::new(&triples(3, 2), Fault::Hangs, 2),
    );
    let indexer = indexer(&films("name"), data.clone(), engine.clone(), short());
    let progress = indexer.progress();
    let context = CallContext::new();
    let (report, setback) = tokio::join!(indexer.run(&context), progress.until_setback());
    report.expect("it answers at last");
    let code = setback.code.map(|code| code.as_str());
    assert_eq!((setback.tries, code), (1, Some("DATA_TIMEOUT")));
    assert_eq!(progress.setback(), None, "it is over");
    assert_eq!(engine.behind("svc-film").map(|films| films.len()), Some(3));
}

#[tokio::test]
async fn a_store_that_is_slow_is_waited_for_as_long_as_it_answers_probes() {
    let (engine, data) = (
        Arc::new(Memory::default()),
        Unruly::new(&triples(3, 2), Fault::Slow(5), 1),
    );
    let mut patient = short();
    // A busy machine may be late.
    patient.probe_timeout = Duration::from_secs(60);
    let indexer = indexer(&films("name"), data.clone(), engine.clone(), patient);
    indexer.run(&CallContext::new()).await.expect("a run");
    assert!(*data.probes.borrow() >= 5);
    let selections = data.selections.load(Ordering::SeqCst);
    assert_eq!(selections, 2, "one for each index, none again");
}

#[tokio::test]
async fn a_store_that_fails_is_asked_as_often_as_is_said_and_named_without_its_address() {
    for (fault, code) in [
        (Fault::Fails, "DATA_FAILED"),
        (Fault::Away, "DATA_UNAVAILABLE"),
    ] {
        for (faults, is_over) in [(3, false), (4, true)] {
            let (engine, data) = (
                Arc::new(Memory::default()),
                Unruly::new(&triples(3, 2), fault, faults),
            );
            // Three times again.
            let indexer = indexer(&films("name"), data.clone(), engine.clone(), options());
            let ended = indexer.run(&CallContext::new()).await;
            assert_eq!(ended.is_err(), is_over, "{ended:?}");
            if let Err(error) = ended {
                assert_eq!(error.code().map(|code| code.as_str()), Some(code));
                assert!(!error.reason().contains("10.0.0.1"), "{}", error.reason());
                assert_eq!(data.selections.load(Ordering::SeqCst), 4);
            }
        }
    }
}
