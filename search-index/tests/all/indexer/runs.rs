//! What runs do where nothing goes wrong, or only a document.

use std::sync::Arc;
use std::time::Duration;

use graph_store::{CallContext, GraphStore};
use search_index::engine::{EngineError, Mark};
use search_index::indexer::{Indexer, IndexerError, IndexerOptions, Outcome, Stage};

use super::memory::{Fault, Index, Memory, State};
use super::{films, indexer, options, run, store, triples};

fn engine() -> Arc<Memory> {
    Arc::new(Memory::default())
}

#[tokio::test]
async fn indexes_are_numbered_and_found_by_their_alias() {
    let engine = engine();
    let indexer = indexer(
        &films("name"),
        store(&triples(7, 3)),
        engine.clone(),
        options(),
    );
    let progress = indexer.progress();
    assert!(
        progress
            .objects()
            .iter()
            .all(|object| object.stage() == Stage::Waiting)
    );
    let report = run(&indexer).await.expect("a run");
    assert_eq!(engine.names(), ["svc-film-1", "svc-planet-1"]);
    let films = engine.behind("svc-film").expect("films");
    assert_eq!(films.len(), 7);
    assert!(
        films["http://e/f3"].contains(r#""title":"Film 3""#),
        "{films:?}"
    );
    let film = &report.objects[0];
    assert_eq!(
        (film.object.as_str(), film.index.as_str()),
        ("Film", "svc-film-1")
    );
    assert!(matches!(
        film.outcome,
        Outcome::Built {
            documents: 7,
            malformed: 0,
            rejected: 0,
            ..
        }
    ));
    let film = &progress.objects()[0];
    assert_eq!(
        (film.stage(), film.total(), film.read(), film.written()),
        (Stage::Done, 7, 7, 7)
    );
    assert!(film.rate() > 0.0 && film.estimate() == Some(Duration::ZERO));
}

#[tokio::test]
async fn an_index_with_the_same_fingerprint_stays() {
    let engine = engine();
    let data = store(&triples(7, 3));
    run(&indexer(
        &films("name"),
        data.clone(),
        engine.clone(),
        options(),
    ))
    .await
    .expect("a run");
    engine.set_faults(None);
    let again = run(&indexer(
        &films("name"),
        data.clone(),
        engine.clone(),
        options(),
    ))
    .await;
    assert!(again.expect("a run").is_unchanged());
    assert_eq!(engine.state().calls, ["indexes"]);
    let report = run(&indexer(
        &films("label"),
        data.clone(),
        engine.clone(),
        options(),
    ))
    .await;
    let report = report.expect("a run");
    assert_eq!(report.objects[0].outcome, Outcome::Unchanged);
    assert!(matches!(
        report.objects[1].outcome,
        Outcome::Built { documents: 3, .. }
    ));
    assert_eq!(engine.names(), ["svc-film-1", "svc-planet-2"]);
    // An object that is no longer indexed.
    let only_films = films("label").replace("Planet: {search: yes", "Planet: {search: no");
    run(&indexer(&only_films, data, engine.clone(), options()))
        .await
        .expect("a run");
    assert_eq!(engine.names(), ["svc-film-1"]);
}

#[tokio::test]
async fn one_object_can_be_indexed_alone() {
    let engine = engine();
    let data = store(&triples(2, 2));
    run(&indexer(
        &films("name"),
        data.clone(),
        engine.clone(),
        options(),
    ))
    .await
    .expect("a run");
    let only = |object: &str| {
        let mut options = options();
        options.only = Some(vec![object.to_owned()]);
        options.remove_previous = true;
        indexer(&films("label"), data.clone(), engine.clone(), options)
    };
    run(&only("Planet")).await.expect("a run");
    assert_eq!(engine.names(), ["svc-film-1", "svc-planet-2"]);
    let unknown = run(&only("Person")).await;
    assert!(matches!(unknown, Err(IndexerError::UnknownObject(name)) if name == "Person"));
}

#[tokio::test]
async fn what_the_engine_refuses_for_now_is_written_again() {
    let engine = engine();
    // Each document is refused once.
    let seen = std::sync::Mutex::new(std::collections::HashSet::new());
    engine.set_judge(move |_, document| {
        let is_new = seen.lock().expect("a lock").insert(document.id.clone());
        is_new.then_some(429)
    });
    run(&indexer(
        &films("name"),
        store(&triples(9, 5)),
        engine.clone(),
        options(),
    ))
    .await
    .expect("a run");
    assert_eq!(engine.behind("svc-film").map(|films| films.len()), Some(9));
    let tired = Arc::new(Memory::default());
    tired.set_judge(|_, _| Some(503));
    let refused = run(&indexer(
        &films("name"),
        store(&triples(1, 0)),
        tired.clone(),
        options(),
    ))
    .await;
    let refused = refused.expect_err("an error");
    assert!(
        matches!(&refused, IndexerError::Rejected { status: 503, iri, .. } if iri == "http://e/f0")
    );
    let bulks = tired.state().bulks;
    assert_eq!((bulks, tired.names().len()), (4, 0));
}

#[tokio::test]
async fn a_document_that_the_engine_calls_malformed_is_left_out_or_ends_the_run() {
    let refuse = |status: u16| {
        let engine = engine();
        engine.set_judge(move |_, document| (document.id == "http://e/f2").then_some(status));
        engine
    };
    let data = store(&triples(5, 1));
    let engine = refuse(400);
    let indexer_of = |engine: &Arc<Memory>, ignore: bool| {
        let mut options = options();
        options.ignore_malformed = ignore;
        indexer(&films("name"), data.clone(), engine.clone(), options)
    };
    let report = run(&indexer_of(&engine, true)).await.expect("a run");
    assert!(matches!(
        report.objects[0].outcome,
        Outcome::Built {
            documents: 4,
            rejected: 1,
            ..
        }
    ));
    for (status, ignore) in [(400, false), (403, true)] {
        let engine = refuse(status);
        let error = run(&indexer_of(&engine, ignore))
            .await
            .expect_err("an error");
        assert!(
            matches!(&error, IndexerError::Rejected { iri, .. } if iri == "http://e/f2"),
            "{error}"
        );
        assert_eq!(engine.names().len(), 0);
    }
}

#[tokio::test]
async fn malformed_values_are_counted_or_end_the_run_before_it_writes() {
    let data =
        triples(5, 1) + "v:f1 v:length \"long\" .\nv:f8 a v:Film ; v:length \"wide\", \"high\" .\n";
    let engine = engine();
    let counting = indexer(&films("name"), store(&data), engine.clone(), options());
    let report = run(&counting).await.expect("a run");
    assert!(matches!(
        report.objects[0].outcome,
        Outcome::Built {
            documents: 6,
            malformed: 3,
            ..
        }
    ));
    let fields = counting.progress().objects()[0].malformed_fields();
    assert_eq!(
        (fields["length"].count, fields["length"].examples.len()),
        (3, 3)
    );

    let mut strict = options();
    (strict.ignore_malformed, strict.max_findings) = (false, 2);
    strict.remove_previous = true;
    engine.set_faults(None);
    let strict = indexer(&films("name"), store(&data), engine.clone(), strict);
    let error = run(&strict).await.expect_err("an error");
    let IndexerError::Malformed(found) = &error else {
        panic!("{error}");
    };
    assert_eq!((found.total, found.values.len()), (3, 2));
    let text = error.to_string();
    assert!(
        text.starts_with("3 values cannot be indexed\n  <http://e/f"),
        "{text}"
    );
    assert!(
        text.contains("length: \"") && text.ends_with("and 1 more"),
        "{text}"
    );
    assert_eq!(engine.state().calls, ["indexes"], "nothing is created");
    assert_eq!(engine.behind("svc-film").map(|films| films.len()), Some(6));
}

#[tokio::test]
async fn an_index_that_is_not_complete_is_not_served() {
    for lost in ["http://e/f0", "http://e/f4"] {
        let engine = engine();
        engine.state().loses.insert(lost.to_owned());
        let run = run(&indexer(
            &films("name"),
            store(&triples(5, 1)),
            engine.clone(),
            options(),
        ))
        .await;
        let error = run.expect_err("an error");
        let IndexerError::Incomplete {
            missing: 1,
            surplus: 0,
            example,
            ..
        } = &error
        else {
            panic!("{error}");
        };
        assert_eq!((example.as_str(), engine.names().len()), (lost, 0));
    }
}

/// Large indexes are compared in parts; what is lost is found wherever the parts meet.
#[tokio::test]
async fn a_large_index_that_is_not_complete_is_not_served() {
    const FILMS: usize = 12_000;
    let mut ids: Vec<String> = (0..FILMS).map(|film| format!("http://e/f{film}")).collect();
    ids.sort();
    let (middle, store) = (FILMS / 2, store(&triples(FILMS, 1)));
    for lost in [
        &[][..],
        &[0],
        &[middle - 1],
        &[middle],
        &[FILMS - 1],
        &[1, middle - 1, middle, FILMS - 2],
    ] {
        let engine = engine();
        let names = lost.iter().map(|at| ids[*at].clone());
        engine.state().loses.extend(names);
        let run = run(&indexer(
            &films("name"),
            Arc::clone(&store),
            engine.clone(),
            options(),
        ))
        .await;
        match run {
            Ok(_) => assert!(lost.is_empty(), "{lost:?} are lost"),
            Err(IndexerError::Incomplete {
                missing,
                surplus,
                example,
                ..
            }) => {
                let expected = (lost.len() as u64, 0, ids[lost[0]].as_str());
                assert_eq!((missing, surplus, example.as_str()), expected);
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test]
async fn what_is_somebody_elses_stays() {
    let mark = |application: &str| Mark {
        application: application.to_owned(),
        schema: "s".to_owned(),
        object: "Film".to_owned(),
        fingerprint: "f".to_owned(),
        built: None,
    };
    let place = |name: &str, alias: Option<&str>, mark: Option<Mark>| {
        let engine = engine();
        let index = Index {
            mark,
            aliases: alias.map(str::to_owned).into_iter().collect(),
            ..Index::default()
        };
        engine.state().indexes.insert(name.to_owned(), index);
        engine
    };
    let build = |engine: &Arc<Memory>, remove_previous: bool| {
        let mut options = options();
        options.remove_previous = remove_previous;
        indexer(
            &films("name"),
            store(&triples(2, 1)),
            engine.clone(),
            options,
        )
    };
    for (engine, remove_previous) in [
        (place("svc-film", None, None), false),
        (place("svc-film", None, Some(mark("theirs"))), true),
        (
            place("svc-film-7", Some("svc-film"), Some(mark("theirs"))),
            true,
        ),
    ] {
        let names = engine.names();
        let error = run(&build(&engine, remove_previous))
            .await
            .expect_err("an error");
        let is_refused = matches!(&error, IndexerError::Engine(EngineError::NotOurs { name }) if *name == names[0]);
        assert!(is_refused && engine.names() == names, "{error:?}");
    }
    let replaced = place("svc-film", None, None);
    run(&build(&replaced, true)).await.expect("a run");
    assert_eq!(replaced.names(), ["svc-film-1", "svc-planet-1"]);
    // Not found by an alias, so it is in nobody's way.
    let beside = place("svc-film-7", None, Some(mark("theirs")));
    run(&build(&beside, true)).await.expect("a run");
    assert_eq!(beside.names(), ["svc-film-7", "svc-film-8", "svc-planet-1"]);
}

#[tokio::test]
async fn a_slow_engine_slows_reading_down() {
    let engine = engine();
    // Documents of 10 kB, 1,000 of them.
    let mut turtle = "@prefix v: <http://e/> .\n".to_owned();
    let text = "long ".repeat(2_000);
    for at in 0..1_000 {
        turtle += &format!("v:f{at} a v:Film ; v:title \"{text}{at}\" .\n");
    }
    engine.set_faults(Some(Arc::new(|call, name| match name {
        "bulk" if call > 5 => Fault::Stalls,
        _ => Fault::None,
    })));
    let mut bounded = options();
    (bounded.max_bytes, bounded.bulk_bytes) = (2 << 20, 500 << 10);
    (bounded.pages, bounded.max_page) = (8, 10_000);
    let slow = indexer(&films("name"), store(&turtle), engine.clone(), bounded);
    let context = CallContext::new();
    let progress = slow.progress();
    let held = async {
        engine.stalls().await;
        let films = &progress.objects()[0];
        // All would be read by the time that nothing more is, if nothing slowed it down.
        let mut before = None;
        while before != Some(films.read()) {
            before = Some(films.read());
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        let held = (films.read() - films.written()) * 10_000;
        context.cancellation.cancel();
        held
    };
    let (ended, held) = tokio::join!(slow.run(&context), held);
    assert!(ended.expect_err("cancelled").is_cancelled());
    assert!((100_000..3 << 20).contains(&held), "{held}");
}

#[tokio::test]
async fn a_page_of_large_objects_is_read_in_parts() {
    let engine = engine();
    let mut turtle = "@prefix v: <http://e/> .\n".to_owned();
    for at in 0..40 {
        let text = "x".repeat(50_000);
        turtle += &format!("v:f{at} a v:Film ; v:title \"{text}{at}\" .\n");
    }
    let mut small = options();
    (small.max_bytes, small.bulk_bytes, small.max_page) = (400 << 10, 100 << 10, 1_000);
    run(&indexer(
        &films("name"),
        store(&turtle),
        engine.clone(),
        small,
    ))
    .await
    .expect("a run");
    assert_eq!(engine.behind("svc-film").map(|films| films.len()), Some(40));
    let bulks = engine.state().bulks;
    assert!((20..=40).contains(&bulks), "{bulks} bulks of two documents");
}

fn under(lease: u64) -> IndexerOptions {
    let mut options = options();
    options.lease = lease;
    options
}

/// An engine, and data that stay the same.
type World = (Arc<Memory>, Arc<dyn GraphStore>);

fn world() -> World {
    (engine(), store(&triples(3, 2)))
}

fn of((engine, data): &World, property: &str, lease: u64) -> Indexer {
    let (data, engine) = (Arc::clone(data), engine.clone());
    indexer(&films(property), data, engine, under(lease))
}

#[tokio::test]
async fn a_run_has_the_number_of_its_lease_and_touches_nothing_of_a_later_one() {
    let world = world();
    let engine = &world.0;
    for (lease, property, names) in [
        (3, "name", ["svc-film-3-1", "svc-planet-3-1"]),
        (4, "label", ["svc-film-3-1", "svc-planet-4-1"]),
    ] {
        run(&of(&world, property, lease)).await.expect("a run");
        assert_eq!(engine.names(), names);
    }
    let calls = engine.state().calls.len();
    let outdated = run(&of(&world, "name", 3)).await.expect_err("it is late");
    assert!(
        outdated.is_outdated() && !outdated.is_transient(),
        "{outdated:?}"
    );
    assert_eq!(engine.names(), ["svc-film-3-1", "svc-planet-4-1"]);
    assert!(
        engine.state().calls[calls..]
            .iter()
            .all(|call| call == "indexes")
    );
    // Whoever builds without a lease comes after all that is there.
    run(&of(&world, "name", 0)).await.expect("a run");
    assert_eq!(engine.names(), ["svc-film-3-1", "svc-planet-4-2"]);
}

#[tokio::test]
async fn what_an_earlier_holder_of_the_lease_leaves_is_deleted() {
    let world = world();
    let engine = &world.0;
    run(&of(&world, "name", 3)).await.expect("a run");
    let late = {
        let mut state = engine.state();
        let film = state.indexes["svc-film-3-1"].clone();
        // It was created late, and one has moved the alias at the same moment.
        let unused = Index {
            mark: film.mark.clone(),
            ..Index::default()
        };
        state
            .indexes
            .insert("svc-film-2-9".to_owned(), unused.clone());
        state.indexes.insert("svc-film-5-1".to_owned(), unused);
        state.indexes.insert("svc-film-2-1".to_owned(), film);
        let aliased = ["svc-film-2-1", "svc-film-3-1"];
        aliased.map(str::to_owned)
    };
    let is_aliased = |name: &String| engine.state().indexes[name].aliases.contains("svc-film");
    assert!(late.iter().all(is_aliased));
    run(&of(&world, "name", 6)).await.expect("a run");
    assert_eq!(engine.names(), ["svc-film-3-1", "svc-planet-3-1"]);
    assert_eq!(engine.behind("svc-film").expect("films").len(), 3);
}

#[tokio::test]
async fn a_complete_index_whose_alias_was_removed_may_still_be_searched_for_a_while() {
    let world = world();
    let engine = &world.0;
    run(&of(&world, "name", 3)).await.expect("a run");
    let remove = |state: &mut State| {
        state
            .indexes
            .get_mut("svc-film-3-1")
            .expect("films")
            .aliases
            .clear()
    };
    remove(&mut engine.state());
    let indexer = of(&world, "name", 4);
    let report = indexer.run(&CallContext::new()).await.expect("a run");
    assert_eq!(
        engine.names(),
        ["svc-film-3-1", "svc-film-4-1", "svc-planet-3-1"]
    );
    let context = CallContext::new();
    let removed = indexer.remove_superseded(&report, &context).await;
    removed.expect("removed");
    assert_eq!(engine.names(), ["svc-film-4-1", "svc-planet-3-1"]);
}
