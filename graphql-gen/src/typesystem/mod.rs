//! The GraphQL type system of a SOML schema.
//!
//! [`Api::new`] turns a valid SOML schema into a validated [`apollo_compiler::Schema`] and keeps what
//! a planner needs to find its way back: which object a GraphQL type stands for, which property a
//! field reads, and which concrete types an interface has. For everything that it generates,
//! [`Api`] knows the [`Origin`]: the object, property or enumeration behind it, and the settings
//! that ask for it. Types are built directly as nodes; no
//! SDL is printed or parsed on the way. Nothing here reads data or knows SPARQL.

mod aggregate;
mod annotate;
mod api;
mod arguments;
mod builtin;
mod connection;
mod deniable;
mod directives;
mod error;
mod federation;
mod fields;
mod generate;
mod hierarchy;
mod inputs;
mod leaf;
mod mutation;
mod nodes;
mod objects;
mod options;
mod origin;
mod prune;
mod query;
mod readable;
mod reserved;
mod roles;
mod row_rules;
mod setting;
mod subgraph;
mod subscription;
mod table;
mod targets;

pub use aggregate::sum_and_average;
pub use api::{Api, Field, RootField, RootKind, TypeRef};
pub use error::{ApiError, ProblemKind};
pub use mutation::{MutationField, Verb};
pub use options::{ApiOptions, FederationMode};
pub use origin::{Origin, Source};
pub use setting::Setting;
