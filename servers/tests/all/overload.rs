//! What all clients together may hold: memory, connections, time.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use servers::config::{Automatic, Settings};

use crate::processes::PATIENCE;
use crate::service::{Answer, Service};

const MB: usize = 1 << 20;

fn with_memory(bytes: usize) -> Settings {
    Settings {
        memory_budget: Automatic(Some(bytes as u64)),
        ..Settings::default()
    }
}

/// A query whose response has about 780 KB for each of its `aliases`: the printed schema, since many small
/// values take a test without optimization seven times as long.
fn large(aliases: usize) -> Value {
    let schemas = (0..aliases).map(|n| format!("a{n}: _service {{ full_sdl }} "));
    json!({ "query": format!("{{ {} }}", schemas.collect::<String>()) })
}

/// Connects and sends a request without reading anything.
fn connect(service: &Service, body: &str, length: usize) -> TcpStream {
    let address = service.base.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    let head = format!(
        "POST /graphql HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    // The service may refuse the rest.
    let _ = stream.write_all(body.as_bytes());
    stream
}

fn assert_overloaded(answer: &Answer) {
    assert_eq!((answer.status, answer.code().as_str()), (503, "OVERLOADED"));
    assert_eq!(answer.header("retry-after"), "1");
}

/// Tries until an answer is as wanted, for a while.
fn eventually(mut is_as_wanted: impl FnMut() -> bool) -> bool {
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        if is_as_wanted() {
            return true;
        }
        thread::sleep(Duration::from_millis(50));
    }
    false
}

#[test]
fn a_response_beyond_the_budget_is_503_with_a_code_for_every_media_type() {
    let service = Service::demo_with(with_memory(2 * MB));
    assert_overloaded(&service.post(&large(5)));
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/graphql-response+json"),
    ];
    let body = large(5).to_string();
    assert_overloaded(&service.send("POST", "/graphql", &headers, body.as_bytes()));
    // What was held is free again.
    assert_eq!(service.post(&large(1)).status, 200);
}

#[test]
fn a_client_that_does_not_read_is_disconnected_and_holds_nothing_any_more() {
    let large = large(34);
    // From a service that has more patience with its clients.
    let length = Service::demo().post(&large).body.len();
    assert!(length > 25 * MB, "{length}");
    let service = Service::demo_with(Settings {
        send_timeout: Duration::from_millis(500),
        // Room for one such response, and for a fraction of a second one.
        ..with_memory(29 * MB)
    });
    let body = large.to_string();
    // Returns a client that reads the status and no more.
    let ask = || {
        let mut client = connect(&service, &body, body.len());
        let mut status = [0; 12];
        client.read_exact(&mut status).unwrap();
        (client, status)
    };
    let (mut stalled, status) = ask();
    assert_eq!(&status, b"HTTP/1.1 200");
    let small = service.post(&json!({ "query": "{ planet(limit: 1) { id } }" }));
    assert_eq!(small.status, 200, "small requests are served all the time");
    // The system takes a few megabytes from the service; the rest fills the budget until it is dropped.
    assert!(
        eventually(|| &ask().1 == b"HTTP/1.1 200"),
        "the budget is free again"
    );
    let mut received = Vec::new();
    let _ = stalled.read_to_end(&mut received);
    let received = received.len();
    assert!(received < length, "{received} bytes of {length}");
}

#[test]
fn unfinished_bodies_hold_no_more_than_their_part_of_the_budget() {
    let service = Service::demo_with(Settings {
        request_timeout: 10 * PATIENCE,
        ..with_memory(8 * MB)
    });
    let piece = format!("{{\"query\": \"{}", " ".repeat(900_000));
    let mut open = Vec::new();
    let padded = format!(
        "{}{}",
        " ".repeat(900_000),
        json!({ "query": "{ __typename }" })
    );
    // When two megabytes are full, further large bodies are refused, and responses are not.
    assert!(eventually(|| {
        open.push(connect(&service, &piece, 950_000));
        service.post_text(&padded).status == 503
    }));
    assert!(open.len() > 1, "one fills the budget");
    assert_eq!(service.post(&large(2)).status, 200);
    drop(open);
    assert!(eventually(|| service.post_text(&padded).status == 200));
}

