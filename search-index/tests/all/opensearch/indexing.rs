//! The indexer against a real server: with the data of the demo, and while a node of three is killed.

use std::sync::Arc;
use std::time::Duration;

use graph_store::CallContext;
use graph_store::oxigraph::OxigraphStore;
use oxigraph::io::{RdfFormat, RdfParser};
use oxigraph::store::Store;
use search_index::dsl::{Match, Query, Search};
use search_index::engine::{Binding, PhysicalName, SearchEngine};
use search_index::indexer::{Indexer, IndexerOptions, Outcome, Report};
use search_index::mapping::{Indexes, MappingOptions, Owner};
use search_index::opensearch::OpenSearch;

use super::address;
use super::engine::{Node, wait};
use super::fake::options;
use crate::schema;

/// An indexer, and what it writes to.
struct Case {
    indexer: Indexer,
    indexes: Arc<Indexes>,
    engine: Arc<OpenSearch>,
}

impl Case {
    fn new(soml: &str, turtle: &[u8], addresses: &str, application: &str) -> Case {
        let schema = schema(soml);
        let indexes = Indexes::new(&schema, &MappingOptions::default()).expect("searchable");
        let indexes = Arc::new(indexes);
        let store = Store::new().expect("a store");
        let parser = RdfParser::from_format(RdfFormat::Turtle).lenient();
        store
            .load_from_slice(parser, turtle)
            .expect("the data are valid");
        let mut connection = options(addresses);
        application.clone_into(&mut connection.application);
        let engine = Arc::new(OpenSearch::new(connection).expect("an engine"));
        let mut options = IndexerOptions::new(Owner::new(application));
        options.drop_delay = Duration::ZERO;
        options.bulk_bytes = 200 << 10;
        let store = Arc::new(OxigraphStore::new(store));
        let (of, to) = (Arc::clone(&indexes), engine.clone());
        Case {
            indexer: Indexer::new(Arc::new(schema), of, store, to, options),
            indexes,
            engine,
        }
    }

    /// Deletes all indexes of the application.
    async fn delete(&self, application: &str) {
        let context = CallContext::new();
        for index in self.engine.indexes(&context).await.expect("indexes") {
            if index
                .mark
                .is_some_and(|mark| mark.application == application)
            {
                self.engine
                    .delete(&index.name, &context)
                    .await
                    .expect("deleted");
            }
        }
    }

    async fn run(&self) -> Report {
        let context = CallContext::new();
        let report = self.indexer.run(&context).await.expect("a run");
        self.indexer
            .remove_superseded(&report, &context)
            .await
            .expect("removed");
        report
    }
}

#[tokio::test]
#[ignore = "needs an OpenSearch server named by OPENSEARCH_URL"]
async fn the_demo_is_indexed_and_found_by_its_aliases() {
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/../servers/demo/star-wars");
    let read = |file: &str| std::fs::read(format!("{demo}/{file}")).expect("the demo is there");
    let soml = String::from_utf8(read("schema.yaml")).expect("text");
    let soml = ["Film", "Planet", "Human"]
        .iter()
        .fold(soml, |soml, object| {
            soml.replace(
                &format!("\n  {object}:\n"),
                &format!("\n  {object}:\n    search: yes\n"),
            )
        });
    let case = Case::new(&soml, &read("data.ttl"), &address(), "star-wars");
    case.delete("star-wars").await;
    let report = case.run().await;
    assert_eq!(report.objects.len(), 3);
    let context = CallContext::new();
    for object in &report.objects {
        let Outcome::Built {
            documents,
            rejected: 0,
            ..
        } = object.outcome
        else {
            panic!("{object:?}");
        };
        let alias = case
            .indexes
            .named(&object.object)
            .expect("an index")
            .alias();
        let count = case
            .engine
            .count(&PhysicalName::from_engine(alias), &context)
            .await;
        assert!(
            count.expect("a count") == documents && documents > 5,
            "{object:?}"
        );
    }
    let planets = case.indexes.named("Planet").expect("planets");
    let alias = PhysicalName::from_engine(planets.alias());
    let binding = Binding {
        definition: planets,
        name: &alias,
    };
    let search = Search {
        query: Some(Query::Match(Match::new("name", "tatooine"))),
        source: vec!["id".to_owned(), "name".to_owned()],
        ..Search::default()
    };
    let answer = case
        .engine
        .search(binding, &search, &context)
        .await
        .expect("an answer");
    let found = String::from_utf8_lossy(&answer.hits[0].source);
    assert!(
        found.contains("Tatooine") && answer.hits.len() == 1,
        "{found}"
    );
    assert!(case.run().await.is_unchanged());
    case.delete("star-wars").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs OpenSearch, of which it starts and kills a cluster"]
async fn a_node_of_three_may_be_killed_while_it_is_written_to() {
    let (mut nodes, addresses) = cluster().await;
    let soml = "
id: /soml/films
specialPrefixes: {vocab_iri: 'http://e/', vocab_prefix: v}
objects: {Film: {search: yes, props: {title: {}, length: {range: int}}}}
";
    let mut turtle = "@prefix v: <http://e/> .\n".to_owned();
    for at in 0..20_000 {
        turtle +=
            &format!("v:f{at} a v:Film ; v:title \"Film of the number {at}\" ; v:length {at} .\n");
    }
    let case = Case::new(soml, turtle.as_bytes(), &addresses, "cluster");
    let progress = case.indexer.progress();
    let kill = async {
        while progress.objects()[0].written() < 2_000 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        nodes[2].kill();
        progress.objects()[0].written()
    };
    let (report, killed_at) = tokio::join!(case.run(), kill);
    println!("killed after {killed_at} documents: {report:#?}");
    assert!((2_000..20_000).contains(&killed_at), "{killed_at}");
    assert!(matches!(
        report.objects[0].outcome,
        Outcome::Built {
            documents: 20_000,
            ..
        }
    ));
}

/// Starts three nodes; returns them with their addresses.
async fn cluster() -> (Vec<Node>, String) {
    let ports: Vec<u16> = (0..3).map(|_| Node::free_port()).collect();
    let seeds: Vec<_> = ports
        .iter()
        .map(|port| format!("127.0.0.1:{port}"))
        .collect();
    let nodes = ports.iter().enumerate().map(|(at, port)| {
        Node::start(&[
            "-Ediscovery.type=zen".to_owned(),
            format!("-Ediscovery.seed_hosts={}", seeds.join(",")),
            "-Ecluster.initial_cluster_manager_nodes=n0,n1,n2".to_owned(),
            format!("-Enode.name=n{at}"),
            format!("-Etransport.port={port}"),
        ])
    });
    let nodes: Vec<_> = nodes.collect();
    let addresses: Vec<_> = nodes.iter().map(Node::address).collect();
    let addresses = addresses.join(", ");
    wait(&OpenSearch::new(options(&addresses)).expect("an engine"), 3).await;
    (nodes, addresses)
}
