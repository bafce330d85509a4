//! Whatever happens to a run, searches find all old documents or all new ones, and the next run ends well.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use graph_store::CallContext;
use search_index::engine::IndexCondition;
use search_index::indexer::{Indexer, IndexerError, Outcome};

use super::memory::{Fault, Faults, Memory};
use super::{films, indexer, options, run, store, triples};

const ALIASES: [&str; 2] = ["svc-film", "svc-planet"];

type Documents = BTreeMap<String, String>;

/// An engine with the indexes of old data, and an indexer of new data with another schema.
struct Case {
    engine: Arc<Memory>,
    new: Indexer,
    old: Vec<Option<Documents>>,
}

impl Case {
    async fn new() -> Case {
        let engine = Arc::new(Memory::default());
        let old = indexer(
            &films("name"),
            store(&triples(3, 2)),
            engine.clone(),
            options(),
        );
        run(&old).await.expect("the old indexes are built");
        // The films have the same fingerprint, and are to be built anyway.
        let mut options = options();
        options.remove_previous = true;
        let new = indexer(
            &films("label"),
            store(&triples(9, 6)),
            engine.clone(),
            options,
        );
        let old = behind(&engine);
        assert!(old.iter().flatten().map(BTreeMap::len).eq([3, 2]));
        Case { engine, new, old }
    }

    /// Checks that the aliases lead to whole indexes, all old or all new; returns whether they are new.
    fn are_new(&self, what: &str) -> bool {
        let found = behind(&self.engine);
        if found == self.old {
            return false;
        }
        let numbers: Vec<_> = found.iter().flatten().map(BTreeMap::len).collect();
        assert_eq!(numbers, [9, 6], "{what}");
        let planets = found[1].as_ref().expect("planets");
        assert!(
            planets.values().all(|planet| planet.contains("\"label\"")),
            "{what}"
        );
        true
    }

    /// Runs again without faults, after which there is nothing but the new indexes.
    async fn repair(&self, what: &str) {
        self.engine.set_faults(None);
        run(&self.new)
            .await
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(self.are_new(what), "{what}");
        let names = self.engine.names();
        assert!(names.len() == 2, "{what}: {names:?}");
    }
}

fn behind(engine: &Memory) -> Vec<Option<Documents>> {
    ALIASES.iter().map(|alias| engine.behind(alias)).collect()
}

/// Returns how many calls a run without faults makes.
async fn calls() -> usize {
    let case = Case::new().await;
    case.engine.set_faults(None);
    case.new.run(&CallContext::new()).await.expect("a run");
    let calls = case.engine.state().calls.len();
    assert!(calls >= 12, "{calls}");
    calls
}

/// Makes the call of a number have a fault.
fn at(number: usize, fault: Fault) -> Arc<Faults> {
    Arc::new(move |call, _| if call == number { fault } else { Fault::None })
}

#[tokio::test]
async fn a_run_that_fails_at_any_call_leaves_the_old_documents_and_nothing_else() {
    for number in 0..calls().await {
        let case = Case::new().await;
        case.engine.set_faults(Some(at(number, Fault::Fails)));
        let failed = case.new.run(&CallContext::new()).await;
        let what = format!("call {number}: {failed:?}");
        assert!(failed.is_err(), "{what}");
        assert!(!case.are_new(&what), "{what}");
        assert_eq!(case.engine.names().len(), 2, "{what}");
        case.repair(&what).await;
    }
}

#[tokio::test]
async fn a_run_with_one_lost_answer_ends_well_or_not_at_all() {
    for fault in [Fault::Lost, Fault::Down] {
        let mut ended_well = 0;
        for number in 0..calls().await {
            let case = Case::new().await;
            case.engine.set_faults(Some(at(number, fault)));
            let ended = case.new.run(&CallContext::new()).await;
            let what = format!("{fault:?} call {number}: {ended:?}");
            ended_well += usize::from(ended.is_ok());
            assert_eq!(case.are_new(&what), ended.is_ok(), "{what}");
            case.repair(&what).await;
        }
        assert!(
            ended_well >= 8,
            "calls that may be repeated are: {ended_well}"
        );
    }
}

#[tokio::test]
async fn an_engine_that_goes_down_at_any_call_is_repaired_by_the_next_run() {
    for first in [Fault::Down, Fault::Lost] {
        for number in 0..calls().await {
            let case = Case::new().await;
            case.engine
                .set_faults(Some(Arc::new(move |call, _| match call {
                    call if call < number => Fault::None,
                    call if call == number => first,
                    _ => Fault::Down,
                })));
            let ended = case.new.run(&CallContext::new()).await;
            let what = format!("{first:?} from call {number}: {ended:?}");
            assert!(ended.is_err(), "{what}");
            case.are_new(&what);
            case.repair(&what).await;
        }
    }
}

#[tokio::test]
async fn a_process_that_is_killed_at_any_call_is_repaired_by_the_next_run() {
    for fault in [Fault::Stalls, Fault::StallsAfter] {
        for number in 0..calls().await {
            let case = Case::new().await;
            case.engine.set_faults(Some(at(number, fault)));
            let what = format!("{fault:?} at call {number}");
            let context = CallContext::new();
            tokio::select! {
                ended = case.new.run(&context) => panic!("{what}: {ended:?}"),
                () = case.engine.stalls() => {}
            }
            case.are_new(&what);
            case.repair(&what).await;
        }
    }
}

