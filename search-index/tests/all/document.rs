//! Documents of objects, as engines get them.

use oxrdf::{Literal, NamedNode, Term};
use search_index::document::{Document, FieldValues, ObjectValues, Reason};
use search_index::mapping::{Content, Indexes, MappingOptions};
use search_index::soml_core::datatype::Scalar;
use serde_json::{Value, json};

use crate::schema;

fn typed(text: &str, datatype: &str) -> Term {
    let iri = format!("http://www.w3.org/2001/XMLSchema#{datatype}");
    Literal::new_typed_literal(text, NamedNode::new_unchecked(iri)).into()
}

fn tagged(text: &str, tag: &str) -> Term {
    Literal::new_language_tagged_literal_unchecked(text, tag).into()
}

fn plain(text: &str) -> Term {
    Literal::new_simple_literal(text).into()
}

/// Writes the document of a film whose only property `p` has some values.
fn film(property: &str, values: &[Term]) -> (Value, Vec<Reason>) {
    let text =
        format!("id: /soml/f\nobjects:\n  Film: {{search: yes, props: {{p: {{{property}}}}}}}\n");
    let schema = schema(&text);
    let indexes = Indexes::new(&schema, &MappingOptions::default()).expect("searchable");
    let object = ObjectValues {
        iri: "http://e/1",
        types: vec!["http://e/Film"],
        fields: vec![FieldValues::Terms(values)],
        facts: None,
    };
    let document = Document::of(&schema, &indexes.indexes[0], &object);
    assert_eq!(document.id, "http://e/1");
    let mut source: Value = serde_json::from_slice(&document.source).expect("JSON");
    let members = source.as_object_mut().expect("an object");
    assert_eq!(members.shift_remove("id"), Some(json!("http://e/1")));
    assert_eq!(members.shift_remove("type"), Some(json!(["http://e/Film"])));
    let malformed = document.malformed.iter();
    (
        source,
        malformed.map(|malformed| malformed.reason).collect(),
    )
}

#[test]
fn each_scalar_is_written_as_its_field_takes_it() {
    let exact = |double: Value, key: &str, shown: &str| json!({"p": double, "p$exact": key, "$shown": {"p": shown}});
    let date = |millis: i64, shown: &str| json!({"p": millis, "$shown": {"p": shown}});
    let cases = [
        ("int", typed("07", "int"), json!({"p": 7})),
        ("double", typed("1e3", "double"), json!({"p": 1000.0})),
        ("string", plain("a"), json!({"p": "a"})),
        ("boolean", typed("1", "boolean"), json!({"p": true})),
        (
            "iri",
            NamedNode::new_unchecked("http://e/2").into(),
            json!({"p": "http://e/2"}),
        ),
        ("long", typed("-5", "long"), json!({"p": -5})),
        ("short", typed("5", "short"), json!({"p": 5})),
        ("byte", typed("5", "byte"), json!({"p": 5})),
        (
            "unsignedLong",
            typed("18446744073709551615", "unsignedLong"),
            json!({"p": u64::MAX}),
        ),
        ("unsignedInt", typed("5", "unsignedInt"), json!({"p": 5})),
        (
            "unsignedShort",
            typed("5", "unsignedShort"),
            json!({"p": 5}),
        ),
        ("unsignedByte", typed("5", "unsignedByte"), json!({"p": 5})),
        (
            "decimal",
            typed("12.50", "decimal"),
            exact(json!(12.5), "250002125", "12.5"),
        ),
        (
            "integer",
            typed("12", "integer"),
            exact(json!(12.0), "25000212", "12"),
        ),
        (
            "positiveInteger",
            typed("1", "integer"),
            exact(json!(1.0), "2500011", "1"),
        ),
        (
            "nonPositiveInteger",
            typed("0", "integer"),
            exact(json!(0.0), "1", "0"),
        ),
        (
            "negativeInteger",
            typed("-1", "integer"),
            exact(json!(-1.0), "0499988~", "-1"),
        ),
        (
            "nonNegativeInteger",
            typed("0", "integer"),
            exact(json!(0.0), "1", "0"),
        ),
        ("positiveFloat", typed("0.5", "double"), json!({"p": 0.5})),
        (
            "nonPositiveFloat",
            typed("-0.5", "double"),
            json!({"p": -0.5}),
        ),
        ("negativeFloat", typed("-0.5", "double"), json!({"p": -0.5})),
        (
            "nonNegativeFloat",
            typed("0.5", "double"),
            json!({"p": 0.5}),
        ),
        (
            "dateTime",
            typed("1970-01-01T01:00:00+01:00", "dateTime"),
            date(0, "1970-01-01T00:00:00.000Z"),
        ),
        (
            "date",
            typed("1970-01-02", "date"),
            date(86_400_000, "1970-01-02"),
        ),
        (
            "time",
            typed("13:00:00+01:00", "time"),
            json!({"p": "12:00:00.000Z", "$shown": {"p": "13:00:00+01:00"}}),
        ),
        ("year", typed("1970", "gYear"), date(0, "1970")),
        (
            "yearMonth",
            typed("1970-01", "gYearMonth"),
            date(0, "1970-01"),
        ),
    ];
    let named: Vec<_> = cases.iter().map(|(name, ..)| *name).collect();
    let all: Vec<_> = Scalar::ALL
        .iter()
        .map(|scalar| scalar.soml_name())
        .collect();
    assert_eq!(named, all);
    for (scalar, value, expected) in cases {
        let found = film(&format!("range: {scalar}"), std::slice::from_ref(&value));
        assert_eq!(found, (expected, vec![]), "{scalar} {value}");
        let several = film(
            &format!("range: {scalar}, max: inf"),
            std::slice::from_ref(&value),
        );
        assert!(several.0["p"].is_array(), "{scalar}");
    }
}

