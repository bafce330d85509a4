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

fn documents(schema: &str) -> Documents {
    let schema = Schema::parse_and_validate(schema, "schema.graphql").unwrap();
    Documents::new(&schema, Limits::default(), 1 << 16)
}

fn request(query: &str, variables: &str) -> Request {
    let query = serde_json::to_string(query).unwrap();
    let text = format!(r#"{{"extensions":{{}},"variables":{variables},"query":{query}}}"#);
    Request::from_json(text.as_bytes(), &Limits::default()).unwrap()
}

fn prepared(query: &str, variables: &str) -> Result<Prepared, Refusal> {
    documents(SCHEMA).read(&request(query, variables), &RequestContext::new())
}

/// Returns a variable as it would be sent on.
fn sent(query: &str, variables: &str, name: &str) -> String {
    sent_over(SCHEMA, query, variables, name)
}

fn sent_over(schema: &str, query: &str, variables: &str, name: &str) -> String {
    let request = request(query, variables);
    let prepared = documents(schema)
        .read(&request, &RequestContext::new())
        .unwrap();
    let variable = prepared.variable(name).unwrap();
    let (mut text, mut bytes) = (String::new(), Vec::new());
    variable.write(&mut text);
    variable.write_to(&mut bytes);
    assert_eq!(bytes, text.as_bytes());
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
fn a_default_that_holds_its_own_type_is_filled_in_a_few_times() {
    let schema = "scalar D  input A { x: D  a: A = {x: 1.50} }  type Query { f(a: A): Int }";
    let query = "query ($v: A) { f(a: $v) }";
    let sent = sent_over(schema, query, r#"{"v":{}}"#, "v");
    assert!(sent.starts_with(r#"{"a":{"x":1.50,"#), "{sent}");
    assert!(sent.len() < 200, "{sent}");
    let sent = sent_over(schema, query, r#"{"v":{"a":{"a":{"a":null}}}}"#, "v");
    assert_eq!(sent, r#"{"a":{"a":{"a":null}}}"#);
}

#[test]
fn defaults_that_hold_two_more_each_do_not_become_many() {
    let mut schema = String::from("scalar D  input A64 { x: D }  type Query { f(a: A0): Int }");
    for number in 0..64 {
        let next = number + 1;
        schema.push_str(&format!(
            "input A{number} {{ x: D  a: A{next} = {{x: 1.50}}  b: A{next} = {{x: 1.50}} }}"
        ));
    }
    let query = "query ($v: A0) { f(a: $v) }";
    let sent = sent_over(&schema, query, r#"{"v":{"x":1}}"#, "v");
    assert!(sent.starts_with(r#"{"x":1,"a":{"x":1.50,"#), "{sent}");
    assert!(sent.len() < 1_000, "{sent}");
}

#[test]
fn a_default_in_a_default_keeps_its_digits() {
    let schema = "scalar D  input Outer { inner: Inner = {y: 1.50} }
        input Inner { y: D  max: D = 1e400 }  type Query { f(all: [Outer]): Int }";
    let query = "query ($v: [Outer]) { f(all: $v) }";
    let expected = r#"[{"inner":{"y":1.50,"max":1e400}}]"#;
    assert_eq!(sent_over(schema, query, r#"{"v":{}}"#, "v"), expected);
    // As a value of its own, too.
    let query = "query ($v: [Outer] = {inner: {y: 2.50}}) { f(all: $v) }";
    let expected = r#"[{"inner":{"y":2.50,"max":1e400}}]"#;
    assert_eq!(sent_over(schema, query, "{}", "v"), expected);
}

#[test]
fn an_int_or_an_id_that_the_library_refuses_is_a_default_all_the_same() {
    let long = "123456789012345678901";
    let schema = format!(
        "scalar D  input F {{ n: Int = -0  id: ID = {long}  known: ID = 7  x: D }}
        input Outer {{ f: F = {{n: -0, id: {long}, x: 1.50}} }}
        type Query {{ f(f: F, outer: Outer, id: ID, ids: [ID], n: Int): Int }}"
    );
    let default = format!(r#""n":0,"id":"{long}""#);
    let query = "query ($v: F) { f(f: $v) }";
    let sent = sent_over(&schema, query, r#"{"v":{}}"#, "v");
    assert_eq!(sent, format!(r#"{{{default},"known":7}}"#));
    let query = "query ($v: Outer) { f(outer: $v) }";
    let sent = sent_over(&schema, query, r#"{"v":{}}"#, "v");
    assert_eq!(sent, format!(r#"{{"f":{{{default},"x":1.50,"known":7}}}}"#));
    for (ty, argument, default, expected) in [
        ("Int", "n", "-0", "0".to_owned()),
        ("ID", "id", long, format!("\"{long}\"")),
        ("[ID]", "ids", long, format!("[\"{long}\"]")),
        ("ID", "id", "7", "7".to_owned()),
    ] {
        let query = format!("query ($v: {ty} = {default}) {{ f({argument}: $v) }}");
        assert_eq!(sent_over(&schema, &query, "{}", "v"), expected, "{ty}");
    }
}

#[test]
fn a_variable_without_such_defaults_is_left_as_it_is() {
    let schema = Schema::parse_and_validate(SCHEMA, "schema.graphql").unwrap();
    let defaults = super::InexactDefaults::new(&schema);
    let documents = documents(SCHEMA);
    for (query, variables, is_filled_in) in [
        (
            "query ($v: Plain) { find(plain: $v) }",
            r#"{"v":{}}"#,
            false,
        ),
        ("query ($v: Decimal = 1) { find(x: $v) }", "{}", false),
        ("query ($v: Range) { find(range: $v) }", "{}", false),
        ("query ($v: Range) { find(range: $v) }", r#"{"v":{}}"#, true),
        ("query ($v: Decimal = 1.50) { find(x: $v) }", "{}", true),
    ] {
        let request = request(query, variables);
        let prepared = documents.read(&request, &RequestContext::new()).unwrap();
        let given = request.variables.clone().unwrap_or_default();
        let filled_in = defaults.filled_in(&schema, &prepared.operation, &given, &request.digits);
        assert_eq!(filled_in.is_some(), is_filled_in, "{query} {variables}");
    }
}

#[test]
fn stand_ins_are_told_from_numbers_that_only_lose_digits() {
    for number in NUMBERS {
        let request = request("", &format!(r#"{{"a":[1,{{"b":{number}}}]}}"#));
        let is_out_of_range = ["1e400", "-1E+400"].contains(&number);
        assert_eq!(request.digits.has_stand_ins(), is_out_of_range, "{number}");
    }
    assert!(!request("", r#"{"a":1}"#).digits.has_stand_ins());
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
