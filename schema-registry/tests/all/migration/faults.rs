//! Every call of a migration fails, loses its answer, or is the last of its process, in every combination of options.

use super::model::Choice;
use super::watched::{Act, Calls, Event, watched};
use super::{Contents, Kinds, World, destinations, migration, origins};

/// Checks what holds at every moment.
fn check(world: &World, choice: &Choice, [origin, destination]: &[Contents; 2]) {
    let [first_origin, first_destination] = &world.first;
    for (id, text) in &first_origin.schemas {
        let stores = [origin, destination];
        let is_there = stores.iter().any(|it| it.schemas.get(id) == Some(text));
        assert!(is_there, "the schema {id} is nowhere");
    }
    let stores = [origin, destination];
    let has_rights = stores.iter().any(|it| it.rights == first_origin.rights);
    assert!(has_rights, "the rights are nowhere");
    if !choice.clean_after {
        assert_eq!(origin, first_origin);
    }
    if !choice.clean_before {
        for (id, text) in &first_destination.schemas {
            let there = destination.schemas.get(id).expect("it stays");
            let is_overwritten = first_origin.schemas.get(id) == Some(there) && choice.force;
            assert!(there == text || is_overwritten, "{id}: {there}");
        }
    }
    // Nobody serves a store that is moved in part.
    let is_moved = destination
        .bindings
        .iter()
        .any(|(service, id)| id.is_some() && first_destination.bindings.get(service) != Some(id));
    if let Some([_, last]) = world.expected(choice) {
        let has_all = last.schemas.keys();
        let has_all = has_all
            .into_iter()
            .all(|id| destination.schemas.contains_key(id));
        assert!(!is_moved || has_all, "{destination:?}");
        let has_new = destination.schemas.keys();
        let mut has_new = has_new.filter(|id| !first_destination.schemas.contains_key(*id));
        assert!(
            has_new.next().is_none() || destination.rights == last.rights,
            "{destination:?}"
        );
    }
}

/// Returns what checks both stores.
fn checking(world: &World, choice: &Choice) -> Act {
    let (world, choice) = (world.clone(), *choice);
    Box::new(move || {
        let world = world.clone();
        Box::pin(async move { check(&world, &choice, &world.now().await) })
    })
}

/// Lets something happen at each call, with each combination of options. Returns how often.
async fn each_call(kinds: Kinds, event: Event, retries: u32) -> usize {
    let mut runs = 0;
    for origin in [&origins()[1], &origins()[4]] {
        for destination in [&destinations()[0], &destinations()[1], &destinations()[3]] {
            for choice in Choice::every() {
                for at in 0.. {
                    let world = World::new(kinds, origin, destination).await;
                    let Some(expected) = world.expected(&choice) else {
                        break;
                    };
                    let calls = Calls::new(at, event, None, checking(&world, &choice));
                    let first = migration(watched(&world, &calls), &choice, retries)
                        .run()
                        .await;
                    check(&world, &choice, &world.now().await);
                    if !calls.was_reached() {
                        assert!(first.is_ok(), "{first:?}");
                        assert!(at > 0);
                        break;
                    }
                    if retries > 0 {
                        assert!(first.is_ok(), "{choice:?} {at}: {first:?}");
                    } else if !is_complete(&world).await || first.is_err() {
                        complete(&world, &choice).await;
                    }
                    let now = world.now().await;
                    assert_eq!(now, expected, "{choice:?} {at} {:#?}", world.first);
                    assert!(is_complete(&world).await);
                    runs += 1;
                }
            }
        }
    }
    runs
}

async fn is_complete(world: &World) -> bool {
    world.destination.migration().await.unwrap().is_none()
}

/// Starts the migration again with nothing that fails.
async fn complete(world: &World, choice: &Choice) {
    let calls = Calls::new(usize::MAX, Event::None, None, checking(world, choice));
    let run = migration(watched(world, &calls), choice, 0).run().await;
    run.unwrap();
}

#[tokio::test]
async fn a_process_may_end_at_any_call_and_the_next_one_completes_the_migration() {
    let mut runs = 0;
    // To end before a call is to end after the one before it.
    for kinds in Kinds::ALL {
        runs += each_call(kinds, Event::DiesAfter, 0).await;
    }
    assert!(runs > 5_000, "{runs}");
}

#[tokio::test]
async fn a_migration_whose_call_fails_or_loses_its_answer_is_completed_when_it_is_tried_again() {
    let mut runs = 0;
    for event in [Event::Fails, Event::Lost] {
        runs += each_call(Kinds::SHARED, event, 1).await;
    }
    assert!(runs > 5_000, "{runs}");
}

#[tokio::test]
async fn two_processes_may_end_one_after_the_other() {
    let (origin, destination) = (&origins()[1], &destinations()[1]);
    let choices = Choice::every().into_iter();
    let choices = choices.filter(|it| it.force && it.clean_before && it.clean_after);
    for choice in choices {
        for first in 0.. {
            let mut was_reached = false;
            for second in (first % 2..).step_by(2) {
                let world = World::new(Kinds::SHARED, origin, destination).await;
                let die = async |at| {
                    let calls = Calls::new(at, Event::DiesAfter, None, checking(&world, &choice));
                    let run = migration(watched(&world, &calls), &choice, 0).run().await;
                    check(&world, &choice, &world.now().await);
                    drop(run);
                    calls.was_reached()
                };
                was_reached = die(first).await;
                let is_over = !die(second).await;
                complete(&world, &choice).await;
                let expected = world.expected(&choice).unwrap();
                assert_eq!(world.now().await, expected, "{choice:?} {first} {second}");
                if is_over {
                    break;
                }
            }
            if !was_reached {
                break;
            }
        }
    }
}
