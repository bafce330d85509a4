//! Indexes: creating, writing, refreshing, moving aliases, deleting.

use std::time::{Duration, Instant};

use search_index::dsl::{Query, Search};
use search_index::engine::{Binding, BulkOperation, Engine, EngineError, PhysicalName, Switch};
use search_index::graph_store::call_context::{CallContext, CallError};
use search_index::mapping::Owner;
use serde_json::json;

use super::Fixture;
use super::fixture::names;

super::cases! {
    writes_are_found_after_a_refresh,
    a_document_takes_the_place_of_that_of_its_id,
    ids_come_in_pages,
    an_index_has_one_name,
    an_index_says_whose_it_is,
    aliases_move_at_once,
    an_alias_is_not_moved_from_an_index_of_a_later_lease,
    what_is_not_there_is_not_found,
    a_search_ends_at_its_deadline,
    the_engine_says_what_it_is,
}

const THING: &str = "  Thing: {search: yes, props: {tag: {max: inf}}}\n";

async fn count(fixture: &Fixture) -> u64 {
    let count = fixture.engine.count(&fixture.name, &fixture.context).await;
    count.expect("a number")
}

async fn writes_are_found_after_a_refresh(engine: Engine) {
    let things = Fixture::empty(engine, THING).await;
    assert_eq!(count(&things).await, 0);
    assert_eq!(names(&things.search(&Search::default()).await), [""; 0]);
    let document = things.objects.document(&json!({"id": 1, "tag": "a"}));
    let rejected = things
        .engine
        .bulk(
            things.binding(),
            &[BulkOperation::Index(document)],
            0,
            &things.context,
        )
        .await;
    assert_eq!(rejected.expect("it is written"), []);
    assert_eq!(names(&things.search(&Search::default()).await), [""; 0]);
    things
        .engine
        .refresh(&things.name, &things.context)
        .await
        .expect("refreshed");
    assert_eq!(names(&things.search(&Search::default()).await), ["1"]);
    assert_eq!(count(&things).await, 1);
    things.end().await;
}

async fn a_document_takes_the_place_of_that_of_its_id(engine: Engine) {
    let things = Fixture::new(
        engine,
        THING,
        json!([{"id": 1, "tag": "a"}, {"id": 2, "tag": "a"}]),
    )
    .await;
    things.write(&json!([{"id": 1, "tag": "b"}])).await;
    things.expect(super::bools::tag("a"), "2").await;
    things.expect(super::bools::tag("b"), "1").await;
    // The last one of a bulk wins.
    things
        .write(&json!([{"id": 2, "tag": "c"}, {"id": 2, "tag": "d"}]))
        .await;
    things.expect(super::bools::tag("c"), "").await;
    things.expect(super::bools::tag("d"), "2").await;
    assert_eq!(count(&things).await, 2);
    things.end().await;
}

async fn ids_come_in_pages(engine: Engine) {
    let things = Fixture::empty(engine, THING).await;
    for part in [vec!["b", "d", "é"], vec!["a", "c", "Z"], vec!["d"]] {
        let data: Vec<_> = part
            .iter()
            .map(|id| json!({"id": *id, "tag": "x"}))
            .collect();
        things.write(&json!(data)).await;
    }
    let expected = ["Z", "a", "b", "c", "d", "é"].map(|id| format!("http://e/{id}"));
    for size in [1, 2, 100] {
        let (mut all, mut after) = (Vec::new(), None::<String>);
        loop {
            let page = things
                .engine
                .ids(&things.name, after.as_deref(), size, &things.context)
                .await;
            let page = page.expect("ids");
            assert!(page.len() <= size);
            let Some(last) = page.last() else { break };
            after = Some(last.clone());
            all.extend(page);
        }
        assert_eq!(all, expected);
    }
    things.end().await;
}

async fn an_index_has_one_name(engine: Engine) {
    let things = Fixture::new(engine, THING, json!([{"id": 1}])).await;
    let again = things
        .engine
        .create(things.binding(), &Owner::new("cases"), &things.context)
        .await;
    assert!(
        matches!(again, Err(EngineError::NotOurs { .. })),
        "{again:?}"
    );
    assert_eq!(count(&things).await, 1);
    things.end().await;
}

async fn an_index_says_whose_it_is(engine: Engine) {
    let things = Fixture::empty(engine, THING).await;
    let indexes = things
        .engine
        .indexes(&things.context)
        .await
        .expect("indexes");
    assert!(indexes.is_sorted_by_key(|index| index.name.clone()));
    let own = indexes
        .into_iter()
        .find(|index| index.name == things.name)
        .expect("it is there");
    let mark = own.mark.expect("it is marked");
    assert_eq!(
        [&*mark.application, &*mark.schema, &*mark.object],
        ["cases", "/soml/cases", "Thing"]
    );
    assert_eq!(mark.fingerprint, things.objects.definition.fingerprint);
    assert_eq!(own.aliases, [""; 0]);
    things.end().await;
}

async fn aliases_of(fixture: &Fixture) -> Vec<String> {
    let indexes = fixture
        .engine
        .indexes(&fixture.context)
        .await
        .expect("indexes");
    let own = indexes.into_iter().find(|index| index.name == fixture.name);
    own.expect("it is there").aliases
}

