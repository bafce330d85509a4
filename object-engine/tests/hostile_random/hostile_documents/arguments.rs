//! Arguments: long lists, deep and broad filters, numbers without end.

use serde_json::{Value, json};

use super::{Hostile, Source};

pub(super) fn list_literal(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let count = source.size(120_000);
    let key = source.choose(&[
        "size: {IN",
        "name: {NIN",
        "count: {IN",
        "id: {IN",
        "type: {NIN",
    ]);
    let items: String = (0..count).map(|n| format!("\"{n}\" ")).collect();
    let document = format!("{{ thing(where: {{{key}: [{items}]}}}}) {{ id }} }}");
    let codes: &[&str] = match count {
        0..=10_000 => &["", "DEADLINE_EXCEEDED"],
        _ => &["LIMIT_LIST_LENGTH", "LIMIT_TOKENS"],
    };
    Hostile::new(document, codes)
}

pub(super) fn list_variable(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let count = source.size(300_000);
    let (ty, place) = source.choose(&[
        ("[Decimal!]", "where: {size: {IN: $v}}"),
        ("[String!]", "where: {name: {NIN: $v}}"),
        ("[ID!]", "ID: $v"),
        ("[ID!]", "where: {ID: $v}"),
    ]);
    let items: Value = (0..count).map(|n| json!(n.to_string())).collect();
    let codes: &[&str] = match count {
        0..=10_000 => &["", "DEADLINE_EXCEEDED"],
        _ => &["LIMIT_LIST_LENGTH"],
    };
    Hostile::new(
        format!("query($v: {ty}) {{ thing({place}) {{ id }} }}"),
        codes,
    )
    .with("v", items)
}

pub(super) fn deep_literal(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let depth = source.size(15_000);
    let key = source.choose(&[
        "near",
        "next",
        "NOT",
        "ALL",
        "AND: [{next",
        "OR: [{near",
        "_ifTree: {NOT",
    ]);
    let open = format!("{{{key}: ").repeat(depth);
    let close = match key.contains("[{") {
        true => "}]}".repeat(depth),
        false if key.contains('{') => "}}".repeat(depth),
        false => "}".repeat(depth),
    };
    let document = format!("{{ thing(where: {open}{{}}{close}) {{ id }} }}");
    let mut codes = vec![
        "LIMIT_WHERE_DEPTH",
        "LIMIT_DEPTH",
        "GRAPHQL_VALIDATION_FAILED",
        "LIMIT_TOKENS",
    ];
    if depth < 20 {
        codes = vec![
            "",
            "GRAPHQL_VALIDATION_FAILED",
            "LIMIT_WHERE_DEPTH",
            "DEADLINE_EXCEEDED",
        ];
    }
    Hostile::new(document, &codes)
}

pub(super) fn deep_variable(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let depth = source.size(120);
    let key = source.choose(&["near", "NOT", "AND", "ALL_EXISTS"]);
    let mut value = json!({});
    for _ in 0..depth {
        value = json!({ key: value });
    }
    let codes: &[&str] = match depth {
        0..20 => &["", "DEADLINE_EXCEEDED"],
        _ => &["LIMIT_WHERE_DEPTH"],
    };
    let codes: Vec<&str> = codes
        .iter()
        .copied()
        .chain((depth == 20).then_some(""))
        .collect();
    Hostile::new(
        "query($w: Thing_Where_Multi) { thing(where: $w) { id } }",
        &codes,
    )
    .with("w", value)
}

pub(super) fn conditions_literal(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let count = source.size(12_000);
    let part = source.choose(&[
        "{name: {EQ: \"x\"}}",
        "{near: {near: {name: {RE: \"^a\"}}}}",
        "{label: {lang: \"en\"}}",
        "{NOT: {next: {}}}",
        "{words: {ALL: {NEQ: \"b\"}}}",
    ]);
    let connective = source.choose(&["AND", "OR"]);
    let parts = format!("{part} ").repeat(count);
    let document = format!("{{ thing(where: {{{connective}: [{parts}]}}) {{ id }} }}");
    let codes = [
        "",
        "LIMIT_WHERE_CONDITIONS",
        "LIMIT_LIST_LENGTH",
        "LIMIT_TOKENS",
        "DEADLINE_EXCEEDED",
    ];
    let codes = if count > 1_000 {
        &codes[1..4]
    } else {
        &codes[..]
    };
    let mut codes = codes.to_vec();
    codes.extend(
        (count <= 2_000)
            .then_some(["", "DEADLINE_EXCEEDED"])
            .into_iter()
            .flatten(),
    );
    Hostile::new(document, &codes)
}

