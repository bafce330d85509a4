//! Conditions on objects and values: filters with all names resolved.
//!
//! A condition is two-valued: comparing a value with something incomparable is false, and its
//! negation true. Stores guarantee this, whatever their own treatment of errors.

use std::sync::Arc;

use oxrdf::{Literal, NamedNode};
use soml_core::datatype::Scalar;
use soml_core::schema::Path;

use super::regex::Regex;

/// One step along a property, forwards or backwards.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The RDF property.
    pub predicate: NamedNode,
    /// Goes from the object of the triple to its subject.
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
    /// Returns the step of a property of a schema.
    fn from(path: &Path) -> Self {
        Step {
            predicate: NamedNode::new_unchecked(path.iri()),
            inverse: matches!(path, Path::Inverse { .. }),
        }
    }
}

/// Which nodes are instances: those with some type of some alternative.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TypeTest {
    /// The type properties, each once, with the types of which any one suffices, sorted.
    pub alternatives: Arc<[(NamedNode, Vec<NamedNode>)]>,
}

impl TypeTest {
    /// Creates a test for types under one property.
    #[must_use]
    pub fn new(property: NamedNode, mut types: Vec<NamedNode>) -> Self {
        types.sort_unstable();
        types.dedup();
        TypeTest {
            alternatives: Arc::new([(property, types)]),
        }
    }
}

/// Which of some objects are meant, where types overlap: the first test that an object passes decides.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TypeGuard {
    /// Tests, and whether an object that passes is meant.
    pub tests: Vec<(TypeTest, bool)>,
    /// Whether objects that pass no test are meant.
    pub otherwise: bool,
}

impl TypeGuard {
    /// Returns whether an object is meant, given what tests it passes.
    ///
    /// # Errors
    /// When a test fails to be made.
    pub fn admits<E>(
        &self,
        mut passes: impl FnMut(&TypeTest) -> Result<bool, E>,
    ) -> Result<bool, E> {
        for (test, meant) in &self.tests {
            if passes(test)? {
                return Ok(*meant);
            }
        }
        Ok(self.otherwise)
    }

    /// Returns the condition that an object is meant.
    #[must_use]
    pub fn condition(&self) -> NodeCondition {
        let last = if self.otherwise {
            NodeCondition::TRUE
        } else {
            NodeCondition::Any(Vec::new())
        };
        self.tests.iter().rev().fold(last, |rest, (test, meant)| {
            let test = NodeCondition::Instance(test.clone());
            match (meant, rest) {
                (true, NodeCondition::Any(parts)) => {
                    NodeCondition::Any([vec![test], parts].concat())
                }
                (true, rest) if rest.is_true() => rest,
                (true, rest) => NodeCondition::Any(vec![test, rest]),
                (false, NodeCondition::Any(parts)) if parts.is_empty() => NodeCondition::Any(parts),
                (false, rest) => NodeCondition::all([NodeCondition::Not(Box::new(test)), rest]),
            }
        })
    }
}

/// A condition on one object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NodeCondition {
    /// All hold; true when empty.
    All(Vec<NodeCondition>),
    /// At least one holds; false when empty.
    Any(Vec<NodeCondition>),
    /// Does not hold.
    Not(Box<NodeCondition>),
    /// The object is one of these, which are sorted and distinct.
    OneOf(Vec<NamedNode>),
    /// The IRI, as a term or a string, satisfies a test.
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
    /// All of them; true when there are none.
    Every,
}

/// A condition on one value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ValueCondition {
    /// The value is an object.
    Node(NodeCondition),
    /// The value is a literal, or an IRI used as a value.
    Term(TermCondition),
}

/// A condition on a term that is a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TermCondition {
    /// All hold; true when empty.
    All(Vec<TermCondition>),
    /// At least one holds; false when empty.
    Any(Vec<TermCondition>),
    /// Does not hold.
    Not(Box<TermCondition>),
    /// The value itself satisfies a test.
    Value(ValueTest),
    /// The language tag is covered by one of the first ranges and none of the second.
    Lang {
        /// Included tags; empty includes all.
        include: Vec<TagRange>,
        /// Excluded tags.
        exclude: Vec<TagRange>,
    },
    /// The datatype satisfies a test on IRIs.
    Datatype(ValueTest),
}

/// A range of language tags.
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
    /// As the lexical form of a string, tagged or not.
    Text,
    /// As the lexical form of any literal.
    Lexical,
    /// As a number, across numeric datatypes.
    Number,
    /// As a value of exactly this datatype.
    Typed(Scalar),
    /// As a value of this datatype, cast from the lexical form if the datatype differs.
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

/// A test of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ValueTest {
    /// How the value is compared. A value outside the domain fails every test.
    pub domain: Domain,
    /// The comparison.
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
}
