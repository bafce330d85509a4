#![doc = include_str!("../README.md")]

mod answer;
mod answered;
mod batch;
pub mod body;
pub mod code;
pub mod compression;
mod connection_permit;
mod endpoint;
mod error;
mod forwarding;
mod idempotency;
pub mod negotiate;
mod persisted;
mod records;
pub mod request_id;
mod resources;
mod response_body;
mod sender;
mod sequences;

pub use answered::{Answered, Relayed, Summary};
pub use connection_permit::ConnectionPermit;
pub use endpoint::{
    GraphqlEndpoint, RequestBounds, StreamBounds, Streams, SubscriptionOptions, asks_for_websocket,
};
pub use error::HttpError;
pub use forwarding::Forwarding;
pub use idempotency::IDEMPOTENCY_KEY;
pub use persisted::{PersistedOptions, PersistedQueries, TrustedError, TrustedOptions};
pub use records::OperationRecords;
pub use request_id::RequestId;
pub use resources::Resources;
pub use sender::{Sender, note, sender};
pub use sequences::{AWAIT_DATA_SEQUENCE_HEADER, DATA_SEQUENCE_HEADER};
