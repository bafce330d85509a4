//! A SPARQL server in this process, over HTTP as RDF4J speaks it, from an embedded store.

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::post;
use oxigraph::io::RdfFormat;
use oxigraph::sparql::results::{QueryResultsFormat, QueryResultsSerializer};
use oxigraph::sparql::{QueryResults, SparqlEvaluator};
use oxigraph::store::Store;
use tokio::sync::oneshot;

/// A running server; it stops when this is dropped.
pub(crate) struct SparqlServer {
    pub(crate) address: String,
    _stop: oneshot::Sender<()>,
}

impl SparqlServer {
    /// Returns the flags that make a command ask this server.
    pub(crate) fn flags(&self) -> [String; 4] {
        let set = "--set".to_owned();
        let address = format!("sparql.endpoint.address={}", self.address);
        let kind = "sparql.endpoint.type=rdf4j".to_owned();
        [set.clone(), address, set, kind]
    }

    /// Serves some Turtle.
    pub(crate) fn with(data: &str) -> Self {
        let store = Store::new().unwrap();
        store.load_from_slice(RdfFormat::Turtle, data).unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = format!("http://{}/repositories/r", listener.local_addr().unwrap());
        let (stop, stopped) = oneshot::channel::<()>();
        // A failure of the thread shows in what the client sees.
        std::thread::spawn(move || run(store, listener, stopped));
        SparqlServer {
            address,
            _stop: stop,
        }
    }
}

fn run(store: Store, listener: std::net::TcpListener, stopped: oneshot::Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let answer = move |query: String| {
        let store = store.clone();
        async move { answer(&store, &query) }
    };
    let app = Router::new().route("/repositories/r", post(answer));
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        let served = axum::serve(listener, app);
        let served = served.with_graceful_shutdown(async {
            let _ = stopped.await;
        });
        served.await.unwrap();
    });
}

fn answer(store: &Store, query: &str) -> impl IntoResponse + use<> {
    let mut prepared = SparqlEvaluator::new().parse_query(query).unwrap();
    prepared.dataset_mut().set_default_graph_as_union();
    let QueryResults::Solutions(solutions) = prepared.on_store(store).execute().unwrap() else {
        panic!("not a SELECT: {query}");
    };
    let variables = solutions.variables().to_vec();
    let serializer = QueryResultsSerializer::from_format(QueryResultsFormat::Json);
    let mut writer = serializer
        .serialize_solutions_to_writer(Vec::new(), variables)
        .unwrap();
    for solution in solutions {
        writer.serialize(&solution.unwrap()).unwrap();
    }
    let json = writer.finish().unwrap();
    ([(CONTENT_TYPE, "application/sparql-results+json")], json)
}
