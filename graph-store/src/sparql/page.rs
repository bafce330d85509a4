//! Pages of an order that a server cuts.
//!
//! Servers agree with [`SortValue`](crate::value::SortValue) only on values of one well-behaved kind. So each row says whether
//! all of its keys are of the kinds that were expected, and rows of which they are not come first: if the first row is
//! as expected, all are, also those behind the page.

use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, Variable};
use soml_core::datatype::Scalar;
use spargebra::algebra::{Expression, Function, GraphPattern, OrderExpression};

use super::expression::{and, call, if_else, is_iri, is_one_of, or, text};
use super::rows::{conditioned, distinct, extend};
use super::{Parts, balanced, bgp, one_of, triple, union_of};
use crate::query::{NodeCondition, Step, TypeTest};

/// A key by which a server orders objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageKey {
    /// What is compared.
    pub(crate) by: PageBy,
    /// Greatest first.
    pub(crate) descending: bool,
}

/// What a [`PageKey`] compares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PageBy {
    /// The IRI of the object.
    Iri,
    /// The values of a property.
    Values(Step, KeyKind),
}

/// A kind of values of which servers and the service have the same order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyKind {
    /// Strings without a language tag.
    Text,
    /// Integers of few digits, of some datatypes.
    Integer {
        /// Their datatypes.
        datatypes: Vec<NamedNode>,
        /// Their lexical forms.
        pattern: String,
    },
    /// Decimal numbers and integers of few digits.
    Decimal,
    /// Finite floating-point numbers.
    Double,
    /// Dates without a time zone, or in UTC.
    Date,
    /// Dates with times without a time zone, or in UTC.
    DateTime,
    /// IRIs of objects that pass some tests. Other values are passed over, here as by the service.
    Objects(Vec<TypeTest>),
}

/// The rows of a page: the first ones of all combinations of an object and its keys.
#[derive(Clone, Debug)]
pub(crate) struct OrderedPage {
    /// Condition on the objects.
    pub(crate) condition: NodeCondition,
    /// The keys of the order.
    pub(crate) keys: Vec<PageKey>,
    /// Maximum number of rows.
    pub(crate) rows: usize,
}

const SHORT_INTEGER: &str = "^-?[0-9]{1,15}$";
const SHORT_DECIMAL: &str = "^-?[0-9]{1,15}([.][0-9]{1,15})?$";
const SHORT_DOUBLE: &str = "^-?[0-9]{1,15}([.][0-9]{1,15})?([eE][+-]?[0-9]{1,2})?$";
/// Each day from the year 1 to the year 9999.
const DAY: &str = "((000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-\
    ((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))\
    |([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)";
const TIME: &str = "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.]0+|[.][0-9]{0,8}[1-9])?";

impl KeyKind {
    /// Returns the kind of values of a scalar that is agreed on; `None` where there is none.
    pub(crate) fn of(scalar: Scalar) -> Option<KeyKind> {
        Some(match scalar {
            Scalar::String => KeyKind::Text,
            Scalar::Decimal => KeyKind::Decimal,
            Scalar::Double => KeyKind::Double,
            Scalar::Date => KeyKind::Date,
            Scalar::DateTime => KeyKind::DateTime,
            integer => return Self::integer(integer),
        })
    }

    /// Returns the integers of so few digits that all of them are values of the scalar.
    fn integer(scalar: Scalar) -> Option<KeyKind> {
        let (least, greatest) = scalar.integer_bounds()?;
        let digits = |bound: i128| bound.unsigned_abs().to_string().len() - 1;
        if least.is_some_and(|least| least > 0) || greatest.is_some_and(|most| most <= 0) {
            return None;
        }
        let has_sign = least != Some(0);
        let bounds = [least.filter(|_| has_sign), greatest];
        let digits = bounds
            .into_iter()
            .flatten()
            .map(digits)
            .fold(15, usize::min);
        let sign = if has_sign { "-?" } else { "" };
        let own = NamedNode::new_unchecked(scalar.datatype_iri());
        Some(KeyKind::Integer {
            datatypes: vec![xsd::INTEGER.into_owned(), xsd::LONG.into_owned(), own],
            pattern: format!("^{sign}[0-9]{{1,{digits}}}$"),
        })
    }

