//! A schema inferred from a SPARQL endpoint is the one inferred from the same data in an embedded
//! store.

use graph_store::call_context::CallError;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use graph_store::remote::{
    DefaultGraph, Dialect, EndpointQuery, RemoteOptions, RemoteStore, Rows, SparqlEndpoint,
};
use graph_store::{CallContext, StoreError, StoreInfo};
use oxigraph::store::Store;
use oxrdf::Quad;
use oxrdfio::RdfFormat;
use soml_data::infer::{InferError, InferOptions, infer_remote};

use crate::images;
use crate::in_process::InProcess;
use crate::infer::inferred_from;

const STAR_WARS: &str = include_str!("../../../servers/demo/star-wars/data.ttl");

/// Classes by statement and by overlap, values of every kind, and triples in several graphs.
const MIXED: &str = "
    @prefix : <http://v/> . @prefix w: <http://w/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    :Man rdfs:subClassOf :Human . :Human rdfs:subClassOf :Animal . :Dog rdfs:subClassOf :Animal .
    :Animal rdfs:subClassOf :Being, <http://www.w3.org/2002/07/owl#Thing> . :Being rdfs:subClassOf :Animal .
    <http://r/m/1> a :Man ; rdfs:label 'One'@en, 'Eins'@de ; :age 5 ; :owns <http://r/d/1> .
    <http://r/m/2> a :Man, :Human ; rdfs:label 'Two' ; :age 5.5 ; :owns <http://r/d/1>, <http://r/d/2> .
    <http://r/h/3> a :Human ; rdfs:label 'Three' ; :likes <http://r/m/1>, <http://r/d/2>, <http://else/1>, [] .
    <http://r/d/1> a :Dog ; rdfs:label 'Rex' ; :age 3 ; w:date '2020'^^xsd:gYear, '2020-01-01'^^xsd:date .
    <http://r/d/2> a :Dog, :Pet ; rdfs:label 'Ben' ; :age 4 .
    [] a :Ghost ; :age 1 . <http://r/x> :age 1 .
    :g { <http://r/d/2> a :Dog, :Pet ; :age 4 , 5 . <http://r/s/1> a :Ship ; w:note true }
    :h { <http://r/s/1> a :Ship ; w:note true . <http://r/m/2> :owns <http://r/s/1> }
";

fn store(quads: Vec<Quad>) -> Store {
    let store = Store::new().expect("a store in memory");
    store.extend(quads).expect("a store in memory");
    store
}

fn quads(data: &str) -> Vec<Quad> {
    images::quads(RdfFormat::TriG, data)
}

/// An endpoint that counts the queries.
struct Counting(InProcess, Arc<AtomicUsize>);

#[async_trait]
impl SparqlEndpoint for Counting {
    async fn select(
        &self,
        query: EndpointQuery<'_>,
        context: &CallContext,
    ) -> Result<Rows, StoreError> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.select(query, context).await
    }

    async fn probe(&self, context: &CallContext) -> Result<StoreInfo, StoreError> {
        self.0.probe(context).await
    }
}

fn remote(store: &Store, default_graph: DefaultGraph) -> (RemoteStore, Arc<AtomicUsize>) {
    let queries = Arc::new(AtomicUsize::new(0));
    let endpoint = InProcess {
        store: store.clone(),
        is_union: default_graph == DefaultGraph::Union,
    };
    let options = RemoteOptions {
        default_graph,
        ..RemoteOptions::new(Dialect::Sparql11)
    };
    let endpoint = Counting(endpoint, Arc::clone(&queries));
    (RemoteStore::new(Arc::new(endpoint), options), queries)
}

async fn compare(data: &str, options: &InferOptions) {
    let quads = quads(data);
    let embedded = inferred_from(&images::of(&quads), options);
    let store = store(quads);
    let context = CallContext::new();
    for default_graph in [DefaultGraph::Union, DefaultGraph::Apart] {
        let (remote, _) = remote(&store, default_graph);
        let inferred = infer_remote(&remote, options, &context).await;
        let inferred = inferred.expect("the endpoint answers");
        assert_eq!(inferred.yaml, embedded.yaml, "{default_graph:?}");
        assert_eq!(inferred, embedded);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_gives_the_schema_of_its_data() {
    for data in [MIXED, STAR_WARS, "<http://r/1> <http://v/p> 1 ."] {
        compare(data, &InferOptions::default()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn typed_blank_nodes_count_alike_in_an_endpoint_and_a_store() {
    for data in [
        include_str!("../data/infer/typed-blank-nodes.ttl"),
        include_str!("../data/infer/min-blank.nt"),
        "@prefix : <http://v/> .
         <http://r/1> a :A ; :p [ a :A ], <http://r/2>, 'x' ; :q [ a :B ], [ a :B ] ; :r 'a', 'b', [] .
         <http://r/2> a :A, :B ; :p [ a :B ], <http://r/3> ; :r 'a', <http://r/1>, <http://r/4> .",
    ] {
        compare(data, &InferOptions::default()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_gives_descriptions_and_leaves_ontologies_out() {
    let ontology = "
        @prefix : <http://v/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        :A a owl:Class ; rdfs:label 'eine Klasse'@de, 'a class'@en ; rdfs:comment 'long\\n text' .
        :p a owl:DatatypeProperty ; rdfs:label 'a property' .
        <http://r/1> a :A, owl:Thing ; :p 1 .";
    for ontology_classes in [false, true] {
        let options = InferOptions {
            ontology_classes,
            ..InferOptions::default()
        };
        compare(ontology, &options).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_takes_the_same_classes_in() {
    for (min_instances, max_classes) in [(2, 1_000), (1, 2), (1, 0), (30, 6)] {
        let options = InferOptions {
            min_instances,
            max_classes,
            ..InferOptions::default()
        };
        compare(MIXED, &options).await;
        compare(STAR_WARS, &options).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_number_of_queries_does_not_depend_on_the_number_of_objects() {
    let mut counts = Vec::new();
    for objects in [2, 200] {
        let data: String = (0..objects)
            .map(|n| format!("<http://r/{n}> a <http://v/A> ; <http://v/p> {n} ."))
            .collect();
        let (remote, queries) = remote(&store(quads(&data)), DefaultGraph::Union);
        let options = InferOptions::default();
        let inferred = infer_remote(&remote, &options, &CallContext::new()).await;
        assert_eq!(inferred.expect("the endpoint answers").objects, 1);
        counts.push(queries.load(Ordering::Relaxed));
    }
    assert_eq!(counts, [8, 8]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_nobody_waits_for_is_left_alone() {
    let context = CallContext::new();
    context.cancellation.cancel();
    let (remote, queries) = remote(&store(quads(MIXED)), DefaultGraph::Union);
    let inferred = infer_remote(&remote, &InferOptions::default(), &context).await;
    assert!(matches!(
        inferred,
        Err(InferError::Store(StoreError::Call(CallError::Cancelled)))
    ));
    assert_eq!(queries.load(Ordering::Relaxed), 0);
}
