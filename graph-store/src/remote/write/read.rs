//! Quads of a server, exact in their graphs: the query for many patterns at once, and its rows.

use call_context::CallContext;
use oxrdf::{BlankNode, GraphName, NamedNode, NamedOrBlankNode, Quad, Term};
use spargebra::Query;
use spargebra::algebra::{Function, GraphPattern};
use spargebra::term::{GroundTerm, TriplePattern};

use super::graphs::{Graphs, any_of, filter, is, join, select, triple, values, var, where_all};
use crate::error::StoreError;
use crate::query::Dataset;
use crate::remote::endpoint::{EndpointQuery, Rows, SparqlEndpoint};
use crate::write::{QuadPattern, change_graph};

/// Patterns of one query.
pub(in crate::remote) const PATTERNS: usize = 2_500;

/// Sorts patterns into lists of terms, one list for each form of pattern.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// Subjects of which all quads are read.
    pub(super) subjects: Vec<Vec<GroundTerm>>,
    /// Subjects and predicates.
    pub(super) values: Vec<Vec<GroundTerm>>,
    /// Predicates and objects.
    pub(super) links: Vec<Vec<GroundTerm>>,
    /// Objects of which all quads are read.
    pub(super) objects: Vec<Vec<GroundTerm>>,
    /// Objects whose subjects are read further, by the same predicate.
    referred: Vec<Vec<GroundTerm>>,
    /// Objects whose subjects are read further, and by which predicate.
    also: Vec<Vec<GroundTerm>>,
}

impl Lists {
    fn of(patterns: &[QuadPattern]) -> Self {
        let mut lists = Lists::default();
        let row = |nodes: &[&NamedNode]| nodes.iter().map(|&node| node.clone().into()).collect();
        for pattern in patterns {
            match pattern {
                QuadPattern::About(subject) => lists.subjects.push(row(&[subject])),
                QuadPattern::Values { subject, predicate } => {
                    lists.values.push(row(&[subject, predicate]));
                }
                QuadPattern::Links { predicate, object } => {
                    lists.links.push(row(&[predicate, object]));
                }
                QuadPattern::Referrers { object, also } => {
                    lists.objects.push(row(&[object]));
                    lists.referred.push(row(&[object]));
                    let also = also.iter();
                    lists
                        .also
                        .extend(also.map(|further| row(&[object, further])));
                }
            }
        }
        lists
    }

    /// Returns a branch for each form and graph.
    ///
    /// Every branch starts from its list and is a `SELECT` of its own: RDF4J's `NativeStore` reads
    /// everything in its graphs otherwise, once for each row of a list of two or more in a `UNION`.
    pub(super) fn branches(self, graphs: Graphs) -> Vec<GraphPattern> {
        let spo = triple(var("s"), var("p"), var("o"));
        let mut branches = Vec::new();
        for (names, list) in [
            (&["s"][..], self.subjects),
            (&["s", "p"], self.values),
            (&["p", "o"], self.links),
            (&["o"], self.objects),
        ] {
            if !list.is_empty() {
                branches.extend(quads_from(graphs, &values(names, list), &spo));
            }
        }
        let same = triple(var("s"), var("p"), var("x"));
        let other = triple(var("s"), var("q"), var("x"));
        for (names, list, link) in [
            (&["x"][..], self.referred, same),
            (&["x", "p"], self.also, other),
        ] {
            if !list.is_empty() {
                let start = referrers(graphs, &values(names, list), &link);
                branches.extend(quads_from(graphs, &start, &spo));
            }
        }
        branches
    }
}

/// Returns a branch for each graph, with the quads of what is known of them.
fn quads_from(
    graphs: Graphs,
    start: &GraphPattern,
    quads: &TriplePattern,
) -> impl Iterator<Item = GraphPattern> {
    let each = graphs.each(quads, &var("g")).into_iter();
    each.map(|(found, is_data)| {
        let columns = ["s", "p", "o", "g"].map(var);
        select(&columns, where_all(join(start.clone(), found), is_data))
    })
}

/// Returns a pattern for the subjects of links, each with a predicate once.
fn referrers(graphs: Graphs, start: &GraphPattern, link: &TriplePattern) -> GraphPattern {
    let columns = ["s", "p"].map(var);
    let each = graphs.each(link, &var("h")).into_iter();
    let found = each
        .map(|(found, is_data)| select(&columns, where_all(join(start.clone(), found), is_data)));
    let is_iri = is(Function::IsIri, &var("s"));
    let inner = select(&columns, filter(any_of(found.collect()), is_iri));
    GraphPattern::Distinct {
        inner: Box::new(inner),
    }
}

/// Returns the pattern for quads, and for the sign that a sequence is taken, if one is given.
pub(in crate::remote) fn quads_of(
    graphs: Graphs,
    patterns: &[QuadPattern],
    sequence: Option<u64>,
) -> GraphPattern {
    let mut branches = Lists::of(patterns).branches(graphs);
    branches.extend(sequence.into_iter().flat_map(taken));
    let columns = ["s", "p", "o", "g"].map(var);
    select(&columns, any_of(branches))
}

