//! Buckets of values.

use search_index::dsl::{
    Aggregation, AggregationKind, BucketOrder, Counted, Query, Search, TermsAggregation, Value,
};
use search_index::engine::Engine;
use serde_json::json;

use super::Fixture;
use super::bools::tag;
use super::fixture::written;

super::cases! {
    values_count_documents,
    every_type_has_buckets,
    buckets_have_an_order,
    small_buckets_are_left_out,
    what_is_left_out_is_counted,
    documents_without_a_value_may_have_one,
    values_without_documents_may_be_there,
    buckets_hold_aggregations,
    aggregations_are_of_what_matches,
    what_has_no_buckets_is_refused,
}

const THING: &str = "
  Thing:
    search: yes
    props:
      tag: {max: inf}
      mass: {range: decimal, max: inf}
      heat: {range: double, max: inf}
      size: {range: int, max: inf}
      huge: {range: unsignedLong, max: inf}
      on: {range: boolean, max: inf}
      seen: {range: dateTime, max: inf}
";

async fn things(engine: Engine) -> Fixture {
    let things = Fixture::empty(engine, THING).await;
    things.write(&json!([
        {"id": 1, "tag": ["a", "b", "c"], "mass": ["1.0", "2"], "heat": [0.5], "size": [1, 1, 2], "huge": ["18446744073709551615"], "on": [true], "seen": ["1970-01-01T00:00:00Z"]},
        {"id": 2, "tag": ["a", "b"], "mass": ["1"], "heat": [-0.5, 0.5], "size": [2], "huge": ["1"], "on": [true, false]},
    ])).await;
    things
        .write(&json!([
            {"id": 3, "tag": ["a", "d"], "size": [10], "on": [false]},
            {"id": 4, "tag": ["e"]},
            {"id": 5},
        ]))
        .await;
    things
}

fn terms(field: &str) -> TermsAggregation {
    TermsAggregation {
        field: field.to_owned(),
        size: 100,
        min_doc_count: 1,
        order: BucketOrder::CountDescending,
        missing: None,
        counts: Counted::default(),
    }
}

fn named(terms: TermsAggregation, aggregations: Vec<Aggregation>) -> Aggregation {
    Aggregation {
        name: "found".to_owned(),
        kind: AggregationKind::Terms(terms),
        aggregations,
    }
}

fn search(query: Option<Query>, aggregation: Aggregation) -> Search {
    Search {
        query,
        size: 0,
        aggregations: vec![aggregation],
        ..Search::default()
    }
}

async fn expect(things: &Fixture, terms: TermsAggregation, expected: &str) {
    let text = format!("{terms:?}");
    let answer = things.search(&search(None, named(terms, vec![]))).await;
    assert_eq!(answer.aggregations[0].name, "found");
    assert_eq!(written(&answer.aggregations[0].content), expected, "{text}");
}

async fn values_count_documents(engine: Engine) {
    let things = things(engine).await;
    expect(&things, terms("tag.keyword"), "a:3 b:2 c:1 d:1 e:1").await;
    // Two equal values of one document count once.
    expect(&things, terms("size"), "2:2 1:1 10:1").await;
    things.end().await;
}

async fn every_type_has_buckets(engine: Engine) {
    let things = things(engine).await;
    let cases = [
        ("mass", "1.0:2 2.0:1"),
        ("heat", "0.5:2 -0.5:1"),
        ("huge", "1:1 18446744073709551615:1"),
        ("on", "false:2 true:2"),
        ("seen", "0:1"),
        (
            "id",
            "http://e/1:1 http://e/2:1 http://e/3:1 http://e/4:1 http://e/5:1",
        ),
        ("type", "http://e/Thing:5"),
    ];
    for (field, expected) in cases {
        expect(&things, terms(field), expected).await;
    }
    things.end().await;
}

async fn buckets_have_an_order(engine: Engine) {
    use BucketOrder::{CountAscending, CountDescending, KeyAscending, KeyDescending};
    let things = things(engine).await;
    let cases = [
        (CountDescending, "a:3 b:2 c:1 d:1 e:1"),
        (CountAscending, "c:1 d:1 e:1 b:2 a:3"),
        (KeyAscending, "a:3 b:2 c:1 d:1 e:1"),
        (KeyDescending, "e:1 d:1 c:1 b:2 a:3"),
    ];
    for (order, expected) in cases {
        let ordered = TermsAggregation {
            order,
            ..terms("tag.keyword")
        };
        expect(&things, ordered, expected).await;
    }
    let numbers = TermsAggregation {
        order: KeyDescending,
        ..terms("size")
    };
    expect(&things, numbers, "10:1 2:2 1:1").await;
    things.end().await;
}

