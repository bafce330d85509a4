//! Every service is whole below its path: GraphiQL and its links, the endpoint, tokens, events, WebSockets, health, and
//! schemas.

use std::time::{SystemTime, UNIX_EPOCH};

use futures::{SinkExt, StreamExt};
use jsonwebtoken::{EncodingKey, Header, encode};
use mount_services::Program;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, LOCATION};
use reqwest::{Client, Method, RequestBuilder, StatusCode, Url};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Message, http::HeaderValue};

const SECRET: &[u8] = b"a secret of at least thirty-two bytes";

/// Whatever is mounted, with a query and what it finds.
const ENDPOINTS: [(&str, &str, &str); 4] = [
    ("/objects", "{ book { title } }", "Tides"),
    (
        "/searches",
        "{ book_search { hits { book { title } } } }",
        "Tides",
    ),
    ("/kg/all", "{ book { pages } }", "96"),
    (
        "/kg/all",
        "{ book_search { hits { book { pages } } } }",
        "96",
    ),
];

/// The program on a free port.
struct Running {
    base: String,
    client: Client,
    token: String,
}

impl Running {
    async fn start() -> Self {
        let program = Program::new(SECRET).await.expect("it starts");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        tokio::spawn(async move {
            let routes = program.routes.clone();
            axum::serve(listener, routes).await.expect("it serves");
            program.end().await;
        });
        // Every client of this version of reqwest needs one, for TLS or not; the first test installs it.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let redirect = reqwest::redirect::Policy::none();
        Running {
            base,
            client: Client::builder()
                .redirect(redirect)
                .build()
                .expect("a client"),
            token: token(),
        }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base))
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.request(Method::GET, path)
    }

    fn signed(&self, request: RequestBuilder) -> RequestBuilder {
        request.header(AUTHORIZATION, format!("Bearer {}", self.token))
    }

    async fn text(&self, request: RequestBuilder) -> (StatusCode, String) {
        let response = request.send().await.expect("an answer");
        (response.status(), response.text().await.expect("a body"))
    }

    fn query(&self, mount: &str, query: &str) -> RequestBuilder {
        self.request(Method::POST, &format!("{mount}/graphql"))
            .header(CONTENT_TYPE, "application/json")
            .body(json!({ "query": query }).to_string())
    }
}

/// A token that lasts, with a role that may everything.
fn token() -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("a clock");
    let claims = json!({
        "sub": "anna", "aud": "books", "exp": now.as_secs() + 600, "roles": ["SchemaRBACAdmin", "Librarian"],
    });
    let key = EncodingKey::from_secret(SECRET);
    encode(&Header::default(), &claims, &key).expect("a token")
}

#[tokio::test]
async fn requests_need_a_token_and_are_answered_with_one() {
    let program = Running::start().await;
    for (mount, query, found) in ENDPOINTS {
        let (status, body) = program.text(program.query(mount, query)).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{mount}: {body}");
        let signed = program.signed(program.query(mount, query));
        let (status, body) = program.text(signed).await;
        assert_eq!(status, StatusCode::OK, "{mount}: {body}");
        assert!(
            body.contains(found) && !body.contains("errors"),
            "{mount}: {body}"
        );
    }
    // The route of the program itself is its own business.
    assert_eq!(program.text(program.get("/")).await.1, "three services");
}

#[tokio::test]
async fn pages_and_their_links_are_below_the_path() {
    let program = Running::start().await;
    for mount in ["/objects", "/searches", "/kg/all"] {
        let (status, page) = program
            .text(program.get(mount).header(ACCEPT, "text/html"))
            .await;
        assert_eq!(status, StatusCode::OK, "{mount}: {page}");
        let links: Vec<String> = links(&page, mount);
        assert!(links.len() > 5, "{page}");
        for link in links {
            let (status, body) = program.text(program.get(&link)).await;
            assert_eq!(status, StatusCode::OK, "{mount}: {link}");
            assert!(link.starts_with(mount), "{link}");
            if link.ends_with("docs/queries") {
                let back = self::links(&body, &link);
                assert!(back.contains(&mount.to_owned()), "{back:?}");
            }
        }
        let sdl = program.get(&format!("{mount}/schema.graphql"));
        let (status, sdl) = program.text(program.signed(sdl)).await;
        assert_eq!(status, StatusCode::OK);
        assert!(sdl.contains("type Query"), "{sdl}");
    }
}

/// Returns where the links of a page lead that stay within the program.
fn links(page: &str, path: &str) -> Vec<String> {
    let attributes = ["href=\"", "src=\""];
    let links = attributes
        .into_iter()
        .flat_map(|name| page.split(name).skip(1));
    let links = links.filter_map(|rest| rest.split('"').next());
    let links = links.filter(|link| !link.contains("://") && !link.starts_with("data:"));
    let base: Url = format!("http://localhost{path}").parse().expect("a URL");
    let links = links.map(|link| base.join(link).expect("a link").path().to_owned());
    links.collect()
}

