//! Where the searches of an index go.

use graphql_service::error::GraphqlError;

use crate::code;
use crate::engine::PhysicalName;

/// Where the searches of an index go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchTarget {
    /// To this index.
    Ready(PhysicalName),
    /// Nowhere yet: the first index of the object is being built.
    Building {
        /// Number of documents that are written.
        done: u64,
        /// Number of all documents; `None` until they are counted.
        of: Option<u64>,
    },
    /// Nowhere: there is no index, and none is being built.
    Missing,
}

impl SearchTarget {
    /// Returns the index, or why there is none to search; how many documents there are is not said to whom some are hidden
    /// from.
    pub(super) fn ready(
        &self,
        object: &str,
        hides_some: bool,
    ) -> Result<&PhysicalName, GraphqlError> {
        match self {
            SearchTarget::Ready(name) => Ok(name),
            SearchTarget::Building { done, of } => {
                let message = match of {
                    Some(of) if !hides_some => format!(
                        "the index of {object} is being built: {done} of {of} documents are written"
                    ),
                    _ => format!("the index of {object} is being built"),
                };
                Err(GraphqlError::new(code::INDEX_BUILDING, message))
            }
            SearchTarget::Missing => {
                let message =
                    format!("there is no index of {object}; bind the schema again to build it");
                Err(GraphqlError::new(code::INDEX_MISSING, message))
            }
        }
    }
}
