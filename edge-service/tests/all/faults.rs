//! Services that hang, die or break connections off: the others go on, and health is true.

use std::time::Duration;

use serde_json::Value;
use service_runtime::HostOptions;
use test_support::sockets::{Behaviour, Server};

use crate::support::{
    Edge, answer, answering, code, options, requests, route, to, unasked, until_seen,
};

async fn health(edge: &Edge) -> Value {
    let answered = edge.get("/__health?cache=false").send().await.unwrap();
    serde_json::from_str(&answered.text().await.unwrap()).unwrap()
}

fn of<'v>(health: &'v Value, name: &str) -> &'v Value {
    let checks = health["healthChecks"].as_array().unwrap();
    checks.iter().find(|it| it["id"] == name).unwrap()
}

#[tokio::test]
async fn a_service_that_hangs_takes_nothing_from_the_others() {
    let (hanging, well) = (Server::start(Behaviour::Silent), answering("well"));
    let mut options = options();
    options.upstream.max_waiting = 2;
    options.upstream.response_timeout = Duration::from_secs(600);
    let routes = vec![
        unasked("/hanging", &[hanging.address]),
        route("/well", &well),
    ];
    let edge = Edge::with(&options, HostOptions::default(), None, routes).await;
    let waiting: Vec<_> = (0..2)
        .map(|_| tokio::spawn(edge.get("/hanging").send()))
        .collect();
    until_seen(&hanging, 2, |it| it.head.starts_with("get /hanging")).await;
    let refused = edge.get("/hanging").send().await.unwrap();
    assert_eq!(refused.headers()["retry-after"], "1");
    let (status, code) = code(refused).await;
    assert_eq!((status.as_u16(), code.as_str()), (503, "UPSTREAM_BUSY"));
    for _ in 0..20 {
        let answered = edge.get("/well").send().await.unwrap();
        assert_eq!(answered.text().await.unwrap(), "well");
    }
    for request in waiting {
        request.abort();
    }
}

#[tokio::test]
async fn the_health_of_a_service_that_hangs_is_an_error_and_the_edge_stays_ready() {
    let (hanging, well) = (Server::start(Behaviour::Silent), answering("well"));
    let mut options = options();
    options.upstream.check_timeout = Duration::from_millis(200);
    let routes = vec![route("/hanging", &hanging), route("/well", &well)];
    let edge = Edge::with(&options, HostOptions::default(), None, routes).await;
    let health = health(&edge).await;
    assert_eq!(health["status"], "ERROR");
    let message = &of(&health, "hanging")["message"];
    assert_eq!(message, "it does not answer in time");
    let ready = edge.get("/__gtg").send().await.unwrap();
    assert_eq!(ready.status().as_u16(), 200);
}

#[tokio::test]
async fn a_service_that_does_not_begin_to_answer_in_time_is_a_504_that_is_not_repeated() {
    let (one, other) = (
        Server::start(Behaviour::Silent),
        Server::start(Behaviour::Silent),
    );
    let mut options = options();
    options.upstream.response_timeout = Duration::from_millis(50);
    options.upstream.retries = 3;
    let routes = vec![to("/x", &[one.address, other.address])];
    let edge = Edge::with(&options, HostOptions::default(), None, routes).await;
    let (status, code) = code(edge.get("/x").send().await.unwrap()).await;
    assert_eq!((status.as_u16(), code.as_str()), (504, "UPSTREAM_TIMEOUT"));
    assert_eq!(requests(&one).len() + requests(&other).len(), 1);
}

