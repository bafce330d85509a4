//! Random roles, callers, data and searches over one model.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};
use test_support::random::Random;

use super::Asker;

/// The objects, without roles.
pub(super) const MODEL: &str = "
id: /soml/works
specialPrefixes: {base_iri: 'http://e/', vocab_iri: 'http://v/', vocab_prefix: v}
config: {search: {index: yes, type: {nestingLevel: 2}}, enableAggregates: true, enableCollectionCount: true, enableTypeCount: true}
objects:
  Work:
    kind: abstract
    props:
      title: {}
      note: {range: stringOrLangString, max: inf}
      owner: {range: iri}
      public: {range: boolean}
      pages: {range: int}
      weight: {range: decimal}
      team: {max: inf}
      written: {range: dateTime}
      by: {range: Author, max: inf}
  Book:
    inherits: Work
    props:
      price: {range: int}
      sequel: {range: Work}
  Letter:
    inherits: Work
    props:
      to: {range: Author}
  Author:
    props:
      label: {}
      level: {range: int}
      works: {range: Work, inverseAlias: by, max: inf}
";

const PROPERTIES: &[&str] = &[
    "Work/title",
    "Work/note",
    "Work/owner",
    "Work/public",
    "Work/pages",
    "Work/weight",
    "Work/team",
    "Work/written",
    "Work/by",
    "Book/price",
    "Book/sequel",
    "Letter/to",
    "Author/label",
    "Author/level",
    "Author/works",
    "*/id",
    "*/type",
    "Work/id",
    "Book/title",
    "Letter/team",
    "Book/*",
    "Work/*",
    "Author/*",
    "Letter/*",
    "*/*",
    "*/__typename",
];

const CONDITIONS: &[(&str, &[&str])] = &[
    (
        "Work",
        &[
            "{public: {EQ: true}}",
            "{owner: {EQ: $claims.sub}}",
            "{team: {IN: $claims.teams}}",
            "{pages: {LT: $claims.level}}",
            "{NOT: {team: {EQ: $claims.team}}}",
            "{OR: [{public: {EQ: true}}, {owner: {EQ: $claims.sub}}]}",
            "{title: {RE: 'a'}, public: {NEQ: false}}",
            "{by: {level: {GTE: $claims.level}}}",
            "{by: {ID: $claims.author}}",
            "{by: {label: {EQ: b}}}",
            "{ID: $claims.works}",
            "{team: {NIN: $claims.teams}}",
            "{weight: {LTE: $claims.level}}",
            "{note: {value: {EQ: $claims.team}}}",
            "{written: {EQ: $claims.time}}",
            "{by: {works: {public: {EQ: true}}}}",
            "{by: {works: {team: {EQ: $claims.team}}}}",
            "{pages: {}, AND: [{NOT: {owner: {EQ: $claims.sub}}}, {weight: {}}]}",
        ],
    ),
    (
        "Book",
        &[
            "{price: {LT: 3}}",
            "{price: {GT: $claims.level}}",
            "{sequel: {public: {EQ: true}}}",
            "{NOT: {sequel: {}}}",
        ],
    ),
    (
        "Letter",
        &["{to: {ID: $claims.author}}", "{to: {level: {LT: 3}}}"],
    ),
    (
        "Author",
        &[
            "{level: {LT: $claims.level}}",
            "{label: {NEQ: a}}",
            "{works: {public: {EQ: true}}}",
            "{id: {EQ: $claims.author}}",
        ],
    ),
];

