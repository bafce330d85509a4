//! Finds the objects that satisfy a condition.
//!
//! Each part of a conjunction may offer a source of candidates: a list of ids, the instances of a
//! type, the objects that link to a known value, or those with a matching value of a property. The
//! sources are read in turns, the promising ones in larger steps; the first that is exhausted
//! provides the candidates. So the cost is proportional to the smallest source, without statistics.
//! Then the whole condition is evaluated for each candidate.

use oxrdf::{NamedNode, Term};

use super::condition::Ready;
use super::source::{Pattern, QuadSource};
use super::walk::{Quads, Starts, Walker};
use crate::error::StoreError;
use crate::evaluate::TermMatcher;
use crate::query::{
    Comparison, Constant, Domain, NodeCondition, Operator, Quantifier, Step, TermCondition,
    TypeTest, ValueCondition, ValueTest,
};
use crate::store::order::{drop_repeated, named_nodes};

/// Quads that a source of weight 1 reads in its first turn; each further turn reads twice as many.
const FIRST_TURN: usize = 32;
/// Maximum number of steps between a candidate and the value by which it is found.
const MAX_STEPS: usize = 4;
/// Maximum number of sources that are read in turns.
const MAX_SOURCES: usize = 6;

/// Returns the distinct IRIs that satisfy a condition.
pub(super) fn select<S: QuadSource>(
    walker: &Walker<'_, S>,
    condition: &NodeCondition,
) -> Result<Vec<NamedNode>, StoreError> {
    let parts = match condition {
        NodeCondition::All(parts) => parts.as_slice(),
        single => std::slice::from_ref(single),
    };
    let ids = parts
        .iter()
        .enumerate()
        .find_map(|(part, condition)| match condition {
            NodeCondition::OneOf(ids) => Some((part, ids)),
            _ => None,
        });
    let (candidates, decided) = match ids {
        Some((part, ids)) => (ids.clone(), Some(part)),
        None => {
            let mut sources = Vec::new();
            add_sources(walker, parts, &mut Vec::new(), &mut sources)?;
            let source = first_to_end(walker, sources)?;
            let decided = source.decides;
            (source.candidates(walker)?, decided)
        }
    };
    let open = parts.iter().enumerate();
    let open = open.filter(|(part, _)| decided != Some(*part));
    let ready = Ready::all(open.map(|(_, part)| part))?;
    if ready.is_true() {
        return Ok(candidates);
    }
    let mut selected = Vec::new();
    for node in candidates {
        walker.tick()?;
        if ready.holds(walker, &node)? {
            selected.push(node);
        }
    }
    Ok(selected)
}

/// Reads sources in turns until one of them is exhausted.
fn first_to_end<'s, S: QuadSource>(
    walker: &Walker<'_, S>,
    mut sources: Vec<Source<'s, S>>,
) -> Result<Source<'s, S>, StoreError> {
    sources.sort_by_key(|source| source.weight);
    sources.truncate(MAX_SOURCES);
    if sources.is_empty() {
        let message = "the condition does not tell where objects come from";
        return Err(StoreError::Failed(message.into()));
    }
    let mut turn = match sources.as_slice() {
        [_single] => usize::MAX,
        _ => FIRST_TURN,
    };
    loop {
        for position in 0..sources.len() {
            let source = &mut sources[position];
            if source.read(walker, turn.saturating_mul(source.weight.factor()))? {
                return Ok(sources.swap_remove(position));
            }
        }
        walker.check()?;
        turn = turn.saturating_mul(2);
    }
}

/// How promising a source is, the most promising first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    /// Objects that link to known values: usually few, with nothing left to check.
    KnownValues,
    /// A scan of a property, which also checks the values.
    Property,
    /// Instances, whose values remain to be checked.
    Instances,
}

impl Weight {
    fn factor(self) -> usize {
        match self {
            Weight::KnownValues => 32,
            Weight::Property => 2,
            Weight::Instances => 1,
        }
    }
}

/// A source of candidates.
struct Source<'s, S: QuadSource> {
    weight: Weight,
    /// The quads that are being read.
    current: Option<Quads<'s, S>>,
    /// Quads that are still to be read.
    rest: Box<dyn Iterator<Item = Quads<'s, S>> + 's>,
    /// Objects from an index, read before all quads.
    indexed: Starts<'s>,
    /// The objects of the quads are wanted rather than their subjects.
    inverse: bool,
    /// The condition on the other ends of the quads.
    matcher: Option<TermMatcher<'s>>,
    /// The objects so far.
    found: Vec<NamedNode>,
    /// An object may be found several times.
    may_repeat: bool,
    /// Steps from a candidate to the objects that are found, in this order.
    way: Vec<&'s Step>,
    /// The part of the condition that every candidate satisfies.
    decides: Option<usize>,
}

