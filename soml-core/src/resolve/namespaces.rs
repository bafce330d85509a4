//! Prefixes, and the three names of an element.

use std::collections::HashMap;

use super::iri;
use crate::codes::Code;
use crate::diagnostic::{Findings, shorten};
use crate::raw::RawSchema;
use crate::schema::{Name, Prefixes};

/// Prefixes that need no declaration (docs/schema.md, "Names").
const PREDEFINED: [(&str, &str); 11] = [
    ("so", "http://www.ontotext.com/semantic-object/"),
    ("dct", "http://purl.org/dc/terms/"),
    ("gn", "http://www.geonames.org/ontology#"),
    ("owl", "http://www.w3.org/2002/07/owl#"),
    ("puml", "http://plantuml.com/ontology#"),
    ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
    ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
    ("skos", "http://www.w3.org/2004/02/skos/core#"),
    ("void", "http://rdfs.org/ns/void#"),
    ("wgs84", "http://www.w3.org/2003/01/geo/wgs84_pos#"),
    ("xsd", "http://www.w3.org/2001/XMLSchema#"),
];

/// Property names that are fields already; with the vocabulary prefix they keep it (docs/schema.md,
/// "Names").
const RESERVED: [&str; 5] = ["id", "type", "name", "value", "lang"];

/// Returns whether a property cannot have this GraphQL name without a prefix, since every object or
/// literal has a field of this name.
///
/// Names with two leading underscores belong to introspection
/// (<https://spec.graphql.org/September2025/#sec-Names.Reserved-Names>).
#[must_use]
pub fn is_reserved(local: &str) -> bool {
    RESERVED.contains(&local) || local.starts_with("__")
}

/// Resolves names.
#[derive(Debug)]
pub(crate) struct Namespaces {
    prefixes: Prefixes,
    by_prefix: HashMap<String, String>,
}

/// A name whose prefix is not declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unresolved<'n> {
    pub(crate) prefix: &'n str,
}

impl Namespaces {
    pub(crate) fn new(raw: &RawSchema<'_>, findings: &mut Findings) -> Namespaces {
        let own = |text: Option<crate::raw::Text<'_>>, default: &str| {
            text.map_or_else(|| default.to_owned(), |t| t.value.to_owned())
        };
        let special = &raw.special;
        let vocab_prefix = own(special.vocab_prefix, "voc");
        let declared = raw
            .prefixes
            .iter()
            .find(|(prefix, _)| prefix.value == vocab_prefix);
        // A vocabulary that only `prefixes` declares is meant, too.
        let vocab_default = match (special.vocab_iri, declared) {
            (None, Some((_, namespace))) => namespace.value,
            _ => "http://example.org/vocabulary/",
        };
        let vocab_iri = own(special.vocab_iri, vocab_default);
        // `specialPrefixes` takes precedence, so that names without a prefix and names with this
        // one agree.
        if let (Some(vocab), Some((prefix, namespace))) = (special.vocab_iri, declared)
            && namespace.value != vocab_iri
        {
            let message = format!(
                "`{}` is the vocabulary prefix, with the namespace `{}`",
                prefix.value,
                shorten(&vocab_iri)
            );
            findings
                .add(Code::PrefixConflict, namespace.span, message)
                .help("use the same namespace in both places, or remove this one")
                .label(vocab.span, "the namespace of the vocabulary");
        }
        let ontology_default = vocab_iri.trim_end_matches(['/', '#']);
        let mut prefixes = Prefixes {
            base_iri: own(special.base_iri, "http://example.org/resource/"),
            ontology_iri: own(special.ontology_iri, ontology_default),
            shape_iri: own(special.shape_iri, "http://example.org/shape/"),
            bindings: Vec::new(),
            vocab_iri,
            vocab_prefix,
        };
        let mut by_prefix = HashMap::new();
        let declared = raw
            .prefixes
            .iter()
            .map(|(prefix, namespace)| (prefix.value, namespace.value));
        let vocab = (prefixes.vocab_prefix.as_str(), prefixes.vocab_iri.as_str());
        // The first namespace of a prefix is the one that counts, so a document can rebind a
        // predefined prefix.
        for (prefix, namespace) in std::iter::once(vocab).chain(declared).chain(PREDEFINED) {
            if !by_prefix.contains_key(prefix) {
                by_prefix.insert(prefix.to_owned(), namespace.to_owned());
                prefixes
                    .bindings
                    .push((prefix.to_owned(), namespace.to_owned()));
            }
        }
        Namespaces {
            prefixes,
            by_prefix,
        }
    }

    pub(crate) fn prefixes(&self) -> &Prefixes {
        &self.prefixes
    }

    /// Returns what identifies a written name: the name without the vocabulary prefix, since both
    /// spellings are the same name (docs/diagnostics.md, "NAME_COLLISION").
    pub(crate) fn key<'n>(&self, written: &'n str) -> &'n str {
        self.prefixes.bare(written)
    }

    /// Expands a name: without prefix it is in the vocabulary (docs/schema.md, "Names").
    pub(crate) fn expand<'n>(&self, written: &'n str) -> Result<String, Unresolved<'n>> {
        self.expand_in(written, &self.prefixes.vocab_iri)
    }

    /// Expands a type or the beginning of IRIs: without prefix it is appended to the base IRI
    /// (docs/schema.md, "Names"). It is not resolved as a reference of RFC 3986, since a prefix of
    /// ids may end in any character.
    pub(crate) fn expand_relative<'n>(&self, written: &'n str) -> Result<String, Unresolved<'n>> {
        self.expand_in(written, &self.prefixes.base_iri)
    }

    /// Splits a written name into a declared prefix and the rest; the prefix is `None` when the name
    /// has none or is a full IRI.
    pub(crate) fn split<'n>(&self, written: &'n str) -> (Option<&'n str>, &'n str) {
        match written.split_once(':') {
            Some((prefix, local)) if self.by_prefix.contains_key(prefix) => (Some(prefix), local),
            _ => (None, written),
        }
    }

    fn expand_in<'n>(&self, written: &'n str, namespace: &str) -> Result<String, Unresolved<'n>> {
        if let Some(full) = iri::bracketed(written) {
            return Ok(full.to_owned());
        }
        // A colon behind a slash belongs to a path, as in `droid/a:b`.
        let Some((prefix, local)) = written.split_once(':').filter(|(p, _)| !p.contains('/'))
        else {
            return Ok(format!("{namespace}{written}"));
        };
        match self.by_prefix.get(prefix) {
            // A declared prefix comes before a scheme of the same letters; the scheme can be meant
            // in brackets.
            Some(namespace) => Ok(format!("{namespace}{local}")),
            None if iri::looks_absolute(prefix, local) => Ok(written.to_owned()),
            None => Err(Unresolved { prefix }),
        }
    }

    /// Expands a name, or takes some IRI when it cannot be expanded.
    pub(crate) fn expand_or_default(&self, written: &str) -> String {
        self.expand(written)
            .unwrap_or_else(|_| format!("{}{written}", self.prefixes.vocab_iri))
    }

    /// Returns the names of an object or a datatype.
    pub(crate) fn object_name(&self, written: &str) -> Name {
        Name {
            written: written.to_owned(),
            graphql: sanitize(self.key(written)),
            iri: self.expand_or_default(written),
        }
    }

    /// Returns the names of a property; reserved words keep the vocabulary prefix.
    pub(crate) fn property_name(&self, written: &str) -> Name {
        let key = self.key(written);
        let reserved = key.len() != written.len() && is_reserved(&sanitize(key));
        Name {
            written: written.to_owned(),
            graphql: sanitize(if reserved { written } else { key }),
            iri: self.expand_or_default(written),
        }
    }

    /// Returns the names of the stored property behind an entry `name` without prefix.
    pub(crate) fn vocab_name(&self) -> Name {
        self.property_name(&format!("{}:name", self.prefixes.vocab_prefix))
    }
}

