//! Aggregates: what to count, compare, add up and group.

mod build;
mod having;

use std::sync::Arc;

use graph_store::query::{Comparison, Page};
use graph_store::value::LiteralTypes;
use graphql_gen::typesystem::sum_and_average;
use graphql_service::error::Location;
use oxrdf::Term;
use soml_core::datatype::Scalar;
use soml_core::lang::LangSpec;
use soml_core::schema::{EnumId, ObjectId};

use super::{RootObjects, ScalarKind};

/// The aggregate of a root field.
#[derive(Clone, Debug)]
pub(crate) struct RootAggregate {
    /// Which objects, and the level of their values.
    pub(crate) objects: RootObjects,
    /// What to compute over all of them.
    pub(crate) aggregation: Arc<Aggregation>,
}

/// What to compute over some objects.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Aggregation {
    /// The aggregated values; fields and groups refer to them by position.
    pub(crate) values: Vec<AggregatedValues>,
    /// Fields of the answer.
    pub(crate) fields: Vec<AggregateField>,
}

impl Aggregation {
    /// Returns whether only the number of objects is requested.
    #[must_use]
    pub(crate) fn is_count(&self) -> bool {
        self.values.is_empty()
    }
}

/// Values of one property of each object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AggregatedValues {
    /// Name of the field that displays them.
    pub(crate) name: String,
    /// Position in [`super::Level::slots`].
    pub(crate) slot: usize,
    /// Their kind.
    pub(crate) kind: AggregatedKind,
    /// Casts values from their lexical form if their datatype differs.
    pub(crate) cast: bool,
    /// Which language variants of strings are included.
    pub(crate) lang: Option<LangSpec>,
    /// Of several values of an object, only the one that the field displays is included.
    pub(crate) single: bool,
    /// The values of objects whose types store the property differently, with those types.
    pub(crate) otherwise: Vec<(Vec<ObjectId>, AggregatedValues)>,
}

/// The kind of aggregated values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AggregatedKind {
    /// Values of a scalar.
    Scalar(Scalar),
    /// Values of an enumeration.
    Enum(EnumId),
    /// Literals.
    Literal(LiteralTypes),
    /// Objects, by their ids.
    Object,
}

impl AggregatedKind {
    /// Returns the scalar as which single values are written.
    #[must_use]
    pub(crate) fn scalar(&self) -> Scalar {
        match self {
            AggregatedKind::Scalar(scalar) => *scalar,
            AggregatedKind::Enum(_) | AggregatedKind::Literal(_) => Scalar::String,
            AggregatedKind::Object => Scalar::Iri,
        }
    }

    /// Returns the scalar of a measure of such values; `None` if there is no such measure.
    #[must_use]
    pub(crate) fn scalar_of(&self, measure: Measure) -> Option<Scalar> {
        match (measure, self) {
            (Measure::Count | Measure::CountDistinct, _) => Some(Scalar::Int),
            (Measure::Min | Measure::Max, _) => Some(self.scalar()),
            (Measure::Sum, Self::Scalar(scalar)) => sum_and_average(*scalar).map(|(sum, _)| sum),
            (Measure::Avg, Self::Scalar(scalar)) => sum_and_average(*scalar).map(|(_, avg)| avg),
            (Measure::Sum | Measure::Avg, _) => None,
        }
    }
}

impl From<ScalarKind> for AggregatedKind {
    fn from(kind: ScalarKind) -> Self {
        match kind {
            ScalarKind::Scalar(scalar) => AggregatedKind::Scalar(scalar),
            ScalarKind::Enum(id) => AggregatedKind::Enum(id),
        }
    }
}

/// A field of an aggregate of objects.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AggregateField {
    /// Response key.
    pub(crate) key: String,
    /// Position in the document.
    pub(crate) location: Option<Location>,
    /// Its content.
    pub(crate) part: AggregatePart,
}

