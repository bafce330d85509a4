//! Finds the objects that satisfy a condition.
//!
//! Each part of a conjunction may offer a source of candidates: a list of ids, the instances of a
//! type, the objects that link to a known value, or those with a matching value of a property. Where it is
//! known how many triples they read, the smallest source provides the candidates. Others are read in turns, the
//! promising ones in larger steps; the first that is exhausted provides them. So the cost is proportional to the
//! smallest source, without statistics. Then the whole condition is evaluated for each candidate.

use std::iter;

use oxrdf::TermRef;

use super::condition::Ready;
use super::ready::Known;
use super::source::{QuadSource, Searched};
use super::spans::Spans;
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
/// Objects that are taken to lead to the same value, by the power of two.
const FAN_IN: usize = 4;
/// Triples of a source that is read without looking for a smaller one.
const SMALL: usize = 1_024;
/// Part of the triples of a property that are many.
const MANY: usize = 8;
/// Part of the cost of the candidates that may be spent on the hope to need only some of them.
const HOPE: usize = 4;

/// The objects that satisfy a condition, and how they were found.
pub(super) struct Selected<N> {
    pub(super) nodes: Vec<N>,
    /// What candidates were found by.
    pub(super) by: &'static str,
    /// How many candidates there were.
    pub(super) candidates: usize,
}

/// Returns the distinct IRIs that satisfy a condition. Where no more are wanted than the first some in the order
/// of code points, not all need be returned behind these.
pub(super) fn select<S: QuadSource>(
    walker: &Walker<'_, S>,
    condition: &NodeCondition,
    first: Option<usize>,
) -> Result<Selected<S::Node>, StoreError> {
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
    let (candidates, decided, by) = match ids {
        Some((part, ids)) => {
            let ids = ids.iter().map(|id| walker.source.node(id).into_owned());
            (ids.collect(), Some(part), "ids")
        }
        None => {
            let mut sources = Vec::new();
            add_sources(walker, parts, &mut Vec::new(), &mut sources)?;
            if let Some(first) = first
                && let Some(selected) = first_in_order(walker, parts, &sources, first)?
            {
                return Ok(selected);
            }
            let source = first_to_end(walker, sources)?;
            let (decided, by) = (source.decides, source.by);
            (source.candidates(walker)?, decided, by)
        }
    };
    let open = parts
        .iter()
        .enumerate()
        .filter(|(part, _)| decided != Some(*part));
    let ready = Ready::all(&walker.source, open.map(|(_, part)| part))?;
    let found = candidates.len();
    let nodes = if ready.is_true() {
        candidates
    } else {
        satisfying(walker, &ready, candidates)?
    };
    Ok(Selected {
        nodes,
        by,
        candidates: found,
    })
}

/// Keeps the objects that satisfy a condition.
fn satisfying<S: QuadSource>(
    walker: &Walker<'_, S>,
    ready: &Ready<'_, S>,
    candidates: Vec<S::Node>,
) -> Result<Vec<S::Node>, StoreError> {
    let mut selected = Vec::new();
    for node in candidates {
        walker.tick()?;
        if ready.holds(walker, &node)? {
            selected.push(node);
        }
    }
    Ok(selected)
}

