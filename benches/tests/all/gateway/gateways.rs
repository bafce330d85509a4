//! What gateways answer over the subgraphs.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use apollo_compiler::response::JsonMap;
use benches::gateway::{Data, DataSet, Part, QUERY, Subgraphs, supergraph};
use benches::http::Connection;
use bytes::Bytes;
use gateway_service::{GatewayApp, GatewayParts, SubgraphOptions};
use serde_json::{Value, json};
use servers::config::Settings;

use super::reference;

const SETS: [DataSet; 2] = [DataSet::Original, DataSet::Spread];

async fn subgraphs(set: DataSet) -> SocketAddr {
    let subgraphs = Subgraphs::new(set, Duration::ZERO);
    subgraphs.serve(0).await.unwrap()
}

/// Starts our gateway over subgraphs, in this process.
async fn ours(subgraphs: SocketAddr) -> SocketAddr {
    let mut settings = Settings {
        port: 0,
        ..Settings::default()
    };
    for (number, part) in (0..).zip(Part::ALL) {
        let url = format!("http://{subgraphs}/{}", part.name());
        let subgraph = SubgraphOptions {
            address: Some(url.parse().unwrap()),
            name: Some(part.name().to_owned()),
            ..SubgraphOptions::default()
        };
        settings.gateway.subgraphs.insert(number, subgraph);
    }
    let parts = GatewayParts {
        host: settings.host(),
        options: settings.gateway_options(),
        local: Vec::new(),
        requires_tokens: false,
        log_in: None,
        query: None,
    };
    let app = Arc::new(GatewayApp::new(parts).unwrap());
    let server = service_runtime::Server::listen(Arc::clone(&app))
        .await
        .unwrap();
    let address = server.address();
    tokio::spawn(server.run(std::future::pending()));
    app.start().await.unwrap();
    address
}

async fn ask(gateway: SocketAddr) -> String {
    let mut connection = Connection::open(gateway).await.unwrap();
    let body = json!({ "query": QUERY }).to_string();
    let answer = connection.send(Bytes::from(body)).await.unwrap();
    String::from_utf8(answer.to_vec()).unwrap()
}

fn expected(set: DataSet) -> String {
    let data = Data::new(set);
    reference::answer(&reference::api(), &data, QUERY, &JsonMap::new())
}

#[tokio::test]
async fn our_gateway_answers_the_benchmark_as_one_service_would() {
    for set in SETS {
        let answer = ask(ours(subgraphs(set).await).await).await;
        assert_eq!(answer, expected(set));
    }
}

#[test]
fn the_answer_has_the_size_that_the_benchmark_states() {
    let length = expected(DataSet::Original).len();
    assert!((87_550..87_650).contains(&length), "{length}");
}

/// Installs what is locked below the target folder, and returns where.
fn installed(peer: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("peers")
        .join(peer);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(peer);
    std::fs::create_dir_all(&target).unwrap();
    for file in ["package.json", "package-lock.json", "server.mjs"] {
        std::fs::copy(source.join(file), target.join(file)).unwrap();
    }
    let npm = Command::new("npm")
        .args([
            "ci",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
            "--prefix",
        ])
        .arg(&target)
        .output();
    let npm = npm.unwrap_or_else(|error| panic!("npm does not run: {error}"));
    assert!(
        npm.status.success(),
        "{}",
        String::from_utf8_lossy(&npm.stderr)
    );
    target
}

/// A process that ends with the test, however that ends.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Node and npm: see CONTRIBUTING.md"]
async fn apollo_gateway_answers_the_benchmark_as_our_gateway_does() {
    let peer = installed("apollo-gateway");
    for set in SETS {
        let subgraphs = subgraphs(set).await;
        let file = peer.join("supergraph.graphql");
        std::fs::write(&file, supergraph(&format!("http://{subgraphs}"))).unwrap();
        let child = Command::new("node")
            .arg(peer.join("server.mjs"))
            .args([file.as_os_str(), "0".as_ref()])
            .stdout(Stdio::piped())
            .spawn();
        let mut node = Ended(child.unwrap());
        let mut said = std::io::BufReader::new(node.0.stdout.take().unwrap());
        let said = tokio::task::spawn_blocking(move || {
            let mut line = String::new();
            std::io::BufRead::read_line(&mut said, &mut line).map(|_| line)
        });
        let said = tokio::time::timeout(Duration::from_secs(60), said).await;
        let line = said.expect("it says where it listens").unwrap().unwrap();
        let address = line.trim().trim_start_matches("http://").parse();
        let answer = ask(address.unwrap_or_else(|_| panic!("it says {line:?}"))).await;
        let theirs: Value = serde_json::from_str(&answer).unwrap();
        let ours: Value = serde_json::from_str(&ask(ours(subgraphs).await).await).unwrap();
        assert_eq!(theirs, ours);
    }
}
