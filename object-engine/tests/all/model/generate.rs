//! Random schemas for writing, data for them, and mutations that overlap.

use std::fmt::Write as _;

use oxrdf::{GraphName, Literal, NamedNode, Quad, Term};
use soml_core::datatype::Scalar;
use soml_core::schema::{LiteralRange, Max, ObjectId, ObjectKind, Path, Property, Range, Schema};

use super::request::{Entry, Field, Given, Member, References, Request, Verb, Where};
use super::rules::State;
use super::terms::{languages, term};
use crate::differential::random::Random;
use crate::differential::reference::{Graph, Model};

/// Ids of each type.
const IDS: usize = 4;

/// Returns a small valid schema: an abstract object, two or three below it, and one that stands apart.
pub(super) fn schema(random: &mut Random) -> String {
    let mut out = String::from(
        "id: /soml/model\n\
         specialPrefixes: {base_iri: 'http://e/', vocab_iri: 'http://v/', vocab_prefix: v}\n\
         types:\n\
         \x20 Mood: {values: [{name: GLAD}, {name: SAD}]}\n\
         \x20 Mix: {union: [string, langString, integer]}\n",
    );
    if random.chance(70) {
        let rule = random.choose(&["en,de,NONE;UNIQ", "ANY;UNIQ", "en~,NONE"]);
        let implicit = if random.chance(20) {
            ", implicit: en"
        } else {
            ""
        };
        let _ = writeln!(out, "config: {{lang: {{validate: '{rule}'{implicit}}}}}");
    }
    out.push_str("objects:\n");
    let mut next = 0;
    let count = random.between(3, 4);
    let mut plain: Vec<(usize, String)> = Vec::new();
    let mut links: Vec<(usize, usize, String)> = Vec::new();
    for at in 0..count {
        let parent = match at {
            0 => None,
            1 => Some(0),
            _ => random.chance(50).then(|| random.between(0, 1)),
        };
        let _ = writeln!(out, "  T{at}:");
        match (at, random.below(3)) {
            (0, 0) => out.push_str("    kind: abstract\n"),
            (0, _) => out.push_str("    kind: abstract\n    type: v:T0\n"),
            (_, 0) => {
                let _ = writeln!(out, "    type: [v:T{at}, v:T{at}b]");
            }
            _ => {}
        }
        if let Some(parent) = parent {
            let _ = writeln!(out, "    inherits: T{parent}");
        }
        // Nothing inherits from the others.
        match (at, random.below(6)) {
            (0 | 1, _) => {}
            (_, 0) => {
                let _ = writeln!(out, "    prefix: 'T{at}/'");
            }
            (_, 1) => {
                let _ = writeln!(out, "    regex: '^http://e/T{at}/[0-9]$'");
            }
            _ => {}
        }
        if at == 2 && random.chance(40) {
            out.push_str("    pattern: 'T2/${slug}'\n");
        }
        out.push_str("    props:\n");
        if at == 2 {
            out.push_str("      slug: {min: 1}\n");
        }
        for _ in 0..random.between(2, 4) {
            let name = format!("p{next}");
            next += 1;
            let _ = writeln!(out, "      {name}: {{{}}}", values(random));
            plain.push((at, name));
        }
        for _ in 0..random.between(1, 2) {
            let name = format!("p{next}");
            next += 1;
            let range = random.below(count);
            let line = link(random, at, range, (&name, &links));
            if !line.contains("inverse") {
                links.push((at, range, name.clone()));
            }
            let _ = writeln!(out, "      {name}: {{{line}}}");
        }
        if let Some(parent) = parent {
            for (_, name) in plain.iter().filter(|(owner, _)| *owner == parent) {
                if random.chance(15) {
                    let _ = writeln!(out, "      {name}: {{rdfProp: v:{name}of{at}}}");
                }
            }
        }
    }
    out
}

