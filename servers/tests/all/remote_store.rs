//! A service whose store is a SPARQL server: configuration, conflicts, health.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use async_trait::async_trait;
use graph_store::query::{Hydrated, HydrationRequest, Objects, Selection};
use graph_store::remote::SparqlEndpoint;
use graph_store::remote::http::{HttpEndpoint, ServerKind, ServerType};
use graph_store::{CallContext, GraphStore, StoreError, StoreInfo};
use servers::config::{Settings, Sources, read};
use servers::store::{DataStore, OpenError};
use service_config::ConfigError;
use tempfile::TempDir;

use crate::command_line::{code, err, soml};
use crate::processes::PATIENCE;
use crate::service::Service;

fn with_flags(flags: &[&str]) -> Result<Settings, ConfigError> {
    let flags: Vec<_> = flags.iter().map(|flag| (*flag).to_owned()).collect();
    read(&Sources {
        flags: &flags,
        ..Sources::default()
    })
    .map(|(settings, _)| settings)
}

#[test]
fn the_connection_is_configured_by_properties() {
    let settings = with_flags(&[
        "sparql.endpoint.address=http://a:7200; http://b:7200",
        "sparql.endpoint.type=graphdb",
        "sparql.endpoint.repository=films",
        "sparql.endpoint.username=somebody",
        "sparql.endpoint.maxConcurrentRequests=7",
        "sparql.endpoint.socketTimeout=1500",
        "sparql.endpoint.retryHttpCodes=429, 50x",
        "sparql.endpoint.maxRetries=4",
        "sparql.endpoint.maxResultBytes=1000",
        "sparql.endpoint.cluster.retryOnHttp4xx=false",
    ])
    .unwrap();
    let sparql = &settings.sparql;
    assert_eq!(
        sparql.addresses.to_string(),
        "http://a:7200/, http://b:7200/"
    );
    assert_eq!(sparql.server, ServerType::Known(ServerKind::GraphDb));
    assert_eq!(sparql.repository.as_deref(), Some("films"));
    assert_eq!(sparql.username.as_deref(), Some("somebody"));
    assert_eq!(sparql.max_concurrent_connections, 7);
    assert_eq!(sparql.socket_timeout, Duration::from_millis(1500));
    assert!(sparql.retry_http_codes.contains(429) && sparql.retry_http_codes.contains(509));
    assert_eq!((sparql.max_retries, sparql.max_result_bytes), (4, 1000));
    assert!(!sparql.retry_on_http_4xx && sparql.retry_on_http_5xx);
}

#[test]
fn the_example_of_the_page_can_be_used() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(folder.join("../docs/sparql-servers.md")).unwrap();
    let block = page.split_once("```properties\n").unwrap().1;
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("example.properties");
    std::fs::write(&path, block.split_once("```").unwrap().0).unwrap();
    let (settings, _) = read(&Sources {
        file: Some(&path),
        ..Sources::default()
    })
    .unwrap();
    assert_eq!(settings.sparql.addresses.len(), 2);
    assert!(settings.sparql.credentials.is_some());
    HttpEndpoint::new(settings.sparql).unwrap();
}

#[test]
fn secrets_come_from_files_too_and_are_never_shown() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("password");
    std::fs::write(&path, "hidden\n").unwrap();
    let file = path.display().to_string();
    let (settings, warnings) = read(&Sources {
        environment: vec![
            ("SPARQL_ENDPOINT_USERNAME".to_owned(), "somebody".to_owned()),
            ("SPARQL_ENDPOINT_CREDENTIALS_FILE".to_owned(), file),
        ],
        ..Sources::default()
    })
    .unwrap();
    assert_eq!(warnings, Vec::<String>::new());
    let secret = settings.sparql.credentials.clone().unwrap();
    assert_eq!(secret, outbound::Secret::new("hidden"));
    assert!(!format!("{settings:?}").contains("hidden"));
    let property = servers::config::CATALOGUE
        .find("sparql.endpoint.credentials")
        .unwrap();
    assert_eq!(property.shown(&settings), "***");
}

#[test]
fn a_password_in_an_address_is_refused_and_not_repeated() {
    let error = with_flags(&["sparql.endpoint.address=http://somebody:hidden@a/"]).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("without user, password"), "{text}");
    assert!(!text.contains("hidden"), "{text}");
}