/// Makes a section of roles.
pub(super) fn section(random: &mut Random) -> String {
    let mut section = "rbac:\n  roles:\n".to_owned();
    for role in 0..3 {
        let mut actions: Vec<String> = Vec::new();
        if random.chance(60) {
            actions.push("'*/*/read'".to_owned());
        }
        for _ in 0..random.between(1, 5) {
            actions.push(format!("'{}/read'", random.word(PROPERTIES)));
        }
        let mut cuts: Vec<String> = Vec::new();
        for _ in 0..random.below(4) {
            let cut = random.word(&PROPERTIES[..PROPERTIES.len() - 7]);
            cuts.push(format!("'{cut}/read'"));
        }
        let _ = write!(
            section,
            "    R{role}:\n      actions: [{}]\n      notActions: [{}]\n",
            actions.join(", "),
            cuts.join(", ")
        );
        if random.chance(75) {
            section += "      filters:\n";
            let first = random.below(CONDITIONS.len());
            for at in 0..random.between(1, 2) {
                let (object, conditions) = CONDITIONS[(first + at) % CONDITIONS.len()];
                let condition = random.word(conditions);
                let _ = writeln!(section, "        {object}: {{read: {condition}}}");
            }
        }
    }
    section
}

/// Makes a caller.
pub(super) fn asker(random: &mut Random) -> Asker {
    let mut roles = vec![random.word(&["R0", "R1", "R2"])];
    if random.chance(40) {
        roles.push(random.word(&["R0", "R1", "R2"]));
    }
    let mut claims = json!({
        "sub": format!("http://e/{}", random.word(&["ann", "bob"])),
        "teams": random.choose(&[&["x"][..], &["x", "y"], &[]]),
        "team": random.word(&["x", "y"]),
        "level": random.below(5),
        "author": format!("http://e/a{}", random.below(3)),
        "works": [format!("http://e/w{}", random.below(6)), format!("http://e/w{}", random.below(6))],
        "time": random.word(&["2020-01-01T00:00:00Z", "2020-01-02T00:00:00"]),
    });
    if random.chance(10)
        && let Some(claims) = claims.as_object_mut()
    {
        let name = random.word(&["sub", "teams", "team", "level", "author", "time"]);
        claims.insert(
            name.to_owned(),
            random
                .pick(&[Value::Null, json!([["x"]]), json!({})])
                .clone(),
        );
    }
    Asker::new(&roles, &claims)
}

/// Data: for each object its values by property.
pub(super) type Data = BTreeMap<String, BTreeMap<&'static str, Vec<String>>>;

const WORKS: usize = 6;
const AUTHORS: usize = 3;
const WORDS: &[&str] = &["a", "b", "ab", "a b", "b c a", "abc", "ba"];

fn values(random: &mut Random, property: &str) -> Vec<String> {
    let some = |random: &mut Random, most: usize, make: &dyn Fn(&mut Random) -> String| {
        let number = random.below(most + 1);
        let mut values: Vec<String> = (0..number).map(|_| make(random)).collect();
        values.sort_unstable();
        values.dedup();
        values
    };
    let word = |random: &mut Random| format!("\"{}\"", random.word(WORDS));
    match property {
        "a" => vec![random.word(&["v:Book", "v:Letter"]).to_owned()],
        "v:title" | "v:label" => some(random, 1, &word),
        "v:note" => some(random, 2, &|random| {
            let tag = random.word(&["", "@en", "@de"]);
            format!("\"{}\"{tag}", random.word(WORDS))
        }),
        "v:owner" => some(random, 1, &|random| {
            format!("<http://e/{}>", random.word(&["ann", "bob"]))
        }),
        "v:public" => some(random, 1, &|random| {
            random.word(&["true", "false"]).to_owned()
        }),
        "v:pages" | "v:price" | "v:level" => some(random, 1, &|random| random.below(5).to_string()),
        "v:weight" => some(random, 1, &|random| {
            random.word(&["1.5", "3.0", "3.25"]).to_owned()
        }),
        "v:team" => some(random, 2, &|random| {
            format!("\"{}\"", random.word(&["x", "y", "z"]))
        }),
        "v:written" => some(random, 1, &|random| {
            let time = random.word(&[
                "2020-01-01T00:00:00Z",
                "2020-01-01T01:00:00+01:00",
                "2020-01-02T00:00:00",
            ]);
            format!("\"{time}\"^^<http://www.w3.org/2001/XMLSchema#dateTime>")
        }),
        "v:by" => some(random, 2, &|random| {
            format!("<http://e/a{}>", random.below(AUTHORS))
        }),
        "v:sequel" => some(random, 1, &|random| {
            format!("<http://e/w{}>", random.below(WORKS))
        }),
        "v:to" => some(random, 1, &|random| {
            format!("<http://e/a{}>", random.below(AUTHORS))
        }),
        other => panic!("{other} is unknown"),
    }
}