#[tokio::test]
async fn a_run_that_is_cancelled_at_any_call_leaves_nothing_behind() {
    for fault in [Fault::Stalls, Fault::StallsAfter] {
        for number in 0..calls().await {
            let case = Case::new().await;
            case.engine.set_faults(Some(at(number, fault)));
            let what = format!("{fault:?} at call {number}");
            let context = CallContext::new();
            let cancel = async {
                case.engine.stalls().await;
                context.cancellation.cancel();
            };
            let (ended, ()) = tokio::join!(case.new.run(&context), cancel);
            let is_new = case.are_new(&what);
            match ended {
                Ok(_) => assert!(is_new, "{what}"),
                Err(error) => {
                    assert!(error.is_cancelled(), "{what}: {error:?}");
                    assert!(!is_new, "{what}");
                    assert_eq!(case.engine.names().len(), 2, "{what}");
                }
            }
            case.repair(&what).await;
        }
    }
}

fn lost() -> IndexCondition {
    IndexCondition::Lost("no copy is left".to_owned())
}

#[tokio::test]
async fn an_index_that_loses_a_part_while_it_is_built_is_built_anew() {
    let bulks = {
        let case = Case::new().await;
        case.engine.state().bulks = 0;
        run(&case.new).await.expect("a run");
        case.engine.state().bulks
    };
    assert!(bulks >= 4, "{bulks}");
    // After the last bulk it is the verification that finds out.
    for number in 0..=bulks {
        let case = Case::new().await;
        case.engine.state().bulks = 0;
        case.engine.set_shards(move |name, bulks| {
            if name.ends_with("-2") && bulks >= number {
                lost()
            } else {
                IndexCondition::Available
            }
        });
        let report = run(&case.new).await;
        let report = report.unwrap_or_else(|error| panic!("bulk {number}: {error}"));
        assert!(case.are_new("all is there"));
        let documents = report.objects.iter().map(|object| match object.outcome {
            Outcome::Built { documents, .. } => documents,
            Outcome::Unchanged => 0,
        });
        assert!(documents.eq([9, 6]), "{report:?}");
        let names = case.engine.names();
        assert_eq!(
            names.len(),
            2,
            "the parts that were left are gone: {names:?}"
        );
    }
}

#[tokio::test]
async fn an_engine_that_loses_every_index_is_given_up_with_what_to_do() {
    let case = Case::new().await;
    case.engine.set_shards(|name, _| {
        if name.ends_with("-1") {
            IndexCondition::Available
        } else {
            lost()
        }
    });
    let error = run(&case.new).await.expect_err("nothing stays");
    let is_lost = matches!(&error, IndexerError::Shards { is_lost: true, index, .. } if index.as_str() == "svc-film-5");
    assert!(is_lost, "{error:?}");
    let text = error.to_string();
    assert!(
        text.contains("no copy is left") && text.contains("number_of_replicas"),
        "{text}"
    );
    assert!(!case.are_new("the old documents stay"));
    assert_eq!(case.engine.names().len(), 2);
}

#[tokio::test]
async fn a_shard_that_is_away_is_waited_for_and_named_if_it_does_not_come_back() {
    let away = |until: usize| {
        move |name: &str, bulks: usize| {
            if name.ends_with("-1") || bulks >= until {
                IndexCondition::Available
            } else {
                IndexCondition::Waiting("its node is away".to_owned())
            }
        }
    };
    let case = Case::new().await;
    let before = case.engine.state().bulks;
    case.engine.set_shards(away(before + 3));
    run(&case.new).await.expect("it comes back");
    assert!(case.are_new("all is there"));
    let case = Case::new().await;
    case.engine.set_shards(away(usize::MAX));
    let error = run(&case.new).await.expect_err("it does not");
    assert!(
        matches!(&error, IndexerError::Shards { is_lost: false, reason, .. } if reason == "its node is away"),
        "{error:?}"
    );
    assert!(!case.are_new("the old documents stay"));
    assert_eq!(case.engine.names().len(), 2);
}

#[tokio::test]
async fn an_index_whose_creation_is_not_answered_is_built_under_another_number() {
    for fault in [Fault::Lost, Fault::Down] {
        let case = Case::new().await;
        case.engine
            .set_faults(Some(Arc::new(move |number, name| match name {
                "create" if number <= 1 => fault,
                _ => Fault::None,
            })));
        let report = run(&case.new).await.expect("a run");
        assert_eq!(report.objects[0].index.as_str(), "svc-film-3", "{fault:?}");
        assert!(case.are_new("all is there"));
        let names = case.engine.names();
        assert_eq!(names, ["svc-film-3", "svc-planet-2"], "{fault:?}");
    }
}

#[tokio::test]
async fn an_index_is_created_at_last_however_often_the_engine_was_away_before() {
    let engine = Arc::new(Memory::default());
    let mut patient = options();
    patient.max_retries = 40;
    patient.retry_delay = patient.retry_interval;
    let films = films("name");
    let patient = indexer(&films, store(&triples(3, 2)), engine.clone(), patient);
    let creations = AtomicUsize::new(0);
    engine.set_faults(Some(Arc::new(move |_, name| match name {
        "create" if creations.fetch_add(1, Ordering::SeqCst) < 30 => Fault::Down,
        _ => Fault::None,
    })));
    let report = run(&patient).await.expect("a run");
    assert_eq!(report.objects[0].index.as_str(), "svc-film-31");
    assert_eq!(engine.names(), ["svc-film-31", "svc-planet-1"]);
}
