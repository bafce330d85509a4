//! Sort keys.

use search_index::dsl::{
    FieldSort, Match, Missing, Query, Search, Sort, SortMode, TotalHits, Value,
};
use search_index::engine::Engine;
use serde_json::json;

use super::Fixture;
use super::fixture::names;

super::cases! {
    every_type_sorts_in_both_directions,
    documents_without_a_value_are_first_or_last,
    one_of_several_values_counts,
    a_first_page_needs_no_total,
    several_keys_decide_one_after_the_other,
    scores_are_a_key_like_others,
    hits_show_their_keys,
    sums_of_integers_do_not_overflow_32_bits,
    what_has_no_order_is_refused,
}

const THING: &str = "
  Thing:
    search: yes
    props:
      title: {max: inf}
      label: {range: langString, max: inf}
      mass: {range: decimal, max: inf}
      heat: {range: double, max: inf}
      size: {range: int, max: inf}
      huge: {range: unsignedLong, max: inf}
      on: {range: boolean, max: inf}
      seen: {range: dateTime}
      rises: {range: time}
";

async fn things(engine: Engine) -> Fixture {
    let data = json!([
        {"id": "a", "title": ["b", "z"], "label": ["b@en"], "mass": ["2"], "heat": [1.5, -9.0, 4.0], "size": [1, 2, 10],
         "huge": ["18446744073709551614"], "on": [true], "seen": "2000-01-01T00:00:00Z", "rises": "02:00:00Z"},
        {"id": "b", "title": ["a", "c"], "label": ["c@en"], "mass": ["100000000000000000000000000.5"], "heat": [2.0],
         "size": [4], "huge": ["9223372036854775808"], "on": [false], "seen": "-0001-01-01T00:00:00Z", "rises": "01:00:00Z"},
        {"id": "c", "title": ["B"], "label": ["a@en"], "mass": ["-2"], "heat": [-3.0, 0.0], "size": [3, 4],
         "huge": ["1"], "on": [true, false], "seen": "1999-01-01T00:00:00Z", "rises": "03:00:00Z"},
        {"id": "d"},
    ]);
    Fixture::new(engine, THING, data).await
}

fn by(field: &str, descending: bool, mode: Option<SortMode>, missing: Missing) -> Vec<Sort> {
    let by = Sort::Field(FieldSort {
        field: field.to_owned(),
        descending,
        mode,
        missing,
        nested: None,
    });
    vec![by, Sort::field("id")]
}

async fn every_type_sorts_in_both_directions(engine: Engine) {
    let things = things(engine).await;
    let cases = [
        ("title.keyword", "c b a d", "a b c d"),
        ("label$keyword", "c a b d", "b a c d"),
        ("mass$exact", "c a b d", "b a c d"),
        ("mass", "c a b d", "b a c d"),
        ("heat", "a c b d", "a b c d"),
        ("size", "a c b d", "a b c d"),
        ("huge", "c b a d", "a b c d"),
        ("on", "b c a d", "a c b d"),
        ("seen", "b c a d", "a c b d"),
        ("rises", "b a c d", "c a b d"),
        ("id", "a b c d", "d c b a"),
    ];
    for (field, ascending, descending) in cases {
        things
            .expect_order(by(field, false, None, Missing::Last), ascending)
            .await;
        things
            .expect_order(by(field, true, None, Missing::Last), descending)
            .await;
    }
    things.end().await;
}

async fn documents_without_a_value_are_first_or_last(engine: Engine) {
    let things = things(engine).await;
    for field in [
        "title.keyword",
        "mass$exact",
        "heat",
        "size",
        "huge",
        "on",
        "seen",
        "rises",
    ] {
        for descending in [false, true] {
            for (missing, at) in [(Missing::First, 0), (Missing::Last, 3)] {
                let search = Search {
                    sort: by(field, descending, None, missing),
                    ..Search::default()
                };
                let names = names(&things.search(&search).await);
                assert_eq!(
                    names[at], "d",
                    "{field} {descending} {missing:?}: {names:?}"
                );
            }
        }
    }
    things.end().await;
}

async fn one_of_several_values_counts(engine: Engine) {
    use SortMode::{Avg, Max, Median, Min, Sum};
    let things = things(engine).await;
    let cases = [
        ("size", Min, "a c b d"),
        ("size", Max, "b c a d"),
        ("size", Sum, "b c a d"),
        // 4.33 and 3.5, rounded, are as much as 4.
        ("size", Avg, "a b c d"),
        ("size", Median, "a b c d"),
        ("heat", Min, "a c b d"),
        ("heat", Max, "c b a d"),
        ("heat", Sum, "a c b d"),
        ("heat", Avg, "c a b d"),
        ("heat", Median, "c a b d"),
        ("title.keyword", Min, "c b a d"),
        ("title.keyword", Max, "c b a d"),
    ];
    for (field, mode, expected) in cases {
        things
            .expect_order(by(field, false, Some(mode), Missing::Last), expected)
            .await;
    }
    things.end().await;
}

async fn a_first_page_needs_no_total(engine: Engine) {
    let thing = |at: u64| json!({"id": format!("t{at:03}"), "huge": [at + 3, at + 7], "size": [at, at + 1]});
    let data = (0..200).map(|at| thing(at * 37 % 200)).collect();
    let things = Fixture::new(engine, THING, data).await;
    for field in ["huge", "size"] {
        let search = Search {
            sort: by(field, false, None, Missing::First),
            size: 2,
            total_hits: TotalHits::Off,
            ..Search::default()
        };
        let answer = things.search(&search).await;
        assert_eq!(names(&answer), ["t000", "t001"], "{field}");
        assert_eq!(answer.total, None, "{field}");
    }
    things.end().await;
}

