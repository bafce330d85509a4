//! Which objects a root field returns, and in which order.

use std::sync::Arc;

use oxrdf::NamedNode;
use soml_core::datatype::Scalar;
use soml_core::lang::LangSpec;

use super::condition::{NodeCondition, Step};
use super::types::TypeIndex;

/// The graphs that a request reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dataset {
    /// Exactly these graphs; `None` reads the union of all.
    pub graphs: Option<Vec<NamedNode>>,
}

/// The objects of a root field.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// What the objects satisfy; includes the type test.
    pub condition: NodeCondition,
    /// Keys of the order; the IRI decides between equals. Empty means by IRI when paged, else any order.
    pub order: Vec<OrderKey>,
    /// The part of the ordered objects that is wanted.
    pub page: Page,
    /// The graphs to read.
    pub dataset: Dataset,
}

/// A part of an ordered list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Page {
    /// How many to skip.
    pub offset: u64,
    /// How many to take at most; all when absent.
    pub limit: Option<u64>,
}

impl Page {
    /// Tells whether the page is the whole list.
    #[must_use]
    pub fn is_whole(self) -> bool {
        self.offset == 0 && self.limit.is_none()
    }

    /// Returns the range of indices that the page takes from a list of `length` elements.
    #[must_use]
    pub fn range(self, length: usize) -> std::ops::Range<usize> {
        let start = usize::try_from(self.offset)
            .unwrap_or(usize::MAX)
            .min(length);
        let limit = self
            .limit
            .map_or(usize::MAX, |l| usize::try_from(l).unwrap_or(usize::MAX));
        start..start.saturating_add(limit).min(length)
    }
}

/// One key of an order of objects.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderKey {
    /// From the object to the value that is compared, through single-valued properties.
    pub path: Vec<Step>,
    /// What is compared at the end of the path.
    pub by: SortBy,
    /// Greatest first.
    pub descending: bool,
}

/// What an [`OrderKey`] compares.
#[derive(Clone, Debug, PartialEq)]
pub enum SortBy {
    /// The IRI of the node.
    Iri,
    /// The GraphQL type name of the node.
    TypeName(Arc<TypeIndex>),
    /// The value of a scalar property.
    Scalar(Scalar),
    /// The value of a scalar property, cast to its datatype.
    Cast(Scalar),
    /// The text of a literal, chosen by a language specification when there is one.
    Text(Option<LangSpec>),
    /// The language tag of a literal.
    Lang,
    /// The datatype of a literal.
    Datatype,
}
