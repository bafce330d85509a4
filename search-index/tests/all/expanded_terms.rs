//! How many terms a search may stand for: what is above the limit is refused before it runs, and says where.

use search_index::code;
use search_index::dsl::{Bool, Fuzziness, Match, Query, Search};
use search_index::graphql_service::{GraphqlError, Request};
use search_index::limits::SearchLimits;
use serde_json::{Value, json};

use crate::searches::{API, prepared};

/// Reads a search for planets, whose query is the value of a variable.
fn read(query: &Value, limits: &SearchLimits) -> Result<Search, GraphqlError> {
    let operation = "query($q: Planet_Search_Query) { planet_search(query: $q) { took } }";
    let variables = json!({ "q": query });
    let variables = variables.as_object().expect("an object").clone();
    let request = Request::new(operation).with_variables(variables);
    match API.searches(&prepared(&request), limits) {
        Ok(mut searches) => Ok(searches.remove(0).search),
        Err(mut errors) => Err(errors.remove(0)),
    }
}

fn detail<'e>(error: &'e GraphqlError, name: &str) -> Option<&'e str> {
    let mut details = error.details();
    let (_, value) = details.find(|(key, _)| *key == name)?;
    value.as_str()
}

fn should(clauses: Vec<Value>) -> Value {
    json!({"bool": {"should": clauses}})
}

fn fuzzy(text: &str) -> Value {
    json!({"match": {"title": {"query": text, "fuzziness": "AUTO"}}})
}

#[test]
fn a_search_of_too_many_terms_is_refused_with_code_place_and_hint() {
    let limits = SearchLimits::default().expanded_terms(300);
    let clauses = |last: &str| should(vec![fuzzy("one"), fuzzy("two three"), fuzzy(last)]);
    // Six words, fifty similar terms each.
    let most = read(&clauses("four five six"), &limits).expect("as many as are allowed");
    assert_eq!(most.expanded_terms(), 300);
    let error = read(&clauses("four five six seven"), &limits).expect_err("too many");
    assert_eq!(error.code, code::LIMIT_EXPANDED_TERMS);
    assert_eq!(detail(&error, "clause"), Some("query.bool.should[2].match"));
    assert!(
        error
            .details()
            .any(|(key, value)| key == "limit" && value.as_i64() == Some(300))
    );
    assert!(error.message.contains("350 terms"), "{}", error.message);
    for hint in ["`search.limits.expandedTerms`", "`max_expansions`"] {
        assert!(error.message.contains(hint), "{}", error.message);
    }
    assert!(!error.locations.is_empty() && !error.path.is_empty());
}

#[test]
fn each_kind_of_clause_counts_what_it_stands_for() {
    let clauses = [
        (r#"{"match": {"title": {"query": "red planet"}}}"#, 2),
        (
            r#"{"match": {"title": {"query": "red planet", "fuzziness": "0"}}}"#,
            2,
        ),
        (
            r#"{"match": {"title": {"query": "red planet", "fuzziness": "1", "max_expansions": 7}}}"#,
            14,
        ),
        // Text in languages: a field for each language, and one for all others.
        (
            r#"{"match": {"label": {"query": "red planet", "fuzziness": "1"}}}"#,
            300,
        ),
        (
            r#"{"match": {"label": {"query": "red planet", "lang": "en-GB"}}}"#,
            2,
        ),
        (r#"{"match": {"diameter": {"query": 7}}}"#, 1),
        (r#"{"term": {"title": {"value": "red"}}}"#, 1),
        (
            r#"{"term": {"title_keyword": {"value": "red", "case_insensitive": true}}}"#,
            50,
        ),
        (r#"{"terms": {"diameter": {"values": [1, 2, 3]}}}"#, 3),
        (r#"{"ids": {"values": ["http://e/1", "http://e/2"]}}"#, 2),
        (r#"{"prefix": {"title": {"value": "r"}}}"#, 50),
        (r#"{"range": {"mass": {"gte": 1}}}"#, 50),
        (r#"{"range": {"diameter": {"gte": 1}}}"#, 1),
        (r#"{"exists": {"field": "title"}}"#, 1),
        (r#"{"match_all": {}}"#, 0),
        (
            r#"{"nested": {"people": {"query": {"match": {"alias": {"query": "a b"}}}}}}"#,
            2,
        ),
    ];
    for (clause, terms) in clauses {
        let query = serde_json::from_str(clause).expect(clause);
        let limits = SearchLimits::default().expanded_terms(terms);
        let search = read(&query, &limits).unwrap_or_else(|error| panic!("{clause}: {error:?}"));
        assert_eq!(search.expanded_terms(), terms as u64, "{clause}");
        if terms > 0 {
            let error = read(&query, &limits.expanded_terms(terms - 1)).expect_err(clause);
            assert_eq!(error.code, code::LIMIT_EXPANDED_TERMS, "{clause}");
        }
    }
}

#[test]
fn the_query_and_the_post_filter_count_together() {
    let limits = SearchLimits::default().expanded_terms(3);
    let words = |text: &str| Some(Query::Match(Match::new("title", text)));
    let search = |query: &str, filter: &str| Search {
        query: words(query),
        post_filter: words(filter),
        ..Search::default()
    };
    assert_eq!(search("a b", "c").check(&limits), Ok(()));
    let refused = search("a b", "c d").check(&limits).expect_err("too many");
    assert_eq!(refused.code, code::LIMIT_EXPANDED_TERMS);
}

#[test]
fn a_search_as_wide_as_clauses_may_be_is_allowed_and_one_of_long_fuzzy_texts_is_not() {
    let limits = SearchLimits::default();
    let wide = |text: &str| {
        let clause = Query::Match(Match {
            fuzziness: Some(Fuzziness::Edits(2)),
            ..Match::new("title", text)
        });
        Search {
            query: Some(Query::Bool(Bool {
                should: vec![clause; 150],
                ..Bool::default()
            })),
            ..Search::default()
        }
    };
    assert_eq!(wide("some words").check(&limits), Ok(()));
    let long = vec!["words"; 80].join(" ");
    let refused = wide(&long).check(&limits).expect_err("600,000 terms");
    assert_eq!(refused.code, code::LIMIT_EXPANDED_TERMS);
}

#[test]
fn errors_of_clauses_say_where_they_stand() {
    let limits = SearchLimits::default();
    let wrong = json!({"term": {"tiny": {"value": "many"}}});
    let both = json!({"match_all": {}, "match_none": {}});
    let cases = [
        (
            should(vec![fuzzy("a"), wrong.clone()]),
            "query.bool.should[1].term",
        ),
        (
            json!({"constant_score": {"filter": wrong.clone()}}),
            "query.constant_score.filter.term",
        ),
        (
            json!({"dis_max": {"queries": wrong}}),
            "query.dis_max.queries[0].term",
        ),
        (
            json!({"nested": {"people": {"query": both}}}),
            "query.nested.people.query",
        ),
    ];
    for (query, place) in cases {
        let error = read(&query, &limits).expect_err(place);
        assert_eq!(detail(&error, "clause"), Some(place));
    }
}
