//! The edge as its clients and the services behind it see it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod faults;
mod rates;
mod routing;
mod streams;
mod support;
mod tokens;
