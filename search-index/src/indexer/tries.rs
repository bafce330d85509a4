//! How often something is tried again, and whether that is of use.

use std::time::Instant;

use graph_store::{CallContext, StoreError};

use super::error::IndexerError;
use super::fill::wait;
use super::options::IndexerOptions;
use crate::engine::{IndexCondition, PhysicalName, SearchEngine};

/// How often something was tried.
pub(super) struct Tries<'t> {
    options: &'t IndexerOptions,
    context: &'t CallContext,
    begun: Instant,
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
    pub(super) fn new(options: &'t IndexerOptions, context: &'t CallContext) -> Self {
        Tries {
            options,
            context,
            begun: Instant::now(),
            number: 0,
        }
    }

    /// Tells whether it is not to be tried again.
    pub(super) fn are_over(&self) -> bool {
        self.number >= self.options.max_retries || self.begun.elapsed() >= self.options.patience
    }

    /// Waits until it is tried again.
    pub(super) async fn pause(&mut self) -> Result<(), StoreError> {
        wait(self.options.delay(self.number), self.context).await?;
        self.number += 1;
        Ok(())
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
