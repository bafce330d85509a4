//! The clause `match`.

use search_index::dsl::{
    Fuzziness, Match, MinimumShouldMatch, Operator, Query, Search, Value, ZeroTerms,
};
use search_index::engine::Engine;
use serde_json::json;

use super::Fixture;

super::cases! {
    one_term_of_a_text_is_enough_unless_all_are_asked_for,
    a_number_of_terms_has_to_match,
    a_text_without_terms_matches_what_is_asked_for,
    terms_may_have_typing_errors,
    exchanged_letters_are_one_error_or_two,
    the_first_letters_may_have_to_be_equal,
    a_term_stands_for_a_bounded_number_of_others,
    fields_that_are_not_analysed_are_matched_as_they_are,
    what_does_not_fit_is_refused_or_matches_nothing,
    each_language_has_its_analyzer,
    positions_of_words_do_not_matter,
}

const BOOK: &str = "
  Book:
    search: yes
    props:
      title: {max: inf, search: {index: yes, analysis: {analyzer: english}}}
      plain: {}
      label: {range: langString, max: inf, search: {index: yes, analysis: {lang: {en: {analyzer: english}, nl: {analyzer: dutch}}}}}
      pages: {range: int}
      old: {range: boolean}
";

async fn books(engine: Engine) -> Fixture {
    let data = json!([
        {"id": 1, "title": "The red planets", "plain": "alpha beta gamma", "pages": 100, "old": true},
        {"id": 2, "title": ["A planet", "red suns"], "plain": "alpha gamma", "label": ["Fietsen@nl", "Riding@en-GB"]},
        {"id": 3, "title": "Suns and moons", "plain": "beta", "label": ["rides@de"]},
        {"id": 4, "title": "the", "plain": "aplha"},
    ]);
    Fixture::new(engine, BOOK, data).await
}

fn text(field: &str, query: &str) -> Match {
    Match::new(field, query)
}

fn fuzzy(field: &str, query: &str, fuzziness: &str) -> Match {
    Match {
        fuzziness: Some(fuzziness.parse::<Fuzziness>().expect("a fuzziness")),
        ..text(field, query)
    }
}

async fn expect(books: &Fixture, cases: Vec<(Match, &str)>) {
    for (query, expected) in cases {
        books.expect(Query::Match(query), expected).await;
    }
}

async fn one_term_of_a_text_is_enough_unless_all_are_asked_for(engine: Engine) {
    let books = books(engine).await;
    let all = |query| Match {
        operator: Some(Operator::And),
        ..text("title", query)
    };
    let cases = vec![
        (text("title", "planets"), "1 2"),
        (text("title", "PLANETS moon"), "1 2 3"),
        (text("title", "the planet"), "1 2"),
        (all("red planet"), "1 2"),
        (all("planets of suns"), "2"),
        (all("planet moon"), ""),
        (text("title", "green"), ""),
    ];
    expect(&books, cases).await;
    books.end().await;
}

async fn a_number_of_terms_has_to_match(engine: Engine) {
    let books = books(engine).await;
    let least = |query, minimum: &str| Match {
        minimum_should_match: Some(minimum.parse::<MinimumShouldMatch>().expect("a minimum")),
        ..text("plain", query)
    };
    let cases = vec![
        (least("alpha beta gamma", "1"), "1 2 3"),
        (least("alpha beta gamma", "2"), "1 2"),
        (least("alpha beta gamma", "3"), "1"),
        (least("alpha beta gamma", "4"), ""),
        (least("alpha beta gamma", "-1"), "1 2"),
        (least("alpha beta gamma", "-5"), "1 2 3"),
        (least("alpha beta gamma", "70%"), "1 2"),
        (least("alpha beta gamma", "2<-1"), "1 2"),
        // The same word twice counts twice.
        (least("alpha alpha", "2"), "1 2"),
        // A text of one term is no combination.
        (least("alpha", "2"), "1 2"),
    ];
    expect(&books, cases).await;
    books.end().await;
}

async fn a_text_without_terms_matches_what_is_asked_for(engine: Engine) {
    let books = books(engine).await;
    let zero = |query, zero_terms| Match {
        zero_terms_query: Some(zero_terms),
        ..text("title", query)
    };
    let cases = vec![
        (text("title", "the"), ""),
        (zero("the", ZeroTerms::None), ""),
        (zero("the", ZeroTerms::All), "1 2 3 4"),
        (zero("", ZeroTerms::All), "1 2 3 4"),
        (zero("green", ZeroTerms::All), ""),
    ];
    expect(&books, cases).await;
    books.end().await;
}