/// The keys of a property whose values are no objects.
fn values(random: &mut Random) -> String {
    let ranges = [
        "string",
        "string",
        "int",
        "decimal",
        "positiveInteger",
        "boolean",
        "date",
        "iri",
        "Mood",
        "langString",
        "langString",
        "stringOrLangString",
        "stringOrLangString",
        "Mix",
    ];
    let range = random.choose(&ranges);
    let mut keys = vec![format!("range: {range}")];
    match (range, random.below(5)) {
        ("string", 0) => keys.push("valuesIn: [a, b]".to_owned()),
        ("string", 1) => keys.push("regex: '^[a-c]'".to_owned()),
        ("iri", 0 | 1) => keys.push("prefix: 'http://e/'".to_owned()),
        ("langString" | "stringOrLangString", 0) => {
            let rule = random.choose(&["en,NONE", "UNIQ", "de;UNIQ"]);
            keys.push(format!("lang: {{validate: '{rule}'}}"));
        }
        _ => {}
    }
    bounds(random, &mut keys);
    if random.chance(12) {
        keys.push("immutable: true".to_owned());
    }
    keys.join(", ")
}

fn bounds(random: &mut Random, keys: &mut Vec<String>) {
    let multiple = random.chance(50);
    if multiple {
        keys.push(format!("max: {}", random.choose(&["inf", "inf", "2", "3"])));
    }
    match random.below(10) {
        0 | 1 => keys.push("min: 1".to_owned()),
        2 if multiple => keys.push("min: 2".to_owned()),
        _ => {}
    }
}

/// The keys of a property that leads to objects.
fn link(
    random: &mut Random,
    at: usize,
    range: usize,
    (name, links): (&str, &[(usize, usize, String)]),
) -> String {
    let back: Vec<&(usize, usize, String)> =
        links.iter().filter(|(_, range, _)| *range == at).collect();
    if let Some((owner, _, link)) = random.some(&back)
        && random.chance(60)
    {
        let way = random.choose(&["inverseAlias", "inverseAlias", "inverseOf"]);
        let mut keys = vec![format!("range: T{owner}"), format!("{way}: {link}")];
        let multiple = random.chance(60);
        if multiple {
            keys.push("max: inf".to_owned());
        }
        if random.chance(10) {
            keys.push("min: 1".to_owned());
        }
        return keys.join(", ");
    }
    let _ = name;
    let mut keys = vec![format!("range: T{range}")];
    if range == at && random.chance(60) {
        keys.push("symmetric: true".to_owned());
    }
    bounds(random, &mut keys);
    if random.chance(8) {
        keys.push("immutable: true".to_owned());
    }
    keys.join(", ")
}

/// Makes data and mutations for a schema.
pub(super) struct Generator<'a> {
    pub(super) random: Random,
    pub(super) model: &'a Model<'a>,
    pub(super) schema: &'a Schema,
}

