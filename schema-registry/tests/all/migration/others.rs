//! What others do meanwhile: a second process that migrates, one that was taken over from, and users.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use schema_registry::{
    Expected, FolderSchemaStore, InMemorySchemaStore, Migration, MigrationError, MigrationOptions,
    MigrationPhase, MigrationRecord, MigrationReport, SchemaStore,
};
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::model::Choice;
use super::watched::{Act, Calls, Event, watched};
use super::{Contents, Kinds, SHOP, World, destinations, migration, options, origins};

fn nothing() -> Act {
    Box::new(|| Box::pin(async {}))
}

fn act<F: Future<Output = ()> + Send + 'static>(
    act: impl Fn() -> F + Send + Sync + 'static,
) -> Option<Act> {
    Some(Box::new(move || Box::pin(act())))
}

/// Runs a migration during which something happens before the call of this number, which is `false` if there is none.
async fn interfered(
    world: &World,
    choice: &Choice,
    at: usize,
    before: Option<Act>,
) -> (bool, Result<MigrationReport, MigrationError>) {
    let calls = Calls::new(at, Event::None, before, nothing());
    let result = migration(watched(world, &calls), choice, 2).run().await;
    (calls.was_reached(), result)
}

#[tokio::test]
async fn a_process_that_acts_on_a_lease_that_it_has_lost_does_no_harm() {
    let mut runs = 0;
    for origin in [&origins()[1], &origins()[4]] {
        for destination in [&destinations()[0], &destinations()[1]] {
            for choice in Choice::every() {
                // Before its first call it knows nothing of the other one.
                for at in 1.. {
                    let world = World::new(Kinds::SHARED, origin, destination).await;
                    // It stands still before its call until another process has done everything.
                    let (stands, goes) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
                    let (standing, going) = (Arc::clone(&stands), Arc::clone(&goes));
                    let before = act(move || {
                        let (standing, going) = (Arc::clone(&standing), Arc::clone(&going));
                        async move {
                            standing.notify_one();
                            going.notified().await;
                        }
                    });
                    let calls = Calls::new(at, Event::None, before, nothing());
                    let late = migration(watched(&world, &calls), &choice, 0);
                    let late = tokio::spawn(async move { late.run().await });
                    tokio::select! {
                        () = stands.notified() => {}
                        () = until_finished(&late) => {}
                    }
                    if !calls.was_reached() {
                        late.await.unwrap().unwrap();
                        break;
                    }
                    // The first one may take over while the second one waits.
                    world.migration(&choice).run().await.unwrap();
                    let mut expected = world.expected(&choice).unwrap();
                    let done = world.now().await;
                    assert_eq!(done, expected, "{choice:?} {at}");
                    // Users go on with what was moved.
                    edit(&world, &mut expected[1]).await;
                    goes.notify_one();
                    let outcome = late.await.unwrap();
                    let now = world.now().await;
                    assert_eq!(now, expected, "{choice:?} {at} {outcome:?}");
                    runs += 1;
                }
            }
        }
    }
    assert!(runs > 1_000, "{runs}");
}

/// Changes what the destination has, if it has any.
async fn edit(world: &World, destination: &mut Contents) {
    let any = Expected::default();
    for (id, text) in &mut destination.schemas {
        let edited = format!("{text} # edited");
        let replaced = world.destination.replace(id, edited.as_str().into(), &any);
        replaced.await.unwrap();
        *text = edited;
    }
    if let Some(rights) = &mut destination.rights {
        "edited".clone_into(rights);
        let set = world.destination.set_rights("edited".into(), &any);
        set.await.unwrap();
    }
}