pub(super) fn conditions_variable(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let count = source.size(50_000);
    let part = match source.below(3) {
        0 => json!({"name": {"IRE": "b$"}}),
        1 => json!({"next": {"size": {"GTE": "3.5"}}}),
        _ => json!({"ALL_EXISTS": {"count": {"LT": 3}}}),
    };
    let connective = source.choose(&["AND", "OR"]);
    let filter = json!({ connective: vec![part; count] });
    let mut codes = vec!["LIMIT_WHERE_CONDITIONS", "LIMIT_LIST_LENGTH"];
    if count < 1_000 {
        codes = vec!["", "LIMIT_WHERE_CONDITIONS", "DEADLINE_EXCEEDED"];
    }
    Hostile::new(
        "query($w: Thing_Where_Multi) { thing(where: $w) { id } }",
        &codes,
    )
    .with("w", filter)
}

pub(super) fn nested_lists(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let depth = 2 + source.size(5_000);
    let list = "[".repeat(depth) + "1" + &"]".repeat(depth);
    let place = source.choose(&[
        "where: {size: {IN: %}}",
        "ID: %",
        "from: %",
        "where: {OR: %}",
        "limit: %",
    ]);
    let document = format!("{{ thing({}) {{ id }} }}", place.replace('%', &list));
    Hostile::new(
        document,
        &[
            "GRAPHQL_VALIDATION_FAILED",
            "SCALAR_INVALID",
            "LIMIT_DEPTH",
            "ERRORS_OMITTED",
        ],
    )
}

pub(super) fn many_variables(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let count = source.size(15_000);
    let defined: String = (0..count)
        .map(|n| format!("$v{n}: String = \"{n}\" "))
        .collect();
    let used: String = match source.below(3) {
        0 => (0..count).map(|n| format!("$v{n} ")).collect(),
        1 => "$v0 ".repeat(count),
        _ => (0..count).map(|n| format!("$v{} ", n + 1)).collect(),
    };
    let document =
        format!("query({defined}) {{ thing(where: {{name: {{IN: [{used}]}}}}) {{ id }} }}");
    let codes = [
        "",
        "GRAPHQL_VALIDATION_FAILED",
        "ERRORS_OMITTED",
        "LIMIT_LIST_LENGTH",
        "LIMIT_TOKENS",
        "DEADLINE_EXCEEDED",
    ];
    Hostile::new(document, &codes)
}

/// A number that is hard to hold.
fn number(source: &mut Source) -> String {
    let digits = source.size(200_000);
    match source.below(7) {
        0 => "9".repeat(digits),
        1 => format!("-{}", "9".repeat(digits)),
        2 => format!("0.{}1", "0".repeat(digits)),
        3 => format!("1e{}", "9".repeat(digits.min(400))),
        4 => format!("1E-{}", "9".repeat(digits.min(400))),
        5 => "18446744073709551616".to_owned(),
        _ => format!("{}.{}", "1".repeat(digits), "3".repeat(digits)),
    }
}

pub(super) fn numbers(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let number = number(&mut source);
    let text = source.below(2) == 0;
    let number = if text { format!("{number:?}") } else { number };
    let (ty, key) = source.choose(&[
        ("Stone", "weight"),
        ("Tree", "height"),
        ("Thing", "size"),
        ("Thing", "count"),
    ]);
    let operator = source.choose(&["EQ", "LT", "GTE", "NEQ", "IN"]);
    let document = format!(
        "{{ {}(where: {{{key}: {{{operator}: {number}}}}}) {{ id }} }}",
        ty.to_lowercase()
    );
    let codes = [
        "",
        "SCALAR_INVALID",
        "GRAPHQL_VALIDATION_FAILED",
        "STORE_UNSUPPORTED",
        "DEADLINE_EXCEEDED",
    ];
    Hostile::new(document, &codes)
}

