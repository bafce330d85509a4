//! Time: deadlines, cancellation, silence, and connections that are all taken.

use call_context::CallError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures::future::join_all;
use graph_store::StoreError;
use graph_store::query::Dataset;
use graph_store::remote::http::{ConnectionOptions, HttpEndpoint, ResultFormat};
use graph_store::remote::{EndpointQuery, SparqlEndpoint};

use crate::faults::endpoint::{Answer, Endpoint};
use crate::faults::proxy::{Fault, Proxy};
use crate::faults::{PATIENCE, ask, ask_within, client, comes_to, options, query, until, whole};

/// Bytes after which the proxy stalls: nothing, within the head, within the result.
const PLACES: [usize; 3] = [0, 20, 130];

/// Asks a server that stalls, until the deadline, and returns the client. On a busy machine the time may be over before
/// the request is sent; then a new client has more.
async fn given_up(
    endpoint: &Endpoint,
    proxy: &Proxy,
    place: usize,
    options: &ConnectionOptions,
) -> HttpEndpoint {
    proxy.set(Fault::StallAfter(place));
    let mut time = Duration::from_millis(100);
    loop {
        let before = endpoint.requests().len();
        // A new one, since a connection that is kept is not harmed.
        let client = client(options.clone());
        let answer = ask_within(&client, time).await;
        assert!(
            matches!(answer, Err(StoreError::Call(CallError::Deadline))),
            "{place}: {answer:?}"
        );
        if endpoint.requests().len() > before {
            return client;
        }
        assert!(time < PATIENCE, "{place}: nothing is sent");
        time *= 2;
    }
}