async fn terms_may_have_typing_errors(engine: Engine) {
    let books = books(engine).await;
    let cases = vec![
        (fuzzy("plain", "alpa", "1"), "1 2"),
        (fuzzy("plain", "alpa", "0"), ""),
        (fuzzy("plain", "alp", "2"), "1 2"),
        (fuzzy("plain", "bta", "AUTO"), "1 3"),
        (fuzzy("plain", "ba", "AUTO"), ""),
        (fuzzy("plain", "gummi", "AUTO"), ""),
        (fuzzy("plain", "gummma", "AUTO"), "1 2"),
        (fuzzy("plain", "bata gomma", "AUTO"), "1 2 3"),
        (fuzzy("plain", "ba", "AUTO:2,4"), ""),
        (fuzzy("plain", "bet", "AUTO:2,4"), "1 3"),
        (fuzzy("plain.keyword", "Beta", "1"), "3"),
    ];
    expect(&books, cases).await;
    let all = Match {
        operator: Some(Operator::And),
        ..fuzzy("plain", "alpa gama", "1")
    };
    books.expect(Query::Match(all), "1 2").await;
    books.end().await;
}

async fn exchanged_letters_are_one_error_or_two(engine: Engine) {
    let books = books(engine).await;
    let exchanged = |transpositions| Match {
        fuzzy_transpositions: Some(transpositions),
        ..fuzzy("plain", "alpha", "1")
    };
    let cases = vec![
        (fuzzy("plain", "alpha", "1"), "1 2 4"),
        (exchanged(true), "1 2 4"),
        (exchanged(false), "1 2"),
    ];
    expect(&books, cases).await;
    books.end().await;
}

async fn the_first_letters_may_have_to_be_equal(engine: Engine) {
    let books = books(engine).await;
    let prefix = |query, prefix_length| Match {
        prefix_length: Some(prefix_length),
        ..fuzzy("plain", query, "1")
    };
    let cases = vec![
        (prefix("elpha", 0), "1 2"),
        (prefix("elpha", 1), ""),
        (prefix("alpho", 4), "1 2"),
        (prefix("alpho", 9), ""),
        (prefix("beta", 9), "1 3"),
    ];
    expect(&books, cases).await;
    books.end().await;
}

async fn a_term_stands_for_a_bounded_number_of_others(engine: Engine) {
    let words = ["aaab", "aaac", "aaad", "aaae"];
    let data: Vec<_> = words
        .iter()
        .map(|word| json!({"id": *word, "plain": word}))
        .collect();
    let books = Fixture::new(engine, BOOK, json!(data)).await;
    let most = |max_expansions| Match {
        max_expansions: Some(max_expansions),
        ..fuzzy("plain", "aaac", "1")
    };
    // The word itself first, then equally similar ones in ascending order.
    let cases = vec![
        (most(1), "aaac"),
        (most(2), "aaab aaac"),
        (most(3), "aaab aaac aaad"),
        (most(50), "aaab aaac aaad aaae"),
    ];
    expect(&books, cases).await;
    books.end().await;
}

async fn fields_that_are_not_analysed_are_matched_as_they_are(engine: Engine) {
    let books = books(engine).await;
    let value = |field: &str, value: Value| Match::new(field, value);
    let cases = vec![
        (text("plain.keyword", "alpha gamma"), "2"),
        (text("plain.keyword", "alpha"), ""),
        (value("pages", Value::Integer(100)), "1"),
        (text("pages", "100"), "1"),
        (value("old", Value::Boolean(true)), "1"),
        (text("id", "http://e/3"), "3"),
    ];
    expect(&books, cases).await;
    books.end().await;
}

async fn what_does_not_fit_is_refused_or_matches_nothing(engine: Engine) {
    let books = books(engine).await;
    for query in [
        text("pages", "many"),
        fuzzy("pages", "100", "1"),
        text("old", "yes"),
    ] {
        let lenient = Match {
            lenient: Some(true),
            ..query.clone()
        };
        books.expect(Query::Match(lenient), "").await;
        let search = Search {
            query: Some(Query::Match(query)),
            ..Search::default()
        };
        books.expect_refusal(&search).await;
    }
    books.end().await;
}

async fn each_language_has_its_analyzer(engine: Engine) {
    let books = books(engine).await;
    let cases = vec![
        (text("label$nl", "fiets"), "2"),
        (text("label$en", "rides"), "2"),
        (text("label", "rides"), "3"),
        (text("label", "riding"), ""),
        (text("label$keyword", "Riding"), "2"),
    ];
    expect(&books, cases).await;
    books.end().await;
}

async fn positions_of_words_do_not_matter(engine: Engine) {
    let books = books(engine).await;
    let all = Match {
        operator: Some(Operator::And),
        ..text("plain", "gamma, alpha!")
    };
    books.expect(Query::Match(all), "1 2").await;
    books.end().await;
}
