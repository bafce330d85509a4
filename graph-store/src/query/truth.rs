//! What the form of a condition shows: that it always holds, or that it never does.
//!
//! Both answers are safe. A condition that is called true holds for every object, and one that is called false for none;
//! that a condition is neither says nothing. The two are mirror images: each kind of condition has an arm in both.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use oxrdf::NamedNode;
use regex::RegexBuilder;

use super::condition::{
    Comparison, Constant, Domain, NodeCondition, Operator, Quantifier, TermCondition, TypeTest,
    ValueCondition, ValueTest,
};
use super::regex::Regex;
use super::universal::Texts;

/// Most types of which each is looked at by its own.
const MAX_TYPES: usize = 100;

/// Maximum memory of a regular expression that a type is compared with, in bytes.
const REGEX_SIZE: usize = 1 << 20;

/// Most regular expressions that types are compared with: building one may take a millisecond.
const MAX_REGEXES: usize = 16;

impl NodeCondition {
    /// Returns whether every object satisfies the condition, as far as its form shows.
    #[must_use]
    pub fn is_true(&self) -> bool {
        self.holds(&Known::nothing(&Regexes::default()))
    }

    /// Returns whether no object satisfies the condition, as far as its form shows.
    #[must_use]
    pub fn is_false(&self) -> bool {
        self.fails(&Known::nothing(&Regexes::default()))
    }

    /// Returns whether every object that satisfies all of `facts` satisfies the condition, as far as its form
    /// shows.
    #[must_use]
    pub fn is_true_given(&self, facts: &[NodeCondition]) -> bool {
        let types: Vec<OneType<'_>> = match facts.iter().find_map(NodeCondition::as_instance) {
            Some(test) => test.each().collect(),
            None => Vec::new(),
        };
        let regexes = &Regexes::default();
        let known = |types| Known {
            facts,
            types,
            regexes,
        };
        // Types may each have a reason of their own.
        let of_each = || types.chunks(1).all(|one| self.holds(&known(one)));
        self.holds(&known(&types)) || ((2..=MAX_TYPES).contains(&types.len()) && of_each())
    }

    fn as_instance(&self) -> Option<&TypeTest> {
        match self {
            NodeCondition::Instance(test) => Some(test),
            _ => None,
        }
    }

    fn holds(&self, known: &Known<'_>) -> bool {
        known.facts.contains(self)
            || match self {
                NodeCondition::All(parts) => parts.iter().all(|part| part.holds(known)),
                NodeCondition::Any(parts) => {
                    parts.iter().any(|part| part.holds(known)) || has_opposites(self, Junction::Any)
                }
                NodeCondition::Not(inner) => inner.fails(known),
                NodeCondition::OneOf(_) => false,
                NodeCondition::Iri(test) => test.is_true_of_iris(),
                NodeCondition::Instance(test) => known.all_types(|of| test.each().any(|t| t == of)),
                NodeCondition::Values {
                    step,
                    quantifier: Quantifier::Some,
                    condition,
                } => known.all_types(|(property, ty)| {
                    !step.inverse
                        && *property == step.predicate
                        && condition.decide(ty, known.regexes) == Some(true)
                }),
                NodeCondition::Values {
                    quantifier: Quantifier::Every,
                    condition,
                    ..
                } => condition.is_true(),
            }
    }

    fn fails(&self, known: &Known<'_>) -> bool {
        match self {
            NodeCondition::All(parts) => {
                parts.iter().any(|part| part.fails(known)) || has_opposites(self, Junction::All)
            }
            NodeCondition::Any(parts) => parts.iter().all(|part| part.fails(known)),
            NodeCondition::Not(inner) => inner.holds(known),
            NodeCondition::OneOf(ids) => ids.is_empty(),
            NodeCondition::Iri(test) => test.is_false_of_iris(),
            NodeCondition::Instance(test) => test.each().next().is_none(),
            NodeCondition::Values {
                quantifier: Quantifier::Some,
                condition,
                ..
            } => condition.is_false(),
            NodeCondition::Values {
                step,
                quantifier: Quantifier::Every,
                condition,
            } => known.all_types(|(property, ty)| {
                !step.inverse
                    && *property == step.predicate
                    && condition.decide(ty, known.regexes) == Some(false)
            }),
        }
    }
}

/// A type, and the property by which an object has it.
type OneType<'k> = (&'k NamedNode, &'k NamedNode);

/// What is known of the objects that a condition is applied to.
#[derive(Clone, Copy)]
struct Known<'k> {
    /// Conditions that hold.
    facts: &'k [NodeCondition],
    /// Types of which each object has at least one; none if nothing is known.
    types: &'k [OneType<'k>],
    /// What types are compared with.
    regexes: &'k Regexes,
}