impl Generator<'_> {
    fn concrete(&self) -> Vec<ObjectId> {
        let objects = self.schema.objects();
        let concrete = objects.filter(|(_, object)| object.kind == ObjectKind::Concrete);
        concrete.map(|(id, _)| id).collect()
    }

    fn name(&self, object: ObjectId) -> &str {
        &self.schema[object].name.graphql
    }

    /// An id from the small pool of an object.
    fn pooled(&mut self, object: ObjectId) -> String {
        let number = self.random.below(IDS);
        let of = self.name(object);
        // What a template makes of the values of `slug`.
        if self.schema[object].id_pattern.is_some() {
            format!("http://e/{of}/{}", ["a", "b", "c%20d"][number % 3])
        } else {
            format!("http://e/{of}/{number}")
        }
    }

    /// Ids that nothing is said of.
    fn free(&self, object: ObjectId, state: &State) -> Vec<String> {
        let ids = self.ids(object).into_iter();
        let is_free = |id: &String| {
            let node = NamedNode::new_unchecked(id.as_str());
            !state.iter().any(|quad| quad.subject == node.clone().into())
        };
        ids.filter(is_free).collect()
    }

    /// Some data: most of it good, in two graphs.
    pub(super) fn data(&mut self) -> State {
        let mut state = State::new();
        for object in self.concrete() {
            for number in 0..IDS {
                if self.random.chance(45) {
                    continue;
                }
                let id = format!("http://e/{}/{number}", self.name(object));
                self.object(&mut state, &id, object);
            }
        }
        state
    }

    /// The ids that objects of a type may have.
    pub(super) fn ids(&self, object: ObjectId) -> Vec<String> {
        let numbers = 0..10;
        numbers
            .map(|number| format!("http://e/{}/{number}", self.name(object)))
            .collect()
    }

    /// Adds an object of a type.
    pub(super) fn object(&mut self, state: &mut State, id: &str, object: ObjectId) {
        for of in self.schema.lineage(object).collect::<Vec<_>>() {
            let of = &self.schema[of];
            for ty in &of.types {
                let ty = NamedNode::new_unchecked(ty).into();
                self.add(state, id, &of.type_prop, ty);
            }
        }
        for property in &self.schema[object].props {
            self.stored(state, id, &self.schema[*property]);
        }
    }

    fn stored(&mut self, state: &mut State, id: &str, property: &Property) {
        let Path::Forward(iri) = &property.path else {
            return;
        };
        let multiple = property.max.is_multiple();
        let most = if multiple { 2 } else { 1 };
        let least = (property.min as usize).min(most);
        let least = if self.random.chance(95) { least } else { 0 };
        for _ in 0..self.random.between(least, most) {
            let value = match property.range {
                Range::Object(range) => {
                    let among = self.schema.concrete(range);
                    let Some(object) = self.random.some(&among).copied() else {
                        return;
                    };
                    NamedNode::new_unchecked(self.pooled(object)).into()
                }
                _ => {
                    let given = self.given(property, false);
                    let Ok(term) = term(self.schema, property, &given) else {
                        continue;
                    };
                    self.rewritten(term)
                }
            };
            self.add(state, id, iri, value);
        }
    }

    /// Another form of a number.
    fn rewritten(&mut self, term: Term) -> Term {
        match &term {
            Term::Literal(literal)
                if literal.datatype().as_str().ends_with("nteger") && self.random.chance(30) =>
            {
                let text = match literal.value().strip_prefix('-') {
                    Some(digits) => format!("-0{digits}"),
                    None => format!("0{}", literal.value()),
                };
                Literal::new_typed_literal(text, literal.datatype().into_owned()).into()
            }
            _ => term,
        }
    }

    fn add(&mut self, state: &mut State, id: &str, iri: &str, value: Term) {
        let archive = GraphName::from(NamedNode::new_unchecked("http://v/archive"));
        let (subject, predicate) = (NamedNode::new_unchecked(id), NamedNode::new_unchecked(iri));
        let quad = Quad::new(subject, predicate, value, GraphName::DefaultGraph);
        if self.random.chance(15) {
            state.insert(Quad {
                graph_name: archive,
                ..quad.clone()
            });
            if self.random.chance(70) {
                return;
            }
        }
        state.insert(quad);
    }

    /// A mutation for what a store holds or may hold.
    pub(super) fn request(&mut self, state: &State) -> Request {
        let count = [1, 1, 1, 1, 2, 2, 3][self.random.below(7)];
        let dry_run = self.random.chance(10);
        let mixed = self.random.chance(2);
        let fields = (0..count).map(|number| {
            let concrete = self.concrete();
            let object = self.random.choose(&concrete);
            let verb = match self.random.below(100) {
                0..38 => Verb::Create(self.entries(object, state, true)),
                38..70 => Verb::Update(self.entries(object, state, false), None),
                70..84 => self.update_where(object, state),
                _ => {
                    let selected = self.selected(object, state);
                    let allow_all = self.random.chance(if selected.is_all { 20 } else { 3 });
                    Verb::Delete(selected, allow_all)
                }
            };
            Field {
                key: format!("f{number}"),
                object,
                verb,
                dry_run: dry_run != (mixed && number == 1),
            }
        });
        Request {
            fields: fields.collect(),
        }
    }

    fn update_where(&mut self, object: ObjectId, state: &State) -> Verb {
        let selected = self.selected(object, state);
        let mut entry = self.entry((object, false), state, 0);
        if self.random.chance(96) {
            entry.id = None;
        }
        let mut entries = vec![entry];
        if self.random.chance(3) {
            entries.push(self.entry((object, false), state, 0));
        }
        Verb::Update(entries, Some(selected))
    }

    fn entries(&mut self, object: ObjectId, state: &State, is_new: bool) -> Vec<Entry> {
        let count = [1, 1, 1, 2, 2, 3][self.random.below(6)];
        (0..count)
            .map(|_| self.entry((object, is_new), state, 0))
            .collect()
    }

    fn entry(&mut self, (object, is_new): (ObjectId, bool), state: &State, depth: usize) -> Entry {
        let has_template = self.schema[object].id_pattern.is_some();
        let id = match self.random.below(100) {
            0 => Some("no iri".to_owned()),
            1 => Some("http://x/1".to_owned()),
            2 if !is_new => None,
            _ if is_new && has_template => None,
            3..94 => {
                let wanted = if is_new {
                    self.free(object, state)
                } else {
                    self.instances(object, state)
                };
                self.random
                    .some(&wanted)
                    .cloned()
                    .or_else(|| Some(self.pooled(object)))
            }
            _ => Some(self.pooled(object)),
        };
        let mut members = Vec::new();
        let props = self.schema[object].props.clone();
        let wanted = 250 / props.len();
        for property in props.into_iter().map(|property| &self.schema[property]) {
            let needed = is_new && property.min > 0;
            if !self.random.chance(if needed { 98 } else { wanted }) {
                continue;
            }
            let before = id.as_deref().map(|id| stored(state, id, property));
            let is_set = !is_new && before.is_none_or(|values| !values.is_empty());
            if property.immutable && is_set && self.random.chance(85) {
                continue;
            }
            if self.random.chance(if needed { 1 } else { 6 }) {
                members.push((property.name.graphql.clone(), Member::Null));
                continue;
            }
            let member = match property.range {
                Range::Object(range) => {
                    self.references(id.as_deref(), (property, range), (is_new, depth), state)
                }
                _ => Some(self.member(id.as_deref(), property, is_new, state)),
            };
            members.extend(member.map(|member| (property.name.graphql.clone(), member)));
        }
        Entry { id, members }
    }

    fn member(
        &mut self,
        id: Option<&str>,
        property: &Property,
        is_new: bool,
        state: &State,
    ) -> Member {
        if !property.max.is_multiple() {
            return Member::One(self.given(property, true));
        }
        let least = if is_new { property.min as usize } else { 0 };
        let count = self.random.between(least, 2.max(least));
        let values: Vec<Given> = (0..count).map(|_| self.given(property, true)).collect();
        if is_new {
            return Member::Many(values);
        }
        let patch = self.random.chance(35).then(|| {
            let known = id.map(|id| stored(state, id, property)).unwrap_or_default();
            let known: Vec<Given> = known.iter().map(|term| as_given(property, term)).collect();
            if self.random.chance(85) {
                self.random.some(&known).cloned()
            } else {
                None
            }
        });
        let patch = patch.map(|known| known.unwrap_or_else(|| self.given(property, true)));
        let known = id.map_or(0, |id| stored(state, id, property).len());
        let is_full =
            matches!(property.max, Max::Count(max) if known + values.len() > max as usize);
        let replace = match (&patch, is_full) {
            (Some(_), _) => 3,
            (None, true) => 90,
            (None, false) => 35,
        };
        let replace = self.random.chance(replace);
        let value = (!values.is_empty() || self.random.chance(20)).then_some(values);
        Member::Change {
            value,
            patch,
            replace,
        }
    }

    fn references(
        &mut self,
        id: Option<&str>,
        (property, range): (&Property, ObjectId),
        (is_new, depth): (bool, usize),
        state: &State,
    ) -> Option<Member> {
        let among = self.schema.concrete(range);
        let object = self.random.some(&among).copied()?;
        let mut item = References::default();
        let multiple = property.max.is_multiple();
        let least = if property.min > 0 {
            property.min as usize
        } else {
            usize::from(!multiple)
        };
        let most = if multiple { 2.max(least) } else { 1 };
        for _ in 0..self.random.between(least.min(most), most) {
            if depth < 2 && self.random.chance(if depth == 0 { 15 } else { 4 }) {
                let entry = self.entry((object, true), state, depth + 1);
                let name = self.name(object).to_owned();
                match item.new.last_mut() {
                    Some((_, entries)) => entries.push(entry),
                    None => item.new.push((name, vec![entry])),
                }
                continue;
            }
            let existing = self.instances(range, state);
            let known = if self.random.chance(92) {
                self.random.some(&existing).cloned()
            } else {
                None
            };
            let bad = self.random.chance(1);
            let id = known.unwrap_or_else(|| self.pooled(object));
            item.ids.push(if bad { "no iri".to_owned() } else { id });
        }
        if !is_new && multiple {
            if self.random.chance(30) {
                let known = id.map(|id| stored(state, id, property)).unwrap_or_default();
                let known = known.iter().filter_map(|term| match term {
                    Term::NamedNode(node) => Some(node.as_str().to_owned()),
                    _ => None,
                });
                let known: Vec<String> = known.collect();
                let known = self.random.some(&known).cloned();
                item.patch = Some(known.unwrap_or_else(|| self.pooled(object)));
            }
            item.replace = self
                .random
                .chance(if item.patch.is_some() { 3 } else { 35 });
        }
        if self.random.chance(2) {
            return Some(Member::References(Vec::new()));
        }
        let mut items = vec![item];
        if multiple && self.random.chance(10) {
            let ids = vec![self.pooled(object)];
            items.push(References {
                ids,
                ..References::default()
            });
        }
        Some(Member::References(items))
    }

    fn selected(&mut self, object: ObjectId, state: &State) -> Where {
        let plain = |text: String| Where {
            text,
            listed: Vec::new(),
            is_all: false,
        };
        match self.random.below(100) {
            0..55 => {
                let existing = self.instances(object, state);
                let listed: Vec<String> = (0..self.random.between(1, 2))
                    .map(|_| {
                        let known = if self.random.chance(95) {
                            self.random.some(&existing).cloned()
                        } else {
                            None
                        };
                        known.unwrap_or_else(|| self.pooled(object))
                    })
                    .collect();
                let ids = serde_json::to_string(&listed).expect("texts");
                Where {
                    text: format!("{{ID: {ids}}}"),
                    listed,
                    is_all: false,
                }
            }
            55..62 => {
                let text = self.random.choose(&["{}", "{AND: []}"]).to_owned();
                Where {
                    text,
                    listed: Vec::new(),
                    is_all: true,
                }
            }
            _ => {
                let props = &self.schema[object].props;
                let property = &self.schema[*self.random.pick(props)];
                let name = &property.name.graphql;
                match property.range {
                    Range::Object(range) => {
                        let id = self.pooled(
                            self.schema
                                .concrete(range)
                                .first()
                                .copied()
                                .unwrap_or(object),
                        );
                        plain(format!("{{{name}: {{ID: [\"{id}\"]}}}}"))
                    }
                    Range::Literal(_) => {
                        let text = self.random.choose(&["a", "b", "c d", "5"]);
                        plain(format!("{{{name}: {{value: {{EQ: \"{text}\"}}}}}}"))
                    }
                    _ => {
                        let given = self.given(property, false).document();
                        plain(format!("{{{name}: {{EQ: {given}}}}}"))
                    }
                }
            }
        }
    }

    fn instances(&self, object: ObjectId, state: &State) -> Vec<String> {
        let quads: Vec<Quad> = state.iter().cloned().collect();
        let graph = Graph::new(&quads);
        let ty = self.model.range(object);
        let nodes = graph.union().nodes().into_iter();
        nodes
            .filter(|node| self.model.is_instance(graph.union(), node, ty))
            .collect()
    }

    /// A value of a property, now and then one that does not fit.
    fn given(&mut self, property: &Property, may_be_wrong: bool) -> Given {
        let wrong = may_be_wrong && self.random.chance(3);
        let text = |text: &str| Given::Text(text.to_owned());
        let bare = |text: &str| Given::Bare(text.to_owned());
        let word = self.random.choose(&["a", "b", "c d"]);
        match property.range {
            Range::Enum(_) => bare(self.random.choose(&["GLAD", "SAD"])),
            Range::Scalar(scalar) => match scalar {
                Scalar::String if wrong => text("zzz"),
                Scalar::String => text(word),
                Scalar::Iri if wrong => text("no iri"),
                Scalar::Iri => {
                    text(
                        self.random
                            .choose(&["http://e/x", "http://e/y", "http://o/z"]),
                    )
                }
                Scalar::Boolean => bare(self.random.choose(&["true", "false"])),
                Scalar::Int => bare(self.random.choose(&["5", "7", "-1"])),
                Scalar::PositiveInteger if wrong => text(self.random.choose(&["0", "x"])),
                Scalar::PositiveInteger => text(self.random.choose(&["5", "07", "12"])),
                Scalar::Decimal if wrong => text("1,5"),
                Scalar::Decimal => bare(self.random.choose(&["1.5", "1.50", "2", "2.0"])),
                Scalar::Date if wrong => text("2020-13-01"),
                Scalar::Date => text(self.random.choose(&["2020-02-29", "2021-01-01"])),
                other => panic!("the schemas have no {other:?}"),
            },
            Range::Literal(range) => {
                let tagged = range == LiteralRange::LangString || self.random.chance(60);
                let lang = match (tagged, wrong) {
                    (_, true) => Some(self.random.choose(&["fr", "not a tag", "en"]).to_owned()),
                    (true, false) => {
                        let rule = languages(self.schema, property);
                        let all = ["en", "de", "EN", "en-GB"];
                        let allowed = |tag: &&str| rule.is_none_or(|rule| rule.allows(Some(tag)));
                        let allowed: Vec<&str> = all.into_iter().filter(allowed).collect();
                        self.random.some(&allowed).map(|tag| (*tag).to_owned())
                    }
                    (false, false) => None,
                };
                let is_union = matches!(range, LiteralRange::Union(_));
                let datatype = (lang.is_none() && is_union && self.random.chance(50))
                    .then(|| "xsd:integer".to_owned());
                let value = match &datatype {
                    Some(_) => self.random.choose(&["5", "05", "8"]),
                    None => word,
                };
                Given::Literal {
                    value: value.to_owned(),
                    lang,
                    datatype,
                }
            }
            Range::Object(_) => panic!("references are made apart"),
        }
    }
}

