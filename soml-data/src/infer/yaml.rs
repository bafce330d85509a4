//! The document that is written.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

use soml_core::is_absolute_iri;

use super::InferOptions;
use super::hierarchy::Superclass;
use super::layout::Layout;
use super::name::{Names, Renames, Written};
use super::range::{InferredRange, range};
use super::statistics::{Class, Kind, Property, Statistics};

/// A document, and where its classes and properties are.
pub(super) struct Draft {
    pub(super) yaml: String,
    /// Number of objects.
    pub(super) objects: usize,
    /// Number of properties of all objects.
    pub(super) properties: usize,
    /// In the order of their beginnings.
    places: Vec<(Range<usize>, Element)>,
}

/// What a part of a document is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Element {
    pub(super) kind: ElementKind,
    pub(super) iri: String,
    /// The name in the document.
    pub(super) name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ElementKind {
    Class,
    Property,
}

impl Draft {
    /// Returns what stands at a place of the document.
    pub(super) fn element(&self, offset: usize) -> Option<&Element> {
        let before = self
            .places
            .partition_point(|(place, _)| place.start <= offset);
        let mut around = self.places[..before].iter().rev();
        let nearest = around.find(|(place, _)| place.contains(&offset))?;
        Some(&nearest.1)
    }
}

/// Writes the document; `notes` say what is not in it.
pub(super) fn document(
    statistics: &Statistics,
    options: &InferOptions,
    renames: &Renames,
    notes: &[String],
) -> Draft {
    let names = Names::new(statistics, &options.prefixes, renames);
    let mut writer = Writer {
        out: String::new(),
        statistics,
        names: &names,
        layout: Layout::new(statistics),
        properties: 0,
        places: Vec::new(),
    };
    for note in notes {
        writer.line(0, &format!("# {note}"), "");
    }
    writer.head(options);
    writer.global_properties();
    writer.line(0, "objects:", "");
    if statistics.classes.is_empty() {
        writer.line(1, "{}", "the data has no typed IRIs");
    }
    for (iri, class) in &statistics.classes {
        writer.class(iri, class);
    }
    writer.places.sort_by_key(|(place, _)| place.start);
    Draft {
        yaml: writer.out,
        objects: statistics.classes.len(),
        properties: writer.properties,
        places: writer.places,
    }
}

