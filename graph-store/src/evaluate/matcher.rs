//! Compiled conditions on terms.
//!
//! Constants are parsed once and regular expressions compiled once. A term outside the domain of a
//! test fails it; a comparison that cannot be decided is false, and its negation true.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::str::FromStr;

use memchr::memmem::Finder;
use oxrdf::vocab::xsd;
use oxrdf::{LiteralRef, TermRef};
#[cfg(feature = "image")]
use oxsdatatypes::Decimal;
use oxsdatatypes::{Date, DateTime, GYear, GYearMonth, Time};
use regex::RegexBuilder;
use regex_syntax::hir::{HirKind, Literal};
use soml_core::datatype::Scalar;

use crate::query::{
    Comparison, Constant, Domain, Operator, Regex, TagRange, TermCondition, ValueTest,
};
#[cfg(feature = "image")]
use crate::value::instant_of;
use crate::value::{Number, cast_ref, collapsed, is_text};

/// Maximum memory of a compiled regular expression, in bytes.
const REGEX_SIZE: usize = 10 << 20;

/// A regular expression that would take too much memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the regular expression needs more than {REGEX_SIZE} bytes")]
pub struct RegexTooLarge;

/// A compiled [`TermCondition`].
#[derive(Clone, Debug)]
pub enum TermMatcher<'c> {
    /// All match.
    All(Vec<TermMatcher<'c>>),
    /// At least one matches.
    Any(Vec<TermMatcher<'c>>),
    /// Does not match.
    Not(Box<TermMatcher<'c>>),
    /// The value matches.
    Value(ValueMatcher<'c>),
    /// A literal whose tag is in one of the first ranges, if there are any, and in none of the
    /// second.
    Lang(&'c [TagRange], &'c [TagRange]),
    /// The datatype of a literal without a tag matches.
    Datatype(ValueMatcher<'c>),
}

impl<'c> TermMatcher<'c> {
    /// Compiles a condition.
    ///
    /// # Errors
    /// When a regular expression is too large.
    pub fn new(condition: &'c TermCondition) -> Result<Self, RegexTooLarge> {
        let each = |parts: &'c [TermCondition]| -> Result<Vec<_>, RegexTooLarge> {
            parts.iter().map(TermMatcher::new).collect()
        };
        Ok(match condition {
            TermCondition::All(parts) => TermMatcher::All(each(parts)?),
            TermCondition::Any(parts) => TermMatcher::Any(each(parts)?),
            TermCondition::Not(inner) => TermMatcher::Not(Box::new(TermMatcher::new(inner)?)),
            TermCondition::Value(test) => TermMatcher::Value(ValueMatcher::new(test)?),
            TermCondition::Lang { include, exclude } => TermMatcher::Lang(include, exclude),
            TermCondition::Datatype(test) => TermMatcher::Datatype(ValueMatcher::new(test)?),
        })
    }

    /// Returns whether a term satisfies the condition.
    #[must_use]
    pub fn matches<'t>(&self, term: impl Into<TermRef<'t>>) -> bool {
        let term = term.into();
        match self {
            TermMatcher::All(parts) => parts.iter().all(|part| part.matches(term)),
            TermMatcher::Any(parts) => parts.iter().any(|part| part.matches(term)),
            TermMatcher::Not(inner) => !inner.matches(term),
            TermMatcher::Value(test) => test.matches(term),
            TermMatcher::Lang(include, exclude) => match term {
                TermRef::Literal(literal) => {
                    let tag = literal.language();
                    (include.is_empty() || include.iter().any(|range| covers(range, tag)))
                        && !exclude.iter().any(|range| covers(range, tag))
                }
                _ => false,
            },
            TermMatcher::Datatype(test) => match term {
                TermRef::Literal(literal) if literal.language().is_none() => {
                    test.matches(literal.datatype())
                }
                _ => false,
            },
        }
    }
}

fn covers(range: &TagRange, tag: Option<&str>) -> bool {
    match (range, tag) {
        (TagRange::Untagged, tag) => tag.is_none(),
        (TagRange::Tag(wanted), Some(tag)) => tag.eq_ignore_ascii_case(wanted),
        (TagRange::Dialects(wanted), Some(tag)) => {
            tag.get(..wanted.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(wanted))
                && matches!(tag.as_bytes().get(wanted.len()), None | Some(b'-'))
        }
        (TagRange::Tag(_) | TagRange::Dialects(_), None) => false,
    }
}

/// A compiled [`ValueTest`].
#[derive(Clone, Debug)]
pub struct ValueMatcher<'c> {
    domain: Domain,
    operation: Operation<'c>,
}

/// What a [`ValueMatcher`] does with a value of its domain.
#[derive(Clone, Debug)]
pub(crate) enum Operation<'c> {
    /// Compares with an operand; one that is not of the domain compares with nothing.
    Compare(Comparison, Option<Value<'c>>),
    /// Equals one of these strings; the flag negates.
    Texts(HashSet<&'c str>, bool),
    /// Equals one of these values; the flag negates.
    Values(Vec<Value<'c>>, bool),
    /// Matches; the flag negates.
    Matches(
        Pattern,
        #[cfg_attr(
            not(feature = "image"),
            allow(
                dead_code,
                reason = "only terms of an image are in the order of values"
            )
        )]
        &'c Regex,
        bool,
    ),
}

/// A value to compare.
#[derive(Clone, Debug)]
pub(crate) enum Value<'v> {
    Text(Cow<'v, str>),
    Number(Number),
    Boolean(bool),
    DateTime(DateTime),
    Date(Date),
    Time(Time),
    Year(GYear),
    YearMonth(GYearMonth),
}

impl Value<'_> {
    fn compare(&self, other: &Value<'_>) -> Option<Ordering> {
        match (self, other) {
            (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
            (Value::Number(a), Value::Number(b)) => a.compare(b),
            (Value::Boolean(a), Value::Boolean(b)) => Some(a.cmp(b)),
            (Value::DateTime(a), Value::DateTime(b)) => a.partial_cmp(b),
            (Value::Date(a), Value::Date(b)) => a.partial_cmp(b),
            (Value::Time(a), Value::Time(b)) => a.partial_cmp(b),
            (Value::Year(a), Value::Year(b)) => a.partial_cmp(b),
            (Value::YearMonth(a), Value::YearMonth(b)) => a.partial_cmp(b),
            _ => None,
        }
    }

    fn equals(&self, other: &Value<'_>) -> bool {
        self.compare(other) == Some(Ordering::Equal)
    }
}

#[cfg(feature = "image")]
impl Value<'_> {
    /// Returns the datatype of a date or time, and its position on the time line, where one without a zone counts as UTC.
    pub(crate) fn instant(&self) -> Option<(Scalar, Decimal)> {
        let (scalar, bytes) = match self {
            Value::DateTime(value) => (Scalar::DateTime, value.to_be_bytes()),
            Value::Date(value) => (Scalar::Date, value.to_be_bytes()),
            Value::Time(value) => (Scalar::Time, value.to_be_bytes()),
            Value::Year(value) => (Scalar::Year, value.to_be_bytes()),
            Value::YearMonth(value) => (Scalar::YearMonth, value.to_be_bytes()),
            Value::Text(_) | Value::Number(_) | Value::Boolean(_) => return None,
        };
        Some((scalar, instant_of(bytes)))
    }
}

