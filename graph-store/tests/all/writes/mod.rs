//! Writing to servers: transactions of RDF4J's protocol, and guarded updates.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod contract;
mod isolation;
mod lost;
mod quads;
mod records;
mod wire;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use graph_store::write::{
    ChangeKind, ChangeRecord, ChangedObjects, NewRecord, QuadChange, QuadPattern,
};
use graph_store::{CallContext, GraphStore, StoreError, Transaction};
use oxrdf::{GraphName, Literal, NamedNode, Quad, Term};

use crate::back_end::{Kind, Shared};

/// Makes a test of each function over an endpoint in this process, RDF4J and Fuseki.
macro_rules! over_every_server {
    ($($behaviour:ident)*) => {
        mod in_process {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $behaviour() { super::$behaviour(crate::back_end::Kind::RemoteApart).await; })*
        }
        mod rdf4j {
            $(#[tokio::test(flavor = "multi_thread")]
            #[ignore = "needs a running RDF4J server: scripts/servers.sh start"]
            async fn $behaviour() {
                super::$behaviour(crate::back_end::Kind::Rdf4j { infers: false }).await;
            })*
        }
        mod fuseki {
            $(#[tokio::test(flavor = "multi_thread")]
            #[ignore = "needs a running Fuseki server: scripts/servers.sh start"]
            async fn $behaviour() { super::$behaviour(crate::back_end::Kind::Fuseki).await; })*
        }
    };
}
use over_every_server;

fn node(name: &str) -> NamedNode {
    NamedNode::new(format!("http://e/{name}")).unwrap()
}

fn quad(subject: &str, predicate: &str, object: impl Into<Term>, graph: Option<&str>) -> Quad {
    let graph = graph.map_or(GraphName::DefaultGraph, |graph| node(graph).into());
    Quad::new(node(subject), node(predicate), object, graph)
}

fn text(text: &str) -> Literal {
    Literal::new_simple_literal(text)
}

/// A context whose time is never over, on a busy machine too: a call may wait for those of many other writers.
fn context() -> CallContext {
    CallContext::new().with_timeout(Duration::from_secs(600))
}

/// Returns a record of an attempt that nobody else makes.
fn record() -> NewRecord {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    NewRecord {
        request: format!("attempt {number} of {}", std::process::id()),
        idempotency_key: None,
        digest: String::new(),
        time: SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000),
        changes: vec![ChangedObjects {
            kind: ChangeKind::Updated,
            object_type: "Thing".to_owned(),
            objects: vec![node("a")],
        }],
    }
}

async fn begin(store: &Arc<dyn GraphStore>) -> Box<dyn Transaction> {
    store.writer().unwrap().begin(&context()).await.unwrap()
}

fn about(name: &str) -> QuadPattern {
    QuadPattern::About(node(name))
}

async fn read(transaction: &mut Box<dyn Transaction>, patterns: &[QuadPattern]) -> Vec<Quad> {
    sorted(transaction.quads(patterns, &context()).await.unwrap())
}

fn sorted(mut quads: Vec<Quad>) -> Vec<Quad> {
    quads.sort_by_key(ToString::to_string);
    quads
}

fn change(removed: &[Quad], added: &[Quad]) -> QuadChange {
    QuadChange {
        removed: removed.to_vec(),
        added: added.to_vec(),
    }
}

/// Applies a change and commits it.
async fn commit(
    mut transaction: Box<dyn Transaction>,
    change: QuadChange,
) -> Result<ChangeRecord, StoreError> {
    transaction.apply(change, &context()).await?;
    transaction.commit(record(), &context()).await
}

/// Returns what a new transaction reads.
async fn now(store: &Arc<dyn GraphStore>, patterns: &[QuadPattern]) -> Vec<Quad> {
    let mut transaction = begin(store).await;
    let found = read(&mut transaction, patterns).await;
    transaction.roll_back().await;
    found
}

fn loaded(kind: Kind, quads: &[Quad]) -> Shared {
    let shared = Shared::new(kind);
    shared.load(quads);
    shared
}