/// The content of a field of an aggregate of objects.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AggregatePart {
    /// The GraphQL type name.
    TypeName(String),
    /// The number of objects.
    Count,
    /// Measures of the values of a property.
    Values(MeasuredValues),
    /// Groups of the objects.
    Groups(Box<Grouping>),
}

/// Measures of some values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MeasuredValues {
    /// Position in [`Aggregation::values`].
    pub(crate) values: usize,
    /// Response keys, and the content of each.
    pub(crate) fields: Vec<(String, MeasurePart)>,
}

/// A field of measured values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MeasurePart {
    /// The GraphQL type name.
    TypeName(String),
    /// A measure.
    Measure(Measure),
}

/// A measure of some values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// The number of values; equal values of one object count once.
    Count,
    /// The number of distinct values.
    CountDistinct,
    /// The smallest value.
    Min,
    /// The largest value.
    Max,
    /// The sum.
    Sum,
    /// The average.
    Avg,
}

impl Measure {
    /// Finds a measure by the name of its field.
    #[must_use]
    pub(crate) fn from_name(name: &str) -> Option<Measure> {
        Some(match name {
            "count" => Measure::Count,
            "countDistinct" => Measure::CountDistinct,
            "min" => Measure::Min,
            "max" => Measure::Max,
            "sum" => Measure::Sum,
            "avg" => Measure::Avg,
            _ => return None,
        })
    }
}

/// How objects are grouped, and which groups are returned.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Grouping {
    /// The key: positions in [`Aggregation::values`].
    pub(crate) by: Vec<usize>,
    /// Condition on a group.
    pub(crate) having: Having,
    /// Sort keys; the keys of the groups break ties.
    pub(crate) order: Vec<GroupOrder>,
    /// The page of the ordered groups to return.
    pub(crate) page: Page,
    /// Fields of each group.
    pub(crate) fields: Vec<GroupField>,
}

/// A condition on a group. A missing value satisfies no comparison (docs/queries.md, "Aggregates").
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Having {
    /// All hold; true when empty.
    All(Vec<Having>),
    /// At least one holds; false when empty.
    Any(Vec<Having>),
    /// Does not hold.
    Not(Box<Having>),
    /// A measure passes a test.
    Test {
        /// What is tested.
        measured: Measured,
        /// Its scalar, and that of the operands.
        scalar: Scalar,
        /// The test.
        test: HavingTest,
    },
}

/// A test of one measure.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HavingTest {
    /// Compares with a constant.
    Compare(Comparison, Term),
    /// Equals one of the constants.
    In(Vec<Term>),
    /// Equals none of the constants.
    NotIn(Vec<Term>),
}

/// A number or value of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measured {
    /// The number of its objects.
    Objects,
    /// A measure of values: their position in [`Aggregation::values`].
    Values(usize, Measure),
}

/// A key of an order of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GroupOrder {
    /// What is compared.
    pub(crate) by: GroupOrderBy,
    /// Whether the order is descending.
    pub(crate) descending: bool,
}

/// What an order of groups compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupOrderBy {
    /// A part of the key: its position in [`Grouping::by`].
    Key(usize),
    /// A measure.
    Measured(Measured),
}

/// A field of a group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GroupField {
    /// Response key.
    pub(crate) key: String,
    /// Its content.
    pub(crate) part: GroupPart,
}

/// The content of a field of a group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum GroupPart {
    /// The GraphQL type name.
    TypeName(String),
    /// The key of the group.
    Key(Vec<(String, KeyPart)>),
    /// The number of objects.
    Count,
    /// Measures of the values of a property.
    Values(MeasuredValues),
}

/// A field of the key of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyPart {
    /// The GraphQL type name.
    TypeName(String),
    /// A part of the key: its position in [`Grouping::by`].
    Of(usize),
}

/// Measures of the values of a list field of one object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ValueAggregate {
    /// Which values.
    pub(crate) values: AggregatedValues,
    /// Response keys, and the content of each.
    pub(crate) fields: Vec<(String, MeasurePart)>,
}
