//! Random SOML documents.

use std::fmt::Write as _;

use soml_core::datatype::Scalar;

use super::steering::PERIOD;
use crate::differential::random::Random;

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
pub(crate) fn schema(random: &mut Random, seed: u64) -> String {
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
    let ranges = ranges_of(seed);
    for at in 0..count {
        let of_object = ranges.iter().skip(at).step_by(count);
        let of_object: Vec<(&str, bool)> = of_object.copied().collect();
        let lines = object(random, &mut objects, at, &of_object, &mut property);
        out.push_str(&lines);
    }
    out
}

/// The ranges of values, and whether there may be several, that the schema of a seed has in any
/// case; consecutive seeds have them all.
fn ranges_of(seed: u64) -> Vec<(&'static str, bool)> {
    let literals = [
        "langString",
        "stringOrLangString",
        "literal",
        "dateOrYearOrMonth",
    ];
    let scalars = Scalar::ALL.iter().map(|scalar| scalar.soml_name());
    let all: Vec<&str> = scalars.chain(["Mood"]).chain(literals).collect();
    let both = [false, true].into_iter();
    let all: Vec<(&str, bool)> = both
        .flat_map(|multiple| all.iter().map(move |range| (*range, multiple)))
        .collect();
    let period = usize::try_from(PERIOD).expect("a small number");
    let at = usize::try_from(seed % PERIOD).expect("a small number");
    all.into_iter().skip(at).step_by(period).collect()
}

fn config(random: &mut Random, out: &mut String) {
    let mut keys = Vec::new();
    if random.chance(50) {
        keys.push("enableCollectionCount: true, enableTypeCount: true".to_owned());
    }
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

fn object(
    random: &mut Random,
    objects: &mut [Object],
    at: usize,
    ranges: &[(&str, bool)],
    next: &mut usize,
) -> String {
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
    let mut add = |keys: &dyn Fn(&mut Random, &mut [Object], &str) -> String| {
        let name = format!("p{next}");
        *next += 1;
        let keys = keys(random, objects, &name);
        let _ = writeln!(lines, "      {name}: {{{keys}}}");
    };
    // Every object leads to others in both ways, so that conditions nest everywhere.
    for multiple in [false, true] {
        add(&|random, objects, name| link(random, objects, at, name, multiple));
    }
    for &(range, multiple) in ranges {
        add(&|random, _, _| values(random, range, multiple));
    }
    add(&|random, objects, name| {
        let multiple = random.chance(50);
        if random.chance(35) {
            return link(random, objects, at, name, multiple);
        }
        let range = match random.below(10) {
            0 => "Mood",
            1 => "langString",
            2 => "stringOrLangString",
            3 => random.choose(&["literal", "dateOrYearOrMonth"]),
            4 => "string",
            _ => random.pick(Scalar::ALL).soml_name(),
        };
        values(random, range, multiple)
    });
    lines
}

/// The keys of a property that leads to objects.
fn link(
    random: &mut Random,
    objects: &mut [Object],
    at: usize,
    name: &str,
    multiple: bool,
) -> String {
    let mut keys: Vec<String> = Vec::new();
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
            // Each object leads to the next one, so that all are reached.
            let next = (at + 1) % objects.len();
            let range = if multiple {
                next
            } else {
                random.below(objects.len())
            };
            keys.push(format!("range: {}", objects[range].name));
            objects[at].links.push((name.to_owned(), range));
            if random.chance(10) {
                keys.push("rdfProp: rdf:type".to_owned());
            } else if random.chance(30) {
                keys.push("symmetric: true".to_owned());
            }
        }
    }
    if random.chance(40) {
        keys.push("rangeCheck: true".to_owned());
    }
    cardinality(random, &mut keys, multiple);
    keys.join(", ")
}

/// The keys of a property whose values are no objects.
fn values(random: &mut Random, range: &str, multiple: bool) -> String {
    let mut keys = vec![format!("range: {range}")];
    if range.ends_with("tring") && random.chance(25) {
        let spec = random.choose(&["en,ANY", "ALL,-de", "ALL:de,en", "NONE", "en~"]);
        keys.push(format!("lang: '{spec}'"));
    }
    let casts = Scalar::from_soml_name(range).is_some() || range == "Mood";
    if casts && random.chance(20) {
        keys.push("typeCast: true".to_owned());
    }
    cardinality(random, &mut keys, multiple);
    keys.join(", ")
}

fn cardinality(random: &mut Random, keys: &mut Vec<String>, multiple: bool) {
    if multiple {
        keys.push(format!("max: {}", random.choose(&["inf", "3"])));
        if random.chance(8) {
            keys.push("nonNullableElements: true".to_owned());
        }
    } else if random.chance(5) {
        keys.push("nonNullable: true".to_owned());
    }
}
