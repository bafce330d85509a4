//! Searches that are made to do harm are answered or refused, and the engine goes on.

use std::collections::BTreeSet;

use search_index::dsl::{
    Aggregation, AggregationKind, Bool, BucketOrder, Counted, Fuzziness, Ids, Match, Prefix, Query,
    Search, Terms, TermsAggregation, Value,
};
use search_index::engine::{Answer, BulkOperation, Engine, EngineError};
use serde_json::{Value as Json, json};

use super::Fixture;
use super::bools::tag;
use super::fixture::names;

super::cases! {
    many_clauses_are_answered,
    many_values_are_answered_or_refused,
    similar_terms_of_a_long_text_are_bounded,
    beginnings_of_all_terms_are_answered,
    more_buckets_than_an_engine_holds_are_refused,
}

const THING: &str = "
  Thing:
    search: yes
    props: {tag: {max: inf}, size: {range: int}, seen: {range: dateTime}, text: {}}
";

async fn things(engine: Engine) -> Fixture {
    let data: Vec<Json> = (0..20)
        .map(|id| {
            let seen = format!("19{:02}-01-01T00:00:00Z", 60 + id);
            json!({"id": id, "tag": [format!("t{id}")], "size": id, "seen": seen})
        })
        .collect();
    Fixture::new(engine, THING, json!(data)).await
}

/// Checks that a search is answered, or refused in words for whoever asks.
fn is_answered(answer: Result<Answer, EngineError>) -> Option<Answer> {
    match answer {
        Ok(answer) => Some(answer),
        Err(EngineError::Unsupported(_)) => None,
        Err(error) => panic!("{error:?}"),
    }
}

fn all_of(query: Query) -> Search {
    Search {
        query: Some(query),
        size: 100,
        ..Search::default()
    }
}

async fn many_clauses_are_answered(engine: Engine) {
    let things = things(engine).await;
    let deep = (0..19).fold(tag("t7"), |inner, _| {
        Query::Bool(Bool {
            must: vec![inner],
            ..Bool::default()
        })
    });
    things.expect(deep, "7").await;
    let wide = Query::Bool(Bool {
        should: (0..998)
            .map(|at| tag(&format!("t{}", 7 + 20 * at)))
            .collect(),
        ..Bool::default()
    });
    things.expect(wide, "7").await;
    things.end().await;
}

async fn many_values_are_answered_or_refused(engine: Engine) {
    let things = things(engine).await;
    let terms = |field: &str, value: &dyn Fn(i64) -> Value| {
        all_of(Query::Terms(Terms {
            field: field.to_owned(),
            values: (0..10_000).map(value).collect(),
            boost: None,
        }))
    };
    let text = |at: i64| Value::Text(format!("t{at}"));
    let number = Value::Integer;
    // Each of them lies before 1970, and no two are neighbours.
    let instant = |at: i64| Value::Integer(-2 * at);
    for (search, expected) in [
        (terms("tag.keyword", &text), Some(20)),
        (terms("size", &number), Some(20)),
        (terms("seen", &instant), None),
    ] {
        let answer = is_answered(things.try_search(&search).await);
        let hits = answer.map(|answer| answer.hits.len());
        assert!(hits == expected || expected.is_none(), "{hits:?}");
    }
    let ids = all_of(Query::Ids(Ids {
        values: (0..10_000).map(|at| format!("http://e/{at}")).collect(),
        boost: None,
    }));
    assert_eq!(things.search(&ids).await.hits.len(), 20);
    things.end().await;
}

/// A thing with about a megabyte of text: as many different words as fit.
async fn with_long_text(engine: Engine) -> Fixture {
    let words: Vec<_> = (0..130_000).map(|at| format!("w{at:06}")).collect();
    let things = Fixture::new(engine, THING, json!([{"id": 2, "text": "w0"}])).await;
    // Its whole value is too long for a keyword, its words are there.
    let long = json!({"id": 1, "text": words.join(" ")});
    let long = [things.objects.document(&long)];
    assert_eq!(long[0].malformed.len(), 1);
    let long = BulkOperation::all(long);
    let written = things
        .engine
        .bulk(things.binding(), &long, 0, &things.context);
    assert_eq!(written.await.expect("written"), []);
    let refreshed = things.engine.refresh(&things.name, &things.context);
    refreshed.await.expect("refreshed");
    things
}

async fn similar_terms_of_a_long_text_are_bounded(engine: Engine) {
    let things = with_long_text(engine).await;
    let fuzzy = |text: String| {
        Query::Match(Match {
            fuzziness: Some(Fuzziness::Edits(2)),
            max_expansions: Some(1_000),
            ..Match::new("text", text)
        })
    };
    assert_eq!(things.ids(fuzzy("w012345".to_owned())).await, ["1"]);
    let words: Vec<_> = (0..50).map(|at| format!("x{at:05}")).collect();
    let many = all_of(fuzzy(words.join(" ")));
    is_answered(things.try_search(&many).await);
    let nothing = fuzzy("z".repeat(500));
    assert!(things.ids(nothing).await.is_empty());
    things.end().await;
}

async fn beginnings_of_all_terms_are_answered(engine: Engine) {
    let things = with_long_text(engine).await;
    for (value, expected) in [
        ("", vec!["1", "2"]),
        ("w", vec!["1", "2"]),
        ("w1299", vec!["1"]),
    ] {
        let prefix = Query::Prefix(Prefix {
            field: "text".to_owned(),
            value: value.to_owned(),
            case_insensitive: false,
            boost: None,
        });
        let answer = is_answered(things.try_search(&all_of(prefix)).await);
        let found: BTreeSet<_> = answer.iter().flat_map(names).collect();
        assert!(found.iter().eq(&expected), "{value}: {found:?}");
    }
    things.end().await;
}

async fn more_buckets_than_an_engine_holds_are_refused(engine: Engine) {
    let tags: Vec<_> = (0..300).map(|at| format!("t{at}")).collect();
    let things = Fixture::new(engine, THING, json!([{"id": 1, "tag": tags}])).await;
    let by_tag = |name: &str, aggregations: Vec<Aggregation>| Aggregation {
        name: name.to_owned(),
        kind: AggregationKind::Terms(TermsAggregation {
            field: "tag.keyword".to_owned(),
            size: 10_000,
            min_doc_count: 1,
            order: BucketOrder::default(),
            missing: None,
            counts: Counted::default(),
        }),
        aggregations,
    };
    let search = |aggregation: Aggregation| Search {
        size: 0,
        aggregations: vec![aggregation],
        ..Search::default()
    };
    let some = search(by_tag("a", vec![by_tag("b", Vec::new())]));
    things.expect_refusal(&some).await;
    // The engine goes on.
    let few = things.search(&search(by_tag("a", Vec::new()))).await;
    assert_eq!(few.aggregations.len(), 1);
    things.end().await;
}