async fn aliases_move_at_once(engine: Engine) {
    let old = Fixture::empty(engine.clone(), THING).await;
    let new = Fixture::empty(engine, THING).await;
    let (one, other) = (format!("{}-one", old.name), format!("{}-other", old.name));
    let to = |alias: &str, to: Option<&PhysicalName>| Switch {
        alias: alias.to_owned(),
        to: to.cloned(),
        replaces_index: false,
        lease: 0,
    };
    let switch = |switches: Vec<Switch>| {
        let (engine, context) = (old.engine.clone(), old.context.clone());
        async move { engine.switch(&switches, &context).await }
    };
    switch(vec![to(&one, Some(&old.name)), to(&other, Some(&old.name))])
        .await
        .expect("moved");
    assert_eq!(aliases_of(&old).await, [one.clone(), other.clone()]);
    let none = PhysicalName::from_engine("svc-thing-none");
    let refused = switch(vec![to(&one, Some(&new.name)), to(&other, Some(&none))]).await;
    assert!(
        matches!(refused, Err(EngineError::NotFound { .. })),
        "{refused:?}"
    );
    assert_eq!(aliases_of(&old).await, [one.clone(), other.clone()]);
    switch(vec![to(&one, Some(&new.name)), to(&other, None)])
        .await
        .expect("moved");
    assert_eq!(aliases_of(&old).await, [""; 0]);
    assert_eq!(aliases_of(&new).await, std::slice::from_ref(&one));
    // An index may stand where the alias belongs.
    let replaced = Switch {
        replaces_index: true,
        ..to(old.name.as_str(), Some(&new.name))
    };
    switch(vec![replaced]).await.expect("moved");
    let indexes = new.engine.indexes(&new.context).await.expect("indexes");
    assert!(indexes.iter().all(|index| index.name != old.name));
    let mut expected = vec![old.name.to_string(), one];
    expected.sort();
    assert_eq!(aliases_of(&new).await, expected);
    new.end().await;
}

async fn an_alias_is_not_moved_from_an_index_of_a_later_lease(engine: Engine) {
    let earlier = Fixture::empty_under(engine.clone(), THING, 4).await;
    let later = Fixture::empty_under(engine, THING, 5).await;
    let alias = earlier.objects.definition.alias();
    let (engine, context) = (&later.engine, &later.context);
    let switch = async |to: Option<&Fixture>, lease| {
        let switch = Switch {
            alias: alias.clone(),
            to: to.map(|fixture| fixture.name.clone()),
            replaces_index: false,
            lease,
        };
        engine.switch(&[switch], context).await
    };
    switch(Some(&earlier), 4).await.expect("moved");
    switch(Some(&later), 5).await.expect("moved");
    for to in [Some(&earlier), None] {
        let refused = switch(to, 4).await;
        assert!(
            matches!(refused, Err(EngineError::Outdated { .. })),
            "{refused:?}"
        );
        assert_eq!(aliases_of(&later).await, std::slice::from_ref(&alias));
    }
    switch(None, 5).await.expect("removed");
    assert_eq!(aliases_of(&later).await, [""; 0]);
    earlier.end().await;
    later.end().await;
}

async fn what_is_not_there_is_not_found(engine: Engine) {
    let things = Fixture::empty(engine, THING).await;
    let name = PhysicalName::from_engine("svc-thing-none");
    let binding = Binding {
        definition: &things.objects.definition,
        name: &name,
    };
    let context = &things.context;
    let is_missing =
        |error: Option<EngineError>| matches!(error, Some(EngineError::NotFound { .. }));
    assert!(is_missing(
        things
            .engine
            .search(binding, &Search::default(), context)
            .await
            .err()
    ));
    assert!(is_missing(things.engine.count(&name, context).await.err()));
    assert!(is_missing(
        things.engine.ids(&name, None, 1, context).await.err()
    ));
    things
        .engine
        .delete(&name, context)
        .await
        .expect("nothing is to be deleted");
    things.end().await;
}

async fn a_search_ends_at_its_deadline(engine: Engine) {
    let things = Fixture::new(engine, THING, json!([{"id": 1}])).await;
    let past = Instant::now()
        .checked_sub(Duration::from_secs(1))
        .expect("the clock is older");
    let late = CallContext::new().with_deadline(past);
    let search = Search {
        query: Some(Query::MatchAll { boost: None }),
        ..Search::default()
    };
    let answer = things.engine.search(things.binding(), &search, &late).await;
    assert!(
        matches!(answer, Err(EngineError::Call(CallError::Deadline))),
        "{answer:?}"
    );
    let cancelled = CallContext::new();
    cancelled.cancellation.cancel();
    let answer = things
        .engine
        .search(things.binding(), &search, &cancelled)
        .await;
    assert!(
        matches!(answer, Err(EngineError::Call(CallError::Cancelled))),
        "{answer:?}"
    );
    things.end().await;
}

async fn the_engine_says_what_it_is(engine: Engine) {
    let context = CallContext::new();
    let info = engine.info(&context).await.expect("it answers");
    assert!(!info.name.is_empty() && !info.version.is_empty());
    assert!(info.analyzers.contains("standard") && info.analyzers.contains("english"));
    let health = engine.health(&[], &context).await.expect("it answers");
    assert!(health.nodes > 0, "{health:?}");
}
