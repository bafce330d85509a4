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
pub use names::{normalized, segments};
pub use property::{Alias, Asks, Named, Numbered, Part, Planned, Property, ValueKind};
pub use setting::Setting;
pub use sources::{Read, Sources, read};
