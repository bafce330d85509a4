//! Pages of hits, their sources, and how many there are.

use search_index::dsl::{
    Aggregation, AggregationKind, BucketOrder, Counted, FieldSort, Missing, Query, Search, Sort,
    Term, TermsAggregation, TotalHits, Value,
};
use search_index::engine::{Engine, Total};
use serde_json::{Value as Json, json};

use super::Fixture;
use super::bools::tag;
use super::fixture::{names, written};

super::cases! {
    pages_are_parts_of_the_whole_order,
    pages_go_on_behind_the_keys_of_a_hit,
    all_matches_are_counted_unless_not_wanted,
    a_post_filter_leaves_aggregations_alone,
    sources_have_the_fields_that_are_asked_for,
    keys_that_do_not_fit_are_refused,
}

const THING: &str = "
  Thing:
    search: yes
    props: {tag: {max: inf}, size: {range: int, max: inf}, heat: {range: double}, huge: {range: unsignedLong}, on: {range: boolean}}
";

/// Fourteen things in several writes, some without values and many with the same.
async fn things(engine: Engine) -> Fixture {
    let things = Fixture::empty(engine, THING).await;
    let tags = ["x", "y", "z"];
    let all: Vec<Json> = (0..14_usize)
        .map(|at| match at % 7 {
            6 => json!({"id": format!("{at:02}")}),
            rest => json!({"id": format!("{at:02}"), "tag": [tags[at % 3]], "size": [rest, at],
                           "heat": f64::from(rest as u32) / 2.0, "huge": u64::MAX - rest as u64, "on": at % 2 == 0}),
        })
        .collect();
    for part in all.chunks(5) {
        things.write(&json!(part)).await;
    }
    things
}

fn by(field: &str, descending: bool, missing: Missing) -> Vec<Sort> {
    let by = Sort::Field(FieldSort {
        field: field.to_owned(),
        descending,
        mode: None,
        missing,
        nested: None,
    });
    vec![by, Sort::field("id")]
}

async fn pages_are_parts_of_the_whole_order(engine: Engine) {
    let things = things(engine).await;
    let search = |from, size| Search {
        from,
        size,
        sort: by("size", true, Missing::First),
        ..Search::default()
    };
    let all = names(&things.search(&search(0, 100)).await);
    assert_eq!(all.len(), 14);
    for (from, size) in [(0, 3), (3, 5), (12, 5), (14, 5), (20, 1), (0, 0), (5, 0)] {
        let page = names(&things.search(&search(from, size)).await);
        let (from, size) = (from as usize, size as usize);
        let expected: Vec<_> = all.iter().skip(from).take(size).cloned().collect();
        assert_eq!(page, expected, "{from} {size}");
    }
    things.end().await;
}

async fn pages_go_on_behind_the_keys_of_a_hit(engine: Engine) {
    let things = things(engine).await;
    for field in ["tag.keyword", "size", "heat", "huge", "on", "id"] {
        for descending in [false, true] {
            for missing in [Missing::First, Missing::Last] {
                let search = |search_after, size| Search {
                    size,
                    sort: by(field, descending, missing),
                    search_after,
                    ..Search::default()
                };
                let all = names(&things.search(&search(None, 100)).await);
                let (mut paged, mut after) = (Vec::new(), None);
                loop {
                    let page = things.search(&search(after.take(), 3)).await;
                    assert_eq!(page.total.map(|total| total.value), Some(14));
                    let Some(last) = page.hits.last() else { break };
                    after = Some(last.sort.clone());
                    paged.extend(names(&page));
                }
                assert_eq!(paged, all, "{field} {descending} {missing:?}");
            }
        }
    }
    // Also behind a value that nothing has.
    let search = Search {
        size: 100,
        sort: by("tag.keyword", false, Missing::Last),
        search_after: Some(vec![
            Some(Value::from("xx")),
            Some(Value::from("http://e/00")),
        ]),
        ..Search::default()
    };
    let found = names(&things.search(&search).await);
    assert_eq!(
        found,
        ["01", "04", "07", "10", "02", "05", "08", "11", "06", "13"]
    );
    things.end().await;
}

async fn all_matches_are_counted_unless_not_wanted(engine: Engine) {
    let things = things(engine).await;
    let search = |size, total_hits| Search {
        query: Some(tag("x")),
        size,
        total_hits,
        ..Search::default()
    };
    for size in [0, 1, 100] {
        let answer = things.search(&search(size, TotalHits::Exact)).await;
        let total = Total {
            value: 4,
            is_lower_bound: false,
        };
        assert_eq!(answer.total, Some(total));
        assert_eq!(answer.hits.len(), 4.min(size as usize));
    }
    let answer = things.search(&search(2, TotalHits::Off)).await;
    assert_eq!((answer.total, answer.hits.len()), (None, 2));
    things.end().await;
}

async fn a_post_filter_leaves_aggregations_alone(engine: Engine) {
    let things = things(engine).await;
    let search = Search {
        post_filter: Some(Query::Term(Term {
            field: "on".to_owned(),
            value: Value::Boolean(true),
            case_insensitive: false,
            boost: None,
        })),
        query: Some(tag("x")),
        sort: vec![Sort::field("id")],
        aggregations: vec![Aggregation {
            name: "tags".to_owned(),
            kind: AggregationKind::Terms(TermsAggregation {
                field: "tag.keyword".to_owned(),
                size: 10,
                min_doc_count: 1,
                order: BucketOrder::CountDescending,
                missing: None,
                counts: Counted::default(),
            }),
            aggregations: Vec::new(),
        }],
        ..Search::default()
    };
    let answer = things.search(&search).await;
    assert_eq!(names(&answer), ["00", "12"]);
    assert_eq!(answer.total.map(|total| total.value), Some(2));
    assert_eq!(written(&answer.aggregations[0].content), "x:4");
    let none = Search {
        post_filter: Some(Query::MatchNone),
        ..search
    };
    let answer = things.search(&none).await;
    assert_eq!(answer.total.map(|total| total.value), Some(0));
    assert_eq!(written(&answer.aggregations[0].content), "x:4");
    things.end().await;
}

async fn sources_have_the_fields_that_are_asked_for(engine: Engine) {
    let things = things(engine).await;
    let search = |source: &[&str]| Search {
        query: Some(tag("y")),
        size: 1,
        sort: vec![Sort::field("id")],
        source: source.iter().map(|field| (*field).to_owned()).collect(),
        ..Search::default()
    };
    let answer = things.search(&search(&["id", "tag"])).await;
    let source: Json = serde_json::from_slice(&answer.hits[0].source).expect("JSON");
    assert_eq!(
        (&source["id"], &source["tag"]),
        (&json!("http://e/01"), &json!(["y"]))
    );
    let answer = things.search(&search(&[])).await;
    let source: Json = serde_json::from_slice(&answer.hits[0].source).expect("JSON");
    assert!(source.is_object());
    things.end().await;
}

async fn keys_that_do_not_fit_are_refused(engine: Engine) {
    let things = things(engine).await;
    let cases = [
        ("size", vec![Some(Value::Integer(1))]),
        (
            "size",
            vec![Some(Value::from("many")), Some(Value::from("a"))],
        ),
        ("heat", vec![Some(Value::from("b")), Some(Value::from("a"))]),
    ];
    for (field, search_after) in cases {
        let search = Search {
            sort: by(field, false, Missing::Last),
            search_after: Some(search_after),
            ..Search::default()
        };
        things.expect_refusal(&search).await;
    }
    things.end().await;
}
