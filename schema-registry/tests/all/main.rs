//! Behaviours of all stores of schemas.

mod local;
#[cfg(feature = "mongodb")]
mod mongodb_fake;
#[cfg(feature = "mongodb")]
mod mongodb_server;
#[cfg(feature = "mongodb")]
mod mongodb_wire;
