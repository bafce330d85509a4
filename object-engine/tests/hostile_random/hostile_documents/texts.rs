//! Texts: patterns, names, escapes, languages, and what is no document at all.

use serde_json::json;

use super::{Hostile, Source};

pub(super) fn languages(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let count = source.size(300_000);
    let spec = match source.below(6) {
        0 => vec!["en"; count].join(","),
        1 => format!("ALL,{}", vec!["-en"; count].join(",")),
        2 => format!("ALL:{}", vec!["BROWSER"; count].join(",")),
        3 => ",".repeat(count),
        4 => format!("en-{}", "x".repeat(count)),
        _ => format!("{}~", "~en,".repeat(count)),
    };
    let place = source.choose(&[
        "thing(lang: $v) { label { value } name }",
        "thing { label(lang: $v) { value } }",
        "thing { name(lang: $v) }",
        "thing(where: {label: {lang: $v}}) { id }",
    ]);
    let codes = ["", "LANG_SPEC_INVALID", "LIMIT_LANG", "MULTIPLE_VALUES"];
    let document = format!("query($v: String) {{ {place} }}");
    let mut hostile = Hostile::new(document, &codes).with("v", json!(spec));
    hostile.accepted = vec!["de".to_owned(), "en".to_owned()];
    hostile
}

pub(super) fn accepted(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let count = source.size(2_000);
    let codes = ["", "MULTIPLE_VALUES"];
    let mut hostile = Hostile::new(
        "{ thing(lang: \"BROWSER\") { label { value } name } }",
        &codes,
    );
    hostile.accepted = (0..count)
        .map(|n| format!("x{n}-{}", "é".repeat(source.below(20))))
        .collect();
    hostile
}

const REGEX_CODES: &[&str] = &[
    "",
    "LIMIT_REGEX",
    "REGEX_INVALID",
    "REGEX_UNSUPPORTED",
    "DEADLINE_EXCEEDED",
];

fn matching(pattern: &str, operator: &str) -> Hostile {
    let document =
        format!("query($v: String) {{ thing(where: {{words: {{{operator}: $v}}}}) {{ id }} }}");
    Hostile::new(document, REGEX_CODES).with("v", json!(pattern))
}

pub(super) fn regexes(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let parts = [
        "a",
        "b",
        "(",
        ")",
        "(a|",
        "a)",
        "*",
        "+",
        "?",
        "{2}",
        "{1,5000}",
        "{99999999999999999999}",
        "[a-z]",
        "[^",
        "]",
        "\\",
        "\\d",
        "\\p{L}",
        "\\p{",
        "^",
        "$",
        ".",
        "|",
        "(?",
        "(?=",
        "(?i)",
        "\\1",
        "[[",
        "--",
        "&&",
        "\u{0}",
        "é",
        "\u{10ffff}",
        "-",
    ];
    let length = source.size(400);
    let pattern: String = (0..length).map(|_| source.choose(&parts)).collect();
    let operator = source.choose(&["RE", "IRE", "NRE", "NIRE"]);
    matching(&pattern, operator)
}

pub(super) fn heavy_regexes(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let n = 1 + source.size(100);
    let pattern = match source.below(8) {
        0 => "(a+)+$".to_owned(),
        1 => format!("{}{}b", "(".repeat(n), "a+)+".repeat(n)),
        2 => format!("^{}{}$", "a?".repeat(n), "a".repeat(n)),
        3 => format!("((a{{{n}}}){{{n}}}){{{n}}}"),
        4 => format!("(a|aa)+{}", "(b|bb)*".repeat(n)),
        5 => format!("[\\p{{L}}\\p{{M}}]{{0,{}}}x", n * 40),
        6 => "(.*)*".repeat(n),
        _ => format!("({})+y", vec!["a"; n].join("|")),
    };
    let operator = source.choose(&["RE", "IRE", "NRE", "NIRE"]);
    matching(&pattern, operator)
}

pub(super) fn names(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let name = source
        .choose(&["a", "thin", "_", "nea"])
        .repeat(source.size(1_000_000));
    let place = source.choose(&[
        "{ % }",
        "{ thing { % } }",
        "{ %: thing { id } }",
        "{ thing(%: 1) { id } }",
        "{ thing(where: {%: 1}) { id } }",
        "{ thing { ... on % { id } } }",
        "{ thing { ...% } }",
        "query %($%: String) { thing(lang: $%) { id } }",
        "{ thing @% { id } }",
        "{ thing(orderBy: {name: %}) { id } }",
    ]);
    let codes = [
        "",
        "GRAPHQL_VALIDATION_FAILED",
        "GRAPHQL_PARSE_FAILED",
        "ERRORS_OMITTED",
    ];
    Hostile::new(place.replace('%', &name), &codes)
}

