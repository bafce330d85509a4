//! What the subgraphs count.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use benches::gateway::{Asked, Counts, DataSet, Subgraphs};
use benches::http::Connection;
use bytes::Bytes;
use hyper::{Method, StatusCode};
use serde_json::json;

async fn exchange(
    address: SocketAddr,
    method: Method,
    path: &str,
    body: &str,
) -> (StatusCode, Bytes) {
    let mut connection = Connection::open(address).await.unwrap();
    let body = Bytes::from(body.to_owned());
    connection.exchange(method, path, body).await.unwrap()
}

async fn counts(address: SocketAddr) -> Counts {
    let (_, body) = exchange(address, Method::GET, "/counts", "").await;
    serde_json::from_slice(&body).unwrap()
}

async fn ask(address: SocketAddr, path: &str, query: &str) -> (StatusCode, Bytes) {
    let body = json!({ "query": query }).to_string();
    exchange(address, Method::POST, path, &body).await
}

#[tokio::test]
async fn requests_are_counted_by_subgraph_until_they_are_reset() {
    let subgraphs = Subgraphs::new(DataSet::Original, Duration::ZERO);
    let address = subgraphs.serve(0).await.unwrap();
    let query =
        "{ _entities(representations: [{ __typename: \"User\", id: \"1\" }]) { __typename } }";
    let (_, answer) = ask(address, "/accounts", query).await;
    ask(address, "/accounts", query).await;
    ask(address, "/products", "{ topProducts { upc } }").await;
    let (nowhere, _) = ask(address, "/prices", "{ a }").await;
    assert_eq!(nowhere, StatusCode::NOT_FOUND);
    let found = counts(address).await;
    let expected = Asked {
        requests: 2,
        representations: 2,
        bytes_in: 2 * json!({ "query": query }).to_string().len() as u64,
        bytes_out: 2 * answer.len() as u64,
    };
    assert_eq!(found.subgraphs["accounts"], expected);
    assert_eq!(found.total().requests, 3);
    // One after the other.
    assert_eq!(found.waves, 3);
    assert!(found.cpu > 0);
    exchange(address, Method::DELETE, "/counts", "").await;
    let reset = counts(address).await;
    assert_eq!(reset.total(), Asked::default());
    assert_eq!(reset.waves, 0);
}

#[tokio::test]
async fn requests_at_the_same_time_are_one_wave() {
    let subgraphs = Subgraphs::new(DataSet::Original, Duration::ZERO);
    let address = subgraphs.serve(0).await.unwrap();
    let (refused, _) = exchange(address, Method::PUT, "/delay", "soon").await;
    assert_eq!(refused, StatusCode::BAD_REQUEST);
    let mut delay = 200;
    loop {
        let (set, _) = exchange(address, Method::PUT, "/delay", &delay.to_string()).await;
        assert_eq!(set, StatusCode::NO_CONTENT);
        exchange(address, Method::DELETE, "/counts", "").await;
        let begun = Instant::now();
        tokio::join!(
            ask(address, "/accounts", "{ me { id } }"),
            ask(address, "/products", "{ topProducts { upc } }"),
        );
        ask(address, "/accounts", "{ me { id } }").await;
        assert!(begun.elapsed() >= Duration::from_millis(2 * delay));
        let waves = counts(address).await.waves;
        if waves == 2 {
            break;
        }
        // On a busy machine the second request may come when the first one is answered.
        assert!(waves == 3 && delay < 60_000, "{waves} waves");
        delay *= 4;
    }
}
