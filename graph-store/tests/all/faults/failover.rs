//! Several servers with the same data: one that fails is left aside and the next one answers.

use call_context::CallError;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use graph_store::StoreError;
use graph_store::remote::http::ConnectionOptions;

use crate::faults::endpoint::{Answer, Endpoint, dead_address};
use crate::faults::proxy::{Fault, Proxy};
use crate::faults::{PATIENCE, ask, ask_within, client, options, whole};

/// An endpoint that answers `status` while it is ill.
async fn ill(status: &'static str) -> (Endpoint, Arc<AtomicBool>) {
    let is_ill = Arc::new(AtomicBool::new(true));
    let endpoint = Endpoint::start({
        let is_ill = Arc::clone(&is_ill);
        move |request| {
            if is_ill.load(Ordering::SeqCst) {
                Answer::new(status, "text/plain", "ill")
            } else {
                Answer::whole(request)
            }
        }
    })
    .await;
    (endpoint, is_ill)
}

fn both(first: &str, second: &str) -> ConnectionOptions {
    options(&format!("{first}, {second}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_server_answers_for_one_that_is_dead() {
    let endpoint = Endpoint::healthy().await;
    let dead = format!("http://{}/", dead_address().await);
    let client = client(both(&dead, &endpoint.url()));
    for _ in 0..3 {
        assert_eq!(ask(&client).await.unwrap(), whole());
    }
    assert_eq!(endpoint.requests().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_server_is_left_aside_for_the_interval_and_then_the_main_one_again() {
    let (main, is_ill) = ill("503 Service Unavailable").await;
    let other = Endpoint::healthy().await;
    let within = |interval| {
        client(ConnectionOptions {
            scan_failed_interval: interval,
            ..both(&main.url(), &other.url())
        })
    };
    let long = within(PATIENCE * 10);
    for _ in 0..5 {
        assert_eq!(ask(&long).await.unwrap(), whole());
    }
    assert_eq!((main.requests().len(), other.requests().len()), (1, 5));

    let interval = Duration::from_millis(50);
    let short = within(interval);
    assert_eq!(ask(&short).await.unwrap(), whole());
    assert_eq!((main.requests().len(), other.requests().len()), (2, 6));
    is_ill.store(false, Ordering::SeqCst);
    tokio::time::sleep(interval * 2).await;
    for _ in 0..5 {
        assert_eq!(ask(&short).await.unwrap(), whole());
    }
    assert_eq!((main.requests().len(), other.requests().len()), (7, 6));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_breaks_off_is_read_whole_from_the_next_server() {
    let endpoint = Endpoint::healthy().await;
    let proxy = Proxy::start(endpoint.address).await;
    for end in [0, 50, 200, 400] {
        proxy.set(Fault::CloseAfter(end));
        let client = client(both(&proxy.url("/sparql"), &endpoint.url()));
        assert_eq!(ask(&client).await.unwrap(), whole(), "{end}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn which_refusals_another_server_is_asked_after_is_configured() {
    for (status, on_4xx, on_5xx, moves_on) in [
        ("404 Not Found", true, false, true),
        ("404 Not Found", false, true, false),
        ("500 Internal Server Error", false, true, true),
        ("500 Internal Server Error", true, false, false),
        ("503 Service Unavailable", true, false, false),
    ] {
        let (first, _) = ill(status).await;
        let second = Endpoint::healthy().await;
        let client = client(ConnectionOptions {
            retry_on_http_4xx: on_4xx,
            retry_on_http_5xx: on_5xx,
            ..both(&first.url(), &second.url())
        });
        assert_eq!(ask(&client).await.is_ok(), moves_on, "{status}");
        assert_eq!(first.requests().len(), 1);
        assert_eq!(second.requests().len(), usize::from(moves_on), "{status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_that_all_servers_refuse_fails_at_once_and_leaves_none_aside() {
    let (first, first_is_ill) = ill("400 Bad Request").await;
    let (second, _) = ill("400 Bad Request").await;
    let client = client(both(&first.url(), &second.url()));
    let answer = ask(&client).await;
    assert!(matches!(answer, Err(StoreError::Failed(_))), "{answer:?}");
    assert_eq!((first.requests().len(), second.requests().len()), (1, 1));

    first_is_ill.store(false, Ordering::SeqCst);
    assert_eq!(ask(&client).await.unwrap(), whole());
    assert_eq!((first.requests().len(), second.requests().len()), (2, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn when_none_answers_the_read_ends_with_its_time_or_the_deadline() {
    let addresses = [dead_address().await, dead_address().await];
    let [first, second] = addresses.map(|address| format!("http://{address}/"));
    let within = |time| {
        client(ConnectionOptions {
            unavailable_read_timeout: time,
            ..both(&first, &second)
        })
    };
    let started = Instant::now();
    let answer = ask(&within(Duration::from_millis(300))).await;
    let took = started.elapsed();
    assert!(
        matches!(answer, Err(StoreError::Unavailable(_))),
        "{answer:?}"
    );
    assert!(took > Duration::from_millis(200), "{took:?}");
    let answer = ask_within(&within(PATIENCE), Duration::from_millis(100)).await;
    assert!(
        matches!(answer, Err(StoreError::Call(CallError::Deadline))),
        "{answer:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stalls_after_others_failed_is_given_up_in_time() {
    let endpoint = Endpoint::healthy().await;
    let proxy = Proxy::start(endpoint.address).await;
    proxy.set(Fault::StallAfter(0));
    let dead = format!("http://{}/", dead_address().await);
    let client = client(ConnectionOptions {
        unavailable_read_timeout: Duration::from_millis(300),
        ..both(&dead, &proxy.url("/sparql"))
    });
    let answer = ask(&client).await;
    assert!(
        matches!(answer, Err(StoreError::Unavailable(_))),
        "{answer:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_single_server_is_waited_for_when_that_is_forced() {
    let endpoint = Endpoint::healthy().await;
    let mut proxy = Proxy::start(endpoint.address).await;
    proxy.down().await;
    let [forced, other] = [true, false].map(|forced| {
        client(ConnectionOptions {
            force_cluster_client: forced,
            ..options(&proxy.url("/sparql"))
        })
    });
    let answer = ask(&other).await;
    assert!(
        matches!(answer, Err(StoreError::Unavailable(_))),
        "{answer:?}"
    );
    let mut waiting = pin!(ask(&forced));
    let answer = tokio::time::timeout(Duration::from_millis(100), &mut waiting).await;
    assert!(answer.is_err(), "{answer:?}");
    proxy.up().await;
    assert_eq!(waiting.await.unwrap(), whole());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_comes_back_is_used_at_once_when_no_other_answers() {
    let endpoint = Endpoint::healthy().await;
    let mut proxy = Proxy::start(endpoint.address).await;
    proxy.down().await;
    let dead = format!("http://{}/", dead_address().await);
    let client = client(ConnectionOptions {
        scan_failed_interval: PATIENCE * 10,
        ..both(&dead, &proxy.url("/sparql"))
    });
    let answer = ask_within(&client, Duration::from_millis(100)).await;
    assert!(
        matches!(answer, Err(StoreError::Call(CallError::Deadline))),
        "{answer:?}"
    );
    proxy.up().await;
    assert_eq!(ask(&client).await.unwrap(), whole());
}
