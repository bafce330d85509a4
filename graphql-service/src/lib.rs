#![doc = include_str!("../README.md")]

pub mod body;
mod call;
pub mod code;
pub mod complexity;
pub mod denial;
mod digits;
pub mod document;
pub mod error;
#[cfg(feature = "async-graphql")]
pub mod executor;
mod findings;
mod inputs;
mod introspection;
pub mod limits;
pub mod request;
pub mod response;
pub mod service;
pub mod shorthand;
pub mod stream;
pub mod suggestions;
pub mod writer;

/// The GraphQL library whose types are part of this API.
pub use apollo_compiler;
pub use body::Body;
/// The crate whose deadlines, memory and slots requests carry.
pub use call_context;
pub use call_context::error_codes;
pub use call_context::{
    CallContext, Caller, ErrorCode, MemoryAccount, MemoryBudget, OutOfMemory, Size, Slot,
    SlotError, Slots, Tally, Weight,
};
pub use digits::{Digits, ExactValue};
pub use document::{Document, Documents, Prepared, Refusal};
pub use error::{GraphqlError, Location, PathSegment};
pub use limits::Limits;
pub use request::{
    AWAIT_DATA_SEQUENCE, DATA_SEQUENCE, DataSequences, Forwarded, Freshness, Introspection,
    InvalidSequences, Overdue, Request, RequestContext, RequestError, Sequences,
};
pub use response::{Answer, Outcome, Reply, Response, WriteCounts};
pub use service::Service;
pub use shorthand::Shorthands;
pub use stream::{Event, Replies};
pub use suggestions::MeantFields;