#[tokio::test]
async fn what_no_server_has_seen_goes_to_the_next_and_what_one_has_broken_off_only_if_it_reads() {
    let dead = {
        let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        gone.local_addr().unwrap()
    };
    let well = answering("well");
    let edge = Edge::start(vec![to("/x", &[dead, well.address])]).await;
    for _ in 0..6 {
        let answered = edge.post("/x", "{}").send().await.unwrap();
        assert_eq!(answered.text().await.unwrap(), "well");
    }
    let breaking = Server::start(Behaviour::Closes(Vec::new()));
    let edge = Edge::start(vec![unasked("/x", &[breaking.address, well.address])]).await;
    let before = requests(&well).len();
    for _ in 0..4 {
        assert!(edge.get("/x").send().await.unwrap().status().is_success());
    }
    assert_eq!(requests(&well).len(), before + 4);
    let mut refused = 0;
    for _ in 0..2 {
        let answered = edge.post("/x", "{}").send().await.unwrap();
        if answered.status().as_u16() == 502 {
            assert_eq!(code(answered).await.1, "UPSTREAM_FAILED");
            refused += 1;
        }
    }
    assert_eq!(refused, 1, "they take turns");
    let posts = requests(&breaking).into_iter().chain(requests(&well));
    let posts = posts.filter(|it| it.head.starts_with("post"));
    assert_eq!(posts.count(), 6 + 2, "none is sent twice");
}

#[tokio::test]
async fn a_server_that_fails_again_and_again_is_left_out_until_it_answers_a_check() {
    let server = Server::start(Behaviour::Closes(Vec::new()));
    let mut options = options();
    options.upstream.max_failures = 3;
    options.upstream.retries = 0;
    let edge = Edge::with(
        &options,
        HostOptions::default(),
        None,
        vec![unasked("/x", &[server.address])],
    )
    .await;
    for _ in 0..3 {
        let (status, code) = code(edge.post("/x", "{}").send().await.unwrap()).await;
        assert_eq!((status.as_u16(), code.as_str()), (502, "UPSTREAM_FAILED"));
    }
    let seen = requests(&server).len();
    let refused = edge.post("/x", "{}").send().await.unwrap();
    assert_eq!(refused.headers()["retry-after"], "1");
    assert_eq!(code(refused).await.1, "UPSTREAM_UNAVAILABLE");
    assert_eq!(requests(&server).len(), seen);
    assert_eq!(
        edge.get("/__gtg").send().await.unwrap().status().as_u16(),
        503
    );
    server.change(Behaviour::Answers(answer("200 OK", "well")));
    // The answer to a check of ours is enough.
    assert_eq!(health(&edge).await["status"], "OK");
    let answered = edge.post("/x", "{}").send().await.unwrap();
    assert_eq!(answered.text().await.unwrap(), "well");
}

#[tokio::test]
async fn where_one_of_several_servers_is_well_health_warns_and_names_the_other_by_number() {
    let dead = {
        let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        gone.local_addr().unwrap()
    };
    let well = answering("well");
    let edge = Edge::start(vec![to("/x", &[well.address, dead])]).await;
    let health = health(&edge).await;
    assert_eq!(health["status"], "WARNING");
    assert_eq!(
        of(&health, "x")["message"],
        "server 2 of 2: it cannot be connected to"
    );
    let text = health.to_string();
    assert!(!text.contains(&dead.port().to_string()), "{text}");
}

#[tokio::test]
async fn the_health_of_a_service_is_part_of_that_of_the_edge() {
    let record = r#"{"status":"ERROR","id":"objects","name":"objects","type":"graphql","impact":"Queries fail.",
        "troubleshooting":"/__trouble#1200","description":"d","message":"SPARQL: the store does not answer",
        "healthChecks":[{"status":"ERROR","id":"1200","name":"SPARQL","type":"sparql","troubleshooting":"/__trouble#1200"}]}"#;
    let service = answering(record);
    let edge = Edge::start(vec![route("/objects", &service).stripped()]).await;
    let health = health(&edge).await;
    assert_eq!(health["status"], "ERROR");
    let below = of(&health, "objects");
    assert_eq!(below["message"], "SPARQL: the store does not answer");
    assert_eq!(
        below["healthChecks"][0]["healthChecks"][0]["troubleshooting"],
        "/objects/__trouble#1200"
    );
}
