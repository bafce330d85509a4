//! Random queries of the object service: filters, orders, counts, aggregates and groups.

use test_support::random::Random;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Work,
    Book,
    Letter,
    Author,
}

const KINDS: &[(&str, Kind)] = &[
    ("work", Kind::Work),
    ("book", Kind::Book),
    ("letter", Kind::Letter),
    ("author", Kind::Author),
];

impl Kind {
    fn scalars(self) -> &'static [&'static str] {
        match self {
            Kind::Author => &["label", "level"],
            Kind::Book => &[
                "title", "owner", "public", "pages", "weight", "team", "price",
            ],
            Kind::Work | Kind::Letter => &["title", "owner", "public", "pages", "weight", "team"],
        }
    }

    fn objects(self) -> &'static [(&'static str, Kind)] {
        match self {
            Kind::Work => &[("by", Kind::Author)],
            Kind::Book => &[("by", Kind::Author), ("sequel", Kind::Work)],
            Kind::Letter => &[("by", Kind::Author), ("to", Kind::Author)],
            Kind::Author => &[("works", Kind::Work)],
        }
    }
}

fn operand(random: &mut Random, field: &str) -> String {
    match field {
        "owner" => format!("\"http://e/{}\"", random.word(&["ann", "bob"])),
        "public" => random.word(&["true", "false"]).to_owned(),
        "weight" => format!("\"{}\"", random.word(&["1.5", "3.0"])),
        "pages" | "price" | "level" => random.below(5).to_string(),
        "team" => format!("\"{}\"", random.word(&["x", "y", "z"])),
        _ => format!("\"{}\"", random.word(&["a", "ab", "b", "a b"])),
    }
}

/// Makes a filter.
fn filter(random: &mut Random, kind: Kind, depth: usize) -> String {
    match random.below(8) {
        0 if depth > 0 => format!("{{NOT: {}}}", filter(random, kind, depth - 1)),
        1 if depth > 0 => format!(
            "{{OR: [{}, {}]}}",
            filter(random, kind, depth - 1),
            filter(random, kind, depth - 1)
        ),
        2 | 3 if depth > 0 => {
            let (name, of) = random.choose(kind.objects());
            let inner = if random.chance(25) {
                "{}".to_owned()
            } else {
                filter(random, of, depth - 1)
            };
            let all = matches!(name, "by" | "works") && random.chance(30);
            if all {
                format!("{{{name}: {{ALL: {inner}}}}}")
            } else {
                format!("{{{name}: {inner}}}")
            }
        }
        4 => {
            let (start, count) = match kind {
                Kind::Author => ("a", 3),
                _ => ("w", 6),
            };
            format!("{{ID: [\"http://e/{start}{}\"]}}", random.below(count))
        }
        _ => {
            let field = random.word(kind.scalars());
            let by = match field {
                "owner" | "public" => random.word(&["EQ", "NEQ"]),
                _ => random.word(&["EQ", "NEQ", "LT", "GTE"]),
            };
            format!("{{{field}: {{{by}: {}}}}}", operand(random, field))
        }
    }
}

fn selection(random: &mut Random, kind: Kind, depth: usize) -> String {
    let mut parts = vec!["__typename".to_owned()];
    for field in ["id", "type"].iter().chain(kind.scalars()) {
        if random.chance(50) {
            parts.push((*field).to_owned());
        }
    }
    for (name, of) in kind.objects() {
        if depth == 0 || !random.chance(60) {
            continue;
        }
        let is_list = matches!(*name, "by" | "works");
        let arguments = if is_list && random.chance(50) {
            format!("(where: {})", filter(random, *of, 1))
        } else {
            String::new()
        };
        parts.push(format!(
            "{name}{arguments} {{ {} }}",
            selection(random, *of, depth - 1)
        ));
        if is_list && random.chance(30) {
            parts.push(format!("{name}_count"));
        }
    }
    parts.join(" ")
}

/// Makes a query.
pub(super) fn query(random: &mut Random) -> String {
    let (root, kind) = random.choose(KINDS);
    let condition = random.maybe(60, |random| filter(random, kind, 2));
    let argument = condition.map(|condition| format!("where: {condition}"));
    let with = |arguments: &[String]| {
        if arguments.is_empty() {
            String::new()
        } else {
            format!("({})", arguments.join(", "))
        }
    };
    let own: Vec<String> = argument.into_iter().collect();
    match random.below(5) {
        0 => format!("{{ {root}_count{} }}", with(&own)),
        1 => {
            let number = match kind {
                Kind::Author => "level",
                _ => "pages",
            };
            let by = random.word(kind.scalars());
            format!(
                "{{ {root}_aggregate{} {{ count {number} {{ sum max }} groups(by: [{by}]) {{ key {{ {by} }} count }} }} }}",
                with(&own)
            )
        }
        _ => {
            let mut arguments = own;
            if random.chance(30) {
                let field = random.word(&["id", "pages", "title", "level", "label"]);
                let is_there = field == "id" || kind.scalars().contains(&field);
                if is_there {
                    arguments.push(format!(
                        "orderBy: {{{field}: {}}}",
                        random.word(&["ASC", "DESC"])
                    ));
                }
            }
            if random.chance(40) {
                arguments.push(format!(
                    "limit: {}, offset: {}",
                    1 + random.below(3),
                    random.below(3)
                ));
            }
            format!(
                "{{ {root}{} {{ {} }} }}",
                with(&arguments),
                selection(random, kind, 2)
            )
        }
    }
}
