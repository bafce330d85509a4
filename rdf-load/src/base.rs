//! The base that relative IRIs are resolved against, where the parsers do not resolve as
//! [RFC 3986, 5.2](https://www.rfc-editor.org/rfc/rfc3986#section-5.2) says.
//!
//! The parsers keep the dot segments of a base. A reference to a path is resolved here, before they see
//! it, if the directory of its base has any.

use std::borrow::Cow;

use oxiri::{Iri, IriParseError};

/// A base IRI.
#[derive(Clone, Debug)]
pub(crate) struct Base {
    iri: Iri<String>,
    /// The same without dot segments in its directory, if it has any.
    plain: Option<Iri<String>>,
}

impl Base {
    /// Takes an absolute IRI as a base.
    pub(crate) fn new(iri: &str) -> Result<Self, IriParseError> {
        let iri = Iri::parse(iri.to_owned())?;
        let plain = without_dots(&iri).map(Iri::parse).transpose()?;
        Ok(Base { iri, plain })
    }

    /// Returns the base that is named by `reference` where this one is in force.
    pub(crate) fn join(&self, reference: &str) -> Result<Self, IriParseError> {
        Base::new(&self.resolve(reference)?)
    }

    /// Returns the bytes that are kept of it.
    pub(crate) fn size(&self) -> usize {
        let plain = self.plain.as_ref();
        self.iri.as_str().len() + plain.map_or(0, |plain| plain.as_str().len())
    }

    pub(crate) fn as_str(&self) -> &str {
        self.iri.as_str()
    }

    /// Resolves a reference.
    fn resolve(&self, reference: &str) -> Result<String, IriParseError> {
        let base = match &self.plain {
            Some(plain) if has_path(reference) => plain,
            _ => &self.iri,
        };
        Ok(base.resolve(reference)?.into_inner())
    }

    /// Returns the IRI to read in place of `reference`, if the parsers would not find it.
    pub(crate) fn in_place_of(&self, reference: &str) -> Option<String> {
        if self.plain.is_none() || !has_path(reference) {
            return None;
        }
        self.resolve(reference).ok()
    }
}

/// Returns the IRI that relative IRIs are resolved against by a parser that keeps dot segments.
///
/// References without a path are resolved as if the base had none of them either.
pub(crate) fn plain_base(iri: &str) -> Cow<'_, str> {
    let plain = Base::new(iri).ok().and_then(|base| base.plain);
    match plain {
        Some(plain) => Cow::Owned(plain.into_inner()),
        None => Cow::Borrowed(iri),
    }
}

/// Returns whether a relative reference has a path.
fn has_path(reference: &str) -> bool {
    !matches!(reference.as_bytes().first(), None | Some(b'?' | b'#'))
}

/// Removes the dot segments of the directory of `iri`; `None` if there are none.
fn without_dots(iri: &Iri<String>) -> Option<String> {
    let path = iri.path();
    let (directory, _) = path.rsplit_once('/')?;
    let is_dot = |segment: &str| matches!(segment, "." | "..");
    if !directory.split('/').any(is_dot) {
        return None;
    }
    let mut plain = String::new();
    // A path that does not begin with a slash does not do so behind its first dot segments either.
    let mut has_begun = false;
    for segment in directory.split('/') {
        match segment {
            "." => {}
            ".." => plain.truncate(plain.rfind('/').unwrap_or(0)),
            segment => {
                if has_begun {
                    plain.push('/');
                }
                plain.push_str(segment);
                has_begun = true;
            }
        }
    }
    // The path is a part of the IRI, behind the scheme and the authority.
    let start = iri.scheme().len() + 1 + iri.authority().map_or(0, |authority| authority.len() + 2);
    let end = start + directory.len() + usize::from(!has_begun);
    Some(format!("{}{plain}{}", iri.get(..start)?, iri.get(end..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Examples of [RFC 3986, 5.4](https://www.rfc-editor.org/rfc/rfc3986#section-5.4), with dot segments
    /// added to the base.
    #[test]
    fn dot_segments_of_a_base_are_removed_where_a_path_is_resolved() {
        for (base, reference, expected) in [
            ("http://a/bb/ccc/./d;p?q", "g", "http://a/bb/ccc/g"),
            ("http://a/bb/ccc/./d;p?q", "./h", "http://a/bb/ccc/h"),
            ("http://a/bb/ccc/./d;p?q", "../i", "http://a/bb/i"),
            ("http://a/bb/ccc/../d;p?q", "g", "http://a/bb/g"),
            ("http://a/bb/ccc/../d;p?q", "../../g", "http://a/g"),
            ("http://a/bb/ccc/..", "g", "http://a/bb/ccc/g"),
            ("http://a/../../d", "g", "http://a/g"),
            ("http://a/bb/ccc/./d;p?q", "/x", "http://a/x"),
            ("http://a/bb/ccc/./d;p?q", "", "http://a/bb/ccc/./d;p?q"),
            ("http://a/bb/ccc/./d;p?q", "?y", "http://a/bb/ccc/./d;p?y"),
            ("http://a/bb/ccc/./d;p?q", "#s", "http://a/bb/ccc/./d;p?q#s"),
            ("file:///a/./b", "c", "file:///a/c"),
            ("tag:e.org,2024:a/./b", "g", "tag:e.org,2024:a/g"),
            ("tag:e.org,2024:a/c/../b", "./g", "tag:e.org,2024:a/g"),
            ("tag:./b", "g", "tag:g"),
            ("tag:a/../b", "g", "tag:/g"),
        ] {
            let base = Base::new(base).unwrap();
            assert_eq!(base.resolve(reference).unwrap(), expected);
            let replaced = base.in_place_of(reference);
            let is_needed = base.plain.is_some() && has_path(reference);
            assert_eq!(replaced.is_some(), is_needed, "{reference}");
        }
        let plain = Base::new("http://a/b/c").unwrap();
        assert_eq!(plain.in_place_of("../g"), None);
        assert_eq!(plain.join("../d/./e").unwrap().iri.as_str(), "http://a/d/e");
        assert_eq!(plain_base("http://a/b/../c"), "http://a/c");
    }
}