    /// Tests whether a bound value is of the kind; an error counts as false.
    fn test(&self, value: &Variable) -> Expression {
        let is_of = |datatypes: &[NamedNode]| {
            is_one_of(call(Function::Datatype, [value.clone().into()]), datatypes)
        };
        let matches = |pattern: &str| {
            let stored = call(Function::Str, [value.clone().into()]);
            call(Function::Regex, [stored, text(pattern)])
        };
        match self {
            KeyKind::Text => is_of(&[xsd::STRING.into_owned()]),
            KeyKind::Integer { datatypes, pattern } => and(is_of(datatypes), matches(pattern)),
            KeyKind::Decimal => or(
                and(is_of(&[xsd::DECIMAL.into_owned()]), matches(SHORT_DECIMAL)),
                and(
                    is_of(&[xsd::INTEGER.into_owned(), xsd::LONG.into_owned()]),
                    matches(SHORT_INTEGER),
                ),
            ),
            KeyKind::Double => and(is_of(&[xsd::DOUBLE.into_owned()]), matches(SHORT_DOUBLE)),
            KeyKind::Date => and(
                is_of(&[xsd::DATE.into_owned()]),
                matches(&format!("^{DAY}Z?$")),
            ),
            KeyKind::DateTime => and(
                is_of(&[xsd::DATE_TIME.into_owned()]),
                matches(&format!("^{DAY}T{TIME}Z?$")),
            ),
            KeyKind::Objects(_) => Literal::from(true).into(),
        }
    }

    /// Returns where a step leads from a node to the values of a variable that count. They may be there more than once.
    ///
    /// The step comes before what their types are: a server that joins as it is written would try all objects of these types for
    /// each node. Several types of one property are looked at once.
    pub(super) fn values(&self, node: &Variable, step: &Step, value: &Variable) -> GraphPattern {
        let mut parts = Parts::default();
        parts.patterns.push(triple(node, step, value));
        let KeyKind::Objects(tests) = self else {
            return parts.into_pattern();
        };
        let (mut unions, mut filters) = (Vec::new(), vec![is_iri(value)]);
        for (position, test) in tests.iter().enumerate() {
            match &*test.alternatives {
                [(property, types)] if types.len() > 1 => {
                    let ty = Variable::new_unchecked(format!("{}t{position}", value.as_str()));
                    parts.patterns.push(bgp(value, property, ty.clone().into()));
                    filters.push(is_one_of(ty.into(), types));
                }
                _ => match instance(value, test) {
                    single @ GraphPattern::Bgp { .. } => parts.patterns.push(single),
                    union => unions.push(union),
                },
            }
        }
        let joined = unions
            .into_iter()
            .fold(parts.into_pattern(), |left, right| GraphPattern::Join {
                left: Box::new(left),
                right: Box::new(right),
            });
        GraphPattern::Filter {
            expr: balanced(filters, and).expect("there is one"),
            inner: Box::new(joined),
        }
    }

    /// Returns what is compared instead of the value, the same term for equal values; `None` for the value itself.
    fn normalized(&self, value: &Variable) -> Option<Expression> {
        let plus = |zero: Literal| {
            let value = Expression::from(value.clone());
            Expression::Add(Box::new(value), Box::new(zero.into()))
        };
        let without = |end: &str| {
            let stored = call(Function::Str, [value.clone().into()]);
            call(Function::Replace, [stored, text(end), text("")])
        };
        match self {
            KeyKind::Text | KeyKind::Objects(_) => None,
            KeyKind::Integer { .. } => Some(plus(Literal::from(0))),
            KeyKind::Decimal => Some(plus(Literal::new_typed_literal("0.0", xsd::DECIMAL))),
            KeyKind::Double => Some(plus(Literal::new_typed_literal("0.0E0", xsd::DOUBLE))),
            KeyKind::Date => Some(without("Z$")),
            KeyKind::DateTime => Some(without("([.]0+Z?|Z)$")),
        }
    }
}

impl OrderedPage {
    /// Returns the variable that is 1 where all keys of a row are of their kinds.
    pub(crate) fn fits() -> Variable {
        Variable::new_unchecked("fits")
    }

