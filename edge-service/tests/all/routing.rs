//! Routes by path and host, and what services see of a request.

use service_runtime::HostOptions;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{Edge, answering, code, options, requests, route};

#[tokio::test]
async fn the_api_gateway_of_1_5_routes_by_path_and_host() {
    let (objects, search, all, other) = (
        answering("objects"),
        answering("search"),
        answering("all"),
        answering("other host"),
    );
    let mut for_host = route("/", &other);
    for_host.name = "other".to_owned();
    for_host.hosts = "data.example.org".parse().unwrap();
    let edge = Edge::start(vec![
        route("/objects", &objects).stripped(),
        route("/searches", &search).stripped(),
        route("/", &all),
        for_host,
    ])
    .await;
    for (path, host, body) in [
        ("/objects/graphql", "localhost", "objects"),
        ("/searches/graphql?x=1", "localhost", "search"),
        ("/graphql", "localhost", "all"),
        ("/objectsx", "127.0.0.1", "all"),
    ] {
        let answered = edge.get(path).header("host", host).send().await.unwrap();
        assert_eq!(answered.text().await.unwrap(), body, "{path}");
    }
    let head = |server| requests(server).last().unwrap().head.clone();
    assert!(
        head(&objects).starts_with("get /graphql http/1.1"),
        "{}",
        head(&objects)
    );
    assert!(head(&search).starts_with("get /graphql?x=1 http/1.1"));
    // The edge is on a loopback address, where other names could be those of a page that leads astray.
    let refused = edge
        .get("/graphql")
        .header("host", "data.example.org")
        .send()
        .await
        .unwrap();
    assert_eq!(code(refused).await.1, "HOST_NOT_ALLOWED");
    edge.end().await;
}

#[tokio::test]
async fn a_route_for_a_host_takes_its_requests() {
    let (all, other) = (answering("all"), answering("other host"));
    let mut for_host = route("/", &other);
    for_host.name = "other".to_owned();
    for_host.hosts = "data.example.org".parse().unwrap();
    let mut host = HostOptions::default();
    host.callers.hosts = "data.example.org, localhost".parse().unwrap();
    let edge = Edge::with(&options(), host, None, vec![for_host, route("/", &all)]).await;
    for (host, body) in [("data.example.org:80", "other host"), ("localhost", "all")] {
        let answered = edge.get("/x").header("host", host).send().await.unwrap();
        assert_eq!(answered.text().await.unwrap(), body);
    }
}

#[tokio::test]
async fn services_see_who_asks_and_nothing_of_the_connection() {
    let service = answering("ok");
    let edge = Edge::start(vec![route("/a/objects", &service).stripped()]).await;
    let request = edge.post("/a/objects/graphql", "{}");
    let answered = request
        .header("host", "localhost:1234")
        .header("authorization", "Bearer token")
        .header("x-request-id", "mine")
        .header("x-forwarded-for", "198.51.100.1")
        .header("x-forwarded-prefix", "/evil")
        .header("forwarded", "for=198.51.100.1")
        .header("proxy-authorization", "secret")
        .header("connection", "x-hop")
        .header("x-hop", "1")
        .header("te", "trailers")
        .send()
        .await
        .unwrap();
    assert_eq!(answered.headers()["x-request-id"], "mine");
    assert_eq!(answered.headers()["x-of-server"], "yes");
    assert_eq!(answered.headers()["content-length"], "2");
    assert!(!answered.headers().contains_key("keep-alive"));
    let seen = requests(&service);
    let (head, body) = (&seen[0].head, &seen[0].body);
    assert_eq!(body, b"{}");
    for line in [
        "post /graphql http/1.1",
        "host: localhost:1234",
        "authorization: bearer token",
        "x-request-id: mine",
        "x-forwarded-for: 127.0.0.1",
        "x-forwarded-host: localhost:1234",
        "x-forwarded-proto: http",
        "x-forwarded-prefix: /a/objects",
    ] {
        assert!(head.lines().any(|it| it == line), "{line}: {head}");
    }
    for name in [
        "forwarded:",
        "proxy-authorization",
        "x-hop",
        "te:",
        "evil",
        "198.51",
    ] {
        assert!(
            !head
                .lines()
                .any(|it| it.starts_with(name) || it.contains("evil")),
            "{name}: {head}"
        );
    }
}