/// Tests the instances of a type in the order of code points, as long as that costs a part of what the sources do, and
/// returns the first some that satisfy the condition, beside others; `None` where these are not found soon.
fn first_in_order<S: QuadSource>(
    walker: &Walker<'_, S>,
    parts: &[NodeCondition],
    sources: &[Source<'_, S>],
    first: usize,
) -> Result<Option<Selected<S::Node>>, StoreError> {
    let types = parts.iter().enumerate().find_map(|(part, condition)| {
        let NodeCondition::Instance(test) = condition else {
            return None;
        };
        match &*test.alternatives {
            [(property, types)] if types.len() == 1 => Some((part, property, types.first()?)),
            _ => None,
        }
    });
    let Some((decided, property, ty)) = types.filter(|_| walker.reads_all_graphs()) else {
        return Ok(None);
    };
    let by_type = sources
        .iter()
        .find(|source| source.decides == Some(decided));
    let costs = sources.iter().filter_map(Source::cost);
    let (Some(least), Some(of_type)) = (costs.min(), by_type.and_then(Source::cost)) else {
        return Ok(None);
    };
    // Nothing is smaller than the instances: reading them on is what is to be done anyway.
    let hope = if of_type <= least {
        usize::MAX
    } else {
        least / HOPE
    };
    if hope == 0 {
        return Ok(None);
    }
    let (property, ty) = (walker.forward(property).property, walker.source.node(ty));
    let Some((others, known)) = walker.source.subjects_in_order(&property, &ty) else {
        return Ok(None);
    };
    if others.len() > hope {
        return Ok(None);
    }
    let open = parts
        .iter()
        .enumerate()
        .filter(|(part, _)| *part != decided);
    let ready = Ready::all(&walker.source, open.map(|(_, part)| part))?;
    let mut candidates = others.len();
    let mut nodes = satisfying(walker, &ready, others)?;
    let mut wanted = first;
    for node in known {
        if wanted == 0 {
            break;
        }
        if candidates >= hope {
            return Ok(None);
        }
        candidates += 1;
        walker.tick()?;
        if ready.holds(walker, &node)? {
            walker.keep_node(&node);
            nodes.push(node);
            wanted -= 1;
        }
    }
    Ok(Some(Selected {
        nodes,
        by: "instances in order",
        candidates,
    }))
}

/// Reads sources until one of them is exhausted: the smallest of those whose size is known, and others in turns.
fn first_to_end<'s, S: QuadSource>(
    walker: &Walker<'_, S>,
    mut sources: Vec<Source<'s, S>>,
) -> Result<Source<'s, S>, StoreError> {
    let costs = sources.iter().filter_map(Source::cost);
    if let Some(least) = costs.min() {
        let mut is_first = true;
        sources.retain(|source| match source.cost() {
            Some(cost) => cost == least && std::mem::take(&mut is_first),
            None => least > SMALL,
        });
    }
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

/// A source of candidates: those of all of its legs.
struct Source<'s, S: QuadSource> {
    weight: Weight,
    /// What candidates are found by.
    by: &'static str,
    legs: Vec<Leg<'s, S>>,
    /// The leg that is being read.
    reading: usize,
    /// The part of the condition that every candidate satisfies.
    decides: Option<usize>,
}

/// A part of a source, in which all objects are found the same way.
struct Leg<'s, S: QuadSource> {
    /// Where the triples that are being read start.
    starts: Starts<'s, S>,
    /// The objects so far.
    found: Vec<S::Node>,
    /// An object may be found several times.
    may_repeat: bool,
    /// Steps from a candidate to the objects that are found, in this order.
    way: Vec<&'s Step>,
    /// About how many triples there are to read, where that is known.
    size: Option<usize>,
}

impl<'s, S: QuadSource> Leg<'s, S> {
    fn new(starts: Starts<'s, S>, way: &[&'s Step]) -> Self {
        Leg {
            starts,
            found: Vec::new(),
            may_repeat: true,
            way: way.to_vec(),
            size: None,
        }
    }

    /// Returns the objects that the way leads back to.
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

    /// Returns about how much reading the leg costs.
    fn cost(&self) -> Option<usize> {
        let fan_in = 1_usize << (FAN_IN * self.way.len());
        Some(self.size?.saturating_mul(fan_in))
    }
}

impl<'s, S: QuadSource> Source<'s, S> {
    fn new(weight: Weight, by: &'static str, leg: Leg<'s, S>) -> Self {
        Source {
            weight,
            by,
            legs: vec![leg],
            reading: 0,
            decides: None,
        }
    }

    /// Returns about how much reading the source costs, where that is known.
    fn cost(&self) -> Option<usize> {
        let costs: Option<Vec<usize>> = self.legs.iter().map(Leg::cost).collect();
        let cost = costs?.into_iter().fold(0, usize::saturating_add);
        Some(match self.weight {
            // Each has to be tested for what the other sources know.
            Weight::Instances => cost.saturating_mul(2),
            Weight::KnownValues | Weight::Property => cost,
        })
    }

