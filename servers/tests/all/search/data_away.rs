//! The store of the data is away, hangs or is another while indexes are built.

use call_context::CallError;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use async_trait::async_trait;
use graph_store::query::{Hydrated, HydrationRequest, Objects, Selection};
use graph_store::{CallContext, GraphStore, StoreError, StoreInfo};
use tokio::sync::watch;

use super::{Sky, World, planets};

/// A store behind a network, which does what a test says.
pub(super) struct Unruly {
    store: Arc<dyn GraphStore>,
    manner: watch::Sender<Manner>,
    /// How many selections have gone wrong or were held, up to 255.
    faults: AtomicU8,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    Right,
    Away,
    /// It is away for a number of selections.
    AwayFor(u8),
    /// Something else answers at the address, with 404.
    NotFound,
    /// Nobody answers.
    Silent,
    /// It answers later, and says so.
    Held,
}

impl Unruly {
    pub(super) fn new(manner: Manner) -> Arc<Unruly> {
        Arc::new(Unruly {
            store: planets(20),
            manner: watch::Sender::new(manner),
            faults: AtomicU8::new(0),
        })
    }

    pub(super) fn set(&self, manner: Manner) {
        self.manner.send_replace(manner);
    }

    /// Returns how many selections have gone wrong or were held.
    pub(super) fn faults(&self) -> u8 {
        self.faults.load(Ordering::SeqCst)
    }

    /// Takes the manner of a selection.
    fn take(&self) -> Manner {
        let mut taken = Manner::Right;
        self.manner.send_modify(|manner| {
            taken = *manner;
            match taken {
                Manner::AwayFor(0 | 1) => *manner = Manner::Right,
                Manner::AwayFor(number) => *manner = Manner::AwayFor(number - 1),
                _ => {}
            }
        });
        taken
    }

    async fn check(&self, context: &CallContext) -> Result<(), StoreError> {
        let manner = self.take();
        if manner != Manner::Right {
            let faults = self.faults();
            self.faults
                .store(faults.saturating_add(1), Ordering::SeqCst);
        }
        match manner {
            Manner::Right => Ok(()),
            Manner::Away | Manner::AwayFor(_) => {
                Err(StoreError::Unavailable("at http://10.0.0.1".into()))
            }
            Manner::NotFound => Err(StoreError::Failed("404 at http://10.0.0.1".into())),
            Manner::Silent => {
                context.cancellation.cancelled().await;
                Err(StoreError::Call(CallError::Cancelled))
            }
            Manner::Held => {
                let mut manner = self.manner.subscribe();
                let released = async {
                    // The sender is `self`.
                    let _ = manner.wait_for(|manner| *manner != Manner::Held).await;
                };
                tokio::select! {
                    () = context.cancellation.cancelled() => Err(StoreError::Call(CallError::Cancelled)),
                    () = released => Ok(()),
                }
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
        let is_silent = *self.manner.borrow() == Manner::Silent;
        if is_silent {
            std::future::pending::<()>().await;
        }
        self.store.probe(context).await
    }
}

/// Serves without a schema.
fn serve(world: &World, store: Arc<Unruly>) -> Sky {
    let parts = world.parts(store);
    let sky = world.serve_with(parts, None);
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
        sky.wait("the run has ended", |sky| sky.info()["state"] == "READY");
        assert!(sky.info()["errorCode"].is_null());
        assert_eq!(sky.total(), 20);
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
    assert_eq!(store.faults(), 4, "once, and three times again");
}

/// Whoever waits to hear whether all values fit hears after some tries why that is not known.
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

#[test]
fn a_bind_goes_on_with_its_check_after_a_few_faults_of_the_store() {
    let mut world = World::embedded();
    world.settings.search.ignore_malformed = false;
    let store = Unruly::new(Manner::AwayFor(2));
    let sky = serve(&world, store.clone());
    let bound = sky.bind("sky");
    assert_eq!(bound.status, 200, "{}", bound.text());
    assert_eq!(store.faults(), 2);
    sky.wait("the index answers", |sky| sky.total() == 20);
}

#[test]
fn a_start_goes_on_with_its_check_while_the_store_is_away_and_health_says_so() {
    let mut world = World::embedded();
    world.settings.search.ignore_malformed = false;
    let store = Unruly::new(Manner::Away);
    let sky = world.serve_parts(world.parts(store.clone()));
    let message = sky.check("2100")["message"].to_string();
    let said = "cannot be bound yet (DATA_UNAVAILABLE), and is tried again";
    assert!(message.contains(said), "{message}");
    sky.wait("it is tried more often than for a bind", |_| {
        store.faults() > 5
    });
    store.set(Manner::Right);
    sky.wait("the index answers", |sky| sky.total() == 20);
    sky.wait_until_ok("2100");
}

#[test]
fn a_start_whose_check_is_given_up_is_said_to_be_tried_no_more() {
    let mut world = World::embedded();
    world.settings.search.ignore_malformed = false;
    world.settings.search.retry.max_retries = 3;
    let store = Unruly::new(Manner::Away);
    let sky = world.serve_parts(world.parts(store.clone()));
    sky.wait("it is given up", |sky| {
        let message = sky.check("2100")["message"].to_string();
        message.contains("cannot be bound (DATA_UNAVAILABLE), and is not tried again")
    });
    assert_eq!(store.faults(), 4, "once, and three times again");
    store.set(Manner::Right);
    assert_eq!(sky.bind("sky").status, 200);
    sky.wait("the index answers", |sky| sky.total() == 20);
}
