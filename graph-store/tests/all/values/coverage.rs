//! What the cases of a run contain, and how many of each kind find some objects but not all.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use graph_store::query::{
    Comparison, Domain, NodeCondition, Operator, Quantifier, Selection, TermCondition,
    ValueCondition, ValueTest,
};
use soml_core::datatype::Scalar;

use super::terms::MOMENTS;

/// Cases from which on each domain, each operator and each form of conditions must occur.
const ENOUGH: usize = 1_000;
/// Cases from which on each operator must occur on each domain.
const ENOUGH_FOR_PAIRS: usize = 10_000;

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    cases: usize,
    /// Of these, the cases whose answer is neither empty nor all objects of the types.
    telling: usize,
}

/// Counts the kinds of cases.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    cases: usize,
    counts: BTreeMap<String, Count>,
}

impl Coverage {
    /// Adds a case that found so many of the objects of its types.
    pub(super) fn add(&mut self, selection: &Selection, found: usize, of: usize) {
        self.cases += 1;
        let mut kinds = BTreeSet::new();
        of_selection(selection, &mut kinds);
        for kind in kinds {
            let count = self.counts.entry(kind).or_default();
            count.cases += 1;
            count.telling += usize::from(0 < found && found < of);
        }
    }

    /// Checks that every kind occurred and said something.
    pub(super) fn check(&self) {
        if self.cases < ENOUGH {
            return;
        }
        let mut required = forms();
        let pairs = pairs();
        required.extend(pairs.iter().map(|(domain, _)| format!("domain {domain:?}")));
        if self.cases >= ENOUGH_FOR_PAIRS {
            let names = pairs
                .iter()
                .map(|(domain, operator)| format!("value {domain:?} {operator}"));
            required.extend(names);
        }
        let is_missing = |kind: &String| self.counts.get(kind).is_none_or(|of| of.telling == 0);
        let missing: Vec<String> = required.into_iter().filter(is_missing).collect();
        assert!(missing.is_empty(), "not tested: {missing:?}\n{self}");
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} cases", self.cases)?;
        for (kind, Count { cases, telling }) in &self.counts {
            writeln!(f, "{cases:7} {telling:7} {kind}")?;
        }
        Ok(())
    }
}

const ORDERS: [&str; 6] = [
    "Equal",
    "NotEqual",
    "Less",
    "LessOrEqual",
    "Greater",
    "GreaterOrEqual",
];
const LISTS: [&str; 2] = ["In", "NotIn"];
const MATCHES: [&str; 4] = [
    "Matches",
    "Matches negated",
    "Matches case",
    "Matches case negated",
];

