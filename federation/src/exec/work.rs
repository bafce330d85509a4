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

use super::executor::{Executor, ResponseFuture};

/// Sends all requests of a plan, and takes in what is answered.
///
/// # Errors
/// When there was no slot for large answers, or the work panicked.
pub(super) async fn requests(mut executor: Box<Executor>) -> Result<Box<Executor>, SlotError> {
    let mut open: FuturesUnordered<ResponseFuture> = FuturesUnordered::new();
    loop {
        let mut arrived = Vec::new();
        let mut working = pin!(done(executor, |mut executor| {
            let responses = executor.advance();
            (executor, responses)
        }));
        let (advanced, responses) = loop {
            tokio::select! {
                biased;
                advanced = &mut working => break advanced?,
                // Answers go on arriving meanwhile.
                Some(next) = open.next(), if !open.is_empty() => arrived.push(next),
            }
        };
        executor = advanced;
        open.extend(responses);
        if arrived.is_empty() {
            match open.next().await {
                Some(next) => arrived.push(next),
                None => return Ok(executor),
            }
        }
        executor.arrived.extend(arrived);
    }
}

/// Writes the response.
///
/// # Errors
/// When there was no slot for it, or the work panicked.
pub(super) async fn written(
    executor: Box<Executor>,
    introspect: impl Fn(&str, &mut AnswerWriter<'_>) -> WriteResult + Send + Sync + 'static,
) -> Result<Reply, SlotError> {
    done(executor, move |mut executor| executor.answer(&introspect)).await
}

/// Does work, in a slot if there are large answers.
///
/// # Errors
/// When there was no slot for it, or it panicked.
async fn done<T: Send + 'static>(
    executor: Box<Executor>,
    work: impl FnOnce(Box<Executor>) -> T + Send + 'static,
) -> Result<T, SlotError> {
    let size = Size::Results(executor.bytes());
    let slots = Arc::clone(&executor.execution.slots);
    let deadline = executor.execution.context.call.deadline;
    slots
        .run_sized(size, deadline, move || work(executor))
        .await
}
