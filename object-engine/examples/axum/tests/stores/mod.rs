//! Services to test with: one that answers, and one whose store waits for its request to end.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use async_trait::async_trait;
use graph_store::query::{Hydrated, HydrationRequest, Objects, Selection};
use graph_store::{CallContext, GraphStore, LocalStore, StoreError, StoreInfo};
use object_engine::{ObjectService, ServiceOptions};
use test_support::images;

fn example(name: &str) -> String {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/examples");
    std::fs::read_to_string(examples.join(name)).expect("an example")
}

fn service(store: Arc<dyn GraphStore>) -> ObjectService {
    let schema = soml_core::load(&example("books.yaml")).schema;
    let schema = Arc::new(schema.expect("the schema is valid"));
    ObjectService::new(schema, store, ServiceOptions::default()).expect("an API")
}

/// Returns a service over the books of the pages.
pub(crate) fn books() -> ObjectService {
    service(Arc::new(images::from_turtle(example("books.ttl"))))
}

/// A store that works until nobody waits any more.
pub(crate) struct Waiting {
    begun: Sender<()>,
    ended: Sender<StoreError>,
}

/// When a [`Waiting`] store begins to work, and why it stops.
pub(crate) struct Work {
    pub(crate) begun: Receiver<()>,
    pub(crate) ended: Receiver<StoreError>,
}

impl Waiting {
    pub(crate) fn service() -> (ObjectService, Work) {
        let (begins, begun) = channel();
        let (ends, ended) = channel();
        let store = Waiting {
            begun: begins,
            ended: ends,
        };
        (service(Arc::new(store)), Work { begun, ended })
    }
}

#[async_trait]
impl GraphStore for Waiting {
    async fn select(
        &self,
        _selection: &Selection,
        context: &CallContext,
    ) -> Result<Objects, StoreError> {
        // The test may have seen enough.
        let _ = self.begun.send(());
        while context.check().is_ok() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let ended =
            |context: &CallContext| StoreError::from(context.check().expect_err("it has ended"));
        let _ = self.ended.send(ended(context));
        Err(ended(context))
    }

    async fn hydrate(
        &self,
        _request: &HydrationRequest<'_>,
        _context: &CallContext,
    ) -> Result<Hydrated, StoreError> {
        Err(StoreError::Unsupported("nothing is selected".to_owned()))
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        Some(self)
    }

    async fn probe(&self, _context: &CallContext) -> Result<StoreInfo, StoreError> {
        Err(StoreError::Unsupported("it only waits".to_owned()))
    }
}

impl LocalStore for Waiting {}