/// Blocks until something is so, or for very long.
fn blocks_until(is_so: impl Fn() -> bool) {
    let started = Instant::now();
    tokio::task::block_in_place(|| {
        while !is_so() && started.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stalls_holds_nobody_beyond_the_deadline() {
    let endpoint = Endpoint::healthy().await;
    let proxy = Proxy::start(endpoint.address).await;
    for format in [ResultFormat::Json, ResultFormat::Tsv] {
        for place in PLACES {
            let options = ConnectionOptions {
                result_format: format,
                ..options(&proxy.url("/sparql"))
            };
            let client = given_up(&endpoint, &proxy, place, &options).await;
            proxy.set(Fault::None);
            assert_eq!(ask(&client).await.unwrap(), whole());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_drips_too_slowly_ends_at_the_deadline() {
    let endpoint = Endpoint::healthy().await;
    let proxy = Proxy::start(endpoint.address).await;
    proxy.set(Fault::Drip {
        bytes: 1,
        every: Duration::from_millis(150),
    });
    let client = client(ConnectionOptions {
        // Every byte comes in time; all of them do not.
        socket_timeout: PATIENCE,
        ..options(&proxy.url("/sparql"))
    });
    let answer = ask_within(&client, Duration::from_millis(400)).await;
    assert!(
        matches!(answer, Err(StoreError::Call(CallError::Deadline))),
        "{answer:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn silence_is_bounded_by_the_socket_timeout() {
    let endpoint = Endpoint::healthy().await;
    let proxy = Proxy::start(endpoint.address).await;
    let client = client(ConnectionOptions {
        socket_timeout: Duration::from_millis(100),
        ..options(&proxy.url("/sparql"))
    });
    for place in PLACES {
        proxy.set(Fault::StallAfter(place));
        match ask(&client).await {
            Err(StoreError::Unavailable(error)) => {
                assert!(error.to_string().contains("nothing for 100 ms"), "{error}");
            }
            other => panic!("{place}: {other:?}"),
        }
    }
    proxy.set(Fault::None);
    let started = Instant::now();
    loop {
        match ask(&client).await {
            Ok(rows) => break assert_eq!(rows, whole()),
            // A busy machine may be silent for as long.
            Err(error) => assert!(started.elapsed() < PATIENCE, "{error:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadline_that_has_passed_asks_nobody() {
    let endpoint = Endpoint::healthy().await;
    let client = client(options(&endpoint.url()));
    let answer = ask_within(&client, Duration::ZERO).await;
    assert!(
        matches!(answer, Err(StoreError::Call(CallError::Deadline))),
        "{answer:?}"
    );
    assert!(endpoint.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_a_request_closes_its_connection() {
    let endpoint = Endpoint::start(|request| Answer::whole(request).after(PATIENCE * 4)).await;
    let client = client(options(&endpoint.url()));
    let context = until(PATIENCE * 2);
    let (query, dataset) = (query(), Dataset::default());
    let text = query.to_string();
    let asked = EndpointQuery {
        query: &query,
        text: &text,
        dataset: &dataset,
    };
    let cancel = async {
        comes_to(|| !endpoint.requests().is_empty()).await;
        context.cancellation.cancel();
    };
    let (answer, ()) = tokio::join!(client.select(asked, &context), cancel);
    assert!(
        matches!(answer, Err(StoreError::Call(CallError::Cancelled))),
        "{answer:?}"
    );
    comes_to(|| endpoint.abandoned() > 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_requests_share_two_connections() {
    let slow = Duration::from_millis(10);
    let arrived = AtomicUsize::new(0);
    let endpoint = Endpoint::start(move |request| {
        arrived.fetch_add(1, Ordering::SeqCst);
        // None is answered before there is another one beside the first.
        blocks_until(|| arrived.load(Ordering::SeqCst) > 1);
        Answer::whole(request).after(slow)
    })
    .await;
    let client = Arc::new(client(ConnectionOptions {
        max_concurrent_connections: 2,
        ..options(&endpoint.url())
    }));
    let asked = (0..60).map(|_| {
        let client = Arc::clone(&client);
        tokio::spawn(async move { ask(&client).await })
    });
    for answer in join_all(asked).await {
        assert_eq!(answer.unwrap().unwrap(), whole());
    }
    assert_eq!(endpoint.requests().len(), 60);
    assert_eq!(endpoint.most_at_once(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_wait_for_a_connection_is_bounded() {
    let may_answer = Arc::new(AtomicBool::new(false));
    let answers = Arc::clone(&may_answer);
    let endpoint = Endpoint::start(move |request| {
        blocks_until(|| answers.load(Ordering::SeqCst));
        Answer::whole(request)
    })
    .await;
    let bounded = client(ConnectionOptions {
        max_concurrent_connections: 1,
        connection_request_timeout: Duration::from_millis(100),
        ..options(&endpoint.url())
    });
    let other = async {
        comes_to(|| !endpoint.requests().is_empty()).await;
        let other = ask(&bounded).await;
        may_answer.store(true, Ordering::SeqCst);
        other
    };
    let (one, other) = tokio::join!(ask(&bounded), other);
    assert_eq!(one.unwrap(), whole());
    match other {
        Err(StoreError::Unavailable(error)) => {
            assert!(error.to_string().contains("became free"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    // Zero waits without end.
    let patient = client(ConnectionOptions {
        max_concurrent_connections: 1,
        connection_request_timeout: Duration::ZERO,
        ..options(&endpoint.url())
    });
    let (one, other) = tokio::join!(ask(&patient), ask(&patient));
    assert_eq!((one.unwrap(), other.unwrap()), (whole(), whole()));
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_were_given_up_give_their_connection_back() {
    let endpoint = Endpoint::healthy().await;
    let proxy = Proxy::start(endpoint.address).await;
    for place in PLACES {
        let options = ConnectionOptions {
            max_concurrent_connections: 1,
            ..options(&proxy.url("/sparql"))
        };
        let client = given_up(&endpoint, &proxy, place, &options).await;
        proxy.set(Fault::None);
        assert_eq!(ask(&client).await.unwrap(), whole());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_has_a_timeout_of_its_own_and_sees_the_server_come_back() {
    let endpoint = Endpoint::start(|request| {
        assert!(request.body.contains("LIMIT"), "{}", request.body);
        let json = r#"{"head":{"vars":["subject"]},"results":{"bindings":[]}}"#;
        Answer::new("200 OK", "application/sparql-results+json", json)
    })
    .await;
    let mut proxy = Proxy::start(endpoint.address).await;
    let within = |time| {
        client(ConnectionOptions {
            health_check_timeout: time,
            max_retries: 5,
            retry_interval: PATIENCE,
            ..options(&proxy.url("/sparql"))
        })
    };
    let (patient, quick) = (within(PATIENCE), within(Duration::from_millis(200)));
    let info = patient.probe(&until(PATIENCE)).await.unwrap();
    assert_eq!(
        (info.provider.as_str(), info.statements),
        ("sparql11", Some(0))
    );

    let unavailable = |probed: Result<_, StoreError>| match probed {
        Err(StoreError::Unavailable(_)) => {}
        other => panic!("{other:?}"),
    };
    proxy.down().await;
    unavailable(patient.probe(&until(PATIENCE)).await);
    proxy.up().await;
    patient.probe(&until(PATIENCE)).await.unwrap();
    for place in [0, 20, 100] {
        proxy.down().await;
        proxy.set(Fault::StallAfter(place));
        proxy.up().await;
        unavailable(quick.probe(&until(PATIENCE)).await);
    }
}
