//! Results that break off: whatever is missing, the answer is an error.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use graph_store::remote::http::{ConnectionOptions, HttpStore, ResultFormat};
use graph_store::{CallContext, GraphStore, QuadSink, StoreError};
use oxrdf::Quad;

use crate::faults::endpoint::{Answer, Endpoint, Framing, dead_address};
use crate::faults::proxy::{Fault, Proxy};
use crate::faults::{PATIENCE, ask, client, options, whole};

const FRAMINGS: [Framing; 3] = [Framing::Length, Framing::Chunked, Framing::Close];

/// Breaks the connection at every byte of the answer; only the last byte makes it whole.
async fn every_position(format: ResultFormat, framing: Framing, fault: fn(usize) -> Fault) {
    let endpoint = Endpoint::start(move |request| Answer::whole(request).framed(framing)).await;
    let proxy = Proxy::start(endpoint.address).await;
    let ask_anew = || async {
        let client = client(ConnectionOptions {
            result_format: format,
            ..options(&proxy.url("/sparql"))
        });
        ask(&client).await
    };
    assert_eq!(ask_anew().await.unwrap(), whole());
    let request = endpoint.requests().remove(0);
    let length = Answer::whole(&request).framed(framing).bytes().len();
    assert!(length > 100, "{length}");
    for end in 0..length {
        proxy.set(fault(end));
        let answer = ask_anew().await;
        let failed = matches!(
            answer,
            Err(StoreError::Failed(_) | StoreError::Unavailable(_))
        );
        assert!(
            failed,
            "{format:?} {framing:?} {end} of {length}: {answer:?}"
        );
    }
    proxy.set(Fault::None);
    assert_eq!(ask_anew().await.unwrap(), whole());
}

