//! Changes as updates: rows of terms, so that no operation grows with what is changed.
//!
//! RDF4J overflows its stack on a template of 20,000 triples, and removes nothing by `DELETE DATA` from
//! its default graph by name; a template with variables does both right.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use oxrdf::{GraphName, NamedNode, NamedOrBlankNode, Quad, Term};
use spargebra::algebra::{Function, GraphPattern};
use spargebra::term::{
    GraphNamePattern, GroundQuadPattern, GroundTerm, QuadPattern as InsertPattern,
};
use spargebra::{GraphUpdateOperation, Update};

use super::graphs::{Graphs, any_of, filter, is, join, triple, values, var, within};
use super::terms::{data, ground};
use crate::error::StoreError;
use crate::write::QuadChange;

/// What the quads with a blank node have in common that can be said about them: no query or update can
/// name a blank node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Shape {
    /// Those of a subject and a predicate whose object is a blank node.
    Object(NamedNode, NamedNode, Option<NamedNode>),
    /// Those with a predicate and an object whose subject is a blank node.
    Subject(NamedNode, GroundTerm, Option<NamedNode>),
}

/// Quads with blank nodes, by their shape.
#[derive(Debug, Default)]
pub(in crate::remote) struct BlankQuads(HashMap<Shape, HashSet<Quad>>);

/// Returns the shape of a quad with a blank node; `None` if it has none, or has two.
pub(super) fn shape(quad: &Quad) -> Option<Shape> {
    let graph = match &quad.graph_name {
        GraphName::NamedNode(graph) => Some(graph.clone()),
        GraphName::DefaultGraph => None,
        GraphName::BlankNode(_) => return None,
    };
    let predicate = quad.predicate.clone();
    match (&quad.subject, &quad.object) {
        (NamedOrBlankNode::NamedNode(subject), Term::BlankNode(_)) => {
            Some(Shape::Object(subject.clone(), predicate, graph))
        }
        (NamedOrBlankNode::BlankNode(_), Term::BlankNode(_)) => None,
        (NamedOrBlankNode::BlankNode(_), object) => {
            let object = GroundTerm::try_from(object.clone()).ok()?;
            Some(Shape::Subject(predicate, object, graph))
        }
        _ => None,
    }
}

impl BlankQuads {
    /// Adds the quads of one result that have blank nodes.
    pub(in crate::remote) fn add(&mut self, quads: &[Quad]) {
        for quad in quads {
            if let Some(shape) = shape(quad) {
                self.0.entry(shape).or_default().insert(quad.clone());
            }
        }
    }

    /// Checks that quads can be removed together.
    pub(in crate::remote) fn check(&self, removed: &[Quad]) -> Result<(), StoreError> {
        self.removed(removed).map(|_| ())
    }

    pub(super) fn get(&self, shape: &Shape) -> Option<&HashSet<Quad>> {
        self.0.get(shape)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Shape, &HashSet<Quad>)> {
        self.0.iter()
    }

    /// Returns one quad of each shape that is removed.
    ///
    /// # Errors
    /// When not all quads of a shape are removed, since which of them are cannot be said.
    fn removed<'q>(&self, removed: &'q [Quad]) -> Result<Vec<&'q Quad>, StoreError> {
        let all: HashSet<&Quad> = removed.iter().collect();
        let mut done = HashSet::new();
        let mut examples = Vec::new();
        for quad in removed.iter().filter(|quad| ground(quad).is_none()) {
            let shape = shape(quad);
            let known = shape.as_ref().and_then(|shape| self.get(shape));
            let whole = known.is_some_and(|known| known.iter().all(|quad| all.contains(quad)));
            let (Some(shape), true) = (shape, whole) else {
                return Err(StoreError::Unsupported(format!(
                    "{quad} cannot be removed on its own, since blank nodes have no stable name on \
                     a server"
                )));
            };
            if done.insert(shape) {
                examples.push(quad);
            }
        }
        Ok(examples)
    }
}

/// Rows of quads to remove and to add, and the templates for them.
pub(super) struct Rows {
    branches: Vec<GraphPattern>,
    adds: bool,
    graphs: Graphs,
}

impl Rows {
    /// Returns the rows of quads to remove.
    pub(super) fn removed(
        graphs: Graphs,
        quads: &[Quad],
        blank: &BlankQuads,
    ) -> Result<Self, StoreError> {
        let mut rows = Rows {
            branches: rows_of(quads, ["rs", "rp", "ro", "rg"], ["ds", "dp", "do"]),
            adds: false,
            graphs,
        };
        let examples = blank.removed(quads)?;
        let mut lists: [Vec<Vec<GroundTerm>>; 4] = Default::default();
        for quad in examples {
            let is_subject = quad.subject.is_blank_node();
            let mut row: Vec<GroundTerm> = vec![quad.predicate.clone().into()];
            match &quad.subject {
                NamedOrBlankNode::NamedNode(subject) => row.insert(0, subject.clone().into()),
                NamedOrBlankNode::BlankNode(_) => row.extend(quad.object.clone().try_into().ok()),
            }
            let is_named = match &quad.graph_name {
                GraphName::NamedNode(graph) => {
                    row.push(graph.clone().into());
                    true
                }
                _ => false,
            };
            lists[usize::from(is_subject) * 2 + usize::from(is_named)].push(row);
        }
        for (list, (names, blank)) in lists.into_iter().zip(BLANK) {
            if !list.is_empty() {
                rows.branches.extend(blank_rows(graphs, names, blank, list));
            }
        }
        Ok(rows)
    }

