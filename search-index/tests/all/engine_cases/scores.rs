//! Scores, each against the formula.

use search_index::dsl::{
    Bool, DisMax, Exists, Fuzziness, Ids, Match, Operator, Prefix, Query, Range, Search, Term,
    Terms, Value,
};
use search_index::engine::Engine;
use serde_json::{Value as Json, json};

use super::Fixture;

super::cases! {
    a_term_scores_by_rarity_frequency_and_length,
    statistics_are_of_documents_that_have_the_field,
    keywords_and_booleans_score_by_rarity,
    everything_else_scores_its_boost,
    combinations_add_up,
    the_best_counts_and_a_part_of_the_others,
    boosts_multiply,
    similar_terms_count_as_equally_rare,
    filters_and_what_must_not_match_do_not_score,
    the_least_score_leaves_hits_out,
    long_texts_have_lengths_of_four_bits,
}

const BOOK: &str = "
  Book:
    search: yes
    props: {title: {max: inf}, kind: {search: {index: yes, type: keyword}}, pages: {range: int}, old: {range: boolean}, seen: {range: dateTime}}
";

fn data() -> Json {
    json!([
        {"id": 1, "title": "red planet", "kind": "a", "pages": 1, "old": true, "seen": "2000-01-01T00:00:00Z"},
        {"id": 2, "title": ["red red sun", "moon"], "kind": "a", "pages": 2, "old": false},
        {"id": 3, "title": "green planet red star blue", "kind": "b", "pages": 3},
        {"id": 4, "kind": "b"},
        {"id": 5, "kind": "b"},
    ])
}

async fn books(engine: Engine) -> Fixture {
    Fixture::new(engine, BOOK, data()).await
}

/// The rarity of a term that `n` of `of` documents have.
fn rarity(n: f64, of: f64) -> f64 {
    (1.0 + (of - n + 0.5) / (n + 0.5)).ln()
}

/// The score of a term that is `frequency` times in a text of `length` terms, which have `average` on average.
fn bm25(rarity: f64, frequency: f64, length: f64, average: f64) -> f64 {
    rarity * 2.2 * frequency / (frequency + 1.2 * (0.25 + 0.75 * length / average))
}

/// Terms of all titles, by documents that have one.
const AVERAGE: f64 = 11.0 / 3.0;

fn term(field: &str, value: impl Into<Value>) -> Query {
    Query::Term(Term {
        field: field.to_owned(),
        value: value.into(),
        case_insensitive: false,
        boost: None,
    })
}

fn title(text: &str) -> Query {
    Query::Match(Match::new("title", text))
}

async fn a_term_scores_by_rarity_frequency_and_length(engine: Engine) {
    let books = books(engine).await;
    let red = rarity(3.0, 3.0);
    let expected = [
        ("1", bm25(red, 1.0, 2.0, AVERAGE)),
        ("2", bm25(red, 2.0, 4.0, AVERAGE)),
        ("3", bm25(red, 1.0, 5.0, AVERAGE)),
    ];
    books.expect_scores(title("red"), &expected).await;
    books.expect_scores(term("title", "red"), &expected).await;
    let moon = [("2", bm25(rarity(1.0, 3.0), 1.0, 4.0, AVERAGE))];
    books.expect_scores(title("moon"), &moon).await;
    books.end().await;
}

async fn statistics_are_of_documents_that_have_the_field(engine: Engine) {
    let books = books(engine).await;
    // Two documents without a title do not count.
    let planet = rarity(2.0, 3.0);
    let expected = [
        ("1", bm25(planet, 1.0, 2.0, AVERAGE)),
        ("3", bm25(planet, 1.0, 5.0, AVERAGE)),
    ];
    books.expect_scores(title("planet"), &expected).await;
    books.end().await;
}