pub(super) fn pages(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let number = match source.below(4) {
        0 => "9223372036854775807".to_owned(),
        1 => "0".to_owned(),
        2 => "2147483648".to_owned(),
        _ => number(&mut source),
    };
    let place = source.choose(&[
        "thing(limit: %) { id }",
        "thing(offset: %) { id }",
        "thing { near(limit: %, offset: %) { id } }",
        "thing { words(offset: %) }",
    ]);
    let document = format!("{{ {} }}", place.replace('%', &number));
    Hostile::new(
        document,
        &["", "SCALAR_INVALID", "GRAPHQL_VALIDATION_FAILED"],
    )
}

pub(super) fn orders(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let size = source.size(3_000);
    let document = if source.below(2) == 0 {
        let (open, close) = ("{next: ".repeat(size), "}".repeat(size));
        format!("{{ thing(orderBy: {open}{{id: ASC}}{close}) {{ id }} }}")
    } else {
        // Each key with others below it.
        let keys = "size: ASC, count: DESC, name: ASC, id: DESC, _typename: ASC";
        let levels = (size / 10).min(200);
        let (open, close) = (
            format!("{{{keys}, next: ").repeat(levels),
            "}".repeat(levels),
        );
        format!("{{ thing(orderBy: {open}{{id: ASC}}{close}) {{ id }} }}")
    };
    Hostile::new(
        document,
        &["", "LIMIT_ORDER", "LIMIT_DEPTH", "DEADLINE_EXCEEDED"],
    )
}

/// A text that is no usual IRI.
fn iri(source: &mut Source) -> String {
    let length = source.size(100_000);
    match source.below(8) {
        0 => "http://r/1> . } ; DROP ALL ; SELECT * { ?s ?p <http://r/1".to_owned(),
        1 => format!("http://r/{}", "a/../".repeat(length)),
        2 => "\u{0}\u{1f}\u{fffd}".to_owned(),
        3 => format!("urn:{}", "%".repeat(length)),
        4 => "http://[::1]:99999999/".to_owned(),
        5 => " \n\t".to_owned(),
        6 => format!("http://r/{}", "é\u{202e}".repeat(length)),
        _ => "<http://r/1>".to_owned(),
    }
}

pub(super) fn ids(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let place = source.choose(&[
        "ID: $v",
        "where: {ID: $v}",
        "where: {id: {IN: $v}}",
        "where: {type: {NIN: $v}}",
    ]);
    let ids: Value = (0..1 + source.below(5))
        .map(|_| json!(iri(&mut source)))
        .collect();
    let document = format!("query($v: [ID!]) {{ thing({place}) {{ id }} }}");
    Hostile::new(document, &["", "SCALAR_INVALID"]).with("v", ids)
}

pub(super) fn graphs(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let count = source.size(100_000);
    let names: Value = if source.below(2) == 0 {
        (0..count).map(|n| json!(format!("http://g/{n}"))).collect()
    } else {
        json!([iri(&mut source)])
    };
    let codes: &[&str] = match names.as_array().map_or(0, Vec::len) {
        0..=1_000 => &["", "ARGUMENT_INVALID", "DEADLINE_EXCEEDED"],
        _ => &["LIMIT_GRAPHS"],
    };
    Hostile::new(
        "query($v: [String!]) { thing(from: $v) { id near { id } } }",
        codes,
    )
    .with("v", names)
}

pub(super) fn cursors(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let cursor = iri(&mut source);
    let argument = source.choose(&["after", "before", "first", "cursor"]);
    let cursor = Value::String(cursor).to_string();
    let document = format!("{{ thing({argument}: {cursor}) {{ id }} }}");
    Hostile::new(
        document,
        &["GRAPHQL_VALIDATION_FAILED", "GRAPHQL_PARSE_FAILED"],
    )
}
