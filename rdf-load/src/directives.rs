//! Directives of N-Triples, N-Quads, Turtle and TriG.

/// The versions of RDF that documents may announce; constructs of 1.2 are refused where they stand.
pub(crate) const VERSIONS: [&[u8]; 3] = [b"1.1", b"1.2", b"1.2-basic"];

/// What a statement that is a directive declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Declares {
    Prefix,
    Base,
    Version,
}

/// A statement that is a directive, by its first token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Directive {
    pub(crate) declares: Declares,
    /// Ends with its IRI or string, as SPARQL has it, and not with a dot.
    pub(crate) is_sparql: bool,
}

impl Directive {
    /// Recognizes the first token of a statement.
    pub(crate) fn new(token: &[u8]) -> Option<Self> {
        let (name, is_sparql) = match token {
            [b'@', name @ ..] => (name, false),
            name => (name, true),
        };
        let is = |keyword: &[u8]| {
            if is_sparql {
                name.eq_ignore_ascii_case(keyword)
            } else {
                name == keyword
            }
        };
        let declares = match name {
            _ if is(b"prefix") => Declares::Prefix,
            _ if is(b"base") => Declares::Base,
            _ if is(b"version") => Declares::Version,
            _ => return None,
        };
        Some(Directive {
            declares,
            is_sparql,
        })
    }
}