async fn keywords_and_booleans_score_by_rarity(engine: Engine) {
    let books = books(engine).await;
    let kind = rarity(2.0, 5.0);
    books
        .expect_scores(term("kind", "a"), &[("1", kind), ("2", kind)])
        .await;
    let matched = Query::Match(Match::new("kind", "a"));
    books
        .expect_scores(matched, &[("1", kind), ("2", kind)])
        .await;
    // Four values in three documents: each counts as shorter than the mean.
    let whole = rarity(1.0, 3.0) * 2.2 / (1.0 + 1.2 * (0.25 + 0.75 * 3.0 / 4.0));
    books
        .expect_scores(term("title.keyword", "red planet"), &[("1", whole)])
        .await;
    let old = rarity(1.0, 2.0);
    books
        .expect_scores(term("old", Value::Boolean(true)), &[("1", old)])
        .await;
    let one = Query::Terms(Terms {
        field: "old".to_owned(),
        values: vec![Value::Boolean(false)],
        boost: None,
    });
    books.expect_scores(one, &[("2", old)]).await;
    books.end().await;
}

async fn everything_else_scores_its_boost(engine: Engine) {
    let books = books(engine).await;
    let field = |field: &str| field.to_owned();
    let boost = Some(2.5);
    let queries = [
        Query::Terms(Terms {
            field: field("kind"),
            values: vec!["a".into()],
            boost,
        }),
        Query::Range(Range {
            field: field("pages"),
            lower: None,
            upper: Some(search_index::dsl::Bound {
                value: Value::Integer(2),
                inclusive: true,
            }),
            boost,
        }),
        Query::Exists(Exists {
            field: field("old"),
            boost,
        }),
        Query::Ids(Ids {
            values: vec![field("http://e/1"), field("http://e/2")],
            boost,
        }),
        Query::Prefix(Prefix {
            field: field("kind"),
            value: field("a"),
            case_insensitive: false,
            boost,
        }),
        Query::Term(Term {
            field: field("kind"),
            value: "A".into(),
            case_insensitive: true,
            boost,
        }),
        Query::ConstantScore {
            filter: Box::new(term("kind", "a")),
            boost,
        },
    ];
    for query in queries {
        books.expect_scores(query, &[("1", 2.5), ("2", 2.5)]).await;
    }
    for query in [
        term("pages", Value::Integer(1)),
        term("seen", Value::Integer(946_684_800_000)),
    ] {
        books.expect_scores(query, &[("1", 1.0)]).await;
    }
    let all: Vec<_> = ["1", "2", "3", "4", "5"].map(|id| (id, 2.5)).to_vec();
    books.expect_scores(Query::MatchAll { boost }, &all).await;
    books.end().await;
}

async fn combinations_add_up(engine: Engine) {
    let books = books(engine).await;
    let (red, planet) = (rarity(3.0, 3.0), rarity(2.0, 3.0));
    let one = bm25(red, 1.0, 2.0, AVERAGE) + bm25(planet, 1.0, 2.0, AVERAGE);
    let three = bm25(red, 1.0, 5.0, AVERAGE) + bm25(planet, 1.0, 5.0, AVERAGE);
    let two = bm25(red, 2.0, 4.0, AVERAGE);
    books
        .expect_scores(title("red planet"), &[("1", one), ("2", two), ("3", three)])
        .await;
    let both = Query::Match(Match {
        operator: Some(Operator::And),
        ..Match::new("title", "red planet")
    });
    books.expect_scores(both, &[("1", one), ("3", three)]).await;
    // A word that is there twice counts twice.
    books
        .expect_scores(
            title("moon moon"),
            &[("2", 2.0 * bm25(rarity(1.0, 3.0), 1.0, 4.0, AVERAGE))],
        )
        .await;
    let all = Query::Bool(Bool {
        must: vec![term("pages", Value::Integer(3))],
        should: vec![title("red"), term("kind", "b")],
        ..Bool::default()
    });
    let score = 1.0 + bm25(red, 1.0, 5.0, AVERAGE) + rarity(3.0, 5.0);
    books.expect_scores(all, &[("3", score)]).await;
    books.end().await;
}

async fn the_best_counts_and_a_part_of_the_others(engine: Engine) {
    let books = books(engine).await;
    let best = |tie_breaker| {
        Query::DisMax(DisMax {
            queries: vec![term("kind", "a"), term("pages", Value::Integer(1))],
            tie_breaker,
            boost: Some(2.0),
        })
    };
    let (kind, page) = (rarity(2.0, 5.0), 1.0);
    books
        .expect_scores(
            best(None),
            &[("1", 2.0 * f64::max(kind, page)), ("2", 2.0 * kind)],
        )
        .await;
    let more = f64::max(kind, page) + 0.5 * f64::min(kind, page);
    books
        .expect_scores(best(Some(0.5)), &[("1", 2.0 * more), ("2", 2.0 * kind)])
        .await;
    books.end().await;
}

