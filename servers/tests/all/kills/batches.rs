//! Batches of objects: what is written to them, and what must be stored of them afterwards.

use std::collections::BTreeSet;

use oxrdf::vocab::{rdf, xsd};
use oxrdf::{GraphName, Literal, NamedNode, Quad};
use serde_json::{Value, json};

use crate::random::Random;

/// What a request does to all objects of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Create,
    Update,
    Delete,
}

impl Verb {
    /// The kind of change in a record.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Verb::Create => "created",
            Verb::Update => "updated",
            Verb::Delete => "deleted",
        }
    }
}

/// A request about a batch; its stamp is on all objects afterwards, and no other request has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) verb: Verb,
    pub(super) stamp: u64,
    /// The objects are created by two fields, which are one transaction.
    is_divided: bool,
}

/// Objects that only requests about all of them change, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    pub(super) name: String,
    pub(super) size: usize,
    /// The requests that were carried out.
    pub(super) done: Vec<Step>,
    /// The last request, when nobody knows whether it was carried out.
    pub(super) open: Option<Step>,
}

impl Batch {
    /// Returns a batch of up to 5,000 objects, so of 20,000 triples; most are smaller.
    pub(super) fn new(name: String, random: &mut Random) -> Self {
        let size = match random.below(10) {
            0..5 => random.between(1, 20),
            5..8 => random.between(20, 500),
            _ => random.between(500, 5_000),
        };
        Batch {
            name,
            size,
            done: Vec::new(),
            open: None,
        }
    }

    /// Returns what to do next; `None` when the batch is deleted, or left as it is.
    pub(super) fn next(&self, stamp: u64, random: &mut Random) -> Option<Step> {
        let verb = match self.done.last().map(|step| step.verb) {
            None => Verb::Create,
            Some(Verb::Delete) => return None,
            Some(_) => match random.below(10) {
                0..5 => Verb::Update,
                5..8 => Verb::Delete,
                _ => return None,
            },
        };
        Some(Step {
            verb,
            stamp,
            is_divided: random.chance(30),
        })
    }

    /// Returns the GraphQL request of a step.
    pub(super) fn request(&self, step: Step) -> Value {
        let filter = format!("where: {{batch: {{EQ: {:?}}}}}", self.name);
        let count = "{ affected_count { count } }";
        match step.verb {
            Verb::Create => {
                let object = |number: usize| {
                    let id = format!("http://kills/{}/{number}", self.name);
                    json!({"id": id, "batch": self.name, "number": number, "stamp": step.stamp})
                };
                let middle = if step.is_divided { self.size / 2 } else { 0 };
                let objects = |from: usize, to: usize| (from..to).map(object).collect::<Value>();
                let query = match middle {
                    0 => format!(
                        "mutation($b: [Part_Create_Input!]!) {{ create_Part(objects: $b) {count} }}"
                    ),
                    _ => format!(
                        "mutation($a: [Part_Create_Input!]!, $b: [Part_Create_Input!]!) {{
                           a: create_Part(objects: $a) {count} b: create_Part(objects: $b) {count} }}"
                    ),
                };
                let mut variables = json!({ "b": objects(middle, self.size) });
                if middle > 0 {
                    variables["a"] = objects(0, middle);
                }
                json!({ "query": query, "variables": variables })
            }
            Verb::Update => {
                let objects = format!("objects: [{{stamp: {}}}]", step.stamp);
                let query = format!("mutation {{ update_Part({filter}, {objects}) {count} }}");
                json!({ "query": query })
            }
            Verb::Delete => {
                json!({ "query": format!("mutation {{ delete_Part({filter}) {count} }}") })
            }
        }
    }

    /// Returns the ids of the objects.
    pub(super) fn ids(&self) -> BTreeSet<String> {
        let ids = 0..self.size;
        ids.map(|number| format!("http://kills/{}/{number}", self.name))
            .collect()
    }

    /// Returns what is stored after some steps.
    pub(super) fn quads(&self, last: Option<&Step>) -> BTreeSet<String> {
        let Some(stamp) = last.filter(|step| step.verb != Verb::Delete) else {
            return BTreeSet::new();
        };
        let iri = |text: &str| NamedNode::new_unchecked(format!("http://kills/v/{text}"));
        let whole = |number: u64| Literal::new_typed_literal(number.to_string(), xsd::INT);
        let of = |number: usize| {
            let id = NamedNode::new_unchecked(format!("http://kills/{}/{number}", self.name));
            let batch = Literal::new_simple_literal(&self.name);
            [
                (rdf::TYPE.into_owned(), iri("Part").into()),
                (iri("batch"), batch.into()),
                (iri("number"), whole(number as u64).into()),
                (iri("stamp"), whole(stamp.stamp).into()),
            ]
            .map(|(property, value): (_, oxrdf::Term)| {
                Quad::new(id.clone(), property, value, GraphName::DefaultGraph).to_string()
            })
        };
        (0..self.size).flat_map(of).collect()
    }
}