#[tokio::test]
async fn health_and_probes_are_below_the_path_and_say_so() {
    let program = Running::start().await;
    for mount in ["/objects", "/searches", "/kg/all"] {
        let (status, record) = program
            .text(program.get(&format!("{mount}/__health")))
            .await;
        assert_eq!(status, StatusCode::OK);
        let record: Value = serde_json::from_str(&record).expect("JSON");
        assert_eq!(record["status"], "OK", "{record}");
        let mut links = vec![record["troubleshooting"].as_str().expect("a link")];
        for check in record["healthChecks"].as_array().expect("checks") {
            links.push(check["troubleshooting"].as_str().expect("a link"));
        }
        let page = format!("{mount}/__trouble");
        assert!(
            links.iter().all(|link| link.starts_with(&page)),
            "{links:?}"
        );
        let (_, trouble) = program.text(program.get(&page)).await;
        assert!(
            trouble.contains(&format!("href=\"{mount}/__health\"")),
            "{trouble}"
        );
        for probe in ["__live", "__ready", "__gtg"] {
            let (status, body) = program.text(program.get(&format!("{mount}/{probe}"))).await;
            assert_eq!(status, StatusCode::OK, "{mount}/{probe}: {body}");
        }
        let unknown = program.get(&format!("{mount}/unknown"));
        assert_eq!(program.text(unknown).await.0, StatusCode::UNAUTHORIZED);
        let unknown = program.signed(program.get(&format!("{mount}/unknown")));
        assert_eq!(program.text(unknown).await.0, StatusCode::NOT_FOUND);
    }
}

#[tokio::test]
async fn schemas_are_managed_below_the_path() {
    let program = Running::start().await;
    let new = "{id: /soml/films, objects: {Film: {props: {title: {}}}}}";
    let post = || {
        let request = program.request(Method::POST, "/objects/soml");
        request.header(CONTENT_TYPE, "text/yaml").body(new)
    };
    assert_eq!(program.text(post()).await.0, StatusCode::UNAUTHORIZED);
    let response = program.signed(post()).send().await.expect("an answer");
    assert_eq!(response.status(), StatusCode::CREATED);
    let location = response.headers()[LOCATION]
        .to_str()
        .expect("text")
        .to_owned();
    assert_eq!(location, "/objects/soml/films");
    let stored = program.signed(program.get(&location).header(ACCEPT, "text/yaml"));
    assert_eq!(program.text(stored).await, (StatusCode::OK, new.to_owned()));
    let info = program.signed(program.get("/searches/soml/info"));
    let (status, info) = program.text(info).await;
    assert!(status == StatusCode::OK && info.contains("Book"), "{info}");
}

#[tokio::test]
async fn answers_come_as_events() {
    let program = Running::start().await;
    let query = program.query("/kg/all", "{ book { title } }");
    let events = program.signed(query.header(ACCEPT, "text/event-stream"));
    let (status, events) = program.text(events).await;
    assert_eq!(status, StatusCode::OK, "{events}");
    assert!(
        events.contains("event: next") && events.contains("Tides"),
        "{events}"
    );
    assert!(events.contains("event: complete"), "{events}");
}

#[tokio::test]
async fn answers_come_over_a_websocket_once_a_token_is_sent() {
    let program = Running::start().await;
    let address = format!("{}/kg/all/graphql", program.base.replace("http", "ws"));
    let mut request = address.into_client_request().expect("a request");
    let protocol = HeaderValue::from_static("graphql-transport-ws");
    request
        .headers_mut()
        .insert("sec-websocket-protocol", protocol);
    let connected = tokio_tungstenite::connect_async(request).await;
    let (mut socket, _) = connected.expect("a WebSocket");
    let authorization = format!("Bearer {}", program.token);
    let mut said = Vec::new();
    for message in [
        json!({ "type": "connection_init", "payload": { "Authorization": authorization } }),
        json!({ "type": "subscribe", "id": "1", "payload": { "query": "{ book { title } }" } }),
    ] {
        let message = Message::text(message.to_string());
        socket.send(message).await.expect("it is open");
    }
    while !said.iter().any(|said: &Value| said["type"] == "complete") {
        let message = socket.next().await.expect("a message").expect("it is open");
        if let Message::Text(text) = message {
            said.push(serde_json::from_str(&text).expect("JSON"));
        }
    }
    let kinds: Vec<_> = said.iter().map(|said| said["type"].clone()).collect();
    assert_eq!(kinds, ["connection_ack", "next", "complete"], "{said:?}");
    assert!(said[1].to_string().contains("Tides"), "{said:?}");
}
