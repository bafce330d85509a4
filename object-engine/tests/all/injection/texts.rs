//! Texts with syntax of whatever reads them on their way to a store.

use crate::differential::random::Random;

/// Stands for half of a character that takes two escapes in JSON and GraphQL, which is no text.
pub(super) const HALF: char = '\u{f8ff}';

const PIECES: &[&str] = &[
    "\"",
    "'",
    "'''",
    "\"\"\"",
    "\\",
    "\\\\",
    "\\\"",
    "\\n",
    "\\u0022",
    "\\\\u0022",
    "\\u003e",
    "\\U00000022",
    "\n",
    "\r",
    "\t",
    "\r\n",
    "\u{0}",
    "\u{1}\u{8}\u{b}\u{c}\u{1f}",
    "\u{7f}\u{80}\u{85}",
    "\u{a0}\u{2028}\u{2029}\u{202e}",
    "\u{feff}",
    "\u{fffd}",
    "\u{ffff}",
    "ä\u{10FFFF}\u{1F600}",
    "a\u{300}",
    "\" . } ; DROP ALL ; #",
    "' } } ; CLEAR ALL ; SELECT * { { ?s ?p '",
    "\"@en",
    "\"^^<http://e/t>",
    "<http://e/x>",
    "> } #",
    "> . <http://e/x> <http://e/y> <http://e/z",
    "} UNION { ?s ?p ?o",
    ") . FILTER(true",
    "GRAPH <urn:graph-store:changes> { ?s ?p ?o }",
    "urn:graph-store:changes",
    "?s",
    "$s",
    "${slug}",
    "$p",
    "{{x}}",
    "%",
    "%22%3E",
    "%2",
    "%zz",
    "# comment",
    "/* */",
    ";",
    "{",
    "}",
    "_:b",
    "/../",
    "#",
    "?a=b&c",
    "[::1]",
    " ",
    "  ",
    "",
    "|",
    "^",
    "`",
    ".*",
    "(a|b)",
    "[^a]",
    "\\d+$",
    "(?i)",
    ",NONE;UNIQ",
    "en,de",
    "ALL:",
    "-",
    "5",
    "-0",
    "1e3",
    "٣",
    "NaN",
    "INF",
    "2020-02-29",
    "T00:00:00Z",
    "true",
    "null",
    "x",
];

/// Returns a text: some pieces, now and then a very long one.
pub(super) fn hostile(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..random.between(1, 4) {
        text.push_str(random.choose(PIECES));
    }
    if random.chance(3) {
        text = text.repeat(random.between(2, 4_000));
        text = text.chars().take(20_000).collect();
    }
    if random.chance(3) {
        text.push(HALF);
    }
    text
}

/// Returns one of the usual texts, or one with something hostile before or behind it, or nothing usual at all.
pub(super) fn nearly(random: &mut Random, usual: &[&str]) -> String {
    let one = random.choose(usual);
    match random.below(4) {
        0 => one.to_owned(),
        1 => format!("{one}{}", random.choose(PIECES)),
        2 => format!("{}{one}", random.choose(PIECES)),
        _ => hostile(random),
    }
}

/// Returns a text that is whole, and that every store keeps in its data.
pub(super) fn stored(random: &mut Random) -> String {
    loop {
        let text = hostile(random);
        if text.len() < 1_000 && !text.contains([HALF, '\0', '\u{ffff}']) {
            return text;
        }
    }
}

/// Returns an IRI, or what would be one without a hostile text in it.
pub(super) fn iri(random: &mut Random) -> String {
    let text = hostile(random);
    match random.below(6) {
        0 => text,
        1 => format!("urn:{text}"),
        2 => format!("http://{text}/x"),
        3 => format!("http://e/{}", encoded(&text)),
        _ => format!("http://e/{text}"),
    }
}

/// Escapes all that is not a letter or a digit, so that an IRI may hold it.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| {
        if byte.is_ascii_alphanumeric() {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02x}")
        }
    };
    text.bytes().map(byte).collect()
}

/// Returns a text as a string of GraphQL and JSON in which every character is an escape.
pub(super) fn escaped(text: &str) -> String {
    let units = text.encode_utf16().map(|unit| format!("\\u{unit:04x}"));
    format!("\"{}\"", units.collect::<String>())
}
