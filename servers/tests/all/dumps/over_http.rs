//! `GET /dump`: what is sent to whom, and how it ends when something goes wrong.

use std::io::Read;
use std::net::TcpStream;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use flate2::read::GzDecoder;
use graph_store::query::{Hydrated, HydrationRequest, Objects, Selection};
use graph_store::{CallContext, ExportStore, GraphStore, QuadSink, StoreError, StoreInfo};
use oxrdf::{GraphName, Literal, NamedNode, Quad};
use oxrdfio::RdfFormat;
use servers::config::Settings;

use super::{canonical, parsed};
use crate::gateway::soml::{Soml, log_in};
use crate::processes::{PATIENCE, eventually};
use crate::service::{Answer, Service};

fn dump(service: &Service, headers: &[(&str, &str)]) -> Answer {
    service.send("GET", "/dump", headers, b"")
}

#[test]
fn a_dump_has_the_syntax_and_the_encoding_that_the_client_takes() {
    let service = Service::demo();
    let lines = dump(&service, &[]);
    assert_eq!(lines.status, 200);
    assert_eq!(lines.header("content-type"), "application/n-quads");
    assert_eq!(lines.header("cache-control"), "no-store");
    assert_eq!(lines.header("content-encoding"), "");
    let quads = canonical(parsed(&lines.body, RdfFormat::NQuads));
    assert!(quads.len() > 1_000, "{}", quads.len());

    let trig = dump(&service, &[("accept", "application/trig")]);
    assert_eq!(trig.header("content-type"), "application/trig");
    assert!(trig.header("content-disposition").contains("dump.trig"));
    assert_eq!(canonical(parsed(&trig.body, RdfFormat::TriG)), quads);

    let packed = dump(&service, &[("accept-encoding", "gzip")]);
    let body = match packed.header("content-encoding").as_str() {
        "gzip" => {
            let mut text = Vec::new();
            GzDecoder::new(packed.body.as_slice())
                .read_to_end(&mut text)
                .unwrap();
            text
        }
        // The client has unpacked it.
        _ => packed.body,
    };
    assert_eq!(canonical(parsed(&body, RdfFormat::NQuads)), quads);

    let refused = dump(&service, &[("accept", "text/turtle")]);
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (406, "NOT_ACCEPTABLE")
    );
    let head = service.send("HEAD", "/dump", &[], b"");
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(service.send("POST", "/dump", &[], b"").status, 405);
    // There the end of an answer is not marked.
    let old = service.raw("GET /dump HTTP/1.0\r\nhost: localhost\r\n\r\n");
    assert_eq!(
        (old.status, old.code().as_str()),
        (400, "REQUEST_MALFORMED")
    );
}

#[test]
fn only_those_who_may_make_backups_get_a_dump() {
    let service = Soml::start(&["--demo", "star-wars", "--roles"], &[], "Log in");
    let base = service.base("GraphQL:");
    let get = |role: Option<&str>| {
        let request = ureq::get(format!("{base}/dump"));
        let request = match role {
            Some(role) => {
                let mut lines = service.said.iter();
                let line = lines.find(|line| line.contains(&format!("({role}")));
                let mut words = line.unwrap().split_whitespace();
                let token = log_in(base, words.next().unwrap(), words.next().unwrap());
                request.header("authorization", format!("Bearer {token}"))
            }
            None => request,
        };
        let request = request.config().http_status_as_error(false).build();
        request.call().unwrap().status().as_u16()
    };
    assert_eq!(get(None), 401);
    assert_eq!(get(Some("Editor")), 403);
    assert_eq!(get(Some("Admin")), 200);
}

/// A store that lists quads until somebody has enough, or in another manner.
struct Endless {
    manner: Manner,
    /// Listings that go on.
    running: AtomicUsize,
    taken: AtomicUsize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    GoesOn,
    /// Fails before the first quad.
    FailsAtOnce,
    /// Fails after so many batches.
    FailsAfter(usize),
    Panics,
    CannotList,
}

impl Endless {
    fn new(manner: Manner) -> Arc<Self> {
        Arc::new(Endless {
            manner,
            running: AtomicUsize::default(),
            taken: AtomicUsize::default(),
        })
    }
}

fn batch(number: usize) -> Vec<Quad> {
    let node = NamedNode::new(format!("http://e/{number}")).unwrap();
    let text = Literal::new_simple_literal("x".repeat(1_000));
    let quad = Quad::new(node.clone(), node, text, GraphName::DefaultGraph);
    vec![quad; 100]
}

/// Counts a listing as one that goes on.
struct Running<'s>(&'s AtomicUsize);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[async_trait(?Send)]
impl ExportStore for Endless {
    async fn export(
        &self,
        sink: &mut dyn QuadSink,
        context: &CallContext,
    ) -> Result<(), StoreError> {
        self.running.fetch_add(1, Ordering::SeqCst);
        let _running = Running(&self.running);
        let failed = || Err(StoreError::Failed("secret.internal broke".into()));
        for number in 0.. {
            context.check()?;
            match self.manner {
                Manner::FailsAtOnce => return failed(),
                Manner::FailsAfter(batches) if number == batches => return failed(),
                Manner::Panics if number == 3 => panic!("the store broke"),
                _ => {}
            }
            if sink.take(batch(number)).await == ControlFlow::Break(()) {
                return Ok(());
            }
            self.taken.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    }
}

#[async_trait]
impl GraphStore for Endless {
    async fn select(&self, _: &Selection, _: &CallContext) -> Result<Objects, StoreError> {
        Ok(Objects::default())
    }

