//! Clauses that compare values: `term`, `terms`, `range`, `exists`, `ids`, `prefix`.

use search_index::dsl::{
    Bound, Exists, Ids, Match, Prefix, Query, Range, Search, Term, Terms, Value,
};
use search_index::engine::Engine;
use serde_json::{Value as Json, json};

use super::Fixture;

super::cases! {
    a_term_is_one_value_of_a_field,
    case_may_be_ignored,
    terms_are_any_of_some_values,
    ranges_have_all_bounds_on_numbers,
    ranges_of_keywords_and_text_are_those_of_terms,
    ranges_of_booleans_are_those_of_two_values,
    exact_numbers_compare_as_keywords,
    values_of_any_magnitude_compare_by_value,
    a_field_exists_where_it_has_a_value,
    ids_find_documents,
    a_prefix_is_not_analysed,
    fields_that_are_not_there_match_nothing,
    what_does_not_fit_a_field_is_refused,
}

const THING: &str = "
  Thing:
    search: yes
    props:
      title: {max: inf}
      label: {range: langString, max: inf, search: {index: yes, analysis: {lang: {en: {analyzer: english}}}}}
      mass: {range: decimal, max: inf}
      heat: {range: double, max: inf}
      size: {range: int, max: inf}
      tiny: {range: byte}
      huge: {range: unsignedLong}
      far: {range: long}
      on: {range: boolean, max: inf}
      seen: {range: dateTime, max: inf}
      rises: {range: time}
      link: {range: iri}
      owner: {range: Owner}
  Owner: {search: yes, props: {nick: {}}}
";

fn data() -> Json {
    json!([
        {"id": 1, "title": "Red planet", "label": ["Planets@en", "Planeten@de"], "mass": "1.5", "heat": -2.5,
         "size": [1, 5], "tiny": -128, "huge": "18446744073709551615", "far": "-9223372036854775808", "on": true,
         "seen": "1970-01-01T00:00:00Z", "rises": "01:00:00Z", "link": "http://e/x", "owner": {"id": "o", "nick": "Al"}},
        {"id": 2, "title": ["red", "Blue Sea"], "mass": "100000000000000000000000000.5", "heat": 0.0,
         "size": 3, "tiny": 127, "huge": "0", "far": "9223372036854775807", "on": false,
         "seen": "-0044-03-15T00:00:00Z", "rises": "13:00:00Z", "link": "http://e/X"},
        {"id": 3, "title": "", "mass": "-1", "heat": 2.5, "on": [true, false]},
        {"id": 4},
    ])
}

async fn things(engine: Engine) -> Fixture {
    Fixture::new(engine, THING, data()).await
}

fn term(field: &str, value: impl Into<Value>) -> Query {
    Query::Term(Term {
        field: field.to_owned(),
        value: value.into(),
        case_insensitive: false,
        boost: None,
    })
}

fn ignoring_case(field: &str, value: &str) -> Query {
    Query::Term(Term {
        field: field.to_owned(),
        value: value.into(),
        case_insensitive: true,
        boost: None,
    })
}

fn terms(field: &str, values: Vec<Value>) -> Query {
    Query::Terms(Terms {
        field: field.to_owned(),
        values,
        boost: None,
    })
}

/// Writes a range as in mathematics: brackets are inclusive, parentheses are not; `None` is no bound.
fn range(
    field: &str,
    left: char,
    lower: Option<Value>,
    upper: Option<Value>,
    right: char,
) -> Query {
    let bound = |value: Option<Value>, inclusive| value.map(|value| Bound { value, inclusive });
    Query::Range(Range {
        field: field.to_owned(),
        lower: bound(lower, left == '['),
        upper: bound(upper, right == ']'),
        boost: None,
    })
}

fn exists(field: &str) -> Query {
    Query::Exists(Exists {
        field: field.to_owned(),
        boost: None,
    })
}

fn prefix(field: &str, value: &str, case_insensitive: bool) -> Query {
    Query::Prefix(Prefix {
        field: field.to_owned(),
        value: value.to_owned(),
        case_insensitive,
        boost: None,
    })
}