struct Writer<'a> {
    out: String,
    statistics: &'a Statistics,
    names: &'a Names<'a>,
    layout: Layout<'a>,
    properties: usize,
    places: Vec<(Range<usize>, Element)>,
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
        let prefix = scalar(&self.names.vocab_prefix);
        self.line(1, &format!("vocab_prefix: {prefix}"), "");
        let prefixes = self.names.prefixes.clone();
        if !prefixes.is_empty() {
            self.line(0, "prefixes:", "");
        }
        for (namespace, prefix) in prefixes {
            let (prefix, namespace) = (scalar(&prefix), scalar(&namespace));
            self.line(1, &format!("{prefix}: {namespace}"), "");
        }
    }

    /// Writes how properties are described, once for all objects that have them.
    fn global_properties(&mut self) {
        let classes = self.statistics.classes.keys();
        let all: BTreeSet<&str> = classes
            .flat_map(|class| self.layout.declared(class))
            .collect();
        let mut is_first = true;
        for iri in all {
            let written = self.names.property(iri);
            let keys = self.description(iri, written);
            if keys.is_empty() {
                continue;
            }
            if std::mem::take(&mut is_first) {
                self.line(0, "properties:", "");
            }
            let text = format!("{}: {{{}}}", scalar(&written.name), keys.join(", "));
            let element = Element::new(ElementKind::Property, iri, written);
            let start = self.out.len();
            self.line(1, &text, "");
            self.places.push((start..self.out.len(), element));
        }
    }

    /// Returns the keys that describe a class or a property.
    fn description(&self, iri: &str, written: &Written) -> Vec<String> {
        let descriptions = &self.statistics.descriptions;
        let said = descriptions.label(iri).or(written.label.as_deref());
        let label = said.filter(|label| *label != local(&written.name));
        let label = label.map(|label| format!("label: {}", scalar(label)));
        let description = descriptions
            .description(iri)
            .map(|text| format!("descr: {}", scalar(text)));
        label.into_iter().chain(description).collect()
    }

    fn class(&mut self, iri: &str, class: &Class) {
        let start = self.out.len();
        let written = self.names.class(iri);
        self.line(
            1,
            &format!("{}:", scalar(&written.name)),
            &count(class.instances, "instance"),
        );
        for key in self.description(iri, written) {
            self.line(2, &key, "");
        }
        if class.is_abstract {
            self.line(2, "kind: abstract", "no IRI has it as its type");
        } else if let Some(iri) = &written.iri {
            self.line(2, &format!("type: [{}]", scalar(iri)), "");
        }
        if let Some(parent) = &class.parent {
            let name = scalar(&self.names.class(&parent.class).name);
            self.line(2, &format!("inherits: {name}"), &reason(parent));
        }
        if let Some(prefix) = self.own_prefix(iri) {
            self.line(2, &format!("prefix: {}", scalar(prefix)), "");
        }
        if let Some(property) = self.layout.name(iri) {
            let key = &self.names.property(property).name;
            let name = scalar(&qualified(self.names, key));
            self.line(2, &format!("name: {name}"), "");
        }
        self.class_properties(iri, class);
        let element = Element::new(ElementKind::Class, iri, written);
        self.places.push((start..self.out.len(), element));
    }

    fn class_properties(&mut self, iri: &str, class: &Class) {
        let declared: Vec<&str> = self.layout.declared(iri).collect();
        self.properties += declared.len();
        if !declared.is_empty() {
            self.line(2, "props:", "");
        }
        for iri in declared {
            self.property(iri, &class.properties[iri], class);
        }
        let hidden: Vec<String> = self
            .layout
            .hidden(iri)
            .map(|(iri, property)| {
                let values = count(property.values, "value");
                let subjects = count(property.subjects, "instance");
                format!("# <{iri}> is left out: {values} of {subjects}, only blank nodes, which are not shown")
            })
            .collect();
        for comment in hidden {
            self.line(2, &comment, "");
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
        let written = self.names.property(iri);
        let Some(range) = range(property, self.statistics) else {
            return;
        };
        let reach = property.reach(&range);
        let mut keys = Vec::new();
        match range {
            InferredRange::Datatype("string") => {}
            InferredRange::Datatype(name) => keys.push(format!("range: {name}")),
            InferredRange::Class(class) => {
                keys.push(format!("range: {}", scalar(&self.names.class(&class).name)));
            }
        }
        if reach.subjects == class.instances {
            keys.push("min: 1".to_owned());
        }
        if reach.most > 1 {
            keys.push("max: inf".to_owned());
        }
        keys.extend(
            written
                .iri
                .as_deref()
                .map(|iri| format!("rdfProp: {}", scalar(iri))),
        );
        let text = format!("{}: {{{}}}", scalar(&written.name), keys.join(", "));
        let element = Element::new(ElementKind::Property, iri, written);
        let start = self.out.len();
        self.line(3, &text, &self.counts(property));
        self.places.push((start..self.out.len(), element));
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
            .map(|(kind, count)| format!("{} {count}{}", kind_name(kind), remark(kind)))
            .collect();
        let classes: Vec<String> = property
            .targets
            .iter()
            .take(5)
            .map(|(class, count)| format!("{} {count}", self.names.class(class).name))
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

impl Element {
    fn new(kind: ElementKind, iri: &str, written: &Written) -> Self {
        Element {
            kind,
            iri: iri.to_owned(),
            name: written.name.clone(),
        }
    }
}

/// Returns a name without its prefix.
fn local(name: &str) -> &str {
    name.split_once(':').map_or(name, |(_, local)| local)
}

/// Returns the remark for values that the API does not show.
fn remark(kind: &Kind) -> &'static str {
    match kind {
        Kind::Blank => " (not shown)",
        _ => "",
    }
}

/// Returns what the IRIs of all instances start with, when it says more than whose they are.
fn id_prefix(class: &Class) -> Option<&str> {
    let common = class.prefix.as_deref().filter(|_| class.instances > 1)?;
    let prefix = &common[..=common.rfind(['/', '#'])?];
    let path = prefix.split_once("://")?.1.split_once('/')?.1;
    (!path.is_empty() && is_absolute_iri(prefix)).then_some(prefix)
}

/// Describes why a class inherits from another.
fn reason(parent: &Superclass) -> String {
    match parent.shared {
        None => "by rdfs:subClassOf".to_owned(),
        Some((both, all)) if both == all => "all instances are of both classes".to_owned(),
        Some((both, all)) => format!("{both} of {} are of both classes", count(all, "instance")),
    }
}

/// Writes a name with its prefix, so that it cannot be taken for a field of the API.
fn qualified(names: &Names<'_>, key: &str) -> String {
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
        let quoted = serde_json::to_string(text).expect("a string is JSON");
        escaped(&quoted)
    }
}

/// Escapes what JSON allows in a string and YAML does not, or takes for the end of a line.
fn escaped(json: &str) -> String {
    let is_unfit = |c: char| {
        matches!(
            c,
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        )
    };
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if is_unfit(c) {
            write!(text, "\\u{:04X}", u32::from(c)).expect("writing to a string");
        } else {
            text.push(c);
        }
    }
    text
}
