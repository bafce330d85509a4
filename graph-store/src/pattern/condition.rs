//! Evaluates conditions on objects by reading the quads around them.
//!
//! A condition is compiled once per call: its parts ordered by cost, constants parsed, regular
//! expressions compiled. What a condition requires of objects further away is evaluated once for
//! each of them.

use std::cell::{Cell, OnceCell, RefCell};

use foldhash::HashMap;

use super::ready::{Ids, ReadyStep, ReadyTest};
use super::source::QuadSource;
use super::spans::Spans;
use super::walk::Walker;
use crate::error::StoreError;
use crate::evaluate::{RegexTooLarge, TermMatcher, ValueMatcher};
use crate::query::{NodeCondition, Quantifier, ValueCondition};

/// A compiled condition on objects.
pub(super) enum Ready<'c, S: QuadSource> {
    All(Vec<Ready<'c, S>>),
    Any(Vec<Ready<'c, S>>),
    Not(Box<Ready<'c, S>>),
    OneOf(Ids<S::Node>),
    Iri(ValueMatcher<'c>),
    Instance(ReadyTest<'c, S>),
    Values {
        step: ReadyStep<'c, S>,
        quantifier: Quantifier,
        of: ReadyValue<'c, S>,
    },
}

/// A compiled condition on values.
pub(super) enum ReadyValue<'c, S: QuadSource> {
    /// The value is one of these objects.
    OneOf(Ids<S::Node>),
    /// The value is an object that satisfies a condition; results are cached where that costs less
    /// than evaluating the condition again.
    Node(Box<Ready<'c, S>>, Option<Decided<S::Node>>),
    /// The value is a term that satisfies a condition.
    Term(TermMatcher<'c>, ByNumber),
}

/// What the numbers of terms tell about a condition.
#[derive(Default)]
pub(super) struct ByNumber {
    /// Terms that were read so far.
    read: Cell<u32>,
    spans: OnceCell<Option<Spans>>,
}

/// Terms that are read in the time that it takes to find out what their numbers tell.
const WORTH_SPANS: u32 = 32;

impl ByNumber {
    /// Returns whether a term satisfies the condition, if its number tells.
    fn decide<S: QuadSource>(
        &self,
        source: &S,
        matcher: &TermMatcher<'_>,
        term: &S::Term,
    ) -> Option<bool> {
        let read = self.read.get();
        if read < WORTH_SPANS {
            self.read.set(read + 1);
            return None;
        }
        let spans = self.spans.get_or_init(|| source.spans(matcher));
        source.decide(spans.as_ref()?, term)
    }
}

/// Cached results.
type Decided<N> = RefCell<HashMap<N, bool>>;

impl From<RegexTooLarge> for StoreError {
    fn from(_: RegexTooLarge) -> Self {
        StoreError::RegexTooLarge
    }
}

impl<'c, S: QuadSource> Ready<'c, S> {
    pub(super) fn new(source: &S, condition: &'c NodeCondition) -> Result<Self, StoreError> {
        Ok(match condition {
            NodeCondition::All(parts) => Ready::all(source, parts)?,
            NodeCondition::Any(parts) => Ready::Any(Ready::each(source, parts)?),
            NodeCondition::Not(inner) => Ready::Not(Box::new(Ready::new(source, inner)?)),
            NodeCondition::OneOf(ids) => Ready::OneOf(Ids::new(source, ids)),
            NodeCondition::Iri(test) => Ready::Iri(ValueMatcher::new(test)?),
            NodeCondition::Instance(test) => Ready::Instance(ReadyTest::new(source, test)),
            NodeCondition::Values {
                step,
                quantifier,
                condition,
            } => Ready::Values {
                step: ReadyStep::new(source, step),
                quantifier: *quantifier,
                of: ReadyValue::new(source, condition)?,
            },
        })
    }

    /// Compiles a conjunction.
    pub(super) fn all(
        source: &S,
        parts: impl IntoIterator<Item = &'c NodeCondition>,
    ) -> Result<Self, StoreError> {
        Ok(Ready::All(Ready::each(source, parts)?))
    }

    /// Compiles conditions, the cheapest first.
    fn each(
        source: &S,
        parts: impl IntoIterator<Item = &'c NodeCondition>,
    ) -> Result<Vec<Self>, StoreError> {
        let ready: Result<Vec<_>, _> = parts
            .into_iter()
            .map(|part| Ready::new(source, part))
            .collect();
        let mut parts = ready?;
        parts.sort_by_key(Ready::cost);
        Ok(parts)
    }

    /// Returns whether the condition is trivially true.
    pub(super) fn is_true(&self) -> bool {
        matches!(self, Ready::All(parts) if parts.is_empty())
    }

    /// Returns the estimated cost of evaluating a condition, as a rank.
    fn cost(&self) -> u32 {
        match self {
            Ready::OneOf(_) => 0,
            Ready::Iri(_) => 1,
            Ready::Instance(_) => 3,
            Ready::Values { of, .. } => match of {
                ReadyValue::OneOf(_) => 2,
                ReadyValue::Term(..) => 4,
                ReadyValue::Node(inner, _) => 5 + inner.cost(),
            },
            Ready::Not(inner) => inner.cost(),
            Ready::All(parts) | Ready::Any(parts) => {
                parts.iter().map(Ready::cost).max().unwrap_or(0)
            }
        }
    }

    /// Returns whether a single lookup at most decides the condition.
    fn is_look_up(&self) -> bool {
        match self {
            Ready::OneOf(_) | Ready::Iri(_) => true,
            Ready::Instance(test) => {
                matches!(test.alternatives.as_slice(), [(_, types)] if types.single().is_some())
            }
            Ready::Values {
                quantifier: Quantifier::Some,
                of: ReadyValue::OneOf(ids),
                ..
            } => ids.single().is_some(),
            Ready::All(parts) | Ready::Any(parts) => match parts.as_slice() {
                [] => true,
                [single] => single.is_look_up(),
                _ => false,
            },
            Ready::Not(inner) => inner.is_look_up(),
            Ready::Values { .. } => false,
        }
    }

    /// Returns whether an object satisfies the condition.
    pub(super) fn holds(&self, walker: &Walker<'_, S>, node: &S::Node) -> Result<bool, StoreError> {
        match self {
            Ready::All(parts) => {
                for part in parts {
                    if !part.holds(walker, node)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Ready::Any(parts) => {
                for part in parts {
                    if part.holds(walker, node)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Ready::Not(inner) => Ok(!inner.holds(walker, node)?),
            Ready::OneOf(ids) => Ok(ids.contains(node)),
            Ready::Iri(test) => Ok(walker.source.with_iri(node, |iri| test.matches(iri))),
            Ready::Instance(test) => walker.is_instance(node, test),
            Ready::Values {
                step,
                quantifier: Quantifier::Some,
                of: ReadyValue::OneOf(Ids::Few(ids)),
            } => {
                for id in ids {
                    if walker.leads_to(node, step, id)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Ready::Values {
                step,
                quantifier,
                of,
            } => {
                // A value of another kind does not count: it neither satisfies nor violates.
                let decisive = *quantifier == Quantifier::Some;
                let found = walker.any_value(node, step, |value| {
                    Ok(of.holds(walker, &value)? == Some(decisive))
                })?;
                Ok(found == decisive)
            }
        }
    }
}

impl<'c, S: QuadSource> ReadyValue<'c, S> {
    pub(super) fn new(source: &S, condition: &'c ValueCondition) -> Result<Self, StoreError> {
        Ok(match condition {
            ValueCondition::Node(NodeCondition::OneOf(ids)) => {
                ReadyValue::OneOf(Ids::new(source, ids))
            }
            ValueCondition::Node(inner) => {
                let inner = Ready::new(source, inner)?;
                let decided = (!inner.is_look_up()).then(Decided::default);
                ReadyValue::Node(Box::new(inner), decided)
            }
            ValueCondition::Term(inner) => {
                ReadyValue::Term(TermMatcher::new(inner)?, ByNumber::default())
            }
        })
    }

    /// Returns whether a value satisfies the condition; `None` when it is of another kind.
    pub(super) fn holds(
        &self,
        walker: &Walker<'_, S>,
        value: &S::Term,
    ) -> Result<Option<bool>, StoreError> {
        let node = || walker.source.as_node(value);
        let (inner, decided) = match self {
            ReadyValue::Term(matcher, by_number) => {
                let source = &walker.source;
                let known = by_number.decide(source, matcher, value);
                return Ok(Some(known.unwrap_or_else(|| {
                    source.with_term(value, |term| matcher.matches(term))
                })));
            }
            ReadyValue::OneOf(ids) => return Ok(node().map(|node| ids.contains(node))),
            ReadyValue::Node(inner, decided) => (inner, decided),
        };
        let Some(node) = node() else {
            return Ok(None);
        };
        let Some(decided) = decided else {
            return inner.holds(walker, node).map(Some);
        };
        if let Some(&known) = decided.borrow().get(node) {
            return Ok(Some(known));
        }
        let holds = inner.holds(walker, node)?;
        decided.borrow_mut().insert(node.clone(), holds);
        Ok(Some(holds))
    }
}
