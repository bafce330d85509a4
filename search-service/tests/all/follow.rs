//! What one instance binds, replaces or unbinds is followed by the others.

use crate::gate::{Hold, Manner};
use crate::world::{World, eventually, on_both_engines};

on_both_engines! {
    what_one_binds_is_served_by_all_and_built_once
    a_rebind_a_replaced_document_and_an_unbind_are_followed
    an_instance_that_builds_no_indexes_follows_what_others_bind_and_build
}

async fn what_one_binds_is_served_by_all_and_built_once(world: &World) {
    world.store("sky", "first").await;
    let all = [
        world.start("one").await,
        world.start("two").await,
        world.start("three").await,
    ];
    assert_eq!(all[1].code().await, "SCHEMA_NOT_BOUND");
    all[0].bind("sky").await;
    for instance in &all {
        instance.until_found("first").await;
        instance.until_state("READY").await;
    }
    let names: Vec<_> = world.indexes().await;
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(
        names
            .iter()
            .all(|(name, has_alias)| name.ends_with("-1-1") && *has_alias)
    );
    let created: usize = all.iter().map(|one| one.gate.created()).sum();
    assert_eq!(created, 2, "one of them has built");
    // One that comes later serves what is bound.
    let late = world.start("four").await;
    late.until_found("first").await;
    assert_eq!(late.gate.created(), 0);
    late.stop().await;
}

async fn a_rebind_a_replaced_document_and_an_unbind_are_followed(world: &World) {
    world.store("sky", "first").await;
    let (one, two) = (world.start("one").await, world.start("two").await);
    one.bind("sky").await;
    two.until_found("first").await;
    world.store("sea", "second").await;
    two.bind("sea").await;
    one.until_found("second").await;
    // As an object service does that shares the store.
    world.store("sea", "third").await;
    for instance in [&one, &two] {
        instance.until_found("third").await;
    }
    // It is bound again, and built by none.
    let built = one.gate.created() + two.gate.created();
    two.bind("sea").await;
    two.until_state("READY").await;
    assert_eq!(one.gate.created() + two.gate.created(), built);
    two.unbind("sea").await;
    eventually("it is unbound", async || {
        one.code().await == "SCHEMA_NOT_BOUND"
    })
    .await;
    assert_eq!(one.gtg().await, (503, "SCHEMA_NOT_BOUND".to_owned()));
    one.bind("sky").await;
    two.until_found("first").await;
}

async fn an_instance_that_builds_no_indexes_follows_what_others_bind_and_build(world: &World) {
    world.store("sky", "first").await;
    let one = world.start("one").await;
    let two = world.start_with("two", |setup| setup.builds = false).await;
    one.gate.hold(Hold::Bulks);
    one.bind("sky").await;
    one.gate.holds().await;
    eventually("it waits", async || two.code().await == "INDEX_BUILDING").await;
    eventually("it says for whom", async || {
        two.info().await["waitsFor"]["instance"] == "one"
    })
    .await;
    assert_eq!(two.info().await["state"], "BUILDING");
    one.gate.hold(Hold::Nothing);
    two.until_found("first").await;
    two.until_state("READY").await;
    // What it binds itself is built by the other one, and served when it is complete.
    world.store("sea", "second").await;
    one.gate.hold(Hold::Bulks);
    two.bind("sea").await;
    eventually("the other one follows", async || {
        one.info().await["next"]["schema"] == "sea"
    })
    .await;
    for instance in [&one, &two] {
        assert!(instance.finds_all("first").await);
    }
    one.gate.hold(Hold::Nothing);
    for instance in [&one, &two] {
        instance.until_found("second").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_served_stays_while_the_store_of_schemas_is_unavailable() {
    let world = World::embedded();
    world.store("sky", "first").await;
    world.store("sea", "second").await;
    let one = world.start("one").await;
    let two = world
        .start_with("two", |setup| {
            setup.options.health_check_time = std::time::Duration::from_millis(500);
        })
        .await;
    one.bind("sky").await;
    two.until_found("first").await;
    world.until_nobody_builds().await;
    for (manner, message) in [
        (
            Manner::Away,
            "the server that stores the schemas cannot be reached",
        ),
        (
            Manner::Denied,
            "the server that stores the schemas denies access",
        ),
        (
            Manner::Silent,
            "the server that stores the schemas does not answer in time",
        ),
    ] {
        two.schemas.set(manner);
        let check = two.check("2100").await;
        assert_eq!(
            (&check["status"], &check["message"]),
            (&"ERROR".into(), &message.into())
        );
        let gtg = two.gtg().await;
        assert_eq!(gtg, (503, "SCHEMA_STORE_UNAVAILABLE".to_owned()));
        assert!(two.finds_all("first").await, "{manner:?}");
    }
    for (manner, status, code) in [
        (Manner::Away, 503, "SCHEMA_STORE_UNAVAILABLE"),
        (Manner::Denied, 502, "SCHEMA_STORE_DENIED"),
    ] {
        two.schemas.set(manner);
        let (found, answer) = two.send("PUT", "/soml/sea/search").await;
        assert_eq!(
            (found, crate::world::code(&answer).as_str()),
            (status, code)
        );
    }
    one.bind("sea").await;
    one.until_found("second").await;
    assert!(two.finds_all("first").await);
    two.schemas.set(Manner::Right);
    two.until_found("second").await;
    eventually("it is well", async || {
        two.check("2100").await["status"] == "OK"
    })
    .await;
    assert_eq!(two.gtg().await.0, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_instance_that_starts_without_the_store_of_schemas_binds_when_it_is_there() {
    let world = World::embedded();
    world.store("sky", "first").await;
    let one = world.start("one").await;
    one.bind("sky").await;
    let two = world
        .start_with("two", |setup| setup.manner = Manner::Away)
        .await;
    assert_eq!(two.code().await, "SCHEMA_NOT_BOUND");
    assert_eq!(
        two.gtg().await,
        (503, "SCHEMA_STORE_UNAVAILABLE".to_owned())
    );
    two.schemas.set(Manner::Right);
    two.until_found("first").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_that_cannot_be_used_leaves_what_is_served_and_is_said() {
    let world = World::embedded();
    world.store("sky", "first").await;
    let one = world.start("one").await;
    one.bind("sky").await;
    one.until_found("first").await;
    world.replace("sky", "objects: 1").await;
    eventually("it is said", async || {
        let check = one.check("2100").await;
        let message = check["message"].as_str().unwrap().to_owned();
        check["status"] == "WARNING" && message.contains("cannot be used here (SCHEMA_INVALID)")
    })
    .await;
    assert!(one.finds_all("first").await);
    world.replace("sky", &world.soml("sky", "second")).await;
    one.until_found("second").await;
    eventually("it is well", async || {
        one.check("2100").await["status"] == "OK"
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_service_is_started_with_comes_before_what_was_bound() {
    let world = World::embedded();
    world.store("sky", "first").await;
    world.store("sea", "second").await;
    let one = world.start("one").await;
    one.bind("sky").await;
    one.until_found("first").await;
    let two = world
        .start_with("two", |setup| setup.first = Some("sea"))
        .await;
    for instance in [&one, &two] {
        instance.until_found("second").await;
    }
}
