//! Numbers in JSON text that is known to be valid.

use super::{Digits, Part, is_exact, parsed, stand_in};

/// Returns the digits of the members of an object, whose text is valid JSON that nests no deeper than values do which
/// were read.
pub(crate) fn digits_of(text: &str) -> Digits {
    match (Scan { text, at: 0 }).value() {
        Some(Part::Members(members)) => Digits::of_members(members),
        _ => Digits::default(),
    }
}

/// Returns the text with something else for each number that is out of range; `None` if there is none. The text is valid
/// JSON of any depth.
pub(crate) fn within_range(text: &str) -> Option<String> {
    let mut scan = Scan { text, at: 0 };
    let (mut out, mut copied) = (String::new(), 0);
    while let Some(byte) = scan.peek() {
        let begin = scan.at;
        match byte {
            b'"' => _ = scan.string(),
            b'-' | b'0'..=b'9' => {
                let number = scan.number();
                if parsed(number).is_none() {
                    out.push_str(&text[copied..begin]);
                    out.push_str(&stand_in(number));
                    copied = scan.at;
                }
            }
            _ => scan.at += 1,
        }
    }
    (copied > 0).then(|| {
        out.push_str(&text[copied..]);
        out
    })
}

/// A place in a text.
struct Scan<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scan<'t> {
    /// Returns the next byte that is neither white space nor a separator.
    fn peek(&mut self) -> Option<u8> {
        let left = &self.text.as_bytes()[self.at..];
        let is_between = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | b',' | b':');
        self.at += left.iter().take_while(|byte| is_between(byte)).count();
        self.text.as_bytes().get(self.at).copied()
    }

    /// Goes over a string, and returns it with its quotes.
    fn string(&mut self) -> &'t str {
        let begin = self.at;
        self.at += 1;
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            self.at += match byte {
                b'\\' => 2,
                _ => 1,
            };
            if *byte == b'"' {
                break;
            }
        }
        self.at = self.at.min(bytes.len());
        self.text.get(begin..self.at).unwrap_or_default()
    }

    fn number(&mut self) -> &'t str {
        let begin = self.at;
        let left = &self.text.as_bytes()[begin..];
        let is_of_number =
            |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        self.at += left.iter().take_while(|byte| is_of_number(byte)).count();
        &self.text[begin..self.at]
    }

    /// Goes over a value, and returns the digits in it.
    fn value(&mut self) -> Option<Part> {
        match self.peek()? {
            b'{' => {
                self.at += 1;
                let mut members = Vec::new();
                while let Some(b'"') = self.peek() {
                    let name = self.string();
                    if let Some(part) = self.value() {
                        let name: String = serde_json::from_str(name).ok()?;
                        members.push((name.into_boxed_str(), part));
                    }
                }
                self.at += 1;
                members.sort_by(|(one, _), (other, _)| one.cmp(other));
                members.shrink_to_fit();
                (!members.is_empty()).then_some(Part::Members(members))
            }
            b'[' => {
                self.at += 1;
                let (mut items, mut index) = (Vec::new(), 0);
                while self.peek().is_some_and(|byte| byte != b']') {
                    if let Some(part) = self.value() {
                        items.push((index, part));
                    }
                    index += 1;
                }
                self.at += 1;
                items.shrink_to_fit();
                (!items.is_empty()).then_some(Part::Items(items))
            }
            b'"' => {
                self.string();
                None
            }
            b'-' | b'0'..=b'9' => {
                let number = self.number();
                (!is_exact(number)).then(|| Part::Number(number.into()))
            }
            _ => {
                // `true`, `false` or `null`.
                let left = &self.text.as_bytes()[self.at..];
                let letters = left.iter().take_while(|byte| byte.is_ascii_lowercase());
                self.at += letters.count().max(1);
                None
            }
        }
    }
}