impl<'k> Known<'k> {
    fn nothing(regexes: &'k Regexes) -> Self {
        Known {
            facts: &[],
            types: &[],
            regexes,
        }
    }

    /// Returns whether types are known, and all are as is asked.
    fn all_types(&self, is_meant: impl Fn(OneType<'_>) -> bool) -> bool {
        !self.types.is_empty() && self.types.iter().all(|ty| is_meant(*ty))
    }
}

impl TypeTest {
    fn each(&self) -> impl Iterator<Item = OneType<'_>> {
        let alternatives = self.alternatives.iter();
        alternatives.flat_map(|(property, types)| types.iter().map(move |ty| (property, ty)))
    }
}

impl ValueCondition {
    /// Returns whether every value satisfies the condition, as far as its form shows. Of a condition on objects,
    /// other values are not meant.
    #[must_use]
    pub fn is_true(&self) -> bool {
        match self {
            ValueCondition::Node(condition) => condition.is_true(),
            ValueCondition::Term(condition) => condition.is_true(),
        }
    }

    /// Returns whether no value satisfies the condition, as far as its form shows.
    #[must_use]
    pub fn is_false(&self) -> bool {
        match self {
            ValueCondition::Node(condition) => condition.is_false(),
            ValueCondition::Term(condition) => condition.is_false(),
        }
    }

    /// Returns whether an IRI satisfies the condition; `None` where that depends on data.
    fn decide(&self, iri: &NamedNode, regexes: &Regexes) -> Option<bool> {
        match self {
            ValueCondition::Term(condition) => condition.decide(iri, regexes),
            ValueCondition::Node(condition) if condition.is_true() => Some(true),
            ValueCondition::Node(condition) if condition.is_false() => Some(false),
            ValueCondition::Node(_) => None,
        }
    }
}

impl TermCondition {
    /// Returns whether every value satisfies the condition, as far as its form shows.
    #[must_use]
    pub fn is_true(&self) -> bool {
        match self {
            TermCondition::All(parts) => parts.iter().all(TermCondition::is_true),
            TermCondition::Any(parts) => {
                parts.iter().any(TermCondition::is_true) || has_opposites(self, Junction::Any)
            }
            TermCondition::Not(inner) => inner.is_false(),
            // None of these holds for both literals and IRIs.
            TermCondition::Value(_) | TermCondition::Datatype(_) | TermCondition::Lang { .. } => {
                false
            }
        }
    }

    /// Returns whether no value satisfies the condition, as far as its form shows.
    #[must_use]
    pub fn is_false(&self) -> bool {
        match self {
            TermCondition::All(parts) => {
                parts.iter().any(TermCondition::is_false) || has_opposites(self, Junction::All)
            }
            TermCondition::Any(parts) => parts.iter().all(TermCondition::is_false),
            TermCondition::Not(inner) => inner.is_true(),
            TermCondition::Value(test) | TermCondition::Datatype(test) => test.is_false(),
            TermCondition::Lang { include, exclude } => {
                !include.is_empty() && include.iter().all(|range| exclude.contains(range))
            }
        }
    }

    /// Returns whether an IRI satisfies the condition; `None` if that is not found out here.
    fn decide(&self, iri: &NamedNode, regexes: &Regexes) -> Option<bool> {
        let each = |parts: &[TermCondition], decisive: bool| {
            let mut is_known = true;
            for part in parts {
                match part.decide(iri, regexes) {
                    Some(decided) if decided == decisive => return Some(decisive),
                    decided => is_known &= decided.is_some(),
                }
            }
            is_known.then_some(!decisive)
        };
        match self {
            TermCondition::All(parts) => each(parts, false),
            TermCondition::Any(parts) => each(parts, true),
            TermCondition::Not(inner) => inner.decide(iri, regexes).map(|holds| !holds),
            TermCondition::Value(test) => test.decide(iri, regexes),
            TermCondition::Datatype(_) | TermCondition::Lang { .. } => Some(false),
        }
    }
}

impl ValueTest {
    /// Returns whether no value passes the test, as far as its form shows.
    #[must_use]
    pub fn is_false(&self) -> bool {
        match &self.operator {
            Operator::In(constants) => constants.is_empty(),
            Operator::Matches(regex, negated) => *negated && regex.matches_every(Texts::Any),
            Operator::Compare(..) | Operator::NotIn(_) => false,
        }
    }

