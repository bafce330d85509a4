//! Finds the objects that satisfy a condition.
//!
//! Each part of a conjunction may offer a source of candidates: a list of ids, the instances of a
//! type, the objects that link to a known value, or those with a matching value of a property. The
//! sources are read in turns, the promising ones in larger steps; the first that is exhausted
//! provides the candidates. So the cost is proportional to the smallest source, without statistics.
//! Then the whole condition is evaluated for each candidate.

use oxrdf::TermRef;

use super::condition::Ready;
use super::ready::Known;
use super::source::QuadSource;
use super::walk::{Starts, Walker};
use crate::error::StoreError;
use crate::evaluate::{TermMatcher, TextFilter};
use crate::query::{
    Comparison, Constant, Domain, NodeCondition, Operator, Quantifier, Step, TermCondition,
    TypeTest, ValueCondition, ValueTest,
};

/// Triples that a source of weight 1 reads in its first turn; each further turn reads twice as many.
const FIRST_TURN: usize = 32;
/// Maximum number of steps between a candidate and the value by which it is found.
const MAX_STEPS: usize = 4;
/// Values that are tested in one step of a scan of a property while none matches.
const MISSES: usize = 4;
/// Maximum number of sources that are read in turns.
const MAX_SOURCES: usize = 6;

/// Returns the distinct IRIs that satisfy a condition.
pub(super) fn select<S: QuadSource>(
    walker: &Walker<'_, S>,
    condition: &NodeCondition,
) -> Result<Vec<S::Node>, StoreError> {
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
        Some((part, ids)) => {
            let ids = ids.iter().map(|id| walker.source.node(id).into_owned());
            (ids.collect(), Some(part))
        }
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
    let ready = Ready::all(&walker.source, open.map(|(_, part)| part))?;
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
    /// Where the triples that are being read start.
    starts: Starts<'s, S>,
    /// The objects so far.
    found: Vec<S::Node>,
    /// An object may be found several times.
    may_repeat: bool,
    /// Steps from a candidate to the objects that are found, in this order.
    way: Vec<&'s Step>,
    /// The part of the condition that every candidate satisfies.
    decides: Option<usize>,
}

impl<'s, S: QuadSource> Source<'s, S> {
    fn new(weight: Weight, starts: Starts<'s, S>) -> Self {
        Source {
            weight,
            starts,
            found: Vec::new(),
            may_repeat: true,
            way: Vec::new(),
            decides: None,
        }
    }

    /// Reads up to `limit` triples; returns whether the source is exhausted.
    fn read(&mut self, walker: &Walker<'_, S>, limit: usize) -> Result<bool, StoreError> {
        let mut unread = limit;
        for start in self.starts.by_ref().take(limit) {
            walker.tick()?;
            if let Some(node) = start? {
                walker.keep_node(&node);
                self.found.push(node);
            }
            unread -= 1;
        }
        Ok(unread > 0)
    }

    /// Returns the distinct candidates.
    fn candidates(self, walker: &Walker<'_, S>) -> Result<Vec<S::Node>, StoreError> {
        let mut nodes = self.found;
        if self.may_repeat {
            walker.source.make_distinct(&mut nodes);
        }
        for step in self.way.into_iter().rev() {
            let back = walker.step(step).reversed();
            let mut values = Vec::new();
            for node in &nodes {
                walker.walk(node, &back, &mut values)?;
            }
            nodes = walker.nodes(values);
            walker.source.make_distinct(&mut nodes);
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
                        decides:
                            (is_first && source.weight == Weight::Property).then_some(position),
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
                        let values = ids.iter().map(Known::Iri).collect();
                        sources.push(Source {
                            decides: (is_first && inner.len() == 1).then_some(position),
                            ..known_values(walker, step, values, way)
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

fn instances<'s, S: QuadSource>(walker: &'s Walker<'_, S>, test: &'s TypeTest) -> Source<'s, S> {
    let types = test
        .alternatives
        .iter()
        .flat_map(|(property, types)| types.iter().map(move |ty| (property, ty)));
    let is_single = types.clone().nth(1).is_none();
    let starts =
        types.flat_map(|(property, ty)| walker.starts(Known::Iri(ty), walker.forward(property)));
    Source {
        may_repeat: !is_single || walker.may_repeat,
        ..Source::new(Weight::Instances, Box::new(starts))
    }
}

/// Returns the objects that link to one of some known values.
fn known_values<'s, S: QuadSource>(
    walker: &'s Walker<'_, S>,
    step: &'s Step,
    values: Vec<Known<'s>>,
    way: &[&'s Step],
) -> Source<'s, S> {
    Source {
        may_repeat: values.len() > 1 || walker.may_repeat,
        way: way.to_vec(),
        ..Source::new(
            Weight::KnownValues,
            walker.leading_to(values, walker.step(step)),
        )
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
    if let Some(values) = tests.clone().find_map(exact_terms) {
        return Ok(Some(known_values(walker, step, values, way)));
    }
    // Far from the candidates, a scan pays off only for a selective test.
    if !way.is_empty() && !tests.any(is_selective) || parts.is_empty() {
        return Ok(None);
    }
    let matcher = TermMatcher::new(condition)?;
    let source = &walker.source;
    let ready = walker.step(step);
    let filter = match S::SEARCHES_TEXTS && !ready.inverse {
        true => TextFilter::of(condition),
        false => None,
    };
    let mut pairs = walker
        .in_graphs(move |graph| source.pairs_by_object(&ready.property, filter.clone(), graph));
    // A value that several objects have is tested once where these follow each other.
    let mut tested: Option<(S::Term, bool)> = None;
    let mut start_of = move |(subject, object): (S::Term, S::Term)| {
        let (start, end) = if ready.inverse {
            (object, subject)
        } else {
            (subject, object)
        };
        let matches = match &tested {
            Some((known, matches)) if *known == end => *matches,
            _ => {
                let test = |end: TermRef<'_>| matcher.matches(end);
                let matches = !source.is_blank(&end) && source.with_term(&end, test);
                tested = Some((end, matches));
                matches
            }
        };
        matches.then(|| source.to_node(start).ok()).flatten()
    };
    // Most values do not match; several of them are one step of the scan.
    let mut next = move || -> Result<Option<Option<S::Node>>, StoreError> {
        for _ in 0..MISSES {
            let Some(pair) = pairs.next() else {
                return Ok(None);
            };
            walker.tick()?;
            let Some(pair) = pair? else {
                break;
            };
            if let Some(start) = start_of(pair) {
                return Ok(Some(Some(start)));
            }
        }
        Ok(Some(None))
    };
    let starts = std::iter::from_fn(move || next().transpose());
    Ok(Some(Source {
        way: way.to_vec(),
        ..Source::new(Weight::Property, Box::new(starts))
    }))
}

/// Returns all terms that pass a test, if the test fixes them exactly.
fn exact_terms(test: &ValueTest) -> Option<Vec<Known<'_>>> {
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
        Constant::Iri(iri) => Known::Iri(iri),
        Constant::Literal(literal) => Known::Literal(literal),
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
