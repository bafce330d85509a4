//! Values that an order compares, fetched before sorting.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;

use call_context::CallContext;
use oxrdf::{NamedNode, Term};

use crate::error::StoreError;
use crate::evaluate::shown;
use crate::query::{OrderKey, SortBy, Step, TypeGuard, TypeTest};
use crate::sparql::Fact;
use crate::store::order::{Neighbours, drop_repeated, split};
use crate::value::SortValue;

/// Returns the facts that the keys of an order and a test of the nodes need.
pub(super) fn wanted(order: &[OrderKey], members: Option<&TypeTest>) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(test) = members {
        want_types(&mut facts, &[], test);
    }
    for way in order.iter().flat_map(|key| &key.ways) {
        let mut chain = Vec::new();
        let (steps, last) = split(way);
        for step in steps {
            want_guard(&mut facts, &chain, step.of.as_ref());
            want(&mut facts, &chain, &step.step, None);
            chain.push(step.step.clone());
            for test in &step.tests {
                want_types(&mut facts, &chain, test);
            }
            want_guard(&mut facts, &chain, step.displayed.as_ref());
        }
        if let Some(last) = last {
            want_guard(&mut facts, &chain, last.of.as_ref());
            want(&mut facts, &chain, &last.step, None);
        }
        if let SortBy::TypeName(index) = &way.by {
            want_types(&mut facts, &chain, &index.test());
        }
    }
    facts
}

/// Wants what tells whether a guard admits the nodes at the end of a chain.
fn want_guard(facts: &mut Vec<Fact>, chain: &[Step], guard: Option<&TypeGuard>) {
    for (test, _) in guard.iter().flat_map(|guard| &guard.tests) {
        want_types(facts, chain, test);
    }
}

fn want_types(facts: &mut Vec<Fact>, chain: &[Step], test: &TypeTest) {
    for (property, types) in test.alternatives.iter() {
        let step = Step::forward(property.clone());
        want(facts, chain, &step, Some(types.clone()));
    }
}

fn want(facts: &mut Vec<Fact>, chain: &[Step], step: &Step, only: Option<Vec<NamedNode>>) {
    let fact = Fact {
        chain: chain.to_vec(),
        step: step.clone(),
        only,
    };
    if !facts.contains(&fact) {
        facts.push(fact);
    }
}

/// Fetched values of nodes, by step.
pub(super) struct Facts<'a> {
    context: &'a CallContext,
    steps: Vec<Step>,
    /// The known values of each node, each with the index of its step.
    values: HashMap<NamedNode, Vec<(usize, Term)>>,
}

impl<'a> Facts<'a> {
    pub(super) fn new(context: &'a CallContext) -> Self {
        Facts {
            context,
            steps: Vec::new(),
            values: HashMap::new(),
        }
    }

    /// Adds a value; blank nodes are ignored on both sides.
    pub(super) fn add(&mut self, node: Term, step: &Step, value: Term) {
        let Term::NamedNode(node) = node else {
            return;
        };
        if matches!(value, Term::BlankNode(_)) {
            return;
        }
        let position = self.position(step).unwrap_or_else(|| {
            self.steps.push(step.clone());
            self.steps.len() - 1
        });
        self.values.entry(node).or_default().push((position, value));
    }

    fn position(&self, step: &Step) -> Option<usize> {
        self.steps.iter().position(|known| known == step)
    }

    fn of<'f>(&'f self, node: &NamedNode, step: &Step) -> impl Iterator<Item = &'f Term> {
        let known = self.position(step).zip(self.values.get(node));
        known.into_iter().flat_map(|(wanted, values)| {
            values
                .iter()
                .filter(move |(position, _)| *position == wanted)
                .map(|(_, value)| value)
        })
    }
}

impl Neighbours for Facts<'_> {
    type Node = NamedNode;
    type Term = Term;
    type Step<'q> = Cow<'q, Step>;
    type Test<'q> = &'q TypeTest;

    fn context(&self) -> &CallContext {
        self.context
    }

    fn step<'q>(&self, step: &'q Step) -> Cow<'q, Step> {
        Cow::Borrowed(step)
    }

    fn forward<'q>(&self, property: &'q NamedNode) -> Cow<'q, Step> {
        Cow::Owned(Step::forward(property.clone()))
    }

    fn test<'q>(&self, test: &'q TypeTest) -> &'q TypeTest {
        test
    }

    fn compare(&self, a: &NamedNode, b: &NamedNode) -> Ordering {
        a.cmp(b)
    }

    fn to_node(&self, term: Term) -> Result<NamedNode, Term> {
        match term {
            Term::NamedNode(node) => Ok(node),
            other => Err(other),
        }
    }

    fn text(&self, term: &Term) -> String {
        term.to_string()
    }

    fn to_iris(&self, nodes: Vec<NamedNode>) -> Vec<NamedNode> {
        nodes
    }

    fn shown(&self, by: &SortBy, values: Vec<Term>) -> SortValue {
        shown(by, &values, &self.context.accept_language)
    }

    fn walk(
        &self,
        node: &NamedNode,
        step: &Cow<'_, Step>,
        values: &mut Vec<Term>,
    ) -> Result<(), StoreError> {
        let start = values.len();
        values.extend(self.of(node, step).cloned());
        if values.len() - start > 1 {
            drop_repeated(values, start);
        }
        Ok(())
    }

    fn is_instance(&self, node: &NamedNode, test: &&TypeTest) -> Result<bool, StoreError> {
        Ok(test.alternatives.iter().any(|(property, types)| {
            let step = Step::forward(property.clone());
            self.of(node, &step)
                .any(|ty| matches!(ty, Term::NamedNode(ty) if types.binary_search(ty).is_ok()))
        }))
    }
}
