//! What is recorded of an operation once it has ended: metrics, and a line in the log if it took long.
//!
//! The line has no value of the client: the hash of the document says which it was, and its literals and variables stay
//! unsaid.

use std::sync::Arc;
use std::time::{Duration, Instant};

use apollo_compiler::ast::{self, OperationType};
use apollo_compiler::parser::Parser;
use futures::StreamExt;
use graphql_service::{
    Event, Limits, MemoryAccount, Outcome, Replies, Reply, Request, RequestContext, Response, Size,
    Slots, Tally,
};
use service_metrics::{OperationKind, OperationMetrics, OperationOutcome};
use tracing::Instrument;

use crate::persisted::hash;

/// Characters of the name of an operation that are logged.
const LOGGED: usize = 128;

/// Records of operations. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct OperationRecords {
    /// Where durations and errors are counted.
    pub metrics: Option<Arc<OperationMetrics>>,
    /// The duration from which on an operation is logged as slow.
    pub slow: Option<Duration>,
}

impl OperationRecords {
    /// Begins an operation. What is noted of it meanwhile is found by the context.
    pub(crate) fn begin(
        &self,
        request: &Request,
        context: &mut RequestContext,
    ) -> Option<Recording> {
        if self.metrics.is_none() && self.slow.is_none() {
            return None;
        }
        let tally = Arc::new(Tally::default());
        context.call.tally = Some(Arc::clone(&tally));
        let named = self.slow.and_then(|_| Named::of(request, &context.memory));
        Some(Recording {
            records: self.clone(),
            begun: Instant::now(),
            tally,
            named,
        })
    }

    /// Counts the errors of a request that came to no operation.
    pub(crate) fn count(&self, reply: &Reply) {
        if let Some(metrics) = &self.metrics {
            for (code, count) in reply.codes() {
                metrics.errors(code.as_str(), count);
            }
        }
    }

    /// Counts the errors of events.
    pub(crate) fn counted(&self, replies: Replies) -> Replies {
        match (replies, &self.metrics) {
            (Replies::Several(events), Some(_)) => {
                let records = self.clone();
                let counted = events.inspect(move |event| match event {
                    Event::Next(reply) => records.count(reply),
                    Event::Error(errors) => records.count_each(errors),
                });
                Replies::Several(counted.boxed())
            }
            (replies, _) => replies,
        }
    }

    fn count_each(&self, errors: &[graphql_service::GraphqlError]) {
        for error in errors {
            if let Some(metrics) = &self.metrics {
                metrics.errors(error.code.as_str(), 1);
            }
        }
    }
}

/// An operation that runs.
pub(crate) struct Recording {
    records: OperationRecords,
    begun: Instant,
    tally: Arc<Tally>,
    /// By what the operation is known in the log.
    named: Option<Named>,
}

/// What is left of a request for the log.
struct Named {
    document: String,
    operation: Option<String>,
    memory: Arc<MemoryAccount>,
}

impl Named {
    /// Keeps the document of a request as long as its memory allows.
    fn of(request: &Request, memory: &Arc<MemoryAccount>) -> Option<Self> {
        memory.grow(request.query.len()).ok()?;
        Some(Named {
            document: request.query.clone(),
            operation: request.operation_name.clone(),
            memory: Arc::clone(memory),
        })
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        self.memory.shrink(self.document.len());
    }
}

impl Recording {
    /// Records an operation with its response.
    pub(crate) fn end(self, response: &Response, slots: &Arc<Slots>, limits: &Limits) {
        let outcome = match response.outcome {
            Outcome::Executed if response.codes.is_empty() => OperationOutcome::Executed,
            Outcome::Executed => OperationOutcome::WithErrors,
            Outcome::RequestError => OperationOutcome::Refused,
            Outcome::Overloaded => OperationOutcome::Overloaded,
        };
        if let Some(metrics) = &self.records.metrics {
            for (code, count) in &response.codes {
                metrics.errors(code.as_str(), *count);
            }
        }
        self.ended(outcome, response.body.len(), slots, limits);
    }

    /// Records an operation that has begun to send several replies, or has a single one.
    pub(crate) fn begun(self, replies: &Replies, slots: &Arc<Slots>, limits: &Limits) {
        let outcome = match replies {
            Replies::Several(_) => OperationOutcome::Executed,
            Replies::One(Reply::Refused(_)) => OperationOutcome::Refused,
            Replies::One(Reply::Overloaded(_)) => OperationOutcome::Overloaded,
            Replies::One(Reply::Executed(answer)) if !answer.errors.is_empty() => {
                OperationOutcome::WithErrors
            }
            Replies::One(_) => OperationOutcome::Executed,
        };
        let bytes = match replies {
            Replies::One(reply) => {
                self.records.count(reply);
                bytes_of(reply)
            }
            Replies::Several(_) => 0,
        };
        self.ended(outcome, bytes, slots, limits);
    }

