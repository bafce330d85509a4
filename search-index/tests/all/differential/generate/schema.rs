//! Random SOML documents.

use std::fmt::Write as _;

use search_index::soml_core::datatype::Scalar;
use test_support::random::Random;

/// Analyzers of which the naive judge knows the rules, the usual one more often.
const ANALYZERS: &[&str] = &["standard", "standard", "simple", "whitespace", "keyword"];

/// Ranges of text in languages, and of dates of which only a part may be known.
const LITERALS: &[&str] = &["langString", "stringOrLangString", "dateOrYearOrMonth"];

/// Returns a document with an index of the objects `A`, or of all that `Top` is the parent of.
///
/// `A` embeds `B` and `C`, and these embed each other. Schemas of consecutive seeds have all scalars.
pub(crate) fn schema(random: &mut Random, seed: u64) -> String {
    let mut out = String::from(
        "id: /soml/random\n\
         specialPrefixes: {base_iri: 'http://e/', vocab_iri: 'http://e/', vocab_prefix: v}\n\
         types:\n  Mood: {values: [{name: GLAD}, {name: SAD}, {name: CALM}]}\n",
    );
    if random.chance(30) {
        let fetch = random.pick(&["ANY", "en~,ANY", "de,en~,NONE,ANY", "ALL:en"]);
        writeln!(out, "config: {{lang: {{fetch: '{fetch}'}}}}").expect("memory");
    }
    out.push_str("objects:\n");
    let has_parent = random.chance(30);
    if has_parent {
        let analysis = analysis(random);
        out.push_str("  Top:\n    kind: abstract\n");
        writeln!(out, "    search: {{index: yes{analysis}}}\n    props:").expect("memory");
        scalars(random, seed, "t", 3, &mut out);
    }
    for (at, name) in ["A", "B", "C"].into_iter().enumerate() {
        writeln!(out, "  {name}:").expect("memory");
        if has_parent && name != "C" {
            out.push_str("    inherits: Top\n");
        }
        let analysis = analysis(random);
        let nested = if random.chance(25) {
            ", nested: yes"
        } else {
            ""
        };
        writeln!(
            out,
            "    search: {{index: yes{nested}{analysis}}}\n    props:"
        )
        .expect("memory");
        let count = if at == 0 { 7 } else { 4 };
        scalars(
            random,
            seed + at as u64,
            &name.to_lowercase(),
            count,
            &mut out,
        );
        for target in ["A", "B", "C"] {
            let chance = if name == "A" { 85 } else { 50 };
            if target != name && random.chance(chance) {
                link(random, name, target, &mut out);
            }
        }
    }
    out
}

fn analysis(random: &mut Random) -> String {
    if random.chance(30) {
        return String::new();
    }
    let analyzer = random.pick(ANALYZERS);
    let mut languages = Vec::new();
    for tag in ["en", "en-GB", "de"] {
        if random.chance(50) {
            languages.push(format!("{tag}: {{analyzer: {}}}", random.pick(ANALYZERS)));
        }
    }
    let languages = languages.join(", ");
    format!(", analysis: {{analyzer: {analyzer}, lang: {{{languages}}}}}")
}

/// Adds properties with values.
fn scalars(random: &mut Random, seed: u64, prefix: &str, count: usize, out: &mut String) {
    for at in 0..count {
        let next = (seed as usize * 7 + at * 5) % Scalar::ALL.len();
        let range = match random.below(13) {
            0 | 1 => "string",
            2 => random.word(LITERALS),
            3 => "Mood",
            4 => "boolean",
            5 => random.word(&["unsignedLong", "unsignedLong", "long"]),
            _ => Scalar::ALL[next].soml_name(),
        };
        let max = if random.chance(50) { ", max: inf" } else { "" };
        let cast = if random.chance(10) {
            ", typeCast: true"
        } else {
            ""
        };
        let cast = if range == "Mood" || LITERALS.contains(&range) {
            ""
        } else {
            cast
        };
        let search = match (range, random.below(10)) {
            ("string", 0) => ", search: {type: keyword}".to_owned(),
            ("string", 1..4) => {
                format!(
                    ", search: {{analysis: {{analyzer: {}}}}}",
                    random.pick(ANALYZERS)
                )
            }
            _ => String::new(),
        };
        writeln!(
            out,
            "      {prefix}{at}: {{range: {range}{max}{cast}{search}}}"
        )
        .expect("memory");
    }
}

/// Adds a property that leads to objects.
fn link(random: &mut Random, from: &str, target: &str, out: &mut String) {
    let name = format!("{}{target}", from.to_lowercase());
    let max = if random.chance(65) { ", max: inf" } else { "" };
    let level = random.pick(&[
        "",
        "nestingLevel: 0",
        "nestingLevel: 1",
        "nestingLevel: 2",
        "nestingLevel: 2",
    ]);
    let ty = random.pick(&["", "", "", "", "name: object", "name: nested"]);
    let parts: Vec<&str> = [*level, *ty]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    let search = if parts.is_empty() {
        String::new()
    } else {
        format!(", search: {{type: {{{}}}}}", parts.join(", "))
    };
    writeln!(out, "      {name}: {{range: {target}{max}{search}}}").expect("memory");
}
