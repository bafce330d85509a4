#![doc = include_str!("../README.md")]

pub mod check;
pub mod classes;
pub mod infer;
mod queries;
mod rows;
