#![doc = include_str!("../README.md")]

pub mod build_script;
mod complexity;
mod diagnostics;
pub mod diff;
pub mod error;
mod execute;
pub mod explain;
#[cfg(feature = "oxigraph")]
pub mod infer;
mod introspection;
pub mod limits;
pub mod plan;
pub mod request;
pub mod service;
pub mod sparql;
pub mod store;
pub mod typesystem;
pub mod value;
