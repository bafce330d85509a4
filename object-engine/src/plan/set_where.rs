//! Conditions on the set of values of a property, as expressed by `T_Where_Multi` inputs.
//!
//! Sibling keys apply to the same value; `ALL` and `ALL_EXISTS` apply to all values
//! (docs/queries.md, "Filters").

use graph_store::query::{NodeCondition, Quantifier, Step, TermCondition, ValueCondition};

/// A condition that can be combined.
pub(crate) trait Combine: Clone {
    fn conjunction(parts: Vec<Self>) -> Self;
    fn disjunction(parts: Vec<Self>) -> Self;
    fn negation(self) -> Self;
    fn into_value(self) -> ValueCondition;
}

impl Combine for NodeCondition {
    fn conjunction(parts: Vec<Self>) -> Self {
        NodeCondition::all(parts)
    }

    fn disjunction(parts: Vec<Self>) -> Self {
        NodeCondition::Any(parts)
    }

    fn negation(self) -> Self {
        NodeCondition::Not(Box::new(self))
    }

    fn into_value(self) -> ValueCondition {
        ValueCondition::Node(self)
    }
}

impl Combine for TermCondition {
    fn conjunction(parts: Vec<Self>) -> Self {
        TermCondition::all(parts)
    }

    fn disjunction(parts: Vec<Self>) -> Self {
        TermCondition::Any(parts)
    }

    fn negation(self) -> Self {
        TermCondition::Not(Box::new(self))
    }

    fn into_value(self) -> ValueCondition {
        ValueCondition::Term(self)
    }
}

/// A condition on a set of values: on at least one value, and on all of them.
#[derive(Clone, Debug)]
pub(crate) struct SetWhere<C> {
    /// Condition on one and the same value; `None` if there is none on single values.
    each: Option<C>,
    quantified: Vec<Quantified<C>>,
}

#[derive(Clone, Debug)]
enum Quantified<C> {
    Some(C),
    Every(C),
    Any(Vec<SetWhere<C>>),
    Not(Box<SetWhere<C>>),
}

impl<C: Combine> SetWhere<C> {
    /// The empty condition.
    pub(crate) fn empty() -> Self {
        SetWhere {
            each: None,
            quantified: Vec::new(),
        }
    }

    /// Adds a condition on the single value.
    pub(crate) fn and_each(&mut self, condition: C) {
        self.each = Some(match self.each.take() {
            None => condition,
            Some(before) => C::conjunction(vec![before, condition]),
        });
    }

    /// Adds `ALL`, which is true if there is no value.
    pub(crate) fn and_every(&mut self, inner: SetWhere<C>) {
        self.quantified.push(Quantified::Every(inner.of_one()));
    }

    /// Adds `ALL_EXISTS`: at least one value, and all satisfy the condition.
    pub(crate) fn and_every_and_some(&mut self, inner: SetWhere<C>) {
        self.quantified
            .push(Quantified::Some(C::conjunction(Vec::new())));
        self.and_every(inner);
    }

    /// Adds `AND`.
    pub(crate) fn and_all(&mut self, inner: Vec<SetWhere<C>>) {
        for part in inner {
            let part = part.or_present();
            self.quantified.extend(part.quantified);
            if let Some(each) = part.each {
                self.and_each(each);
            }
        }
    }

    /// Adds `OR`.
    pub(crate) fn and_any(&mut self, inner: Vec<SetWhere<C>>) {
        let inner: Vec<_> = inner.into_iter().map(SetWhere::or_present).collect();
        // Alternatives for one value stay conditions on that value; with quantifiers among them,
        // the whole set has alternatives.
        if inner.iter().all(|part| part.quantified.is_empty()) {
            let parts = inner.into_iter().filter_map(|part| part.each).collect();
            self.and_each(C::disjunction(parts));
        } else {
            self.quantified.push(Quantified::Any(inner));
        }
    }

    /// Adds `NOT`.
    pub(crate) fn and_not(&mut self, inner: SetWhere<C>) {
        let inner = inner.or_present();
        match inner {
            SetWhere {
                each: Some(each),
                quantified,
            } if quantified.is_empty() => {
                self.and_each(each.negation());
            }
            inner => self.quantified.push(Quantified::Not(Box::new(inner))),
        }
    }

    /// An input without keys requires some value: `{}` means that there is one (docs/queries.md,
    /// "Filters").
    fn or_present(mut self) -> Self {
        if self.each.is_none() && self.quantified.is_empty() {
            self.each = Some(C::conjunction(Vec::new()));
        }
        self
    }

    /// Restricts the set to the values that satisfy `member`: other values count as absent.
    pub(crate) fn on_instances(self, member: C) -> Self {
        let SetWhere { each, quantified } = self.or_present();
        // For all members the condition holds: what is no member is no counter-example.
        let every = |condition: C| C::disjunction(vec![member.clone().negation(), condition]);
        // `each` is absent only if every key is a quantifier.
        let each = each.map(|condition| C::conjunction(vec![member.clone(), condition]));
        let mut narrowed = SetWhere {
            each,
            quantified: Vec::new(),
        };
        for part in quantified {
            match part {
                Quantified::Every(c) => narrowed.quantified.push(Quantified::Every(every(c))),
                Quantified::Some(c) => narrowed
                    .quantified
                    .push(Quantified::Some(C::conjunction(vec![member.clone(), c]))),
                Quantified::Any(inner) => narrowed.quantified.push(Quantified::Any(
                    inner
                        .into_iter()
                        .map(|i| i.on_instances(member.clone()))
                        .collect(),
                )),
                Quantified::Not(inner) => narrowed.quantified.push(Quantified::Not(Box::new(
                    inner.on_instances(member.clone()),
                ))),
            }
        }
        narrowed
    }

    /// Applies the condition to the values along `step`.
    pub(crate) fn along(self, step: &Step) -> NodeCondition {
        let values = |quantifier, condition: C| NodeCondition::Values {
            step: step.clone(),
            quantifier,
            condition: Box::new(condition.into_value()),
        };
        let SetWhere { each, quantified } = self.or_present();
        let mut parts = Vec::new();
        parts.extend(each.map(|condition| values(Quantifier::Some, condition)));
        for part in quantified {
            match part {
                Quantified::Every(condition) => parts.push(values(Quantifier::Every, condition)),
                Quantified::Some(condition) => parts.push(values(Quantifier::Some, condition)),
                Quantified::Any(inner) => parts.push(NodeCondition::Any(
                    inner.into_iter().map(|part| part.along(step)).collect(),
                )),
                Quantified::Not(inner) => {
                    parts.push(NodeCondition::Not(Box::new(inner.along(step))));
                }
            }
        }
        NodeCondition::all(parts)
    }

    /// Applies the condition to a single value, for which `ALL` and `ALL_EXISTS` add nothing.
    pub(crate) fn of_one(self) -> C {
        let mut parts: Vec<C> = self.each.into_iter().collect();
        for part in self.quantified {
            parts.push(match part {
                Quantified::Some(condition) | Quantified::Every(condition) => condition,
                Quantified::Any(inner) => {
                    C::disjunction(inner.into_iter().map(SetWhere::of_one).collect())
                }
                Quantified::Not(inner) => inner.of_one().negation(),
            });
        }
        C::conjunction(parts)
    }
}
