//! Several addresses of a server of schemas: what each option of the client changes, and what becomes of changes when
//! requests go wrong.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use schema_registry::{
    Binding, Expected, Rdf4jSchemaOptions, Rdf4jSchemaStore, SchemaStore, SchemaStoreError,
    ServiceKind,
};
use test_support::fault_proxy::{Fault, FaultProxy, Harm};
use tokio::net::TcpSocket;

use crate::rdf4j_endpoint::{Answer, Endpoint, PATIENCE, options};
use crate::rdf4j_faults::call;

const SHORT: Duration = Duration::from_millis(300);

async fn read(store: &Rdf4jSchemaStore) -> Result<(), SchemaStoreError> {
    call(store, true).await
}

async fn write(store: &Rdf4jSchemaStore) -> Result<(), SchemaStoreError> {
    call(store, false).await
}

/// Returns a store over the addresses of two servers.
fn over(
    main: &Endpoint,
    other: &Endpoint,
    change: impl FnOnce(&mut Rdf4jSchemaOptions),
) -> Rdf4jSchemaStore {
    let mut options = options(&format!("{}, {}", main.url(), other.url()));
    change(&mut options);
    Rdf4jSchemaStore::new(options).unwrap()
}

/// Keeps a port where nobody listens.
fn nobody() -> (TcpSocket, String) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("http://{}/r", socket.local_addr().unwrap());
    (socket, url)
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_and_writes_end_with_their_own_times_while_no_address_answers() {
    let (first, second) = (nobody(), nobody());
    let store = |is_read| {
        let mut options = options(&format!("{}, {}", first.1, second.1));
        let connection = &mut options.connection;
        connection.server = "rdf4j".parse().unwrap();
        (
            connection.unavailable_read_timeout,
            connection.unavailable_write_timeout,
        ) = if is_read {
            (SHORT, PATIENCE * 10)
        } else {
            (PATIENCE * 10, SHORT)
        };
        Rdf4jSchemaStore::new(options).unwrap()
    };
    for is_read in [true, false] {
        let store = store(is_read);
        let begun = Instant::now();
        let answer = call(&store, is_read).await;
        assert!(
            matches!(answer, Err(SchemaStoreError::Unavailable(_))),
            "{answer:?}"
        );
        let took = begun.elapsed();
        assert!(took > SHORT / 2 && took < PATIENCE, "{is_read}: {took:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_address_is_used_again_once_a_check_finds_that_it_answers() {
    let (main, other) = (
        Endpoint::rdf4j(|_| Some(Answer::Cut)).await,
        Endpoint::rdf4j(|_| None).await,
    );
    let store = over(&main, &other, |options| {
        options.connection.scan_failed_interval = Duration::from_millis(5);
    });
    for _ in 0..3 {
        read(&store).await.unwrap();
        write(&store).await.unwrap();
    }
    main.change(|_| None);
    let begun = Instant::now();
    while main.count("begin") == 0 {
        assert!(begun.elapsed() < PATIENCE, "{:?}", main.sent());
        read(&store).await.unwrap();
        write(&store).await.unwrap();
    }
    let others = other.requests().len();
    write(&store).await.unwrap();
    assert_eq!(other.requests().len(), others);
}

#[tokio::test(flavor = "multi_thread")]
async fn which_statuses_another_address_is_asked_after_is_configured() {
    for (status, on_4xx, on_5xx, moves_on) in [
        ("404 Not Found", true, false, true),
        ("404 Not Found", false, true, false),
        ("429 Too Many Requests", true, false, true),
        ("429 Too Many Requests", false, true, false),
        ("500 Internal Server Error", false, true, true),
        ("500 Internal Server Error", true, false, false),
        ("503 Service Unavailable", false, true, true),
        ("503 Service Unavailable", true, false, false),
        // What no other address would do better.
        ("400 Bad Request", true, true, false),
        ("401 Unauthorized", true, true, false),
        ("403 Forbidden", true, true, false),
    ] {
        for is_read in [true, false] {
            let main = Endpoint::rdf4j(move |request| match request.kind() {
                "read" | "begin" => Answer::status(status),
                _ => None,
            })
            .await;
            let other = Endpoint::rdf4j(|_| None).await;
            let store = over(&main, &other, |options| {
                options.auto_create_repository = false;
                options.connection.retry_on_http_4xx = on_4xx;
                options.connection.retry_on_http_5xx = on_5xx;
            });
            let answer = call(&store, is_read).await;
            assert_eq!(answer.is_ok(), moves_on, "{status} {is_read}: {answer:?}");
            assert_eq!(other.sent().is_empty(), !moves_on, "{status} {is_read}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_single_address_is_waited_for_where_that_is_forced() {
    for is_read in [true, false] {
        let proxied = Endpoint::rdf4j(|_| None).await;
        let proxy = FaultProxy::start(proxied.address);
        proxy.harm(always(Fault::Refuse));
        let store = |is_forced| {
            let mut options = options(&format!("http://{}/r", proxy.address()));
            options.connection.force_cluster_client = is_forced;
            Rdf4jSchemaStore::new(options).unwrap()
        };
        let asked = async |is_forced: bool| call(&store(is_forced), is_read).await;
        let answer = asked(false).await;
        assert!(
            matches!(answer, Err(SchemaStoreError::Unavailable(_))),
            "{answer:?}"
        );
        let mut waiting = pin!(asked(true));
        let answer = tokio::time::timeout(SHORT, &mut waiting).await;
        assert!(answer.is_err(), "{answer:?}");
        proxy.heal();
        waiting.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_repository_is_created_unless_connections_are_forced() {
    for is_forced in [false, true] {
        let (main, other) = (
            Endpoint::rdf4j(|_| None).await,
            Endpoint::rdf4j(|_| None).await,
        );
        main.lose_repository();
        other.lose_repository();
        let store = over(&main, &other, |options| {
            options.connection.force_connection = is_forced;
        });
        let answer = read(&store).await;
        assert_eq!(answer.is_ok(), !is_forced, "{answer:?}");
        let created = main.count("create") + other.count("create");
        assert_eq!(created, usize::from(!is_forced));
        // With one address there is no client of clusters, and nothing to force.
        let alone = Endpoint::rdf4j(|_| None).await;
        alone.lose_repository();
        let mut options = alone.options();
        options.connection.force_connection = is_forced;
        read(&Rdf4jSchemaStore::new(options).unwrap())
            .await
            .unwrap();
        assert_eq!(alone.count("create"), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_is_not_created_while_an_address_that_may_have_it_is_down() {
    let (main, other) = (
        Endpoint::rdf4j(|_| None).await,
        Endpoint::rdf4j(|_| None).await,
    );
    // It was replaced by an empty one.
    main.lose_repository();
    let store = over(&main, &other, |options| {
        options.connection.server = "rdf4j".parse().unwrap();
        options.connection.unavailable_read_timeout = SHORT;
        options.connection.unavailable_write_timeout = SHORT;
        options.connection.scan_failed_interval = Duration::from_millis(5);
    });
    read(&store).await.unwrap();
    write(&store).await.unwrap();
    other.change(|_| Some(Answer::Cut));
    for answer in [
        read(&store).await,
        write(&store).await,
        store.probe().await.map(drop),
    ] {
        assert!(
            matches!(answer, Err(SchemaStoreError::Unavailable(_))),
            "{answer:?}"
        );
    }
    other.change(|_| None);
    let begun = Instant::now();
    while read(&store).await.is_err() {
        assert!(begun.elapsed() < PATIENCE);
    }
    write(&store).await.unwrap();
    assert_eq!(main.count("create") + other.count("create"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_hangs_is_left_for_another_and_said_by_health() {
    let hangs = Arc::new(AtomicBool::new(false));
    let main = Endpoint::rdf4j({
        let hangs = Arc::clone(&hangs);
        move |_| hangs.load(Ordering::SeqCst).then_some(Answer::Hangs)
    })
    .await;
    let other = Endpoint::rdf4j(|_| None).await;
    let store = over(&main, &other, |options| {
        options.connection.health_check_timeout = Duration::from_secs(1);
    });
    assert_eq!(store.probe().await.unwrap(), Vec::<String>::new());
    for is_read in [true, false] {
        hangs.store(true, Ordering::SeqCst);
        call(&store, is_read).await.unwrap();
        let troubles = store.probe().await.unwrap();
        assert_eq!(troubles, ["address 1 of 2: it does not answer in time"]);
        hangs.store(false, Ordering::SeqCst);
        assert_eq!(store.probe().await.unwrap(), Vec::<String>::new());
    }
}

fn always(fault: Fault) -> Harm {
    Harm {
        fault,
        is_carried_out: false,
        only: |_, _| true,
        times: usize::MAX,
    }
}

/// Stores, binds and removes documents while one request of a kind goes wrong, over several addresses and over one.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a running RDF4J server: scripts/servers.sh start"]
async fn what_is_said_of_a_change_is_so_whichever_request_goes_wrong() {
    const PARTS: [fn(&str, &str) -> bool; 6] = [
        |_, _| true,
        |line, _| line.contains("/transactions?"),
        |line, _| line.contains("action=QUERY"),
        |line, _| line.contains("action=UPDATE"),
        |line, _| line.contains("action=COMMIT"),
        |line, _| !line.contains("/transactions"),
    ];
    let direct = crate::rdf4j_server::options("app");
    let truth = Rdf4jSchemaStore::new(direct.clone()).unwrap();
    truth.probe().await.unwrap();
    let url = direct.connection.addresses.urls()[0].clone();
    let server = url.socket_addrs(|| None).unwrap()[0];
    for addresses in [3, 1] {
        let proxies: Vec<_> = (0..addresses).map(|_| FaultProxy::start(server)).collect();
        let urls = proxies
            .iter()
            .map(|proxy| format!("http://{}{}", proxy.address(), url.path()));
        let urls: Vec<_> = urls.collect();
        let mut options = direct.clone();
        options.timeout = Duration::from_secs(5);
        let connection = &mut options.connection;
        connection.addresses = urls.join(",").parse().unwrap();
        connection.retry_interval = Duration::from_millis(20);
        connection.scan_failed_interval = Duration::from_millis(20);
        connection.health_check_timeout = Duration::from_secs(1);
        let store = Rdf4jSchemaStore::new(options).unwrap();
        let (mut made, mut number) = (0, 0);
        for (fault, is_carried_out) in faults() {
            for only in PARTS {
                number += 1;
                let harm = Harm {
                    fault,
                    is_carried_out,
                    only,
                    times: 1,
                };
                let case = format!("{addresses} {fault:?} {is_carried_out} {number}");
                let id = format!("s{addresses}-{number}");
                proxies[0].harm(harm);
                let text: Arc<str> = format!("id: /soml/{id}\n").into();
                let created = store.create(&id, Arc::clone(&text)).await.map(drop);
                proxies[0].heal();
                let is_there = truth.get(&id).await.unwrap().map(|it| it.text) == Some(text);
                compare(&created, is_there, &case);
                if !is_there {
                    continue;
                }
                made += 1;
                proxies[0].harm(harm);
                let bound = store.set_binding(ServiceKind::Objects, Some(&id)).await;
                proxies[0].heal();
                let binding = truth.binding(ServiceKind::Objects).await.unwrap();
                compare(&bound, binding == Binding::Schema(id.clone()), &case);
                truth.set_binding(ServiceKind::Objects, None).await.unwrap();
                proxies[0].harm(harm);
                let removed = store.remove(&id, &Expected::default()).await;
                proxies[0].heal();
                let is_gone = truth.get(&id).await.unwrap().is_none();
                compare(&removed, is_gone, &case);
            }
        }
        assert!(made > number / 2, "{made} of {number}");
    }
}

/// Returns what goes wrong, and whether the server gets the request nevertheless.
fn faults() -> Vec<(Fault, bool)> {
    // Nobody says these afterwards.
    let before = [Fault::Refuse, Fault::Status(408), Fault::Status(429)];
    let statuses = [404, 500, 502, 503, 504].map(Fault::Status);
    let others = [Fault::Reset, Fault::Close];
    let after = [Fault::Truncate(20), Fault::Cut(5)];
    let either = statuses.into_iter().chain(others);
    let either = either.flat_map(|fault| [(fault, false), (fault, true)]);
    let before = before.map(|fault| (fault, false)).into_iter();
    let after = after.map(|fault| (fault, true)).into_iter();
    before.chain(either).chain(after).collect()
}

fn compare(said: &Result<(), SchemaStoreError>, is_so: bool, case: &str) {
    match said {
        Ok(()) => assert!(is_so, "{case}: it is said to be done"),
        Err(SchemaStoreError::OutcomeUnknown(_)) => {}
        Err(error) => assert!(!is_so, "{case}: it is done, and said not to be: {error:?}"),
    }
}
