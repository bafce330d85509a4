//! A SPARQL endpoint in the same process: it gets the text of queries, as a server would.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use graph_store::remote::{
    EndpointQuery, Rows, SparqlEndpoint, UpdateEndpoint, UpdateError, UpdateSession,
};
use graph_store::{CallContext, StoreError, StoreInfo};
use oxigraph::sparql::{CancellationToken, QueryResults, SparqlEvaluator};
use oxigraph::store::Store;
use spargebra::Update;

/// An endpoint over a store in memory.
pub struct InProcess {
    pub store: Store,
    /// The default graph is the union of all graphs.
    pub is_union: bool,
}

#[async_trait]
impl SparqlEndpoint for InProcess {
    async fn select(
        &self,
        query: EndpointQuery<'_>,
        context: &CallContext,
    ) -> Result<Rows, StoreError> {
        let text = query.query.to_string();
        let token = CancellationToken::new();
        let watch = watch(context.clone(), token.clone());
        let evaluator = SparqlEvaluator::new().with_cancellation_token(token);
        let mut prepared = evaluator
            .parse_query(&text)
            .unwrap_or_else(|error| panic!("not a query: {error}\n{text}"));
        let has_clause = text.contains("FROM <");
        if self.is_union && !has_clause {
            prepared.dataset_mut().set_default_graph_as_union();
        }
        let (store, context) = (self.store.clone(), context.clone());
        // The thread that runs the request must stay free to see the deadline pass.
        let rows = tokio::task::spawn_blocking(move || {
            let failed = |error| match context.check() {
                Err(ended) => ended.into(),
                Ok(()) => StoreError::Failed(Box::new(error)),
            };
            let results = prepared.on_store(&store).execute().map_err(failed)?;
            let QueryResults::Solutions(solutions) = results else {
                panic!("not a SELECT: {text}");
            };
            let width = solutions.variables().len();
            let mut terms = Vec::new();
            for solution in solutions {
                let solution = solution.map_err(failed)?;
                terms.extend((0..width).map(|column| solution.get(column).cloned()));
            }
            Ok(Rows { width, terms })
        });
        let rows = rows.await.expect("a query does not panic");
        watch.abort();
        rows
    }

    async fn probe(&self, _context: &CallContext) -> Result<StoreInfo, StoreError> {
        Ok(StoreInfo {
            provider: "in-process".to_owned(),
            statements: None,
            ..StoreInfo::default()
        })
    }
}

/// What becomes of an update whose answer is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// It is executed.
    After,
    /// It is not executed.
    Before,
    /// It is executed when someone calls [`Updates::arrive`].
    Late,
    /// It is not executed, and nothing is from then on.
    Down,
}

/// Updates of a store in this process, whose answers can be lost.
#[derive(Clone)]
pub struct Updates {
    store: Store,
    loss: Arc<Mutex<Option<Loss>>>,
    late: Arc<Mutex<Vec<String>>>,
    is_down: Arc<AtomicBool>,
    /// The pattern of an update is evaluated before others have written.
    is_torn: Arc<AtomicBool>,
}

impl Updates {
    pub fn new(store: Store) -> Self {
        Updates {
            store,
            loss: Arc::default(),
            late: Arc::default(),
            is_down: Arc::default(),
            is_torn: Arc::default(),
        }
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Makes the endpoint one that evaluates patterns before it waits for its turn to write.
    pub fn tear(&self) {
        self.is_torn.store(true, Ordering::SeqCst);
    }

    /// Loses the answer to the next update.
    pub fn lose(&self, loss: Loss) {
        *self.loss.lock().expect("nobody panics") = Some(loss);
    }

    /// Returns whether nothing is executed any more.
    pub fn is_down(&self) -> bool {
        self.is_down.load(Ordering::SeqCst)
    }

    /// Executes what is late.
    pub fn arrive(&self) {
        for text in self.late.lock().expect("nobody panics").drain(..) {
            execute(&self.store, &text);
        }
    }
}

fn execute(store: &Store, text: &str) {
    let parsed = SparqlEvaluator::new()
        .parse_update(text)
        .unwrap_or_else(|error| panic!("not an update: {error}\n{text}"));
    parsed.on_store(store).execute().expect("an update works");
}

impl UpdateEndpoint for Updates {
    fn session(&self) -> Arc<dyn UpdateSession> {
        Arc::new(self.clone())
    }
}

#[async_trait]
impl SparqlEndpoint for Updates {
    async fn select(
        &self,
        query: EndpointQuery<'_>,
        context: &CallContext,
    ) -> Result<Rows, StoreError> {
        if self.is_down.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable("it is down".into()));
        }
        let reader = InProcess {
            store: self.store.clone(),
            is_union: false,
        };
        reader.select(query, context).await
    }

    async fn probe(&self, _context: &CallContext) -> Result<StoreInfo, StoreError> {
        Ok(StoreInfo {
            provider: "in-process".to_owned(),
            statements: None,
            ..StoreInfo::default()
        })
    }
}

#[async_trait]
impl UpdateSession for Updates {
    async fn update(&self, update: &Update, _context: &CallContext) -> Result<(), UpdateError> {
        let lost = || UpdateError::Unknown(StoreError::Unavailable("no answer".into()));
        if self.is_down.load(Ordering::SeqCst) {
            return Err(lost());
        }
        let text = update.to_string();
        let loss = self.loss.lock().expect("nobody panics").take();
        match loss {
            None | Some(Loss::After) => {
                let store = self.store.clone();
                let is_torn = self.is_torn.load(Ordering::SeqCst);
                if is_torn {
                    let copy = Store::new().expect("a store in memory");
                    let quads = store.iter().map(|quad| quad.expect("a quad"));
                    copy.extend(quads).expect("a store in memory");
                    execute(&copy, &text);
                    // Those that race with it in the same task begin.
                    tokio::task::yield_now().await;
                    let quads = copy.iter().map(|quad| quad.expect("a quad"));
                    store.extend(quads).expect("a store in memory");
                    return Ok(());
                }
                let done = tokio::task::spawn_blocking(move || execute(&store, &text));
                done.await.expect("an update does not panic");
            }
            Some(Loss::Before) => {}
            Some(Loss::Late) => self.late.lock().expect("nobody panics").push(text),
            Some(Loss::Down) => self.is_down.store(true, Ordering::SeqCst),
        }
        if loss.is_some() { Err(lost()) } else { Ok(()) }
    }
}

/// Cancels a query when no one waits for it any more.
fn watch(context: CallContext, token: CancellationToken) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        let ended = context.cancellation.cancelled();
        match context.deadline {
            None => ended.await,
            Some(deadline) => {
                let _ = tokio::time::timeout_at(deadline.into(), ended).await;
            }
        }
        token.cancel();
    })
}
