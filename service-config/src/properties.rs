//! Java's `.properties` syntax.
//!
//! The crate `java-properties` joins continued lines and resolves escapes. What it gets wrong is
//! prepared for it: it resolves escapes in comments too, where `C:\users` is an error, it loses a
//! last line that ends with a backslash, and it refuses surrogate pairs.

use std::borrow::Cow;

use java_properties::{LineContent, PropertiesIter};

/// Returns the text of a file: UTF-8 if it is valid, otherwise Latin-1, as Java reads its resource
/// bundles.
pub(crate) fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().copied().map(char::from).collect()),
    }
}

/// Reads keys and values in their order.
///
/// Unlike in Java, a key without a separator is an error, and white space at the end of a value is
/// dropped, as it is in values from other sources.
pub(crate) fn pairs(text: &str) -> Result<Vec<(String, String)>, String> {
    let text = prepared(text);
    let lines: Vec<&str> = text.lines().collect();
    let mut pairs = Vec::new();
    for line in PropertiesIter::new_with_encoding(text.as_bytes(), encoding_rs::UTF_8) {
        let line = line.map_err(|error| match error.line_number() {
            Some(number) => format!("line {number} has a malformed \\uXXXX"),
            None => error.to_string(),
        })?;
        let number = line.line_number();
        let LineContent::KVPair(key, value) = line.consume_content() else {
            continue;
        };
        if value.is_empty() && lines.get(number - 1).is_some_and(|line| is_bare(line)) {
            return Err(format!("line {number} must have the form key=value"));
        }
        pairs.push((key, value.trim().to_owned()));
    }
    Ok(pairs)
}

/// Returns the lines of a text, each with its end, without comments and surrogate pairs.
fn prepared(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut prepared = String::with_capacity(text.len() + 1);
    let mut is_continued = false;
    for line in text.split('\n') {
        let is_comment = !is_continued && line.trim_start().starts_with(['#', '!']);
        if !is_comment {
            prepared.push_str(&without_surrogates(line));
        }
        is_continued = !is_comment && is_open(line);
        prepared.push('\n');
    }
    prepared
}

/// Tells whether a line goes on in the next one.
fn is_open(line: &str) -> bool {
    let backslashes = line.len() - line.trim_end_matches('\\').len();
    backslashes % 2 == 1
}

/// Tells whether a line is a key alone.
fn is_bare(line: &str) -> bool {
    !is_open(line) && !line.contains(['=', ':'])
}

/// Replaces each pair of escapes that stands for one character beyond U+FFFF by the character.
fn without_surrogates(line: &str) -> Cow<'_, str> {
    if !line.contains("\\u") {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let pair = unit(escape).zip(escape.get(6..).and_then(unit));
        let decoded = pair.and_then(|(high, low)| char::decode_utf16([high, low]).next()?.ok());
        let length = match decoded {
            // A pair of which the first unit is a character is two characters.
            Some(character) if character.len_utf16() == 2 => {
                out.push(character);
                12
            }
            _ => {
                let end = escape
                    .char_indices()
                    .nth(2)
                    .map_or(escape.len(), |(at, _)| at);
                out.push_str(&escape[..end]);
                end
            }
        };
        rest = &escape[length..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Returns the UTF-16 unit that a text begins with as `\uXXXX`.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> (String, String) {
        let mut pairs = pairs(text).expect("well-formed");
        assert_eq!(pairs.len(), 1, "{text:?}: {pairs:?}");
        pairs.remove(0)
    }

    #[test]
    fn escapes_and_continued_lines_are_resolved_as_in_java() {
        let cases = [
            ("a=b", ("a", "b")),
            (" a : b ", ("a", "b")),
            ("a b c", ("a", "b c")),
            ("a\\ b\\=c=d", ("a b=c", "d")),
            ("a=C:\\\\data\\tx", ("a", "C:\\data\tx")),
            ("a=\\u00fc\\u20AC", ("a", "ü€")),
            ("a=\\uD83D\\uDE00!", ("a", "😀!")),
            ("a=\\\\uD83D", ("a", "\\uD83D")),
            ("a=one, \\\n   two", ("a", "one, two")),
            ("a=one\\\r\n# two", ("a", "one# two")),
            ("a=last\\", ("a", "last")),
            ("a=", ("a", "")),
            ("# in C:\\users \\\na=b", ("a", "b")),
            ("\u{feff}a=b", ("a", "b")),
        ];
        for (text, (key, value)) in cases {
            assert_eq!(one(text), (key.to_owned(), value.to_owned()), "{text:?}");
        }
    }

    #[test]
    fn malformed_lines_are_named() {
        let bare = "line 3 must have the form key=value";
        assert_eq!(pairs("a=b\n\nport\n"), Err(bare.to_owned()));
        for text in ["a=b\nb=\\u12", "a=b\nb=\\uD83D", "a=b\nb=\\uwxyz"] {
            let error = pairs(text).expect_err("malformed");
            assert_eq!(error, "line 2 has a malformed \\uXXXX", "{text}");
        }
    }

    #[test]
    fn what_is_not_utf_8_is_latin_1() {
        assert_eq!(decoded("ü€".as_bytes()), "ü€");
        assert_eq!(decoded(b"\xfc\x80"), "ü\u{80}");
    }
}
