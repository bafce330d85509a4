#![doc = include_str!("../README.md")]

mod cache;
mod client;
mod describe;
mod metric;
mod operations;
mod reading;
mod server;
pub mod table;

pub use ::metrics::SharedString;
pub use cache::CacheMetrics;
pub use client::{Call, Peer};
pub use describe::describe;
pub use metric::{Label, Metric, MetricKind, MetricScope};
pub use operations::{OperationKind, OperationMetrics, OperationOutcome};
pub use reading::{Readings, Watch, refresh, watch};
pub use server::{ServerMetrics, ServerRequest};
pub use table::{BOUNDS, METRICS};
