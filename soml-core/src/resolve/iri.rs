//! Just enough of the IRI grammar to refuse what is none.

/// Returns whether a document can have `text` as an absolute IRI: a scheme, a colon, something behind it,
/// and no character that IRIs exclude (Turtle's
/// [`IRIREF`](https://www.w3.org/TR/turtle/#grammar-production-IRIREF), which SPARQL shares).
#[must_use]
pub fn is_absolute(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    is_scheme(scheme) && !rest.is_empty() && rest.chars().all(allowed)
}

/// Returns the IRI in angle brackets, which no prefix changes, as in Turtle and SPARQL.
pub(crate) fn bracketed(text: &str) -> Option<&str> {
    text.strip_prefix('<')?.strip_suffix('>')
}

/// Returns whether `text` can stand behind a namespace.
pub(crate) fn is_local(text: &str) -> bool {
    text.chars().all(allowed)
}

/// Returns whether a text is a scheme (RFC 3986, <https://www.rfc-editor.org/rfc/rfc3986#section-3.1>).
fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
}

/// Returns whether IRIs can have a character: also one outside ASCII, unless it is a control or a
/// space.
fn allowed(c: char) -> bool {
    !c.is_control()
        && !c.is_whitespace()
        && !matches!(c, '<' | '>' | '"' | '{' | '}' | '|' | '\\' | '^' | '`')
}

/// Schemes that are taken for absolute IRIs although no `//` follows.
const SCHEMES: [&str; 12] = [
    "ark", "data", "did", "doi", "file", "geo", "info", "mailto", "oid", "tag", "urn", "uuid",
];

/// Returns whether a text with an undeclared prefix is meant as a full IRI.
///
/// A misspelt prefix is more likely than a scheme that is not listed, so only these count; any
/// other IRI can be written in angle brackets (docs/schema.md, "Names").
pub(super) fn looks_absolute(scheme: &str, rest: &str) -> bool {
    rest.starts_with("//") || SCHEMES.iter().any(|s| s.eq_ignore_ascii_case(scheme))
}
