//! The indexer against a real server: with the data of the demo, and while a node of three is killed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use graph_store::CallContext;
use oxrdfio::{RdfFormat, RdfParser};
use search_index::dsl::{Match, Query, Search};
use search_index::engine::{
    Answer, Binding, Built, BulkOperation, DataPosition, Engine, EngineError, EngineHealth,
    EngineInfo, IndexCondition, IndexState, PhysicalName, Rejected, SearchEngine, Switch,
};
use search_index::indexer::{Indexer, IndexerOptions, Outcome, Report};
use search_index::mapping::{Indexes, MappingOptions, Owner};
use search_index::opensearch::OpenSearch;
use test_support::opensearch::Cluster;

use super::address;
use super::fake::options;
use crate::{images, schema};

fn engine(addresses: &str, application: &str) -> Arc<OpenSearch> {
    let mut connection = options(addresses);
    application.clone_into(&mut connection.application);
    Arc::new(OpenSearch::new(connection).expect("an engine"))
}

/// An indexer, and what it writes to.
struct Case {
    indexer: Indexer,
    indexes: Arc<Indexes>,
    engine: Arc<OpenSearch>,
}

impl Case {
    fn new(soml: &str, turtle: &[u8], addresses: &str, application: &str) -> Case {
        let engine = engine(addresses, application);
        let options = IndexerOptions::new(Owner::new(application));
        Case::with((soml, "{}"), turtle, (engine.clone(), engine), options)
    }

