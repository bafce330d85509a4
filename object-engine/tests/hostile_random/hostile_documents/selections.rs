//! Selections: deep, broad, cyclic, and of the schema itself.

use std::fmt::Write as _;

use super::{Hostile, Source};

const ANSWERED: &[&str] = &["", "LIMIT_RESPONSE", "DEADLINE_EXCEEDED"];

/// Codes for a selection of `depth`, `fields` and `aliases`: of limits, if it exceeds any.
fn expected(depth: usize, fields: usize, aliases: usize, tokens: usize) -> Vec<&'static str> {
    let limits = [
        (depth > 40, "LIMIT_DEPTH"),
        (fields > 20_000, "LIMIT_FIELDS"),
        (aliases > 1_000, "LIMIT_ALIASES"),
        // The parser counts the blanks between tokens too.
        (2 * tokens > 95_000, "LIMIT_TOKENS"),
    ];
    let exceeded = limits.iter().filter(|(over, _)| *over);
    let codes: Vec<&str> = exceeded.map(|(_, code)| *code).collect();
    if codes.is_empty() {
        ANSWERED.to_vec()
    } else {
        codes
    }
}

pub(super) fn deep(seed: u64) -> Hostile {
    let depth = Source::new(seed).size(20_000);
    let document =
        "{ thing { ".to_owned() + &"near { ".repeat(depth) + "id" + &" }".repeat(depth + 2);
    // The depth is seen first, unless the document is cut before.
    let mut codes = expected(depth + 2, depth + 2, 0, 0);
    codes.extend((depth > 30_000 / 3).then_some("LIMIT_TOKENS"));
    Hostile::new(document, &codes)
}

pub(super) fn broad(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let count = source.size(150_000);
    let field = source.choose(&["id", "name", "near { id }", "words", "__typename"]);
    let tokens = field.split(' ').count();
    let fields = count * if tokens > 1 { 2 } else { 1 };
    let document = format!("{{ thing {{ {} }} }}", format!("{field} ").repeat(count));
    Hostile::new(document, &expected(3, fields + 1, 0, tokens * count + 5))
}

pub(super) fn aliases(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let count = source.size(30_000);
    let field = source.choose(&[
        "thing { id }",
        "object(limit: 1) { id }",
        "stone { weight }",
    ]);
    let aliased: String = (0..count).map(|n| format!("a{n}: {field} ")).collect();
    let tokens = (3 + field.split([' ', ':', '(']).count()) * count;
    let mut codes = expected(2, 2 * count, count, tokens);
    // The count of tokens is only about right.
    codes.extend(
        ["LIMIT_TOKENS", "LIMIT_FIELDS", "LIMIT_ALIASES"]
            .into_iter()
            .filter(|_| count > 1_000),
    );
    codes.extend(["LIMIT_PLAN"].into_iter().filter(|_| count > 900));
    Hostile::new(format!("{{ {aliased} }}"), &codes)
}

pub(super) fn cycles(seed: u64) -> Hostile {
    let length = Source::new(seed).size(2_000);
    let mut document = String::from("{ thing { ...F0 } } ");
    for at in 0..length {
        let next = (at + 1) % length;
        write!(
            document,
            "fragment F{at} on Thing {{ near {{ ...F{next} }} }} "
        )
        .expect("a string");
    }
    let codes = ["GRAPHQL_VALIDATION_FAILED", "LIMIT_DEPTH", "ERRORS_OMITTED"];
    Hostile::new(document, &codes)
}

pub(super) fn fans(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let (depth, width) = (1 + source.below(60), 1 + source.below(8));
    let mut document = String::from("{ thing { ...F0 } } ");
    for level in 0..depth {
        let next = level + 1;
        let body = (0..width).map(|n| format!("a{n}: near {{ ...F{next} }} "));
        let body: String = body.collect();
        write!(document, "fragment F{level} on Thing {{ {body} }} ").expect("a string");
    }
    write!(document, "fragment F{depth} on Thing {{ id }}").expect("a string");
    let codes = [
        "",
        "LIMIT_DEPTH",
        "LIMIT_FIELDS",
        "LIMIT_ALIASES",
        "LIMIT_RESPONSE",
        "DEADLINE_EXCEEDED",
    ];
    Hostile::new(document, &codes)
}

pub(super) fn directives(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let count = source.size(15_000);
    let directive = source.choose(&[
        "@skip(if: false) ",
        "@include(if: true) ",
        "@nope ",
        "@deprecated ",
    ]);
    let place = source.choose(&["thing { id % }", "thing % { id }", "thing { ... % { id } }"]);
    let document = format!("{{ {} }}", place.replace('%', &directive.repeat(count)));
    let mut codes = vec![
        "GRAPHQL_VALIDATION_FAILED",
        "ERRORS_OMITTED",
        "LIMIT_TOKENS",
    ];
    if count == 1 && directive.len() > 13 {
        codes.push("");
    }
    Hostile::new(document, &codes)
}

pub(super) fn conflicts(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let count = 2 + source.size(15_000);
    let fields: String = (0..count)
        .map(|n| format!("a: near(limit: {}) {{ id }} ", n + 1))
        .collect();
    let codes = [
        "GRAPHQL_VALIDATION_FAILED",
        "ERRORS_OMITTED",
        "LIMIT_ALIASES",
        "LIMIT_FIELDS",
        "LIMIT_TOKENS",
    ];
    Hostile::new(format!("{{ thing {{ {fields} }} }}"), &codes)
}

pub(super) fn operations(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let count = 2 + source.size(15_000);
    let same = source.below(2) == 0;
    let operation = |n: usize| format!("query Q{} {{ thing {{ id }} }} ", if same { 0 } else { n });
    let document: String = (0..count).map(operation).collect();
    let codes = [
        "GRAPHQL_VALIDATION_FAILED",
        "OPERATION_NOT_FOUND",
        "ERRORS_OMITTED",
        "LIMIT_TOKENS",
    ];
    Hostile::new(document, &codes)
}

pub(super) fn deep_introspection(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let depth = 1 + source.size(400);
    let step = source.choose(&[
        "fields { type",
        "possibleTypes { interfaces",
        "ofType { ofType",
    ]);
    let open = format!("{step} {{ ").repeat(depth);
    let document = format!(
        "{{ __schema {{ types {{ {open} name {} }} }} }}",
        "} } ".repeat(depth)
    );
    Hostile::new(document, &["", "LIMIT_DEPTH"])
}

pub(super) fn broad_introspection(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let count = source.size(1_200);
    let field = source.choose(&[
        "__schema { types { name fields { name args { name type { name } } type { name ofType { name } } } } }",
        "__schema { types { inputFields { name description type { name } } } }",
        "__type(name: \"Thing\") { fields { name description } }",
    ]);
    let fields: String = (0..count).map(|n| format!("a{n}: {field} ")).collect();
    let mut codes = vec![
        "LIMIT_RESPONSE",
        "LIMIT_INTROSPECTION",
        "LIMIT_TOKENS",
        "LIMIT_FIELDS",
        "LIMIT_ALIASES",
    ];
    codes.extend(["", "DEADLINE_EXCEEDED"]);
    Hostile::new(format!("{{ {fields} }}"), &codes)
}

pub(super) fn inline(seed: u64) -> Hostile {
    let mut source = Source::new(seed);
    let depth = source.size(10_000);
    let open = source.choose(&["... { ", "... on Thing { "]).repeat(depth);
    let document = format!("{{ thing {{ {open} id {} }} }}", "} ".repeat(depth));
    Hostile::new(document, &["", "LIMIT_DEPTH", "LIMIT_TOKENS"])
}