fn integer(number: i64) -> Value {
    Value::Integer(number)
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

async fn a_term_is_one_value_of_a_field(engine: Engine) {
    let things = things(engine).await;
    let cases = [
        (term("title", "red"), "1 2"),
        (term("title", "Red"), ""),
        (term("title", "blue sea"), ""),
        (term("title.keyword", "Blue Sea"), "2"),
        (term("title.keyword", "Red planet"), "1"),
        (term("title.keyword", "Red"), ""),
        (term("title.keyword", ""), "3"),
        (term("label", "planeten"), "1"),
        (term("label$en", "planet"), "1"),
        (term("label$keyword", "Planets"), "1"),
        (term("heat", Value::Double(-2.5)), "1"),
        (term("heat", integer(0)), "2"),
        (term("size", integer(5)), "1"),
        (term("size", Value::Double(5.5)), ""),
        (term("size", text("5")), "1"),
        (term("tiny", integer(-128)), "1"),
        (term("huge", Value::Unsigned(u64::MAX)), "1"),
        (term("huge", integer(0)), "2"),
        (term("far", integer(i64::MIN)), "1"),
        (term("on", Value::Boolean(true)), "1 3"),
        (term("on", Value::Boolean(false)), "2 3"),
        (term("seen", integer(0)), "1"),
        (term("rises", "13:00:00.000Z"), "2"),
        (term("link", "http://e/x"), "1"),
        (term("id", "http://e/4"), "4"),
        (term("type", "http://e/Thing"), "1 2 3 4"),
        (term("owner.nick", "al"), "1"),
        (term("owner.id", "http://e/o"), "1"),
    ];
    for (query, expected) in cases {
        things.expect(query, expected).await;
    }
    things.end().await;
}

async fn case_may_be_ignored(engine: Engine) {
    let things = things(engine).await;
    let cases = [
        (ignoring_case("title.keyword", "blue SEA"), "2"),
        (ignoring_case("title.keyword", "blue"), ""),
        (ignoring_case("title.keyword", ""), "3"),
        (ignoring_case("title", "RED"), "1 2"),
        (ignoring_case("link", "HTTP://E/X"), "1 2"),
        (prefix("title.keyword", "BLUE", true), "2"),
        (prefix("title.keyword", "BLUE", false), ""),
        (prefix("title", "PLA", true), "1"),
    ];
    for (query, expected) in cases {
        things.expect(query, expected).await;
    }
    things.end().await;
}

async fn terms_are_any_of_some_values(engine: Engine) {
    let things = things(engine).await;
    let cases = [
        (
            terms("title", vec![text("sea"), text("planet"), text("x")]),
            "1 2",
        ),
        (terms("title.keyword", vec![text("red"), text("red")]), "2"),
        (
            terms("size", vec![integer(1), integer(3), integer(4)]),
            "1 2",
        ),
        (terms("tiny", vec![integer(300), integer(127)]), "2"),
        (terms("heat", vec![Value::Double(2.5), integer(0)]), "2 3"),
        (
            terms("huge", vec![Value::Unsigned(u64::MAX), integer(0)]),
            "1 2",
        ),
        (terms("far", vec![integer(i64::MAX)]), "2"),
        (terms("on", vec![Value::Boolean(false)]), "2 3"),
        (
            terms("on", vec![Value::Boolean(false), Value::Boolean(true)]),
            "1 2 3",
        ),
        (terms("seen", vec![integer(0), integer(1)]), "1"),
        (
            terms("id", vec![text("http://e/1"), text("http://e/3")]),
            "1 3",
        ),
        (terms("title", vec![]), ""),
    ];
    for (query, expected) in cases {
        things.expect(query, expected).await;
    }
    things.end().await;
}

async fn ranges_have_all_bounds_on_numbers(engine: Engine) {
    let things = things(engine).await;
    let double = |number| Some(Value::Double(number));
    let whole = |number| Some(integer(number));
    let cases = [
        (range("heat", '[', double(-2.5), double(2.5), ']'), "1 2 3"),
        (range("heat", '(', double(-2.5), double(2.5), ']'), "2 3"),
        (range("heat", '[', double(-2.5), double(2.5), ')'), "1 2"),
        (range("heat", '(', double(-2.5), double(2.5), ')'), "2"),
        (range("heat", '(', double(0.0), None, ']'), "3"),
        (range("heat", '[', None, double(0.0), ')'), "1"),
        (range("heat", '[', None, None, ']'), "1 2 3"),
        (range("heat", '[', whole(3), whole(2), ']'), ""),
        (range("size", '[', whole(2), whole(3), ']'), "2"),
        (range("size", '(', whole(1), whole(5), ')'), "2"),
        (range("size", '(', whole(3), None, ']'), "1"),
        (range("size", '[', double(2.5), double(4.9), ']'), "2"),
        (range("tiny", '[', whole(-1000), whole(0), ']'), "1"),
        (range("huge", '[', whole(-5), whole(0), ']'), "2"),
        (range("huge", '(', whole(0), None, ']'), "1"),
        (range("far", '[', None, whole(0), ')'), "1"),
        (range("far", '(', whole(i64::MAX), None, ']'), ""),
        (range("seen", '[', None, whole(0), ')'), "2"),
        (range("seen", '[', whole(0), None, ']'), "1"),
    ];
    for (query, expected) in cases {
        things.expect(query, expected).await;
    }
    things.end().await;
}

async fn ranges_of_keywords_and_text_are_those_of_terms(engine: Engine) {
    let things = things(engine).await;
    let at = |value: &str| Some(text(value));
    let cases = [
        (
            range("title.keyword", '[', at("Blue Sea"), at("Red planet"), ']'),
            "1 2",
        ),
        (
            range("title.keyword", '(', at("Blue Sea"), at("Red planet"), ')'),
            "",
        ),
        (range("title.keyword", '[', at("r"), None, ']'), "2"),
        (range("title.keyword", '[', None, at("A"), ')'), "3"),
        (range("title", '[', at("planet"), at("pzzz"), ']'), "1"),
        (range("rises", '(', at("01:00:00.000Z"), None, ']'), "2"),
        (range("id", '(', at("http://e/3"), None, ']'), "4"),
    ];
    for (query, expected) in cases {
        things.expect(query, expected).await;
    }
    things.end().await;
}

async fn ranges_of_booleans_are_those_of_two_values(engine: Engine) {
    let things = things(engine).await;
    let (no, yes) = (
        || Some(Value::Boolean(false)),
        || Some(Value::Boolean(true)),
    );
    let cases = [
        (range("on", '[', no(), yes(), ']'), "1 2 3"),
        (range("on", '(', no(), yes(), ']'), "1 3"),
        (range("on", '[', no(), yes(), ')'), "2 3"),
        (range("on", '(', no(), yes(), ')'), ""),
        (range("on", '[', yes(), None, ']'), "1 3"),
        (range("on", '[', None, no(), ']'), "2 3"),
    ];
    for (query, expected) in cases {
        things.expect(query, expected).await;
    }
    things.end().await;
}

async fn exact_numbers_compare_as_keywords(engine: Engine) {
    use graph_store::value::ExactKey;
    let things = things(engine).await;
    let key = |number: &str| Some(text(ExactKey::parse(number).expect("a number").as_str()));
    let value = |number: &str| key(number).expect("a key");
    let cases = [
        (
            term("mass$exact", value("100000000000000000000000000.5")),
            "2",
        ),
        (
            term("mass$exact", value("100000000000000000000000000.4")),
            "",
        ),
        (range("mass$exact", '(', key("-1"), key("1.50"), ']'), "1"),
        (range("mass$exact", '[', None, key("1.5"), ')'), "3"),
        (
            range(
                "mass",
                '(',
                Some(Value::Double(0.0)),
                Some(Value::Double(1e30)),
                ')',
            ),
            "1 2",
        ),
    ];
    for (query, expected) in cases {
        things.expect(query, expected).await;
    }
    things.end().await;
}

async fn values_of_any_magnitude_compare_by_value(engine: Engine) {
    let things = Fixture::new(
        engine,
        "  Thing: {search: yes, props: {a: {range: double, max: inf}}}\n",
        json!([
            {"id": 1, "a": ["-1.7976931348623157E308", "5E-324"]},
            {"id": 2, "a": ["1.7976931348623157E308"]},
            {"id": 3, "a": ["-5E-324"]},
        ]),
    );
    let things = things.await;
    let at = |number| Some(Value::Double(number));
    let least = f64::from_bits(1);
    let cases = [
        (range("a", '(', at(0.0), None, ']'), "1 2"),
        (range("a", '[', None, at(0.0), ')'), "1 3"),
        (range("a", '(', at(least), at(f64::MAX), ')'), ""),
        (range("a", '(', at(-least), at(f64::MAX), ')'), "1"),
        (term("a", Value::Double(f64::MAX)), "2"),
    ];
    for (query, expected) in cases {
        things.expect(query, expected).await;
    }
    things.end().await;
}

async fn a_field_exists_where_it_has_a_value(engine: Engine) {
    let things = things(engine).await;
    let cases = [
        // A text without terms is a value too.
        (exists("title"), "1 2 3"),
        (exists("title.keyword"), "1 2 3"),
        (exists("label"), "1"),
        (exists("label$en"), "1"),
        (exists("label$keyword"), "1"),
        (exists("mass"), "1 2 3"),
        (exists("mass$exact"), "1 2 3"),
        (exists("size"), "1 2"),
        (exists("on"), "1 2 3"),
        (exists("seen"), "1 2"),
        (exists("owner"), "1"),
        (exists("owner.nick"), "1"),
        (exists("id"), "1 2 3 4"),
    ];
    for (query, expected) in cases {
        things.expect(query, expected).await;
    }
    things.end().await;
}

async fn ids_find_documents(engine: Engine) {
    let things = things(engine).await;
    let ids = |ids: &[&str]| {
        Query::Ids(Ids {
            values: ids.iter().map(|id| format!("http://e/{id}")).collect(),
            boost: None,
        })
    };
    things.expect(ids(&["2", "4", "9", "2"]), "2 4").await;
    things.expect(ids(&[]), "").await;
    things.end().await;
}

async fn a_prefix_is_not_analysed(engine: Engine) {
    let things = things(engine).await;
    let cases = [
        (prefix("title", "re", false), "1 2"),
        (prefix("title", "Re", false), ""),
        (prefix("title.keyword", "Re", false), "1"),
        (prefix("title.keyword", "", false), "1 2 3"),
        (prefix("link", "http://e/", false), "1 2"),
        (prefix("mass$exact", "0", false), "3"),
    ];
    for (query, expected) in cases {
        things.expect(query, expected).await;
    }
    things.end().await;
}

async fn fields_that_are_not_there_match_nothing(engine: Engine) {
    let things = things(engine).await;
    let cases = [
        term("none", "a"),
        terms("none", vec![text("a")]),
        range("none", '[', Some(integer(1)), None, ']'),
        exists("none"),
        prefix("none", "a", false),
        Query::Match(Match::new("none", "a")),
        term("owner", "a"),
    ];
    for query in cases {
        things.expect(query, "").await;
    }
    things.end().await;
}

async fn what_does_not_fit_a_field_is_refused(engine: Engine) {
    let things = things(engine).await;
    let cases = [
        term("heat", "warm"),
        terms("seen", vec![text("today")]),
        term("on", "yes"),
        range("heat", '[', Some(text("warm")), None, ']'),
        prefix("size", "1", false),
        Query::Match(Match::new("heat", "warm")),
    ];
    for query in cases {
        let search = Search {
            query: Some(query),
            ..Search::default()
        };
        things.expect_refusal(&search).await;
    }
    things.end().await;
}
