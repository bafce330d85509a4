//! Regular expressions for conditions, and what they mean.

/// Regular expressions, and what they mean where `regex` would read them otherwise.
pub(super) const EXPRESSIONS: &[(&str, &str)] = &[
    ("", ""),
    ("^", "^"),
    ("$", "$"),
    ("^$", "^$"),
    (".", "."),
    ("^.+$", "^.+$"),
    ("^a", "^a"),
    ("^ab", "^ab"),
    ("^abc?", "^abc?"),
    ("^abc*d", "^abc*d"),
    ("^ab{0}", "^ab{0}"),
    ("^ab{0,1}d", "^ab{0,1}d"),
    ("^ab+", "^ab+"),
    ("^ab|c", "^ab|c"),
    ("c|^ab", "c|^ab"),
    ("^(ab|b)", "^(ab|b)"),
    ("^(?:a|b)c", "^(?:a|b)c"),
    ("(^a)b", "(^a)b"),
    ("^a.c", "^a.c"),
    (r"^a\.c", r"^a\.c"),
    (r"^a\*$", r"^a\*$"),
    (r"^\^a", r"^\^a"),
    (r"\\", r"\\"),
    ("^[ab]b", "^[ab]b"),
    ("^[^a]", "^[^a]"),
    ("^[a-c]+$", "^[a-c]+$"),
    ("^a+?b", "^a+?b"),
    ("^a{30,}b$", "^a{30,}b$"),
    ("^k$", "^k$"),
    ("^ss", "^ss"),
    ("^i", "^i"),
    ("^\u{e9}", "^\u{e9}"),
    ("\u{c9}", "\u{c9}"),
    ("^\u{1f600}", "^\u{1f600}"),
    ("^ab.$", "^ab.$"),
    (r"\d", r"\p{Nd}"),
    (r"^\D*$", r"^\P{Nd}*$"),
    (r"^\w+$", r"^[\p{L}\p{M}\p{N}_]+$"),
    (r"\s", r"[ \t\n\r]"),
    (r"^\p{Lu}", r"^\p{Lu}"),
    (r"\P{L}", r"\P{L}"),
    ("http://e/1", "http://e/1"),
    ("^http://e/", "^http://e/"),
    ("^urn:", "^urn:"),
    ("A$", "A$"),
];

/// Returns the regular expression that matches a text only.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if r"\|.-^?*+{}()[]$".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
