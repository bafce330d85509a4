//! What clients are told when a call ends by the fault of the request or of the service.

use call_context::{CallError, OutOfMemory, SlotError};

use crate::code;
use crate::error::GraphqlError;

impl From<OutOfMemory> for GraphqlError {
    fn from(error: OutOfMemory) -> Self {
        GraphqlError::new(code::OVERLOADED, error.to_string())
    }
}

impl From<SlotError> for GraphqlError {
    fn from(error: SlotError) -> Self {
        let code = match error {
            SlotError::QueueFull => code::OVERLOADED,
            SlotError::Deadline => code::DEADLINE_EXCEEDED,
            _ => return GraphqlError::new(code::INTERNAL, "the service failed"),
        };
        GraphqlError::new(code, error.to_string())
    }
}

impl From<CallError> for GraphqlError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Deadline => {
                GraphqlError::new(code::DEADLINE_EXCEEDED, "the request took too long")
            }
            CallError::Cancelled => GraphqlError::new(code::CANCELLED, error.to_string()),
            CallError::OutOfMemory => OutOfMemory.into(),
            CallError::Overloaded => SlotError::QueueFull.into(),
            _ => GraphqlError::new(code::INTERNAL, "the service failed"),
        }
    }
}