    /// Returns whether the IRI of every object passes the test, as far as its form shows.
    fn is_true_of_iris(&self) -> bool {
        self.domain == Domain::Iri
            && match &self.operator {
                Operator::NotIn(constants) => constants.is_empty(),
                Operator::Matches(regex, negated) => !negated && regex.matches_every(Texts::Iris),
                Operator::Compare(..) | Operator::In(_) => false,
            }
    }

    /// Returns whether the IRI of no object passes the test, as far as its form shows.
    fn is_false_of_iris(&self) -> bool {
        self.is_false()
            || match (&self.operator, self.domain) {
                (Operator::Matches(regex, negated), Domain::Iri) => {
                    *negated && regex.matches_every(Texts::Iris)
                }
                (_, domain) => !matches!(domain, Domain::Iri | Domain::Cast(_)),
            }
    }

    /// Returns whether an IRI passes the test; `None` if that is not found out here.
    fn decide(&self, iri: &NamedNode, regexes: &Regexes) -> Option<bool> {
        let is = |constant: &Constant| match constant {
            Constant::Iri(other) => other == iri,
            Constant::Literal(literal) => literal.value() == iri.as_str(),
        };
        match (self.domain, &self.operator) {
            (Domain::Cast(_), _) => None,
            (Domain::Iri, Operator::Compare(Comparison::Equal, constant)) => Some(is(constant)),
            (Domain::Iri, Operator::Compare(Comparison::NotEqual, constant)) => Some(!is(constant)),
            (Domain::Iri, Operator::Compare(..)) => None,
            (Domain::Iri, Operator::In(constants)) => Some(constants.iter().any(is)),
            (Domain::Iri, Operator::NotIn(constants)) => Some(!constants.iter().any(is)),
            (Domain::Iri, Operator::Matches(regex, negated)) => {
                Some(regexes.matches(regex, iri.as_str())? != *negated)
            }
            // An IRI is outside of the domain.
            _ => Some(false),
        }
    }
}

/// Regular expressions that were built, each once.
#[derive(Default)]
struct Regexes(RefCell<HashMap<Regex, Option<regex::Regex>>>);

impl Regexes {
    /// Returns whether a text matches; `None` where the expression is too large, or one too many.
    fn matches(&self, regex: &Regex, text: &str) -> Option<bool> {
        let mut built = self.0.borrow_mut();
        if !built.contains_key(regex) {
            if built.len() >= MAX_REGEXES {
                return None;
            }
            let new = RegexBuilder::new(&regex.pattern)
                .case_insensitive(regex.case_insensitive)
                .size_limit(REGEX_SIZE)
                .build();
            built.insert(regex.clone(), new.ok());
        }
        let found = built.get(regex)?.as_ref()?;
        Some(found.is_match(text))
    }
}

/// How parts are joined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Junction {
    All,
    Any,
}

impl Junction {
    fn other(self) -> Junction {
        match self {
            Junction::All => Junction::Any,
            Junction::Any => Junction::All,
        }
    }
}

/// A condition as far as logic is concerned.
enum Form<'c, C> {
    Joined(Junction, &'c [C]),
    Not(&'c C),
    Atom,
}

/// A condition that is made of others.
trait Logic: Clone + Eq + Hash {
    fn form(&self) -> Form<'_, Self>;

    /// Returns a condition of which this one is the same or the opposite: one for both.
    fn atom(&self) -> (Cow<'_, Self>, bool);
}

impl Logic for NodeCondition {
    fn form(&self) -> Form<'_, Self> {
        match self {
            NodeCondition::All(parts) => Form::Joined(Junction::All, parts),
            NodeCondition::Any(parts) => Form::Joined(Junction::Any, parts),
            NodeCondition::Not(inner) => Form::Not(inner),
            _ => Form::Atom,
        }
    }

    fn atom(&self) -> (Cow<'_, Self>, bool) {
        match self {
            NodeCondition::Iri(test) if test.domain == Domain::Iri => match test.positive() {
                Some((positive, is_same)) => (Cow::Owned(positive), is_same),
                None => (Cow::Borrowed(self), true),
            },
            // All values do if not some do not.
            NodeCondition::Values {
                step,
                quantifier: Quantifier::Every,
                condition,
            } => {
                let some = NodeCondition::Values {
                    step: step.clone(),
                    quantifier: Quantifier::Some,
                    condition: Box::new(condition.opposite()),
                };
                (Cow::Owned(some), false)
            }
            other => (Cow::Borrowed(other), true),
        }
    }
}

impl Logic for TermCondition {
    fn form(&self) -> Form<'_, Self> {
        match self {
            TermCondition::All(parts) => Form::Joined(Junction::All, parts),
            TermCondition::Any(parts) => Form::Joined(Junction::Any, parts),
            TermCondition::Not(inner) => Form::Not(inner),
            _ => Form::Atom,
        }
    }

    fn atom(&self) -> (Cow<'_, Self>, bool) {
        (Cow::Borrowed(self), true)
    }
}