#[tokio::test]
async fn a_proxy_in_front_of_the_edge_is_believed_if_it_is_trusted() {
    let service = answering("ok");
    let mut host = HostOptions::default();
    host.callers.proxies = "127.0.0.1".parse().unwrap();
    let edge = Edge::with(
        &options(),
        host,
        None,
        vec![route("/objects", &service).stripped()],
    )
    .await;
    let request = edge
        .get("/objects/x")
        .header("x-forwarded-for", "198.51.100.1, 192.0.2.7");
    let request = request
        .header("x-forwarded-proto", "https")
        .header("x-forwarded-prefix", "/outer");
    assert!(request.send().await.unwrap().status().is_success());
    let head = requests(&service)[0].head.clone();
    for line in [
        "x-forwarded-for: 192.0.2.7",
        "x-forwarded-proto: https",
        "x-forwarded-prefix: /outer/objects",
    ] {
        assert!(head.lines().any(|it| it == line), "{line}: {head}");
    }
}

#[tokio::test]
async fn paths_that_servers_read_differently_reach_none() {
    let service = answering("ok");
    let edge = Edge::start(vec![route("/", &service)]).await;
    for path in [
        "//graphql",
        "/a/%2e%2e/b",
        "/a%5c..%5cb",
        "/..%2fgraphql",
        "/a/.%2E/b",
        "/a%00",
    ] {
        // Byte by byte, since clients repair such paths.
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let mut stream = TcpStream::connect(edge.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 400"), "{path}: {answer}");
        assert!(answer.contains("PATH_AMBIGUOUS"), "{path}: {answer}");
    }
    assert!(requests(&service).is_empty());
}

#[tokio::test]
async fn a_service_below_a_path_is_led_to_its_root() {
    let service = answering("ok");
    let edge = Edge::start(vec![route("/objects", &service).stripped()]).await;
    let led = edge.get("/objects?x=1").send().await.unwrap();
    assert_eq!(led.status().as_u16(), 308);
    assert_eq!(led.headers()["location"], "/objects/?x=1");
    let unknown = edge.get("/other").send().await.unwrap();
    let (status, code) = code(unknown).await;
    assert_eq!((status.as_u16(), code.as_str()), (404, "ROUTE_NOT_FOUND"));
}

#[tokio::test]
async fn a_body_that_is_too_large_reaches_no_server() {
    let service = answering("ok");
    let mut options = options();
    options.max_body_bytes = 10;
    let routes = vec![route("/", &service)];
    let edge = Edge::with(&options, HostOptions::default(), None, routes).await;
    let refused = edge.post("/x", "12345678901").send().await.unwrap();
    let (status, code) = code(refused).await;
    assert_eq!((status.as_u16(), code.as_str()), (413, "BODY_TOO_LARGE"));
    assert!(requests(&service).is_empty());
    let taken = edge.post("/x", "1234567890").send().await.unwrap();
    assert!(taken.status().is_success());
}

#[tokio::test]
async fn cors_is_that_of_the_edge() {
    let service = answering("ok");
    let mut host = HostOptions::default();
    host.callers.origins = "https://app.example.org".parse().unwrap();
    let edge = Edge::with(&options(), host, None, vec![route("/", &service)]).await;
    let url = format!("http://{}/graphql", edge.address);
    let preflight = edge.client.request(reqwest::Method::OPTIONS, url);
    let preflight = preflight
        .header("origin", "https://app.example.org")
        .header("access-control-request-method", "POST");
    let answered = preflight.send().await.unwrap();
    let allowed = |headers: &reqwest::header::HeaderMap| {
        headers
            .get_all("access-control-allow-origin")
            .iter()
            .count()
    };
    assert_eq!(allowed(answered.headers()), 1);
    assert!(requests(&service).is_empty());
    let asked = edge
        .post("/graphql", "{}")
        .header("origin", "https://app.example.org");
    assert_eq!(allowed(asked.send().await.unwrap().headers()), 1);
    let other = edge
        .post("/graphql", "{}")
        .header("origin", "https://evil.example");
    assert_eq!(code(other.send().await.unwrap()).await.1, "CROSS_SITE");
    assert_eq!(requests(&service).len(), 1);
}
