//! What the sender of a request may read in indexes.
//!
//! A [`Sight`] says it by conditions on facts, which documents hold in the field `$facts`. They become filters of
//! searches, and decide which values of a hit are shown.

use std::fmt::Debug;
use std::sync::Arc;

use graph_store::facts::{Decided, Fact, Keys, Seen, keys};
use graph_store::query::Operator;
use graphql_service::RequestContext;
use soml_core::schema::ObjectId;

use crate::dsl::{Bool, Bound, Query, Range, Term, Terms, Value};
use crate::value::{end_of_values, holds_token, value_token};

/// The rules by which searches are answered.
pub trait Rules: Debug + Send + Sync {
    /// Returns what the sender of a request may read; `None` for everything.
    fn sight(&self, context: &RequestContext) -> Option<Arc<dyn Sight>>;
}

/// What the sender of a request may read, in terms of the facts of each object type.
pub trait Sight: Debug + Send + Sync {
    /// Returns which objects of a type are shown.
    fn shown(&self, object: ObjectId) -> Seen;

    /// Returns of which objects of a type a field can be read: `id`, `type`, `__typename`, or a field of the index.
    fn readable(&self, object: ObjectId, field: &str) -> Seen;

    /// Returns whether the schema can be read as a gateway reads it.
    fn reads_sdl(&self) -> bool;

    /// Lists the roles of the sender, for messages.
    fn roles(&self) -> String;
}

/// A condition on objects of which an index holds facts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Condition {
    decided: Decided<Compared>,
}

/// A comparison, by the terms that pass it.
#[derive(Clone, Debug, PartialEq)]
struct Compared(Vec<Keys>);

impl Condition {
    /// Creates a condition; `None` if it is not one that the facts decide.
    pub(crate) fn new(decided: &Decided<Operator>, facts: &[Fact]) -> Option<Self> {
        let mut is_decided = true;
        let decided = decided.map(&mut |fact, operator| {
            let keys = match facts.get(fact) {
                Some(Fact::Values(path)) => keys(path.domain, operator),
                Some(Fact::Holds(_)) | None => None,
            };
            is_decided &= keys.is_some();
            Compared(keys.unwrap_or_default())
        });
        is_decided.then_some(Condition { decided })
    }

    /// Returns the condition that this and another one hold.
    pub(crate) fn and(self, other: Condition) -> Condition {
        let decided = Decided::All(vec![self.decided, other.decided]);
        Condition { decided }
    }

    /// Returns the condition as a clause on the field of facts.
    pub(crate) fn query(&self, field: &str) -> Query {
        query(&self.decided, field)
    }

    /// Returns whether an object satisfies the condition, given the terms of its facts.
    pub(crate) fn holds(&self, terms: &[String]) -> bool {
        holds(&self.decided, terms)
    }
}

fn query(decided: &Decided<Compared>, field: &str) -> Query {
    let each = |parts: &[Decided<Compared>]| parts.iter().map(|part| query(part, field)).collect();
    match decided {
        Decided::All(parts) if parts.is_empty() => Query::MatchAll { boost: None },
        Decided::All(parts) => Query::Bool(Bool {
            filter: each(parts),
            ..Bool::default()
        }),
        Decided::Any(parts) => any(each(parts)),
        Decided::Not(inner) => Query::Bool(Bool {
            filter: vec![Query::MatchAll { boost: None }],
            must_not: vec![query(inner, field)],
            ..Bool::default()
        }),
        Decided::Holds(fact) => Query::Term(Term {
            field: field.to_owned(),
            value: Value::from(holds_token(*fact)),
            case_insensitive: false,
            boost: None,
        }),
        Decided::Value(fact, Compared(keys)) => {
            let (mut values, mut clauses) = (Vec::new(), Vec::new());
            for keys in keys {
                match keys {
                    Keys::One(key) => values.push(Value::from(value_token(*fact, key))),
                    Keys::Between(lower, upper) => clauses.push(Query::Range(Range {
                        field: field.to_owned(),
                        lower: Some(match lower {
                            Some((key, inclusive)) => bound(value_token(*fact, key), *inclusive),
                            None => bound(value_token(*fact, ""), true),
                        }),
                        upper: Some(match upper {
                            Some((key, inclusive)) => bound(value_token(*fact, key), *inclusive),
                            None => bound(end_of_values(*fact), false),
                        }),
                        boost: None,
                    })),
                }
            }
            if !values.is_empty() {
                clauses.push(Query::Terms(Terms {
                    field: field.to_owned(),
                    values,
                    boost: None,
                }));
            }
            any(clauses)
        }
    }
}

fn any(mut clauses: Vec<Query>) -> Query {
    match clauses.len() {
        0 => Query::MatchNone,
        1 => clauses.swap_remove(0),
        _ => Query::Bool(Bool {
            should: clauses,
            ..Bool::default()
        }),
    }
}

fn bound(term: String, inclusive: bool) -> Bound {
    let value = Value::from(term);
    Bound { value, inclusive }
}

fn holds(decided: &Decided<Compared>, terms: &[String]) -> bool {
    match decided {
        Decided::All(parts) => parts.iter().all(|part| holds(part, terms)),
        Decided::Any(parts) => parts.iter().any(|part| holds(part, terms)),
        Decided::Not(inner) => !holds(inner, terms),
        Decided::Holds(fact) => terms.contains(&holds_token(*fact)),
        Decided::Value(fact, Compared(keys)) => {
            let start = value_token(*fact, "");
            let mut own = terms.iter().filter_map(|term| term.strip_prefix(&start));
            own.any(|key| keys.iter().any(|keys| keys.has(key)))
        }
    }
}
