//! Every combination of options, over what both stores may have, against the model.

use std::sync::Arc;

use schema_registry::{Fate, FolderSchemaStore, MigrationError, SchemaStore, Skipped};
use tempfile::TempDir;

use super::model::{self, Choice};
use super::{Contents, Kinds, World, destinations, migration, origins};

/// Runs something for every world and every combination of options.
async fn each(mut run: impl AsyncFnMut(World, Choice)) {
    for kinds in Kinds::ALL {
        for origin in origins() {
            for destination in destinations() {
                for choice in Choice::every() {
                    run(World::new(kinds, &origin, &destination).await, choice).await;
                }
            }
        }
    }
}

#[tokio::test]
async fn everything_is_where_the_options_say() {
    each(async |world, choice| {
        let report = world.migration(&choice).run().await;
        let now = world.now().await;
        match world.expected(&choice) {
            Some(expected) => {
                let report = report.unwrap();
                assert_eq!(now, expected, "{choice:?} {:#?} {report:#?}", world.first);
            }
            None => {
                assert!(
                    matches!(report, Err(MigrationError::OtherApplications { .. })),
                    "{report:?}"
                );
                assert_eq!(now, world.first);
            }
        }
        assert_eq!(world.destination.migration().await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn a_plan_changes_nothing_and_is_what_a_run_does() {
    each(async |world, choice| {
        let plan = world.migration(&choice).plan().await;
        assert_eq!(world.now().await, world.first);
        assert_eq!(world.destination.migration().await.unwrap(), None);
        assert_eq!(world.destination.lease("migration").await.unwrap(), None);
        let report = world.migration(&choice).run().await;
        match (plan, report) {
            (Ok(plan), Ok(report)) => assert_eq!(plan, report, "{choice:?} {:#?}", world.first),
            (Err(plan), Err(report)) => assert_eq!(plan.to_string(), report.to_string()),
            (plan, report) => panic!("{plan:?} {report:?}"),
        }
    })
    .await;
}

#[tokio::test]
async fn a_second_run_with_the_same_options_changes_nothing_where_the_origin_was_emptied() {
    each(async |world, choice| {
        let choice = Choice {
            clean_after: true,
            ..choice
        };
        if world.expected(&choice).is_none() {
            return;
        }
        world.migration(&choice).run().await.unwrap();
        let first = world.now().await;
        let report = world.migration(&choice).run().await.unwrap();
        assert!(report.skipped.is_some() || report.schemas.is_empty());
        assert_eq!(world.now().await, first, "{choice:?}");
    })
    .await;
}

#[tokio::test]
async fn an_origin_without_schemas_never_empties_a_destination() {
    let full = &destinations()[1];
    for origin in [&origins()[0], &origins()[3], &origins()[2]] {
        let world = World::new(Kinds::SHARED, origin, full).await;
        let choice = Choice {
            force: true,
            all: false,
            clean_before: true,
            clean_after: true,
        };
        let report = world.migration(&choice).run().await.unwrap();
        assert!(report.cleaned.is_empty(), "{report:?}");
        assert_eq!(world.now().await[1].schemas, full.schemas);
    }
}

#[tokio::test]
async fn what_a_report_says_of_each_schema_is_what_became_of_it() {
    let world = World::new(Kinds::SHARED, &origins()[1], &destinations()[2]).await;
    let fates = async |world: &World, choice: Choice| {
        let report = world.migration(&choice).run().await.unwrap();
        let fates = report.schemas.iter();
        let fates: Vec<_> = fates
            .map(|it| (it.item.id.clone(), it.fate, it.is_removed))
            .collect();
        (report.skipped, fates)
    };
    let nothing = Choice {
        force: false,
        all: false,
        clean_before: false,
        clean_after: false,
    };
    let held = Skipped::DestinationHolds { schemas: 2 };
    assert_eq!(fates(&world, nothing).await, (Some(held), Vec::new()));
    let force = Choice {
        force: true,
        ..nothing
    };
    let of = |id: &str, fate, is_removed| (id.to_owned(), fate, is_removed);
    let (skipped, all) = fates(&world, force).await;
    assert_eq!(skipped, None);
    assert_eq!(
        all,
        [
            of("a", Fate::Same, false),
            of("b", Fate::Overwritten, false),
            of("c", Fate::Left, false)
        ]
    );
    let rest = Choice {
        all: true,
        clean_after: true,
        ..force
    };
    let (_, all) = fates(&world, rest).await;
    assert_eq!(
        all,
        [
            of("a", Fate::Same, true),
            of("b", Fate::Same, true),
            of("c", Fate::Copied, true)
        ]
    );
    let (skipped, _) = fates(&world, rest).await;
    assert_eq!(skipped, Some(Skipped::OriginEmpty));
}

/// A folder, with what is in it as another process finds it.
async fn in_folder(folder: &TempDir) -> Contents {
    let store = FolderSchemaStore::open(folder.path()).unwrap();
    assert_eq!(store.migration().await.unwrap(), None);
    assert!(store.missing().await.unwrap().is_empty());
    Contents::of(&store).await.bound()
}

#[tokio::test]
async fn a_folder_has_what_the_options_say_after_it_was_opened_again() {
    for kinds in &Kinds::ALL[1..] {
        for (at, choice) in Choice::every().into_iter().enumerate() {
            let origin = &origins()[[1, 4][at % 2]];
            for destination in [&destinations()[0], &destinations()[1]] {
                let memory = World::new(*kinds, origin, destination).await;
                let folder = TempDir::new().unwrap();
                let store = || -> Arc<dyn SchemaStore> {
                    Arc::new(FolderSchemaStore::open(folder.path()).unwrap())
                };
                let is_origin = !kinds.origin_is_shared;
                let first = &memory.first[usize::from(!is_origin)];
                first.put_into(&*store()).await;
                let stores = if is_origin {
                    [store(), Arc::clone(&memory.destination)]
                } else {
                    [Arc::clone(&memory.origin), store()]
                };
                let run = migration(stores, &choice, 0).run().await;
                let now = if is_origin {
                    [
                        in_folder(&folder).await,
                        Contents::of(&*memory.destination).await,
                    ]
                } else {
                    [
                        Contents::of(&*memory.origin).await,
                        in_folder(&folder).await,
                    ]
                };
                let expected = model::expected(*kinds, &memory.first, &choice);
                assert_eq!(run.is_ok(), expected.is_some());
                let expected = expected.unwrap_or(memory.first).map(Contents::bound);
                assert_eq!(now.map(Contents::bound), expected, "{choice:?}");
            }
        }
    }
}