async fn boosts_multiply(engine: Engine) {
    let books = books(engine).await;
    let boosted = Query::Bool(Bool {
        must: vec![
            Query::Match(Match {
                boost: Some(3.0),
                ..Match::new("title", "moon")
            }),
            Query::ConstantScore {
                filter: Box::new(title("red")),
                boost: Some(0.5),
            },
        ],
        boost: Some(2.0),
        ..Bool::default()
    });
    let moon = bm25(rarity(1.0, 3.0), 1.0, 4.0, AVERAGE);
    books
        .expect_scores(boosted, &[("2", 2.0 * (3.0 * moon + 0.5))])
        .await;
    books.end().await;
}

async fn similar_terms_count_as_equally_rare(engine: Engine) {
    let objects = "  Book: {search: yes, props: {title: {}}}\n";
    let data = json!([
        {"id": 1, "title": "planet"},
        {"id": 2, "title": "planet"},
        {"id": 3, "title": "planes"},
        {"id": 4, "title": "plant"},
        {"id": 5, "title": "other"},
    ]);
    let books = Fixture::new(engine, objects, data).await;
    let fuzzy = Query::Match(Match {
        fuzziness: Some(Fuzziness::Edits(1)),
        ..Match::new("title", "planet")
    });
    // All count as often as the most frequent one; the further away, the lower.
    let of = |similarity: f64| similarity * bm25(rarity(2.0, 5.0), 1.0, 1.0, 1.0);
    let expected = [
        ("1", of(1.0)),
        ("2", of(1.0)),
        ("3", of(1.0 - 1.0 / 6.0)),
        ("4", of(1.0 - 1.0 / 5.0)),
    ];
    books.expect_scores(fuzzy, &expected).await;
    books.end().await;
}

async fn filters_and_what_must_not_match_do_not_score(engine: Engine) {
    let books = books(engine).await;
    let filtered = Query::Bool(Bool {
        filter: vec![term("kind", "a")],
        must_not: vec![term("pages", Value::Integer(2))],
        ..Bool::default()
    });
    books.expect_scores(filtered, &[("1", 0.0)]).await;
    let negative = Query::Bool(Bool {
        must_not: vec![term("kind", "b")],
        ..Bool::default()
    });
    books
        .expect_scores(negative, &[("1", 0.0), ("2", 0.0)])
        .await;
    let empty = Query::Bool(Bool {
        boost: Some(3.0),
        ..Bool::default()
    });
    let all: Vec<_> = ["1", "2", "3", "4", "5"].map(|id| (id, 3.0)).to_vec();
    books.expect_scores(empty, &all).await;
    books.end().await;
}

async fn the_least_score_leaves_hits_out(engine: Engine) {
    let books = books(engine).await;
    let red = rarity(3.0, 3.0);
    let least = bm25(red, 1.0, 2.0, AVERAGE);
    let search = |min_score| Search {
        query: Some(title("red")),
        min_score: Some(min_score),
        ..Search::default()
    };
    let below = books.search(&search(least - 1e-4)).await;
    assert_eq!(super::fixture::names(&below), ["2", "1"]);
    assert_eq!(below.total.map(|total| total.value), Some(2));
    let above = books.search(&search(least + 1e-4)).await;
    assert_eq!(super::fixture::names(&above), ["2"]);
    books.end().await;
}

async fn long_texts_have_lengths_of_four_bits(engine: Engine) {
    let objects = "  Book: {search: yes, props: {title: {}}}\n";
    let words = |number: usize| format!("word {}", "other ".repeat(number - 1));
    let data = json!([{"id": 1, "title": words(1_000)}, {"id": 2, "title": words(41)}, {"id": 3, "title": words(40)}]);
    let books = Fixture::new(engine, objects, data).await;
    let average = 1_081.0 / 3.0;
    let word = rarity(3.0, 3.0);
    let of = |length| bm25(word, 1.0, length, average);
    let expected = [("1", of(984.0)), ("2", of(40.0)), ("3", of(40.0))];
    books.expect_scores(title("word"), &expected).await;
    books.end().await;
}
