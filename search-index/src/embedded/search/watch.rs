//! Looks from time to time whether anyone still waits for a search, and counts its work and memory.

use std::cell::Cell;

use call_context::{CallContext, CallError};

use crate::engine::EngineError;

/// Steps between two looks.
const STEPS: u32 = 1_024;

/// The context of a search, looked at once in a while.
pub(in crate::embedded) struct Watch {
    context: CallContext,
    /// Steps since the last look.
    steps: Cell<u32>,
    /// A look has found that the search must end.
    is_stopped: Cell<bool>,
    /// Memory that is in use.
    used: Cell<usize>,
    /// Memory that the context counts: as much as was in use at most.
    held: Cell<usize>,
}

impl Watch {
    /// Watches a search in whose name the context counts so much memory already.
    pub(in crate::embedded) fn new(context: CallContext, held: usize) -> Self {
        Watch {
            context,
            steps: Cell::new(0),
            is_stopped: Cell::new(false),
            used: Cell::new(0),
            held: Cell::new(held),
        }
    }

    /// Returns how much memory the context counts in the name of the search.
    pub(in crate::embedded) fn held(&self) -> usize {
        self.held.get()
    }

    /// Counts a step of less than a microsecond or so.
    ///
    /// # Errors
    /// When the deadline has passed, the request was cancelled, or the meter of the context has run out.
    pub(in crate::embedded) fn step(&self) -> Result<(), EngineError> {
        self.steps(1)
    }

    /// Counts several steps.
    ///
    /// # Errors
    /// Those of [`Watch::step`].
    pub(in crate::embedded) fn steps(&self, steps: usize) -> Result<(), EngineError> {
        if self.goes_on(steps) {
            Ok(())
        } else {
            self.outcome()
        }
    }

    /// Counts steps where no error can be returned, and returns whether to go on. Whoever does not goes on to
    /// [`Watch::outcome`].
    pub(in crate::embedded) fn goes_on(&self, steps: usize) -> bool {
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        let steps = self.steps.get().saturating_add(steps);
        if steps < STEPS {
            self.steps.set(steps);
            return !self.is_stopped.get();
        }
        self.steps.set(0);
        let lives = self.context.spend(steps).is_ok();
        self.is_stopped.set(!lives || self.is_stopped.get());
        lives
    }

    /// Returns whether the search must end.
    pub(in crate::embedded) fn is_stopped(&self) -> bool {
        self.is_stopped.get()
    }

    /// Returns why the search must end, if it must.
    ///
    /// # Errors
    /// Those of [`Watch::step`].
    pub(in crate::embedded) fn outcome(&self) -> Result<(), EngineError> {
        if !self.is_stopped.get() {
            return Ok(());
        }
        self.context.spend(0)?;
        Err(CallError::Cancelled.into())
    }

    /// Looks now.
    pub(in crate::embedded) fn check(&self) -> Result<(), CallError> {
        self.context.spend(self.steps.replace(0))
    }

    /// Counts memory that the search needs.
    ///
    /// # Errors
    /// When there is none.
    pub(in crate::embedded) fn hold(&self, bytes: usize) -> Result<(), EngineError> {
        let used = self.used.get().saturating_add(bytes);
        let more = used.saturating_sub(self.held.get());
        self.context.hold(more)?;
        self.used.set(used);
        self.held.set(self.held.get().max(used));
        Ok(())
    }

    /// Returns how much memory is in use.
    pub(in crate::embedded) fn used(&self) -> usize {
        self.used.get()
    }

    /// Takes memory that is no longer in use for what needs some next. It stays counted until the search ends.
    pub(in crate::embedded) fn reuse(&self, bytes: usize) {
        self.used.set(self.used.get().saturating_sub(bytes));
    }
}
