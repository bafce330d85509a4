#![doc = include_str!("../README.md")]

mod assign;
mod catalogue;
mod describe;
mod environment;
mod error;
mod names;
mod nearest;
mod properties;
mod property;
mod setting;
mod sources;

pub use catalogue::{Catalogue, Standard};
pub use error::ConfigError;
pub use names::normalized;
pub use property::{Alias, Asks, Numbered, Part, Planned, Property};
pub use setting::Setting;
pub use sources::{Read, Sources, read};
