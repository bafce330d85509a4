//! Retries: exactly as many as the options say, and on nothing else.

use call_context::CallError;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use graph_store::StoreError;
use graph_store::remote::http::ConnectionOptions;

use crate::faults::endpoint::{Answer, Endpoint};
use crate::faults::proxy::{Fault, Proxy};
use crate::faults::{PATIENCE, ask, ask_within, client, options, whole};

/// An endpoint that answers `status` so many times before it works.
async fn failing(status: &'static str, times: usize) -> Endpoint {
    let failures = Arc::new(AtomicUsize::new(0));
    Endpoint::start(move |request| {
        if failures.fetch_add(1, Ordering::SeqCst) < times {
            Answer::new(status, "text/plain", "not now")
        } else {
            Answer::whole(request)
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_sent_again_as_often_as_allowed_and_no_more() {
    for (times, allowed, works) in [
        (0, 0, true),
        (1, 0, false),
        (1, 1, true),
        (2, 1, false),
        (3, 3, true),
        (9, 3, false),
    ] {
        let endpoint = failing("503 Service Unavailable", times).await;
        let client = client(ConnectionOptions {
            max_retries: allowed,
            ..options(&endpoint.url())
        });
        let started = Instant::now();
        let answer = ask(&client).await;
        let sent = endpoint.requests().len();
        assert_eq!(sent, times.min(allowed as usize) + 1, "{times} {allowed}");
        let waited = Duration::from_millis(20) * (sent as u32 - 1);
        assert!(started.elapsed() >= waited);
        match answer {
            Ok(rows) if works => assert_eq!(rows, whole()),
            Err(StoreError::Unavailable(error)) if !works => {
                assert!(error.to_string().contains("503"), "{error}");
                assert!(error.to_string().contains("not now"), "{error}");
            }
            other => panic!("{times} {allowed}: {other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_codes_that_are_retried_are_those_of_the_options() {
    for (codes, status, sent) in [
        ("503", "500 Internal Server Error", 1),
        ("5xx", "500 Internal Server Error", 2),
        ("50x", "511 Network Authentication Required", 1),
        ("429; 50x", "429 Too Many Requests", 2),
        ("4xx", "400 Bad Request", 2),
        ("4xx", "401 Unauthorized", 1),
        ("4xx", "403 Forbidden", 1),
        ("", "503 Service Unavailable", 1),
    ] {
        let endpoint = failing(status, 1).await;
        let client = client(ConnectionOptions {
            max_retries: 1,
            retry_http_codes: codes.parse().unwrap(),
            ..options(&endpoint.url())
        });
        assert_eq!(ask(&client).await.is_ok(), sent == 2, "{codes} {status}");
        assert_eq!(endpoint.requests().len(), sent, "{codes} {status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn retries_end_with_the_deadline() {
    let endpoint = failing("503 Service Unavailable", 1000).await;
    let client = client(ConnectionOptions {
        max_retries: 1000,
        retry_interval: Duration::from_millis(100),
        ..options(&endpoint.url())
    });
    let answer = ask_within(&client, Duration::from_millis(250)).await;
    assert!(
        matches!(answer, Err(StoreError::Call(CallError::Deadline))),
        "{answer:?}"
    );
    // On a busy machine one may be begun when the deadline is seen.
    let sent = endpoint.requests().len();
    assert!(sent <= 4, "{sent}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_lost_before_the_answer_is_replaced_and_one_lost_within_is_not() {
    let endpoint = Endpoint::healthy().await;
    let proxy = Proxy::start(endpoint.address).await;
    let client = client(ConnectionOptions {
        max_retries: 3,
        // Not waited for: a new connection is made at once.
        retry_interval: PATIENCE * 2,
        ..options(&proxy.url("/sparql"))
    });
    proxy.set(Fault::CloseAfter(0));
    let answer = ask(&client).await;
    assert!(
        matches!(answer, Err(StoreError::Unavailable(_))),
        "{answer:?}"
    );
    let sent = endpoint.requests().len();
    assert!((1..=4).contains(&sent), "{sent}");

    proxy.set(Fault::CloseAfter(200));
    let answer = ask(&client).await;
    assert!(matches!(answer, Err(StoreError::Failed(_))), "{answer:?}");
    assert_eq!(endpoint.requests().len(), sent + 1);
}
