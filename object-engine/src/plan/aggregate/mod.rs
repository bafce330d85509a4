//! Aggregates: what is counted, compared, added up and grouped of some objects or values.

mod build;
mod having;

use graph_store::query::{Comparison, Page};
use graph_store::value::LiteralTypes;
use graphql_gen::typesystem::sum_and_average;
use graphql_service::error::Location;
use oxrdf::Term;
use soml_core::datatype::Scalar;
use soml_core::lang::LangSpec;
use soml_core::schema::EnumId;

use super::{RootObjects, ScalarKind};

/// The aggregate of a root field.
#[derive(Clone, Debug)]
pub struct RootAggregate {
    /// Which objects, and the level of their values.
    pub objects: RootObjects,
    /// What is wanted of them all.
    pub aggregation: Aggregation,
}

/// What is wanted of some objects together.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregation {
    /// The values that take part; fields and groups speak of them by position.
    pub values: Vec<AggregatedValues>,
    /// Fields of the answer.
    pub fields: Vec<AggregateField>,
}

impl Aggregation {
    /// Tells whether the number of the objects is all that is wanted.
    #[must_use]
    pub fn is_count(&self) -> bool {
        self.values.is_empty()
    }
}

/// Values of one property of each object.
#[derive(Clone, Debug, PartialEq)]
pub struct AggregatedValues {
    /// Name of the field that shows them.
    pub name: String,
    /// Position in [`super::Level::slots`].
    pub slot: usize,
    /// What they are.
    pub kind: AggregatedKind,
    /// Takes values from their text where their datatype does not fit.
    pub cast: bool,
    /// Which language variants of texts take part.
    pub lang: Option<LangSpec>,
    /// Of several values of an object only the one that the field shows takes part.
    pub single: bool,
}

/// What aggregated values are.
#[derive(Clone, Debug, PartialEq)]
pub enum AggregatedKind {
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
    /// Returns the scalar by which single values are written.
    #[must_use]
    pub fn scalar(&self) -> Scalar {
        match self {
            AggregatedKind::Scalar(scalar) => *scalar,
            AggregatedKind::Enum(_) | AggregatedKind::Literal(_) => Scalar::String,
            AggregatedKind::Object => Scalar::Iri,
        }
    }

    /// Returns the scalar of a measure of such values; `None` where there is no such measure.
    #[must_use]
    pub fn scalar_of(&self, measure: Measure) -> Option<Scalar> {
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
pub struct AggregateField {
    /// Key in the answer.
    pub key: String,
    /// Place in the document.
    pub location: Option<Location>,
    /// What it gives.
    pub part: AggregatePart,
}

/// What a field of an aggregate of objects gives.
#[derive(Clone, Debug, PartialEq)]
pub enum AggregatePart {
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
pub struct MeasuredValues {
    /// Position in [`Aggregation::values`].
    pub values: usize,
    /// Keys of the answer, and what stands under each.
    pub fields: Vec<(String, MeasurePart)>,
}

/// A field of measured values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeasurePart {
    /// The GraphQL type name.
    TypeName(String),
    /// A measure.
    Measure(Measure),
}

/// A measure of some values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The number of values, equal ones of one object once.
    Count,
    /// The number of different values.
    CountDistinct,
    /// The smallest value.
    Min,
    /// The greatest value.
    Max,
    /// The sum.
    Sum,
    /// The average.
    Avg,
}

impl Measure {
    /// Finds a measure by the name of its field.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Measure> {
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

/// How objects are put into groups, and which of those are wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct Grouping {
    /// What the objects of a group have in common: positions in [`Aggregation::values`].
    pub by: Vec<usize>,
    /// What a group satisfies.
    pub having: Having,
    /// Keys of the order; the keys of the groups decide between equals.
    pub order: Vec<GroupOrder>,
    /// The part of the ordered groups that is wanted.
    pub page: Page,
    /// Fields of each group.
    pub fields: Vec<GroupField>,
}

/// A condition on a group. What has no value satisfies no comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum Having {
    /// Every one holds; of nothing: true.
    All(Vec<Having>),
    /// Some one holds; of nothing: false.
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
pub enum HavingTest {
    /// Compares with a constant.
    Compare(Comparison, Term),
    /// Equals one of the constants.
    In(Vec<Term>),
    /// Equals none of the constants.
    NotIn(Vec<Term>),
}

/// A number or value that a group has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measured {
    /// The number of its objects.
    Objects,
    /// A measure of values: their position in [`Aggregation::values`].
    Values(usize, Measure),
}

/// A key of an order of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupOrder {
    /// What is compared.
    pub by: GroupOrderBy,
    /// Greatest first.
    pub descending: bool,
}

/// What an order of groups compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupOrderBy {
    /// A part of the key: its position in [`Grouping::by`].
    Key(usize),
    /// A measure.
    Measured(Measured),
}

/// A field of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupField {
    /// Key in the answer.
    pub key: String,
    /// What it gives.
    pub part: GroupPart,
}

/// What a field of a group gives.
#[derive(Clone, Debug, PartialEq)]
pub enum GroupPart {
    /// The GraphQL type name.
    TypeName(String),
    /// What the objects have in common.
    Key(Vec<(String, KeyPart)>),
    /// The number of objects.
    Count,
    /// Measures of the values of a property.
    Values(MeasuredValues),
}

/// A field of the key of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyPart {
    /// The GraphQL type name.
    TypeName(String),
    /// A part of the key: its position in [`Grouping::by`].
    Of(usize),
}

/// Measures of the values of a list field of one object.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueAggregate {
    /// Which values.
    pub values: AggregatedValues,
    /// Keys of the answer, and what stands under each.
    pub fields: Vec<(String, MeasurePart)>,
}