    /// Reads up to `limit` triples; returns whether the source is exhausted.
    fn read(&mut self, walker: &Walker<'_, S>, limit: usize) -> Result<bool, StoreError> {
        let mut unread = limit;
        while let Some(leg) = self.legs.get_mut(self.reading) {
            let (starts, found) = (&mut leg.starts, &mut leg.found);
            for start in starts.by_ref().take(unread) {
                walker.tick()?;
                if let Some(node) = start? {
                    walker.keep_node(&node);
                    found.push(node);
                }
                unread -= 1;
            }
            if unread == 0 {
                return Ok(false);
            }
            self.reading += 1;
        }
        Ok(true)
    }

    /// Returns the distinct candidates.
    fn candidates(self, walker: &Walker<'_, S>) -> Result<Vec<S::Node>, StoreError> {
        let mut legs = self.legs.into_iter();
        let Some(first) = legs.next() else {
            return Ok(Vec::new());
        };
        let mut nodes = first.candidates(walker)?;
        let has_others = !legs.as_slice().is_empty();
        for leg in legs {
            nodes.append(&mut leg.candidates(walker)?);
        }
        if has_others {
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
            NodeCondition::OneOf(ids) => {
                let nodes = ids.iter().map(|id| walker.source.node(id).into_owned());
                let leg = Leg {
                    size: Some(ids.len()),
                    ..Leg::new(Box::new(nodes.map(|node| Ok(Some(node)))), way)
                };
                sources.push(Source {
                    decides: is_first.then_some(position),
                    ..Source::new(Weight::KnownValues, "ids", leg)
                });
            }
            NodeCondition::Any(alternatives) => {
                let source = of_alternatives(walker, alternatives, way)?;
                sources.extend(source.map(|source| Source {
                    decides: None,
                    ..source
                }));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns the candidates of several alternatives, if those of each are of a known number.
fn of_alternatives<'s, S: QuadSource>(
    walker: &'s Walker<'_, S>,
    alternatives: &'s [NodeCondition],
    way: &mut Vec<&'s Step>,
) -> Result<Option<Source<'s, S>>, StoreError> {
    let mut legs = Vec::with_capacity(alternatives.len());
    for alternative in alternatives {
        let parts = match alternative {
            NodeCondition::All(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
        };
        let mut sources = Vec::new();
        add_sources(walker, parts, way, &mut sources)?;
        let known = sources
            .into_iter()
            .filter_map(|source| Some((source.cost()?, source)));
        let Some((_, least)) = known.min_by_key(|(cost, _)| *cost) else {
            return Ok(None);
        };
        legs.extend(least.legs);
    }
    Ok(Some(Source {
        weight: Weight::Property,
        by: "alternatives",
        legs,
        reading: 0,
        decides: None,
    }))
}

fn instances<'s, S: QuadSource>(walker: &'s Walker<'_, S>, test: &'s TypeTest) -> Source<'s, S> {
    let types = test
        .alternatives
        .iter()
        .flat_map(|(property, types)| types.iter().map(move |ty| (property, ty)));
    let is_single = types.clone().nth(1).is_none();
    let sizes = types
        .clone()
        .map(|(property, ty)| walker.count_starts(Known::Iri(ty), &walker.forward(property)));
    let size = sizes.sum();
    let starts =
        types.flat_map(|(property, ty)| walker.starts(Known::Iri(ty), walker.forward(property)));
    let leg = Leg {
        may_repeat: !is_single || walker.may_repeat,
        size,
        ..Leg::new(Box::new(starts), &[])
    };
    Source::new(Weight::Instances, "types", leg)
}

/// Returns the objects that link to one of some known values.
fn known_values<'s, S: QuadSource>(
    walker: &'s Walker<'_, S>,
    step: &'s Step,
    values: Vec<Known<'s>>,
    way: &[&'s Step],
) -> Source<'s, S> {
    let ready = walker.step(step);
    let sizes = values
        .iter()
        .map(|value| walker.count_starts(*value, &ready));
    let leg = Leg {
        may_repeat: values.len() > 1 || walker.may_repeat,
        size: sizes.sum(),
        ..Leg::new(walker.leading_to(values, ready), way)
    };
    Source::new(Weight::KnownValues, "references", leg)
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
    if !parts.is_empty()
        && let Some(source) = by_range(walker, step, condition, way)?
    {
        return Ok(Some(source));
    }
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
    let filter = if S::SEARCHES_TEXTS && !ready.inverse {
        TextFilter::of(condition)
    } else {
        None
    };
    let pairs = walker
        .in_graphs(move |graph| source.pairs_by_object(&ready.property, filter.clone(), graph));
    let test = ValueTests {
        source,
        matcher,
        spans: None,
        tested: None,
    };
    let leg = Leg::new(starts_of(walker, pairs, ready.inverse, test), way);
    Ok(Some(Source::new(Weight::Property, "values", leg)))
}

