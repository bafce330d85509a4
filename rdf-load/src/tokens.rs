//! Where tokens of N-Triples, N-Quads, Turtle and TriG begin and end.
//!
//! The parsers read a token again whenever more of it arrives, and lose their way in one that is
//! malformed. Split here first, each token reaches them whole, or not at all. What tokens mean is
//! theirs to say.

use std::{mem, str};

/// What stands between tokens in Turtle and TriG.
const PUNCTUATION: &[u8] = b".,;[](){}^";

pub(crate) const NO_PUNCTUATION: &str = "unexpected character; in a name it is written with `\\` before it, or the IRI \
                              is written out in `<…>`";

const RDF_12: &str =
    "triple terms, reified triples and annotations belong to RDF 1.2, which is not supported";

/// What a backslash may stand before in a name.
const NAME_ESCAPES: &[u8] = b"_~.-!$&'()*+,;=/?#@%";

const NO_ESCAPE: &str = "malformed escape sequence";

const NO_NAME_ESCAPE: &str = "malformed escape sequence in a name: `\\` is followed by one of \
                              `_~.-!$&'()*+,;=/?#@%`, and `%` by two hexadecimal digits";

const NO_NUMBER: &str = "malformed number; dates and other values must be quoted";

/// A stretch of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A line feed, a carriage return, or both.
    LineEnd,
    /// Spaces and tabulators.
    Blank,
    /// A comment, or the beginning or the rest of one.
    Comment,
    /// Punctuation, by its first byte; 0 where several bytes stand for something else.
    Punctuation(u8),
    /// A name, number, keyword, IRI, literal or language tag.
    Text,
    /// A token that is malformed and whose end is known.
    Malformed(&'static str),
    /// A literal or an IRI that its line does not close.
    Unclosed(&'static str),
    /// A literal or an IRI that the file does not close.
    CutOff,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Start,
    Comment,
    Iri,
    Short(u8),
    Long(u8),
    Word,
    Tag,
}

/// Finds the end of one token after another.
#[derive(Debug)]
pub(crate) struct Scanner {
    /// Whether there are long literals and single quotes: Turtle and TriG.
    terse: bool,
    mode: Mode,
    /// How much of the token is known.
    seen: usize,
    fault: Option<&'static str>,
}

impl Scanner {
    pub(crate) fn new(terse: bool) -> Self {
        Scanner {
            terse,
            mode: Mode::Start,
            seen: 0,
            fault: None,
        }
    }

    /// Returns the part that `text` begins with and its length; `None` when its end is not there
    /// yet. The text of the next call begins with the same bytes then.
    pub(crate) fn next(&mut self, text: &[u8], ended: bool) -> Option<(usize, Part)> {
        if self.mode == Mode::Comment && matches!(text.first(), Some(b'\n' | b'\r')) {
            self.mode = Mode::Start;
        }
        if self.mode == Mode::Start
            && let Some(part) = self.start(text, ended)?
        {
            return Some(part);
        }
        let (length, part) = match self.mode {
            Mode::Comment => return comment(text),
            Mode::Iri => self.quoted(text, ended, b'>', false),
            Mode::Short(quote) => self.quoted(text, ended, quote, true),
            Mode::Long(quote) => self.long(text, ended, quote),
            Mode::Word | Mode::Start => self.word(text, ended),
            Mode::Tag => self.tag(text, ended),
        }?;
        let mode = mem::replace(&mut self.mode, Mode::Start);
        self.seen = 0;
        let part = match self.fault.take() {
            Some(fault) if part == Part::Text => Part::Malformed(fault),
            _ if part == Part::Text && self.terse && is_no_number(text.get(..length)?) => {
                Part::Malformed(NO_NUMBER)
            }
            _ if part == Part::Text && !is_utf8(text.get(..length)?) => {
                Part::Malformed("invalid UTF-8")
            }
            _ if mode == Mode::Word && !self.has_valid_escapes(text.get(..length)?) => {
                Part::Malformed(if self.terse {
                    NO_NAME_ESCAPE
                } else {
                    NO_ESCAPE
                })
            }
            _ => part,
        };
        Some((length, part))
    }

    /// Recognizes what ends at once; otherwise sets the mode, and returns `Some(None)`.
    fn start(&mut self, text: &[u8], ended: bool) -> Option<Option<(usize, Part)>> {
        let at = |i: usize| match text.get(i) {
            Some(byte) => Some(*byte),
            // As good as a space.
            None => ended.then_some(b' '),
        };
        let first = *text.first()?;
        let mode = match first {
            b'\n' => return Some(Some((1, Part::LineEnd))),
            b'\r' if at(1)? == b'\n' => return Some(Some((2, Part::LineEnd))),
            b'\r' => return Some(Some((1, Part::LineEnd))),
            b' ' | b'\t' => {
                let blank = text.iter().take_while(|b| matches!(b, b' ' | b'\t'));
                return Some(Some((blank.count(), Part::Blank)));
            }
            b'#' => Mode::Comment,
            b'@' => Mode::Tag,
            b'"' => self.literal(text, ended, first)?,
            b'\'' if self.terse => self.literal(text, ended, first)?,
            b'<' => match at(1)? {
                b'<' => return Some(Some((2, Part::Malformed(RDF_12)))),
                _ => Mode::Iri,
            },
            b'{' if at(1)? == b'|' => return Some(Some((2, Part::Malformed(RDF_12)))),
            b'|' if at(1)? == b'}' => return Some(Some((2, Part::Malformed(RDF_12)))),
            b'^' if at(1)? == b'^' => return Some(Some((2, Part::Punctuation(first)))),
            b'^' => return Some(Some((1, Part::Malformed(NO_PUNCTUATION)))),
            b'.' if self.terse && at(1)?.is_ascii_digit() => Mode::Word,
            _ if is_word(first) => Mode::Word,
            _ if self.terse && !PUNCTUATION.contains(&first) => {
                return Some(Some((1, Part::Malformed(NO_PUNCTUATION))));
            }
            _ => return Some(Some((1, Part::Punctuation(first)))),
        };
        self.mode = mode;
        self.seen = match mode {
            Mode::Long(_) => 3,
            Mode::Word => 0,
            _ => 1,
        };
        Some(None)
    }

    fn literal(&self, text: &[u8], ended: bool, quote: u8) -> Option<Mode> {
        if !self.terse {
            return Some(Mode::Short(quote));
        }
        for i in [1, 2] {
            match text.get(i) {
                Some(byte) if *byte == quote => {}
                Some(_) => return Some(Mode::Short(quote)),
                None if ended => return Some(Mode::Short(quote)),
                None => return None,
            }
        }
        Some(Mode::Long(quote))
    }

    /// A literal or an IRI on one line.
    fn quoted(
        &mut self,
        text: &[u8],
        ended: bool,
        end: u8,
        is_literal: bool,
    ) -> Option<(usize, Part)> {
        while let Some(byte) = text.get(self.seen) {
            match *byte {
                b'\n' | b'\r' => {
                    self.fault = None;
                    let message = if is_literal {
                        "the literal is not closed on its line"
                    } else {
                        "the IRI is not closed on its line"
                    };
                    return Some((self.seen, Part::Unclosed(message)));
                }
                b'\\' => self.escape(text, ended, is_literal)?,
                byte => {
                    self.seen += 1;
                    if byte == end {
                        return Some((self.seen, Part::Text));
                    }
                }
            }
        }
        ended.then_some((text.len(), Part::CutOff))
    }

    fn long(&mut self, text: &[u8], ended: bool, quote: u8) -> Option<(usize, Part)> {
        while let Some(byte) = text.get(self.seen) {
            match *byte {
                b'\\' => self.escape(text, ended, true)?,
                byte if byte == quote => match text.get(self.seen..self.seen + 3) {
                    Some(three) if three.iter().all(|b| *b == quote) => {
                        return Some((self.seen + 3, Part::Text));
                    }
                    None if !ended => return None,
                    _ => self.seen += 1,
                },
                _ => self.seen += 1,
            }
        }
        ended.then_some((text.len(), Part::CutOff))
    }

    /// Steps over an escape sequence, noting a malformed one.
    fn escape(&mut self, text: &[u8], ended: bool, is_literal: bool) -> Option<()> {
        match escape(text.get(self.seen..)?, is_literal) {
            Escape::Valid(length) => self.seen += length,
            // Stepping over the next byte keeps an escaped quote from closing the literal.
            Escape::Malformed
                if text
                    .get(self.seen + 1)
                    .is_some_and(|b| !b"\r\n".contains(b)) =>
            {
                self.fault = Some(NO_ESCAPE);
                self.seen += 2;
            }
            Escape::Malformed => self.seen += 1,
            Escape::Incomplete if ended => self.seen = text.len(),
            Escape::Incomplete => return None,
        }
        Some(())
    }

    /// A name, number or keyword; dots at its end do not belong to it.
    fn word(&mut self, text: &[u8], ended: bool) -> Option<(usize, Part)> {
        let is_number = matches!(text.first()?, b'0'..=b'9' | b'+' | b'-' | b'.');
        while let Some(byte) = text.get(self.seen) {
            match *byte {
                b'\\' => match text.get(self.seen + 1) {
                    // Names end with their line.
                    Some(b'\n' | b'\r') => self.seen += 1,
                    Some(_) => self.seen += 2,
                    None if ended => self.seen += 1,
                    None => return None,
                },
                b'.' => {
                    let rest = text.get(self.seen..)?;
                    let dots = rest.iter().take_while(|b| **b == b'.').count();
                    let goes_on = match rest.get(dots) {
                        Some(next) if is_number => matches!(next, b'0'..=b'9' | b'e' | b'E'),
                        Some(next) => is_word(*next),
                        None if ended => false,
                        None => return None,
                    };
                    if !goes_on {
                        return Some((self.seen, Part::Text));
                    }
                    self.seen += dots;
                }
                byte if is_word(byte) => self.seen += 1,
                _ => return Some((self.seen, Part::Text)),
            }
        }
        ended.then_some((text.len(), Part::Text))
    }

    /// Returns whether a word has escape sequences only where and as the
    /// [local part](https://www.w3.org/TR/turtle/#grammar-production-PN_LOCAL) of a name may have them. Those of
    /// the parser have as many bytes where they are malformed.
    fn has_valid_escapes(&self, word: &[u8]) -> bool {
        let Some(first) = memchr::memchr2(b'\\', b'%', word) else {
            return true;
        };
        let (prefix, mut rest) = word.split_at(first);
        let is_local = prefix.contains(&b':') && !prefix.starts_with(b"_:");
        while let Some(at) = memchr::memchr2(b'\\', b'%', rest) {
            rest = match &rest[at..] {
                [b'\\', byte, rest @ ..] if NAME_ESCAPES.contains(byte) => rest,
                [b'%', high, low, rest @ ..]
                    if [high, low].iter().all(|b| b.is_ascii_hexdigit()) =>
                {
                    rest
                }
                _ => return false,
            };
        }
        self.terse && is_local
    }

    fn tag(&mut self, text: &[u8], ended: bool) -> Option<(usize, Part)> {
        let rest = text.get(self.seen..)?;
        let inside = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'-';
        self.seen += rest.iter().take_while(inside).count();
        (ended || self.seen < text.len()).then_some((self.seen, Part::Text))
    }
}

/// A comment, or what is there of it: it need not be kept until it ends.
fn comment(text: &[u8]) -> Option<(usize, Part)> {
    let end = text.iter().position(|b| matches!(b, b'\n' | b'\r'));
    match end.unwrap_or(text.len()) {
        0 => None,
        length => Some((length, Part::Comment)),
    }
}

/// Returns whether `token` begins as a number and is none: what the parser would read as a number and
/// something else.
fn is_no_number(token: &[u8]) -> bool {
    matches!(token, [b'0'..=b'9' | b'+' | b'-' | b'.', ..]) && !is_number(token)
}

/// Returns whether `token` is an INTEGER, DECIMAL or DOUBLE of
/// [Turtle](https://www.w3.org/TR/turtle/#grammar-production-INTEGER).
fn is_number(token: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|b| b.is_ascii_digit()).count();
    let unsigned = |text: &[u8]| usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let mut rest = token.get(unsigned(token)..).unwrap_or_default();
    let whole = digits(rest);
    rest = rest.get(whole..).unwrap_or_default();
    let mut fraction = 0;
    let has_point = rest.first() == Some(&b'.');
    if has_point {
        rest = rest.get(1..).unwrap_or_default();
        fraction = digits(rest);
        rest = rest.get(fraction..).unwrap_or_default();
    }
    match rest {
        [] => fraction > 0 || whole > 0 && !has_point,
        [b'e' | b'E', exponent @ ..] => {
            let exponent = exponent.get(unsigned(exponent)..).unwrap_or_default();
            let is_whole = !exponent.is_empty() && digits(exponent) == exponent.len();
            whole + fraction > 0 && is_whole
        }
        _ => false,
    }
}