    async fn hydrate(
        &self,
        _: &HydrationRequest<'_>,
        _: &CallContext,
    ) -> Result<Hydrated, StoreError> {
        Err(StoreError::Unsupported("no values".to_owned()))
    }

    async fn probe(&self, _: &CallContext) -> Result<StoreInfo, StoreError> {
        Ok(StoreInfo {
            provider: "test".to_owned(),
            statements: None,
            ..StoreInfo::default()
        })
    }

    fn exporter(&self) -> Option<&dyn ExportStore> {
        (self.manner != Manner::CannotList).then_some(self)
    }
}

fn over(store: &Arc<Endless>) -> Service {
    Service::over(
        Settings::default(),
        Arc::clone(store) as Arc<dyn GraphStore>,
    )
}

/// Waits until something is so.
#[test]
fn a_store_that_fails_at_once_is_an_error_without_its_cause() {
    for (manner, status, code) in [
        (Manner::FailsAtOnce, 500, "DUMP_FAILED"),
        (Manner::CannotList, 409, "DUMP_UNSUPPORTED"),
    ] {
        let service = over(&Endless::new(manner));
        let refused = dump(&service, &[]);
        assert_eq!((refused.status, refused.code().as_str()), (status, code));
        assert!(!refused.text().contains("secret"));
    }
}

/// Reads a dump over a connection of its own; returns whether it has an end.
fn is_whole(service: &Service) -> bool {
    let answer = service.raw("GET /dump HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    assert_eq!(answer.status, 200);
    assert!(answer.body.len() > 100_000, "{}", answer.body.len());
    answer.body.ends_with(b"0\r\n\r\n")
}

#[test]
fn a_dump_that_breaks_off_has_no_end() {
    assert!(is_whole(&Service::demo()));
    for manner in [Manner::FailsAfter(5), Manner::Panics] {
        let store = Endless::new(manner);
        let service = over(&store);
        assert!(!is_whole(&service));
        // The next one may be made.
        assert!(!is_whole(&service));
        assert_eq!(store.running.load(Ordering::SeqCst), 0);
    }
}

#[test]
fn a_client_that_stalls_holds_a_buffer_and_one_that_leaves_ends_its_dump() {
    let store = Endless::new(Manner::GoesOn);
    let service = over(&store);
    let address = service.base.strip_prefix("http://").unwrap();
    let begin = || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let request = "GET /dump HTTP/1.1\r\nhost: localhost\r\n\r\n";
        std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).unwrap();
        (&head == b"HTTP/1.1 200").then_some(stream)
    };
    let stalled = [begin().unwrap(), begin().unwrap()];
    // They take nothing, so after a while nothing is listed.
    let listed = || store.taken.load(Ordering::SeqCst);
    eventually(|| {
        let now = listed();
        std::thread::sleep(Duration::from_millis(200));
        now == listed()
    });
    assert!(listed() < 1_000, "100 kB each: {}", listed());
    assert_eq!(store.running.load(Ordering::SeqCst), 2);
    let refused = dump(&service, &[]);
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (409, "DUMP_RUNNING")
    );
    assert_eq!(service.get("/__live").status, 200);
    // One that reads goes on.
    let [mut one, other] = stalled;
    let mut taken = vec![0; 4 << 20];
    one.read_exact(&mut taken).unwrap();
    drop(other);
    eventually(|| store.running.load(Ordering::SeqCst) == 1);
    // A dump has ended for the service a moment after its listing.
    eventually(|| begin().is_some());
    drop(one);
    eventually(|| store.running.load(Ordering::SeqCst) == 0);
}

#[test]
fn a_service_that_ends_ends_its_dumps_without_an_end() {
    let store = Endless::new(Manner::GoesOn);
    let mut service = over(&store);
    let address = service.base.strip_prefix("http://").unwrap().to_owned();
    let reading = std::thread::spawn(move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let request = "GET /dump HTTP/1.1\r\nhost: localhost\r\n\r\n";
        std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
        let mut tail = Vec::new();
        let mut piece = vec![0; 64 << 10];
        while let Ok(read) = stream.read(&mut piece) {
            if read == 0 {
                break;
            }
            tail.extend_from_slice(&piece[..read]);
            tail.drain(..tail.len().saturating_sub(100));
        }
        tail
    });
    eventually(|| store.taken.load(Ordering::SeqCst) > 10);
    service.stop();
    let tail = reading.join().unwrap();
    assert!(!tail.ends_with(b"0\r\n\r\n"));
    assert_eq!(store.running.load(Ordering::SeqCst), 0);
}
