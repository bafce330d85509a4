//! Several instances of a search service that share a store of schemas.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod builders;
mod follow;
mod gate;
mod roles;
mod searches;
mod world;
