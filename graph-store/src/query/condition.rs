//! Conditions on objects and values: a filter after all names are resolved.
//!
//! A condition is two-valued: comparing a value with something it cannot be compared with is false,
//! and its negation true. Back ends keep that, whatever their own logic of errors is.

use oxrdf::{Literal, NamedNode};
use soml_core::datatype::Scalar;
use soml_core::schema::Path;

use super::regex::Regex;

/// One step along a property, forwards or backwards.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The RDF property.
    pub predicate: NamedNode,
    /// Walks from the object of the triple to its subject.
    pub inverse: bool,
}

impl Step {
    /// Creates a step from subject to object.
    #[must_use]
    pub fn forward(predicate: NamedNode) -> Self {
        Step {
            predicate,
            inverse: false,
        }
    }
}

impl From<&Path> for Step {
    /// Returns the step that a property of a schema takes.
    fn from(path: &Path) -> Self {
        Step {
            predicate: NamedNode::new_unchecked(path.iri()),
            inverse: matches!(path, Path::Inverse { .. }),
        }
    }
}

/// Which nodes are instances: some type of some alternative.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TypeTest {
    /// The type property, and the types of which any one suffices, sorted. Each property occurs once.
    pub alternatives: Vec<(NamedNode, Vec<NamedNode>)>,
}

impl TypeTest {
    /// Creates a test for types under one property.
    #[must_use]
    pub fn new(property: NamedNode, mut types: Vec<NamedNode>) -> Self {
        types.sort_unstable();
        types.dedup();
        TypeTest {
            alternatives: vec![(property, types)],
        }
    }
}

/// A condition on one object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NodeCondition {
    /// Every one holds; of nothing: true.
    All(Vec<NodeCondition>),
    /// Some one holds; of nothing: false.
    Any(Vec<NodeCondition>),
    /// Does not hold.
    Not(Box<NodeCondition>),
    /// The object is one of these, which are sorted and distinct.
    OneOf(Vec<NamedNode>),
    /// The IRI, as a term or a text, satisfies a test.
    Iri(ValueTest),
    /// The object is an instance.
    Instance(TypeTest),
    /// The values along a step satisfy a condition.
    Values {
        /// From the object to its values.
        step: Step,
        /// How many of the values must satisfy the condition.
        quantifier: Quantifier,
        /// The condition on one value.
        condition: Box<ValueCondition>,
    },
}

/// How many values must satisfy a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// At least one.
    Some,
    /// Every one; true when there is none.
    Every,
}

/// A condition on one value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ValueCondition {
    /// The value is an object.
    Node(NodeCondition),
    /// The value is a literal, or an IRI taken as a value.
    Term(TermCondition),
}

/// A condition on one term that is a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TermCondition {
    /// Every one holds; of nothing: true.
    All(Vec<TermCondition>),
    /// Some one holds; of nothing: false.
    Any(Vec<TermCondition>),
    /// Does not hold.
    Not(Box<TermCondition>),
    /// The value itself satisfies a test.
    Value(ValueTest),
    /// The language tag is covered by one of the first and none of the second.
    Lang {
        /// Wanted tags; empty wants every one.
        include: Vec<TagRange>,
        /// Unwanted tags.
        exclude: Vec<TagRange>,
    },
    /// The datatype satisfies a test on IRIs.
    Datatype(ValueTest),
}

/// A stretch of language tags.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TagRange {
    /// Exactly this tag, in lower case.
    Tag(String),
    /// This tag, in lower case, and its dialects.
    Dialects(String),
    /// No tag.
    Untagged,
}

/// How a term is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Domain {
    /// As an IRI.
    Iri,
    /// As the text of a string, tagged or not.
    Text,
    /// As the text of any literal.
    Lexical,
    /// As a number, across numeric datatypes.
    Number,
    /// As a value of exactly this datatype.
    Typed(Scalar),
    /// As a value of this datatype, from the text where the datatype does not fit.
    Cast(Scalar),
}

impl Domain {
    /// Returns how values of a scalar are compared.
    #[must_use]
    pub fn of(scalar: Scalar) -> Domain {
        match scalar {
            Scalar::Iri => Domain::Iri,
            Scalar::String => Domain::Text,
            number if number.is_numeric() => Domain::Number,
            other => Domain::Typed(other),
        }
    }
}

/// A test of one value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ValueTest {
    /// How the value is compared. A value outside of the domain fails every test.
    pub domain: Domain,
    /// What it is compared with.
    pub operator: Operator,
}

/// The operator of a [`ValueTest`], with its operands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// Compares with one constant.
    Compare(Comparison, Constant),
    /// Equals one of the constants.
    In(Vec<Constant>),
    /// Equals none of the constants.
    NotIn(Vec<Constant>),
    /// Matches a regular expression; the flag negates.
    Matches(Regex, bool),
}

/// A comparison with one constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `EQ`
    Equal,
    /// `NEQ`
    NotEqual,
    /// `LT`
    Less,
    /// `LTE`
    LessOrEqual,
    /// `GT`
    Greater,
    /// `GTE`
    GreaterOrEqual,
}

/// A constant of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Constant {
    /// An IRI.
    Iri(NamedNode),
    /// A literal; for [`Domain::Text`] and [`Domain::Lexical`] a plain string.
    Literal(Literal),
}

impl NodeCondition {
    /// The condition that every object satisfies.
    pub const TRUE: NodeCondition = NodeCondition::All(Vec::new());

    /// Creates the condition that the object is one of `ids`.
    #[must_use]
    pub fn one_of(mut ids: Vec<NamedNode>) -> NodeCondition {
        ids.sort_unstable();
        ids.dedup();
        NodeCondition::OneOf(ids)
    }

    /// Joins conditions, without nesting conjunctions.
    #[must_use]
    pub fn all(conditions: impl IntoIterator<Item = NodeCondition>) -> NodeCondition {
        let mut parts = Vec::new();
        for condition in conditions {
            match condition {
                NodeCondition::All(inner) => parts.extend(inner),
                other => parts.push(other),
            }
        }
        match <[_; 1]>::try_from(parts) {
            Ok([single]) => single,
            Err(parts) => NodeCondition::All(parts),
        }
    }

    /// Tells whether every object satisfies the condition, as far as its form shows.
    #[must_use]
    pub fn is_true(&self) -> bool {
        matches!(self, NodeCondition::All(parts) if parts.is_empty())
    }
}

impl TermCondition {
    /// The condition that every value satisfies.
    pub const TRUE: TermCondition = TermCondition::All(Vec::new());

    /// Joins conditions, without nesting conjunctions.
    #[must_use]
    pub fn all(conditions: impl IntoIterator<Item = TermCondition>) -> TermCondition {
        let mut parts = Vec::new();
        for condition in conditions {
            match condition {
                TermCondition::All(inner) => parts.extend(inner),
                other => parts.push(other),
            }
        }
        match <[_; 1]>::try_from(parts) {
            Ok([single]) => single,
            Err(parts) => TermCondition::All(parts),
        }
    }

    /// Tells whether every value satisfies the condition, as far as its form shows.
    #[must_use]
    pub fn is_true(&self) -> bool {
        matches!(self, TermCondition::All(parts) if parts.is_empty())
    }
}
