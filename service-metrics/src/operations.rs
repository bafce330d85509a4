//! GraphQL operations of a service, and their errors.

use std::sync::OnceLock;
use std::time::Duration;

use metrics::{Counter, Histogram, SharedString};

use crate::table::{ERRORS, OPERATION_DURATION, OTHER, SLOW_OPERATIONS};

/// The type of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OperationKind {
    /// Unknown, since the request was refused before.
    #[default]
    Unknown,
    /// A query.
    Query,
    /// A mutation.
    Mutation,
    /// A subscription.
    Subscription,
}

impl OperationKind {
    /// Returns the kind as a number, which [`OperationKind::of_number`] takes.
    #[must_use]
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Returns the kind of a number.
    #[must_use]
    pub fn of_number(number: u8) -> Self {
        match number {
            1 => OperationKind::Query,
            2 => OperationKind::Mutation,
            3 => OperationKind::Subscription,
            _ => OperationKind::Unknown,
        }
    }
}

const KINDS: [&str; 4] = [OTHER, "query", "mutation", "subscription"];

/// What became of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OperationOutcome {
    /// Executed, without any error.
    Executed,
    /// Executed, and there are errors.
    WithErrors,
    /// Refused before execution.
    Refused,
    /// Given up for lack of room.
    Overloaded,
}

const OUTCOMES: [&str; 4] = ["executed", "executed_with_errors", "refused", "overloaded"];

/// Records the operations of one service.
pub struct OperationMetrics {
    service: SharedString,
    /// Series are there once there is something to record.
    durations: [[OnceLock<Histogram>; OUTCOMES.len()]; KINDS.len()],
    slow: Counter,
}

impl OperationMetrics {
    /// Records for the service of a name.
    #[must_use]
    pub fn new(service: impl Into<SharedString>) -> Self {
        let service = service.into();
        OperationMetrics {
            durations: Default::default(),
            slow: SLOW_OPERATIONS.counter([service.clone()]),
            service,
        }
    }

    /// Records an operation that has ended.
    pub fn record(&self, kind: OperationKind, outcome: OperationOutcome, taken: Duration) {
        let (kind, outcome) = (kind as usize, outcome as usize);
        let duration = self.durations[kind][outcome].get_or_init(|| {
            let labels = [KINDS[kind].into(), OUTCOMES[outcome].into()];
            OPERATION_DURATION.histogram([self.service.clone()].into_iter().chain(labels))
        });
        duration.record(taken);
    }

    /// Counts errors with a code, which must be one of a table.
    pub fn errors(&self, code: &'static str, count: u64) {
        let counter = ERRORS.counter([self.service.clone(), code.into()]);
        counter.increment(count);
    }

    /// Counts an operation that took long.
    pub fn slow(&self) {
        self.slow.increment(1);
    }
}

impl std::fmt::Debug for OperationMetrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OperationMetrics")
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}
