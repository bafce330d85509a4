//! Regular expressions that every store interprets alike.
//!
//! SPARQL uses XPath regular expressions, and stores pass them to engines that differ. So a pattern
//! is parsed here against the subset that they share, and printed in one canonical form: `\d`, `\w`
//! and `\s` become explicit classes, groups never capture, and laziness, which cannot change
//! whether something matches, is dropped. Anything else is refused.

use std::iter::Peekable;
use std::str::Chars;

/// Maximum nesting of groups.
const MAX_DEPTH: usize = 50;
/// Maximum number of repetitions that counted quantifiers may require, nested ones multiplied.
const MAX_WEIGHT: u64 = 5_000;

/// A checked regular expression in canonical form.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Regex {
    /// The pattern.
    pub pattern: String,
    /// Ignores case.
    pub case_insensitive: bool,
}

/// Why a pattern is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegexError {
    /// Not a valid regular expression.
    #[error("{message} at character {position}")]
    Invalid {
        /// What is wrong.
        message: &'static str,
        /// Character, from 1.
        position: usize,
    },
    /// Outside the subset.
    #[error("{what} at character {position} is not supported")]
    Unsupported {
        /// The unsupported feature.
        what: String,
        /// Character, from 1.
        position: usize,
    },
    /// Too long or too complex.
    #[error("{0}")]
    TooLarge(String),
}

impl Regex {
    /// Checks `pattern` and writes it in canonical form.
    ///
    /// # Errors
    /// When the pattern is malformed, uses a feature outside the subset, is longer than
    /// `max_length` characters, or is too complex.
    pub fn new(
        pattern: &str,
        case_insensitive: bool,
        max_length: usize,
    ) -> Result<Regex, RegexError> {
        let length = pattern.chars().count();
        if length > max_length {
            return Err(RegexError::TooLarge(format!(
                "the regular expression has {length} characters, more than {max_length}"
            )));
        }
        let mut parser = Parser {
            chars: pattern.chars().peekable(),
            position: 0,
            out: String::with_capacity(pattern.len() + 8),
        };
        let weight = parser.alternatives(0)?;
        if parser.peek().is_some() {
            return Err(parser.invalid("a `)` without its `(`"));
        }
        check_weight(weight)?;
        Ok(Regex {
            pattern: parser.out,
            case_insensitive,
        })
    }
}

fn check_weight(weight: u64) -> Result<(), RegexError> {
    if weight > MAX_WEIGHT {
        return Err(RegexError::TooLarge(format!(
            "the counted repetitions of the regular expression ask for more than {MAX_WEIGHT} copies"
        )));
    }
    Ok(())
}