impl<'c> ValueMatcher<'c> {
    /// Compiles a test.
    ///
    /// # Errors
    /// When its regular expression is too large.
    pub fn new(test: &'c ValueTest) -> Result<Self, RegexTooLarge> {
        let domain = test.domain;
        let operation = match &test.operator {
            Operator::Compare(comparison, constant) => {
                Operation::Compare(*comparison, operand(domain, constant))
            }
            Operator::In(constants) => one_of(domain, constants, false),
            Operator::NotIn(constants) => one_of(domain, constants, true),
            Operator::Matches(regex, negated) => {
                Operation::Matches(Pattern::new(regex)?, regex, *negated)
            }
        };
        Ok(ValueMatcher { domain, operation })
    }

    /// Returns how values are compared, and with what.
    #[cfg(feature = "image")]
    pub(crate) fn parts(&self) -> (Domain, &Operation<'c>) {
        (self.domain, &self.operation)
    }

    /// Returns whether a term passes the test.
    #[must_use]
    pub fn matches<'t>(&self, term: impl Into<TermRef<'t>>) -> bool {
        let term = term.into();
        if let Domain::Cast(scalar) = self.domain {
            return match cast_ref(scalar, term) {
                Some(cast) => self.holds(Domain::of(scalar), cast),
                None => false,
            };
        }
        self.holds(self.domain, term)
    }

    fn holds(&self, domain: Domain, term: TermRef<'_>) -> bool {
        let Some(value) = value(domain, term) else {
            return false;
        };
        match &self.operation {
            Operation::Compare(comparison, operand) => {
                let ordering = operand.as_ref().and_then(|operand| value.compare(operand));
                satisfies(*comparison, ordering)
            }
            Operation::Texts(texts, negated) => {
                let Value::Text(text) = &value else {
                    return false;
                };
                texts.contains(text.as_ref()) != *negated
            }
            Operation::Values(values, negated) => {
                values.iter().any(|other| value.equals(other)) != *negated
            }
            Operation::Matches(pattern, _, negated) => {
                let Value::Text(text) = &value else {
                    return false;
                };
                pattern.matches(text) != *negated
            }
        }
    }
}

/// A compiled [`Regex`], for texts that are no terms.
#[derive(Clone, Debug)]
pub struct RegexMatcher(Pattern);

impl RegexMatcher {
    /// Compiles a regular expression.
    ///
    /// # Errors
    /// When it is too large.
    pub fn new(regex: &Regex) -> Result<Self, RegexTooLarge> {
        Pattern::new(regex).map(RegexMatcher)
    }