/// Objects in the order of the least of several `unsignedLong`, of which one is 0.
pub(crate) async fn order_with_zero(engine: Engine) -> Vec<String> {
    let data = json!([
        {"id": "a", "huge": ["4"]},
        {"id": "b", "huge": ["0", "5"]},
        {"id": "c", "huge": ["0", "18446744073709551615"]},
        {"id": "d", "huge": ["0"]},
    ]);
    let things = Fixture::new(engine, THING, data).await;
    let search = Search {
        sort: by("huge", false, Some(SortMode::Min), Missing::Last),
        ..Search::default()
    };
    let order = names(&things.search(&search).await);
    things.end().await;
    order
}

async fn several_keys_decide_one_after_the_other(engine: Engine) {
    let things = things(engine).await;
    let keys = |first: &str, second: &str, descending| {
        let mut sort = by(first, false, Some(SortMode::Max), Missing::Last);
        sort.truncate(1);
        sort.extend(by(second, descending, None, Missing::Last));
        sort
    };
    things
        .expect_order(keys("on", "size", false), "b a c d")
        .await;
    things
        .expect_order(keys("on", "size", true), "b a c d")
        .await;
    things
        .expect_order(keys("on", "rises", true), "b c a d")
        .await;
    things
        .expect_order(keys("size", "rises", true), "c b a d")
        .await;
    things.end().await;
}

async fn scores_are_a_key_like_others(engine: Engine) {
    let objects = "  Book: {search: yes, props: {title: {}, pages: {range: int}}}\n";
    let data = json!([
        {"id": 1, "title": "red", "pages": 1},
        {"id": 2, "title": "red red sun", "pages": 1},
        {"id": 3, "title": "red", "pages": 2},
    ]);
    let books = Fixture::new(engine, objects, data).await;
    let search = |sort| Search {
        query: Some(Query::Match(Match::new("title", "red"))),
        sort,
        track_scores: true,
        ..Search::default()
    };
    let id = || Sort::field("id");
    let cases = [
        (vec![Sort::score(), id()], "1 3 2"),
        (vec![Sort::Score { ascending: true }, id()], "2 1 3"),
        (
            vec![Sort::field("pages"), Sort::Score { ascending: true }, id()],
            "2 1 3",
        ),
        (vec![], "1 3 2"),
    ];
    for (sort, expected) in cases {
        let answer = books.search(&search(sort)).await;
        assert_eq!(names(&answer).join(" "), expected);
        let greatest = answer
            .hits
            .iter()
            .filter_map(|hit| hit.score)
            .fold(0.0, f64::max);
        assert_eq!(answer.max_score, Some(greatest));
    }
    let without = Search {
        track_scores: false,
        ..search(vec![id()])
    };
    let answer = books.search(&without).await;
    assert_eq!(answer.max_score, None);
    assert!(answer.hits.iter().all(|hit| hit.score.is_none()));
    books.end().await;
}

async fn hits_show_their_keys(engine: Engine) {
    let things = things(engine).await;
    let fields = ["title.keyword", "heat", "huge", "on", "seen"];
    let mut sort: Vec<_> = fields.map(Sort::field).to_vec();
    sort.push(Sort::field("id"));
    let search = Search {
        sort,
        ..Search::default()
    };
    let answer = things.search(&search).await;
    let keys: Vec<_> = answer.hits.iter().map(|hit| hit.sort.clone()).collect();
    let text = |text: &str| Some(Value::Text(text.to_owned()));
    assert_eq!(
        keys[1],
        [
            text("a"),
            Some(Value::Double(2.0)),
            Some(Value::Unsigned(1 << 63)),
            Some(Value::Integer(0)),
            Some(Value::Integer(-62_198_755_200_000)),
            text("http://e/b"),
        ]
    );
    assert_eq!(keys[3], [None, None, None, None, None, text("http://e/d")]);
    things.end().await;
}

async fn sums_of_integers_do_not_overflow_32_bits(engine: Engine) {
    const SUMS: &str = "
  Sum: {search: yes, props: {size: {range: int, max: inf}}}
";
    let data = json!([
        {"id": 1, "size": [2_147_483_647, 2_147_483_646]},
        {"id": 2, "size": [2_147_483_647]},
        {"id": 3, "size": [-2_147_483_648, -2_147_483_647]},
        {"id": 4, "size": [0]},
        {"id": 5},
    ]);
    let sums = Fixture::new(engine, SUMS, data).await;
    let key = |descending, missing| by("size", descending, Some(SortMode::Sum), missing);
    for (descending, missing, expected) in [
        (false, Missing::Last, "3 4 2 1 5"),
        (true, Missing::Last, "1 2 4 3 5"),
        (false, Missing::First, "5 3 4 2 1"),
        (true, Missing::First, "5 1 2 4 3"),
    ] {
        let sort = key(descending, missing);
        sums.expect_order(sort.clone(), expected).await;
        let search = |search_after, size| Search {
            sort: sort.clone(),
            search_after,
            size,
            ..Search::default()
        };
        let all = sums.search(&search(None, 10)).await;
        let after = all.hits[1].sort.clone();
        let rest = sums.search(&search(Some(after), 10)).await;
        assert_eq!(names(&rest), names(&all)[2..], "{descending} {missing:?}");
    }
    sums.end().await;
}

async fn what_has_no_order_is_refused(engine: Engine) {
    let things = things(engine).await;
    let sorts = [
        by("title", false, None, Missing::Last),
        by("none", false, None, Missing::Last),
        by("title.keyword", false, Some(SortMode::Sum), Missing::Last),
    ];
    for sort in sorts {
        let search = Search {
            sort,
            ..Search::default()
        };
        things.expect_refusal(&search).await;
    }
    things.end().await;
}