#[tokio::test(flavor = "multi_thread")]
async fn json_that_breaks_off_anywhere_is_an_error() {
    for framing in FRAMINGS {
        every_position(ResultFormat::Json, framing, Fault::CloseAfter).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tsv_that_breaks_off_anywhere_is_an_error() {
    for framing in [Framing::Length, Framing::Chunked] {
        every_position(ResultFormat::Tsv, framing, Fault::CloseAfter).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_is_reset_anywhere_is_an_error() {
    for format in [ResultFormat::Json, ResultFormat::Tsv] {
        every_position(format, Framing::Length, Fault::ResetAfter).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tsv_whose_end_is_not_marked_is_not_believed_and_json_is_asked_for() {
    let endpoint = Endpoint::start(|request| Answer::whole(request).framed(Framing::Close)).await;
    let proxy = Proxy::start(endpoint.address).await;
    let client = client(ConnectionOptions {
        result_format: ResultFormat::Tsv,
        ..options(&proxy.url("/sparql"))
    });
    for _ in 0..2 {
        assert_eq!(ask(&client).await.unwrap(), whole());
    }
    let accepted: Vec<_> = endpoint
        .requests()
        .iter()
        .map(|request| request.header("accept").unwrap().to_owned())
        .collect();
    let json = "application/sparql-results+json";
    assert_eq!(accepted, ["text/tab-separated-values", json, json]);

    let longest = 600;
    for end in 0..longest {
        proxy.set(Fault::CloseAfter(end));
        // Short of everything it is an error; with all bytes it is everything.
        if let Ok(rows) = ask(&client).await {
            assert_eq!(rows, whole(), "{end}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_that_end_cleanly_within_a_line_are_an_error() {
    let endpoint = Endpoint::start(|request| {
        let mut answer = Answer::whole(request);
        // `"x"@de` would still be a term as `"x"@d`.
        let end = crate::faults::TSV.find("@de").unwrap() + 2;
        answer.body.truncate(end);
        answer
    })
    .await;
    let client = client(ConnectionOptions {
        result_format: ResultFormat::Tsv,
        ..options(&endpoint.url())
    });
    let answer = ask(&client).await;
    assert!(matches!(answer, Err(StoreError::Failed(_))), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_not_there_is_unavailable_and_serves_when_it_is_back() {
    let endpoint = Endpoint::healthy().await;
    let mut proxy = Proxy::start(endpoint.address).await;
    let client = client(options(&proxy.url("/sparql")));
    for _ in 0..3 {
        assert_eq!(ask(&client).await.unwrap(), whole());
        proxy.down().await;
        for _ in 0..2 {
            let answer = ask(&client).await;
            // The kept connection is closed, or a new one is refused.
            assert!(
                matches!(answer, Err(StoreError::Unavailable(_))),
                "{answer:?}"
            );
        }
        proxy.up().await;
    }
    assert_eq!(ask(&client).await.unwrap(), whole());

    let nobody = self::client(options(&format!("http://{}", dead_address().await)));
    let answer = ask(&nobody).await;
    assert!(
        matches!(answer, Err(StoreError::Unavailable(_))),
        "{answer:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn results_larger_than_allowed_are_refused_and_not_read_to_their_end() {
    let row = r#"{"s":{"type":"uri","value":"urn:a"}},"#;
    let rows = row.repeat(1_000_000);
    let json = format!(r#"{{"head":{{"vars":["o","s"]}},"results":{{"bindings":[{rows}"#);
    for framing in FRAMINGS {
        let text = json.clone();
        let endpoint = Endpoint::start(move |_| {
            Answer::new("200 OK", "application/sparql-results+json", &text).framed(framing)
        })
        .await;
        let client = client(ConnectionOptions {
            max_result_bytes: 100_000,
            ..options(&endpoint.url())
        });
        let answer = ask(&client).await;
        let limited = matches!(answer, Err(StoreError::ResultTooLarge { limit: 100_000 }));
        assert!(limited, "{framing:?}");
    }
    // Just large enough.
    let endpoint = Endpoint::healthy().await;
    for (limit, is_enough) in [
        (crate::faults::JSON.len(), true),
        (crate::faults::JSON.len() - 1, false),
    ] {
        let client = client(ConnectionOptions {
            max_result_bytes: limit as u64,
            ..options(&endpoint.url())
        });
        assert_eq!(ask(&client).await.is_ok(), is_enough, "{limit}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_drips_is_whole_when_it_comes_in_time() {
    let endpoint = Endpoint::healthy().await;
    let proxy = Proxy::start(endpoint.address).await;
    proxy.set(Fault::Drip {
        bytes: 7,
        every: Duration::from_millis(2),
    });
    for format in [ResultFormat::Json, ResultFormat::Tsv] {
        let client = client(ConnectionOptions {
            result_format: format,
            ..options(&proxy.url("/sparql"))
        });
        assert_eq!(ask(&client).await.unwrap(), whole());
    }
}

/// Counts quads.
struct Counted(usize);

#[async_trait::async_trait(?Send)]
impl QuadSink for Counted {
    async fn take(&mut self, quads: Vec<Quad>) -> ControlFlow<()> {
        self.0 += quads.len();
        ControlFlow::Continue(())
    }
}

const QUADS: &str = r#"{"head":{"vars":["s","p","o","g"]},"results":{"bindings":[
{"s":{"type":"uri","value":"urn:a"},"p":{"type":"uri","value":"urn:p"},"o":{"type":"literal","value":"1"}},
{"s":{"type":"bnode","value":"b"},"p":{"type":"uri","value":"urn:p"},"o":{"type":"literal","value":"2"},"g":{"type":"uri","value":"urn:g"}}
]}}"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_listing_of_quads_that_breaks_off_anywhere_is_an_error() {
    for framing in FRAMINGS {
        let answer = Answer::new("200 OK", "application/sparql-results+json", QUADS);
        let length = answer.clone().framed(framing).bytes().len();
        let endpoint = Endpoint::start(move |_| answer.clone().framed(framing)).await;
        let proxy = Proxy::start(endpoint.address).await;
        let ask_anew = async || {
            // What a result may have at most is for results that are kept in memory.
            let options = ConnectionOptions {
                max_result_bytes: 10,
                ..options(&proxy.url("/sparql"))
            };
            let store = HttpStore::new(Arc::new(client(options)));
            let mut counted = Counted(0);
            let exporter = store.exporter().unwrap();
            let context = CallContext::new().with_timeout(PATIENCE);
            let exported = exporter.export(&mut counted, &context).await;
            exported.map(|()| counted.0)
        };
        assert_eq!(ask_anew().await.unwrap(), 2);
        for end in (0..length).step_by(7).chain([length - 1]) {
            proxy.set(Fault::CloseAfter(end));
            let listed = ask_anew().await;
            assert!(listed.is_err(), "{framing:?} {end} of {length}: {listed:?}");
        }
    }
}
