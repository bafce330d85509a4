//! What clients and operators see when the store hangs, fails or panics.

use call_context::CallError;
use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use graph_store::query::{Hydrated, HydrationRequest, Objects, Selection};
use graph_store::{CallContext, GraphStore, LocalStore, StoreError, StoreInfo};
use serde_json::json;
use servers::config::Settings;

use crate::processes::{PATIENCE, eventually};
use crate::service::Service;

#[derive(Clone, Copy)]
enum Manner {
    /// Waits until it is cancelled, and then says so.
    Hangs,
    /// Waits for ever, whatever it is told.
    IgnoresCancellation,
    Fails,
    Panics,
}

struct Store {
    manner: Manner,
    asked: AtomicBool,
    cancelled: AtomicBool,
}

impl Store {
    fn new(manner: Manner) -> Arc<Store> {
        Arc::new(Store {
            manner,
            asked: AtomicBool::default(),
            cancelled: AtomicBool::default(),
        })
    }

    fn fail<T>() -> Result<T, StoreError> {
        Err(StoreError::Failed(
            "http://secret.internal:7200 refused".into(),
        ))
    }
}

#[async_trait]
impl GraphStore for Store {
    async fn select(
        &self,
        _selection: &Selection,
        context: &CallContext,
    ) -> Result<Objects, StoreError> {
        self.asked.store(true, Ordering::SeqCst);
        match self.manner {
            Manner::Hangs => {
                context.cancellation.cancelled().await;
                self.cancelled.store(true, Ordering::SeqCst);
                Err(StoreError::Call(CallError::Cancelled))
            }
            Manner::IgnoresCancellation => std::future::pending().await,
            Manner::Fails => Store::fail(),
            Manner::Panics => panic!("the store broke"),
        }
    }

    async fn hydrate(
        &self,
        _request: &HydrationRequest<'_>,
        _context: &CallContext,
    ) -> Result<Hydrated, StoreError> {
        Store::fail()
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        // Work then runs on a thread of its own, as it does over the embedded store.
        matches!(self.manner, Manner::Hangs).then_some(self as &dyn LocalStore)
    }

    async fn probe(&self, _context: &CallContext) -> Result<StoreInfo, StoreError> {
        match self.manner {
            Manner::Fails => Store::fail(),
            _ => Ok(StoreInfo {
                provider: "test".to_owned(),
                statements: None,
                ..StoreInfo::default()
            }),
        }
    }
}

impl LocalStore for Store {}

#[test]
fn work_for_a_client_that_went_away_is_cancelled() {
    let store = Store::new(Manner::Hangs);
    let settings = Settings {
        request_timeout: 10 * PATIENCE,
        ..Settings::default()
    };
    let service = Service::over(settings, store.clone());
    let mut stream = TcpStream::connect(service.base.trim_start_matches("http://")).unwrap();
    stream
        .write_all(b"GET /graphql?query=%7Bplanet%7Bid%7D%7D HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .unwrap();
    eventually(|| store.asked.load(Ordering::SeqCst));
    assert!(!store.cancelled.load(Ordering::SeqCst));
    drop(stream);
    eventually(|| store.cancelled.load(Ordering::SeqCst));
}

#[test]
fn a_store_that_never_answers_does_not_keep_the_client() {
    let settings = Settings {
        request_timeout: Duration::from_millis(100),
        ..Settings::default()
    };
    let service = Service::over(settings, Store::new(Manner::IgnoresCancellation));
    let answer = service.post(&json!({ "query": "{ planet { id } }" }));
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (200, "DEADLINE_EXCEEDED")
    );
    assert!(answer.json()["data"].is_null());
}

#[test]
fn the_reason_of_a_failure_stays_inside() {
    let service = Service::over(Settings::default(), Store::new(Manner::Fails));
    let answer = service.post(&json!({ "query": "{ planet { id } }" }));
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (200, "STORE_FAILED")
    );
    assert!(!answer.text().contains("secret"), "{}", answer.text());

    let health = service.get("/__health").text();
    assert!(
        health.contains(r#""status":"ERROR","id":"1200""#),
        "{health}"
    );
    assert!(!health.contains("secret"), "{health}");
    let gtg = service.get("/__gtg");
    assert_eq!(
        (gtg.status, gtg.code().as_str()),
        (503, "STORE_UNAVAILABLE")
    );
}

#[test]
fn a_panic_is_an_internal_error_and_the_service_goes_on() {
    let service = Service::over(Settings::default(), Store::new(Manner::Panics));
    for _ in 0..2 {
        let answer = service.post(&json!({ "query": "{ planet { id } }" }));
        assert_eq!((answer.status, answer.code().as_str()), (500, "INTERNAL"));
    }
    assert_eq!(
        service.query("{ __typename }"),
        r#"{"data":{"__typename":"Query"}}"#
    );
}
