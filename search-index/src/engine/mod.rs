//! What searches run on: a trait, and the typed answers of an engine.
//!
//! An engine holds physical indexes and aliases of them. It knows nothing of GraphQL or RDF: it is given
//! [definitions](crate::mapping::IndexDefinition), [documents](crate::document::Document) as JSON, and
//! [searches](crate::dsl::Search), and it answers with hits whose sources are bytes.

mod answer;
mod error;
mod index;
mod traits;

pub use answer::{AggregationAnswer, AggregationContent, Answer, Bucket, Hit, Total};
pub use error::EngineError;
#[cfg(feature = "embedded")]
pub(crate) use index::lenient;
pub use index::{
    Age, Binding, Built, BulkOperation, DataPosition, IndexCondition, IndexState, Mark,
    PhysicalName, Refusal, Rejected, Switch, index_behind,
};
pub use traits::{Engine, EngineHealth, EngineInfo, HealthLevel, IndexHealth, SearchEngine};
