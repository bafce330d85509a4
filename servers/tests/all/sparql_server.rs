//! A SPARQL server in this process, over HTTP as RDF4J speaks it or as any server does, from an embedded store.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::map_request;
use axum::response::IntoResponse;
use axum::routing::post;
use graph_store::remote::http::{ConnectionOptions, ServerKind, ServerType};
use oxigraph::sparql::results::{QueryResultsFormat, QueryResultsSerializer};
use oxigraph::sparql::{QueryResults, SparqlEvaluator};
use oxigraph::store::Store;
use oxrdfio::RdfFormat;
use reqwest::Url;
use tokio::sync::oneshot;

/// A running server; it stops when this is dropped.
pub(crate) struct SparqlServer {
    pub(crate) address: String,
    /// The headers of all requests.
    #[cfg_attr(not(feature = "otlp"), expect(dead_code))]
    pub(crate) asked: Arc<Mutex<Vec<HeaderMap>>>,
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
        SparqlServer::start(store, "repositories/r")
    }

    /// Serves a store whose default graph is apart, as a server of unknown kind.
    pub(crate) fn of_store(store: Store) -> Self {
        SparqlServer::start(store, "sparql")
    }

    /// Returns how to connect to the server of a store.
    pub(crate) fn options(&self) -> ConnectionOptions {
        ConnectionOptions {
            addresses: self.address.parse().unwrap(),
            server: ServerType::Known(ServerKind::Sparql11),
            ..ConnectionOptions::default()
        }
    }

    fn start(store: Store, path: &str) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = format!("http://{}/{path}", listener.local_addr().unwrap());
        let (stop, stopped) = oneshot::channel::<()>();
        // A failure of the thread shows in what the client sees.
        let asked = Arc::<Mutex<Vec<HeaderMap>>>::default();
        let noted = Arc::clone(&asked);
        std::thread::spawn(move || run(store, listener, stopped, noted));
        SparqlServer {
            address,
            asked,
            _stop: stop,
        }
    }
}

fn run(
    store: Store,
    listener: std::net::TcpListener,
    stopped: oneshot::Receiver<()>,
    asked: Arc<Mutex<Vec<HeaderMap>>>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (of_rdf4j, of_updates) = (store.clone(), store.clone());
    let rdf4j = move |query: String| {
        let store = of_rdf4j.clone();
        async move { answer(&store, &query, true) }
    };
    let any = move |form: String| {
        let store = store.clone();
        let form = Url::parse(&format!("http://form/?{form}")).unwrap();
        let query = form.query_pairs().find(|(name, _)| name == "query");
        let query = query.unwrap().1.into_owned();
        async move { answer(&store, &query, false) }
    };
    let update = move |update: String| {
        let store = of_updates.clone();
        async move {
            let update = SparqlEvaluator::new().parse_update(&update).unwrap();
            update.on_store(&store).execute().unwrap();
        }
    };
    let app = Router::new()
        .route("/repositories/r", post(rdf4j))
        .route("/sparql", post(any))
        .route("/update", post(update))
        .layer(map_request(move |request: Request| {
            asked.lock().unwrap().push(request.headers().clone());
            async move { request }
        }));
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        let served = axum::serve(listener, app);
        let served = served.with_graceful_shutdown(async {
            let _ = stopped.await;
        });
        served.await.unwrap();
    });
}

fn answer(store: &Store, query: &str, is_union: bool) -> impl IntoResponse + use<> {
    let mut prepared = SparqlEvaluator::new().parse_query(query).unwrap();
    if is_union {
        prepared.dataset_mut().set_default_graph_as_union();
    }
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
