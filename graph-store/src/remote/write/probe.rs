//! Finds out whether a server keeps two writers apart, by letting them race.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::SystemTime;

use call_context::CallContext;
use oxrdf::{Literal, NamedNode, Quad, Term};
use spargebra::algebra::{GraphPattern, GraphTarget};
use spargebra::term::{GraphNamePattern, GroundTerm, QuadPattern};
use spargebra::{GraphUpdateOperation, Update};

use super::change::update;
use super::graphs::{filter, no, select, triple, values, var, within};
use super::read::rows;
use crate::error::StoreError;
use crate::remote::endpoint::{SparqlEndpoint, UpdateEndpoint, UpdateError};
use crate::write::change_graph::PROBE;

/// Nodes that each writer claims in a round.
const NODES: usize = 100;

/// What a server did with racing writers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IsolationReport {
    /// Number of races.
    pub rounds: u32,
    /// Number of races that more than one writer won, or each of them in part.
    pub broken: u32,
    /// Number of races that no one won, as far as the server said.
    pub undecided: u32,
}

impl IsolationReport {
    /// Returns whether one writer won each race; a race that no one won costs a repetition and nothing
    /// else.
    #[must_use]
    pub fn is_isolated(&self) -> bool {
        self.broken == 0
    }

    /// Counts a race with so many winners.
    pub(in crate::remote) fn count(&mut self, winners: usize) {
        self.rounds += 1;
        match winners {
            0 => self.undecided += 1,
            1 => {}
            _ => self.broken += 1,
        }
    }
}

/// Returns the name of a graph that no one has.
pub(in crate::remote) fn fresh_graph() -> NamedNode {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    hasher.write_u128(time.map_or(0, |time| time.as_nanos()));
    NamedNode::new_unchecked(format!("{PROBE}{:016x}", hasher.finish()))
}

/// Returns the node of a round, or one of its nodes.
fn node(graph: &NamedNode, round: u32, number: usize) -> NamedNode {
    NamedNode::new_unchecked(format!("{}:{round}:{number}", graph.as_str()))
}

fn claimed_by(graph: &NamedNode) -> NamedNode {
    NamedNode::new_unchecked(format!("{}:by", graph.as_str()))
}

/// Returns the quads of a claim.
pub(in crate::remote) fn claims(graph: &NamedNode, round: u32, writer: i64) -> Vec<Quad> {
    let claim = |number| {
        let node = node(graph, round, number);
        Quad::new(
            node,
            claimed_by(graph),
            Literal::from(writer),
            graph.clone(),
        )
    };
    (0..NODES).map(claim).collect()
}

/// Returns the update that removes all that the probe has written.
pub(in crate::remote) fn removal(graph: &NamedNode) -> Update {
    update(vec![GraphUpdateOperation::Drop {
        silent: true,
        graph: GraphTarget::NamedNode(graph.clone()),
    }])
}

/// Returns how many writers have won a round: two if each has a part.
pub(in crate::remote) async fn winners(
    endpoint: &dyn SparqlEndpoint,
    graph: &NamedNode,
    round: u32,
    context: &CallContext,
) -> Result<usize, StoreError> {
    let nodes = (0..NODES).map(|number| vec![GroundTerm::from(node(graph, round, number))]);
    let claim = within(graph.clone(), triple(var("s"), claimed_by(graph), var("o")));
    let found = super::graphs::join(values(&["s"], nodes.collect()), claim);
    let columns = ["s", "o"].map(var);
    let found = rows(endpoint, select(&columns, found), 2, context).await?;
    let mut claimed: HashMap<Option<Term>, HashSet<Option<Term>>> = HashMap::new();
    for row in found.terms.chunks(2) {
        let [node, writer] = row else { continue };
        claimed
            .entry(node.clone())
            .or_default()
            .insert(writer.clone());
    }
    let writers: HashSet<_> = claimed.values().flatten().collect();
    let is_whole = claimed.is_empty() || claimed.len() == NODES;
    Ok(if is_whole { writers.len() } else { NODES })
}

/// Lets two guarded updates race.
pub(in crate::remote) async fn probe_updates(
    endpoint: &dyn UpdateEndpoint,
    rounds: u32,
    context: &CallContext,
) -> Result<IsolationReport, StoreError> {
    let graph = fresh_graph();
    let session = endpoint.session();
    let race = async {
        let mut report = IsolationReport::default();
        for round in 0..rounds {
            let claim = |writer| {
                let session = endpoint.session();
                let claim = guarded_claim(&graph, round, writer);
                async move { session.update(&claim, context).await }
            };
            let (one, other) = futures::join!(claim(1), claim(2));
            for claimed in [one, other] {
                claimed.map_err(UpdateError::into_store_error)?;
            }
            report.count(winners(&*session, &graph, round, context).await?);
        }
        Ok(report)
    };
    let report: Result<_, StoreError> = race.await;
    let removed = session.update(&removal(&graph), context).await;
    let report = report?;
    removed.map_err(UpdateError::into_store_error)?;
    Ok(report)
}

/// Returns the update that claims the nodes of a round unless someone has one of them.
fn guarded_claim(graph: &NamedNode, round: u32, writer: i64) -> Update {
    let nodes: Vec<_> = (0..NODES)
        .map(|number| vec![GroundTerm::from(node(graph, round, number))])
        .collect();
    let claim = |subject: &str, object: &str| {
        within(
            graph.clone(),
            triple(var(subject), claimed_by(graph), var(object)),
        )
    };
    let nobody: GraphPattern = filter(
        values(&["s"], nodes.clone()),
        no(super::graphs::join(values(&["t"], nodes), claim("t", "o"))),
    );
    update(vec![GraphUpdateOperation::DeleteInsert {
        delete: Vec::new(),
        insert: vec![QuadPattern {
            subject: var("s").into(),
            predicate: claimed_by(graph).into(),
            object: Literal::from(writer).into(),
            graph_name: GraphNamePattern::NamedNode(graph.clone()),
        }],
        using: None,
        pattern: Box::new(nobody),
    }])
}
