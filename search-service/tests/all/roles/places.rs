//! Random searches: clauses, sort keys, aggregations and selections.

use test_support::random::Random;

/// An object that is searched, and how.
struct Index {
    root: &'static str,
    field: &'static str,
    of: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Work,
    Book,
    Letter,
    Author,
}

const INDEXES: &[Index] = &[
    Index {
        root: "work_search",
        field: "work",
        of: Kind::Work,
    },
    Index {
        root: "book_search",
        field: "book",
        of: Kind::Book,
    },
    Index {
        root: "letter_search",
        field: "letter",
        of: Kind::Letter,
    },
    Index {
        root: "author_search",
        field: "author",
        of: Kind::Author,
    },
];

impl Kind {
    fn scalars(self) -> &'static [&'static str] {
        match self {
            Kind::Author => &["id", "type", "label", "label_keyword", "level"],
            Kind::Work => &WORK,
            Kind::Book => &BOOK,
            Kind::Letter => &WORK,
        }
    }

    /// Fields that lead to other objects, and of which kind these are.
    fn objects(self) -> &'static [(&'static str, Kind)] {
        match self {
            Kind::Work => &[("by", Kind::Author)],
            Kind::Book => &[("by", Kind::Author), ("sequel", Kind::Work)],
            Kind::Letter => &[("by", Kind::Author), ("to", Kind::Author)],
            Kind::Author => &[("works", Kind::Work)],
        }
    }
}

const WORK: [&str; 13] = [
    "id",
    "type",
    "title",
    "title_keyword",
    "note",
    "note_keyword",
    "owner",
    "public",
    "pages",
    "weight",
    "team",
    "team_keyword",
    "written",
];

const BOOK: [&str; 14] = [
    "id",
    "type",
    "title",
    "title_keyword",
    "note",
    "note_keyword",
    "owner",
    "public",
    "pages",
    "weight",
    "team",
    "team_keyword",
    "written",
    "price",
];

const WORDS: &[&str] = &["a", "b", "ab", "c", "abc", "x", "y"];

fn operand(random: &mut Random, field: &str) -> String {
    match field {
        "id" => format!(
            "\"http://e/{}{}\"",
            random.word(&["w", "a"]),
            random.below(5)
        ),
        "type" => format!(
            "\"http://v/{}\"",
            random.word(&["Book", "Letter", "Author"])
        ),
        "owner" => format!("\"http://e/{}\"", random.word(&["ann", "bob"])),
        "public" => random.word(&["true", "false"]).to_owned(),
        "pages" | "price" | "level" => random.below(5).to_string(),
        "weight" => random.word(&["1.5", "3", "3.25"]).to_owned(),
        "written" => format!(
            "\"{}\"",
            random.word(&["2020-01-01T00:00:00Z", "2020-01-02T00:00:00Z"])
        ),
        "title_keyword" | "note_keyword" => {
            format!("\"{}\"", random.word(&["a", "ab", "a b", "b c a"]))
        }
        _ => format!("\"{}\"", random.word(WORDS)),
    }
}

/// Makes a clause on a field, at most some levels down.
fn leaf(random: &mut Random, kind: Kind, depth: usize) -> String {
    if depth > 1 && random.chance(12) {
        let (at, of) = (random.below(5), random.below(3));
        return format!("ids: {{values: [\"http://e/w{at}\", \"http://e/a{of}\"]}}");
    }
    let (mut way, mut end, mut at) = (String::new(), String::new(), kind);
    let mut is_id = false;
    for _ in 0..depth {
        if is_id || !random.chance(35) {
            break;
        }
        let (name, of) = random.choose(at.objects());
        way += &format!("{name}: {{");
        end.push('}');
        // An object that is met again is an id alone.
        is_id = of == kind && end.len() > 1;
        at = of;
    }
    let field = if is_id || end.len() > 2 {
        "id"
    } else {
        random.word(at.scalars())
    };
    let value = operand(random, field);
    let is_text = matches!(field, "title" | "note" | "label" | "team");
    match random.below(8) {
        0 | 1 if is_text => {
            let fuzzy = if random.chance(30) {
                ", fuzziness: \"1\", max_expansions: 1"
            } else {
                ""
            };
            format!("match: {{{way}{field}: {{query: {value}{fuzzy}}}{end}}}")
        }
        2 | 6 => {
            let way = way.replace(": {", "__");
            format!("exists: {{field: {way}{field}}}")
        }
        3 => format!(
            "terms: {{{way}{field}: {{values: [{value}, {}]}}{end}}}",
            operand(random, field)
        ),
        4 if !is_text && !matches!(field, "public" | "id" | "type") => {
            let bound = random.word(&["gt", "gte", "lt", "lte"]);
            format!("range: {{{way}{field}: {{{bound}: {value}}}{end}}}")
        }
        5 if is_text || field.ends_with("_keyword") || field == "owner" => {
            format!(
                "prefix: {{{way}{field}: {{value: \"{}\"}}{end}}}",
                random.word(&["a", "h", "x"])
            )
        }
        _ => format!("term: {{{way}{field}: {{value: {value}}}{end}}}"),
    }
}