#[test]
fn without_an_address_the_store_is_embedded_and_contradictions_are_told() {
    let store = DataStore::open(&Settings::default()).unwrap();
    assert!(store.embedded().is_some());
    let settings = with_flags(&[
        "sparql.endpoint.address=http://a",
        "sparql.endpoint.credentials=hidden",
    ])
    .unwrap();
    match DataStore::open(&settings) {
        Err(OpenError::Options(error)) => {
            assert!(error.to_string().contains("username"), "{error}");
        }
        _ => panic!("credentials without a user"),
    }
}

#[test]
fn data_to_load_and_a_server_that_holds_the_data_exclude_each_other() {
    let address = ["--set", "sparql.endpoint.address=http://127.0.0.1:1/"];
    for (command, input, flag) in [
        (
            "serve",
            &["--data", "demo/star-wars/data.ttl"][..],
            "--data",
        ),
        ("serve", &["--demo", "star-wars"], "--demo"),
        (
            "query",
            &["{ x }", "--data", "demo/star-wars/data.ttl"],
            "--data",
        ),
    ] {
        let output = soml(&[&[command], input, &address].concat());
        assert_eq!(code(&output), Some(64), "{}", err(&output));
        let text = err(&output);
        assert!(text.contains(&format!("error: {flag} loads")), "{text}");
        assert!(text.contains("sparql.endpoint.address"), "{text}");
    }
}

/// A store that has only its check.
struct Checked(HttpEndpoint);

#[async_trait]
impl GraphStore for Checked {
    async fn select(
        &self,
        _selection: &Selection,
        _context: &CallContext,
    ) -> Result<Objects, StoreError> {
        panic!("health is checked without selections")
    }

    async fn hydrate(
        &self,
        _request: &HydrationRequest<'_>,
        _context: &CallContext,
    ) -> Result<Hydrated, StoreError> {
        panic!("health is checked without values")
    }

    async fn probe(&self, context: &CallContext) -> Result<StoreInfo, StoreError> {
        self.0.probe(context).await
    }
}

/// A server that answers every request with a statement that is there, until it is dropped.
struct Statement {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Statement {
    fn serve(address: SocketAddr) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        listener.set_nonblocking(true).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::SeqCst) {
                match listener.accept() {
                    Ok((stream, _)) => answer(stream),
                    Err(_) => std::thread::sleep(Duration::from_millis(5)),
                }
            }
        });
        Statement {
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // A failure of the thread shows in what the client sees.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn answer(mut stream: TcpStream) {
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut request = [0; 4096];
    assert!(stream.read(&mut request).unwrap() > 0);
    let json = concat!(
        r#"{"head":{"vars":["subject"]},"results":{"bindings":["#,
        r#"{"subject":{"type":"uri","value":"urn:a"}}]}}"#
    );
    let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\n";
    let length = json.len();
    let text = format!("{head}Content-Length: {length}\r\n\r\n{json}");
    stream.write_all(text.as_bytes()).unwrap();
}

#[test]
fn health_tells_when_the_server_is_away_and_when_it_is_back() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    // Only the health check may end what takes long.
    let service = |timeout| {
        let settings = with_flags(&[
            &format!("sparql.endpoint.address=http://{address}/sparql"),
            "sparql.endpoint.type=sparql11",
            "sparql.endpoint.socketTimeout=3600000",
            "graphql.requestTimeout=3600000",
            &format!("sparql.endpoint.healthCheckTimeout={timeout}"),
        ]);
        let settings = settings.unwrap();
        let store = Checked(HttpEndpoint::new(settings.sparql.clone()).unwrap());
        Service::over(settings, Arc::new(store))
    };
    let check = |service: &Service| {
        let health = service.get("/__health?cache=false").json();
        let check = health["healthChecks"][0].clone();
        assert_eq!(check["type"], "sparql");
        let text = check["message"].as_str().unwrap().to_owned();
        assert!(!text.contains("127.0.0.1"), "{text}");
        (check["status"].as_str().unwrap().to_owned(), text)
    };
    let patient = service(60_000);
    for _ in 0..2 {
        assert_eq!(check(&patient).0, "ERROR");
        assert_eq!(patient.get("/__gtg?cache=false").status, 503);

        let server = Statement::serve(address);
        assert_eq!(
            check(&patient),
            ("OK".to_owned(), "the sparql11 store answers".to_owned())
        );
        assert_eq!(patient.get("/__gtg?cache=false").status, 200);
        drop(server);
    }
    // It accepts and says nothing.
    let silent = TcpListener::bind(address).unwrap();
    assert_eq!(check(&service(500)).0, "ERROR");
    drop(silent);
}