struct Parser<'a> {
    chars: Peekable<Chars<'a>>,
    /// Characters read so far.
    position: usize,
    out: String,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<char> {
        self.chars.peek().copied()
    }

    fn next(&mut self) -> Option<char> {
        self.position += 1;
        self.chars.next()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.next();
        }
        found
    }

    fn invalid(&self, message: &'static str) -> RegexError {
        RegexError::Invalid {
            message,
            position: self.position.max(1),
        }
    }

    fn unsupported(&self, what: impl Into<String>) -> RegexError {
        RegexError::Unsupported {
            what: what.into(),
            position: self.position.max(1),
        }
    }

    /// Parses branches up to `)` or the end; returns their weight.
    fn alternatives(&mut self, depth: usize) -> Result<u64, RegexError> {
        if depth > MAX_DEPTH {
            return Err(RegexError::TooLarge(format!(
                "the regular expression nests deeper than {MAX_DEPTH} groups"
            )));
        }
        let mut weight = 0u64;
        loop {
            match self.peek() {
                None | Some(')') => return Ok(weight),
                Some('|') => {
                    self.next();
                    self.out.push('|');
                }
                Some(_) => weight = weight.saturating_add(self.piece(depth)?),
            }
        }
    }

    /// Parses an atom and its quantifier; returns the weight.
    fn piece(&mut self, depth: usize) -> Result<u64, RegexError> {
        let quantifiable = !matches!(self.peek(), Some('^' | '$'));
        let weight = self.atom(depth)?;
        let times = match self.peek() {
            Some('?' | '*' | '+' | '{') if !quantifiable => {
                self.next();
                return Err(self.unsupported("a quantifier after an anchor"));
            }
            Some(quantifier @ ('?' | '*' | '+')) => {
                self.next();
                self.out.push(quantifier);
                1
            }
            Some('{') => self.counted()?,
            _ => return Ok(weight),
        };
        // Laziness cannot change whether something matches.
        self.eat('?');
        if matches!(self.peek(), Some('?' | '*' | '+' | '{')) {
            self.next();
            return Err(self.unsupported("a quantifier after a quantifier"));
        }
        let weight = weight.saturating_mul(times);
        check_weight(weight)?;
        Ok(weight)
    }

    /// Parses `{n}`, `{n,}` or `{n,m}`; returns the larger number.
    fn counted(&mut self) -> Result<u64, RegexError> {
        self.next();
        let least = self
            .number()?
            .ok_or_else(|| self.invalid("a `{` without a number"))?;
        let mut most = Some(least);
        if self.eat(',') {
            most = self.number()?;
        }
        if !self.eat('}') {
            return Err(self.invalid("a `{` without its `}`"));
        }
        match most {
            Some(most) if most < least => {
                return Err(self.invalid("a repetition that ends before it starts"));
            }
            Some(most) if most == least => self.out.push_str(&format!("{{{least}}}")),
            Some(most) => self.out.push_str(&format!("{{{least},{most}}}")),
            None => self.out.push_str(&format!("{{{least},}}")),
        }
        Ok(most.unwrap_or(least).max(1))
    }

    fn number(&mut self) -> Result<Option<u64>, RegexError> {
        let mut value = None;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            self.next();
            let next = value.unwrap_or(0u64) * 10 + u64::from(digit);
            check_weight(next)?;
            value = Some(next);
        }
        Ok(value)
    }

    fn atom(&mut self, depth: usize) -> Result<u64, RegexError> {
        match self.next().expect("the caller saw a character") {
            '(' => self.group(depth),
            '[' => self.class().map(|()| 1),
            '\\' => self.escape().map(|()| 1),
            anchor @ ('^' | '$' | '.') => {
                self.out.push(anchor);
                Ok(1)
            }
            '?' | '*' | '+' | '{' => Err(self.invalid("a quantifier without anything to repeat")),
            '}' | ']' => Err(self.invalid(
                "a closing bracket without its opening one; write `\\]` or `\\}` for the character",
            )),
            literal => {
                self.literal(literal);
                Ok(1)
            }
        }
    }

    fn group(&mut self, depth: usize) -> Result<u64, RegexError> {
        if self.eat('?') {
            match self.next() {
                Some(':') => {}
                Some('=' | '!') => return Err(self.unsupported("look-ahead")),
                Some('<') if matches!(self.peek(), Some('=' | '!')) => {
                    return Err(self.unsupported("look-behind"));
                }
                Some('<' | 'P') => return Err(self.unsupported("a named group")),
                _ => return Err(self.unsupported("an inline flag")),
            }
        }
        self.out.push('(');
        let weight = self.alternatives(depth + 1)?;
        if !self.eat(')') {
            return Err(self.invalid("a `(` without its `)`"));
        }
        self.out.push(')');
        Ok(weight.max(1))
    }

    fn literal(&mut self, c: char) {
        if matches!(
            c,
            '\\' | '|'
                | '.'
                | '-'
                | '^'
                | '?'
                | '*'
                | '+'
                | '{'
                | '}'
                | '('
                | ')'
                | '['
                | ']'
                | '$'
        ) {
            self.out.push('\\');
        }
        self.out.push(c);
    }

    fn escape(&mut self) -> Result<(), RegexError> {
        match self.escaped()? {
            Escaped::Char(c) => self.literal(c),
            Escaped::Set { items, negated } => {
                self.out.push_str(if negated { "[^" } else { "[" });
                self.out.push_str(&items);
                self.out.push(']');
            }
        }
        Ok(())
    }

    /// Parses what follows a backslash.
    fn escaped(&mut self) -> Result<Escaped, RegexError> {
        let set = |items: &str, negated| {
            Ok(Escaped::Set {
                items: items.to_owned(),
                negated,
            })
        };
        match self.next() {
            None => Err(self.invalid("a backslash at the end")),
            Some('n') => Ok(Escaped::Char('\n')),
            Some('r') => Ok(Escaped::Char('\r')),
            Some('t') => Ok(Escaped::Char('\t')),
            Some('d') => set(r"\p{Nd}", false),
            Some('D') => set(r"\p{Nd}", true),
            Some('s') => set(" \t\n\r", false),
            Some('S') => set(" \t\n\r", true),
            Some('w') => set(r"\p{L}\p{M}\p{N}_", false),
            Some('W') => set(r"\p{L}\p{M}\p{N}_", true),
            Some(kind @ ('p' | 'P')) => self.category(kind == 'P'),
            Some(digit) if digit.is_ascii_digit() => Err(self.unsupported("a back-reference")),
            Some(letter) if letter.is_ascii_alphabetic() => {
                Err(self.unsupported(format!("`\\{letter}`")))
            }
            Some(other) => Ok(Escaped::Char(other)),
        }
    }

    fn category(&mut self, negated: bool) -> Result<Escaped, RegexError> {
        const CATEGORIES: &[&str] = &[
            "L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No", "P",
            "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Z", "Zs", "Zl", "Zp", "S", "Sm", "Sc", "Sk",
            "So", "C", "Cc", "Cf", "Co", "Cn",
        ];
        if !self.eat('{') {
            return Err(self.invalid("`\\p` without `{…}`"));
        }
        let mut name = String::new();
        loop {
            match self.next() {
                Some('}') => break,
                Some(c) if name.len() < 32 => name.push(c),
                _ => return Err(self.invalid("`\\p{` without its `}`")),
            }
        }
        if !CATEGORIES.contains(&name.as_str()) {
            return Err(self.unsupported(format!("the character class `\\p{{{name}}}`")));
        }
        Ok(Escaped::Set {
            items: format!("\\p{{{name}}}"),
            negated,
        })
    }

    /// Parses a bracketed class after its `[`.
    fn class(&mut self) -> Result<(), RegexError> {
        let negated = self.eat('^');
        let mut sets = String::new();
        let mut ranges: Vec<(char, char)> = Vec::new();
        let mut first = true;
        loop {
            let c = match self.next() {
                None => return Err(self.invalid("a `[` without its `]`")),
                Some(']') if first => return Err(self.invalid("an empty class")),
                Some(']') => break,
                Some('[') => return Err(self.unsupported("a class inside a class")),
                Some('\\') => match self.escaped()? {
                    Escaped::Char(c) => c,
                    Escaped::Set { negated: true, .. } => {
                        return Err(self.unsupported("a negated class inside a class"));
                    }
                    Escaped::Set { items, .. } => {
                        sets.push_str(&items);
                        first = false;
                        continue;
                    }
                },
                Some(c) => c,
            };
            first = false;
            ranges.push((c, self.range_end(c)?));
        }
        self.out.push_str(if negated { "[^" } else { "[" });
        for (low, high) in merged(ranges) {
            self.class_char(low);
            if high > low {
                self.out.push('-');
                self.class_char(high);
            }
        }
        self.out.push_str(&sets);
        self.out.push(']');
        Ok(())
    }

    /// Parses `-c` after `low`, if it is a range.
    fn range_end(&mut self, low: char) -> Result<char, RegexError> {
        if self.peek() != Some('-') {
            return Ok(low);
        }
        let mut ahead = self.chars.clone();
        ahead.next();
        match ahead.next() {
            Some(']') | None => return Ok(low),
            Some('[') => {
                self.next();
                return Err(self.unsupported("class subtraction"));
            }
            Some(_) => {}
        }
        self.next();
        let high = match self.next() {
            Some('\\') => match self.escaped()? {
                Escaped::Char(c) => c,
                Escaped::Set { .. } => return Err(self.invalid("a range that ends in a class")),
            },
            Some(c) => c,
            None => return Err(self.invalid("a `[` without its `]`")),
        };
        if high < low {
            return Err(self.invalid("a range that ends before it starts"));
        }
        Ok(high)
    }

    fn class_char(&mut self, c: char) {
        if matches!(c, '\\' | '[' | ']' | '^' | '-') {
            self.out.push('\\');
        }
        self.out.push(c);
    }
}

