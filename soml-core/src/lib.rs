#![doc = include_str!("../README.md")]

pub mod access;
mod check;
pub mod codes;
pub mod config;
pub mod datatype;
pub mod diagnostic;
mod json_schema;
mod key_docs;
mod keys;
pub mod lang;
mod load;
mod options;
mod raw;
pub mod rbac;
pub mod report;
mod resolve;
pub mod schema;
pub mod search;
pub mod span;
pub mod value;
pub mod yaml;

pub use codes::Code;
pub use diagnostic::{Diagnostic, Finding, Label, Place, Severity};
pub use json_schema::json_schema;
pub use key_docs::keys_markdown;
pub use load::{Loaded, Valid, load, load_with};
pub use options::LoadOptions;
pub use resolve::iri::is_absolute as is_absolute_iri;
pub use resolve::namespaces::{is_reserved as is_reserved_property, sanitize as graphql_name};
pub use schema::Schema;
