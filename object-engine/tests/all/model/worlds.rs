//! Two worlds: over data that differ in nothing that a caller is shown, mutations are answered alike and leave
//! the same to be seen, but for what `docs/access.md` lists.

use std::collections::{BTreeMap, BTreeSet};

use graphql_service::Request as Sent;
use oxrdf::{NamedNode, NamedOrBlankNode, Quad, Term};
use serde_json::{Map, Value};
use soml_core::schema::{ObjectId, ObjectKind};

use super::generate::Generator;
use super::request::{Request, root, selection};
use super::roles;
use super::rules::State;
use super::subject::{Subject, context};
use crate::back_end::Kind;
use crate::differential::random::Random;
use crate::differential::random_tests::{count, setting};
use crate::differential::reference::{Graph, Model, Ty};
use crate::fixture;
use crate::leaks::interference::{RowsOf, Unseen, sort_lists};
use crate::leaks::rows::Rows;

/// Mutations on one schema with one set of data.
const REQUESTS_PER_SCHEMA: u64 = 20;

/// Codes that some mutation has to lead to.
const CODES: &[&str] = &[
    "ACCESS_DENIED",
    "ID_NOT_AVAILABLE",
    "NOT_FOUND",
    "REFERENCE_NOT_FOUND",
    "REFERENCED",
    "VALUE_INVALID",
    "VALUE_NOT_FOUND",
    "MIN_VIOLATED",
    "MAX_VIOLATED",
    "LANG_NOT_UNIQUE",
    "IMMUTABLE",
    "ACCESS_FIELD_REMOVED",
];

/// What the pairs were like.
#[derive(Default)]
struct Tally {
    pairs: usize,
    /// The data differ.
    varied: usize,
    /// The answers differ, in what the documentation lists.
    inherent: usize,
    carried_out: usize,
    codes: BTreeMap<String, usize>,
}

impl Tally {
    fn count(&mut self, answer: &Value, varied: bool) {
        self.pairs += 1;
        self.varied += usize::from(varied);
        self.carried_out += usize::from(!is_refused(answer));
        let codes: BTreeSet<&str> = errors(answer).iter().filter_map(code).collect();
        for code in codes {
            *self.codes.entry(code.to_owned()).or_default() += 1;
        }
    }

    #[expect(clippy::print_stdout, reason = "the counts are for people to read")]
    fn check(&self) {
        let (pairs, varied, done) = (self.pairs, self.varied, self.carried_out);
        let (inherent, codes) = (self.inherent, &self.codes);
        println!(
            "{pairs} pairs: {varied} of different data, {done} carried out, {inherent} answered \
             differently as documented, {codes:?}"
        );
        assert!(varied * 100 >= pairs * 50, "too few worlds differ");
        assert!(done * 100 >= pairs * 8, "too few mutations are carried out");
        assert!(inherent * 100 <= pairs * 10, "too many answers differ");
        // Some need many schemas.
        if pairs >= 2_000 {
            let missing = CODES.iter().filter(|code| !codes.contains_key(**code));
            let missing: Vec<_> = missing.collect();
            assert!(missing.is_empty(), "no mutation leads to {missing:?}");
        }
    }
}

/// Runs random mutations in two worlds, each as a dry run and carried out.
pub(crate) fn check(kind: Kind, full: u64, has_rows: bool) {
    let first = setting("ACCESS_SEED", 1);
    let schemas = count("ACCESS_CASES", full).div_ceil(REQUESTS_PER_SCHEMA);
    let mut tally = Tally::default();
    for seed in first..first + schemas {
        let rows = has_rows.then(|| Rows::new(&mut Random::new(seed)));
        let section = |random: &mut Random| roles::section_of_worlds(random, rows.as_ref());
        let mut subject = Subject::with_section(seed, kind, Some(&section));
        for number in 0..REQUESTS_PER_SCHEMA {
            subject.random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(number));
            pair(
                (&mut subject, rows.as_ref()),
                &format!("ACCESS_SEED={seed}, mutation {number}"),
                &mut tally,
            );
        }
    }
    tally.check();
}

