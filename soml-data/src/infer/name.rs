//! Names for classes and properties, and the prefixes that they need.

use std::collections::{BTreeMap, HashMap, HashSet};

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

/// Words that a property cannot be called without a prefix.
const RESERVED: &[&str] = &["id", "type", "name", "value", "lang"];

/// Names and prefixes of everything in the statistics.
pub(super) struct Names {
    /// Namespace of names without a prefix.
    pub(super) vocab_iri: String,
    /// Its prefix.
    pub(super) vocab_prefix: String,
    /// Other prefixes, by namespace.
    pub(super) prefixes: BTreeMap<String, String>,
    classes: HashMap<String, String>,
    properties: HashMap<String, Written>,
}

/// How a property is written.
#[derive(Clone)]
pub(super) struct Written {
    /// The key.
    pub(super) key: String,
    /// The IRI in full, when the key does not stand for it.
    pub(super) rdf_prop: Option<String>,
}

impl Names {
    pub(super) fn new(statistics: &Statistics) -> Self {
        let vocab_iri = vocabulary(statistics);
        let known = KNOWN.iter().find(|(_, namespace)| *namespace == vocab_iri);
        let vocab_prefix = known.map_or("voc", |(prefix, _)| prefix).to_owned();
        let mut names = Names {
            vocab_iri,
            vocab_prefix,
            prefixes: BTreeMap::new(),
            classes: HashMap::new(),
            properties: HashMap::new(),
        };
        let mut taken = HashSet::new();
        for iri in statistics.classes.keys() {
            let name = names.written(iri, Case::Upper, &mut taken);
            names.classes.insert(iri.clone(), name);
        }
        let properties: HashSet<&String> = statistics
            .classes
            .values()
            .flat_map(|class| class.properties.keys())
            .collect();
        let mut properties: Vec<&String> = properties.into_iter().collect();
        properties.sort();
        let mut taken = HashSet::new();
        for iri in properties {
            let key = names.written(iri, Case::Lower, &mut taken);
            let rdf_prop = (names.expand(&key).as_ref() != Some(iri)).then(|| iri.clone());
            names
                .properties
                .insert(iri.clone(), Written { key, rdf_prop });
        }
        names
    }

    /// Returns the name of a class.
    pub(super) fn class(&self, iri: &str) -> &str {
        &self.classes[iri]
    }

    /// Returns how a property is written.
    pub(super) fn property(&self, iri: &str) -> &Written {
        &self.properties[iri]
    }

    /// Returns the IRI that a name stands for.
    pub(super) fn expand(&self, name: &str) -> Option<String> {
        match name.split_once(':') {
            None => Some(format!("{}{name}", self.vocab_iri)),
            Some((prefix, local)) if prefix == self.vocab_prefix => {
                Some(format!("{}{local}", self.vocab_iri))
            }
            Some((prefix, local)) => self
                .prefixes
                .iter()
                .find(|(_, p)| *p == prefix)
                .map(|(namespace, _)| format!("{namespace}{local}")),
        }
    }

    fn written(&mut self, iri: &str, case: Case, taken: &mut HashSet<String>) -> String {
        let (namespace, local) = split(iri);
        let local = case.apply(local);
        let reserved = case == Case::Lower && RESERVED.contains(&local.as_str());
        let name = if namespace == self.vocab_iri && !reserved {
            local
        } else {
            format!("{}:{local}", self.prefix(namespace))
        };
        // Names that GraphQL could not tell apart get a number.
        let folded = |name: &str| name.replace([':', '-', '.'], "_");
        let mut unique = name.clone();
        let mut number = 2;
        while !taken.insert(folded(&unique)) {
            unique = format!("{name}{number}");
            number += 1;
        }
        unique
    }

    fn prefix(&mut self, namespace: &str) -> String {
        if namespace == self.vocab_iri {
            return self.vocab_prefix.clone();
        }
        if let Some(prefix) = self.prefixes.get(namespace) {
            return prefix.clone();
        }
        let known = KNOWN.iter().find(|(_, known)| *known == namespace);
        let mut prefix = known.map(|(prefix, _)| (*prefix).to_owned());
        // Two namespaces may be known by the same prefix.
        prefix.take_if(|prefix| self.is_taken(prefix));
        let prefix = prefix.unwrap_or_else(|| format!("ns{}", self.prefixes.len() + 1));
        self.prefixes.insert(namespace.to_owned(), prefix.clone());
        prefix
    }

    fn is_taken(&self, prefix: &str) -> bool {
        self.vocab_prefix == prefix || self.prefixes.values().any(|taken| taken == prefix)
    }
}

/// Returns the last part of an IRI.
pub(super) fn local_name(iri: &str) -> &str {
    split(iri).1
}

/// Returns the namespace that most classes and properties are in.
fn vocabulary(statistics: &Statistics) -> String {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for (iri, class) in &statistics.classes {
        for iri in class.properties.keys().chain([iri]) {
            *counts.entry(split(iri).0).or_default() += 1;
        }
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
    /// Makes a name out of a local part: letters, digits, `_`, `-` and `.` stay.
    fn apply(self, local: &str) -> String {
        let mut name: String = local
            .chars()
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
        let first = match self {
            Case::Upper => first.to_ascii_uppercase(),
            Case::Lower => first.to_ascii_lowercase(),
        };
        name.insert(0, first);
        name
    }
}