fn clause(random: &mut Random, kind: Kind, depth: usize) -> String {
    match random.below(13) {
        0 if depth > 0 => {
            let each = |random: &mut Random| format!("[{{{}}}]", clause(random, kind, depth - 1));
            let mut parts = Vec::new();
            for key in ["must", "filter", "should", "must_not"] {
                if random.chance(40) {
                    parts.push(format!("{key}: {}", each(random)));
                }
            }
            format!("bool: {{{}}}", parts.join(", "))
        }
        1 | 11 | 12 if depth > 0 => {
            let several = kind
                .objects()
                .iter()
                .filter(|(name, _)| ["by", "works"].contains(name));
            let several: Vec<_> = several.copied().collect();
            let (name, of) = random.choose(&several);
            let mode = random.word(&["", ", score_mode: SUM", ", score_mode: MAX"]);
            let inner = if random.chance(30) {
                format!("bool: {{must_not: [{{{}}}]}}", leaf(random, of, 0))
            } else {
                leaf(random, of, 0)
            };
            format!("nested: {{{name}: {{query: {{{inner}}}{mode}}}}}")
        }
        2 if depth > 0 => format!(
            "constant_score: {{filter: {{{}}}}}",
            clause(random, kind, depth - 1)
        ),
        3 if depth > 0 => format!(
            "dis_max: {{queries: [{{{}}}, {{{}}}]}}",
            clause(random, kind, depth - 1),
            leaf(random, kind, 1)
        ),
        4 | 5 => "match_all: {}".to_owned(),
        _ => leaf(random, kind, depth),
    }
}

fn selection(random: &mut Random, kind: Kind, depth: usize) -> String {
    let mut parts: Vec<String> = Vec::new();
    if random.chance(50) {
        parts.push("__typename".to_owned());
    }
    for field in kind.scalars() {
        if field.ends_with("_keyword") || !random.chance(60) {
            continue;
        }
        parts.push(match *field {
            "note" => "note { value lang }".to_owned(),
            field => field.to_owned(),
        });
    }
    for (name, of) in kind.objects() {
        if depth > 1 && random.chance(60) {
            parts.push(format!(
                "{name} {{ {} }}",
                selection(random, *of, depth - 1)
            ));
        } else if depth == 1 && random.chance(60) {
            parts.push(format!("{name} {{ id }}"));
        }
    }
    if parts.is_empty() {
        "id".to_owned()
    } else {
        parts.join(" ")
    }
}

/// Makes a search.
pub(super) fn search(random: &mut Random) -> String {
    let index = random.pick(INDEXES);
    let kind = index.of;
    let mut arguments = Vec::new();
    if random.chance(60) {
        arguments.push(format!("query: {{{}}}", clause(random, kind, 2)));
    }
    if random.chance(20) {
        arguments.push(format!("post_filter: {{{}}}", clause(random, kind, 1)));
    }
    if random.chance(30) {
        let key = match random.below(4) {
            0 => {
                let (name, of) = random.choose(kind.objects());
                let field = random.word(of.scalars());
                if matches!(field, "title" | "note" | "team" | "label") {
                    format!("{name}: {{{field}: {{}}}}")
                } else {
                    format!("{name}: {{{field}: {{order: DESC}}}}")
                }
            }
            1 => "_score: {}".to_owned(),
            _ => format!("{}: {{order: DESC}}", random.word(kind.scalars())),
        };
        arguments.push(format!("sort: [{{{key}}}]"));
    }
    if random.chance(30) {
        arguments.push(format!(
            "size: {}, from: {}",
            random.below(4),
            random.below(3)
        ));
    } else {
        arguments.push("size: 100".to_owned());
    }
    if random.chance(10) {
        arguments.push("min_score: 0.5".to_owned());
    }
    let mut selected = "total { value }".to_owned();
    if random.chance(40) {
        let least = random.word(&["", "", "", ", min_doc_count: 0", ", min_doc_count: 2"]);
        let missing = random.word(&["", "", "", ", missing: \"a\""]);
        let (way, of) = if random.chance(50) {
            let (name, of) = random.choose(kind.objects());
            (format!("{name}__"), of)
        } else {
            (String::new(), kind)
        };
        let fields: Vec<&str> = of
            .scalars()
            .iter()
            .filter(|field| !field.ends_with("_keyword"))
            .copied()
            .collect();
        let field = random.choose(&fields);
        let missing = match field {
            "title" | "label" | "team" => missing,
            _ => "",
        };
        arguments.push(format!(
            "aggregations: [{{name: \"n\", terms: {{field: {way}{field}, size: 3{least}{missing}}}}}]"
        ));
        selected += " aggregations { name doc_count_error_upper_bound sum_other_doc_count buckets { key doc_count } }";
    }
    if random.chance(40) {
        selected += " max_score";
    }
    let mut hit = Vec::new();
    for field in ["id", "score", "sort", "__typename"] {
        if random.chance(50) {
            hit.push(field.to_owned());
        }
    }
    hit.push(format!(
        "{} {{ {} }}",
        index.field,
        selection(random, kind, 2)
    ));
    selected += &format!(" hits {{ {} }}", hit.join(" "));
    format!(
        "{{ {}({}) {{ {selected} }} }}",
        index.root,
        arguments.join(", ")
    )
}
