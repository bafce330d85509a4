//! Writing to servers: what changes and guards are as algebra, the change graph, and transactions made of
//! guarded updates.

mod change;
mod gaps;
mod graphs;
mod guard;
mod log;
mod plain;
mod probe;
mod queue;
mod read;
mod read_write_set;
mod terms;

use std::time::Duration;

use call_context::{CallContext, CallError};
pub(super) use change::{BlankQuads, Part, parts, update};
pub(super) use gaps::Gaps;
pub(super) use graphs::Graphs;
pub(super) use log::{Log, opening};
pub(super) use plain::{PlainWriter, not_isolated};
pub use probe::IsolationReport;
use probe::probe_updates;
pub(super) use probe::{claims, fresh_graph, removal, winners};
pub(super) use queue::{Queue, Turn};
pub(super) use read::{Found, PATTERNS, every_quad, malformed, quad, quads_of, rows};
pub(super) use terms::{DotSegments, check_change, check_patterns, data};
use tokio_util::sync::CancellationToken;

use crate::error::StoreError;

/// How long the outcome of a commit is looked for without a deadline.
const LOOKED_FOR: Duration = Duration::from_secs(60);

/// The pause between two attempts to find out the outcome of a commit.
pub(super) const PAUSE: Duration = Duration::from_millis(200);

/// Waits until the deadline or cancellation.
pub(super) async fn within<T>(
    context: &CallContext,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    context.check()?;
    let deadline = async {
        match context.deadline {
            Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        () = context.cancellation.cancelled() => Err(StoreError::Call(CallError::Cancelled)),
        () = deadline => Err(StoreError::Call(CallError::Deadline)),
        work = work => work,
    }
}

/// Returns a context whose deadline is so far away at most.
pub(super) fn sooner(context: &CallContext, time: Duration) -> CallContext {
    let mut sooner = context.clone().with_timeout(time);
    // Without an end, `time` leaves the deadline as it is.
    if let Some(deadline) = context.deadline {
        sooner.deadline = sooner.deadline.map(|end| end.min(deadline));
    }
    sooner
}

/// Returns the context in which a commit is carried out: a client that goes away does not stop it, and
/// there is a deadline.
pub(super) fn to_the_end(context: &CallContext) -> CallContext {
    let context = context.clone().with_cancellation(CancellationToken::new());
    match context.deadline {
        Some(_) => context,
        None => context.with_timeout(LOOKED_FOR),
    }
}