    /// Takes a schema with settings of its indexes, data, and an engine with what is in front of it.
    fn with(
        (soml, settings): (&str, &str),
        turtle: &[u8],
        (engine, front): (Arc<OpenSearch>, Engine),
        mut options: IndexerOptions,
    ) -> Case {
        let schema = schema(soml);
        let settings = settings.parse().expect("settings");
        let mapping = MappingOptions::default().with_settings(settings);
        let indexes = Indexes::new(&schema, &mapping).expect("searchable");
        let indexes = Arc::new(indexes);
        let parser = RdfParser::from_format(RdfFormat::Turtle).lenient();
        let quads: Result<Vec<_>, _> = parser.for_slice(turtle).collect();
        let store = Arc::new(images::of(&quads.expect("the data are valid")));
        options.drop_delay = Duration::ZERO;
        options.bulk_bytes = 50 << 10;
        let of = Arc::clone(&indexes);
        Case {
            indexer: Indexer::new(Arc::new(schema), of, store, front, options),
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

/// Which node of a cluster is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    /// The elected manager of the cluster.
    Manager,
    /// That with the primary of the index.
    Primary,
    /// That with the only copy of the index.
    OnlyCopy,
}

/// Returns the node that the first row of a table of a cluster names in a column.
fn named(cluster: &Cluster, table: &str, column: &str) -> usize {
    let address = cluster.nodes[0].address();
    let url = format!("{address}/_cat/{table}?format=json&h={column}");
    let mut answer = ureq::get(url).call().expect("an answer");
    let text = answer.body_mut().read_to_string().expect("text");
    let rows: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let name = rows[0][column].as_str().expect("a name");
    let number = name
        .strip_prefix('n')
        .and_then(|number| number.parse().ok());
    number.unwrap_or_else(|| panic!("{text}"))
}

/// Kills a node; `index` is the one that is written to.
fn kill(cluster: &mut Cluster, victim: Victim, index: &PhysicalName) -> usize {
    let node = match victim {
        Victim::Manager => named(cluster, "cluster_manager", "node"),
        Victim::Primary | Victim::OnlyCopy => named(cluster, &format!("shards/{index}"), "node"),
    };
    cluster.nodes[node].kill();
    node
}

/// Something that happens to the index that is written to.
type Event = dyn Fn(&PhysicalName) + Send + Sync;

/// An engine, and something that happens before it is sent a bulk.
struct Disturbed {
    engine: Arc<OpenSearch>,
    bulks: AtomicUsize,
    /// What happens, and before which bulk.
    event: (usize, Box<Event>),
}

#[async_trait]
impl SearchEngine for Disturbed {
    async fn bulk(
        &self,
        index: Binding<'_>,
        writes: &[BulkOperation],
        version: u64,
        context: &CallContext,
    ) -> Result<Vec<Rejected>, EngineError> {
        if self.bulks.fetch_add(1, Ordering::SeqCst) == self.event.0 {
            (self.event.1)(index.name);
        }
        self.engine.bulk(index, writes, version, context).await
    }

    async fn info(&self, context: &CallContext) -> Result<EngineInfo, EngineError> {
        self.engine.info(context).await
    }

    async fn health(
        &self,
        of: &[PhysicalName],
        context: &CallContext,
    ) -> Result<EngineHealth, EngineError> {
        self.engine.health(of, context).await
    }

    async fn advance(
        &self,
        name: &PhysicalName,
        to: &DataPosition,
        context: &CallContext,
    ) -> Result<(), EngineError> {
        self.engine.advance(name, to, context).await
    }

    async fn note_built(
        &self,
        name: &PhysicalName,
        built: &Built,
        context: &CallContext,
    ) -> Result<(), EngineError> {
        self.engine.note_built(name, built, context).await
    }

    async fn indexes(&self, context: &CallContext) -> Result<Vec<IndexState>, EngineError> {
        self.engine.indexes(context).await
    }

    async fn condition(
        &self,
        name: &PhysicalName,
        context: &CallContext,
    ) -> Result<IndexCondition, EngineError> {
        self.engine.condition(name, context).await
    }

    async fn create(
        &self,
        index: Binding<'_>,
        owner: &Owner,
        context: &CallContext,
    ) -> Result<(), EngineError> {
        self.engine.create(index, owner, context).await
    }

    async fn delete(&self, name: &PhysicalName, context: &CallContext) -> Result<(), EngineError> {
        self.engine.delete(name, context).await
    }

    async fn refresh(&self, name: &PhysicalName, context: &CallContext) -> Result<(), EngineError> {
        self.engine.refresh(name, context).await
    }

    async fn switch(&self, switches: &[Switch], context: &CallContext) -> Result<(), EngineError> {
        self.engine.switch(switches, context).await
    }

    async fn search(
        &self,
        index: Binding<'_>,
        search: &Search,
        context: &CallContext,
    ) -> Result<Answer, EngineError> {
        self.engine.search(index, search, context).await
    }

    async fn count(&self, name: &PhysicalName, context: &CallContext) -> Result<u64, EngineError> {
        self.engine.count(name, context).await
    }

    async fn ids(
        &self,
        name: &PhysicalName,
        after: Option<&str>,
        size: usize,
        context: &CallContext,
    ) -> Result<Vec<String>, EngineError> {
        self.engine.ids(name, after, size, context).await
    }
}

/// Number of films that are written while a node is killed.
const FILMS: u64 = 5_000;

/// Builds an index while a node is killed before the bulk of a number; returns the numbers of the index
/// and of the node.
async fn build_while_killing(
    cluster: &Arc<Mutex<Cluster>>,
    victim: Victim,
    bulk: usize,
) -> (PhysicalName, usize) {
    let soml = "
id: /soml/films
specialPrefixes: {vocab_iri: 'http://e/', vocab_prefix: v}
objects: {Film: {search: yes, props: {title: {}, length: {range: int}}}}
";
    let mut turtle = "@prefix v: <http://e/> .\n".to_owned();
    for at in 0..FILMS {
        turtle +=
            &format!("v:f{at} a v:Film ; v:title \"Film of the number {at}\" ; v:length {at} .\n");
    }
    let replicas = if victim == Victim::OnlyCopy { 0 } else { 1 };
    let settings = format!(r#"{{"number_of_replicas": {replicas}}}"#);
    let addresses = {
        let cluster = cluster.lock().expect("no thread panicked");
        cluster.addresses()
    };
    let killed = Arc::new(AtomicUsize::new(usize::MAX));
    let (of_event, nodes) = (Arc::clone(&killed), Arc::clone(cluster));
    let kills = move |index: &PhysicalName| {
        let mut cluster = nodes.lock().expect("no thread panicked");
        let node = kill(&mut cluster, victim, index);
        of_event.store(node, Ordering::SeqCst);
    };
    let engine = engine(&addresses, "cluster");
    let front = Arc::new(Disturbed {
        engine: Arc::clone(&engine),
        bulks: AtomicUsize::new(0),
        event: (bulk, Box::new(kills)),
    });
    let mut options = IndexerOptions::new(Owner::new("cluster"));
    options.remove_previous = true;
    let case = Case::with(
        (soml, &settings),
        turtle.as_bytes(),
        (engine, front),
        options,
    );
    let report = case.run().await;
    let object = &report.objects[0];
    assert!(
        matches!(object.outcome, Outcome::Built { documents, .. } if documents == FILMS),
        "{victim:?}: {report:#?}"
    );
    let alias = PhysicalName::from_engine("svc-film");
    let count = case.engine.count(&alias, &CallContext::new()).await;
    assert_eq!(count.expect("a count"), FILMS, "{victim:?}");
    (object.index.clone(), killed.load(Ordering::SeqCst))
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs OpenSearch, of which it starts and kills a cluster"]
async fn a_node_of_three_may_be_killed_while_it_is_written_to() {
    let cluster = Arc::new(Mutex::new(Cluster::start()));
    let mut first = 1;
    for (victim, bulk) in [
        (Victim::Primary, 0),
        (Victim::Primary, 5),
        (Victim::Manager, 5),
        (Victim::OnlyCopy, 5),
    ] {
        let begun = std::time::Instant::now();
        let (index, node) = build_while_killing(&cluster, victim, bulk).await;
        println!(
            "{victim:?} n{node} before bulk {bulk}: {index} in {:?}",
            begun.elapsed()
        );
        let number = index.as_str().strip_prefix("svc-film-");
        let number: u64 = number.and_then(|n| n.parse().ok()).expect("a number");
        if victim == Victim::OnlyCopy {
            assert!(number > first, "nothing was left of the first: {index}");
        }
        first = number + 1;
        let mut cluster = cluster.lock().expect("no thread panicked");
        cluster.nodes[node].restart();
        cluster.wait();
    }
}