async fn until_finished<T>(task: &tokio::task::JoinHandle<T>) {
    while !task.is_finished() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn of_several_processes_that_start_together_one_migrates_and_the_others_see_that_it_is_done()
{
    let mut cases = JoinSet::new();
    for choice in Choice::every() {
        for destination in [&destinations()[0], &destinations()[1]] {
            let world = World::new(Kinds::SHARED, &origins()[1], destination).await;
            // They wait for each other at the same time.
            cases.spawn(start_together(world, choice));
        }
    }
    cases.join_all().await;
}

async fn start_together(world: World, choice: Choice) {
    let mut processes = JoinSet::new();
    for _ in 0..3 {
        let yields: Act = Box::new(|| Box::pin(tokio::task::yield_now()));
        let calls = Calls::new(usize::MAX, Event::None, None, yields);
        let [origin, destination] = watched(&world, &calls);
        let options = MigrationOptions {
            // Nobody is taken over from.
            lease_time: Duration::from_secs(3_600),
            ..options(&choice, 0)
        };
        let migration = Migration::new(origin, destination, options);
        processes.spawn(async move { migration.run().await.unwrap() });
    }
    let reports = processes.join_all().await;
    let expected = world.expected(&choice).unwrap();
    let migrated = reports.iter().filter(|report| report.skipped.is_none());
    let is_moved = expected != world.first;
    assert_eq!(migrated.count(), usize::from(is_moved), "{reports:#?}");
    assert_eq!(world.now().await, expected, "{choice:?}");
}

#[tokio::test]
async fn what_somebody_stores_in_the_destination_meanwhile_is_never_overwritten_without_force() {
    let choices = Choice::every().into_iter().filter(|choice| !choice.force);
    for choice in choices {
        for at in 0.. {
            let world = World::new(Kinds::SHARED, &origins()[1], &destinations()[0]).await;
            let is_stored = Arc::new(AtomicUsize::new(0));
            let (store, count) = (Arc::clone(&world.destination), Arc::clone(&is_stored));
            let before = act(move || {
                let (store, count) = (Arc::clone(&store), Arc::clone(&count));
                async move {
                    let new = Expected {
                        one_of: None,
                        none_of: Some(schema_registry::Revisions::Any),
                    };
                    if store.create("a", "theirs".into()).await.is_ok() {
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                    if store.set_rights("theirs".into(), &new).await.is_ok() {
                        count.fetch_add(2, Ordering::Relaxed);
                    }
                }
            });
            let (was_reached, result) = interfered(&world, &choice, at, before).await;
            if !was_reached {
                break;
            }
            let report = result.unwrap();
            let [origin, destination] = world.now().await;
            let stored = is_stored.load(Ordering::Relaxed);
            if stored & 1 != 0 {
                assert_eq!(destination.schemas["a"], "theirs", "{at}");
                // What it is instead of is not lost either.
                assert_eq!(origin.schemas["a"], "a: 1", "{at}: {report:?}");
            }
            if stored & 2 != 0 {
                assert_eq!(destination.rights.as_deref(), Some("theirs"), "{at}");
                assert_eq!(origin.rights.as_deref(), Some("origin"), "{at}");
            }
        }
    }
}

#[tokio::test]
async fn what_somebody_changes_in_the_origin_meanwhile_is_not_lost() {
    for choice in Choice::every() {
        for at in 0.. {
            let world = World::new(Kinds::SHARED, &origins()[1], &destinations()[0]).await;
            let is_stored = Arc::new(AtomicUsize::new(0));
            let (store, count) = (Arc::clone(&world.origin), Arc::clone(&is_stored));
            let before = act(move || {
                let (store, count) = (Arc::clone(&store), Arc::clone(&count));
                async move {
                    let any = Expected::default();
                    store.create("new", "new: 1".into()).await.unwrap();
                    if store.replace("a", "a: edited".into(), &any).await.is_ok() {
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                    store.set_rights("edited".into(), &any).await.unwrap();
                }
            });
            let (was_reached, result) = interfered(&world, &choice, at, before).await;
            if !was_reached {
                break;
            }
            let report = result.unwrap();
            let [origin, destination] = world.now().await;
            let stores = [&origin, &destination];
            let has = |id: &str, text: &str| {
                let mut stores = stores.iter();
                stores.any(|it| it.schemas.get(id).is_some_and(|there| there == text))
            };
            assert!(has("new", "new: 1"), "{choice:?} {at}: {report:?}");
            if is_stored.load(Ordering::Relaxed) > 0 {
                assert!(has("a", "a: edited"), "{choice:?} {at}: {report:?}");
            }
            let mut stores = stores.iter();
            let has_rights = stores.any(|it| it.rights.as_deref() == Some("edited"));
            assert!(has_rights, "{choice:?} {at}: {report:?}");
        }
    }
}

fn all() -> Choice {
    Choice {
        force: true,
        all: true,
        clean_before: true,
        clean_after: true,
    }
}

fn record(source: &str, phase: MigrationPhase) -> MigrationRecord {
    MigrationRecord {
        attempt: "earlier".to_owned(),
        source: source.to_owned(),
        phase,
    }
}

async fn keep(store: &Arc<dyn SchemaStore>, record: &MigrationRecord) {
    let current = store.migration().await.unwrap();
    let kept = store.swap_migration(current.as_ref(), Some(record)).await;
    assert!(kept.unwrap());
}

#[tokio::test]
async fn a_migration_that_empties_the_origin_is_completed_whatever_the_options_say_now() {
    for choice in Choice::every() {
        let world = World::new(Kinds::SHARED, &origins()[1], &destinations()[1]).await;
        let schemas = vec!["a".to_owned(), "gone".to_owned()];
        let emptying = record("memory", MigrationPhase::Emptying { schemas });
        keep(&world.destination, &emptying).await;
        let report = world.migration(&choice).run().await.unwrap();
        assert!(report.is_resumed && report.cleaned.is_empty());
        let [origin, destination] = world.now().await;
        assert!(destination.schemas.contains_key("d"), "it is not cleaned");
        if choice.force {
            assert_eq!(destination.schemas["a"], "a: 1");
        }
        assert_eq!(origin.schemas.contains_key("a"), !choice.force);
        assert!(origin.schemas.contains_key("b") && origin.schemas.contains_key("c"));
        assert_eq!(world.destination.migration().await.unwrap(), None);
    }
}

#[tokio::test]
async fn an_interrupted_migration_from_elsewhere_must_be_completed_first() {
    let world = World::new(Kinds::SHARED, &origins()[1], &destinations()[1]).await;
    let schemas = vec!["d".to_owned()];
    let emptying = MigrationPhase::Emptying { schemas };
    let careful = Choice {
        force: false,
        ..all()
    };
    for (phase, choice) in [
        (MigrationPhase::Copying, careful),
        (emptying.clone(), careful),
        (emptying.clone(), all()),
    ] {
        keep(&world.destination, &record("elsewhere", phase)).await;
        let refused = world.migration(&choice).run().await;
        assert!(
            matches!(&refused, Err(MigrationError::Interrupted { from }) if from == "elsewhere"),
            "{refused:?}"
        );
        assert_eq!(world.now().await, world.first);
    }
    let overwriting = Choice {
        clean_before: false,
        ..all()
    };
    world.migration(&overwriting).run().await.unwrap();
    assert!(world.now().await[1].schemas.contains_key("d"));

    let world = World::new(Kinds::SHARED, &origins()[1], &destinations()[1]).await;
    let half = record("elsewhere", MigrationPhase::Copying);
    keep(&world.origin, &half).await;
    let refused = world.migration(&all()).run().await;
    assert!(
        matches!(refused, Err(MigrationError::OriginIncomplete { .. })),
        "{refused:?}"
    );
    assert_eq!(world.now().await, world.first);
    keep(&world.origin, &record("elsewhere", emptying)).await;
    world.migration(&all()).run().await.unwrap();
}

#[tokio::test]
async fn what_fails_is_tried_again_as_often_as_is_said_but_refused_credentials_are_not() {
    for (event, retries, tries) in [
        (Event::AlwaysFails, 0, 1),
        (Event::AlwaysFails, 3, 4),
        (Event::AlwaysDenied, 3, 1),
    ] {
        let world = World::new(Kinds::SHARED, &origins()[1], &destinations()[0]).await;
        let calls = Calls::new(0, event, None, nothing());
        let failed = migration(watched(&world, &calls), &all(), retries);
        let failed = failed.run().await.unwrap_err();
        assert!(matches!(failed, MigrationError::Store { .. }), "{failed:?}");
        assert_eq!(calls.count(), tries, "{event:?}");
    }
}

#[tokio::test]
async fn a_document_that_is_lost_or_damaged_is_named_and_nothing_is_moved() {
    let folder = TempDir::new().unwrap();
    let store = FolderSchemaStore::open(folder.path()).unwrap();
    origins()[1].clone().of_one().put_into(&store).await;
    std::fs::remove_file(folder.path().join("documents/b.yaml")).unwrap();
    let destination = InMemorySchemaStore::shared().of_application(SHOP);
    let destination: Arc<dyn SchemaStore> = Arc::new(destination);
    let stores: [Arc<dyn SchemaStore>; 2] = [Arc::new(store), Arc::clone(&destination)];
    let lost = migration(stores, &all(), 1).run().await.unwrap_err();
    assert!(lost.to_string().contains("documents/b.yaml"), "{lost}");

    let world = World::new(Kinds::SHARED, &origins()[1], &destinations()[0]).await;
    let damaged = Calls::new(0, Event::DamagedDocument, None, nothing());
    let run = migration(watched(&world, &damaged), &all(), 1).run().await;
    let error = run.unwrap_err().to_string();
    assert_eq!(error, "failed to read the schema `a` in the origin");
    let now = world.now().await;
    assert_eq!(now[0], world.first[0]);
    assert_eq!(now[1].schemas, world.first[1].schemas);
    let plan = migration(watched(&world, &damaged), &all(), 0).plan().await;
    assert_eq!(plan.unwrap_err().to_string(), error);
    assert_eq!(Contents::of(&*destination).await, Contents::default());
}
