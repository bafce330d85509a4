use apollo_compiler::Schema;

use crate::{Documents, Limits, Prepared, Refusal, Request, RequestContext, RequestError};

const SCHEMA: &str = "
    scalar Decimal
    scalar Any
    input Range { min: Decimal, max: Decimal = 12345678901234567890.10, all: [Decimal!], any: Any, in: Range, f: Float }
    input Plain { x: Decimal, list: [Decimal], any: Any }
    type Query { find(x: Decimal, list: [Decimal], grid: [[Decimal]], range: Range, ranges: [Range!], plain: Plain,
        any: Any, f: Float, fs: [Float], i: Int, id: ID): Int }";

/// Numbers that a JSON value of 64 bits does not hold as they are written.
const NUMBERS: [&str; 14] = [
    "12345678901234567890123.4567890123",
    "123456789012345678901234567890",
    "-98765432109876543210",
    "18446744073709551616",
    "0.1000000000000000055511151231257827",
    "1e400",
    "-1E+400",
    "1e-400",
    "-0",
    "-0.0e0",
    "1.50",
    "1e3",
    "1.0e1",
    "100000000000000000000000000.0",
];

fn documents() -> Documents {
    let schema = Schema::parse_and_validate(SCHEMA, "schema.graphql").unwrap();
    Documents::new(&schema, Limits::default(), 1 << 16)
}

