//! The store of the data is away, hangs or is another while indexes are built.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use graph_store::query::{Hydrated, HydrationRequest, Objects, Selection};
use graph_store::{CallContext, GraphStore, StoreError, StoreInfo};

use super::{Sky, World, planets};
use crate::service::Service;

/// A store behind a network, which does what a test says.
struct Unruly {
    store: Arc<dyn GraphStore>,
    manner: Mutex<Manner>,
    /// How many selections have gone wrong, up to 255.
    faults: AtomicU8,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    Right,
    Away,
    /// Something else answers at the address, with 404.
    NotFound,
    /// Nobody answers.
    Silent,
}

impl Unruly {
    fn new(manner: Manner) -> Arc<Unruly> {
        Arc::new(Unruly {
            store: planets(20),
            manner: Mutex::new(manner),
            faults: AtomicU8::new(0),
        })
    }

    fn set(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }

    async fn check(&self, context: &CallContext) -> Result<(), StoreError> {
        let manner = *self.manner.lock().unwrap();
        if manner != Manner::Right {
            let faults = self.faults.load(Ordering::SeqCst);
            self.faults
                .store(faults.saturating_add(1), Ordering::SeqCst);
        }
        match manner {
            Manner::Right => Ok(()),
            Manner::Away => Err(StoreError::Unavailable("at http://10.0.0.1".into())),
            Manner::NotFound => Err(StoreError::Failed("404 at http://10.0.0.1".into())),
            Manner::Silent => {
                context.cancellation.cancelled().await;
                Err(StoreError::Cancelled)
            }
        }
    }
}

#[async_trait]
impl GraphStore for Unruly {
    async fn select(
        &self,
        selection: &Selection,
        context: &CallContext,
    ) -> Result<Objects, StoreError> {
        self.check(context).await?;
        self.store.select(selection, context).await
    }

    async fn hydrate(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Result<Hydrated, StoreError> {
        self.check(context).await?;
        self.store.hydrate(request, context).await
    }

    async fn probe(&self, context: &CallContext) -> Result<StoreInfo, StoreError> {
        if *self.manner.lock().unwrap() == Manner::Silent {
            std::future::pending::<()>().await;
        }
        self.store.probe(context).await
    }
}

/// Serves without a schema.
fn serve(world: &World, store: Arc<Unruly>) -> Sky {
    let parts = world.parts(store);
    let schemas = Arc::clone(&parts.schemas);
    let (service, app) = Service::search(parts, None);
    let sky = Sky {
        service,
        app,
        schemas,
        root: world.root(),
        field: world.field(),
    };
    sky.store("sky", &world.soml("title: {}"));
    sky
}

#[test]
fn a_store_that_is_away_or_another_is_asked_again_and_said_meanwhile() {
    for (manner, code) in [
        (Manner::Away, "DATA_UNAVAILABLE"),
        (Manner::NotFound, "DATA_FAILED"),
    ] {
        let world = World::embedded();
        let store = Unruly::new(manner);
        let sky = serve(&world, store.clone());
        assert_eq!(sky.bind("sky").status, 200);
        sky.wait("it is tried again", |sky| {
            let info = sky.info();
            info["state"] == "RETRYING" && info["tries"].as_u64().is_some_and(|tries| tries > 1)
        });
        let info = sky.info();
        assert_eq!(info["errorCode"], code, "{info:#}");
        assert!(info["error"].to_string().contains("store"), "{info:#}");
        assert!(!info.to_string().contains("10.0.0.1"), "{info:#}");
        let check = sky.check("2200");
        assert_eq!(check["status"], "WARNING");
        assert!(!check.to_string().contains("10.0.0.1"), "{check:#}");
        assert_eq!(sky.check("2300")["status"], "OK", "the engine is well");
        let building = sky.search()["errors"][0]["extensions"]["code"].clone();
        assert_eq!(building, "INDEX_BUILDING");
        store.set(Manner::Right);
        sky.wait("the index answers", |sky| sky.total() == 20);
        let info = sky.info();
        assert_eq!(
            (info["state"].as_str(), info["errorCode"].as_str()),
            (Some("READY"), None)
        );
    }
}

#[test]
fn a_run_is_tried_as_often_as_is_said_and_by_one_clock() {
    let mut world = World::embedded();
    world.settings.search.retry.max_retries = 3;
    let store = Unruly::new(Manner::Away);
    let sky = serve(&world, store.clone());
    assert_eq!(sky.bind("sky").status, 200);
    sky.wait("it is given up", |sky| sky.info()["state"] == "FAILED");
    assert_eq!(sky.info()["errorCode"], "DATA_UNAVAILABLE");
    let faults = store.faults.load(Ordering::SeqCst);
    assert_eq!(faults, 4, "once, and three times again");
}

/// Whoever waits to hear whether all values fit hears at once why that is not known.
#[test]
fn a_bind_that_waits_for_the_values_is_refused_with_what_the_store_does() {
    for (manner, status, code) in [
        (Manner::Away, 503, "DATA_UNAVAILABLE"),
        (Manner::NotFound, 502, "DATA_FAILED"),
        (Manner::Silent, 504, "DATA_TIMEOUT"),
    ] {
        let mut world = World::embedded();
        world.settings.search.ignore_malformed = false;
        let store = Unruly::new(manner);
        let sky = serve(&world, store.clone());
        let refused = sky.bind("sky");
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (status, code),
            "{}",
            refused.text()
        );
        assert!(!refused.text().contains("10.0.0.1"), "{}", refused.text());
        store.set(Manner::Right);
        assert_eq!(sky.bind("sky").status, 200);
        sky.wait("the index answers", |sky| sky.total() == 20);
    }
}
