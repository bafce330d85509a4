//! Non-interference: what a caller may not read changes nothing of what the caller is told.

use call_context::TraceStep;
use oxrdf::{Literal, NamedNode, NamedOrBlankNode, Quad, Term};
use serde_json::{Map, Value};
use soml_core::schema::{Path, Property, Range, Schema};

use super::case::Case;
use super::rows::Rows;
use super::tally::Tally;
use crate::differential::operation::{Operation, Selection};
use crate::differential::random::Random;
use crate::differential::reference::{Graph, Model};
use crate::differential::shrink::shrink;
use crate::fixture;

/// Answers an operation over two sets of data that differ in nothing that may be read.
pub(crate) fn interferes(case: &mut Case, tally: &mut Tally) {
    let (operation, expected) = case.operation(true);
    let mut random = Random::new(case.random.number());
    let other = varied(case, &case.quads, &operation, &mut random);
    tally.count_pair(other != case.quads);
    let (here, there) = (
        told(case, &operation, &case.quads),
        told(case, &operation, &other),
    );
    let answer = serde_json::from_slice(&here.answer).expect("an answer is JSON");
    tally.count(case, &expected, &answer);
    if here == there {
        return;
    }
    let seed = case.random.number();
    let differs = |operation: &Operation, quads: &[Quad]| {
        let other = varied(case, quads, operation, &mut Random::new(seed));
        told(case, operation, quads) != told(case, operation, &other)
    };
    let first = format!("{here:?}\n--- and {there:?}");
    let (operation, quads) = if differs(&operation, &case.quads) {
        shrink(operation, case.quads.clone(), differs)
    } else {
        (operation, case.quads.clone())
    };
    let other = varied(case, &quads, &operation, &mut Random::new(seed));
    let list = |quads: &[Quad]| {
        quads
            .iter()
            .map(|quad| format!("{quad} .\n"))
            .collect::<String>()
    };
    tally.fail(format!(
        "{}\n{}\n{}\n{:?}\n--- data\n{}--- other data\n{}--- told {:?}\n--- and {:?}\n--- at first {first}",
        case.name(),
        case.subject.soml,
        operation.document(),
        case.sender,
        list(&quads),
        list(&other),
        told(case, &operation, &quads),
        told(case, &operation, &other),
    ));
}

/// All that a caller is told, except for times.
#[derive(PartialEq)]
struct Told {
    answer: Vec<u8>,
    plan: Vec<String>,
    steps: Vec<TraceStep>,
}

impl std::fmt::Debug for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (answer, steps) = (String::from_utf8_lossy(&self.answer), &self.steps);
        write!(f, "{answer}\n{steps:?}\n{:?}", self.plan)
    }
}

fn told(case: &Case, operation: &Operation, quads: &[Quad]) -> Told {
    // What was asked for before may be answered in fewer steps.
    case.subject.load_again(quads);
    let (request, context) = case.subject.request(operation, &case.sender);
    let explained = fixture::explained_to(&case.subject.service, request, context);
    let (plan, mut steps) = match explained.explanation {
        Some(explanation) => (explanation.plan, explanation.steps),
        None => (Vec::new(), Vec::new()),
    };
    for step in &mut steps {
        step.microseconds = 0;
        if case.subject.knows_counts() {
            // The choice of candidates goes by the numbers of all triples.
            step.look_up = None;
        }
        if !case.subject.is_embedded() {
            // Which holds the objects in the same order.
            step.sparql = step.sparql.as_deref().map(sorted_words);
        }
    }
    // Queries that do not wait for each other are answered in any order.
    steps.sort_by(|a, b| (&a.sparql, a.rows).cmp(&(&b.sparql, b.rows)));
    let mut answer = explained.response.body.to_bytes().to_vec();
    if !case.subject.is_embedded() {
        // A server lists what nothing orders as it stores it.
        let mut json = fixture::json(&answer);
        forget_places(&mut json);
        sort_lists(&mut json);
        answer = json.to_string().into_bytes();
    }
    Told {
        answer,
        plan,
        steps,
    }
}

