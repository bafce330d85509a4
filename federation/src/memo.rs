//! The options of the entity memo.

use std::sync::Arc;

/// Whether entities that subgraphs have already returned within an operation are reused.
///
/// An operation can lead to the same entity on several paths. Once a subgraph has resolved fields of it, with the same
/// arguments and without errors, the other paths get what it said, unless the operation is a mutation, or the field or
/// its type has the tag `volatile` (`@tag(name: "volatile")`).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EntityMemo {
    /// Whether anything is taken from what was said.
    pub is_enabled: bool,
    /// Names of subgraphs whose entities are always fetched again.
    pub except: Arc<[String]>,
}

impl Default for EntityMemo {
    fn default() -> Self {
        EntityMemo {
            is_enabled: true,
            except: Arc::default(),
        }
    }
}

impl EntityMemo {
    /// Returns whether a subgraph is not asked again.
    pub(crate) fn is_for(&self, subgraph: &str) -> bool {
        self.is_enabled && !self.except.iter().any(|it| it == subgraph)
    }
}
