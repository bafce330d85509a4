//! The document that is written.

use std::fmt::Write as _;

use super::hierarchy::Superclass;
use super::layout::Layout;
use super::name::Names;
use super::range::{InferredRange, range};
use super::statistics::{Class, Kind, Property, Statistics};
use super::{InferOptions, Inferred};

/// Writes the document.
pub(super) fn document(statistics: &Statistics, options: &InferOptions) -> Inferred {
    let names = Names::new(statistics);
    let mut writer = Writer {
        out: String::new(),
        statistics,
        names: &names,
        layout: Layout::new(statistics),
        properties: 0,
    };
    writer.head(options);
    writer.line(0, "objects:", "");
    if statistics.classes.is_empty() {
        writer.line(1, "{}", "the data has no typed IRIs");
    }
    for (iri, class) in &statistics.classes {
        writer.class(iri, class);
    }
    Inferred {
        yaml: writer.out,
        objects: statistics.classes.len(),
        properties: writer.properties,
    }
}

struct Writer<'a> {
    out: String,
    statistics: &'a Statistics,
    names: &'a Names,
    layout: Layout<'a>,
    properties: usize,
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
        if class.is_abstract {
            self.line(2, "kind: abstract", "no IRI has it as its type");
        } else if self.names.expand(&name).as_deref() != Some(iri) {
            self.line(2, &format!("type: [{}]", scalar(iri)), "");
        }
        if let Some(parent) = &class.parent {
            let name = scalar(self.names.class(&parent.class));
            self.line(2, &format!("inherits: {name}"), &reason(parent));
        }
        if let Some(prefix) = self.own_prefix(iri) {
            self.line(2, &format!("prefix: {}", scalar(prefix)), "");
        }
        if let Some(property) = self.layout.name(iri) {
            let key = self.names.property(property).key.clone();
            self.line(
                2,
                &format!("name: {}", scalar(&qualified(self.names, &key))),
                "",
            );
        }
        let declared: Vec<&str> = self.layout.declared(iri).collect();
        if declared.is_empty() {
            return;
        }
        self.properties += declared.len();
        self.line(2, "props:", "");
        for iri in declared {
            self.property(iri, &class.properties[iri], class);
        }
    }

    /// Returns what the IRIs of all instances start with, unless it is inherited.
    fn own_prefix(&self, iri: &str) -> Option<&str> {
        let statistics: &Statistics = self.statistics;
        let mut lineage = statistics
            .lineage(iri)
            .map(|iri| id_prefix(&statistics.classes[iri]));
        let own = lineage.next().flatten()?;
        (lineage.flatten().next() != Some(own)).then_some(own)
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

/// Says why a class inherits from another.
fn reason(parent: &Superclass) -> String {
    match parent.shared {
        None => "by rdfs:subClassOf".to_owned(),
        Some((both, all)) if both == all => "all instances are of both classes".to_owned(),
        Some((both, all)) => format!("{both} of {} are of both classes", count(all, "instance")),
    }
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