fn stored(state: &State, id: &str, property: &Property) -> Vec<Term> {
    let node = Term::from(NamedNode::new_unchecked(id));
    let iri = property.path.iri();
    let quads = state.iter().filter(|quad| quad.predicate.as_str() == iri);
    let values = quads.filter_map(|quad| {
        let subject = Term::from(quad.subject.clone());
        let (from, value) = match property.path {
            Path::Forward(_) => (subject, quad.object.clone()),
            Path::Inverse { .. } => (quad.object.clone(), subject),
        };
        (from == node).then_some(value)
    });
    let mut values: Vec<Term> = values.collect();
    values.sort_by_key(ToString::to_string);
    values
}

/// A stored value as a client would give it.
fn as_given(property: &Property, term: &Term) -> Given {
    let literal = match term {
        Term::Literal(literal) => literal,
        other => return Given::Text(other.to_string().trim_matches(['<', '>']).to_owned()),
    };
    let text = literal.value().to_owned();
    match property.range {
        Range::Literal(_) => Given::Literal {
            value: text,
            lang: literal.language().map(str::to_owned),
            datatype: literal
                .datatype()
                .as_str()
                .ends_with("integer")
                .then(|| "xsd:integer".to_owned()),
        },
        Range::Enum(_) | Range::Scalar(Scalar::Boolean) => Given::Bare(text),
        Range::Scalar(Scalar::Int) => {
            let number: i64 = text.parse().expect("a number");
            Given::Bare(number.to_string())
        }
        _ => Given::Text(text),
    }
}
