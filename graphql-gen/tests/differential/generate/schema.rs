//! Random SOML documents.

use std::fmt::Write as _;

use soml_core::datatype::Scalar;

use crate::random::Random;

/// The namespace of classes and properties.
pub(crate) const VOCABULARY: &str = "http://v/";

struct Object {
    name: String,
    is_abstract: bool,
    parent: Option<usize>,
    named: bool,
    /// Properties that lead to an object of a range and are walked forwards.
    links: Vec<(String, usize)>,
}

/// Returns a small valid document: a few objects, some abstract, some with subclasses, with
/// properties of all ranges.
pub(crate) fn schema(random: &mut Random) -> String {
    let mut out = String::from(
        "id: /soml/random\n\
         specialPrefixes: {base_iri: 'http://e/', vocab_iri: 'http://v/', vocab_prefix: v}\n\
         types: {Mood: {values: [{name: GLAD}, {name: SAD}, {name: CALM}]}}\n",
    );
    config(random, &mut out);
    let count = random.between(3, 5);
    let mut objects: Vec<Object> = Vec::new();
    for position in 0..count {
        let parent = (position > 0 && random.chance(55)).then(|| random.below(position));
        objects.push(Object {
            name: format!("T{position}"),
            is_abstract: random.chance(35),
            parent,
            named: random.chance(50),
            links: Vec::new(),
        });
    }
    let without_heirs =
        |objects: &[Object], at: usize| !objects.iter().any(|object| object.parent == Some(at));
    for at in 0..count {
        if objects[at].is_abstract && without_heirs(&objects, at) {
            objects[at].is_abstract = false;
        }
    }
    out.push_str("objects:\n");
    let mut property = 0;
    for at in 0..count {
        let lines = object(random, &mut objects, at, &mut property);
        out.push_str(&lines);
    }
    out
}

fn config(random: &mut Random, out: &mut String) {
    let mut keys = Vec::new();
    if random.chance(25) {
        keys.push("nullJsonArrays: true".to_owned());
    }
    let mut lang = Vec::new();
    if random.chance(30) {
        let spec = random.choose(&["en,ANY", "ALL", "de~,NONE", "BROWSER,ANY", "-en"]);
        lang.push(format!("fetch: '{spec}'"));
    }
    if random.chance(20) {
        let spec = random.choose(&["en,ANY", "de", "NONE,ANY"]);
        lang.push(format!("defaultNameFetch: '{spec}'"));
    }
    if random.chance(15) {
        lang.push("appendDefaultNameFetch: false".to_owned());
    }
    if !lang.is_empty() {
        keys.push(format!("lang: {{{}}}", lang.join(", ")));
    }
    if !keys.is_empty() {
        let _ = writeln!(out, "config: {{{}}}", keys.join(", "));
    }
}

fn object(random: &mut Random, objects: &mut [Object], at: usize, next: &mut usize) -> String {
    let mut lines = format!("  {}:\n", objects[at].name);
    if objects[at].is_abstract {
        lines.push_str("    kind: abstract\n");
    }
    if let Some(parent) = objects[at].parent {
        let _ = writeln!(lines, "    inherits: {}", objects[parent].name);
    } else if random.chance(20) {
        // Inherited by all objects below.
        lines.push_str("    typeProp: v:kind\n");
    }
    let name = &objects[at].name;
    match (objects[at].is_abstract, random.below(10)) {
        (true, 0..6) | (false, 0..7) => {}
        (_, 9) => {
            let _ = writeln!(lines, "    type: [v:{name}, v:{name}b]");
        }
        _ => {
            let _ = writeln!(lines, "    type: v:{name}");
        }
    }
    // One name property for all, so that objects of different types can be ordered by it.
    if objects[at].named {
        lines.push_str("    name: v:label\n");
    }
    lines.push_str("    props:\n");
    if objects[at].named && random.chance(50) {
        lines.push_str("      v:label: {range: string}\n");
    }
    for _ in 0..random.between(2, 5) {
        let name = format!("p{next}");
        *next += 1;
        let keys = property(random, objects, at, &name);
        let _ = writeln!(lines, "      {name}: {{{keys}}}");
    }
    lines
}

fn property(random: &mut Random, objects: &mut [Object], at: usize, name: &str) -> String {
    let mut keys: Vec<String> = Vec::new();
    let multiple = random.chance(50);
    let is_object = random.chance(35);
    if is_object {
        let inverse = objects
            .iter()
            .enumerate()
            .flat_map(|(owner, object)| object.links.iter().map(move |link| (owner, link)))
            .filter(|(_, (_, range))| *range == at)
            .map(|(owner, (link, _))| (owner, link.clone()))
            .collect::<Vec<_>>();
        match random.some(&inverse) {
            Some((owner, link)) if random.chance(60) => {
                keys.push(format!("range: {}", objects[*owner].name));
                keys.push(format!("inverseAlias: {link}"));
            }
            _ => {
                let range = random.below(objects.len());
                keys.push(format!("range: {}", objects[range].name));
                objects[at].links.push((name.to_owned(), range));
                if random.chance(10) {
                    keys.push("rdfProp: rdf:type".to_owned());
                }
            }
        }
        if random.chance(40) {
            keys.push("rangeCheck: true".to_owned());
        }
    } else {
        let range = match random.below(10) {
            0 => "Mood",
            1 => "langString",
            2 => "stringOrLangString",
            3 => random.choose(&["literal", "dateOrYearOrMonth"]),
            4 => "string",
            _ => random.pick(Scalar::ALL).soml_name(),
        };
        keys.push(format!("range: {range}"));
        if range.ends_with("tring") && random.chance(25) {
            let spec = random.choose(&["en,ANY", "ALL,-de", "ALL:de,en", "NONE", "en~"]);
            keys.push(format!("lang: '{spec}'"));
        }
    }
    if multiple {
        keys.push(format!("max: {}", random.choose(&["inf", "3"])));
        if random.chance(8) {
            keys.push("nonNullableElements: true".to_owned());
        }
    } else if random.chance(5) {
        keys.push("nonNullable: true".to_owned());
    }
    keys.join(", ")
}