fn is_utf8(token: &[u8]) -> bool {
    token.is_ascii() || str::from_utf8(token).is_ok()
}

/// Returns whether names, numbers and keywords may have this byte.
pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || b"_:-+%\\".contains(&byte)
}

enum Escape {
    Valid(usize),
    Malformed,
    Incomplete,
}

/// Reads the escape sequence that `text` begins with.
fn escape(text: &[u8], is_literal: bool) -> Escape {
    match text.get(1) {
        None => Escape::Incomplete,
        // Half of a surrogate pair is no character, as in Turtle, 6.4, and neither are two of them.
        Some(b'u') => match code(text, 4) {
            Ok(0xD800..=0xDFFF) => Escape::Malformed,
            Ok(_) => Escape::Valid(6),
            Err(error) => error,
        },
        Some(b'U') => match code(text, 8) {
            Ok(code) if char::from_u32(code).is_some() => Escape::Valid(10),
            Ok(_) => Escape::Malformed,
            Err(error) => error,
        },
        Some(b't' | b'b' | b'n' | b'r' | b'f' | b'"' | b'\'' | b'\\') if is_literal => {
            Escape::Valid(2)
        }
        Some(_) => Escape::Malformed,
    }
}

/// Reads `digits` hexadecimal digits behind `\u`.
fn code(text: &[u8], digits: usize) -> Result<u32, Escape> {
    let known = text.get(2..).unwrap_or_default();
    let known = known.get(..digits).unwrap_or(known);
    if !known.iter().all(u8::is_ascii_hexdigit) {
        return Err(Escape::Malformed);
    }
    if known.len() < digits {
        return Err(Escape::Incomplete);
    }
    str::from_utf8(known)
        .ok()
        .and_then(|hex| u32::from_str_radix(hex, 16).ok())
        .ok_or(Escape::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Splits a text that arrives in pieces of `size` bytes.
    fn parts(text: &[u8], terse: bool, size: usize) -> Vec<(&[u8], Part)> {
        let mut scanner = Scanner::new(terse);
        let (mut from, mut known, mut parts) = (0, 0, Vec::new());
        loop {
            match scanner.next(&text[from..known], known == text.len()) {
                Some((length, part)) => {
                    parts.push((&text[from..from + length], part));
                    from += length;
                }
                None if known == text.len() => return parts,
                None => known = (known + size).min(text.len()),
            }
        }
    }

    fn tokens(text: &str) -> Vec<String> {
        let whole = parts(text.as_bytes(), true, usize::MAX >> 1);
        for size in [1, 2, 7] {
            let tokens = |parts: &[(&[u8], Part)]| -> Vec<(String, Part)> {
                let blank = |part: &Part| matches!(part, Part::Blank | Part::Comment);
                let kept = parts.iter().filter(|(_, part)| !blank(part));
                kept.map(|(text, part)| (String::from_utf8_lossy(text).into_owned(), *part))
                    .collect()
            };
            assert_eq!(
                tokens(&parts(text.as_bytes(), true, size)),
                tokens(&whole),
                "{text} in pieces of {size}"
            );
        }
        let kept = whole.iter().filter(|(_, part)| *part != Part::Blank);
        kept.map(|(text, part)| {
            let text = String::from_utf8_lossy(text);
            match part {
                Part::Malformed(_) => format!("malformed {text}"),
                Part::Unclosed(_) => format!("unclosed {text}"),
                Part::CutOff => format!("cut {text}"),
                _ => text.into_owned(),
            }
        })
        .collect()
    }

    #[test]
    fn a_dot_ends_a_statement_unless_it_is_inside_a_name_or_number() {
        assert_eq!(
            tokens("e:a.b e:c. 1.5 .5 2. x"),
            ["e:a.b", "e:c", ".", "1.5", ".5", "2", ".", "x"]
        );
        assert_eq!(
            tokens("\"x\"@en.<a>.e:b."),
            ["\"x\"", "@en", ".", "<a>", ".", "e:b", "."]
        );
        assert_eq!(tokens("e:a\\.b\\'c#d\n"), ["e:a\\.b\\'c", "#d", "\n"]);
        assert_eq!(tokens("e:a\\\ne:b"), ["malformed e:a\\", "\n", "e:b"]);
    }

    #[test]
    fn literals_end_at_their_quotes() {
        assert_eq!(tokens(r#""a\"b" 'c"d'"#), [r#""a\"b""#, r#"'c"d'"#]);
        assert_eq!(
            tokens("\"\" '''a'b''c\n''' x"),
            ["\"\"", "'''a'b''c\n'''", "x"]
        );
        assert_eq!(tokens("\"abc .\ne:b"), ["unclosed \"abc .", "\n", "e:b"]);
        assert_eq!(tokens("<a b> <c\n"), ["<a b>", "unclosed <c", "\n"]);
        assert_eq!(tokens("\"\"\"abc\n\"\""), ["cut \"\"\"abc\n\"\""]);
        assert_eq!(tokens("<abc"), ["cut <abc"]);
    }

    #[test]
    fn malformed_escapes_and_bytes_do_not_hide_the_end_of_a_literal() {
        assert_eq!(tokens(r#""a\x\"b" ."#), [r#"malformed "a\x\"b""#, "."]);
        assert_eq!(
            tokens(r#""\ud83d\ude00" "\ud83d" ."#),
            [r#"malformed "\ud83d\ude00""#, r#"malformed "\ud83d""#, "."]
        );
        assert_eq!(
            tokens(r#"<\u00e9> <\n> ."#),
            [r"<\u00e9>", r"malformed <\n>", "."]
        );
        let found = parts(b"\"a\xffb\" e:\xff .", true, 3);
        let malformed = Part::Malformed("invalid UTF-8");
        assert_eq!((found[0].1, found[2].1), (malformed, malformed));
    }

    #[test]
    fn a_word_has_escapes_only_where_the_parser_reads_them_as_such() {
        for name in ["e:a\\'b", "e:%4a", "e:\\%a", "e:a%20\\(b", ":\\#"] {
            assert_eq!(tokens(name), [name]);
        }
        for other in [
            "e:a\\\"b", "e:%", "e:%4", "e:%4g", "e\\'b:c", "\\'b", "_:a\\'b", "a%20",
        ] {
            assert_eq!(tokens(other), [format!("malformed {other}")]);
        }
        let found = parts(b"e:a%20", false, 99);
        assert_eq!(found[0].1, Part::Malformed(NO_ESCAPE));
    }

    #[test]
    fn a_number_that_goes_on_as_something_else_is_malformed() {
        for number in ["1", "+1", "-1.5", ".5", "1e5", "1.e5", "1.5E-7", ".5e+1"] {
            assert_eq!(tokens(number), [number]);
        }
        for other in ["2024-01-01", "12abc", "1.5.6", "1e", "-", "+x", "1.5e5e"] {
            assert_eq!(tokens(other), [format!("malformed {other}")]);
        }
        let name = ["e:AT", "malformed &", "T"];
        assert_eq!(tokens("e:AT&T"), name);
        assert_eq!(tokens("<<"), ["malformed <<"]);
    }

    #[test]
    fn lines_have_no_long_literals_and_no_single_quotes() {
        let found: Vec<_> = parts(b"\"\"\"\n'a'\n", false, 99)
            .iter()
            .map(|(text, _)| *text)
            .collect();
        assert_eq!(found, [&b"\"\""[..], b"\"", b"\n", b"'", b"a", b"'", b"\n"]);
    }
}