#[test]
fn values_are_sorted_and_there_once() {
    let values = [
        typed("10", "integer"),
        typed("9", "integer"),
        typed("9.0", "decimal"),
        typed("-1", "integer"),
    ];
    let (found, _) = film("range: decimal, max: inf", &values);
    assert_eq!(found["$shown"]["p"], json!(["-1", "9", "10"]));
    let (one, _) = film("range: decimal", &values);
    assert_eq!(one["$shown"]["p"], json!("-1"));
}

#[test]
fn values_that_do_not_fit_are_reported_and_left_out() {
    let cases = [
        (
            "range: int",
            typed("99999999999", "integer"),
            Reason::IllTyped,
        ),
        ("range: int", plain("many"), Reason::IllTyped),
        (
            "range: date",
            typed("100000-01-01", "date"),
            Reason::DateOutOfRange,
        ),
        (
            "range: integer",
            typed(&"1".repeat(9_000), "integer"),
            Reason::TooLong,
        ),
        ("range: langString", plain("a"), Reason::IllTyped),
        ("range: iri", plain("a"), Reason::IllTyped),
        ("range: dateOrYearOrMonth", plain("a"), Reason::IllTyped),
    ];
    for (property, value, reason) in cases {
        assert_eq!(
            film(property, &[value]),
            (json!({}), vec![reason]),
            "{property}"
        );
    }
    let cast = film("range: int, typeCast: true", &[plain("7")]);
    assert_eq!(cast, (json!({"p": 7}), vec![]));
}

#[test]
fn a_long_string_keeps_its_text() {
    let long = "a ".repeat(5_000);
    let (found, reasons) = film("", &[plain(&long)]);
    assert_eq!(
        (found["p"].as_str(), reasons),
        (Some(long.as_str()), vec![Reason::TooLong])
    );
    // Counted as the engine does, in UTF-16 units.
    assert_eq!(film("", &[plain(&"ä".repeat(8_191))]).1, []);
    assert_eq!(film("", &[plain(&"𝄞".repeat(4_096))]).1, [Reason::TooLong]);
}

#[test]
fn a_number_beyond_floating_point_is_exact_nevertheless() {
    let (found, reasons) = film("range: integer", &[typed(&"9".repeat(400), "integer")]);
    assert_eq!((found.get("p"), reasons), (None, vec![]));
    assert_eq!(found["$shown"]["p"], json!("9".repeat(400)));
    assert!(
        found["p$exact"]
            .as_str()
            .is_some_and(|key| key.starts_with("250400999"))
    );
}

#[test]
fn text_in_languages_goes_to_the_field_of_its_language() {
    let property = "range: stringOrLangString, max: inf, search: {analysis: {lang: {en: {analyzer: english}, en-GB: {analyzer: simple}}}}";
    let values = [
        tagged("c", "fr"),
        tagged("a", "en"),
        tagged("b", "en-US"),
        tagged("a", "en-GB-oed"),
        plain("d"),
    ];
    let (found, _) = film(property, &values);
    assert_eq!(
        found,
        json!({
            "p": ["c", "d"],
            "p$en": ["a", "b"],
            "p$en-gb": ["a"],
            "p$keyword": ["a", "b", "c", "d"],
            "$shown": {"p": [
                {"value": "a", "lang": "en"}, {"value": "a", "lang": "en-GB-oed"}, {"value": "b", "lang": "en-US"},
                {"value": "c", "lang": "fr"}, {"value": "d", "type": "http://www.w3.org/2001/XMLSchema#string"},
            ]},
        })
    );
}

#[test]
fn embedded_objects_are_lists_where_answers_show_lists() {
    let schema = schema(
        "
id: /soml/f
objects:
  Film: {search: yes, props: {planets: {range: Planet, max: inf}, best: {range: Planet}}}
  Planet: {search: yes, props: {mass: {range: decimal}, films: {range: Film, max: inf}}}
",
    );
    let indexes = Indexes::new(&schema, &MappingOptions::default()).expect("searchable");
    let film = indexes.named("Film").expect("films");
    assert!(
        film.fields
            .fields
            .values()
            .all(|field| matches!(field.content, Content::Object(_)))
    );
    let mass = [typed("2", "decimal")];
    let planet = |iri| ObjectValues {
        iri,
        types: vec!["http://e/Planet"],
        fields: vec![
            FieldValues::Terms(&mass),
            FieldValues::objects(vec![ObjectValues {
                iri: "http://e/f",
                types: vec![],
                fields: vec![],
                facts: None,
            }]),
        ],
        facts: None,
    };
    let object = ObjectValues {
        iri: "http://e/f",
        types: vec!["http://e/Film"],
        fields: vec![
            FieldValues::objects(vec![planet("http://e/2"), planet("http://e/1")]),
            FieldValues::objects(vec![planet("http://e/2"), planet("http://e/1")]),
        ],
        facts: None,
    };
    let document = Document::of(&schema, film, &object);
    let source: Value = serde_json::from_slice(&document.source).expect("JSON");
    let expected = |id: &str| {
        json!({"id": id, "type": ["http://e/Planet"], "mass": 2.0, "mass$exact": "2500012",
            "films": [{"id": "http://e/f"}], "$shown": {"mass": "2"}})
    };
    assert_eq!(
        source["planets"],
        json!([expected("http://e/1"), expected("http://e/2")])
    );
    assert_eq!(source["best"], expected("http://e/1"));
}
