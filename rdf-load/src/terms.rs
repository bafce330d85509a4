//! The terms of N-Triples, N-Quads, Turtle and TriG that the parsers are given in another form.

use std::borrow::Cow;
use std::rc::Rc;

use oxilangtag::LanguageTag;
use oxiri::IriRef;

use crate::base::Base;
use crate::stand_ins::{STAND_IN_BYTES, StandIns};

const NO_TAG: &str = "malformed language tag: only letters, digits and hyphens are allowed";
const TOO_LONG: &str = "malformed IRI";

/// What a token is, by how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    Iri,
    Literal,
    /// A language tag.
    Tag,
    /// A name, number, keyword or punctuation.
    Name,
    /// Nothing that a parser may be given.
    Malformed(&'static str),
}

/// Reads terms where a base is in force.
#[derive(Debug)]
pub(crate) struct Terms {
    stand_ins: Rc<StandIns>,
    base: Option<Base>,
}

impl Terms {
    pub(crate) fn new(stand_ins: Rc<StandIns>, base: Option<Base>) -> Self {
        Terms { stand_ins, base }
    }

    /// Returns what a token is, and the bytes that the parser reads in its place if they are others.
    pub(crate) fn read(&self, token: &[u8]) -> (Written, Option<Vec<u8>>) {
        match token.first() {
            Some(b'<') => self.iri(token),
            Some(b'"' | b'\'') => (Written::Literal, None),
            Some(b'@') => self.tag(token),
            _ => (Written::Name, None),
        }
    }

    /// Takes the IRI of a directive as the base of what follows.
    pub(crate) fn set_base(&mut self, token: &[u8]) {
        let base = iri_text(token).and_then(|text| match &self.base {
            Some(base) => base.join(&text).ok(),
            None => Base::new(&text).ok(),
        });
        self.base = base;
    }

    fn iri(&self, token: &[u8]) -> (Written, Option<Vec<u8>>) {
        let Some(text) = iri_text(token) else {
            return (Written::Malformed(TOO_LONG), None);
        };
        let other = match (IriRef::parse(text.as_ref()), &self.base) {
            (Ok(iri), _) if iri.is_absolute() => None,
            (Ok(_), Some(base)) => base.in_place_of(&text),
            (Err(_), _) if text.len() > STAND_IN_BYTES => {
                return (Written::Malformed(TOO_LONG), None);
            }
            (Err(_), _) | (Ok(_), None) => Some(self.stand_ins.iri(&text)),
        };
        let written = |iri: String| format!("<{iri}>").into_bytes();
        (Written::Iri, other.map(written))
    }

    fn tag(&self, token: &[u8]) -> (Written, Option<Vec<u8>>) {
        let tag = token
            .get(1..)
            .and_then(|tag| str::from_utf8(tag).ok())
            .unwrap_or_default();
        // A direction, which is of RDF 1.2: the parser says so.
        if tag.contains("--") || LanguageTag::parse(tag).is_ok() {
            return (Written::Tag, None);
        }
        let mut parts = tag.split('-');
        let is_tag = parts.next().is_some_and(is_alphabetic) && parts.all(|part| !part.is_empty());
        if is_tag && tag.len() <= STAND_IN_BYTES {
            let other = format!("@{}", self.stand_ins.tag(tag));
            (Written::Tag, Some(other.into_bytes()))
        } else {
            (Written::Malformed(NO_TAG), None)
        }
    }
}

fn is_alphabetic(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Returns the text of an IRI in `<…>`, whose escapes are well-formed.
fn iri_text(token: &[u8]) -> Option<Cow<'_, str>> {
    let token = token.strip_prefix(b"<")?.strip_suffix(b">")?;
    let text = str::from_utf8(token).ok()?;
    if !text.contains('\\') {
        return Some(Cow::Borrowed(text));
    }
    let mut parts = text.split('\\');
    let mut unescaped = parts.next()?.to_owned();
    for part in parts {
        let digits = match part.as_bytes().first()? {
            b'u' => 4,
            _ => 8,
        };
        let code = u32::from_str_radix(part.get(1..=digits)?, 16).ok()?;
        unescaped.push(char::from_u32(code)?);
        unescaped.push_str(part.get(digits + 1..)?);
    }
    Some(Cow::Owned(unescaped))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(base: Option<&str>, token: &str) -> (Written, Option<String>) {
        let base = base.map(|base| Base::new(base).unwrap());
        let terms = Terms::new(Rc::new(StandIns::new()), base);
        let (written, other) = terms.read(token.as_bytes());
        (
            written,
            other.map(|other| String::from_utf8(other).unwrap()),
        )
    }

    #[test]
    fn what_a_strict_parser_takes_is_left_as_it_is() {
        for token in [
            "<http://e/a>",
            "<a/b>",
            r"<http://e/\u00e9>",
            "'x'",
            "@en-GB",
            "@en--ltr",
            "e:a",
        ] {
            assert_eq!(read(Some("http://e/b"), token).1, None, "{token}");
        }
    }

    #[test]
    fn a_malformed_iri_or_tag_is_given_in_another_form() {
        for token in ["<a b>", r"<http://e/\u0020>", "<http://e/%zz>", "<a>"] {
            let (written, other) = read(None, token);
            assert_eq!(written, Written::Iri);
            assert!(other.unwrap().starts_with("<x-"), "{token}");
        }
        assert!(read(None, "@zh-classical").1.unwrap().starts_with("@x-"));
        for token in ["@", "@1", "@en-", "@-en"] {
            assert_eq!(read(None, token).0, Written::Malformed(NO_TAG), "{token}");
        }
        let (_, other) = read(Some("http://a/bb/ccc/./d"), "<../i>");
        assert_eq!(other.as_deref(), Some("<http://a/bb/i>"));
    }
}
