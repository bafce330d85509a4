#![doc = include_str!("../README.md")]

pub mod address;
pub mod body;
pub mod client;
pub mod retry;
pub mod secret;
pub mod server;
pub mod tls;

pub use address::Addresses;
pub use body::{Body, BodyError};
pub use client::{causes, client};
pub use retry::HttpCodes;
pub use secret::Secret;
pub use server::Server;