    /// Returns whether some part of a text matches.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.0.matches(text)
    }
}

fn satisfies(comparison: Comparison, ordering: Option<Ordering>) -> bool {
    match comparison {
        Comparison::Equal => ordering == Some(Ordering::Equal),
        Comparison::NotEqual => ordering != Some(Ordering::Equal),
        Comparison::Less => ordering == Some(Ordering::Less),
        Comparison::LessOrEqual => ordering.is_some_and(Ordering::is_le),
        Comparison::Greater => ordering == Some(Ordering::Greater),
        Comparison::GreaterOrEqual => ordering.is_some_and(Ordering::is_ge),
    }
}

/// A compiled regular expression.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    /// The text contains a string. Finding it takes a fraction of the time that an automaton takes.
    Contains(Box<Finder<'static>>),
    Regex(regex::Regex),
}

impl Pattern {
    fn new(regex: &Regex) -> Result<Self, RegexTooLarge> {
        if let Some(text) = literal(regex) {
            return Ok(Pattern::Contains(Box::new(Finder::new(&text).into_owned())));
        }
        let regex = RegexBuilder::new(&regex.pattern)
            .case_insensitive(regex.case_insensitive)
            .size_limit(REGEX_SIZE)
            .build();
        regex.map(Pattern::Regex).map_err(|_| RegexTooLarge)
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Pattern::Contains(finder) => finder.find(text.as_bytes()).is_some(),
            Pattern::Regex(regex) => regex.is_match(text),
        }
    }
}

/// Returns the string that a regular expression stands for, if it is nothing more than one.
fn literal(regex: &Regex) -> Option<Box<[u8]>> {
    if regex.case_insensitive {
        return None;
    }
    let parsed = regex_syntax::parse(&regex.pattern).ok()?;
    match parsed.into_kind() {
        HirKind::Literal(Literal(text)) => Some(text),
        _ => None,
    }
}

fn one_of<'c>(domain: Domain, constants: &'c [Constant], negated: bool) -> Operation<'c> {
    let texts: Option<HashSet<&str>> = constants
        .iter()
        .map(|constant| match constant {
            Constant::Iri(iri) => Some(iri.as_str()),
            Constant::Literal(literal) if literal.datatype() == xsd::STRING => {
                Some(literal.value())
            }
            Constant::Literal(_) => None,
        })
        .collect();
    match texts {
        Some(texts) if !texts.is_empty() => Operation::Texts(texts, negated),
        _ => {
            let operands = constants.iter().filter_map(|c| operand(domain, c));
            Operation::Values(operands.collect(), negated)
        }
    }
}

pub(crate) fn operand(domain: Domain, constant: &Constant) -> Option<Value<'_>> {
    match constant {
        Constant::Iri(iri) => Some(Value::Text(Cow::Borrowed(iri.as_str()))),
        Constant::Literal(literal) => {
            let domain = match domain {
                Domain::Cast(scalar) => Domain::of(scalar),
                other => other,
            };
            of_literal(domain, literal.as_ref())
        }
    }
}

pub(crate) fn value(domain: Domain, term: TermRef<'_>) -> Option<Value<'_>> {
    match (domain, term) {
        (Domain::Iri, TermRef::NamedNode(node)) => Some(Value::Text(Cow::Borrowed(node.as_str()))),
        (Domain::Iri, _) => None,
        (_, TermRef::Literal(literal)) => of_literal(domain, literal),
        _ => None,
    }
}

fn of_literal(domain: Domain, literal: LiteralRef<'_>) -> Option<Value<'_>> {
    let text = || Some(Value::Text(Cow::Borrowed(literal.value())));
    match domain {
        Domain::Lexical => text(),
        Domain::Text if is_text(literal) => text(),
        Domain::Number => Number::from_literal(literal).map(Value::Number),
        Domain::Typed(scalar) if literal.datatype().as_str() == scalar.datatype_iri() => {
            typed(scalar, literal.value())
        }
        Domain::Iri | Domain::Text | Domain::Typed(_) | Domain::Cast(_) => None,
    }
}

fn typed(scalar: Scalar, text: &str) -> Option<Value<'_>> {
    if scalar == Scalar::String {
        return Some(Value::Text(Cow::Borrowed(text)));
    }
    let text = collapsed(text);
    match scalar {
        Scalar::Boolean => match text {
            "true" | "1" => Some(Value::Boolean(true)),
            "false" | "0" => Some(Value::Boolean(false)),
            _ => None,
        },
        Scalar::DateTime => DateTime::from_str(text).ok().map(Value::DateTime),
        Scalar::Date => Date::from_str(text).ok().map(Value::Date),
        Scalar::Time => Time::from_str(text).ok().map(Value::Time),
        Scalar::Year => GYear::from_str(text).ok().map(Value::Year),
        Scalar::YearMonth => GYearMonth::from_str(text).ok().map(Value::YearMonth),
        _ => None,
    }
}