/// Runs one mutation in two worlds.
fn pair((subject, rows): (&mut Subject, Option<&Rows>), name: &str, tally: &mut Tally) {
    let here = subject.start.clone();
    let mut request = subject.request(&here);
    if subject.random.chance(60) {
        request.fields.truncate(1);
    }
    let claimed = roles::claimed(&mut subject.random);
    let mut random = Random::new(subject.random.number());
    let there = varied((subject, rows), &here, &claimed, &mut random);
    let shown = [&here, &there].map(|world| {
        subject.load(world);
        seen(subject, &claimed)
    });
    assert_eq!(
        shown[0], shown[1],
        "{name}: the worlds differ in what is shown"
    );
    for dry_run in [true, false] {
        for field in &mut request.fields {
            field.dry_run = dry_run;
        }
        let (a, seen_a) = told(subject, &here, &request, &claimed);
        let (b, seen_b) = told(subject, &there, &request, &claimed);
        tally.count(&a, here != there);
        let answers = difference(&a, &b);
        let is_same = a == b;
        tally.inherent += usize::from(!is_same && answers.is_none());
        let afterwards = is_same && seen_a != seen_b;
        if answers.is_none() && !afterwards {
            continue;
        }
        let list = |state: &State| super::sequential::shown(state);
        let only = |a: &State, b: &State| list(&a.difference(b).cloned().collect());
        panic!(
            "{name} of {claimed:?}\n{}\n{}\n--- data\n{}--- only here\n{}--- only there\n{}--- told\n{a:#}\n--- \
             and\n{b:#}\n{answers:?}\n--- seen afterwards\n{seen_a}\n{seen_b}",
            subject.soml,
            request.document(&subject.schema),
            list(&here),
            only(&here, &there),
            only(&there, &here),
        );
    }
}

/// Carries out a mutation in a world; returns the answer, and all that the caller sees afterwards.
fn told(
    subject: &Subject,
    world: &State,
    request: &Request,
    claimed: &[String],
) -> (Value, String) {
    subject.load(world);
    let answer = answered(subject, subject.sent(request), claimed);
    let is_dry = request.fields.iter().any(|field| field.dry_run);
    let seen = if is_dry || is_refused(&answer) {
        String::new()
    } else {
        seen(subject, claimed)
    };
    (answer, seen)
}

fn answered(subject: &Subject, sent: Sent, claimed: &[String]) -> Value {
    let answer = fixture::answer(&subject.service, sent, context(Some(claimed)));
    let text = String::from_utf8(answer).expect("an answer is UTF-8");
    let uuid = regex::Regex::new("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").expect("a pattern");
    fixture::json(uuid.replace_all(&text, "UUID").as_bytes())
}

/// All that a caller sees.
fn seen(subject: &Subject, claimed: &[String]) -> String {
    let schema = &subject.schema;
    let roots = schema
        .objects()
        .map(|(id, _)| (root(schema, id), selection(schema, id)));
    let roots = roots.map(|(root, selection)| format!("{root} {selection}"));
    let query = format!("{{ {} }}", roots.collect::<Vec<_>>().join("\n"));
    let mut answer = answered(subject, Sent::new(query), claimed);
    if let Some(data) = answer.get_mut("data") {
        sort_lists(data);
    }
    answer["data"].to_string()
}

fn errors(answer: &Value) -> &[Value] {
    answer["errors"].as_array().map_or(&[], Vec::as_slice)
}

fn code(error: &Value) -> Option<&str> {
    error["extensions"]["code"].as_str()
}

/// Returns whether nothing was carried out.
fn is_refused(answer: &Value) -> bool {
    let fields = answer["data"].as_object();
    fields.is_none_or(|fields| fields.values().all(Value::is_null))
}