/// Returns the objects with a value that satisfies a condition, where such values lie together.
fn by_range<'s, S: QuadSource>(
    walker: &'s Walker<'_, S>,
    step: &'s Step,
    condition: &'s TermCondition,
    way: &[&'s Step],
) -> Result<Option<Source<'s, S>>, StoreError> {
    let ready = walker.step(step);
    if ready.inverse {
        return Ok(None);
    }
    let matcher = TermMatcher::new(condition)?;
    let source = &walker.source;
    let Some(within) = source.within(&ready.property, &matcher) else {
        return Ok(None);
    };
    // Texts that lie together are searched faster than they are tested one by one.
    let is_open = !within.spans.is_decided() && within.size > within.of / MANY;
    if S::SEARCHES_TEXTS && is_open && TextFilter::of(condition).is_some() {
        return Ok(None);
    }
    let (size, spans) = (within.size, within.spans.clone());
    let pairs = walker.in_graphs(move |graph| {
        let pairs = source.pairs_within(&ready.property, &within, graph);
        pairs.map(|pair| pair.map(Some))
    });
    let test = ValueTests {
        source,
        matcher,
        spans: Some(spans),
        tested: None,
    };
    let leg = Leg {
        size: Some(size),
        ..Leg::new(starts_of(walker, pairs, false, test), way)
    };
    Ok(Some(Source::new(Weight::Property, "values", leg)))
}

/// Tests values, each once where those that are the same follow each other.
struct ValueTests<'s, S: QuadSource> {
    source: &'s S,
    matcher: TermMatcher<'s>,
    spans: Option<Spans>,
    tested: Option<(S::Term, bool)>,
}

impl<S: QuadSource> ValueTests<'_, S> {
    fn passes(&mut self, value: S::Term) -> bool {
        match &self.tested {
            Some((known, passes)) if *known == value => *passes,
            _ => {
                let passes = !self.source.is_blank(&value) && self.satisfies(&value);
                self.tested = Some((value, passes));
                passes
            }
        }
    }

    fn satisfies(&self, value: &S::Term) -> bool {
        let spans = self.spans.as_ref();
        let known = spans.and_then(|spans| self.source.decide(spans, value));
        known.unwrap_or_else(|| {
            let test = |value: TermRef<'_>| self.matcher.matches(value);
            self.source.with_term(value, test)
        })
    }
}

/// Returns where triples start whose ends pass a test.
fn starts_of<'s, S: QuadSource>(
    walker: &'s Walker<'_, S>,
    mut pairs: impl Iterator<Item = Result<Searched<S::Term>, StoreError>> + 's,
    is_inverse: bool,
    mut test: ValueTests<'s, S>,
) -> Starts<'s, S> {
    let mut start_of = move |(subject, object): (S::Term, S::Term)| {
        let (start, end) = if is_inverse {
            (object, subject)
        } else {
            (subject, object)
        };
        let passes = test.passes(end);
        passes.then(|| walker.source.to_node(start).ok()).flatten()
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
    Box::new(iter::from_fn(move || next().transpose()))
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
