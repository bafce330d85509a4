//! Names for classes and properties, and the prefixes that they need.

use std::collections::{BTreeMap, HashMap, HashSet};

use soml_core::{graphql_name, is_absolute_iri, is_reserved_property};

use super::ontology::is_ontology_class;
use super::statistics::Statistics;

/// Prefixes that people expect for some namespaces.
const KNOWN: &[(&str, &str)] = &[
    ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
    ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
    ("owl", "http://www.w3.org/2002/07/owl#"),
    ("xsd", "http://www.w3.org/2001/XMLSchema#"),
    ("skos", "http://www.w3.org/2004/02/skos/core#"),
    ("dct", "http://purl.org/dc/terms/"),
    ("dc", "http://purl.org/dc/elements/1.1/"),
    ("foaf", "http://xmlns.com/foaf/0.1/"),
    ("schema", "http://schema.org/"),
    ("schema", "https://schema.org/"),
    ("prov", "http://www.w3.org/ns/prov#"),
    ("dcat", "http://www.w3.org/ns/dcat#"),
    ("geo", "http://www.w3.org/2003/01/geo/wgs84_pos#"),
    ("void", "http://rdfs.org/ns/void#"),
];

/// Schemes whose IRIs are written in full as they are, and which are no prefixes for that reason.
const PLAIN_SCHEMES: &[&str] = &["http", "https", "urn"];

/// Maximum length of a prefix that is taken over from the data, of a namespace that has a prefix, and of
/// the local part of a name.
const MAX_PREFIX: usize = 40;
const MAX_NAMESPACE: usize = 1_000;
const MAX_LOCAL: usize = 100;

/// How often each class and property had to be renamed, since its name was found to be taken.
#[derive(Debug, Default)]
pub(super) struct Renames {
    pub(super) classes: HashMap<String, usize>,
    pub(super) properties: HashMap<String, usize>,
}

/// Names and prefixes of everything in the statistics.
pub(super) struct Names<'a> {
    /// Namespace of names without a prefix.
    pub(super) vocab_iri: String,
    /// Its prefix.
    pub(super) vocab_prefix: String,
    /// Other prefixes, by namespace.
    pub(super) prefixes: BTreeMap<String, String>,
    /// All prefixes, with their namespaces.
    namespaces: HashMap<String, String>,
    /// Prefixes that the data declare, with their namespaces.
    declared: &'a [(String, String)],
    classes: HashMap<String, Written>,
    properties: HashMap<String, Written>,
}

/// How a class or a property is written.
#[derive(Clone)]
pub(super) struct Written {
    /// The name.
    pub(super) name: String,
    /// The IRI in full, when the name does not stand for it.
    pub(super) iri: Option<String>,
    /// The name as the data have it, when more than its first letter had to be changed.
    pub(super) label: Option<String>,
}

impl<'a> Names<'a> {
    pub(super) fn new(
        statistics: &Statistics,
        declared: &'a [(String, String)],
        renames: &Renames,
    ) -> Self {
        let vocab_iri = vocabulary(statistics);
        let known = || KNOWN.iter().find(|(_, namespace)| *namespace == vocab_iri);
        let vocab_prefix = declared
            .iter()
            .find(|(prefix, namespace)| *namespace == vocab_iri && is_prefix(prefix))
            .map(|(prefix, _)| prefix.as_str())
            .or_else(|| known().map(|(prefix, _)| *prefix))
            .unwrap_or("voc")
            .to_owned();
        let mut names = Names {
            namespaces: HashMap::from([(vocab_prefix.clone(), vocab_iri.clone())]),
            vocab_prefix,
            vocab_iri,
            prefixes: BTreeMap::new(),
            declared,
            classes: HashMap::new(),
            properties: HashMap::new(),
        };
        let classes = statistics.classes.keys().map(String::as_str);
        names.classes = names.write_all(classes, Case::Upper, &renames.classes);
        let properties = statistics.properties().into_iter();
        names.properties = names.write_all(properties, Case::Lower, &renames.properties);
        names
    }