/// Returns whether a finding is one of those that the documentation lists, in the words that it has there.
fn is_inherent(error: &Value) -> bool {
    let says_number = error["message"]
        .as_str()
        .is_none_or(|message| message.contains(", and has"));
    match code(error) {
        Some("ID_NOT_AVAILABLE") => true,
        Some("REFERENCED") => {
            let message = error["message"].as_str().unwrap_or_default();
            error["extensions"].get("ids").is_none() && message.starts_with("other objects need")
        }
        Some("MIN_VIOLATED" | "MAX_VIOLATED") => !says_number,
        _ => false,
    }
}

/// Returns how two answers differ beyond what the documentation lists: findings other than these are the same,
/// but that one of them may keep others from being found.
fn difference(a: &Value, b: &Value) -> Option<String> {
    if a == b {
        return None;
    }
    let refused = |answer: &Value| {
        if is_refused(answer) {
            errors(answer).to_vec()
        } else {
            Vec::new()
        }
    };
    let (all_a, all_b) = (refused(a), refused(b));
    let rest = |all: &[Value]| -> Vec<Value> {
        all.iter()
            .filter(|error| !is_inherent(error))
            .cloned()
            .collect()
    };
    let (rest_a, rest_b) = (rest(&all_a), rest(&all_b));
    if rest_a.len() == all_a.len() && rest_b.len() == all_b.len() {
        return Some("the answers differ".to_owned());
    }
    // One that is given twice is another matter.
    let taken = |all: &[Value]| -> BTreeSet<String> {
        let messages = all.iter().filter_map(|error| error["message"].as_str());
        let taken = messages.filter(|message| message.contains("is not available as the id"));
        taken.map(str::to_owned).collect()
    };
    let (taken_a, taken_b) = (taken(&all_a), taken(&all_b));
    let within = |some: &[Value], all: &[Value]| some.iter().all(|error| all.contains(error));
    // What objects become is checked where nothing else is found.
    let is_last = |error: &Value| code(error) == Some("ACCESS_DENIED");
    let checked = |some: &[Value], all: &[Value]| {
        let mut rest = all.iter().filter(|error| !some.contains(error));
        within(some, all) && rest.all(is_last)
    };
    let is_fine = match (taken_a.is_subset(&taken_b), taken_b.is_subset(&taken_a)) {
        (false, true) => within(&rest_a, &rest_b),
        (true, false) => within(&rest_b, &rest_a),
        // Each keeps others from being found.
        (false, false) => true,
        _ if rest_b.len() == all_b.len() => checked(&rest_a, &rest_b),
        _ if rest_a.len() == all_a.len() => checked(&rest_b, &rest_a),
        _ => rest_a == rest_b,
    };
    (!is_fine).then(|| "other findings differ than those that the documentation lists".to_owned())
}

/// Adds, drops and changes what a caller is not shown: values, links and whole objects.
fn varied(
    (subject, rows): (&Subject, Option<&Rows>),
    here: &State,
    claimed: &[String],
    random: &mut Random,
) -> State {
    let mut sorted: Vec<Quad> = here.iter().cloned().collect();
    sorted.sort_by_key(ToString::to_string);
    let model = Model::of(&subject.schema, claimed);
    let rows_of = || {
        let rows_of = |rows| RowsOf::new(rows, &subject.schema, claimed, &Map::new());
        rows.map(rows_of)
    };
    let hidden = hidden((&model, rows_of().as_ref()), &sorted);
    let dropped: BTreeSet<&String> = hidden.iter().filter(|_| random.chance(40)).collect();
    let is_dropped = |quad: &Quad| ends(quad).any(|end| dropped.iter().any(|id| *id == end));
    let graph = Graph::new(&sorted);
    let mut unseen = Unseen::new(&model, &graph, false);
    unseen.rows = rows_of();
    let mut there = State::new();
    for quad in &sorted {
        let is_unseen = unseen.is(quad);
        if !is_dropped(quad) && (!is_unseen || random.chance(60)) {
            there.insert(quad.clone());
        }
        if is_unseen && random.chance(50) || random.chance(15) {
            let changed = changed(&model, &sorted, quad, random);
            if unseen.is(&changed) && !is_dropped(&changed) && !here.contains(&changed) {
                there.insert(changed);
            }
        }
    }
    add_hidden(
        subject,
        (&model, rows_of().as_ref()),
        here,
        &mut there,
        random,
    );
    there
}