    /// Returns the variable of the value of a key.
    pub(crate) fn key(position: usize) -> Variable {
        Variable::new_unchecked(format!("k{position}"))
    }

    /// Returns the variable of all values of a key.
    pub(crate) fn value(position: usize) -> Variable {
        Variable::new_unchecked(format!("w{position}"))
    }

    /// Returns the steps to the values of the keys, with their positions.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (usize, &Step, &KeyKind)> {
        let keys = self.keys.iter().enumerate();
        keys.filter_map(|(position, key)| match &key.by {
            PageBy::Iri => None,
            PageBy::Values(step, kind) => Some((position, step, kind)),
        })
    }

    /// Returns whether all values of the objects are asked for: a single-valued field shows the smallest one, and
    /// a descending order begins with the greatest.
    pub(crate) fn reads_values(&self) -> bool {
        let mut keys = self.keys.iter();
        keys.any(|key| key.descending && key.by != PageBy::Iri)
    }

    /// Returns the variables of a row beside the object.
    pub(crate) fn variables(&self) -> Vec<Variable> {
        let keys = self.steps().map(|(position, ..)| Self::key(position));
        [Self::fits()].into_iter().chain(keys).collect()
    }

    /// Returns the rows, with their objects in the variable `node`.
    pub(crate) fn pattern(&self, node: &Variable) -> GraphPattern {
        let mut pattern = conditioned(&self.condition, node);
        for (position, step, kind) in self.steps() {
            pattern = GraphPattern::LeftJoin {
                left: Box::new(pattern),
                right: Box::new(kind.values(node, step, &Self::key(position))),
                expression: None,
            };
        }
        for (position, _, kind) in self.steps() {
            if let Some(normalized) = kind.normalized(&Self::key(position)) {
                pattern = extend(pattern, &compared(position), normalized);
            }
        }
        pattern = extend(pattern, &Self::fits(), self.test());
        let ordered = GraphPattern::OrderBy {
            inner: Box::new(pattern),
            expression: self.order(node),
        };
        let variables = [node.clone()].into_iter().chain(self.variables());
        GraphPattern::Slice {
            inner: Box::new(distinct(ordered, variables.collect())),
            start: 0,
            length: Some(self.rows),
        }
    }

    /// Returns 1 if each key is missing or of its kind, else 0.
    fn test(&self) -> Expression {
        let tests = self.steps().map(|(position, _, kind)| {
            let key = Self::key(position);
            let is_missing = Expression::Not(Box::new(Expression::Bound(key.clone())));
            Expression::Coalesce(vec![kind.test(&key), is_missing])
        });
        let one = || Literal::from(1).into();
        match tests.reduce(and) {
            Some(test) => if_else(test, one(), Literal::from(0).into()),
            None => one(),
        }
    }

    fn order(&self, node: &Variable) -> Vec<OrderExpression> {
        let name = || call(Function::Str, [node.clone().into()]);
        let mut order = vec![OrderExpression::Asc(Self::fits().into())];
        order.extend(self.keys.iter().enumerate().map(|(position, key)| {
            let subject = match &key.by {
                PageBy::Iri => name(),
                PageBy::Values(_, KeyKind::Text | KeyKind::Objects(_)) => {
                    Self::key(position).into()
                }
                PageBy::Values(..) => compared(position).into(),
            };
            if key.descending {
                OrderExpression::Desc(subject)
            } else {
                OrderExpression::Asc(subject)
            }
        }));
        order.push(OrderExpression::Asc(name()));
        order
    }
}

/// Returns a pattern of the instances of some types, without a variable of its own.
fn instance(node: &Variable, test: &TypeTest) -> GraphPattern {
    let alternatives = test.alternatives.iter();
    let each = alternatives
        .flat_map(|(property, types)| types.iter().map(move |ty| (property, ty.clone())));
    let branches = each.map(|(property, ty)| bgp(node, property, ty.into()));
    union_of(branches.collect()).unwrap_or_else(|| one_of(node, &[]))
}

/// Returns the variable of what is compared instead of a key.
fn compared(position: usize) -> Variable {
    Variable::new_unchecked(format!("o{position}"))
}
