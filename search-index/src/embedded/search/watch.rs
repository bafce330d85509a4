//! Looks from time to time whether anybody still waits for a search.

use std::cell::Cell;

use graph_store::{CallContext, StoreError};

use crate::engine::EngineError;

/// Steps between two looks.
const STEPS: u32 = 1_024;

/// The context of a search, looked at once in a while.
pub(in crate::embedded) struct Watch {
    context: CallContext,
    steps: Cell<u32>,
}

impl Watch {
    pub(in crate::embedded) fn new(context: CallContext) -> Self {
        Watch {
            context,
            steps: Cell::new(0),
        }
    }

    /// Counts a step of less than a microsecond or so.
    ///
    /// # Errors
    /// When the deadline has passed or the request was cancelled.
    pub(in crate::embedded) fn step(&self) -> Result<(), EngineError> {
        let steps = self.steps.get() + 1;
        self.steps.set(steps % STEPS);
        if steps == STEPS {
            self.check()?;
        }
        Ok(())
    }

    /// Looks now.
    pub(in crate::embedded) fn check(&self) -> Result<(), StoreError> {
        self.context.check()
    }

    /// Counts memory that the search needs.
    ///
    /// # Errors
    /// When there is none.
    pub(in crate::embedded) fn hold(&self, bytes: usize) -> Result<(), EngineError> {
        Ok(self.context.hold(bytes)?)
    }
}
