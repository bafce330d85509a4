//! Differences between servers, and the queries sent to each.

use oxrdf::NamedNode;
use spargebra::Query;
use spargebra::algebra::{GraphPattern, QueryDataset};

use crate::query::{Dataset, NodeCondition};
use crate::sparql::over_all_graphs;
use crate::store::{Inference, StoreFeatures};

/// A kind of SPARQL server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// RDF4J Server: its default graph is the union of all; `infer` is a protocol parameter.
    Rdf4j,
    /// GraphDB: like RDF4J, with `sameAs` as a further parameter.
    GraphDb,
    /// Apache Jena Fuseki: its default graph and the union of its named graphs have reserved names.
    Fuseki,
    /// Oxigraph's own server: the default graph is separate, and nothing is inferred.
    Oxigraph,
    /// Any other server that answers SPARQL 1.1 queries.
    Sparql11,
}

/// What the default graph of a server holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DefaultGraph {
    /// The triples of all graphs.
    Union,
    /// Only triples that are in no named graph.
    Apart,
}

/// The form of a query for several levels. Both say the same; which one a server evaluates well
/// differs, and the other one may cost it 20 times as much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TreeForm {
    /// A UNION branch for each property of each level, all the way from the ids.
    Flat,
    /// The way from level to level once; what comes after it is OPTIONAL.
    Nested,
}

impl Dialect {
    /// Returns the form in which such a server is asked for several levels at once; `None` for one
    /// level after the other.
    ///
    /// RDF4J and Fuseki evaluate OPTIONAL in the order in which it is written, as long as nothing in it is bound again by BIND,
    /// and RDF4J plans each branch of a UNION again. Oxigraph may join the two sides of OPTIONAL after it has read all of
    /// each. Of a server of unknown kind it is not known whether it plans ways of several steps well.
    #[must_use]
    pub fn tree_form(self) -> Option<TreeForm> {
        match self {
            Dialect::Rdf4j | Dialect::GraphDb | Dialect::Fuseki => Some(TreeForm::Nested),
            Dialect::Oxigraph => Some(TreeForm::Flat),
            Dialect::Sparql11 => None,
        }
    }

    /// Returns what the default graph of such a server holds in its default configuration.
    #[must_use]
    pub fn default_graph(self) -> DefaultGraph {
        match self {
            Dialect::Rdf4j | Dialect::GraphDb => DefaultGraph::Union,
            Dialect::Fuseki | Dialect::Oxigraph | Dialect::Sparql11 => DefaultGraph::Apart,
        }
    }

    /// Returns what a request to such a server can choose, in its default configuration.
    ///
    /// A server of unknown kind may infer, and has no parameter to prevent it.
    #[must_use]
    pub fn features(self) -> StoreFeatures {
        let (inference, same_as) = match self {
            Dialect::Rdf4j => (Inference::Switchable, Inference::None),
            Dialect::GraphDb => (Inference::Switchable, Inference::Switchable),
            Dialect::Fuseki | Dialect::Oxigraph => (Inference::None, Inference::None),
            Dialect::Sparql11 => (Inference::Always, Inference::Always),
        };
        StoreFeatures {
            repository: None,
            inference,
            same_as,
        }
    }

    /// Returns whether such a server is known to compare numbers by value, and strings by code point or UTF-16 code unit,
    /// with unbound variables before all values.
    pub(super) fn orders_as_specified(self) -> bool {
        match self {
            Dialect::Rdf4j | Dialect::Fuseki | Dialect::Oxigraph => true,
            Dialect::GraphDb | Dialect::Sparql11 => false,
        }
    }

    /// Returns whether such a server counts one solution where a join with `VALUES` has none, as
    /// RDF4J 3.7.7 does when it detects early that nothing can match.
    pub(super) fn miscounts_values(self) -> bool {
        matches!(self, Dialect::Rdf4j | Dialect::GraphDb)
    }

    /// Returns a condition as such a server should read it.
    ///
    /// RDF4J joins patterns by the number of solutions that it expects of each, and those alike in the order in which they are
    /// written: a test of a value that comes first saves the joins of what fails. Fuseki joins in memory as it is written, and
    /// objects of a type may be few beside all that have a property.
    pub(super) fn arranged(self, condition: &NodeCondition) -> NodeCondition {
        let mut condition = condition.clone();
        let estimates = matches!(self, Dialect::Rdf4j | Dialect::GraphDb);
        if let (true, NodeCondition::All(parts)) = (estimates, &mut condition) {
            parts.sort_by_key(|part| matches!(part, NodeCondition::Instance(_)));
        }
        condition
    }

    /// Returns the name by which a pattern reads the default graph alone; `None` where a pattern outside
    /// of `GRAPH` does.
    #[cfg(feature = "remote")]
    pub(super) fn default_graph_name(self) -> Option<NamedNode> {
        let name = match self {
            // Later versions have another name too, and understand this one.
            Dialect::Rdf4j | Dialect::GraphDb => "http://www.openrdf.org/schema/sesame#nil",
            Dialect::Fuseki => "urn:x-arq:DefaultGraph",
            Dialect::Oxigraph | Dialect::Sparql11 => return None,
        };
        Some(NamedNode::new_unchecked(name))
    }

    /// Builds a query that evaluates a pattern over a dataset.
    pub(super) fn query(
        self,
        default_graph: DefaultGraph,
        pattern: GraphPattern,
        dataset: &Dataset,
    ) -> Query {
        let is_apart = default_graph == DefaultGraph::Apart;
        let graphs = match &dataset.graphs {
            Some(graphs) => Some(graphs.clone()),
            None if is_apart && self == Dialect::Fuseki => Some(all_of_fuseki()),
            None => None,
        };
        let pattern = if is_apart && graphs.is_none() {
            over_all_graphs(pattern)
        } else {
            pattern
        };
        Query::Select {
            dataset: graphs.map(|default| QueryDataset {
                default,
                named: None,
            }),
            pattern,
            base_iri: None,
        }
    }
}

/// The reserved names of Fuseki for its default graph and for the union of its named graphs.
fn all_of_fuseki() -> Vec<NamedNode> {
    ["urn:x-arq:DefaultGraph", "urn:x-arq:UnionGraph"]
        .map(NamedNode::new_unchecked)
        .to_vec()
}