/// Makes a GraphQL name (<https://spec.graphql.org/September2025/#Name>): everything but ASCII
/// letters, digits and `_` becomes `_`, and a name that would begin with a digit gets a `_` in
/// front.
#[must_use]
pub fn sanitize(name: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut graphql: String = name.chars().map(word).collect();
    if graphql.starts_with(|c: char| c.is_ascii_digit()) || graphql.is_empty() {
        graphql.insert(0, '_');
    }
    graphql
}

#[cfg(test)]
mod tests {
    use super::*;

    fn namespaces() -> Namespaces {
        Namespaces::new(&RawSchema::default(), &mut Findings::new(1))
    }

    #[test]
    fn names_become_iris_and_graphql_names() {
        let names = namespaces();
        let iri = |written| names.expand(written).expect(written);
        assert_eq!(iri("title"), "http://example.org/vocabulary/title");
        assert_eq!(iri("voc:title"), "http://example.org/vocabulary/title");
        assert_eq!(
            iri("rdfs:label"),
            "http://www.w3.org/2000/01/rdf-schema#label"
        );
        assert_eq!(iri("https://example.org/x"), "https://example.org/x");
        assert_eq!(iri("urn:x:y"), "urn:x:y");
        assert_eq!(iri("<exx:x>"), "exx:x");
        assert_eq!(names.expand("exx:x"), Err(Unresolved { prefix: "exx" }));
        assert_eq!(
            names.expand_relative("droid/"),
            Ok("http://example.org/resource/droid/".to_owned())
        );
        assert_eq!(names.property_name("voc:title").graphql, "title");
        assert_eq!(names.property_name("rdfs:label").graphql, "rdfs_label");
        assert_eq!(names.property_name("a-b.c").graphql, "a_b_c");
        assert_eq!(names.property_name("1st").graphql, "_1st");
    }

    #[test]
    fn reserved_words_keep_the_vocabulary_prefix() {
        let names = namespaces();
        assert_eq!(names.property_name("voc:value").graphql, "voc_value");
        assert_eq!(names.property_name("voc:__x").graphql, "voc___x");
        assert_eq!(names.property_name("rdf:type").graphql, "rdf_type");
        assert_eq!(names.object_name("voc:value").graphql, "value");
    }
}
