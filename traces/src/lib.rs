//! Spans of requests in all services.
#![cfg_attr(feature = "http", doc = "")]
#![cfg_attr(feature = "http", doc = include_str!("../README.md"))]

#[cfg(feature = "opentelemetry")]
mod context;
#[cfg(feature = "http")]
mod exchange;
mod span;
mod table;

#[cfg(feature = "http")]
pub use exchange::{Exchange, Peer, RequestSpan, Subgraph, inject, record_route, trace_id};
pub use span::{TARGET, operation, plan, record_operation, search};
pub use table::{SPANS, SpanKind, SpanRow};
