//! Combinations of clauses: `bool`, `dis_max`, `constant_score`, and what matches all or nothing.

use search_index::dsl::{Bool, DisMax, Exists, MinimumShouldMatch, Query, Term};
use search_index::engine::Engine;
use serde_json::json;

use super::Fixture;

super::cases! {
    everything_and_nothing_match_so,
    all_of_must_and_filter_match,
    some_of_should_match_as_many_as_asked_for,
    none_of_must_not_matches,
    combinations_nest,
    one_of_several_is_enough_for_the_best,
}

async fn tags(engine: Engine) -> Fixture {
    let objects = "  Thing: {search: yes, props: {tag: {max: inf}}}\n";
    let data = json!([
        {"id": 1, "tag": ["a"]},
        {"id": 2, "tag": ["a", "b"]},
        {"id": 3, "tag": ["a", "b", "c"]},
        {"id": 4, "tag": ["c"]},
        {"id": 5},
    ]);
    Fixture::new(engine, objects, data).await
}

pub(super) fn tag(value: &str) -> Query {
    Query::Term(Term {
        field: "tag".to_owned(),
        value: value.into(),
        case_insensitive: false,
        boost: None,
    })
}

fn all(tags: &str) -> Vec<Query> {
    tags.split_whitespace().map(tag).collect()
}

async fn everything_and_nothing_match_so(engine: Engine) {
    let tags = tags(engine).await;
    tags.expect(Query::MatchAll { boost: None }, "1 2 3 4 5")
        .await;
    tags.expect(Query::MatchNone, "").await;
    tags.expect(Query::Bool(Bool::default()), "1 2 3 4 5").await;
    let constant = |filter| Query::ConstantScore {
        filter: Box::new(filter),
        boost: None,
    };
    tags.expect(constant(tag("b")), "2 3").await;
    tags.expect(constant(Query::MatchNone), "").await;
    tags.end().await;
}

async fn all_of_must_and_filter_match(engine: Engine) {
    let tags = tags(engine).await;
    let both = |must, filter| {
        Query::Bool(Bool {
            must: all(must),
            filter: all(filter),
            ..Bool::default()
        })
    };
    let cases = [
        (both("a", ""), "1 2 3"),
        (both("a b", ""), "2 3"),
        (both("a", "c"), "3"),
        (both("", "a b"), "2 3"),
        (both("a x", ""), ""),
    ];
    for (query, expected) in cases {
        tags.expect(query, expected).await;
    }
    tags.end().await;
}

async fn some_of_should_match_as_many_as_asked_for(engine: Engine) {
    let tags = tags(engine).await;
    let some = |must, should, minimum: Option<&str>| {
        Query::Bool(Bool {
            must: all(must),
            should: all(should),
            minimum_should_match: minimum
                .map(|minimum| minimum.parse::<MinimumShouldMatch>().expect("a minimum")),
            ..Bool::default()
        })
    };
    let cases = [
        (some("", "b c", None), "2 3 4"),
        (some("", "b c", Some("2")), "3"),
        (some("", "b c", Some("0")), "2 3 4"),
        (some("", "b c", Some("3")), ""),
        (some("", "a b c", Some("67%")), "2 3"),
        (some("a", "b c", None), "1 2 3"),
        (some("a", "b c", Some("1")), "2 3"),
        (some("a", "b c", Some("-1")), "2 3"),
        (some("a", "x", Some("1")), ""),
        (some("a", "", Some("1")), ""),
    ];
    for (query, expected) in cases {
        tags.expect(query, expected).await;
    }
    tags.end().await;
}

async fn none_of_must_not_matches(engine: Engine) {
    let tags = tags(engine).await;
    let without = |must, must_not| {
        Query::Bool(Bool {
            must: all(must),
            must_not: all(must_not),
            ..Bool::default()
        })
    };
    let cases = [
        (without("", "a"), "4 5"),
        (without("a", "b"), "1"),
        (without("a", "b c"), "1"),
        (without("a", "a"), ""),
        (without("a", "x"), "1 2 3"),
    ];
    for (query, expected) in cases {
        tags.expect(query, expected).await;
    }
    let exists = Query::Exists(Exists {
        field: "tag".to_owned(),
        boost: None,
    });
    let missing = Query::Bool(Bool {
        must_not: vec![exists],
        ..Bool::default()
    });
    tags.expect(missing, "5").await;
    tags.end().await;
}

async fn combinations_nest(engine: Engine) {
    let tags = tags(engine).await;
    let either = Query::Bool(Bool {
        should: vec![
            Query::Bool(Bool {
                must: all("a b"),
                must_not: all("c"),
                ..Bool::default()
            }),
            Query::Bool(Bool {
                filter: all("c"),
                must_not: all("a"),
                ..Bool::default()
            }),
        ],
        ..Bool::default()
    });
    tags.expect(either, "2 4").await;
    tags.end().await;
}

async fn one_of_several_is_enough_for_the_best(engine: Engine) {
    let tags = tags(engine).await;
    let best = |queries| {
        Query::DisMax(DisMax {
            queries,
            tie_breaker: Some(0.3),
            boost: None,
        })
    };
    tags.expect(best(all("b c x")), "2 3 4").await;
    tags.expect(best(Vec::new()), "").await;
    tags.expect(best(vec![Query::MatchNone, tag("c")]), "3 4")
        .await;
    tags.end().await;
}