/// The nodes at the ends of a triple.
fn ends(quad: &Quad) -> impl Iterator<Item = &str> {
    let subject = match &quad.subject {
        NamedOrBlankNode::NamedNode(node) => Some(node.as_str()),
        NamedOrBlankNode::BlankNode(_) => None,
    };
    let object = match &quad.object {
        Term::NamedNode(node) => Some(node.as_str()),
        _ => None,
    };
    subject.into_iter().chain(object)
}

/// The objects that are hidden wherever they may be expected.
fn hidden((model, rows): (&Model<'_>, Option<&RowsOf<'_>>), quads: &[Quad]) -> Vec<String> {
    let graph = Graph::new(quads);
    let triples = graph.union();
    let is_hidden = |node: &String| {
        let value = Term::from(NamedNode::new_unchecked(node.as_str()));
        let is_object = model.concrete(triples, node, Ty::Any).is_some();
        let expected = model.schema.objects().map(|(id, _)| model.range(id));
        let mut seen = expected.filter(|ty| takes(model, *ty));
        let is_row = || rows.is_some_and(|rows| !rows.see(&value));
        is_object && (is_row() || seen.all(|ty| model.is_hidden(triples, &value, ty)))
    };
    graph
        .union()
        .nodes()
        .into_iter()
        .filter(is_hidden)
        .collect()
}

/// Returns whether there are objects of a type that a caller is shown.
fn takes(model: &Model<'_>, ty: Ty) -> bool {
    model
        .possible(ty)
        .into_iter()
        .any(|object| model.sees(object))
}

/// A triple with another value, of another object, or of another property.
fn changed(model: &Model<'_>, quads: &[Quad], quad: &Quad, random: &mut Random) -> Quad {
    let mut changed = quad.clone();
    let alike: Vec<&Quad> = quads
        .iter()
        .filter(|other| other.predicate == quad.predicate)
        .collect();
    match random.below(4) {
        0 => changed.object = random.pick(&alike).object.clone(),
        1 => changed.subject = random.pick(quads).subject.clone(),
        2 => changed.object = random.pick(quads).subject.clone().into(),
        _ => {
            let property = random.pick(&model.schema.properties);
            changed.predicate = NamedNode::new_unchecked(property.path.iri());
        }
    }
    changed
}

/// Adds objects of hidden types, under ids that nothing speaks of.
fn add_hidden(
    subject: &Subject,
    (model, rows): (&Model<'_>, Option<&RowsOf<'_>>),
    here: &State,
    there: &mut State,
    random: &mut Random,
) {
    let schema = &subject.schema;
    // Where conditions hide objects, it is found out of each whether they do.
    let is_hidden = |id: ObjectId| {
        schema[id].kind == ObjectKind::Concrete && (rows.is_some() || !model.sees(id))
    };
    let types: Vec<ObjectId> = schema
        .objects()
        .map(|(id, _)| id)
        .filter(|id| is_hidden(*id))
        .collect();
    let everything = Model::new(schema);
    let mut generator = Generator {
        random: Random::new(random.number()),
        model: &everything,
        schema,
    };
    for object in types {
        for id in generator.ids(object) {
            let is_known = here
                .iter()
                .chain(there.iter())
                .any(|quad| ends(quad).any(|end| end == id));
            if is_known || !random.chance(30) {
                continue;
            }
            generator.object(there, &id, object);
            let mut quads: Vec<Quad> = there.iter().cloned().collect();
            quads.sort_by_key(ToString::to_string);
            if !hidden((model, rows), &quads).contains(&id) {
                there.retain(|quad| ends(quad).all(|end| end != id));
            }
        }
    }
}
