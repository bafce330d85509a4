//! Java's `.properties` syntax, as [`Properties.load`] documents it.
//!
//! The crate `java-properties` resolves escapes in comments too, loses a last line that ends with a
//! backslash, and refuses surrogate pairs; preparing a text for it takes more code than reading it.
//!
//! [`Properties.load`]: https://docs.oracle.com/en/java/javase/21/docs/api/java.base/java/util/Properties.html#load(java.io.Reader)

use std::borrow::Cow;

/// White space before keys and around separators.
const BLANKS: [char; 3] = [' ', '\t', '\x0c'];

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
    let text = text
        .strip_prefix('\u{feff}')
        .unwrap_or(text)
        .replace("\r\n", "\n")
        .replace('\r', "\n");
    let mut lines = (1..).zip(text.split('\n'));
    let mut pairs = Vec::new();
    while let Some((number, line)) = lines.next() {
        let mut line = Cow::from(line.trim_start_matches(BLANKS));
        if line.starts_with(['#', '!']) {
            continue;
        }
        while is_open(&line) {
            line.to_mut().pop();
            let following = lines.next().map_or("", |(_, following)| following);
            line += following.trim_start_matches(BLANKS);
        }
        if line.is_empty() {
            continue;
        }
        let (key, value) =
            split(&line).ok_or_else(|| format!("line {number} must have the form key=value"))?;
        let pair = unescaped(key).zip(unescaped(value));
        let (key, value) = pair.ok_or_else(|| format!("line {number} has a malformed \\uXXXX"))?;
        pairs.push((key, value.trim().to_owned()));
    }
    Ok(pairs)
}

/// Returns whether a line goes on in the next one.
fn is_open(line: &str) -> bool {
    let backslashes = line.len() - line.trim_end_matches('\\').len();
    backslashes % 2 == 1
}

/// Splits a line at its first separator that is not escaped: `=`, `:`, or white space alone.
fn split(line: &str) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    let end = line.find(|c| {
        let ends = !is_escaped && (matches!(c, '=' | ':') || BLANKS.contains(&c));
        is_escaped = c == '\\' && !is_escaped;
        ends
    })?;
    let (key, rest) = line.split_at(end);
    let rest = rest.trim_start_matches(BLANKS);
    let value = rest.strip_prefix(['=', ':']).unwrap_or(rest);
    (!rest.is_empty()).then(|| (key, value.trim_start_matches(BLANKS)))
}

/// Resolves escapes. `\uXXXX` is a unit of UTF-16, so that two of them may stand for one character.
fn unescaped(text: &str) -> Option<String> {
    let mut units = Vec::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(mut character) = characters.next() {
        if character == '\\' {
            character = match characters.next()? {
                't' => '\t',
                'n' => '\n',
                'r' => '\r',
                'f' => '\x0c',
                'u' => {
                    let (digits, rest) = characters.as_str().split_at_checked(4)?;
                    let unit = u16::from_str_radix(digits, 16).ok();
                    // A number may have a sign, and an escape none.
                    units.push(unit.filter(|_| !digits.starts_with('+'))?);
                    characters = rest.chars();
                    continue;
                }
                other => other,
            };
        }
        units.extend_from_slice(character.encode_utf16(&mut [0; 2]));
    }
    String::from_utf16(&units).ok()
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
            ("a=one\\\\\\\n\\\n\\b", ("a", "one\\b")),
            ("\ta\\:b\x0c=\x0c=c=d", ("a:b", "=c=d")),
            ("a=😀\\uD83D\\uDE00\\\rü", ("a", "😀😀ü")),
            ("=a", ("", "a")),
            ("\\\n \n\\\r\na=b\n\\", ("a", "b")),
        ];
        for (text, (key, value)) in cases {
            assert_eq!(one(text), (key.to_owned(), value.to_owned()), "{text:?}");
        }
    }

    #[test]
    fn malformed_lines_are_named() {
        let bare = "line 3 must have the form key=value";
        assert_eq!(pairs("a=b\n\nport\n"), Err(bare.to_owned()));
        for bare in ["port", "port ", "po\\=rt", "po\\\n  rt", "port\\"] {
            let error = pairs(bare).expect_err("malformed");
            assert_eq!(error, "line 1 must have the form key=value", "{bare}");
        }
        for malformed in [
            "\\u12",
            "\\uD83D",
            "\\uwxyz",
            "\\u+123",
            "\\uD83Dx\\uDE00",
            "\\u12ü",
        ] {
            let text = &format!("a=b\nb={malformed}");
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