    /// Adds the rows of quads to add.
    pub(super) fn and_added(mut self, quads: &[Quad]) -> Self {
        let rows = rows_of(quads, ["as", "ap", "ao", "ag"], ["bs", "bp", "bo"]);
        self.branches.extend(rows);
        self.adds = true;
        self
    }

    /// Returns the operation that removes and adds the rows where a pattern has a solution.
    pub(super) fn operation(self, guard: Option<GraphPattern>) -> GraphUpdateOperation {
        let removing = |[s, p, o]: [&str; 3], graph_name: GraphNamePattern| GroundQuadPattern {
            subject: var(s).into(),
            predicate: var(p).into(),
            object: var(o).into(),
            graph_name,
        };
        let adding = |[s, p, o]: [&str; 3], graph_name: GraphNamePattern| InsertPattern {
            subject: var(s).into(),
            predicate: var(p).into(),
            object: var(o).into(),
            graph_name,
        };
        let default = match self.graphs.template(GraphName::DefaultGraph) {
            GraphName::NamedNode(name) => GraphNamePattern::NamedNode(name),
            _ => GraphNamePattern::DefaultGraph,
        };
        let mut insert = vec![
            adding(["bs", "bp", "bo"], GraphNamePattern::DefaultGraph),
            adding(["as", "ap", "ao"], GraphNamePattern::Variable(var("ag"))),
        ];
        insert.retain(|_| self.adds);
        let rows = any_of(self.branches);
        GraphUpdateOperation::DeleteInsert {
            delete: vec![
                removing(["ds", "dp", "do"], default),
                removing(["rs", "rp", "ro"], GraphNamePattern::Variable(var("rg"))),
            ],
            insert,
            using: None,
            pattern: Box::new(match guard {
                Some(guard) => join(guard, rows),
                None => rows,
            }),
        }
    }
}

/// The columns of shapes, and the blank node among the variables of the template: an object, one in a
/// named graph, a subject, one in a named graph.
const BLANK: [(&[&str], &str); 4] = [
    (&["ds", "dp"], "do"),
    (&["rs", "rp", "rg"], "ro"),
    (&["dp", "do"], "ds"),
    (&["rp", "ro", "rg"], "rs"),
];

/// Returns the rows of all quads of some shapes.
fn blank_rows(
    graphs: Graphs,
    names: &[&str],
    blank: &str,
    list: Vec<Vec<GroundTerm>>,
) -> Option<GraphPattern> {
    let found = match names {
        [.., "rg"] => within(var("rg"), triple(var("rs"), var("rp"), var("ro"))),
        _ => graphs.in_default(triple(var("ds"), var("dp"), var("do")))?,
    };
    let found = join(values(names, list), found);
    Some(filter(found, is(Function::IsBlank, &var(blank))))
}

/// Returns the rows of quads without blank nodes, those of named graphs apart from the others.
fn rows_of(quads: &[Quad], named: [&str; 4], default: [&str; 3]) -> Vec<GraphPattern> {
    let rows = quads.iter().filter_map(ground);
    let (in_named, in_default): (Vec<_>, Vec<_>) = rows.partition(|row| row.len() == 4);
    let mut branches = Vec::new();
    for (names, rows) in [(&named[..], in_named), (&default[..], in_default)] {
        if !rows.is_empty() {
            branches.push(values(names, rows));
        }
    }
    branches
}

/// Quads of one request, about: a body of some megabytes.
const QUADS: usize = 25_000;

/// A part of a change, as one request of a transaction.
pub(in crate::remote) enum Part {
    /// An update that removes quads, and may add others.
    Update(String),
    /// Quads to add, as N-Quads, which a server reads in a fifth of the time of an update.
    Added(String),
}

/// Returns the parts of a change within a transaction, each of bounded size, so that no body is larger
/// than servers take.
pub(in crate::remote) fn parts(
    graphs: Graphs,
    change: QuadChange,
    blank: &BlankQuads,
) -> Result<Vec<Part>, StoreError> {
    let (ground, others): (Vec<Quad>, Vec<Quad>) = change
        .removed
        .into_iter()
        .partition(|quad| ground(quad).is_some());
    let removed = ground.chunks(QUADS).chain([&others[..]]);
    let mut updates: Vec<(usize, Update)> = Vec::new();
    for quads in removed.filter(|quads| !quads.is_empty()) {
        let operation = Rows::removed(graphs, quads, blank)?.operation(None);
        match updates.last_mut() {
            Some((size, update)) if *size + quads.len() <= QUADS => {
                *size += quads.len();
                update.operations.push(operation);
            }
            _ => updates.push((quads.len(), update(vec![operation]))),
        }
    }
    let mut added = change.added.as_slice();
    // One request less.
    if let Some((size, update)) = updates.last_mut()
        && *size + added.len() <= QUADS
    {
        let data = data(std::mem::take(&mut added));
        if !data.is_empty() {
            update
                .operations
                .push(GraphUpdateOperation::InsertData { data });
        }
    }
    let updates = updates
        .into_iter()
        .map(|(_, update)| Part::Update(update.to_string()));
    let added = added.chunks(QUADS).map(|quads| Part::Added(n_quads(quads)));
    Ok(updates.chain(added).collect())
}

fn n_quads(quads: &[Quad]) -> String {
    let mut text = String::new();
    for quad in quads {
        writeln!(text, "{quad} .").expect("writing to a string");
    }
    text
}

/// Returns an update of some operations.
pub(in crate::remote) fn update(operations: Vec<GraphUpdateOperation>) -> Update {
    Update {
        base_iri: None,
        operations,
    }
}
