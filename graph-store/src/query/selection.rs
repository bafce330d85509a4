//! Which objects a root field returns, and in which order.

use std::sync::Arc;

use oxrdf::NamedNode;
use soml_core::datatype::Scalar;
use soml_core::lang::LangSpec;

use super::condition::{NodeCondition, Step, TypeGuard, TypeTest};
use super::type_index::TypeIndex;
use crate::value::{LiteralKey, LiteralTypes};

/// The dataset that a request reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dataset {
    /// Exactly these graphs; `None` reads the union of all.
    pub graphs: Option<Vec<NamedNode>>,
    /// Also reads inferred statements, if the store has some.
    pub include_inferred: bool,
    /// Treats nodes that are `owl:sameAs` each other as one, if the store can.
    pub expand_same_as: bool,
}

impl Default for Dataset {
    /// The whole dataset of the store.
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
    /// Condition on the objects; includes the type test.
    pub condition: NodeCondition,
    /// Sort keys; the IRI breaks ties. If empty, pages are in IRI order and whole lists in any
    /// order.
    pub order: Vec<OrderKey>,
    /// The page of the ordered objects to return.
    pub page: Page,
    /// The graphs to read.
    pub dataset: Dataset,
}

/// A page of an ordered list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Page {
    /// How many to skip, if given; an explicit 0 requests the order of a page.
    pub offset: Option<u64>,
    /// Maximum number to return; all if absent.
    pub limit: Option<u64>,
}

impl Page {
    /// Returns whether the page is the whole list.
    #[must_use]
    pub fn is_whole(self) -> bool {
        self.offset.is_none() && self.limit.is_none()
    }

    /// Returns the range of indices of the page in a list of `length` elements.
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
    /// Ways to the value that is compared. An object takes the first one whose guards it and the
    /// objects on the way pass; where that one leads to nothing, or there is none, it has no value.
    pub ways: Vec<OrderWay>,
    /// Greatest first.
    pub descending: bool,
}

impl OrderKey {
    /// Creates a key that takes the same way from every object.
    #[must_use]
    pub fn new(path: Vec<OrderStep>, by: SortBy, descending: bool) -> Self {
        OrderKey {
            ways: vec![OrderWay { path, by }],
            descending,
        }
    }
}

/// A way of an [`OrderKey`] from objects to the value that is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderWay {
    /// From the object to the value that is compared, through single-valued properties.
    pub path: Vec<OrderStep>,
    /// The value to compare at the end of the path.
    pub by: SortBy,
}

/// A step of an [`OrderWay`]: the field takes the smallest of the values that pass all tests and that
/// the guard admits.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderStep {
    /// The objects that the step is for; `None` for all.
    pub of: Option<TypeGuard>,
    /// From an object to its values.
    pub step: Step,
    /// Types that objects must have for the field to display them.
    pub tests: Vec<TypeTest>,
    /// Which of these objects the field displays; `None` for all.
    pub displayed: Option<TypeGuard>,
}

impl OrderStep {
    /// Creates a step that is for every object and leads to all its values.
    #[must_use]
    pub fn new(step: Step) -> Self {
        OrderStep {
            of: None,
            step,
            tests: Vec::new(),
            displayed: None,
        }
    }
}

/// What an [`OrderWay`] compares: what the single-valued field at the end of the path shows.
#[derive(Clone, Debug, PartialEq)]
pub enum SortBy {
    /// The IRI of the node.
    Iri,
    /// The GraphQL type name of the node.
    TypeName(Arc<TypeIndex>),
    /// A string that is the same for all nodes.
    Constant(String),
    /// The value of a scalar property.
    Scalar {
        /// The scalar.
        scalar: Scalar,
        /// Casts values from their lexical form if their datatype differs.
        cast: bool,
        /// Which language variant of a string is displayed; `None` displays any.
        lang: Option<LangSpec>,
    },
    /// The value of an enumeration.
    Enum {
        /// The names of the enumeration.
        names: Vec<String>,
        /// Accepts names from literals of any datatype.
        cast: bool,
    },
    /// A part of a literal.
    Literal {
        /// The part.
        part: LiteralKey,
        /// Which language variant is displayed; `None` displays any.
        lang: Option<LangSpec>,
        /// Which literals are well typed.
        types: LiteralTypes,
    },
}
