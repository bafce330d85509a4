//! A real server of RDF4J's protocol behind the proxy: the same faults, and what it does by itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use call_context::CallError;
use graph_store::StoreError;
use graph_store::query::Dataset;
use graph_store::remote::http::{ConnectionOptions, HttpEndpoint, ServerKind, ServerType};
use graph_store::remote::{EndpointQuery, Rows, SparqlEndpoint};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, RequestBuilder, Url};
use spargebra::SparqlParser;
use test_support::repository::{self, MEMORY};

use crate::faults::proxy::{Fault, Proxy};
use crate::faults::{PATIENCE, ask, client, options, until};

/// Statements of the repository of a test: few, or enough for a query that takes minutes.
const FEW: usize = 3;
const MANY: usize = 3_000;

/// A repository of its own in the server that `RDF4J_URL` names.
struct Repository {
    server: Url,
    id: String,
    http: Client,
}

impl Repository {
    async fn create(statements: usize) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let address = std::env::var("RDF4J_URL").expect("RDF4J_URL names a running server");
        let number = NEXT.fetch_add(1, Ordering::SeqCst);
        let repository = Repository {
            server: address.parse().unwrap(),
            id: format!("faults-{}-{number}", std::process::id()),
            http: plain_http(),
        };
        let configuration = repository::repository(&repository.id, MEMORY);
        let create = repository.http.put(repository.url(""));
        repository.send(create, "text/turtle", configuration).await;
        let data: String = (0..statements)
            .map(|n| format!("<urn:s{n}> <urn:p> \"value {n}\" .\n"))
            .collect();
        let load = repository.http.post(repository.url("/statements"));
        repository.send(load, "text/turtle", data).await;
        repository
    }

    fn url(&self, below: &str) -> String {
        format!("{}/repositories/{}{below}", self.server, self.id)
    }

    async fn send(&self, request: RequestBuilder, content_type: &str, body: String) {
        let request = request.header(CONTENT_TYPE, content_type).body(body);
        let answer = request.send().await.unwrap();
        assert!(answer.status().is_success(), "{answer:?}");
    }

    async fn remove(self) {
        let answer = self.http.delete(self.url("")).send().await.unwrap();
        assert!(answer.status().is_success(), "{answer:?}");
    }

    async fn proxy(&self) -> Proxy {
        let host = self.server.host_str().unwrap();
        let port = self.server.port_or_known_default().unwrap();
        let mut found = tokio::net::lookup_host((host, port)).await.unwrap();
        Proxy::start(found.next().unwrap()).await
    }

    fn through(&self, proxy: &Proxy) -> ConnectionOptions {
        ConnectionOptions {
            server: ServerType::Auto,
            repository: Some(self.id.clone()),
            ..options(&proxy.url(self.server.path()))
        }
    }
}

/// A client that trusts nobody, for addresses without TLS.
fn plain_http() -> Client {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    let builder = Client::builder().tls_backend_preconfigured(tls).no_proxy();
    builder.build().unwrap()
}

