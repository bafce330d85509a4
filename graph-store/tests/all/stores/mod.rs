//! Every kind of store fulfils the contract of `GraphStore`.
//!
//! Each behaviour is a function of a store, and a test over each kind of store.

/// Makes a test of each behaviour over each kind of store.
macro_rules! over_every_store {
    ($($behaviour:ident),* $(,)?) => {
        mod memory {
            $(#[test] fn $behaviour() { crate::stores::run(crate::stores::Kind::Memory, super::$behaviour); })*
        }
        mod sealed {
            $(#[test] fn $behaviour() { crate::stores::run(crate::stores::Kind::Sealed, super::$behaviour); })*
        }
        #[cfg(feature = "rocksdb")]
        mod rocksdb {
            $(#[test] fn $behaviour() { crate::stores::run(crate::stores::Kind::RocksDb, super::$behaviour); })*
        }
        mod remote {
            $(#[test] fn $behaviour() { crate::stores::run(crate::stores::Kind::Remote, super::$behaviour); })*
        }
        mod remote_apart {
            $(#[test] fn $behaviour() { crate::stores::run(crate::stores::Kind::RemoteApart, super::$behaviour); })*
        }
        mod rdf4j {
            $(#[test]
            #[ignore = "needs a running RDF4J Server named by RDF4J_URL"]
            fn $behaviour() { crate::stores::run(crate::stores::Kind::Rdf4j { infers: false }, super::$behaviour); })*
        }
        mod fuseki {
            $(#[test]
            #[ignore = "needs a running Fuseki server named by FUSEKI_URL"]
            fn $behaviour() { crate::stores::run(crate::stores::Kind::Fuseki, super::$behaviour); })*
        }
    };
}

mod dataset;
mod ends;
mod hydration;
mod malformed;
mod order;
mod selection;

use std::sync::{Arc, OnceLock};

use crate::back_end::{BackEnd, Kind};
use graph_store::CallContext;
use graph_store::GraphStore;
use graph_store::query::{Column, HydrationRequest, Slot};
use graph_store::query::{Dataset, NodeCondition, OrderKey, Page, Selection, Step, TypeTest};
use oxigraph::io::{RdfFormat, RdfParser};
use oxrdf::{NamedNode, Quad, Term};
use tokio::runtime::Runtime;

/// Three things, spread over the default graph and two named graphs; some triples are in two.
const DATA: &str = r#"
    @prefix : <http://e/> .
    @prefix v: <http://v/> .
    @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
    :a a v:Thing ; v:name "b"@en, "A" ; v:size 1 ; v:next :b, :c, _:x .
    _:x a v:Thing ; v:size 9 .
    :g1 { :b a v:Thing ; v:name "C" ; v:size 2.5 ; v:next :c . :c v:next :a }
    :g2 {
        :c a v:Thing, v:Other ; v:size "03"^^xsd:integer ; v:next "text", :d .
        :a v:next :b .
        :d a v:Other .
        :a v:long 1000000000000000000000000000002 .
        :b v:long 1000000000000000000000000000001 .
        :c v:long 999999999999999999999999999999 .
    }
"#;

pub(crate) fn quads(trig: &str) -> Vec<Quad> {
    let parser = RdfParser::from_format(RdfFormat::TriG);
    let quads: Result<_, _> = parser.for_slice(trig.as_bytes()).collect();
    quads.expect("TriG")
}

fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| Runtime::new().expect("a runtime starts"))
}

/// Runs a behaviour over a store that holds [`DATA`].
fn run(kind: Kind, behaviour: fn(&Subject)) {
    let back_end = BackEnd::new(kind);
    back_end.load(&quads(DATA));
    behaviour(&Subject {
        store: back_end.graph_store(),
        context: CallContext::default(),
    });
}

/// A store that is looked at.
struct Subject {
    store: Arc<dyn GraphStore>,
    context: CallContext,
}

impl Subject {
    /// Returns the local names of the objects of a selection.
    fn select(&self, selection: &Selection) -> Vec<String> {
        let nodes = runtime().block_on(self.store.select(selection, &self.context));
        let nodes = nodes.unwrap_or_else(|error| panic!("{error:?}"));
        let count = runtime().block_on(self.store.count(selection, &self.context));
        if selection.page.is_whole() {
            assert_eq!(count.expect("a count"), nodes.len() as u64, "the count");
        }
        nodes.iter().map(local).collect()
    }

    /// Returns the local names of the objects that satisfy a condition, sorted.
    fn satisfying(&self, condition: NodeCondition) -> Vec<String> {
        let mut names = self.select(&selection(NodeCondition::all([things(), condition])));
        names.sort_unstable();
        names
    }

    fn hydrate(&self, nodes: &[&str], slots: &[Slot]) -> Vec<Column> {
        let nodes: Vec<NamedNode> = nodes.iter().map(|name| e(name)).collect();
        let request = HydrationRequest {
            nodes: &nodes,
            slots,
            dataset: &Dataset::default(),
        };
        let hydrated = runtime().block_on(self.store.hydrate(&request, &self.context));
        hydrated.unwrap_or_else(|error| panic!("{error:?}")).columns
    }
}

fn e(name: &str) -> NamedNode {
    NamedNode::new(format!("http://e/{name}")).expect("an IRI")
}

fn v(name: &str) -> NamedNode {
    NamedNode::new(format!("http://v/{name}")).expect("an IRI")
}

fn local(node: &NamedNode) -> String {
    node.as_str().rsplit('/').next().expect("a part").to_owned()
}

/// Returns the local name of an IRI, or the text of a literal.
fn shown(term: &Term) -> String {
    match term {
        Term::NamedNode(node) => local(node),
        Term::Literal(literal) => literal.value().to_owned(),
        other => other.to_string(),
    }
}

fn things() -> NodeCondition {
    NodeCondition::Instance(TypeTest::new(
        oxrdf::vocab::rdf::TYPE.into_owned(),
        vec![v("Thing")],
    ))
}

fn next() -> Step {
    Step::forward(v("next"))
}

fn selection(condition: NodeCondition) -> Selection {
    Selection {
        condition,
        order: Vec::new(),
        page: Page::default(),
        dataset: Dataset::default(),
    }
}

fn ordered(order: Vec<OrderKey>, offset: Option<u64>, limit: Option<u64>) -> Selection {
    Selection {
        order,
        page: Page { offset, limit },
        ..selection(things())
    }
}
