//! Clients see no error and no part of an index while instances bind and build.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::join_all;

use crate::world::{World, eventually, is_all, on_both_engines};

on_both_engines! {
    clients_of_all_instances_see_no_error_while_schemas_are_bound_and_rebuilt
}

/// Clients of each instance.
const CLIENTS: usize = 25;

async fn clients_of_all_instances_see_no_error_while_schemas_are_bound_and_rebuilt(world: &World) {
    world.store("sky", "round0").await;
    // Replaced indexes are deleted while clients still search.
    let set = |setup: &mut crate::world::Setup| {
        setup.options.drop_delay = Duration::from_secs(2);
    };
    let one = &world.start_with("one", set).await;
    let two = &world.start_with("two", set).await;
    one.bind("sky").await;
    for instance in [one, two] {
        instance.until_found("round0").await;
    }
    let (ends, searches) = (&AtomicBool::new(false), &AtomicUsize::new(0));
    let clients = (0..CLIENTS)
        .flat_map(|_| [one, two])
        .map(|instance| async move {
            while !ends.load(Ordering::Relaxed) {
                let answer = instance.search().await;
                assert!(is_all(&answer), "{answer:#}");
                searches.fetch_add(1, Ordering::Relaxed);
            }
        });
    let binds = async {
        for round in 1..=6 {
            let id = if round % 2 == 0 { "sky" } else { "sea" };
            world.store(id, &format!("round{round}")).await;
            let (binding, other) = if round % 3 == 0 {
                (two, one)
            } else {
                (one, two)
            };
            binding.bind(id).await;
            if round % 2 == 0 {
                // Another one comes before it is complete.
                continue;
            }
            other.until_found(&format!("round{round}")).await;
        }
        for instance in [one, two] {
            instance.until_found("round6").await;
        }
        // What was replaced goes while clients go on.
        eventually("replaced indexes are deleted", async || {
            let indexes = world.indexes().await;
            indexes.iter().all(|(_, has_alias)| *has_alias)
        })
        .await;
        ends.store(true, Ordering::Relaxed);
    };
    tokio::join!(join_all(clients), binds);
    assert!(searches.load(Ordering::Relaxed) > CLIENTS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_of_an_index_that_was_just_replaced_and_deleted_finds_its_successor() {
    let world = World::embedded();
    world.store("sky", "first").await;
    let set = |setup: &mut crate::world::Setup| {
        // Nobody looks at aliases for a long time.
        setup.options.follow_interval = Duration::from_secs(3_600);
    };
    let one = world
        .start_with("one", |setup| {
            setup.options.drop_delay = Duration::ZERO;
            setup.options.remove_previous = true;
        })
        .await;
    one.bind("sky").await;
    one.until_found("first").await;
    one.until_state("READY").await;
    let two = world.start_with("two", set).await;
    two.until_found("first").await;
    let before = world.indexes().await;
    one.bind("sky").await;
    eventually("other indexes have taken their places", async || {
        let now = world.indexes().await;
        now.len() == 2 && now.iter().all(|index| !before.contains(index))
    })
    .await;
    assert!(is_all(&two.search().await));
}
