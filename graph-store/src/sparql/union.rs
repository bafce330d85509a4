//! Reads the default graph and all named graphs in stores that keep them apart.

use oxrdf::Variable;
use spargebra::algebra::{Expression, GraphPattern};
use spargebra::term::TriplePattern;

/// Lets every triple pattern of a query match in the default graph and in every named graph.
///
/// SPARQL 1.1 itself has no other way. A triple that is in several graphs matches several times.
pub(crate) fn over_all_graphs(pattern: GraphPattern) -> GraphPattern {
    Widener::default().pattern(pattern)
}

/// Creates a variable for the graph of each triple pattern.
#[derive(Default)]
struct Widener {
    graphs: usize,
}

impl Widener {
    fn pattern(&mut self, pattern: GraphPattern) -> GraphPattern {
        match pattern {
            GraphPattern::Bgp { patterns } => self.triples(patterns),
            GraphPattern::Join { left, right } => GraphPattern::Join {
                left: self.boxed(*left),
                right: self.boxed(*right),
            },
            GraphPattern::Union { left, right } => GraphPattern::Union {
                left: self.boxed(*left),
                right: self.boxed(*right),
            },
            GraphPattern::LeftJoin {
                left,
                right,
                expression,
            } => GraphPattern::LeftJoin {
                left: self.boxed(*left),
                right: self.boxed(*right),
                expression: expression.map(|expression| self.expression(expression)),
            },
            GraphPattern::Minus { left, right } => GraphPattern::Minus {
                left: self.boxed(*left),
                right: self.boxed(*right),
            },
            GraphPattern::Filter { expr, inner } => GraphPattern::Filter {
                expr: self.expression(expr),
                inner: self.boxed(*inner),
            },
            GraphPattern::Extend {
                inner,
                variable,
                expression,
            } => GraphPattern::Extend {
                inner: self.boxed(*inner),
                variable,
                expression: self.expression(expression),
            },
            GraphPattern::OrderBy { inner, expression } => GraphPattern::OrderBy {
                inner: self.boxed(*inner),
                expression,
            },
            GraphPattern::Project { inner, variables } => GraphPattern::Project {
                inner: self.boxed(*inner),
                variables,
            },
            GraphPattern::Distinct { inner } => GraphPattern::Distinct {
                inner: self.boxed(*inner),
            },
            GraphPattern::Slice {
                inner,
                start,
                length,
            } => GraphPattern::Slice {
                inner: self.boxed(*inner),
                start,
                length,
            },
            GraphPattern::Group {
                inner,
                variables,
                aggregates,
            } => GraphPattern::Group {
                inner: self.boxed(*inner),
                variables,
                aggregates,
            },
            other @ GraphPattern::Values { .. } => other,
            other => unreachable!("no query of ours holds {other}"),
        }
    }

    fn boxed(&mut self, pattern: GraphPattern) -> Box<GraphPattern> {
        Box::new(self.pattern(pattern))
    }

    fn triples(&mut self, patterns: Vec<TriplePattern>) -> GraphPattern {
        let widened = patterns.into_iter().map(|triple| {
            let pattern = GraphPattern::Bgp {
                patterns: vec![triple],
            };
            self.graphs += 1;
            let graph = Variable::new_unchecked(format!("g{}", self.graphs));
            GraphPattern::Union {
                left: Box::new(pattern.clone()),
                right: Box::new(GraphPattern::Graph {
                    name: graph.into(),
                    inner: Box::new(pattern),
                }),
            }
        });
        let joined = widened.reduce(|left, right| GraphPattern::Join {
            left: Box::new(left),
            right: Box::new(right),
        });
        joined.unwrap_or_else(|| GraphPattern::Bgp {
            patterns: Vec::new(),
        })
    }

    fn expression(&mut self, expression: Expression) -> Expression {
        use Expression as E;
        let mut two = |left: Box<E>, right: Box<E>| {
            (
                Box::new(self.expression(*left)),
                Box::new(self.expression(*right)),
            )
        };
        match expression {
            E::Or(left, right) => {
                let (left, right) = two(left, right);
                E::Or(left, right)
            }
            E::And(left, right) => {
                let (left, right) = two(left, right);
                E::And(left, right)
            }
            E::Not(inner) => E::Not(Box::new(self.expression(*inner))),
            E::Exists(pattern) => E::Exists(self.boxed(*pattern)),
            E::If(condition, yes, no) => {
                let (yes, no) = two(yes, no);
                E::If(Box::new(self.expression(*condition)), yes, no)
            }
            E::Coalesce(options) => E::Coalesce(
                options
                    .into_iter()
                    .map(|option| self.expression(option))
                    .collect(),
            ),
            // Comparisons and calls contain terms, variables and other calls, but no patterns.
            leaf => leaf,
        }
    }
}
