//! The document that is written.

use std::fmt::Write as _;

use super::name::Names;
use super::range::{InferredRange, range};
use super::statistics::{Class, Kind, Property, Statistics};
use super::{InferOptions, Inferred};

/// Properties that usually hold the name of a thing, best first.
const NAME_PROPERTIES: &[&str] = &[
    "http://www.w3.org/2000/01/rdf-schema#label",
    "http://www.w3.org/2004/02/skos/core#prefLabel",
    "http://schema.org/name",
    "http://xmlns.com/foaf/0.1/name",
    "http://purl.org/dc/terms/title",
    "http://purl.org/dc/elements/1.1/title",
];

/// Writes the document.
pub(super) fn document(statistics: &Statistics, options: &InferOptions) -> Inferred {
    let names = Names::new(statistics);
    let mut writer = Writer {
        out: String::new(),
        statistics,
        names: &names,
    };
    writer.head(options);
    let mut properties = 0;
    writer.line(0, "objects:", "");
    if statistics.classes.is_empty() {
        writer.line(1, "{}", "the data has no typed IRIs");
    }
    for (iri, class) in &statistics.classes {
        properties += class.properties.len();
        writer.class(iri, class);
    }
    Inferred {
        yaml: writer.out,
        objects: statistics.classes.len(),
        properties,
    }
}

struct Writer<'a> {
    out: String,
    statistics: &'a Statistics,
    names: &'a Names,
}

impl Writer<'_> {
    fn line(&mut self, depth: usize, text: &str, comment: &str) {
        let indent = "  ".repeat(depth);
        let comment = if comment.is_empty() {
            String::new()
        } else {
            format!("  # {comment}")
        };
        writeln!(self.out, "{indent}{text}{comment}").expect("writing to a string");
    }

    fn head(&mut self, options: &InferOptions) {
        self.line(0, &format!("id: {}", scalar(&options.id)), "");
        self.line(0, "specialPrefixes:", "");
        self.line(
            1,
            &format!("vocab_iri: {}", scalar(&self.names.vocab_iri)),
            "",
        );
        self.line(1, &format!("vocab_prefix: {}", self.names.vocab_prefix), "");
        let prefixes = self.names.prefixes.clone();
        if !prefixes.is_empty() {
            self.line(0, "prefixes:", "");
        }
        for (namespace, prefix) in prefixes {
            self.line(1, &format!("{prefix}: {}", scalar(&namespace)), "");
        }
    }

    fn class(&mut self, iri: &str, class: &Class) {
        let name = self.names.class(iri).to_owned();
        self.line(
            1,
            &format!("{}:", scalar(&name)),
            &count(class.instances, "instance"),
        );
        if self.names.expand(&name).as_deref() != Some(iri) {
            self.line(2, &format!("type: [{}]", scalar(iri)), "");
        }
        if let Some(prefix) = id_prefix(class) {
            self.line(2, &format!("prefix: {}", scalar(prefix)), "");
        }
        if let Some(property) = name_property(class) {
            let key = self.names.property(property).key.clone();
            self.line(
                2,
                &format!("name: {}", scalar(&qualified(self.names, &key))),
                "",
            );
        }
        if class.properties.is_empty() {
            return;
        }
        self.line(2, "props:", "");
        for (iri, property) in &class.properties {
            self.property(iri, property, class);
        }
    }

    fn property(&mut self, iri: &str, property: &Property, class: &Class) {
        let written = self.names.property(iri).clone();
        let mut keys = Vec::new();
        match range(property, self.statistics) {
            InferredRange::Datatype("string") => {}
            InferredRange::Datatype(name) => keys.push(format!("range: {name}")),
            InferredRange::Class(class) => {
                keys.push(format!("range: {}", scalar(self.names.class(&class))));
            }
        }
        if property.subjects == class.instances {
            keys.push("min: 1".to_owned());
        }
        if property.most > 1 {
            keys.push("max: inf".to_owned());
        }
        keys.extend(
            written
                .rdf_prop
                .map(|iri| format!("rdfProp: {}", scalar(&iri))),
        );
        let text = format!("{}: {{{}}}", scalar(&written.key), keys.join(", "));
        self.line(3, &text, &self.counts(property));
    }

    /// Describes the values of a property.
    fn counts(&self, property: &Property) -> String {
        let mut text = format!(
            "{} of {}",
            count(property.values, "value"),
            count(property.subjects, "instance")
        );
        let kinds: Vec<String> = property
            .kinds
            .iter()
            .map(|(kind, count)| format!("{} {count}", kind_name(kind)))
            .collect();
        let classes: Vec<String> = property
            .targets
            .iter()
            .take(5)
            .map(|(class, count)| format!("{} {count}", self.names.class(class)))
            .collect();
        if kinds.len() > 1 {
            write!(text, "; {}", kinds.join(", ")).expect("writing to a string");
        }
        if classes.len() > 1 {
            let more = if property.targets.len() > 5 {
                ", …"
            } else {
                ""
            };
            write!(text, "; of class {}{more}", classes.join(", ")).expect("writing to a string");
        }
        text
    }
}

/// Returns what the IRIs of all instances start with, when it says more than whose they are.
fn id_prefix(class: &Class) -> Option<&str> {
    let common = class.prefix.as_deref().filter(|_| class.instances > 1)?;
    let prefix = &common[..=common.rfind(['/', '#'])?];
    let path = prefix.split_once("://")?.1.split_once('/')?.1;
    (!path.is_empty()).then_some(prefix)
}

/// Returns the property that names nearly all instances.
fn name_property(class: &Class) -> Option<&'static str> {
    NAME_PROPERTIES.iter().copied().find(|iri| {
        class.properties.get(*iri).is_some_and(|property| {
            let texts = property.kinds.iter().filter(|(kind, _)| match kind {
                Kind::LangString => true,
                Kind::Literal(iri) => iri == "http://www.w3.org/2001/XMLSchema#string",
                _ => false,
            });
            let texts: u64 = texts.map(|(_, count)| count).sum();
            texts == property.values && property.subjects * 10 >= class.instances * 9
        })
    })
}

/// Writes a name with its prefix, so that it cannot be taken for a field of the API.
fn qualified(names: &Names, key: &str) -> String {
    if key.contains(':') {
        key.to_owned()
    } else {
        format!("{}:{key}", names.vocab_prefix)
    }
}

fn kind_name(kind: &Kind) -> String {
    match kind {
        Kind::Object => "objects".to_owned(),
        Kind::Iri => "other IRIs".to_owned(),
        Kind::Blank => "blank nodes".to_owned(),
        Kind::LangString => "langString".to_owned(),
        Kind::Literal(iri) => {
            let short = iri.strip_prefix("http://www.w3.org/2001/XMLSchema#");
            short.map_or_else(|| format!("<{iri}>"), |name| format!("xsd:{name}"))
        }
    }
}

fn count(number: u64, of: &str) -> String {
    if number == 1 {
        format!("1 {of}")
    } else {
        format!("{number} {of}s")
    }
}

/// Writes a YAML scalar, quoted unless it is plainly a name.
fn scalar(text: &str) -> String {
    let plain = text
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/' | '.'))
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && ![
            "true", "false", "yes", "no", "on", "off", "null", "inf", "y", "n",
        ]
        .contains(&text.to_ascii_lowercase().as_str());
    if plain {
        text.to_owned()
    } else {
        serde_json::to_string(text).expect("a string is JSON")
    }
}
