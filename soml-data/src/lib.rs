#![doc = include_str!("../README.md")]

pub mod check;
#[cfg(feature = "oxigraph")]
pub mod infer;
