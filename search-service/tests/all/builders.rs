//! One instance builds at a time, and one that dies or stalls is replaced.

use std::sync::Arc;
use std::time::Duration;

use schema_registry::InMemorySchemaStore;
use search_index::engine::PhysicalName;
use service_runtime::Host;

use crate::gate::{Hold, Manner};
use crate::world::{Instance, Setup, World, eventually, on_both_engines};

on_both_engines! {
    a_builder_that_is_killed_is_replaced
    a_builder_that_stops_is_replaced_and_its_late_documents_make_no_index
    a_builder_that_stops_before_it_moves_aliases_does_not_move_them_later
    a_builder_that_ends_in_order_leaves_its_turn_at_once
}

/// Leases end soon.
fn brief(setup: &mut Setup) {
    setup.options.lease_time = Duration::from_millis(1_500);
}

/// Binds a schema at one of two instances, of which the one that builds is held up. Returns that one first.
async fn held(world: &World, hold: Hold, set: fn(&mut Setup)) -> (Instance, Instance) {
    world.store("sky", "first").await;
    let mut one = world.start_with("one", set).await;
    let mut two = world.start_with("two", set).await;
    for instance in [&one, &two] {
        instance.gate.hold(hold);
    }
    one.bind("sky").await;
    let is_one = tokio::select! {
        () = one.gate.holds() => true,
        () = two.gate.holds() => false,
    };
    if !is_one {
        std::mem::swap(&mut one, &mut two);
    }
    two.gate.hold(Hold::Nothing);
    eventually("the other one waits", async || {
        two.info().await["waitsFor"]["instance"] == one.name.as_str()
    })
    .await;
    (one, two)
}

/// Waits until only the indexes are left that aliases lead to; returns their names.
async fn left(world: &World) -> Vec<String> {
    eventually("nothing else is left", async || {
        let indexes = world.indexes().await;
        indexes.len() == 2 && indexes.iter().all(|(_, has_alias)| *has_alias)
    })
    .await;
    world
        .indexes()
        .await
        .into_iter()
        .map(|(name, _)| name)
        .collect()
}

async fn a_builder_that_is_killed_is_replaced(world: &World) {
    let (one, two) = held(world, Hold::Bulks, brief).await;
    let message = two.check("2200").await["message"].to_string();
    let waits = format!("waiting for the instance `{}`", one.name);
    assert!(message.contains(&waits), "{message}");
    one.kill();
    two.until_found("first").await;
    let names = left(world).await;
    assert!(names.iter().all(|name| name.ends_with("-2-1")), "{names:?}");
}

async fn a_builder_that_stops_is_replaced_and_its_late_documents_make_no_index(world: &World) {
    let (one, two) = held(world, Hold::Bulks, brief).await;
    one.schemas.set(Manner::Silent);
    two.until_found("first").await;
    two.until_state("READY").await;
    // It goes on, and does not know that it has been replaced.
    one.schemas.set(Manner::Right);
    one.gate.hold(Hold::Nothing);
    one.gate.late().await.unwrap_err();
    one.until_found("first").await;
    one.until_state("READY").await;
    let names = left(world).await;
    assert!(names.iter().all(|name| name.ends_with("-2-1")), "{names:?}");
}

async fn a_builder_that_stops_before_it_moves_aliases_does_not_move_them_later(world: &World) {
    world.store("sea", "before").await;
    let first = world.start("zero").await;
    first.bind("sea").await;
    first.until_found("before").await;
    first.until_state("READY").await;
    first.stop().await;
    let (one, two) = held(world, Hold::Switches, brief).await;
    assert!(two.finds_all("before").await);
    one.schemas.set(Manner::Silent);
    two.until_found("first").await;
    two.until_state("READY").await;
    let aliased = async || {
        let indexes = world.indexes().await.into_iter();
        let aliased = indexes.filter(|(_, has_alias)| *has_alias);
        aliased.map(|(name, _)| name).collect::<Vec<_>>()
    };
    let before = aliased().await;
    assert_eq!(before.len(), 2, "{before:?}");
    one.schemas.set(Manner::Right);
    one.gate.hold(Hold::Nothing);
    one.gate.late().await.unwrap_err();
    one.until_found("first").await;
    one.until_state("READY").await;
    assert_eq!(aliased().await, before);
}

async fn a_builder_that_ends_in_order_leaves_its_turn_at_once(world: &World) {
    // It would not be replaced for an hour.
    let (one, two) = held(world, Hold::Bulks, |_| ()).await;
    let (gate, app) = (one.gate.clone(), one.app.clone());
    let lets_go = async {
        eventually("it ends", async || app.state().is_draining()).await;
        gate.hold(Hold::Nothing);
    };
    tokio::join!(one.stop(), lets_go);
    two.until_found("first").await;
    two.until_state("READY").await;
    left(world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_builder_that_cannot_renew_its_lease_stops_and_waits() {
    let world = World::embedded();
    let (one, two) = held(&world, Hold::Bulks, brief).await;
    one.schemas.set(Manner::Away);
    two.until_found("first").await;
    two.until_state("READY").await;
    one.gate.hold(Hold::Nothing);
    one.until_found("first").await;
    one.schemas.set(Manner::Right);
    one.until_state("READY").await;
    assert_eq!(one.gate.created(), 1, "it has built no further index");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_builder_that_fails_serves_what_another_one_builds() {
    let world = World::embedded();
    world.store("sky", "first").await;
    let one = world.start("one").await;
    one.gate.hold(Hold::FailedBulks);
    one.bind("sky").await;
    one.until_state("FAILED").await;
    let two = world.start("two").await;
    for instance in [&two, &one] {
        instance.until_found("first").await;
        instance.until_state("READY").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_are_checked_while_another_instance_builds() {
    let world = World::embedded();
    let strict = |setup: &mut Setup| setup.options.ignore_malformed = false;
    let (one, two) = held(&world, Hold::Bulks, strict).await;
    world.store("sea", "second").await;
    // It does not wait for its turn, and the other one follows.
    two.bind("sea").await;
    one.gate.hold(Hold::Nothing);
    for instance in [&one, &two] {
        instance.until_found("second").await;
        instance.until_state("READY").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn indexes_of_another_store_of_leases_are_replaced() {
    let mut world = World::embedded();
    let leases = async |world: &World| {
        let indexes = world.indexes().await.into_iter();
        let aliased = indexes.filter(|(_, has_alias)| *has_alias);
        let names = aliased.map(|(name, _)| PhysicalName::from_engine(name));
        names
            .map(|name| name.number().unwrap().lease)
            .collect::<Vec<_>>()
    };
    for property in ["first", "second", "third"] {
        world.store("sky", property).await;
        let one = world.start("one").await;
        one.bind("sky").await;
        one.until_found(property).await;
        one.until_state("READY").await;
        one.stop().await;
    }
    let before = leases(&world).await;
    assert!(before.iter().all(|lease| *lease >= 3), "{before:?}");
    world.store = Arc::new(InMemorySchemaStore::shared());
    world.store("sky", "fourth").await;
    let one = world.start("one").await;
    one.bind("sky").await;
    one.until_found("fourth").await;
    let after = leases(&world).await;
    assert_eq!(after, [before[0] + 1, before[0] + 1]);
}