#[test]
fn values_of_variables_are_counted() {
    let service = Service::demo();
    let values = |count| {
        let ids = vec!["x"; count];
        let query = "query($ids: [ID!]) { planet(ID: $ids) { id } }";
        service.post(&json!({ "query": query, "variables": { "ids": ids } }))
    };
    assert_eq!(values(1_000).status, 200);
    let refused = values(100_001);
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (400, "LIMIT_VARIABLES")
    );
}

#[test]
fn members_that_nobody_reads_cost_nothing() {
    let service = Service::demo();
    let many = vec![json!({}); 300_000];
    let answer = service.post(&json!({ "query": "{ __typename }", "other": many }));
    assert_eq!(
        (answer.status, answer.text().as_str()),
        (200, r#"{"data":{"__typename":"Query"}}"#)
    );
}

#[test]
fn small_responses_are_not_compressed_and_zstd_comes_first() {
    let service = Service::demo();
    let encoding = |limit: usize, accepted: &str| {
        let headers = [
            ("content-type", "application/json"),
            ("accept-encoding", accepted),
        ];
        let query = format!("{{ planet(limit: {limit}) {{ id name }} }}");
        let body = json!({ "query": query }).to_string();
        let answer = service.send("POST", "/graphql", &headers, body.as_bytes());
        assert_eq!(answer.status, 200);
        answer.header("content-encoding")
    };
    assert_eq!(encoding(5, "gzip, deflate, br, zstd"), "");
    assert_eq!(encoding(60, "gzip, deflate, br, zstd"), "zstd");
    assert_eq!(encoding(60, "gzip, br"), "br");
    assert_eq!(encoding(60, "gzip;q=1, br;q=0.1"), "gzip");
}

#[test]
fn large_responses_are_whole_in_every_encoding() {
    let service = Service::demo();
    let plain = service.post(&large(2)).body;
    assert!(plain.len() > MB);
    let body = large(2).to_string();
    let packed = |encoding| {
        let headers = [
            ("content-type", "application/json"),
            ("accept-encoding", encoding),
        ];
        let answer = service.send("POST", "/graphql", &headers, body.as_bytes());
        assert_eq!(answer.header("content-encoding"), encoding);
        answer.body
    };
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(packed("gzip").as_slice())
        .read_to_end(&mut unpacked)
        .unwrap();
    assert!(unpacked == plain);
    assert!(zstd::stream::decode_all(packed("zstd").as_slice()).unwrap() == plain);
    let mut unpacked = Vec::new();
    brotli::Decompressor::new(packed("br").as_slice(), 4_096)
        .read_to_end(&mut unpacked)
        .unwrap();
    assert!(unpacked == plain);
}

#[test]
fn connections_beyond_the_maximum_wait() {
    let service = Service::demo_with(Settings {
        max_connections: 2,
        ..Settings::default()
    });
    let body = json!({ "query": "{ __typename }" }).to_string();
    let answers = |stream: &mut TcpStream, wait: Duration| {
        stream.set_read_timeout(Some(wait)).unwrap();
        stream.read(&mut [0; 16]).is_ok_and(|read| read > 0)
    };
    let mut open: Vec<TcpStream> = (0..2)
        .map(|_| connect(&service, &body, body.len()))
        .collect();
    for stream in &mut open {
        assert!(answers(stream, PATIENCE));
    }
    let mut third = connect(&service, &body, body.len());
    assert!(!answers(&mut third, Duration::from_millis(300)));
    drop(open);
    assert!(answers(&mut third, PATIENCE));
}