fn sorted_words(query: &str) -> String {
    let mut words: Vec<&str> = query.split_whitespace().collect();
    words.sort_unstable();
    words.join(" ")
}

/// Drops from errors what tells which of the objects of a list comes first.
fn forget_places(answer: &mut Value) {
    let errors = answer.get_mut("errors").and_then(Value::as_array_mut);
    for error in errors.into_iter().flatten() {
        if let Some(path) = error.get_mut("path").and_then(Value::as_array_mut) {
            path.retain(Value::is_string);
        }
        if error["extensions"]["code"] == "MULTIPLE_VALUES" {
            error["message"].take();
        }
        if error["extensions"]["code"] == "VALUES_LEFT_OUT" {
            // The example is the first one that is listed.
            let message = error["message"].as_str().unwrap_or_default();
            let (said, _example) = message.split_once(", such as ").unwrap_or((message, ""));
            error["message"] = said.into();
        }
    }
}

/// Sorts lists, which come in an order of the store, or hold made-up ids.
pub(crate) fn sort_lists(value: &mut Value) {
    match value {
        Value::Array(items) => {
            items.iter_mut().for_each(sort_lists);
            items.sort_by_key(Value::to_string);
        }
        Value::Object(members) => members.values_mut().for_each(sort_lists),
        _ => {}
    }
}

/// Adds, drops and changes triples that no property shows which the caller may read.
fn varied(case: &Case, quads: &[Quad], operation: &Operation, random: &mut Random) -> Vec<Quad> {
    let graph = Graph::new(quads);
    let model = &case.model();
    let mut unseen = Unseen::new(model, &graph, names_graphs(operation));
    unseen.rows = case.rows.as_ref().map(|rows| {
        let claimed = case.sender.roles.as_deref().unwrap_or_default();
        RowsOf::new(rows, &case.subject.schema, claimed, &case.sender.claims)
    });
    let mut other = Vec::new();
    for quad in quads {
        let is_unseen = unseen.is(quad);
        if !is_unseen || random.chance(50) {
            other.push(quad.clone());
        }
        if is_unseen && random.chance(50) || random.chance(20) {
            let changed = changed(&unseen, quads, quad, random);
            if unseen.is(&changed) && !quads.contains(&changed) && !other.contains(&changed) {
                other.push(changed);
            }
        }
    }
    other
}

/// A triple that differs in its value, its property or its direction.
fn changed(unseen: &Unseen<'_>, quads: &[Quad], quad: &Quad, random: &mut Random) -> Quad {
    let mut changed = quad.clone();
    let some = random.pick(quads).clone();
    match random.below(5) {
        0 => changed.object = Literal::from(7).into(),
        1 => changed.object = some.object,
        2 => changed.object = some.subject.into(),
        3 => {
            let property = random.pick(&unseen.model.schema.properties);
            changed.predicate = NamedNode::new_unchecked(property.path.iri());
        }
        _ => {
            if let (NamedOrBlankNode::NamedNode(subject), Term::NamedNode(object)) =
                (changed.subject.clone(), changed.object.clone())
            {
                changed.subject = object.into();
                changed.object = subject.into();
            }
        }
    }
    changed
}

/// Tells which triples a caller cannot know of.
pub(crate) struct Unseen<'a> {
    model: &'a Model<'a>,
    graph: &'a Graph<'a>,
    /// Some graphs are read alone, in which objects may have other types.
    of_graphs: bool,
    /// The properties that may be read of some objects.
    readable: Vec<&'a Property>,
    /// Which objects the roles of the caller accept, where they do not accept all.
    pub(crate) rows: Option<RowsOf<'a>>,
}

/// Which objects the roles of a caller accept.
pub(crate) struct RowsOf<'a> {
    rows: &'a Rows,
    claims: Map<String, Value>,
    /// The roles, each with what it may alone.
    roles: Vec<(String, Model<'a>)>,
}