const OF_WORK: &[&str] = &[
    "v:title",
    "v:note",
    "v:owner",
    "v:public",
    "v:pages",
    "v:weight",
    "v:team",
    "v:written",
    "v:by",
];

fn object(random: &mut Random, is_work: bool) -> BTreeMap<&'static str, Vec<String>> {
    let mut object = BTreeMap::new();
    if !is_work {
        object.insert("a", vec!["v:Author".to_owned()]);
        for property in ["v:label", "v:level"] {
            object.insert(property, values(random, property));
        }
        return object;
    }
    let class = values(random, "a");
    let own: &[&str] = match class[0].as_str() {
        "v:Book" => &["v:price", "v:sequel"],
        _ => &["v:to"],
    };
    object.insert("a", class);
    for property in OF_WORK.iter().chain(own) {
        object.insert(property, values(random, property));
    }
    object
}

/// Makes data.
pub(super) fn data(random: &mut Random) -> Data {
    let mut data = Data::new();
    for at in 0..WORKS {
        if random.chance(92) {
            data.insert(format!("http://e/w{at}"), object(random, true));
        }
    }
    for at in 0..AUTHORS {
        if random.chance(95) {
            data.insert(format!("http://e/a{at}"), object(random, false));
        }
    }
    data
}

/// Changes something of data.
pub(super) fn changed(random: &mut Random, data: &mut Data) {
    let iris: Vec<String> = data.keys().cloned().collect();
    if iris.is_empty() || random.chance(15) {
        let (is_work, at) = (random.chance(70), random.below(WORKS));
        let iri = if is_work {
            format!("http://e/w{at}")
        } else {
            format!("http://e/a{}", at % AUTHORS)
        };
        data.insert(iri, object(random, is_work));
        return;
    }
    let iri = random.pick(&iris).clone();
    if random.chance(15) {
        data.remove(&iri);
        return;
    }
    let Some(object) = data.get_mut(&iri) else {
        return;
    };
    let properties: Vec<&'static str> =
        object.keys().copied().filter(|name| *name != "a").collect();
    let property = random.choose(&properties);
    object.insert(property, values(random, property));
}

/// Writes data as Turtle.
pub(super) fn turtle(data: &Data) -> String {
    let mut text = "@prefix v: <http://v/> .\n".to_owned();
    for (iri, object) in data {
        for (property, values) in object {
            for value in values {
                let _ = writeln!(text, "<{iri}> {property} {value} .");
            }
        }
    }
    text
}

/// Everything that there is to be seen.
pub(super) const ALL: &str = "
{
  work { ...work ... on Book { sequel { ...work ... on Book { sequel { id } } ... on Letter { to { ...author } } } } ... on Letter { to { ...author works { ...work } } } by { ...author works { ...work by { ...author } } } }
  book { ...work price sequel { ...work } by { ...author works { ...work } } }
  letter { ...work to { ...author works { ...work } } by { ...author works { ...work } } }
  work_count book_count letter_count author_count
  author { ...author works { ...work by { ...author } ... on Letter { to { ...author } } ... on Book { sequel { ...work } } } }
}
fragment work on Work {
  __typename id type title note { value lang } owner public pages weight team written
  ... on Book { price sequel { id } } ... on Letter { to { id } } by { id } by_count
}
fragment author on Author { __typename id type label level works { id } works_count }
";