    /// Returns how a class is written.
    pub(super) fn class(&self, iri: &str) -> &Written {
        &self.classes[iri]
    }

    /// Returns how a property is written.
    pub(super) fn property(&self, iri: &str) -> &Written {
        &self.properties[iri]
    }

    /// Returns the IRI that a name stands for.
    fn expand(&self, name: &str) -> Option<String> {
        match name.split_once(':') {
            None => Some(format!("{}{name}", self.vocab_iri)),
            Some((prefix, local)) => {
                let namespace = self.namespaces.get(prefix)?;
                Some(format!("{namespace}{local}"))
            }
        }
    }

    /// Names classes or properties: first those that keep their names.
    fn write_all<'i>(
        &mut self,
        iris: impl Iterator<Item = &'i str>,
        case: Case,
        renames: &HashMap<String, usize>,
    ) -> HashMap<String, Written> {
        let renamed = |iri: &str| renames.get(iri).copied().unwrap_or(0);
        let mut iris: Vec<(usize, &str)> = iris.map(|iri| (renamed(iri), iri)).collect();
        iris.sort_unstable();
        let mut taken = Taken::default();
        let iris = iris.into_iter();
        iris.map(|(renamed, iri)| (iri.to_owned(), self.write(iri, case, renamed, &mut taken)))
            .collect()
    }

    fn write(&mut self, iri: &str, case: Case, renamed: usize, taken: &mut Taken) -> Written {
        let (namespace, original) = split(iri);
        let base = case.apply(original) + &"_".repeat(renamed);
        // Names that GraphQL could not tell apart get a number.
        let first = self.qualified(namespace, &base, case);
        let folded = self.folded(&first, case);
        let mut local = base.clone();
        let mut name = first;
        if !taken.names.insert(folded.clone()) {
            let numbers = taken.numbers.entry(folded).or_insert(1);
            loop {
                *numbers += 1;
                local = format!("{base}{numbers}");
                name = self.qualified(namespace, &local, case);
                if taken.names.insert(self.folded(&name, case)) {
                    break;
                }
            }
        }
        let is_same = local.eq_ignore_ascii_case(original) && local.get(1..) == original.get(1..);
        Written {
            iri: (self.expand(&name).as_deref() != Some(iri)).then(|| full(iri)),
            label: (!is_same && !original.is_empty()).then(|| original.to_owned()),
            name,
        }
    }

    /// Returns the name for a local part in a namespace.
    fn qualified(&mut self, namespace: &str, local: &str, case: Case) -> String {
        if namespace != self.vocab_iri && is_namespace(namespace) {
            return format!("{}:{local}", self.prefix(namespace));
        }
        match case {
            Case::Lower if is_reserved_property(&graphql_name(local)) => {
                format!("{}:{local}", self.vocab_prefix)
            }
            _ => local.to_owned(),
        }
    }

    /// Returns what GraphQL makes of a name: of a property the field, of a class the root field.
    fn folded(&self, name: &str, case: Case) -> String {
        let bare = name
            .strip_prefix(self.vocab_prefix.as_str())
            .and_then(|rest| rest.strip_prefix(':'))
            .unwrap_or(name);
        match case {
            Case::Lower if is_reserved_property(&graphql_name(bare)) => graphql_name(name),
            Case::Lower => graphql_name(bare),
            Case::Upper => {
                let mut field = graphql_name(bare);
                if let Some(first) = field.get_mut(..1) {
                    first.make_ascii_lowercase();
                }
                field
            }
        }
    }

    fn prefix(&mut self, namespace: &str) -> String {
        if let Some(prefix) = self.prefixes.get(namespace) {
            return prefix.clone();
        }
        let declared = self
            .declared
            .iter()
            .map(|(prefix, of)| (prefix.as_str(), of.as_str()));
        let prefix = declared
            .filter(|(prefix, _)| is_prefix(prefix))
            .chain(KNOWN.iter().copied())
            .find(|(prefix, of)| *of == namespace && !self.namespaces.contains_key(*prefix))
            .map(|(prefix, _)| prefix.to_owned());
        let numbered = || {
            (self.prefixes.len() + 1..)
                .map(|number| format!("ns{number}"))
                .find(|prefix| !self.namespaces.contains_key(prefix))
                .expect("there are more numbers than prefixes")
        };
        let prefix = prefix.unwrap_or_else(numbered);
        self.namespaces.insert(prefix.clone(), namespace.to_owned());
        self.prefixes.insert(namespace.to_owned(), prefix.clone());
        prefix
    }
}