impl ValueCondition {
    fn opposite(&self) -> ValueCondition {
        match self {
            ValueCondition::Node(NodeCondition::Not(inner)) => {
                ValueCondition::Node((**inner).clone())
            }
            ValueCondition::Term(TermCondition::Not(inner)) => {
                ValueCondition::Term((**inner).clone())
            }
            ValueCondition::Node(condition) => {
                ValueCondition::Node(NodeCondition::Not(Box::new(condition.clone())))
            }
            ValueCondition::Term(condition) => {
                ValueCondition::Term(TermCondition::Not(Box::new(condition.clone())))
            }
        }
    }
}

impl ValueTest {
    /// Returns a test of IRIs without negation, and whether it is the same and not the opposite.
    fn positive(&self) -> Option<(NodeCondition, bool)> {
        let one_of = |constants: &[Constant]| {
            let ids = constants.iter().map(|constant| match constant {
                Constant::Iri(iri) => Some(iri.clone()),
                Constant::Literal(_) => None,
            });
            ids.collect::<Option<_>>().map(NodeCondition::one_of)
        };
        let single = std::slice::from_ref::<Constant>;
        Some(match &self.operator {
            Operator::Compare(Comparison::Equal, constant) => (one_of(single(constant))?, true),
            Operator::Compare(Comparison::NotEqual, constant) => (one_of(single(constant))?, false),
            Operator::In(constants) => (one_of(constants)?, true),
            Operator::NotIn(constants) => (one_of(constants)?, false),
            Operator::Matches(regex, true) => {
                let operator = Operator::Matches(regex.clone(), false);
                let (domain, is_same) = (self.domain, false);
                (NodeCondition::Iri(ValueTest { domain, operator }), is_same)
            }
            Operator::Compare(..) | Operator::Matches(_, false) => return None,
        })
    }
}

/// Returns whether a condition and its opposite are among the parts that `junction` joins, at any depth.
fn has_opposites<C: Logic>(condition: &C, junction: Junction) -> bool {
    let mut parts = Parts {
        junction,
        sides: [HashSet::new(), HashSet::new()],
    };
    parts.add(condition, true);
    let [negative, positive] = &parts.sides;
    !positive.is_disjoint(negative)
        || positive.iter().any(|part| parts.are_opposed(part, true))
        || negative.iter().any(|part| parts.are_opposed(part, false))
}

/// The parts of a condition, by whether they are negated.
struct Parts<'c, C: Logic> {
    junction: Junction,
    /// Those that are negated, and those that are not.
    sides: [HashSet<Cow<'c, C>>; 2],
}

impl<'c, C: Logic> Parts<'c, C> {
    fn add(&mut self, condition: &'c C, is_positive: bool) {
        let (condition, is_positive) = bare(condition, is_positive);
        let (atom, side) = atom(condition, is_positive);
        // The opposite of what is joined may be there as a whole.
        self.sides[side].insert(atom);
        if let Form::Joined(junction, parts) = condition.form() {
            // By De Morgan's laws, a negation turns one junction into the other.
            let as_is = if is_positive {
                junction
            } else {
                junction.other()
            };
            if self.junction == as_is {
                parts.iter().for_each(|part| self.add(part, is_positive));
            }
        }
    }

    /// Returns whether a condition that is there is a joined one, and the opposite of each of its parts is there too.
    fn are_opposed(&self, whole: &C, is_positive: bool) -> bool {
        match whole.form() {
            Form::Joined(_, parts) if !parts.is_empty() => {
                parts.iter().all(|part| self.has(part, !is_positive))
            }
            _ => false,
        }
    }

    fn has(&self, condition: &C, is_positive: bool) -> bool {
        let (condition, is_positive) = bare(condition, is_positive);
        let (atom, side) = atom(condition, is_positive);
        self.sides[side].contains(&atom)
    }
}

/// Returns a condition without negations and junctions of one part around it, and whether it is still positive.
fn bare<C: Logic>(condition: &C, is_positive: bool) -> (&C, bool) {
    match condition.form() {
        Form::Not(inner) => bare(inner, !is_positive),
        Form::Joined(_, [single]) => bare(single, is_positive),
        Form::Joined(..) | Form::Atom => (condition, is_positive),
    }
}

/// Returns the atom of a condition, and its place among the sides.
fn atom<C: Logic>(condition: &C, is_positive: bool) -> (Cow<'_, C>, usize) {
    let (atom, is_same) = condition.atom();
    (atom, usize::from(is_positive == is_same))
}