fn request(query: &str, variables: &str) -> Request {
    let query = serde_json::to_string(query).unwrap();
    let text = format!(r#"{{"extensions":{{}},"variables":{variables},"query":{query}}}"#);
    Request::from_json(text.as_bytes(), &Limits::default()).unwrap()
}

fn prepared(query: &str, variables: &str) -> Result<Prepared, Refusal> {
    documents().read(&request(query, variables), &RequestContext::new())
}

/// Returns a variable as it would be sent on.
fn sent(query: &str, variables: &str, name: &str) -> String {
    let prepared = prepared(query, variables).unwrap();
    let mut text = String::new();
    prepared.variable(name).unwrap().write(&mut text);
    text
}

#[test]
fn a_number_keeps_its_digits_wherever_it_stands() {
    for number in NUMBERS {
        for (ty, argument, value) in [
            ("Decimal", "x", number.to_owned()),
            ("Decimal!", "x", number.to_owned()),
            ("[Decimal]", "list", format!("[null,{number},2,{number}]")),
            (
                "[[Decimal]]",
                "grid",
                format!("[[{number}],[],[1,{number}]]"),
            ),
            (
                "Any",
                "any",
                format!(r#"{{"a":[{{"b":{number}}}],"c":"{number}"}}"#),
            ),
            (
                "Plain",
                "plain",
                format!(r#"{{"list":[1,{number}],"x":{number},"any":{{"y":[{number}]}}}}"#),
            ),
        ] {
            let query = format!("query ($v: {ty}) {{ find({argument}: $v) }}");
            let variables = format!(r#"{{"other":1.5,"v":{value}}}"#);
            assert_eq!(sent(&query, &variables, "v"), value, "{ty}");
            let request = request(&query, &variables);
            let all = request.digits.text(request.variables.as_ref().unwrap());
            assert_eq!(all, variables);
        }
    }
}

#[test]
fn names_and_texts_are_no_numbers() {
    let value = r#"{"1.50":"1e400, \" 1.50","a\"b\\":[1.50,{"\u00e9\n":1e400}],"":-0}"#;
    let expected = r#"{"1.50":"1e400, \" 1.50","a\"b\\":[1.50,{"é\n":1e400}],"":-0}"#;
    let query = "query ($v: Any) { find(any: $v) }";
    assert_eq!(
        sent(query, &format!(r#"{{ "v" : {value} }}"#), "v"),
        expected
    );
}

#[test]
fn values_that_types_coerce_keep_their_digits() {
    let query = "query ($v: [[Decimal]]) { find(grid: $v) }";
    assert_eq!(sent(query, r#"{"v":1.50}"#, "v"), "[[1.50]]");
    assert_eq!(
        sent(query, r#"{"v":[1.50,[1e400]]}"#, "v"),
        "[[1.50],[1e400]]"
    );
}

#[test]
fn defaults_keep_their_digits() {
    let literal = "12345678901234567890123.4567890123";
    for (ty, argument, default, expected) in [
        ("Decimal", "x", literal, literal),
        ("Decimal", "x", "1e400", "1e400"),
        ("[Decimal]", "list", "[1.50, 2]", "[1.50,2]"),
        (
            "Plain",
            "plain",
            "{x: 1.50, any: {y: [1e400]}}",
            r#"{"x":1.50,"any":{"y":[1e400]}}"#,
        ),
    ] {
        let query = format!("query ($v: {ty} = {default}) {{ find({argument}: $v) }}");
        assert_eq!(sent(&query, "{}", "v"), expected);
        assert_eq!(sent(&query, r#"{"v":null}"#, "v"), "null");
    }
    // Those of input objects, wherever they are.
    let max = r#""max":12345678901234567890.10"#;
    let query = "query ($v: [Range!]) { find(ranges: $v) }";
    let value = r#"{"v":[{"min":1.50},{"in":{"max":1},"all":[2.50]}]}"#;
    let expected = format!(r#"[{{"min":1.50,{max}}},{{"in":{{"max":1}},"all":[2.50],{max}}}]"#);
    assert_eq!(sent(query, value, "v"), expected);
}

#[test]
fn a_built_in_scalar_takes_no_number_that_is_out_of_range() {
    for (ty, argument, value, place) in [
        ("Float", "f", "1e400", "$v"),
        ("[Float]", "fs", "[1.5,-1e400]", "$v[1]"),
        ("Range", "range", r#"{"in":{"f":1e999}}"#, "$v.in.f"),
        ("Int", "i", "1e400", "$v"),
        ("ID", "id", "1e400", "$v"),
        ("ID", "id", "18446744073709551616", "$v"),
    ] {
        let query = format!("query ($v: {ty}) {{ find({argument}: $v) }}");
        let refused = prepared(&query, &format!(r#"{{"v":{value}}}"#)).unwrap_err();
        assert_eq!(refused[0].code.as_str(), "VARIABLE_INVALID");
        let refused = serde_json::to_value(&refused[0]).unwrap();
        assert_eq!(refused["extensions"]["variable"], place, "{refused}");
    }
    let query = "query ($v: Float) { find(f: $v) }";
    for number in [
        "1.7976931348623157e308",
        "1.50",
        "0.1000000000000000055511151231257827",
    ] {
        assert_eq!(sent(query, &format!(r#"{{"v":{number}}}"#), "v"), number);
    }
}

#[test]
fn nothing_is_kept_of_numbers_that_a_value_holds() {
    let query = "query ($v: Any) { find(any: $v) }";
    let variables = r#"{"v":[1,-2,0.5,1.0,18446744073709551615,{"a":-0.0,"b":true}]}"#;
    let request = request(query, variables);
    assert!(request.digits.is_empty());
    assert_eq!(
        request.digits.text(request.variables.as_ref().unwrap()),
        variables
    );
}

#[test]
fn variables_are_read_on_their_own_too() {
    let limits = Limits::default();
    let read = |text: &str| Request::new("{ a }").with_variables_from_json(text, &limits);
    for number in NUMBERS {
        let request = read(&format!(r#"{{"a":[{number}]}}"#)).unwrap();
        let list = request.variable("a").unwrap();
        assert_eq!(
            list.items().unwrap().next().unwrap().number().unwrap(),
            number
        );
    }
    assert!(read("null").unwrap().variables.is_none());
    assert!(matches!(read("[1e400]"), Err(RequestError::NotRequest(_))));
    assert!(matches!(
        read(r#"{"a":1e400"#),
        Err(RequestError::NotJson(_))
    ));
    assert!(matches!(
        read(r#"{"a":01e400}"#),
        Err(RequestError::NotJson(_))
    ));
    let few = limits.clone().variable_values(2);
    let many = Request::new("").with_variables_from_json(r#"{"a":[1e400,1e400]}"#, &few);
    assert!(matches!(
        many,
        Err(RequestError::TooManyValues { limit: 2 })
    ));
}

#[test]
fn a_number_out_of_range_changes_nothing_else_about_a_request() {
    let read = |text: &str| Request::from_json(text.as_bytes(), &Limits::default());
    let nested = |depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        format!(r#"{{"query":"","variables":{{"a":{open}1e400{close}}}}}"#)
    };
    assert!(read(&nested(100)).is_ok());
    assert!(matches!(
        read(&nested(200_000)),
        Err(RequestError::NotJson(_))
    ));
    for no_request in [
        r#"{"query":"","variables":{"a":1e400,"a":1}}"#,
        r#"{"query":"","variables":[1e400]}"#,
        r#"{"variables":{"a":1e400}}"#,
        r#"{"query":"","variables":{"a":1e400},"variables":{}}"#,
    ] {
        assert!(read(no_request).is_err(), "{no_request}");
    }
    assert!(matches!(
        read(r#"{"query":"","variables":{"a":1e400"#),
        Err(RequestError::NotJson(_))
    ));
    // Extensions are no values of custom scalars.
    let extensions = r#"{"query":"","extensions":{"a":1e400}}"#;
    assert!(matches!(read(extensions), Err(RequestError::NotJson(_))));
    let skipped = r#"{"query":"","other":1e400,"variables":{"a":1e400}}"#;
    assert_eq!(
        read(skipped)
            .unwrap()
            .variable("a")
            .unwrap()
            .number()
            .unwrap(),
        "1e400"
    );
}
