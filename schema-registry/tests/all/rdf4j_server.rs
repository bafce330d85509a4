//! The store in a real RDF4J Server. Each test makes a repository of its own, which stays: RDF4J hangs for good when one
//! repository is removed while another is opened.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use graph_store::CallContext;
use graph_store::query::Dataset;
use graph_store::remote::http::HttpEndpoint;
use graph_store::remote::{EndpointQuery, SparqlEndpoint};
use schema_registry::contract::{self, Subject};
use schema_registry::{
    Expected, HeldLease, Lease, MigrationPhase, MigrationRecord, Rdf4jSchemaOptions,
    Rdf4jSchemaStore, SCHEMAS_GRAPH, SchemaStore, SchemaStoreError, ServiceKind,
};
use spargebra::SparqlParser;

use crate::rdf4j_endpoint::PATIENCE;

const NATIVE: &str = "@prefix rep: <http://www.openrdf.org/config/repository#> .
    @prefix sr: <http://www.openrdf.org/config/repository/sail#> .
    @prefix sail: <http://www.openrdf.org/config/sail#> .
    @prefix ns: <http://www.openrdf.org/config/sail/native#> .
    [] a rep:Repository ; rep:repositoryID \"%id%\" ; rep:repositoryImpl [
        rep:repositoryType \"openrdf:SailRepository\" ;
        sr:sailImpl [ sail:sailType \"openrdf:NativeStore\" ; ns:tripleIndexes \"spoc,posc\" ] ] .";

/// Returns options for a repository that is not there yet.
pub(crate) fn options(application: &str) -> Rdf4jSchemaOptions {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let address = std::env::var("RDF4J_URL").expect("RDF4J_URL names no running server");
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let mut options = Rdf4jSchemaOptions::new(application);
    options.timeout = PATIENCE * 3;
    options.connection.addresses = address.parse().unwrap();
    options.connection.repository = Some(format!("schemas-{}-{number}", std::process::id()));
    options.connection.health_check_timeout = PATIENCE;
    options
}

fn store(options: &Rdf4jSchemaOptions) -> Arc<Rdf4jSchemaStore> {
    Arc::new(Rdf4jSchemaStore::new(options.clone()).unwrap())
}

/// Returns a repository as two processes of an application and one of another see it.
fn subject(options: &Rdf4jSchemaOptions) -> Subject {
    let other = Rdf4jSchemaOptions {
        application: "app:objects/%3A\"> é".to_owned(),
        ..options.clone()
    };
    Subject {
        one: store(options),
        two: store(options),
        other: Some(store(&other)),
    }
}

/// Removes everything from a repository.
async fn clear(options: &Rdf4jSchemaOptions) {
    let endpoint = HttpEndpoint::new(options.connection.clone()).unwrap();
    let all = SparqlParser::new().parse_update("CLEAR ALL").unwrap();
    let cleared = endpoint.check_update(&all, &CallContext::new()).await;
    cleared.unwrap();
}

/// Returns the solutions of a query of another program.
async fn solutions(options: &Rdf4jSchemaOptions, text: &str) -> Vec<Option<String>> {
    let endpoint = HttpEndpoint::new(options.connection.clone()).unwrap();
    let query = SparqlParser::new().parse_query(text).unwrap();
    let asked = EndpointQuery {
        query: &query,
        text,
        dataset: &Dataset::default(),
    };
    let rows = endpoint.select(asked, &CallContext::new()).await.unwrap();
    let terms = rows.terms.into_iter();
    terms
        .map(|term| term.map(|term| term.to_string()))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs RDF4J: see CONTRIBUTING.md"]
async fn a_store_in_a_memory_store_of_rdf4j_has_the_behaviours_of_all() {
    contract::run(async || subject(&options("app"))).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs RDF4J: see CONTRIBUTING.md"]
async fn a_store_in_a_native_store_of_rdf4j_has_the_behaviours_of_all() {
    // Each native store takes 6 MB of the memory of its server for good, so there is only one.
    let mut options = options("app");
    options.repository_config = Some(NATIVE.to_owned());
    store(&options).probe().await.unwrap();
    contract::run(async || {
        clear(&options).await;
        subject(&options)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs RDF4J: see CONTRIBUTING.md"]
async fn other_programs_read_the_graph() {
    let options = options("my app");
    let store = store(&options);
    let text = "id: /soml/films\nlabel: \"Größe\" # \\u0041 '''\r\n\t";
    let stored = store.create("films", text.into()).await.unwrap();
    store
        .set_binding(ServiceKind::Search, Some("films"))
        .await
        .unwrap();
    let query = format!(
        "PREFIX v: <urn:soml:schemas:vocabulary:> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
         SELECT ?schema (STR(?text) AS ?said) (DATATYPE(?text) AS ?type) ?revision ?bytes ?application
         WHERE {{ GRAPH <{SCHEMAS_GRAPH}> {{
           ?schema a v:Schema ; v:id \"films\" ; v:text ?text ; v:revision ?revision ; v:bytes ?bytes ; v:modified ?time .
           ?binding a v:Binding ; v:schema ?schema ; v:service \"search\" ; v:application ?application . }}
           FILTER (?time > \"2020-01-01T00:00:00Z\"^^xsd:dateTime) }}"
    );
    let found = solutions(&options, &query).await;
    let shown = |text: &str| Some(oxrdf::Literal::from(text).to_string());
    let expected = [
        Some("<urn:soml:schemas:schema:films>".to_owned()),
        shown(text),
        Some("<http://www.w3.org/2001/XMLSchema#string>".to_owned()),
        shown(&stored.revision),
        Some(format!(
            "\"{}\"^^<http://www.w3.org/2001/XMLSchema#integer>",
            text.len()
        )),
        shown("my app"),
    ];
    assert_eq!(found, expected);
    // All is in that graph, and nothing is left of what was replaced.
    store
        .replace("films", "x: 1".into(), &Expected::default())
        .await
        .unwrap();
    store.set_binding(ServiceKind::Search, None).await.unwrap();
    let graphs = "SELECT ?g (COUNT(*) AS ?n) WHERE { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g";
    let found = solutions(&options, graphs).await;
    let number = Some("\"11\"^^<http://www.w3.org/2001/XMLSchema#integer>".to_owned());
    assert_eq!(found, [Some(format!("<{SCHEMAS_GRAPH}>")), number]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs RDF4J: see CONTRIBUTING.md"]
async fn processes_that_start_together_make_one_repository() {
    for _ in 0..5 {
        let options = options("app");
        let mut calls = tokio::task::JoinSet::new();
        for number in 0..4 {
            let store = store(&options);
            calls.spawn(async move {
                let id = format!("films-{number}");
                store.create(&id, "x: 1".into()).await
            });
        }
        for created in calls.join_all().await {
            created.unwrap();
        }
        let listed = store(&options).list().await.unwrap();
        assert_eq!(listed.len(), 4, "{listed:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs RDF4J: see CONTRIBUTING.md"]
async fn a_configuration_that_the_server_does_not_know_is_refused_and_one_that_it_cannot_open_is_named()
 {
    let mut unknown = options("app");
    unknown.repository_config = Some(NATIVE.replace("openrdf:NativeStore", "own:Store"));
    let error = store(&unknown).probe().await.unwrap_err();
    let reason = error.source().unwrap().to_string();
    assert!(reason.contains("Unsupported Sail type"), "{reason}");
    unknown.disable_default = Some(false);
    store(&unknown).probe().await.unwrap();

    let mut broken = options("app");
    broken.repository_config = Some(NATIVE.replace("spoc,posc", "abcd"));
    let error = store(&broken).probe().await.unwrap_err();
    assert!(matches!(error, SchemaStoreError::Failed(_)), "{error:?}");
    let reason = error.source().unwrap().to_string();
    assert!(reason.contains("cannot be opened"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs RDF4J: see CONTRIBUTING.md"]
async fn a_repository_is_not_created_where_that_is_disabled() {
    let mut disabled = options("app");
    disabled.auto_create_repository = false;
    let error = store(&disabled).probe().await.unwrap_err();
    assert!(matches!(error, SchemaStoreError::Failed(_)), "{error:?}");
    disabled.auto_create_repository = true;
    store(&disabled).probe().await.unwrap();
    disabled.auto_create_repository = false;
    store(&disabled).probe().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs RDF4J: see CONTRIBUTING.md"]
async fn unconditional_changes_that_race_all_happen() {
    let options = options("app");
    let stores = [store(&options), store(&options)];
    stores[0].create("films", "x: 0".into()).await.unwrap();
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..16 {
        let store = Arc::clone(&stores[number % 2]);
        calls.spawn(async move {
            let text = format!("x: {number}");
            store
                .replace("films", text.into(), &Expected::default())
                .await
        });
    }
    let made = calls.join_all().await;
    let made: Vec<_> = made.into_iter().map(|made| made.unwrap()).collect();
    let current = stores[1].get("films").await.unwrap().unwrap();
    assert!(made.contains(&current), "{current:?}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs RDF4J: see CONTRIBUTING.md"]
async fn a_lease_is_renewed_and_handed_over_and_leaves_nothing_behind() {
    let options = options("app");
    let lease = |name: &str| {
        let store: Arc<dyn SchemaStore> = store(&options);
        Lease::new(store, name, "here", Duration::ZERO)
    };
    let (one, two) = (lease("indexes"), lease("indexes"));
    let number = |held: Option<HeldLease>| held.map(|held| held.number);
    for _ in 0..20 {
        assert_eq!(number(one.hold().await.unwrap()), Some(1));
    }
    assert_eq!(number(two.hold().await.unwrap()), None);
    one.release().await.unwrap();
    assert_eq!(number(two.hold().await.unwrap()), Some(2));
    let all = "SELECT (COUNT(*) AS ?n) WHERE { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }";
    let found = solutions(&options, all).await;
    // RDF4J's default graph has those of the named one too.
    let number = "\"14\"^^<http://www.w3.org/2001/XMLSchema#integer>";
    assert_eq!(found, [Some(number.to_owned())]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs RDF4J: see CONTRIBUTING.md"]
async fn what_is_cleared_is_the_named_graph_but_for_leases_and_the_record() {
    let options = options("app");
    let store = store(&options);
    store.create("films", "x: 1".into()).await.unwrap();
    let lease = Lease::new(store.clone(), "indexes", "here", Duration::from_secs(60));
    assert!(lease.hold().await.unwrap().is_some());
    let endpoint = HttpEndpoint::new(options.connection.clone()).unwrap();
    let others = format!(
        "INSERT DATA {{ GRAPH <{SCHEMAS_GRAPH}> {{ <urn:x> <urn:p> 1 . _:a <urn:p> 2 }}
                        GRAPH <urn:other> {{ <urn:x> <urn:p> 3 }} <urn:x> <urn:p> 4 }}"
    );
    let others = SparqlParser::new().parse_update(&others).unwrap();
    let stored = endpoint.check_update(&others, &CallContext::new()).await;
    stored.unwrap();
    let record = MigrationRecord {
        attempt: "1".to_owned(),
        source: "elsewhere".to_owned(),
        phase: MigrationPhase::Cleaning,
    };
    let begun = store.swap_migration(None, Some(&record)).await;
    assert!(begun.unwrap());
    assert!(store.clear(&record).await.unwrap());
    let subjects = format!(
        "SELECT DISTINCT ?s WHERE {{ GRAPH <{SCHEMAS_GRAPH}> {{ ?s ?p ?o }} }} ORDER BY ?s"
    );
    let found = solutions(&options, &subjects).await;
    let node = |name: &str| Some(format!("<urn:soml:schemas:{name}>"));
    assert_eq!(found, [node("lease:indexes"), node("migration")]);
    let elsewhere = "SELECT ?o WHERE { GRAPH <urn:other> { ?s ?p ?o } }";
    assert_eq!(solutions(&options, elsewhere).await.len(), 1);
}
