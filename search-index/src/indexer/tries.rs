//! How often something is tried again, and whether that is of use.

use call_context::CallError;
use graph_store::CallContext;

use super::error::IndexerError;
use super::fill::wait;
use super::options::IndexerOptions;
use super::progress::{Progress, Setback};
use crate::engine::{IndexCondition, PhysicalName, SearchEngine};

/// What says how often a run tries something again, and who hears of it.
#[derive(Clone, Copy)]
pub(super) struct Clock<'c> {
    pub(super) options: &'c IndexerOptions,
    pub(super) progress: &'c Progress,
    pub(super) context: &'c CallContext,
}

/// How often something was tried.
pub(super) struct Tries<'t> {
    clock: Clock<'t>,
    number: u32,
}

/// An index that is being built.
#[derive(Clone, Copy)]
pub(super) struct Building<'b> {
    pub(super) engine: &'b dyn SearchEngine,
    /// The GraphQL name of the object.
    pub(super) object: &'b str,
    pub(super) name: &'b PhysicalName,
}

impl<'t> Tries<'t> {
    pub(super) fn new(clock: Clock<'t>) -> Self {
        Tries { clock, number: 0 }
    }

    /// Returns whether it is not to be tried again.
    pub(super) fn are_over(&self) -> bool {
        self.number >= self.clock.options.max_retries
    }

    /// Waits until it is tried again, and says why meanwhile.
    pub(super) async fn pause(&mut self, setback: Setback) -> Result<(), CallError> {
        let delay = self.clock.options.delay(self.number);
        let is_first = self.number == 0;
        self.number = self.number.saturating_add(1);
        let tries = self.number;
        self.clock
            .progress
            .failed(is_first, Setback { tries, ..setback });
        wait(delay, self.clock.context).await
    }
}

impl Drop for Tries<'_> {
    fn drop(&mut self) {
        if self.number > 0 {
            self.clock.progress.is_over();
        }
    }
}

impl Building<'_> {
    /// Fails if the engine lost a part of the index, or if it is the `last` time and it does not have all
    /// of it.
    pub(super) async fn check(self, last: bool, context: &CallContext) -> Result<(), IndexerError> {
        let (reason, is_lost) = match self.engine.condition(self.name, context).await {
            Ok(IndexCondition::Lost(reason)) => (reason, true),
            Ok(IndexCondition::Waiting(reason)) if last => (reason, false),
            // An engine that does not say is asked for the thing itself.
            Ok(IndexCondition::Waiting(_) | IndexCondition::Available) | Err(_) => return Ok(()),
        };
        Err(IndexerError::Shards {
            object: self.object.to_owned(),
            index: self.name.clone(),
            reason,
            is_lost,
        })
    }
}
