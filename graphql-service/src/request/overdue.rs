//! What a client is told whose answer does not come in time.

use std::sync::{Mutex, PoisonError};

use crate::code;
use crate::error::GraphqlError;

/// The error that a transport answers with when it stops waiting for a service.
///
/// It is `DEADLINE_EXCEEDED`, unless the service says otherwise. A service does so before it begins what it
/// cannot take back any more, since the client must not believe then that nothing has happened.
///
/// ```
/// use graphql_service::{GraphqlError, RequestContext, code};
///
/// let context = RequestContext::new();
/// assert_eq!(context.overdue.error().code, code::DEADLINE_EXCEEDED);
/// context.overdue.set(GraphqlError::new(code::INTERNAL, "someone should look after it"));
/// assert_eq!(context.overdue.error().code, code::INTERNAL);
/// ```
#[derive(Debug, Default)]
pub struct Overdue(Mutex<Option<GraphqlError>>);

impl Overdue {
    /// Sets the error.
    pub fn set(&self, error: GraphqlError) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }

    /// Makes the error `DEADLINE_EXCEEDED` again: what was begun has ended without effect.
    pub fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Returns the error that was set, if one is.
    #[must_use]
    pub fn said(&self) -> Option<GraphqlError> {
        let said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        said.clone()
    }

    /// Returns the error.
    #[must_use]
    pub fn error(&self) -> GraphqlError {
        let deadline = || GraphqlError::new(code::DEADLINE_EXCEEDED, "the deadline passed");
        self.said().unwrap_or_else(deadline)
    }
}
