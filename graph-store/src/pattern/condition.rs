//! Evaluates conditions on objects by reading the quads around them.
//!
//! A condition is compiled once per call: its parts ordered by cost, constants parsed, regular
//! expressions compiled. What a condition requires of objects further away is evaluated once for
//! each of them.

use std::cell::RefCell;

use foldhash::HashMap;
use oxrdf::{NamedNode, Term};

use super::source::QuadSource;
use super::walk::Walker;
use crate::error::StoreError;
use crate::evaluate::{RegexTooLarge, TermMatcher, ValueMatcher};
use crate::query::{NodeCondition, Quantifier, Step, TypeTest, ValueCondition};

/// Up to this many ids are looked up one by one, rather than found among the values of an object.
const FEW_IDS: usize = 2;

/// A compiled condition on objects.
pub(super) enum Ready<'c> {
    All(Vec<Ready<'c>>),
    Any(Vec<Ready<'c>>),
    Not(Box<Ready<'c>>),
    OneOf(&'c [NamedNode]),
    Iri(ValueMatcher<'c>),
    Instance(&'c TypeTest),
    Values {
        step: &'c Step,
        quantifier: Quantifier,
        of: ReadyValue<'c>,
    },
}

/// A compiled condition on values.
pub(super) enum ReadyValue<'c> {
    /// The value is one of these objects.
    OneOf(&'c [NamedNode]),
    /// The value is an object that satisfies a condition; results are cached where that costs less
    /// than evaluating the condition again.
    Node(Box<Ready<'c>>, Option<Decided>),
    /// The value is a term that satisfies a condition.
    Term(TermMatcher<'c>),
}

/// Cached results.
type Decided = RefCell<HashMap<NamedNode, bool>>;

impl From<RegexTooLarge> for StoreError {
    fn from(_: RegexTooLarge) -> Self {
        StoreError::RegexTooLarge
    }
}

impl<'c> Ready<'c> {
    pub(super) fn new(condition: &'c NodeCondition) -> Result<Self, StoreError> {
        Ok(match condition {
            NodeCondition::All(parts) => Ready::all(parts)?,
            NodeCondition::Any(parts) => Ready::Any(Ready::each(parts)?),
            NodeCondition::Not(inner) => Ready::Not(Box::new(Ready::new(inner)?)),
            NodeCondition::OneOf(ids) => Ready::OneOf(ids),
            NodeCondition::Iri(test) => Ready::Iri(ValueMatcher::new(test)?),
            NodeCondition::Instance(test) => Ready::Instance(test),
            NodeCondition::Values {
                step,
                quantifier,
                condition,
            } => Ready::Values {
                step,
                quantifier: *quantifier,
                of: ReadyValue::new(condition)?,
            },
        })
    }

    /// Compiles a conjunction.
    pub(super) fn all(
        parts: impl IntoIterator<Item = &'c NodeCondition>,
    ) -> Result<Self, StoreError> {
        Ok(Ready::All(Ready::each(parts)?))
    }

    /// Compiles conditions, the cheapest first.
    fn each(parts: impl IntoIterator<Item = &'c NodeCondition>) -> Result<Vec<Self>, StoreError> {
        let ready: Result<Vec<_>, _> = parts.into_iter().map(Ready::new).collect();
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
                ReadyValue::Term(_) => 4,
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
                matches!(test.alternatives.as_slice(), [(_, types)] if types.len() == 1)
            }
            Ready::Values {
                quantifier: Quantifier::Some,
                of: ReadyValue::OneOf(ids),
                ..
            } => ids.len() == 1,
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
    pub(super) fn holds<S: QuadSource>(
        &self,
        walker: &Walker<'_, S>,
        node: &NamedNode,
    ) -> Result<bool, StoreError> {
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
            Ready::OneOf(ids) => Ok(ids.binary_search(node).is_ok()),
            Ready::Iri(test) => Ok(test.matches(&node.clone().into())),
            Ready::Instance(test) => walker.is_instance(node, test),
            Ready::Values {
                step,
                quantifier: Quantifier::Some,
                of: ReadyValue::OneOf(ids),
            } if ids.len() <= FEW_IDS => {
                for id in *ids {
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

impl<'c> ReadyValue<'c> {
    pub(super) fn new(condition: &'c ValueCondition) -> Result<Self, StoreError> {
        Ok(match condition {
            ValueCondition::Node(NodeCondition::OneOf(ids)) => ReadyValue::OneOf(ids),
            ValueCondition::Node(inner) => {
                let inner = Ready::new(inner)?;
                let decided = (!inner.is_look_up()).then(Decided::default);
                ReadyValue::Node(Box::new(inner), decided)
            }
            ValueCondition::Term(inner) => ReadyValue::Term(TermMatcher::new(inner)?),
        })
    }

    /// Returns whether a value satisfies the condition; `None` when it is of another kind.
    pub(super) fn holds<S: QuadSource>(
        &self,
        walker: &Walker<'_, S>,
        value: &Term,
    ) -> Result<Option<bool>, StoreError> {
        let node = match (self, value) {
            (ReadyValue::Term(matcher), value) => return Ok(Some(matcher.matches(value))),
            (_, Term::NamedNode(node)) => node,
            _ => return Ok(None),
        };
        let (inner, decided) = match self {
            ReadyValue::OneOf(ids) => return Ok(Some(ids.binary_search(node).is_ok())),
            ReadyValue::Node(inner, decided) => (inner, decided),
            ReadyValue::Term(_) => unreachable!("terms are decided above"),
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