pub(super) fn strings(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let text = source
        .choose(&["a", "é", "\\\"", "\\u0041", " "])
        .repeat(source.size(1_000_000));
    let text = match source.below(3) {
        0 => format!("\"\"\"{}\"\"\"", text.replace('\\', "")).replace("\"\"\"\"", "\"\"\" \""),
        _ => format!("\"{text}\""),
    };
    let place = source.choose(&[
        "{ thing(where: {name: {EQ: %}}) { id } }",
        "{ thing(where: {words: {IN: [%, %]}}) { id } }",
        "{ thing(ID: %) { id } }",
        "{ thing(where: {size: {LT: %}}) { id } }",
        "{ thing { id } } # %",
        "{ thing(from: %) { id } }",
        "{ __type(name: %) { name } }",
    ]);
    let codes = [
        "",
        "SCALAR_INVALID",
        "ARGUMENT_INVALID",
        "GRAPHQL_PARSE_FAILED",
        "GRAPHQL_VALIDATION_FAILED",
        "ERRORS_OMITTED",
        // A quote too many ends a text, and the next one opens another.
        "LIMIT_TOKENS",
    ];
    Hostile::new(place.replace('%', &text), &codes)
}

pub(super) fn escapes(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let parts = [
        "\\uD800",
        "\\uDFFF",
        "\\u{110000}",
        "\\u{D800}",
        "\\u{41}",
        "\\q",
        "\\u12",
        "\\x41",
        "\\",
        "\\n",
        "a",
        "\n",
        "\\uD83D\\uDE00",
        "\\u0000",
        "\"\"",
        "\\\"",
        "\u{0}",
        "\r",
    ];
    let length = source.size(3_000);
    let text: String = (0..length).map(|_| source.choose(&parts)).collect();
    let quote = source.choose(&["\"", "\"\"\""]);
    let document = format!("{{ thing(where: {{name: {{EQ: {quote}{text}{quote}}}}}) {{ id }} }}");
    let codes = [
        "",
        "GRAPHQL_PARSE_FAILED",
        "GRAPHQL_VALIDATION_FAILED",
        "ERRORS_OMITTED",
        "LIMIT_DEPTH",
    ];
    Hostile::new(document, &codes)
}

pub(super) fn unicode(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let length = source.size(20_000);
    let text: String = (0..length)
        .filter_map(|_| char::from_u32(u32::try_from(source.below(0x11_0000)).expect("small")))
        .collect();
    let quoted = serde_json::Value::String(text.clone()).to_string();
    let document = match source.below(4) {
        0 => text,
        1 => format!("{{ thing {{ {text} }} }}"),
        2 => format!("{{ thing(where: {{name: {{IRE: {quoted}}}}}) {{ id }} }}"),
        _ => format!("\u{feff}{{ thing(where: {{name: {{GT: {quoted}}}}}) {{ id }} }}"),
    };
    let mut codes = vec![
        "GRAPHQL_PARSE_FAILED",
        "GRAPHQL_VALIDATION_FAILED",
        "ERRORS_OMITTED",
        "LIMIT_TOKENS",
    ];
    codes.extend(REGEX_CODES);
    codes.push("OPERATION_NOT_FOUND");
    Hostile::new(document, &codes)
}

pub(super) fn cut(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let whole = "query Q($a: [ID!] = [\"http://r/1\"], $b: Boolean!) { thing(ID: $a, where: {OR: [{name: {RE: \"^a\"}}, \
                 {near: {}}]}, orderBy: {size: DESC}, limit: 3) @include(if: $b) { ...F ... on Stone { weight } } } \
                 fragment F on Thing { id label(lang: \"en~,ANY\") { value } }";
    let (start, end) = (source.below(whole.len()), source.below(whole.len()));
    let document = match source.below(3) {
        0 => whole[..end].to_owned(),
        1 => whole[start.min(end)..start.max(end)].to_owned(),
        _ => format!(
            "{}{}{}",
            &whole[..start],
            source.choose(&["{", "}", "(", "$", "...", "!", "\"", "#"]),
            &whole[start..]
        ),
    };
    let codes = [
        "",
        "GRAPHQL_PARSE_FAILED",
        "GRAPHQL_VALIDATION_FAILED",
        "OPERATION_NOT_FOUND",
        "VARIABLE_INVALID",
        "ERRORS_OMITTED",
        "REGEX_INVALID",
        "REGEX_UNSUPPORTED",
        "LANG_SPEC_INVALID",
        "ARGUMENT_INVALID",
        "SCALAR_INVALID",
    ];
    Hostile::new(document, &codes)
}