impl<S: QuadSource> Source<'_, S> {
    /// Reads up to `limit` quads; returns whether the source is exhausted.
    fn read(&mut self, walker: &Walker<'_, S>, mut limit: usize) -> Result<bool, StoreError> {
        for start in self.indexed.by_ref().take(limit) {
            walker.tick()?;
            walker.keep(start.as_ref().into());
            self.found.push(start);
            limit -= 1;
        }
        if limit == 0 {
            return Ok(false);
        }
        loop {
            let Some(quads) = &mut self.current else {
                return Ok(true);
            };
            for quad in quads.by_ref() {
                let quad = quad?;
                let (start, end) = if self.inverse {
                    (quad.object, Term::from(quad.subject))
                } else {
                    (quad.subject.into(), quad.object)
                };
                let matches = |matcher: &TermMatcher<'_>| {
                    !matches!(end, Term::BlankNode(_)) && matcher.matches(&end)
                };
                if let Term::NamedNode(node) = start
                    && self.matcher.as_ref().is_none_or(matches)
                {
                    walker.keep(node.as_ref().into());
                    self.found.push(node);
                }
                limit -= 1;
                if limit == 0 {
                    return Ok(false);
                }
            }
            self.current = self.rest.next();
        }
    }

    /// Returns the distinct candidates.
    fn candidates(self, walker: &Walker<'_, S>) -> Result<Vec<NamedNode>, StoreError> {
        let mut nodes = self.found;
        if self.may_repeat {
            drop_repeated(&mut nodes, 0);
        }
        for step in self.way.into_iter().rev() {
            let back = Step {
                predicate: step.predicate.clone(),
                inverse: !step.inverse,
            };
            let mut values = Vec::new();
            for node in &nodes {
                walker.walk(node, &back, &mut values)?;
            }
            nodes = named_nodes(values).collect();
            drop_repeated(&mut nodes, 0);
        }
        Ok(nodes)
    }
}

/// Adds the sources that a conjunction offers, for objects at the end of the path `way`.
fn add_sources<'s, S: QuadSource>(
    walker: &'s Walker<'_, S>,
    parts: &'s [NodeCondition],
    way: &mut Vec<&'s Step>,
    sources: &mut Vec<Source<'s, S>>,
) -> Result<(), StoreError> {
    let is_first = way.is_empty();
    for (position, part) in parts.iter().enumerate() {
        match part {
            NodeCondition::Instance(test) if is_first => {
                sources.push(Source {
                    decides: Some(position),
                    ..instances(walker, test)
                });
            }
            NodeCondition::Values {
                step,
                quantifier: Quantifier::Some,
                condition,
            } => match condition.as_ref() {
                ValueCondition::Term(condition) => {
                    let source = by_value(walker, step, condition, way)?;
                    sources.extend(source.map(|source| Source {
                        // The known values may satisfy only one of several tests.
                        decides: (is_first && source.matcher.is_some()).then_some(position),
                        ..source
                    }));
                }
                ValueCondition::Node(condition) => {
                    let inner = match condition {
                        NodeCondition::All(parts) => parts.as_slice(),
                        single => std::slice::from_ref(single),
                    };
                    let ids = inner.iter().find_map(|part| match part {
                        NodeCondition::OneOf(ids) => Some(ids),
                        _ => None,
                    });
                    if let Some(ids) = ids {
                        let terms: Vec<Term> = ids.iter().cloned().map(Term::from).collect();
                        sources.push(Source {
                            decides: (is_first && inner.len() == 1).then_some(position),
                            ..known_values(walker, step, terms, way)
                        });
                    } else if way.len() < MAX_STEPS {
                        way.push(step);
                        add_sources(walker, inner, way, sources)?;
                        way.pop();
                    }
                }
            },
            _ => {}
        }
    }
    Ok(())
}

