//! The attributes of a tag, and the text of their values.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// Entities that a document declares, by name.
pub(crate) type Entities = HashMap<String, Entity>;

/// Longest text of an entity that is kept; one that is longer is no IRI, language tag or the like.
const ENTITY_TEXT: usize = 4 << 10;

/// What an entity stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entity {
    pub(crate) bytes: u64,
    /// Its text, unless it is long.
    text: Option<String>,
}

impl Entity {
    /// Reads the value of a declaration.
    pub(crate) fn new(value: &str, known: &Entities) -> Self {
        let mut bytes = value.len() as u64;
        for reference in value.split('&').skip(1) {
            let name = reference.split(';').next().unwrap_or_default();
            let length = known.get(name).map_or(0, |entity| entity.bytes);
            bytes = bytes.saturating_add(length);
        }
        let text = (bytes <= ENTITY_TEXT as u64)
            .then(|| unescaped(value.as_bytes(), known).map(Cow::into_owned))
            .flatten();
        Entity { bytes, text }
    }
}

/// Where an attribute has its name, and where its value.
pub(crate) type Attribute = (Range<usize>, Range<usize>);

/// A tag that opens an element.
#[derive(Debug)]
pub(crate) struct OpeningTag<'t> {
    /// From `<` to `>`.
    pub(crate) text: &'t [u8],
    pub(crate) name: Range<usize>,
    /// One whose value has no quotes is not among them: the parser refuses it.
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) is_empty: bool,
}

impl<'t> OpeningTag<'t> {
    pub(crate) fn new(text: &'t [u8]) -> Self {
        let (name, attributes) = attributes(text);
        OpeningTag {
            text,
            name,
            attributes,
            is_empty: text.ends_with(b"/>"),
        }
    }

    /// Returns a part of it.
    pub(crate) fn part(&self, range: &Range<usize>) -> &'t [u8] {
        self.text.get(range.clone()).unwrap_or_default()
    }
}

fn attributes(tag: &[u8]) -> (Range<usize>, Vec<Attribute>) {
    // The parser has the same notion of names, however odd they are.
    let tag = tag.strip_suffix(b">").unwrap_or(tag);
    let tag = tag.strip_suffix(b"/").unwrap_or(tag);
    let byte = |at: usize| tag.get(at).copied();
    let is_space = |at: usize| byte(at).is_some_and(|byte| byte.is_ascii_whitespace());
    let skip = |mut at: usize, while_: &dyn Fn(usize) -> bool| {
        while at < tag.len() && while_(at) {
            at += 1;
        }
        at
    };
    let in_name = |at: usize| !is_space(at) && byte(at) != Some(b'=');
    let name = 1..skip(1, &|at| !is_space(at));
    let mut found = Vec::new();
    let mut at = name.end;
    loop {
        let start = skip(at, &is_space);
        let end = skip(start, &in_name);
        let equals = skip(end, &is_space);
        let open = skip(equals + 1, &is_space);
        let quote = byte(open);
        if end == start || byte(equals) != Some(b'=') || !matches!(quote, Some(b'"' | b'\'')) {
            return (name, found);
        }
        let close = skip(open + 1, &|at| byte(at) != quote);
        found.push((start..end, open + 1..close));
        at = close + 1;
    }
}

/// Returns the text of a value; `None` where a reference is unknown or stands for a long text.
pub(crate) fn unescaped<'t>(value: &'t [u8], entities: &Entities) -> Option<Cow<'t, str>> {
    let value = str::from_utf8(value).ok()?;
    if !value.contains('&') {
        return Some(Cow::Borrowed(value));
    }
    let mut parts = value.split('&');
    let mut text = parts.next()?.to_owned();
    for part in parts {
        let (name, rest) = part.split_once(';')?;
        match name {
            "lt" => text.push('<'),
            "gt" => text.push('>'),
            "amp" => text.push('&'),
            "quot" => text.push('"'),
            "apos" => text.push('\''),
            name => match name.strip_prefix('#') {
                Some(code) => text.push(character(code)?),
                None => text.push_str(entities.get(name)?.text.as_deref()?),
            },
        }
        text.push_str(rest);
    }
    Some(Cow::Owned(text))
}

fn character(code: &str) -> Option<char> {
    let code = match code.strip_prefix('x') {
        Some(code) => u32::from_str_radix(code, 16),
        None => code.parse(),
    };
    char::from_u32(code.ok()?)
}

/// Returns a text as the value of an attribute.
pub(crate) fn escaped(text: &str) -> String {
    let mut value = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => value.push_str("&lt;"),
            '&' => value.push_str("&amp;"),
            '"' => value.push_str("&quot;"),
            '\'' => value.push_str("&apos;"),
            other => value.push(other),
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(tag: &str) -> (String, Vec<(String, String)>) {
        let (name, found) = attributes(tag.as_bytes());
        let text = |range: Range<usize>| tag[range].to_owned();
        let pairs = found.into_iter();
        (
            text(name),
            pairs.map(|(key, value)| (text(key), text(value))).collect(),
        )
    }

    #[test]
    fn attributes_are_found_as_they_may_be_written() {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let (name, found) = read("<a:b c='1>2'\n d = \"'\" e=''/>");
        assert_eq!(name, "a:b");
        assert_eq!(found, [pair("c", "1>2"), pair("d", "'"), pair("e", "")]);
        assert_eq!(read("<a>"), ("a".to_owned(), vec![]));
        assert_eq!(read("<a/>"), ("a".to_owned(), vec![]));
        assert_eq!(read("<a b=c d='e'>").1, []);
        assert_eq!(read("<a b").1, []);
    }

    #[test]
    fn references_are_read_and_written() {
        let mut entities = Entities::new();
        entities.insert("e".to_owned(), Entity::new("http://e/&#x41;", &entities));
        entities.insert("f".to_owned(), Entity::new("&e;#", &entities));
        let text = |value: &'static str| unescaped(value.as_bytes(), &entities);
        assert_eq!(text("&f;x&amp;&#66;").as_deref(), Some("http://e/A#x&B"));
        assert_eq!(text("&none;"), None);
        assert_eq!(text("&e"), None);
        assert_eq!(escaped("a<&\"'"), "a&lt;&amp;&quot;&apos;");
        let long = Entity::new(&"x".repeat(ENTITY_TEXT + 1), &entities);
        assert_eq!((long.bytes, long.text), (ENTITY_TEXT as u64 + 1, None));
    }
}
