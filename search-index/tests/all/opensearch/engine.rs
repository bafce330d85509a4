//! The engine against a real server.

use std::sync::atomic::{AtomicU64, Ordering};

use futures::future::join_all;
use graph_store::CallContext;
use search_index::document::Document;
use search_index::dsl::{Match, Missing, Query, Search, Sort, TotalHits, Value};
use search_index::engine::{
    Binding, Built, BulkOperation, Engine, EngineError, HealthLevel, PhysicalName, SearchEngine,
    Switch,
};
use search_index::mapping::{IndexDefinition, Owner};
use search_index::opensearch::OpenSearch;
use test_support::opensearch::Node;

use super::fake::options;
use super::{address, planet};
use crate::schema;
use crate::searches::{API, SKY, search};

/// An engine, and an index of planets in it.
struct Planets {
    engine: OpenSearch,
    definition: &'static IndexDefinition,
    name: PhysicalName,
    context: CallContext,
}

impl Planets {
    async fn new() -> Planets {
        Planets::at(&address()).await
    }

    async fn at(address: &str) -> Planets {
        // Downwards, since an indexer takes the number behind the greatest.
        static NEXT: AtomicU64 = AtomicU64::new(1_000_000);
        let definition = API.indexes().named("Planet").expect("planets are indexed");
        let planets = Planets {
            engine: OpenSearch::new(options(address)).expect("an engine"),
            definition,
            name: PhysicalName::new(definition, NEXT.fetch_sub(1, Ordering::Relaxed)),
            context: CallContext::new(),
        };
        let engine = &planets.engine;
        engine
            .delete(&planets.name, &planets.context)
            .await
            .expect("deleted");
        let owner = Owner::new("test");
        let created = engine
            .create(planets.binding(), &owner, &planets.context)
            .await;
        created.expect("created");
        planets
    }

    fn binding(&self) -> Binding<'_> {
        Binding {
            definition: self.definition,
            name: &self.name,
        }
    }

    async fn write(&self, documents: &[Document]) {
        let writes = BulkOperation::all(documents.to_vec());
        let rejected = self
            .engine
            .bulk(self.binding(), &writes, 0, &self.context)
            .await;
        assert_eq!(rejected.expect("written"), []);
        self.engine
            .refresh(&self.name, &self.context)
            .await
            .expect("refreshed");
    }

    async fn search(&self, search: &Search) -> search_index::engine::Answer {
        let answer = self
            .engine
            .search(self.binding(), search, &self.context)
            .await;
        answer.expect("an answer")
    }

    async fn end(self) {
        let deleted = self.engine.delete(&self.name, &self.context).await;
        deleted.expect("deleted");
    }
}

fn three() -> Vec<Document> {
    let schema = schema(SKY);
    (1..=3).map(|at| planet(&schema, at)).collect()
}