async fn select(client: &HttpEndpoint, text: &str, time: Duration) -> Result<Rows, StoreError> {
    let query = SparqlParser::new().parse_query(text).unwrap();
    let dataset = Dataset::default();
    let asked = EndpointQuery {
        query: &query,
        text,
        dataset: &dataset,
    };
    client.select(asked, &until(time)).await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a running RDF4J server: scripts/servers.sh start"]
async fn its_result_is_whole_or_an_error_wherever_it_breaks_off() {
    let repository = Repository::create(FEW).await;
    let proxy = repository.proxy().await;
    let known = ConnectionOptions {
        server: ServerType::Known(ServerKind::Rdf4j),
        ..repository.through(&proxy)
    };
    let rows = ask(&client(known.clone())).await.unwrap();
    assert_eq!(rows.terms.len(), 2 * FEW);
    for fault in [Fault::CloseAfter, Fault::ResetAfter] {
        let mut end = 0;
        let mut errors = 0;
        // All bytes of the answer have come when there is no error; it has some hundred.
        loop {
            proxy.set(fault(end));
            match ask(&client(known.clone())).await {
                Ok(read) => {
                    assert_eq!(read, rows, "{end}");
                    break;
                }
                Err(StoreError::Failed(_) | StoreError::Unavailable(_)) => errors += 1,
                Err(other) => panic!("{end}: {other:?}"),
            }
            end += 1;
            assert!(end < 10_000);
        }
        assert!(errors > 300, "{errors}");
    }
    proxy.set(Fault::None);
    assert_eq!(ask(&client(known)).await.unwrap(), rows);
    repository.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a running RDF4J server: scripts/servers.sh start"]
async fn it_is_found_checked_and_asked_again_when_it_is_back() {
    let repository = Repository::create(FEW).await;
    let mut proxy = repository.proxy().await;
    let client = client(repository.through(&proxy));
    proxy.down().await;
    let answer = ask(&client).await;
    assert!(
        matches!(answer, Err(StoreError::Unavailable(_))),
        "{answer:?}"
    );
    client.probe(&until(PATIENCE)).await.unwrap_err();
    proxy.up().await;
    let info = client.probe(&until(PATIENCE)).await.unwrap();
    assert_eq!((info.provider.as_str(), info.statements), ("rdf4j", None));
    assert_eq!(ask(&client).await.unwrap().terms.len(), 2 * FEW);
    repository.remove().await;

    // What is no longer there is a failure and not an empty list.
    let answer = ask(&client).await;
    match answer {
        Err(StoreError::Failed(error)) => assert!(error.to_string().contains("404"), "{error}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a running RDF4J server: scripts/servers.sh start"]
async fn its_stalls_and_drips_end_with_the_deadline() {
    let repository = Repository::create(FEW).await;
    let proxy = repository.proxy().await;
    for place in [0, 50, 300] {
        let client = client(repository.through(&proxy));
        client.server_kind(&until(PATIENCE)).await.unwrap();
        proxy.set(Fault::StallAfter(place));
        let stalled = self::client(repository.through(&proxy));
        let answer = crate::faults::ask_within(&stalled, Duration::from_millis(300)).await;
        assert!(
            matches!(answer, Err(StoreError::Call(CallError::Deadline))),
            "{place}: {answer:?}"
        );
        proxy.set(Fault::None);
        assert_eq!(ask(&client).await.unwrap().terms.len(), 2 * FEW);
    }
    repository.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a running RDF4J server: scripts/servers.sh start"]
async fn a_query_that_fails_midway_is_never_a_short_list() {
    let repository = Repository::create(MANY).await;
    let proxy = repository.proxy().await;
    let client = client(repository.through(&proxy));
    // Rows come at once and go on for minutes: the server stops itself, or we stop reading.
    let text = "SELECT ?a ?b ?c WHERE { ?a ?p ?x . ?b ?q ?y . ?c ?r ?z }";
    let answer = select(&client, text, Duration::from_millis(1500));
    let answer = tokio::time::timeout(PATIENCE, answer).await;
    let answer = answer.expect("the deadline ends it");
    let limited = matches!(
        answer,
        Err(StoreError::Call(CallError::Deadline)
            | StoreError::Failed(_)
            | StoreError::ResultTooLarge { .. })
    );
    assert!(limited, "{:?}", answer.map(|rows| rows.terms.len()));

    // The server stops evaluating after a second, in the middle of the rows.
    let address = format!("{}?timeout=1", repository.url(""));
    let stopped = self::client(ConnectionOptions {
        server: ServerType::Known(ServerKind::Sparql11),
        max_result_bytes: u64::MAX,
        ..options(&address)
    });
    let answer = select(&stopped, text, PATIENCE).await;
    match answer {
        // It ends what it sends as if it were all; only the missing end of the JSON tells, in
        // words that depend on where that is.
        Err(StoreError::Failed(error)) => {
            assert!(error.to_string().contains("is malformed"), "{error}");
        }
        other => panic!("{:?}", other.map(|rows| rows.terms.len())),
    }
    repository.remove().await;
}