impl<'s, S: QuadSource> Source<'s, S> {
    fn new(weight: Weight, mut quads: impl Iterator<Item = Quads<'s, S>> + 's) -> Self {
        Source {
            weight,
            current: quads.next(),
            rest: Box::new(quads),
            indexed: Box::new(std::iter::empty()),
            inverse: false,
            matcher: None,
            found: Vec::new(),
            may_repeat: true,
            way: Vec::new(),
            decides: None,
        }
    }
}

fn instances<'s, S: QuadSource>(walker: &'s Walker<'_, S>, test: &'s TypeTest) -> Source<'s, S> {
    let types = test
        .alternatives
        .iter()
        .flat_map(|(property, types)| types.iter().map(move |ty| (property, ty)));
    let is_single = types.clone().nth(1).is_none();
    let quads = types.map(|(property, ty)| {
        walker.quads(Pattern {
            predicate: Some(property.as_ref()),
            object: Some(ty.into()),
            ..Pattern::default()
        })
    });
    Source {
        may_repeat: !is_single || walker.may_repeat,
        ..Source::new(Weight::Instances, quads)
    }
}

/// Returns the objects that link to one of some known values.
fn known_values<'s, S: QuadSource>(
    walker: &'s Walker<'_, S>,
    step: &'s Step,
    values: Vec<Term>,
    way: &[&'s Step],
) -> Source<'s, S> {
    let may_repeat = values.len() > 1 || walker.may_repeat;
    let indexed = match step.inverse {
        false => walker.leading_to(&values, &step.predicate),
        true => None,
    };
    let unread = match indexed {
        Some(_) => Vec::new(),
        None => values,
    };
    let quads = unread.into_iter().filter_map(|value| {
        let predicate = Some(step.predicate.as_ref());
        Some(walker.quads(match (step.inverse, &value) {
            (false, value) => Pattern {
                predicate,
                object: Some(value.as_ref()),
                ..Pattern::default()
            },
            (true, Term::NamedNode(value)) => Pattern {
                predicate,
                subject: Some(value),
                ..Pattern::default()
            },
            (true, _) => return None,
        }))
    });
    let source = Source::new(Weight::KnownValues, quads);
    Source {
        indexed: indexed.unwrap_or(source.indexed),
        inverse: step.inverse,
        may_repeat,
        way: way.to_vec(),
        ..source
    }
}

/// Returns the objects with a value that satisfies a condition, where that may help.
fn by_value<'s, S: QuadSource>(
    walker: &'s Walker<'_, S>,
    step: &'s Step,
    condition: &'s TermCondition,
    way: &[&'s Step],
) -> Result<Option<Source<'s, S>>, StoreError> {
    let parts = match condition {
        TermCondition::All(parts) => parts.as_slice(),
        single => std::slice::from_ref(single),
    };
    let mut tests = parts.iter().filter_map(|part| match part {
        TermCondition::Value(test) => Some(test),
        _ => None,
    });
    if let Some(terms) = tests.clone().find_map(exact_terms) {
        return Ok(Some(known_values(walker, step, terms, way)));
    }
    // Far from the candidates, a scan pays off only for a selective test.
    if !way.is_empty() && !tests.any(is_selective) || parts.is_empty() {
        return Ok(None);
    }
    let quads = walker.quads(Pattern {
        predicate: Some(step.predicate.as_ref()),
        ..Pattern::default()
    });
    Ok(Some(Source {
        inverse: step.inverse,
        matcher: Some(TermMatcher::new(condition)?),
        way: way.to_vec(),
        ..Source::new(Weight::Property, std::iter::once(quads))
    }))
}

/// Returns all terms that pass a test, if the test fixes them exactly.
fn exact_terms(test: &ValueTest) -> Option<Vec<Term>> {
    use soml_core::datatype::Scalar;
    if !matches!(test.domain, Domain::Iri | Domain::Typed(Scalar::String)) {
        return None;
    }
    let constants = match &test.operator {
        Operator::Compare(Comparison::Equal, constant) => std::slice::from_ref(constant),
        Operator::In(constants) => constants.as_slice(),
        _ => return None,
    };
    let terms = constants.iter().map(|constant| match constant {
        Constant::Iri(iri) => iri.clone().into(),
        Constant::Literal(literal) => literal.clone().into(),
    });
    Some(terms.collect())
}

/// Returns whether few values are likely to pass a test.
fn is_selective(test: &ValueTest) -> bool {
    matches!(
        test.operator,
        Operator::Compare(Comparison::Equal, _) | Operator::In(_) | Operator::Matches(_, false)
    )
}