/// Returns the query for all quads but those of change records.
pub(in crate::remote) fn every_quad(graphs: Graphs) -> Query {
    let columns = ["s", "p", "o", "g"].map(var);
    let spo = triple(var("s"), var("p"), var("o"));
    let each = graphs
        .each(&spo, &var("g"))
        .into_iter()
        .map(|(found, is_data)| where_all(found, is_data));
    Query::Select {
        dataset: None,
        pattern: select(&columns, any_of(each.collect())),
        base_iri: None,
    }
}

/// Returns patterns that match in the change graph if a sequence may be taken.
fn taken(sequence: u64) -> [GraphPattern; 2] {
    let graph = || GroundTerm::from(NamedNode::from(change_graph::GRAPH));
    let found = || super::graphs::within(var("g"), triple(var("s"), var("p"), var("o")));
    let property = |property| GroundTerm::from(NamedNode::from(property));
    let sequence = change_graph::sequence(sequence).into();
    let record = vec![property(change_graph::SEQUENCE), sequence, graph()];
    // What was forgotten, and who writes: a process that begins to write changes that.
    let itself = vec![graph(), graph()];
    [
        join(values(&["p", "o", "g"], vec![record]), found()),
        join(values(&["s", "g"], vec![itself]), found()),
    ]
}

/// What a query for quads found.
#[derive(Debug, Default)]
pub(in crate::remote) struct Found {
    pub(in crate::remote) quads: Vec<Quad>,
    /// A record has the sequence that was asked about, or had it before it was forgotten.
    pub(in crate::remote) is_taken: bool,
}

impl Found {
    /// Reads the rows of [`quads_of`].
    pub(in crate::remote) fn read(rows: Rows, sequence: Option<u64>) -> Result<Self, StoreError> {
        let mut found = Found::default();
        let mut terms = rows.terms.into_iter();
        while let (Some(subject), Some(predicate), Some(object), Some(graph)) =
            (terms.next(), terms.next(), terms.next(), terms.next())
        {
            let quad = quad(subject, predicate, object, graph)
                .ok_or_else(|| malformed("a result has a row that is not a quad"))?;
            if quad.graph_name != change_graph::GRAPH.into() {
                found.quads.push(quad);
            } else if quad.predicate == change_graph::FORGOTTEN {
                let up_to = change_graph::as_sequence(&quad.object);
                found.is_taken |= up_to >= sequence;
            } else {
                found.is_taken |= quad.predicate != change_graph::WRITER;
            }
        }
        Ok(found)
    }
}

/// Returns the quad of a row: in the default graph if the row has no graph.
pub(in crate::remote) fn quad(
    subject: Option<Term>,
    predicate: Option<Term>,
    object: Option<Term>,
    graph: Option<Term>,
) -> Option<Quad> {
    let subject = match subject? {
        Term::NamedNode(node) => NamedOrBlankNode::from(node),
        Term::BlankNode(node) => node.into(),
        _ => return None,
    };
    let Term::NamedNode(predicate) = predicate? else {
        return None;
    };
    let graph = match graph {
        None => GraphName::DefaultGraph,
        Some(Term::NamedNode(graph)) => graph.into(),
        Some(Term::BlankNode(graph)) => graph.into(),
        Some(_) => return None,
    };
    Some(Quad::new(subject, predicate, object?, graph))
}

/// Makes the blank nodes of a result differ from those of all others, where a server gives the same
/// label to different nodes.
pub(super) fn relabel(quads: &mut [Quad], result: usize) {
    let fresh = |node: &BlankNode| BlankNode::new_unchecked(format!("r{result}x{}", node.as_str()));
    for quad in quads {
        if let NamedOrBlankNode::BlankNode(node) = &mut quad.subject {
            *node = fresh(node);
        }
        if let Term::BlankNode(node) = &mut quad.object {
            *node = fresh(node);
        }
    }
}

/// Runs a query outside of all datasets: the graphs are in the pattern.
pub(in crate::remote) async fn rows(
    endpoint: &dyn SparqlEndpoint,
    pattern: GraphPattern,
    width: usize,
    context: &CallContext,
) -> Result<Rows, StoreError> {
    context.check()?;
    let query = Query::Select {
        dataset: None,
        pattern,
        base_iri: None,
    };
    // Only what is stated can be removed.
    let dataset = Dataset {
        include_inferred: false,
        expand_same_as: false,
        ..Dataset::default()
    };
    context.count_call();
    let started = std::time::Instant::now();
    let text = query.to_string();
    let request = EndpointQuery {
        query: &query,
        text: &text,
        dataset: &dataset,
    };
    let rows = endpoint.select(request, context).await?;
    if rows.width != width || !rows.terms.len().is_multiple_of(width) {
        return Err(malformed("a result has other columns than its query"));
    }
    if let Some(trace) = &context.trace {
        trace.record("query", Some(text), rows.terms.len() / width, started);
    }
    Ok(rows)
}

pub(in crate::remote) fn malformed(what: &'static str) -> StoreError {
    StoreError::Failed(what.into())
}
