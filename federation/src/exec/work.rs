//! Where a plan is carried out: on the async worker while its answers are small, else in slots.
//!
//! Waiting for subgraphs is the worker's business alone. Reading an answer, making the representations of the next
//! request and writing the response take time in proportion to what was answered, so that decides.

use std::pin::pin;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use graphql_service::writer::{AnswerWriter, WriteResult};
use graphql_service::{Reply, Size, SlotError};

use super::run::{Answering, Run};

/// Sends all requests of a plan, and takes in what is answered.
///
/// # Errors
/// When there was no slot for large answers, or the work panicked.
pub(super) async fn requests(mut run: Box<Run>) -> Result<Box<Run>, SlotError> {
    let mut open: FuturesUnordered<Answering> = FuturesUnordered::new();
    loop {
        let mut arrived = Vec::new();
        let mut working = pin!(done(run, |mut run| {
            let answering = run.advance();
            (run, answering)
        }));
        let (advanced, answering) = loop {
            tokio::select! {
                biased;
                advanced = &mut working => break advanced?,
                // Answers go on arriving meanwhile.
                Some(next) = open.next(), if !open.is_empty() => arrived.push(next),
            }
        };
        run = advanced;
        open.extend(answering);
        if arrived.is_empty() {
            match open.next().await {
                Some(next) => arrived.push(next),
                None => return Ok(run),
            }
        }
        run.arrived.extend(arrived);
    }
}

/// Writes the response.
///
/// # Errors
/// When there was no slot for it, or the work panicked.
pub(super) async fn written(
    run: Box<Run>,
    introspect: impl Fn(&str, &mut AnswerWriter<'_>) -> WriteResult + Send + Sync + 'static,
) -> Result<Reply, SlotError> {
    done(run, move |mut run| run.answer(&introspect)).await
}

/// Does work, in a slot if there are large answers.
///
/// # Errors
/// When there was no slot for it, or it panicked.
async fn done<T: Send + 'static>(
    run: Box<Run>,
    work: impl FnOnce(Box<Run>) -> T + Send + 'static,
) -> Result<T, SlotError> {
    let size = Size::Results(run.bytes());
    let slots = Arc::clone(&run.execution.slots);
    let deadline = run.execution.context.call.deadline;
    slots.run_sized(size, deadline, move || work(run)).await
}