enum Escaped {
    Char(char),
    Set { items: String, negated: bool },
}

/// Merges overlapping ranges, so that none of the set operators of some engines can arise.
fn merged(mut ranges: Vec<(char, char)>) -> Vec<(char, char)> {
    ranges.sort_unstable();
    let mut out: Vec<(char, char)> = Vec::new();
    for (low, high) in ranges {
        match out.last_mut() {
            Some(last) if low <= last.1 => last.1 = last.1.max(high),
            _ => out.push((low, high)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Regex, RegexError};

    fn canonical(pattern: &str) -> Result<String, RegexError> {
        Regex::new(pattern, false, 1_000).map(|regex| regex.pattern)
    }

    #[test]
    fn writes_the_shared_subset_in_one_form() {
        let cases = [
            ("^onto", "^onto"),
            ("a.c|d+?", "a.c|d+"),
            (r"\d{2,4}", r"[\p{Nd}]{2,4}"),
            (r"(?:ab)*", "(ab)*"),
            (r"[a-c\-x]", r"[\-a-cx]"),
            (r"[&&a&]", "[&a]"),
            (r"[^\w.]", r"[^.\p{L}\p{M}\p{N}_]"),
            (r"\p{Lu}x\.", r"[\p{Lu}]x\."),
            ("a{3}", "a{3}"),
            ("", ""),
            ("a||b", "a||b"),
            ("[-a]", r"[\-a]"),
            ("x-y", r"x\-y"),
        ];
        for (pattern, expected) in cases {
            assert_eq!(canonical(pattern).as_deref(), Ok(expected), "{pattern}");
        }
    }

    #[test]
    fn refuses_what_engines_disagree_on() {
        for pattern in [
            "(?=a)",
            "(?<!a)b",
            "(?i)a",
            r"(a)\1",
            r"\bword",
            "a++",
            "[a-z-[aeiou]]",
            r"\p{IsGreek}",
            "^*",
        ] {
            assert!(
                matches!(canonical(pattern), Err(RegexError::Unsupported { .. })),
                "{pattern}"
            );
        }
    }

    #[test]
    fn refuses_what_is_malformed() {
        for pattern in [
            "(", ")", "[a", "*a", "a{2,1}", "a{x}", "[z-a]", "\\", "[]", "a]",
        ] {
            assert!(
                matches!(canonical(pattern), Err(RegexError::Invalid { .. })),
                "{pattern}"
            );
        }
    }

    #[test]
    fn refuses_what_is_heavy() {
        let deep = "(".repeat(60) + &")".repeat(60);
        for pattern in [
            "(a{100}){100}",
            "((a{20}){20}){20}",
            "a{99999}",
            deep.as_str(),
        ] {
            assert!(
                matches!(canonical(pattern), Err(RegexError::TooLarge(_))),
                "{pattern}"
            );
        }
        assert!(matches!(
            Regex::new("aaaa", false, 3),
            Err(RegexError::TooLarge(_))
        ));
    }
}
