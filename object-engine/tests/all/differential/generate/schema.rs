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
    /// Own properties, and whether they lead to objects.
    props: Vec<(String, bool)>,
}

/// Returns a small valid document: a few objects, some abstract, some with subclasses, with
/// properties of all ranges.
pub(crate) fn schema(random: &mut Random, seed: u64) -> String {
    let mut out = String::from(
        "id: /soml/random\n\
         specialPrefixes: {base_iri: 'http://e/', vocab_iri: 'http://v/', vocab_prefix: v}\n\
         types:\n\
         \x20 Mood: {values: [{name: GLAD}, {name: SAD}, {name: CALM}]}\n\
         \x20 Mix: {union: [string, langString, integer, date]}\n\
         \x20 Loose: {union: [langString, boolean]}\n",
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
            props: Vec::new(),
        });
    }
    let without_heirs =
        |objects: &[Object], at: usize| !objects.iter().any(|object| object.parent == Some(at));
    for at in 0..count {
        if objects[at].is_abstract && without_heirs(&objects, at) {
            objects[at].is_abstract = false;
        }
    }
    let mut names = Names::default();
    let mut lines = String::from("objects:\n");
    let ranges = ranges_of(seed);
    for at in 0..count {
        let of_object = ranges.iter().skip(at).step_by(count);
        let of_object: Vec<(&str, bool)> = of_object.copied().collect();
        lines.push_str(&object(random, &mut objects, at, &of_object, &mut names));
    }
    if !names.globals.is_empty() {
        out.push_str("properties:\n");
        out.push_str(&names.globals);
    }
    out + &lines
}

/// The properties so far.
#[derive(Default)]
struct Names {
    next: usize,
    /// Global entries, a line each.
    globals: String,
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
    if random.chance(40) {
        keys.push("enableConnections: true, enableAggregates: true".to_owned());
    }
    if random.chance(25) {
        keys.push("nullJsonArrays: true".to_owned());
    }
    let mut lang = Vec::new();
    if random.chance(30) {
        let spec = random.choose(&["en,ANY", "en", "ALL", "de~,NONE", "BROWSER,ANY", "-en"]);
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
    names: &mut Names,
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
    // Mostly one name property for all, now and then another.
    let is_titled = random.chance(15);
    if objects[at].named {
        let name = if is_titled { "v:title" } else { "v:label" };
        let _ = writeln!(lines, "    name: {name}");
    }
    lines.push_str("    props:\n");
    if objects[at].named && !is_titled && random.chance(50) {
        lines.push_str("      v:label: {range: string}\n");
    }
    overrides(random, objects, at, &mut lines);
    let mut add = |keys: &dyn Fn(&mut Random, &mut [Object], &str) -> String| {
        let name = format!("p{}", names.next);
        names.next += 1;
        let mut keys = keys(random, objects, &name);
        let leads = keys.starts_with("range: T");
        objects[at].props.push((name.clone(), leads));
        if leads && random.chance(25) {
            let (global, own) = split(random, &keys, &name);
            let _ = writeln!(names.globals, "  {name}: {{{global}}}");
            keys = own;
        }
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
            5 => random.choose(&["Mix", "Loose"]),
            _ => random.pick(Scalar::ALL).soml_name(),
        };
        values(random, range, multiple)
    });
    lines
}

/// Writes entries for inherited properties that store or read them otherwise than the superclass.
fn overrides(random: &mut Random, objects: &[Object], at: usize, lines: &mut String) {
    let above = std::iter::successors(objects[at].parent, |&above| objects[above].parent);
    let inherited: Vec<&(String, bool)> = above.flat_map(|above| &objects[above].props).collect();
    for (name, leads) in inherited {
        if !random.chance(20) {
            continue;
        }
        let key = match (leads, random.below(6)) {
            (true, 0) => "rangeCheck: true".to_owned(),
            (true, 1) => "inverseAlias: null".to_owned(),
            (false, 0) => "typeCast: true".to_owned(),
            (false, 1) => "lang: 'de,en~'".to_owned(),
            _ => format!("rdfProp: v:{name}of{}", objects[at].name),
        };
        let _ = writeln!(lines, "      {name}: {{{key}}}");
    }
}

/// Divides the keys of a property between a global entry and the object's own; now and then both say
/// how values are reached.
fn split(random: &mut Random, keys: &str, name: &str) -> (String, String) {
    let (global, own): (Vec<&str>, Vec<&str>) = keys
        .split(", ")
        .partition(|key| key.starts_with("range: ") || random.chance(50));
    let (mut global, mut own) = (global.join(", "), own.join(", "));
    let has_way = |keys: &str| keys.contains("rdfProp") || keys.contains("inverseAlias");
    if has_way(&global) && random.chance(60) {
        let comma = if own.is_empty() { "" } else { ", " };
        let key = if global.contains("inverseAlias") && random.chance(30) {
            "inverseAlias: null".to_owned()
        } else {
            format!("rdfProp: v:{name}own")
        };
        own = format!("{own}{comma}{key}");
    } else if has_way(&own) && random.chance(60) {
        global = format!("{global}, rdfProp: v:{name}global");
    }
    (global, own)
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
    let is_text = range.ends_with("tring") || ["Mix", "Loose", "literal"].contains(&range);
    if is_text && random.chance(25) {
        let spec = random.choose(&["en,ANY", "ALL,-de", "ALL:de,en", "NONE", "en~", "de,-NONE"]);
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