impl<'a> RowsOf<'a> {
    /// Takes the roles that a caller claims, and the claims.
    pub(crate) fn new(
        rows: &'a Rows,
        schema: &'a soml_core::Valid<Schema>,
        claimed: &[String],
        claims: &Map<String, Value>,
    ) -> Self {
        let is_declared = |name: &String| schema.rbac.roles.iter().any(|role| role.name == *name);
        let mut names: Vec<String> = claimed.to_vec();
        names.retain(is_declared);
        if names.is_empty() {
            names.push("Default".to_owned());
        }
        let alone = |name: String| {
            let model = Model::of(schema, std::slice::from_ref(&name));
            (name, model)
        };
        RowsOf {
            rows,
            claims: claims.clone(),
            roles: names.into_iter().map(alone).collect(),
        }
    }

    /// Returns whether some role that may read a property of some object accepts this one.
    fn read(&self, property: &Property, node: &Term) -> bool {
        let name = &property.name.written;
        self.any(node, |model| {
            let mut objects = model.schema.objects();
            objects.any(|(id, _)| model.rights.reads(id, name))
        })
    }

    /// Returns whether some role that is shown some object accepts this one.
    pub(crate) fn see(&self, node: &Term) -> bool {
        self.any(node, |model| {
            let mut objects = model.schema.objects();
            objects.any(|(id, _)| model.sees(id))
        })
    }

    fn any(&self, node: &Term, is_meant: impl Fn(&Model<'_>) -> bool) -> bool {
        let mut roles = self.roles.iter();
        roles.any(|(role, model)| self.rows.accepts(role, &self.claims, node) && is_meant(model))
    }
}

impl<'a> Unseen<'a> {
    pub(crate) fn new(model: &'a Model<'a>, graph: &'a Graph<'a>, of_graphs: bool) -> Self {
        let schema = model.schema;
        let readable = schema.objects().flat_map(|(id, object)| {
            let properties = object.props.iter().map(|property| &schema[*property]);
            properties.filter(move |p| model.rights.reads(id, &p.name.written))
        });
        Unseen {
            model,
            graph,
            of_graphs,
            readable: readable.collect(),
            rows: None,
        }
    }

    pub(crate) fn is(&self, quad: &Quad) -> bool {
        let schema = self.model.schema;
        let finds_types = |iri: &str| schema.objects.iter().any(|object| object.type_prop == iri);
        let iri = quad.predicate.as_str();
        if let Some(rows) = &self.rows
            && !rows.see(&quad.subject.clone().into())
            && finds_types(iri)
        {
            // Whether the object is there at all.
            return true;
        }
        let mut readable = self.readable.iter();
        !finds_types(iri) && !readable.any(|p| p.path.iri() == iri && self.shows(p, quad))
    }

    /// Returns whether a property would show a triple: not when its value is an object that is hidden.
    fn shows(&self, property: &Property, quad: &Quad) -> bool {
        let (owner, value): (Term, Term) = match property.path {
            Path::Forward(_) => (quad.subject.clone().into(), quad.object.clone()),
            Path::Inverse { .. } => (quad.object.clone(), quad.subject.clone().into()),
        };
        if self
            .rows
            .as_ref()
            .is_some_and(|rows| !rows.read(property, &owner))
        {
            return false;
        }
        let Range::Object(range) = property.range else {
            return true;
        };
        if self.rows.as_ref().is_some_and(|rows| !rows.see(&value)) {
            return false;
        }
        let ty = self.model.range(range);
        let possible = self.model.possible(ty);
        let sees_some = possible.iter().any(|object| self.model.sees(*object));
        let is_hidden = self.model.is_hidden(self.graph.union(), &value, ty);
        sees_some && (self.of_graphs || !is_hidden)
    }
}

fn names_graphs(operation: &Operation) -> bool {
    operation.selections.iter().any(|root| match root {
        Selection::Field(field) => field.arguments.iter().any(|(name, _)| name == "from"),
        _ => false,
    })
}
