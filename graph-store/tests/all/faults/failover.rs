//! Several servers with the same data: one that fails is left aside and the next one answers.

use call_context::CallError;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use graph_store::StoreError;
use graph_store::remote::SparqlEndpoint;
use graph_store::remote::http::ConnectionOptions;

use crate::faults::endpoint::{Answer, Endpoint, dead_address};
use crate::faults::proxy::{Fault, Proxy};
use crate::faults::{PATIENCE, ask, ask_within, client, options, until, whole};

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
async fn a_failed_server_is_left_aside_until_a_check_has_found_that_it_answers() {
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

    // It is asked by checks alone, whenever the interval is over.
    let short = within(Duration::from_millis(5));
    while checks(&main) < 3 {
        assert_eq!(ask(&short).await.unwrap(), whole());
    }
    assert_eq!(main.requests().len() - checks(&main), 2);
    is_ill.store(false, Ordering::SeqCst);
    while main.requests().len() - checks(&main) == 2 {
        assert_eq!(ask(&short).await.unwrap(), whole());
    }
    let others = other.requests().len();
    for _ in 0..5 {
        assert_eq!(ask(&short).await.unwrap(), whole());
    }
    assert_eq!(other.requests().len(), others, "the main server is used");
}

/// Returns how many checks have come.
fn checks(endpoint: &Endpoint) -> usize {
    let requests = endpoint.requests();
    let checks = requests.iter().filter(|request| request.is_check());
    checks.count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_hangs_is_left_aside_once_its_check_hangs_too() {
    let endpoint = Endpoint::healthy().await;
    let hanging = Proxy::start(endpoint.address).await;
    hanging.set(Fault::StallAfter(0));
    let client = client(ConnectionOptions {
        health_check_timeout: Duration::from_secs(1),
        scan_failed_interval: PATIENCE * 10,
        ..both(&hanging.url("/sparql"), &endpoint.url())
    });
    // The deadline would be a minute away, and the server says nothing.
    for _ in 0..2 {
        assert_eq!(ask(&client).await.unwrap(), whole());
    }
    let info = client.probe(&until(PATIENCE)).await.unwrap();
    let troubles = info.troubles();
    assert_eq!(troubles, ["address 1 of 2: it does not answer in time"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_hangs_is_found_out_while_all_connections_to_it_are_in_use() {
    let endpoint = Endpoint::healthy().await;
    let hanging = Proxy::start(endpoint.address).await;
    hanging.set(Fault::StallAfter(0));
    let client = client(ConnectionOptions {
        max_concurrent_connections: 1,
        health_check_timeout: Duration::from_secs(1),
        scan_failed_interval: PATIENCE * 10,
        ..both(&hanging.url("/sparql"), &endpoint.url())
    });
    // All but one wait for the connection.
    let asked = (0..10).map(|_| ask(&client));
    for answer in futures::future::join_all(asked).await {
        assert_eq!(answer.unwrap(), whole());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_that_takes_long_is_waited_for_while_its_server_answers_checks() {
    let slow = Endpoint::start(|request| {
        let answer = Answer::whole(request);
        if request.is_check() {
            answer
        } else {
            answer.after(Duration::from_secs(3))
        }
    })
    .await;
    let other = Endpoint::healthy().await;
    let client = client(ConnectionOptions {
        health_check_timeout: Duration::from_secs(2),
        ..both(&slow.url(), &other.url())
    });
    assert_eq!(ask(&client).await.unwrap(), whole());
    assert!(checks(&slow) > 0);
    assert_eq!(other.requests().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_ends_while_a_server_is_silent_has_it_checked() {
    let endpoint = Endpoint::healthy().await;
    let hanging = Proxy::start(endpoint.address).await;
    hanging.set(Fault::StallAfter(0));
    let client = client(ConnectionOptions {
        // Too long for the requests, whose deadlines are sooner.
        health_check_timeout: Duration::from_millis(1_500),
        scan_failed_interval: PATIENCE * 10,
        ..both(&hanging.url("/sparql"), &endpoint.url())
    });
    let mut answer = ask_within(&client, Duration::from_millis(1_200)).await;
    assert!(
        matches!(answer, Err(StoreError::Call(CallError::Deadline))),
        "{answer:?}"
    );
    let begun = Instant::now();
    while answer.is_err() {
        assert!(begun.elapsed() < PATIENCE, "{answer:?}");
        answer = ask_within(&client, Duration::from_millis(1_200)).await;
    }
    assert_eq!(answer.unwrap(), whole());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_the_repository_is_left_aside_unless_connections_are_forced() {
    for is_forced in [false, true] {
        let (main, _) = ill("404 Not Found").await;
        let other = Endpoint::healthy().await;
        let client = client(ConnectionOptions {
            force_connection: is_forced,
            scan_failed_interval: PATIENCE * 10,
            ..both(&main.url(), &other.url())
        });
        for _ in 0..3 {
            assert_eq!(ask(&client).await.unwrap(), whole());
        }
        let asked = if is_forced { 3 } else { 1 };
        assert_eq!((main.requests().len(), other.requests().len()), (asked, 3));
        let troubles = client.probe(&until(PATIENCE)).await.unwrap().troubles();
        assert_eq!(
            troubles,
            ["address 1 of 2: it has no such repository (404)"]
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_other_server_would_do_better_is_not_asked_of_it() {
    for status in [
        "400 Bad Request",
        "401 Unauthorized",
        "403 Forbidden",
        "413 Payload Too Large",
        "501 Not Implemented",
    ] {
        let (first, _) = ill(status).await;
        let second = Endpoint::healthy().await;
        let client = client(both(&first.url(), &second.url()));
        let answer = ask(&client).await;
        assert!(matches!(answer, Err(StoreError::Failed(_))), "{answer:?}");
        let asked = (first.requests().len(), second.requests().len());
        assert_eq!(asked, (1, 0), "{status}");
    }
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
    let (first, first_is_ill) = ill("500 Internal Server Error").await;
    let (second, _) = ill("500 Internal Server Error").await;
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