#[tokio::test]
#[ignore = "needs an OpenSearch server named by OPENSEARCH_URL"]
async fn what_is_written_is_found() {
    let planets = Planets::new().await;
    let (engine, context) = (&planets.engine, &planets.context);
    let info = engine.info(context).await.expect("info");
    assert!(
        info.name == "opensearch" && info.analyzers.contains("english"),
        "{info:?}"
    );
    let gone = PhysicalName::from_engine("svc-nobody-has-1");
    let of = [planets.name.clone(), gone.clone()];
    let health = engine.health(&of, context).await.expect("health");
    assert!(
        health.indexes[&planets.name].level == HealthLevel::Good && health.nodes == 1,
        "{health:?}"
    );
    assert!(!health.indexes.contains_key(&gone));
    let built = Built {
        documents: 3,
        ..Built::default()
    };
    let noted = engine.note_built(&planets.name, &built, context).await;
    noted.expect("noted");
    let states = engine.indexes(context).await.expect("indexes");
    let state = states.iter().find(|state| state.name == planets.name);
    let mark = state.and_then(|state| state.mark.clone()).expect("a mark");
    assert_eq!((mark.built, mark.object.is_empty()), (Some(built), false));
    planets.write(&three()).await;
    assert_eq!(
        engine.count(&planets.name, context).await.expect("a count"),
        3
    );
    let answer = planets
        .search(&Search {
            query: Some(Query::Match(Match::new("title", "tatooine"))),
            source: vec!["id".to_owned(), "title".to_owned()],
            ..Search::default()
        })
        .await;
    assert_eq!(answer.total.map(|total| total.value), Some(1));
    let hit = &answer.hits[0];
    assert_eq!(hit.source, r#"{"id":"http://e/1","title":"Tatooine"}"#);
    assert_eq!(
        (hit.id.as_str(), hit.score),
        ("http://e/1", answer.max_score)
    );
    assert!(hit.score.is_some());
    let uncounted = planets
        .search(&Search {
            total_hits: TotalHits::Off,
            ..Search::default()
        })
        .await;
    assert_eq!((uncounted.total, uncounted.hits.len()), (None, 3));
    assert_eq!(uncounted.hits[0].source, "{}");
    planets.end().await;
}

#[tokio::test]
#[ignore = "needs an OpenSearch server named by OPENSEARCH_URL"]
async fn pages_go_on_behind_values_that_are_missing() {
    let planets = Planets::new().await;
    planets.write(&three()).await;
    let fields = [
        "diameter",
        "heat",
        "huge",
        "tiny",
        "moon",
        "seen",
        "mass$exact",
        "rises",
        "title.keyword",
        "label$keyword",
        "ruler.height",
    ];
    for field in fields {
        for (descending, missing) in [
            (false, Missing::Last),
            (false, Missing::First),
            (true, Missing::Last),
            (true, Missing::First),
        ] {
            let mut sort = Sort::field(field);
            if let Sort::Field(by) = &mut sort {
                (by.descending, by.missing) = (descending, missing);
            }
            let mut search = Search {
                size: 1,
                sort: vec![sort, Sort::field("id")],
                ..Search::default()
            };
            let (mut ids, mut without) = (Vec::new(), Vec::new());
            for _ in 0..3 {
                let answer = planets.search(&search).await;
                let hit = &answer.hits[0];
                if hit.sort[0].is_none() {
                    without.push(hit.id.clone());
                }
                ids.push(hit.id.clone());
                search.search_after = Some(hit.sort.clone());
            }
            let case = format!("{field} {descending} {missing:?} {ids:?}");
            let expected = match (field, (missing == Missing::Last) != descending) {
                // All that are there have the value that stands for a missing one.
                ("huge", true) => 3,
                // The least integer without a sign does not.
                ("huge", false) => 0,
                _ => 1,
            };
            assert_eq!(without.len(), expected, "{case}");
            let at = ids.iter().position(|id| id == "http://e/3");
            // The greatest value is that of the others too.
            if field != "huge" {
                assert_eq!(
                    at,
                    Some(if missing == Missing::First { 0 } else { 2 }),
                    "{case}"
                );
            }
            ids.sort();
            assert_eq!(ids, ["http://e/1", "http://e/2", "http://e/3"], "{case}");
        }
    }
    planets.end().await;
}

#[tokio::test]
#[ignore = "needs an OpenSearch server named by OPENSEARCH_URL"]
async fn aggregations_are_in_the_order_of_the_search() {
    use search_index::engine::AggregationContent;
    let planets = Planets::new().await;
    planets.write(&three()).await;
    let operation = r#"{ planet_search(size: 0, aggregations: [{name: "z", terms: {field: title, missing: "none"}},
        {name: "b", terms: {field: moon}}, {name: "k", terms: {field: people__alias}}]) { hits { id } } }"#;
    let answer = planets.search(&search(operation).expect("valid")).await;
    let names: Vec<_> = answer
        .aggregations
        .iter()
        .map(|a| a.name.as_str())
        .collect();
    assert_eq!(names, ["z", "b", "k"]);
    let buckets = |content: &AggregationContent| match content {
        AggregationContent::Buckets { buckets, .. } => buckets
            .iter()
            .map(|b| (b.key.clone(), b.count))
            .collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let [titles, moons, people] = &answer.aggregations[..] else {
        panic!("{answer:?}");
    };
    let expected = ["Alderaan", "Tatooine", "none"].map(|key| (Value::from(key), 1));
    assert_eq!(buckets(&titles.content), expected);
    let expected = [(Value::Boolean(false), 1), (Value::Boolean(true), 1)];
    assert_eq!(buckets(&moons.content), expected);
    let AggregationContent::Nested {
        count: 2,
        aggregations,
    } = &people.content
    else {
        panic!("{people:?}");
    };
    assert_eq!(
        buckets(&aggregations[0].content),
        [(Value::from("Luke"), 2)]
    );
    planets.end().await;
}

