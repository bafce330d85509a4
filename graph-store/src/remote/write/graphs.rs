//! Patterns that match in exactly one graph at a time, and say in which.

use oxrdf::{GraphName, NamedNode, Variable};
use spargebra::algebra::{Expression, Function, GraphPattern};
use spargebra::term::{GroundTerm, NamedNodePattern, TermPattern, TriplePattern};

use crate::remote::dialect::{DefaultGraph, Dialect};
use crate::remote::store::RemoteOptions;
use crate::sparql::union_of;
use crate::write::change_graph;

/// How the graphs of a server are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::remote) struct Graphs {
    dialect: Dialect,
    /// What a pattern outside of `GRAPH` reads.
    outside: DefaultGraph,
}

impl Graphs {
    pub(in crate::remote) fn new(options: &RemoteOptions) -> Self {
        Graphs {
            dialect: options.dialect,
            outside: options.default_graph,
        }
    }

    /// Returns whether the server has a default graph that can be told from the union of all graphs.
    pub(super) fn has_default(self) -> bool {
        self.dialect.default_graph_name().is_some() || self.outside == DefaultGraph::Apart
    }

    /// Returns the graph of a template that removes from the graph that a quad is in.
    ///
    /// Without a graph, RDF4J would remove from all graphs.
    pub(super) fn template(self, graph: GraphName) -> GraphName {
        match graph {
            GraphName::DefaultGraph => match self.dialect {
                Dialect::Rdf4j | Dialect::GraphDb => {
                    let name = self.dialect.default_graph_name();
                    name.map_or(GraphName::DefaultGraph, GraphName::from)
                }
                _ => GraphName::DefaultGraph,
            },
            named => named,
        }
    }

    /// Returns a pattern that matches in the default graph, if there is one.
    pub(super) fn in_default(self, pattern: TriplePattern) -> Option<GraphPattern> {
        match self.dialect.default_graph_name() {
            Some(name) => Some(within(name, pattern)),
            None => self.has_default().then(|| bgp(pattern)),
        }
    }

    /// Returns patterns that match in the default graph and, with the name of the graph in a variable,
    /// in named graphs; and the expression that leaves out the change graph there.
    pub(super) fn each(
        self,
        pattern: &TriplePattern,
        graph: &Variable,
    ) -> Vec<(GraphPattern, Option<Expression>)> {
        let in_default = self
            .in_default(pattern.clone())
            .map(|pattern| (pattern, None));
        let named = within(graph.clone(), pattern.clone());
        let named = (named, Some(no_records(graph)));
        in_default.into_iter().chain([named]).collect()
    }
}

/// Returns a pattern that matches in a graph.
pub(super) fn within(graph: impl Into<NamedNodePattern>, pattern: TriplePattern) -> GraphPattern {
    GraphPattern::Graph {
        name: graph.into(),
        inner: Box::new(bgp(pattern)),
    }
}

/// Returns a pattern that matches in the change graph.
pub(super) fn in_change_graph(pattern: TriplePattern) -> GraphPattern {
    within(change_graph::GRAPH.into_owned(), pattern)
}

pub(super) fn bgp(pattern: TriplePattern) -> GraphPattern {
    GraphPattern::Bgp {
        patterns: vec![pattern],
    }
}

pub(super) fn var(name: &str) -> Variable {
    Variable::new_unchecked(name)
}

pub(super) fn triple(
    subject: impl Into<TermPattern>,
    predicate: impl Into<NamedNodePattern>,
    object: impl Into<TermPattern>,
) -> TriplePattern {
    TriplePattern {
        subject: subject.into(),
        predicate: predicate.into(),
        object: object.into(),
    }
}

pub(super) fn join(left: GraphPattern, right: GraphPattern) -> GraphPattern {
    GraphPattern::Join {
        left: Box::new(left),
        right: Box::new(right),
    }
}

pub(super) fn filter(inner: GraphPattern, expr: Expression) -> GraphPattern {
    GraphPattern::Filter {
        expr,
        inner: Box::new(inner),
    }
}

pub(super) fn select(variables: &[Variable], inner: GraphPattern) -> GraphPattern {
    GraphPattern::Project {
        inner: Box::new(inner),
        variables: variables.to_vec(),
    }
}

/// Returns the union of some patterns; no row if there is none.
pub(super) fn any_of(branches: Vec<GraphPattern>) -> GraphPattern {
    union_of(branches).unwrap_or_else(|| values(&["s"], Vec::new()))
}

/// Returns rows of terms.
pub(super) fn values(names: &[&str], rows: Vec<Vec<GroundTerm>>) -> GraphPattern {
    let bindings = rows.into_iter();
    GraphPattern::Values {
        variables: names.iter().map(|name| var(name)).collect(),
        bindings: bindings
            .map(|row| row.into_iter().map(Some).collect())
            .collect(),
    }
}

/// Returns the condition that a graph is not the change graph.
fn no_records(graph: &Variable) -> Expression {
    let is_it = Expression::Equal(
        Box::new(graph.clone().into()),
        Box::new(NamedNode::from(change_graph::GRAPH).into()),
    );
    Expression::Not(Box::new(is_it))
}

/// Keeps the solutions for which some expressions hold.
pub(super) fn where_all(
    pattern: GraphPattern,
    expressions: impl IntoIterator<Item = Expression>,
) -> GraphPattern {
    let all = expressions
        .into_iter()
        .reduce(|left, right| Expression::And(Box::new(left), Box::new(right)));
    match all {
        Some(all) => filter(pattern, all),
        None => pattern,
    }
}

pub(super) fn is(test: Function, variable: &Variable) -> Expression {
    Expression::FunctionCall(test, vec![variable.clone().into()])
}

/// Returns what is true if a pattern has no solution.
pub(super) fn no(pattern: GraphPattern) -> Expression {
    Expression::Not(Box::new(Expression::Exists(Box::new(pattern))))
}