async fn small_buckets_are_left_out(engine: Engine) {
    let things = things(engine).await;
    let least = |min_doc_count| TermsAggregation {
        min_doc_count,
        ..terms("tag.keyword")
    };
    expect(&things, least(2), "a:3 b:2").await;
    expect(&things, least(4), "").await;
    things.end().await;
}

async fn what_is_left_out_is_counted(engine: Engine) {
    let things = things(engine).await;
    let first = |size, order| TermsAggregation {
        size,
        order,
        ..terms("tag.keyword")
    };
    expect(
        &things,
        first(2, BucketOrder::CountDescending),
        "a:3 b:2 +3",
    )
    .await;
    expect(&things, first(1, BucketOrder::KeyDescending), "e:1 +7").await;
    expect(
        &things,
        first(5, BucketOrder::KeyAscending),
        "a:3 b:2 c:1 d:1 e:1",
    )
    .await;
    things.end().await;
}

async fn documents_without_a_value_may_have_one(engine: Engine) {
    let things = things(engine).await;
    let missing = |field: &str, missing: Value| TermsAggregation {
        missing: Some(missing),
        ..terms(field)
    };
    expect(
        &things,
        missing("tag.keyword", "none".into()),
        "a:3 b:2 c:1 d:1 e:1 none:1",
    )
    .await;
    expect(
        &things,
        missing("tag.keyword", "e".into()),
        "a:3 b:2 e:2 c:1 d:1",
    )
    .await;
    expect(&things, missing("size", Value::Integer(2)), "2:4 1:1 10:1").await;
    expect(
        &things,
        missing("on", Value::Boolean(false)),
        "false:4 true:2",
    )
    .await;
    things.end().await;
}

async fn values_without_documents_may_be_there(engine: Engine) {
    let things = things(engine).await;
    let all = TermsAggregation {
        min_doc_count: 0,
        order: BucketOrder::KeyAscending,
        ..terms("tag.keyword")
    };
    let answer = things
        .search(&search(Some(tag("d")), named(all, vec![])))
        .await;
    assert_eq!(
        written(&answer.aggregations[0].content),
        "a:1 b:0 c:0 d:1 e:0"
    );
    things.end().await;
}

async fn buckets_hold_aggregations(engine: Engine) {
    let things = things(engine).await;
    let inner = || vec![named(terms("on"), vec![])];
    let outer = TermsAggregation {
        missing: Some("none".into()),
        ..terms("tag.keyword")
    };
    let answer = things.search(&search(None, named(outer, inner()))).await;
    assert_eq!(
        written(&answer.aggregations[0].content),
        "a:3(false:2 true:2) b:2(true:2 false:1) c:1(true:1) d:1(false:1) e:1() none:1()"
    );
    let numbers = named(terms("size"), vec![named(terms("tag.keyword"), inner())]);
    let answer = things.search(&search(Some(tag("c")), numbers)).await;
    assert_eq!(
        written(&answer.aggregations[0].content),
        "1:1(a:1(true:1) b:1(true:1) c:1(true:1)) 2:1(a:1(true:1) b:1(true:1) c:1(true:1))"
    );
    things.end().await;
}

async fn aggregations_are_of_what_matches(engine: Engine) {
    let things = things(engine).await;
    let answer = things
        .search(&search(Some(tag("b")), named(terms("tag.keyword"), vec![])))
        .await;
    assert_eq!(written(&answer.aggregations[0].content), "a:2 b:2 c:1");
    let answer = things
        .search(&search(
            Some(Query::MatchNone),
            named(terms("tag.keyword"), vec![]),
        ))
        .await;
    assert_eq!(written(&answer.aggregations[0].content), "");
    things.end().await;
}

async fn what_has_no_buckets_is_refused(engine: Engine) {
    let things = things(engine).await;
    things
        .expect_refusal(&search(None, named(terms("tag"), vec![])))
        .await;
    things.end().await;
}