/// Names that are in use, as GraphQL knows them.
#[derive(Default)]
struct Taken {
    names: HashSet<String>,
    /// The last number that was given to a name.
    numbers: HashMap<String, usize>,
}

/// Returns whether a text can be a prefix of a document.
fn is_prefix(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.len() <= MAX_PREFIX
        && text.chars().all(is_word)
        && !PLAIN_SCHEMES.contains(&text)
}

/// Returns whether a prefix can stand for a namespace: one that is more than a scheme.
fn is_namespace(text: &str) -> bool {
    let rest = text.split_once(':').map_or("", |(_, rest)| rest);
    !rest.trim_matches('/').is_empty() && text.len() <= MAX_NAMESPACE && is_absolute_iri(text)
}

/// Writes an IRI in full, so that its scheme is not taken for a prefix.
fn full(iri: &str) -> String {
    let scheme = iri.split_once(':').map_or("", |(scheme, _)| scheme);
    if PLAIN_SCHEMES.contains(&scheme) {
        iri.to_owned()
    } else {
        format!("<{iri}>")
    }
}

/// Returns the last part of an IRI.
pub(super) fn local_name(iri: &str) -> &str {
    split(iri).1
}

/// Returns the namespace of the vocabulary: the one that most classes and their properties are in, a property counted once
/// for each class, and the last by code point of several with as many. Ontology vocabularies count only if all classes
/// are theirs, as in [`leave_out`](super::ontology::leave_out).
fn vocabulary(statistics: &Statistics) -> String {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for (iri, class) in &statistics.classes {
        let namespaces = class.properties.keys().chain([iri]).map(|iri| split(iri).0);
        for namespace in namespaces.filter(|namespace| is_namespace(namespace)) {
            *counts.entry(namespace).or_default() += 1;
        }
    }
    let mut classes = statistics.classes.keys();
    if classes.any(|iri| !is_ontology_class(iri)) {
        counts.retain(|namespace, _| !is_ontology_class(namespace));
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map_or_else(
        || "http://example.org/vocabulary/".to_owned(),
        |(iri, _)| iri.to_owned(),
    )
}

/// Splits an IRI after its last `#`, `/` or `:`.
fn split(iri: &str) -> (&str, &str) {
    let end = iri
        .trim_end_matches(['#', '/', ':'])
        .rfind(['#', '/', ':'])
        .map_or(0, |at| at + 1);
    iri.split_at(end)
}

/// How the first letter of a name is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Upper,
    Lower,
}

impl Case {
    /// Makes a name out of a local part: letters, digits, `_`, `-` and `.` stay, unless it is too long.
    fn apply(self, local: &str) -> String {
        let mut name: String = local
            .chars()
            .take(MAX_LOCAL)
            .map(|c| {
                if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') {
                    c
                } else {
                    '_'
                }
            })
            .collect();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            name.insert(0, 'x');
        }
        let first = name.remove(0);
        match self {
            Case::Upper => name.insert(0, first.to_ascii_uppercase()),
            Case::Lower => name.insert(0, first.to_ascii_lowercase()),
        }
        name
    }
}