    fn ended(self, outcome: OperationOutcome, bytes: usize, slots: &Arc<Slots>, limits: &Limits) {
        let taken = self.begun.elapsed();
        let kind = OperationKind::of_number(self.tally.kind());
        if let Some(metrics) = &self.records.metrics {
            metrics.record(kind, outcome, taken);
        }
        if self.records.slow.is_some_and(|slow| taken >= slow) {
            if let Some(metrics) = &self.records.metrics {
                metrics.slow();
            }
            let slow = Slow {
                kind,
                outcome,
                bytes,
                taken,
                calls: self.tally.calls(),
            };
            slow.log(self.named, slots, limits);
        }
    }
}

fn bytes_of(reply: &Reply) -> usize {
    match reply {
        Reply::Executed(answer) => answer.data.len(),
        _ => 0,
    }
}

/// An operation that took long.
struct Slow {
    kind: OperationKind,
    outcome: OperationOutcome,
    bytes: usize,
    taken: Duration,
    calls: u64,
}

impl Slow {
    /// Logs it. A long document is read in a slot, which no one waits for.
    fn log(self, named: Option<Named>, slots: &Arc<Slots>, limits: &Limits) {
        let Some(named) = named else {
            return self.line(None);
        };
        let size = Size::Text(named.document.len());
        let limits = limits.clone();
        let line = move || self.line(Some((&named, &limits)));
        if size.is_short() {
            return line();
        }
        let slots = Arc::clone(slots);
        let span = tracing::Span::current();
        let logging = async move {
            let span = tracing::Span::current();
            // Where there is no slot, as little is said of it as of anything else then.
            let _ = slots
                .run_sized(size, None, move || span.in_scope(line))
                .await;
        };
        tokio::spawn(logging.instrument(span));
    }

    fn line(self, named: Option<(&Named, &Limits)>) {
        let Slow {
            kind,
            outcome,
            bytes,
            taken,
            calls,
        } = self;
        let sha256 = named.map(|(named, _)| hash(&named.document));
        let found = named.and_then(|(named, limits)| {
            operation(limits, &named.document, named.operation.as_deref())
        });
        let (found_type, name) = found.unzip();
        let name = name.flatten();
        let name: Option<String> = name.map(|name| name.chars().take(LOGGED).collect());
        let operation_type = match (kind, found_type) {
            (OperationKind::Query, _) | (_, Some(OperationType::Query)) => Some("query"),
            (OperationKind::Mutation, _) | (_, Some(OperationType::Mutation)) => Some("mutation"),
            (OperationKind::Subscription, _) | (_, Some(OperationType::Subscription)) => {
                Some("subscription")
            }
            _ => None,
        };
        let ms = u64::try_from(taken.as_millis()).unwrap_or(u64::MAX);
        tracing::warn!(
            sha256,
            operation = name,
            operation_type,
            ?outcome,
            ms,
            calls,
            bytes,
            "slow operation"
        );
    }
}

/// Returns type and name of the operation that a document would run; what is wrong with it is left for the service to say.
pub(crate) fn operation(
    limits: &Limits,
    document: &str,
    wanted: Option<&str>,
) -> Option<(OperationType, Option<String>)> {
    let parsed = Parser::new()
        .recursion_limit(limits.depth.saturating_mul(4))
        .token_limit(limits.tokens)
        .parse_ast(document, "query.graphql");
    let document = parsed.unwrap_or_else(|errors| errors.partial);
    let mut operations = document
        .definitions
        .iter()
        .filter_map(|definition| match definition {
            ast::Definition::OperationDefinition(operation) => Some(operation),
            _ => None,
        });
    let operation = operations.find(|operation| {
        wanted.is_none_or(|name| operation.name.as_ref().is_some_and(|n| n.as_str() == name))
    })?;
    let name = operation.name.as_ref().map(|name| name.as_str().to_owned());
    Some((operation.operation_type, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_found_by_its_name() {
        let found =
            |wanted| operation(&Limits::default(), "query A { a } mutation B { b }", wanted);
        assert_eq!(
            found(None),
            Some((OperationType::Query, Some("A".to_owned())))
        );
        assert_eq!(
            found(Some("B")),
            Some((OperationType::Mutation, Some("B".to_owned())))
        );
        assert_eq!(found(Some("C")), None);
        let malformed = operation(&Limits::default(), "nonsense", None);
        assert_eq!(malformed, None);
    }
}
