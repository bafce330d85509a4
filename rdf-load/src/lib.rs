#![doc = include_str!("../README.md")]

mod base;
mod bounds;
mod check;
pub mod code;
mod contexts;
mod directives;
mod documents;
mod dump;
mod files;
mod format;
mod loader;
mod parse;
mod position;
mod refusal;
mod report;
mod sink;
mod source;
mod stand_ins;
mod statements;
mod terms;
mod text;
mod tokens;
mod xml;
mod xml_attributes;
mod xml_literals;
mod xml_tags;

pub use contexts::{ContextFile, NoContextFile};
pub use dump::{DumpFormat, DumpWriter, Packed, UnknownDumpFormat};
pub use files::{DataFiles, data_files};
pub use format::{DataFormat, UnknownFormat};
pub use loader::{LoadObserver, LoadOptions, load_embedded, load_files};
pub use report::{Finding, FindingKind, LoadError, LoadSummary, thousands};
pub use sink::{ImageSink, LoadTarget, Sink};
pub use text::read_text;
