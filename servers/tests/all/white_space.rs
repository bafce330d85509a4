//! White space around numbers, dates and Booleans, which XML Schema collapses: the value is the same as
//! without, wherever it is shown, compared, sorted and checked.

use std::fs;

use tempfile::TempDir;

use crate::command_line::{code, err, soml};

const SCHEMA: &str = "id: /soml/ws
specialPrefixes: {base_iri: \"http://e/\", vocab_iri: \"http://e/v#\", vocab_prefix: voc}
objects:
  W: {props: {k: {range: int}, i: {range: integer}, c: {range: decimal}, d: {range: double}, b: {range: boolean}, t: {range: dateTime}, a: {range: date}, y: {range: year}, l: {range: long}, h: {range: time}, m: {range: yearMonth}}}
";

/// The same values, with white space and without.
fn data() -> String {
    let values = |space: &str| {
        let pairs = [
            ("k", "1", "int"),
            ("i", "7", "integer"),
            ("c", "1.5", "decimal"),
            ("d", "1.5", "double"),
            ("b", "true", "boolean"),
            ("t", "2025-07-23T12:00:00Z", "dateTime"),
            ("a", "2025-07-23", "date"),
            ("y", "2025", "gYear"),
            ("l", "8", "long"),
            ("h", "12:00:00", "time"),
            ("m", "2025-07", "gYearMonth"),
        ];
        pairs.map(|(name, value, datatype)| {
            format!(" ; :{name} \"{space}{value}{space}\"^^xsd:{datatype}")
        })
    };
    let mut text = "@prefix : <http://e/v#> . @prefix e: <http://e/> .\n\
                    @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
        .to_owned();
    for (name, space) in [("one", ""), ("two", " "), ("three", "\\n\\t\\r ")] {
        text.push_str(&format!("e:{name} a :W{} .\n", values(space).concat()));
    }
    text
}

#[test]
fn values_are_the_same_with_white_space_around_them() {
    let dir = TempDir::new().unwrap();
    let (schema, data_file) = (dir.path().join("s.yaml"), dir.path().join("d.ttl"));
    fs::write(&schema, SCHEMA).unwrap();
    fs::write(&data_file, data()).unwrap();
    let flags = [
        "--schema",
        schema.to_str().unwrap(),
        "--data",
        data_file.to_str().unwrap(),
    ];
    let query = |text: &str| -> serde_json::Value {
        let mut arguments = vec!["query"];
        arguments.extend(flags);
        arguments.extend(["--", text]);
        let output = soml(&arguments);
        assert_eq!(code(&output), Some(0), "{text}: {}", err(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let shown = query("{ w { k i c d b t a y l h m } }");
    let rows = shown["data"]["w"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    assert!(
        rows[0]
            .as_object()
            .unwrap()
            .values()
            .all(|value| !value.is_null())
    );
    assert_eq!((&rows[0], &rows[0]), (&rows[1], &rows[2]));
    for condition in [
        "k: {EQ: 1}",
        "i: {EQ: 7}",
        "c: {EQ: 1.5}",
        "d: {EQ: 1.5}",
        "b: {EQ: true}",
        "t: {EQ: \"2025-07-23T14:00:00+02:00\"}",
        "a: {GTE: \"2025-07-23\", LTE: \"2025-07-23\"}",
        "y: {IN: [\"2025\"]}",
        "l: {EQ: 8}",
        "h: {EQ: \"12:00:00\"}",
        "m: {EQ: \"2025-07\"}",
    ] {
        let found = query(&format!("{{ w(where: {{{condition}}}) {{ id }} }}"));
        assert_eq!(
            found["data"]["w"].as_array().unwrap().len(),
            3,
            "{condition}"
        );
    }
    // Equal values leave the order to the id.
    for key in ["t", "a", "y", "b"] {
        let sorted = query(&format!("{{ w(orderBy: {{{key}: DESC}}) {{ id }} }}"));
        let ids: Vec<_> = sorted["data"]["w"].as_array().unwrap().iter().collect();
        assert_eq!(ids.len(), 3);
        assert_eq!(ids[0]["id"], "http://e/one", "{key}");
        assert_eq!(ids[2]["id"], "http://e/two", "{key}");
    }
    let mut arguments = vec!["check"];
    arguments.extend(flags);
    let output = soml(&arguments);
    assert_eq!(
        code(&output),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}