#[tokio::test]
#[ignore = "needs an OpenSearch server named by OPENSEARCH_URL"]
async fn documents_are_judged_one_by_one_and_listed_by_id() {
    let planets = Planets::new().await;
    let (engine, context) = (&planets.engine, &planets.context);
    let template = three().remove(2);
    let mut documents: Vec<Document> = (0..25)
        .map(|at| {
            let mut document = template.clone();
            document.id = format!("http://e/{at:02}");
            document.source = format!(r#"{{"id":"http://e/{at:02}"}}"#).into();
            document
        })
        .collect();
    documents[4].source = br#"{"diameter":"wide"}"#.as_slice().into();
    documents[9].source = br#"{"unknown":1}"#.as_slice().into();
    let rejected = engine
        .bulk(
            planets.binding(),
            &BulkOperation::all(documents),
            0,
            context,
        )
        .await
        .expect("judged");
    let positions: Vec<_> = rejected.iter().map(|r| (r.position, r.status)).collect();
    assert_eq!(positions, [(4, 400), (9, 400)], "{rejected:?}");
    engine
        .refresh(&planets.name, context)
        .await
        .expect("refreshed");
    let ids = engine
        .ids(&planets.name, None, 10, context)
        .await
        .expect("ids");
    assert_eq!(
        (ids.len(), ids[4].as_str(), ids[9].as_str()),
        (10, "http://e/05", "http://e/11")
    );
    let rest = engine
        .ids(&planets.name, Some(&ids[9]), 100, context)
        .await
        .expect("ids");
    assert_eq!((rest.len(), rest[0].as_str()), (13, "http://e/12"));
    let none = engine
        .ids(&planets.name, Some(&rest[12]), 100, context)
        .await;
    assert_eq!(none.expect("ids"), [""; 0]);
    planets.end().await;
}

#[tokio::test]
#[ignore = "needs an OpenSearch server named by OPENSEARCH_URL"]
async fn an_alias_that_many_move_at_once_leads_to_one_index() {
    let planets = join_all((0..6).map(|_| Planets::new())).await;
    let to = |planets: &Planets| Switch {
        alias: "svc-test-many".to_owned(),
        to: Some(planets.name.clone()),
        replaces_index: false,
        lease: 0,
    };
    let first = &planets[0];
    let switched = first.engine.switch(&[to(first)], &first.context).await;
    switched.expect("switched");
    for _ in 0..20 {
        let moves = planets.iter().map(async |planets| {
            planets
                .engine
                .switch(&[to(planets)], &planets.context)
                .await
        });
        // Who comes too late too often is refused.
        drop(join_all(moves).await);
        let indexes = first.engine.indexes(&first.context).await.expect("indexes");
        let mut aliases = indexes.iter().flat_map(|index| &index.aliases);
        let found = aliases.by_ref().filter(|alias| *alias == "svc-test-many");
        assert_eq!(found.count(), 1);
    }
    for planets in planets {
        planets.end().await;
    }
}

#[tokio::test]
#[ignore = "needs an OpenSearch server named by OPENSEARCH_URL"]
async fn aliases_move_together() {
    let (one, other) = (Planets::new().await, Planets::new().await);
    let (engine, context) = (&one.engine, &one.context);
    let to = |alias: &str, to: &Planets| Switch {
        alias: alias.to_owned(),
        to: Some(to.name.clone()),
        replaces_index: true,
        lease: 0,
    };
    // An index stands where an alias is to be.
    let concrete = format!("{}/svc-test-b", address());
    let _ = ureq::delete(&concrete).call();
    ureq::put(&concrete).send("").expect("an index");
    let refused = Switch {
        replaces_index: false,
        ..to("svc-test-b", &one)
    };
    let refused = engine
        .switch(&[to("svc-test-a", &one), refused], context)
        .await;
    assert!(
        matches!(refused, Err(EngineError::NotOurs { .. })),
        "{refused:?}"
    );
    let both = [to("svc-test-a", &one), to("svc-test-b", &one)];
    engine.switch(&both, context).await.expect("switched");
    engine
        .switch(&both, context)
        .await
        .expect("switched already");
    engine
        .switch(&[to("svc-test-a", &other)], context)
        .await
        .expect("switched");
    let indexes = engine.indexes(context).await.expect("indexes");
    let aliases = |planets: &Planets| {
        let index = indexes
            .iter()
            .find(|index| index.name == planets.name)
            .expect("an index");
        assert_eq!(index.mark.as_ref().expect("a mark").application, "test");
        index.aliases.clone()
    };
    assert_eq!(
        (aliases(&one), aliases(&other)),
        (vec!["svc-test-b".into()], vec!["svc-test-a".into()])
    );
    assert!(
        indexes
            .iter()
            .all(|index| index.name.as_str() != "svc-test-b")
    );
    let created = engine
        .create(one.binding(), &Owner::new("test"), context)
        .await;
    assert!(
        matches!(created, Err(EngineError::NotOurs { .. })),
        "{created:?}"
    );
    let gone = other.name.clone();
    other.end().await;
    let missing = Switch {
        alias: "svc-test-a".to_owned(),
        to: Some(gone.clone()),
        replaces_index: false,
        lease: 0,
    };
    let missing = engine.switch(&[missing], context).await;
    assert!(
        matches!(missing, Err(EngineError::NotFound { .. })),
        "{missing:?}"
    );
    let written = Binding {
        definition: one.definition,
        name: &gone,
    };
    let written = engine
        .bulk(written, &BulkOperation::all(three()), 0, context)
        .await;
    assert!(
        matches!(written, Err(EngineError::NotFound { .. })),
        "{written:?}"
    );
    let count = engine.count(&gone, context).await;
    assert!(
        matches!(count, Err(EngineError::NotFound { .. })),
        "{count:?}"
    );
    one.end().await;
}

#[tokio::test]
#[ignore = "needs OpenSearch, which it starts and kills"]
async fn a_node_that_is_killed_and_started_again_answers_again() {
    let mut node = Node::start(&[]);
    node.wait(1);
    let planets = Planets::at(&node.address()).await;
    planets.write(&three()).await;
    node.kill();
    let error = planets.engine.count(&planets.name, &planets.context).await;
    assert!(
        matches!(error, Err(EngineError::Unavailable(_))),
        "{error:?}"
    );
    node.restart();
    node.wait(1);
    let count = planets.engine.count(&planets.name, &planets.context).await;
    assert_eq!(count.expect("a count"), 3, "what was acknowledged is there");
    assert!(planets.engine.info(&planets.context).await.is_ok());
}

/// The engine of the cases, with the name that their indexes have.
fn cases_engine() -> Engine {
    let mut connection = options(&address());
    connection.application = "cases".to_owned();
    std::sync::Arc::new(OpenSearch::new(connection).expect("an engine"))
}

#[cfg(feature = "embedded")]
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs an OpenSearch server named by OPENSEARCH_URL"]
async fn every_behaviour_of_engines_holds_on_a_server() {
    let engine = cases_engine();
    crate::engine_cases::run(move || std::sync::Arc::clone(&engine)).await;
}

/// The documentation says so; another order means that the server has been mended.
#[tokio::test]
#[ignore = "needs an OpenSearch server named by OPENSEARCH_URL"]
async fn a_server_passes_over_zero_beside_greater_unsigned_integers() {
    let engine = cases_engine();
    let order = crate::engine_cases::order_with_zero(engine).await;
    assert_eq!(order, ["c", "d", "a", "b"]);
}
