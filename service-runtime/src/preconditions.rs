//! `If-Match` and `If-None-Match`: lists of entity tags after RFC 9110, section 13.1.
//!
//! They are read here because stores compare tags as they write, and so need the tags themselves. The crate `headers`
//! only answers whether one tag matches, and takes what is not a list of tags for an empty list: with
//! `If-None-Match: old` it lets a request through.

use axum::http::header::{HeaderName, IF_MATCH, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue};
use graphql_http::{HttpError, code as common, compression::plain_tag};
use schema_registry::{Expected, Revisions};

/// What a conditional header lists.
enum Tags {
    /// `*`
    Any,
    Listed(Vec<Tag>),
}

struct Tag {
    is_weak: bool,
    opaque: String,
}

/// Returns which revisions a request expects of the schema that it changes.
///
/// # Errors
/// When a header is no list of entity tags.
pub fn expected(headers: &HeaderMap) -> Result<Expected, HttpError> {
    // Tags in `If-Match` are compared strongly, so a weak one matches nothing.
    let one_of = tags(headers, &IF_MATCH)?.map(|tags| revisions(tags, |tag| !tag.is_weak));
    let none_of = tags(headers, &IF_NONE_MATCH)?.map(|tags| revisions(tags, |_| true));
    Ok(Expected { one_of, none_of })
}

/// Returns whether a client has the representation with this tag already.
///
/// # Errors
/// When `If-None-Match` is no list of entity tags.
pub fn has_current(headers: &HeaderMap, etag: &HeaderValue) -> Result<bool, HttpError> {
    // Weak tags match here, and ours may be weak.
    let current = etag
        .to_str()
        .unwrap_or_default()
        .trim_start_matches("W/")
        .trim_matches('"');
    Ok(match tags(headers, &IF_NONE_MATCH)? {
        None => false,
        Some(Tags::Any) => true,
        Some(Tags::Listed(tags)) => tags.iter().any(|tag| tag.opaque == current),
    })
}

fn revisions(tags: Tags, counts: impl Fn(&Tag) -> bool) -> Revisions {
    match tags {
        Tags::Any => Revisions::Any,
        Tags::Listed(tags) => {
            let tags = tags.into_iter().filter(counts);
            Revisions::Listed(tags.map(|tag| tag.opaque).collect())
        }
    }
}

/// Reads a header; `None` when it is not there.
fn tags(headers: &HeaderMap, name: &HeaderName) -> Result<Option<Tags>, HttpError> {
    let values: Vec<&[u8]> = headers
        .get_all(name)
        .iter()
        .map(HeaderValue::as_bytes)
        .collect();
    if values.is_empty() {
        return Ok(None);
    }
    parse(&values.join(&b","[..])).map(Some).ok_or_else(|| {
        let message = format!("`{name}` is neither `*` nor a list of entity tags such as `\"a\"`");
        HttpError::new(common::REQUEST_MALFORMED, message)
    })
}

fn parse(list: &[u8]) -> Option<Tags> {
    if list.trim_ascii() == b"*" {
        return Some(Tags::Any);
    }
    let mut tags = Vec::new();
    let mut rest = list.trim_ascii_start();
    while let Some(first) = rest.first() {
        if *first == b',' {
            rest = rest[1..].trim_ascii_start();
            continue;
        }
        let is_weak = rest.starts_with(b"W/");
        let quoted = rest
            .strip_prefix(b"W/")
            .unwrap_or(rest)
            .strip_prefix(b"\"")?;
        let end = quoted.iter().position(|byte| *byte == b'"')?;
        let (opaque, after) = (&quoted[..end], &quoted[end + 1..]);
        if !opaque.iter().all(|byte| *byte > b' ' && *byte != 0x7F) {
            return None;
        }
        let opaque = String::from_utf8_lossy(opaque);
        let opaque = plain_tag(&opaque).to_owned();
        tags.push(Tag { is_weak, opaque });
        rest = after.trim_ascii_start();
        if !matches!(rest.first(), None | Some(b',')) {
            return None;
        }
    }
    (!tags.is_empty()).then_some(Tags::Listed(tags))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[&str]) -> Result<Expected, HttpError> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(IF_MATCH, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        expected(&headers)
    }

    fn listed(tags: &[&str]) -> Option<Revisions> {
        let tags = tags.iter().map(|tag| (*tag).to_owned());
        Some(Revisions::Listed(tags.collect()))
    }

    #[test]
    fn every_tag_of_a_list_counts_but_weak_ones() {
        assert_eq!(read(&[]).unwrap().one_of, None);
        assert_eq!(read(&[" * "]).unwrap().one_of, Some(Revisions::Any));
        assert_eq!(read(&["\"a\""]).unwrap().one_of, listed(&["a"]));
        let several = read(&["\"a\" , W/\"b\",,\"c,d\"", "\"é\""]).unwrap();
        assert_eq!(several.one_of, listed(&["a", "c,d", "é"]));
        assert_eq!(read(&["W/\"a\""]).unwrap().one_of, listed(&[]));
    }

    #[test]
    fn what_is_no_list_of_tags_is_refused() {
        for value in [
            "",
            "a",
            "\"a",
            "\"a\" \"b\"",
            "\"a\", *",
            "w/\"a\"",
            "\"a b\"",
            ",",
        ] {
            let error = read(&[value]).unwrap_err();
            assert_eq!(error.code, common::REQUEST_MALFORMED, "{value}");
        }
    }
}
