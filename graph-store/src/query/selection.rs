//! Which objects a root field returns, and in which order.

use std::sync::Arc;

use oxrdf::NamedNode;
use soml_core::datatype::Scalar;
use soml_core::lang::LangSpec;

use super::condition::{NodeCondition, Step, TypeTest};
use super::type_index::TypeIndex;
use crate::value::{LiteralKey, LiteralTypes};

/// What a request reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dataset {
    /// Exactly these graphs; `None` reads the union of all.
    pub graphs: Option<Vec<NamedNode>>,
    /// Reads inferred statements too, where the store has some.
    pub include_inferred: bool,
    /// Takes nodes that are `owl:sameAs` each other as one, where the store can.
    pub expand_same_as: bool,
}

impl Default for Dataset {
    /// Everything that the store has.
    fn default() -> Self {
        Dataset {
            graphs: None,
            include_inferred: true,
            expand_same_as: true,
        }
    }
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
    /// How many to skip, when that is said; saying 0 asks for the order of a page.
    pub offset: Option<u64>,
    /// How many to take at most; all when absent.
    pub limit: Option<u64>,
}

impl Page {
    /// Tells whether the page is the whole list.
    #[must_use]
    pub fn is_whole(self) -> bool {
        self.offset.is_none() && self.limit.is_none()
    }

    /// Returns the range of indices that the page takes from a list of `length` elements.
    #[must_use]
    pub fn range(self, length: usize) -> std::ops::Range<usize> {
        let start = usize::try_from(self.offset.unwrap_or(0))
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
    pub path: Vec<OrderStep>,
    /// What is compared at the end of the path.
    pub by: SortBy,
    /// Greatest first.
    pub descending: bool,
}

/// A step of an [`OrderKey`]: the field takes the smallest of the values that pass all tests.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderStep {
    /// From an object to its values.
    pub step: Step,
    /// What objects must be instances of to be shown by the field.
    pub tests: Vec<TypeTest>,
}

/// What an [`OrderKey`] compares: what the single-valued field at the end of the path shows.
#[derive(Clone, Debug, PartialEq)]
pub enum SortBy {
    /// The IRI of the node.
    Iri,
    /// The GraphQL type name of the node.
    TypeName(Arc<TypeIndex>),
    /// A text that is the same for all nodes.
    Constant(String),
    /// The value of a scalar property.
    Scalar {
        /// The scalar.
        scalar: Scalar,
        /// Takes values from their text where their datatype does not fit.
        cast: bool,
        /// Which language variant of a string is shown; `None` shows any.
        lang: Option<LangSpec>,
    },
    /// The value of an enumeration.
    Enum {
        /// The names of the enumeration.
        names: Vec<String>,
        /// Takes names from literals of any datatype.
        cast: bool,
    },
    /// A part of a literal.
    Literal {
        /// The part.
        part: LiteralKey,
        /// Which language variant is shown; `None` shows any.
        lang: Option<LangSpec>,
        /// Which literals are well typed.
        types: LiteralTypes,
    },
}
