//! From a schema to the definitions of its indexes.
//!
//! [`Indexes::new`] makes one [`IndexDefinition`] for each object with `search: {index: yes}`, abstract
//! ones included. It is pure: no engine is asked. A definition is data that every engine follows;
//! [`IndexDefinition::body`] prints it as OpenSearch takes it.
//!
//! # The document of an object
//!
//! - `id` and `type` are keywords: the IRI, and the IRIs of the RDF classes.
//! - Each searchable property is a field under its GraphQL name, indexed as [`index_of`] says.
//! - An object that a property leads to is embedded down to `nestingLevel`: as `nested` where the
//!   property has several values or the object asks for it, else as a plain object. At level 0, and
//!   where an object is met again on its own path, only its `id` is embedded.
//! - What has no field name of its own in GraphQL has one with a `$`, which no property can have:
//!   `mass$exact` is the exact number behind `mass`, `label$en` and `label$keyword` are the English
//!   and the whole values of `label`, and `$shown` holds, unindexed, what answers show where that is
//!   not what is indexed. `$facts` holds what roles go by, where searches obey them, in the form of
//!   [`token`](crate::value::holds_token).

mod analysis;
mod build;
mod definition;
mod finding;
mod json;
mod limits;
mod nesting;
mod number;
mod options;
mod scalar;
mod settings;

pub use analysis::Analyzers;
#[cfg(feature = "opensearch")]
pub(crate) use definition::PATTERN;
pub use definition::{
    Content, Embedded, Field, IndexDefinition, Indexes, LanguageField, Leaf, ObjectFields, Reads,
};
pub(crate) use definition::{FACTS, PREFIX};
pub use finding::{FindingKind, MappingError};
pub use json::{Dialect, MAX_KEYWORD, Owner, fits_keyword};
pub use number::{IndexNumber, NoIndexNumber};
pub use options::MappingOptions;
pub use scalar::{IntegerType, ScalarIndex, index_of};
pub use settings::{IndexSettings, SettingsError};