/// Returns the operators that values of each domain are tested with.
fn pairs() -> Vec<(Domain, &'static str)> {
    let operators = |domain: Domain, lists: &[&[&'static str]]| {
        let operators = lists.concat().into_iter();
        operators
            .map(move |operator| (domain, operator))
            .collect::<Vec<_>>()
    };
    let mut all = operators(Domain::Iri, &[&ORDERS[..2], &LISTS, &MATCHES]);
    all.extend(operators(Domain::Cast(Scalar::Iri), &[&ORDERS[..2]]));
    for domain in [
        Domain::Text,
        Domain::Lexical,
        Domain::Typed(Scalar::String),
        Domain::Cast(Scalar::String),
    ] {
        all.extend(operators(domain, &[&ORDERS, &LISTS, &MATCHES[..1]]));
    }
    for domain in [
        Domain::Number,
        Domain::Cast(Scalar::Integer),
        Domain::Cast(Scalar::Decimal),
        Domain::Cast(Scalar::Double),
        Domain::Typed(Scalar::DateTime),
        Domain::Typed(Scalar::Date),
    ] {
        all.extend(operators(domain, &[&ORDERS, &LISTS]));
    }
    let boolean = Domain::Typed(Scalar::Boolean);
    all.extend(operators(boolean, &[&ORDERS[..2], &LISTS]));
    for scalar in MOMENTS {
        all.extend(operators(Domain::Typed(scalar), &[&ORDERS[..2]]));
        all.extend(operators(Domain::Cast(scalar), &[&ORDERS[1..2]]));
    }
    for scalar in [Scalar::Boolean, Scalar::Int] {
        all.extend(operators(Domain::Cast(scalar), &[&ORDERS[1..2]]));
    }
    all
}

/// Returns the operators and the forms of conditions and selections.
fn forms() -> Vec<String> {
    let operators = [&ORDERS[..], &LISTS, &MATCHES].concat();
    let mut all: Vec<String> = operators
        .into_iter()
        .map(|operator| format!("operator {operator}"))
        .collect();
    for operator in ["Equal", "NotEqual", "In", "NotIn", "Matches"] {
        all.push(format!("node {operator}"));
        all.push(format!("datatype {operator}"));
    }
    for quantifier in ["Some", "Every"] {
        for direction in ["forward", "inverse"] {
            all.push(format!("objects {direction} {quantifier}"));
        }
        all.push(format!("terms forward {quantifier}"));
    }
    let names = [
        "all",
        "any",
        "not",
        "one of",
        "instance",
        "instance of several",
        "instance by several",
        "term all",
        "term any",
        "term not",
        "language",
        "steps 1",
        "steps 2",
        "keys 1",
        "keys 2",
        "limit",
        "offset",
        "graphs",
    ];
    all.extend(names.map(str::to_owned));
    all
}

fn of_selection(selection: &Selection, kinds: &mut BTreeSet<String>) {
    of_node(&selection.condition, 0, kinds);
    kinds.insert(format!("keys {}", selection.order.len()));
    for (has, kind) in [
        (selection.page.limit.is_some(), "limit"),
        (selection.page.offset.is_some(), "offset"),
        (selection.dataset.graphs.is_some(), "graphs"),
    ] {
        if has {
            kinds.insert(kind.to_owned());
        }
    }
}

fn of_node(condition: &NodeCondition, steps: usize, kinds: &mut BTreeSet<String>) {
    let mut add = |kind: &str| kinds.insert(kind.to_owned());
    match condition {
        NodeCondition::All(parts) | NodeCondition::Any(parts) => {
            add(if matches!(condition, NodeCondition::All(_)) {
                "all"
            } else {
                "any"
            });
            parts.iter().for_each(|part| of_node(part, steps, kinds));
        }
        NodeCondition::Not(inner) => {
            add("not");
            of_node(inner, steps, kinds);
        }
        NodeCondition::OneOf(_) => {
            add("one of");
        }
        NodeCondition::Iri(test) => of_test("node", test, kinds),
        NodeCondition::Instance(test) => {
            add(match &test.alternatives[..] {
                [(_, types)] if types.len() == 1 => "instance",
                [_] => "instance of several",
                _ => "instance by several",
            });
        }
        NodeCondition::Values {
            step,
            quantifier,
            condition,
        } => {
            let direction = if step.inverse { "inverse" } else { "forward" };
            let many = match quantifier {
                Quantifier::Some => "Some",
                Quantifier::Every => "Every",
            };
            match &**condition {
                ValueCondition::Node(inner) => {
                    add(&format!("objects {direction} {many}"));
                    add(&format!("steps {}", steps + 1));
                    of_node(inner, steps + 1, kinds);
                }
                ValueCondition::Term(inner) => {
                    add(&format!("terms {direction} {many}"));
                    of_term(inner, kinds);
                }
            }
        }
    }
}

fn of_term(condition: &TermCondition, kinds: &mut BTreeSet<String>) {
    let kind = match condition {
        TermCondition::All(_) => "term all",
        TermCondition::Any(_) => "term any",
        TermCondition::Not(_) => "term not",
        TermCondition::Lang { .. } => "language",
        TermCondition::Value(test) => {
            kinds.insert(format!("domain {:?}", test.domain));
            return of_test(&format!("value {:?}", test.domain), test, kinds);
        }
        TermCondition::Datatype(test) => return of_test("datatype", test, kinds),
    };
    kinds.insert(kind.to_owned());
    match condition {
        TermCondition::All(parts) | TermCondition::Any(parts) => {
            parts.iter().for_each(|part| of_term(part, kinds));
        }
        TermCondition::Not(inner) => of_term(inner, kinds),
        _ => {}
    }
}

fn of_test(what: &str, test: &ValueTest, kinds: &mut BTreeSet<String>) {
    let operator = match &test.operator {
        Operator::Compare(comparison, _) => name(*comparison),
        Operator::In(_) => "In",
        Operator::NotIn(_) => "NotIn",
        Operator::Matches(regex, negated) => match (regex.case_insensitive, negated) {
            (false, false) => "Matches",
            (false, true) => "Matches negated",
            (true, false) => "Matches case",
            (true, true) => "Matches case negated",
        },
    };
    kinds.insert(format!("operator {operator}"));
    kinds.insert(format!("{what} {operator}"));
}

fn name(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => "Equal",
        Comparison::NotEqual => "NotEqual",
        Comparison::Less => "Less",
        Comparison::LessOrEqual => "LessOrEqual",
        Comparison::Greater => "Greater",
        Comparison::GreaterOrEqual => "GreaterOrEqual",
    }
}
