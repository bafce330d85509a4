//! The edge as a command, and in front of the services of `soml serve`.

use std::fs;
use std::net::TcpListener;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command_line::{code, err, soml};
use crate::processes::{Running, agent, base};

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
    command
        .env_clear()
        .stderr(Stdio::null())
        .stdin(Stdio::null());
    command
}

fn post(url: &str, token: Option<&str>, body: &Value) -> (u16, Value) {
    let request = agent().post(url).header("content-type", "application/json");
    let request = match token {
        Some(token) => request.header("authorization", format!("Bearer {token}")),
        None => request,
    };
    let mut answer = request.send(body.to_string()).unwrap();
    let text = answer.body_mut().read_to_string().unwrap();
    (
        answer.status().as_u16(),
        serde_json::from_str(&text).unwrap_or_default(),
    )
}

fn get(url: &str) -> (u16, String) {
    let mut answer = agent().get(url).call().unwrap();
    let text = answer.body_mut().read_to_string().unwrap();
    (answer.status().as_u16(), text)
}

#[test]
fn the_demo_is_at_one_address_with_its_users_and_without_a_token_nothing_of_it() {
    let mut command = program();
    command.args(["serve", "--demo", "star-wars", "--roles", "--port", "0"]);
    let mut running = Running::start(&mut command);
    let said = running.said_until("Composed");
    let edge = base(&said, "Edge:").trim_end_matches('/');
    let query = json!({"query": "{ human(limit: 1) { name } }"});
    for path in [
        "/graphql",
        "/objects/graphql",
        "/searches/graphql",
        "/objects/soml",
        "/metrics",
    ] {
        let (status, refused) = post(&format!("{edge}{path}"), None, &query);
        assert_eq!(status, 401, "{path}: {refused}");
    }
    // Pages and probes are for everybody.
    for path in [
        "/",
        "/docs",
        "/objects/",
        "/objects/docs",
        "/searches/__gtg",
        "/__health",
        "/.well-known/jwks.json",
    ] {
        let asked = agent()
            .get(format!("{edge}{path}"))
            .header("accept", "text/html, */*");
        assert_eq!(asked.call().unwrap().status().as_u16(), 200, "{path}");
    }
    let user = said.iter().find(|line| line.contains("(Admin")).unwrap();
    let words: Vec<&str> = user.split_whitespace().collect();
    let (status, token) = post(
        &format!("{edge}/api/login"),
        None,
        &json!({"loginId": words[0], "password": words[1]}),
    );
    assert_eq!(status, 200, "{said:#?}");
    let token = token["token"].as_str().unwrap();
    for path in ["/graphql", "/objects/graphql"] {
        let (status, answer) = post(&format!("{edge}{path}"), Some(token), &query);
        assert_eq!(status, 200, "{path}");
        assert!(
            answer["data"]["human"][0]["name"].is_string(),
            "{path}: {answer}"
        );
    }
    assert!(running.stop().success());
}

#[test]
fn an_edge_that_is_not_configured_well_does_not_start_and_says_why() {
    let folder = TempDir::new().unwrap();
    let certificate = folder.path().join("certificate.pem");
    fs::write(&certificate, "nothing").unwrap();
    let certificate = certificate.to_str().unwrap();
    let address = "edge.route.0.address=http://127.0.0.1:1";
    let path = "edge.route.0.path=/x";
    let open = "security.enabled=false";
    for (settings, expected) in [
        (&[][..], "nothing to verify tokens with"),
        (&[open], "the edge has no routes: set `edge.route.0.path`"),
        (
            &[open, address],
            "the route 0 of the edge has no path: set `edge.route.0.path` (EDGE_ROUTE_0_PATH)",
        ),
        (&[open, path], "the route 0 of the edge has no address"),
        (
            &[open, address, "edge.route.0.path=x"],
            "the path `x` of the route `route_0`",
        ),
        (
            &[
                open,
                address,
                path,
                "edge.route.1.address=http://127.0.0.1:1",
                "edge.route.1.path=/x/",
            ],
            "the same path `/x`",
        ),
        (
            &[open, address, path, "edge.route.0.publik=/a"],
            "edge.route.0.public",
        ),
        (
            &[open, address, path, "edge.route.0.rate=fast"],
            "such as `100/s`",
        ),
        (
            &[open, address, path, "edge.tls.key=/k.pem"],
            "`edge.tls.key` is set without `edge.tls.certificate`",
        ),
        (
            &[
                open,
                address,
                path,
                &format!("edge.tls.certificate={certificate}"),
                &format!("edge.tls.key={certificate}"),
            ],
            "contains no certificate in PEM",
        ),
    ] {
        let mut arguments = vec!["edge", "--port", "0"];
        for setting in settings {
            arguments.extend(["--set", setting]);
        }
        let output = soml(&arguments);
        assert!(
            matches!(code(&output), Some(3 | 64)),
            "{settings:?}: {}",
            err(&output)
        );
        assert!(
            err(&output).contains(expected),
            "{settings:?}: {}",
            err(&output)
        );
    }
}

#[test]
fn a_service_behind_soml_edge_is_reached_led_and_watched() {
    let mut service = program();
    service.args([
        "serve",
        "--demo",
        "star-wars",
        "--port",
        "0",
        "--set",
        "gateway.enabled=false",
    ]);
    service.args([
        "--set",
        "edge.enabled=false",
        "--set",
        "http.trustedProxies=127.0.0.1",
    ]);
    let mut service = Running::start(&mut service);
    let said = service.said_until("Search");
    assert!(
        !said.iter().any(|line| line.starts_with("Edge")),
        "{said:#?}"
    );
    let objects = base(&said, "GraphQL:").to_owned();
    let dead = TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = dead.local_addr().unwrap();
    drop(dead);
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("edge.yaml");
    let text = format!(
        "security: {{enabled: false}}\nedge:\n  route:\n    \"0\": {{name: objects, path: /objects, address: \"{objects}\", \
         stripPath: true, public: pages}}\n    \"1\": {{name: gone, path: /gone, address: \"http://{nobody}\"}}\n"
    );
    fs::write(&file, text).unwrap();
    let mut edge = program();
    edge.args(["edge", "--port", "0", "--config", file.to_str().unwrap()]);
    let mut edge = Running::start(&mut edge);
    let said = edge.said_until("Route:    ");
    let url = base(&said, "Edge:").trim_end_matches('/').to_owned();
    let (status, answer) = post(
        &format!("{url}/objects/graphql"),
        None,
        &json!({"query": "{ film(limit: 1) { name } }"}),
    );
    assert_eq!(status, 200);
    assert!(answer["data"]["film"][0]["name"].is_string(), "{answer}");
    assert_eq!(get(&format!("{url}/gone/x")).0, 503);
    // Links of the service lead through the edge.
    let (_, record) = get(&format!("{url}/objects/__health"));
    assert!(record.contains("/objects/__trouble#1200"), "{record}");
    let health = |cache| -> Value {
        serde_json::from_str(&get(&format!("{url}/__health?cache={cache}")).1).unwrap()
    };
    let seen = health(false);
    assert_eq!(seen["status"], "ERROR");
    assert_eq!(seen["healthChecks"][0]["status"], "OK", "{seen}");
    assert_eq!(
        seen["healthChecks"][1]["message"],
        "it cannot be connected to"
    );
    assert!(service.stop().success());
    let seen = health(false);
    assert_eq!(seen["healthChecks"][0]["status"], "ERROR", "{seen}");
    health(false);
    assert_eq!(get(&format!("{url}/__gtg")).0, 503);
    assert!(edge.stop().success());
}
