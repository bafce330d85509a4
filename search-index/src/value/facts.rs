//! Facts about objects as terms of a field.

use graph_store::facts::FactsOf;

/// Returns the term of a condition that holds, by the position of the fact.
///
/// ```
/// use search_index::value::{holds_token, value_token};
///
/// assert_eq!(holds_token(3), "3");
/// assert_eq!(value_token(3, "key"), "3=key");
/// ```
#[must_use]
pub fn holds_token(fact: usize) -> String {
    fact.to_string()
}

/// Returns the term of a value by its key, and the position of the fact. Terms of the same fact sort as the keys do.
#[must_use]
pub fn value_token(fact: usize, key: &str) -> String {
    format!("{fact}={key}")
}

/// Returns a term behind those of all values of a fact, and before all others.
#[must_use]
pub fn end_of_values(fact: usize) -> String {
    format!("{fact}>")
}

/// Returns the term of another object that facts depend on.
#[must_use]
pub fn dependence_token(iri: &str) -> String {
    format!("@{iri}")
}

/// Returns the terms of the facts about an object.
pub fn fact_tokens(facts: &FactsOf) -> impl Iterator<Item = String> {
    let holds = facts.holds.iter().map(|fact| holds_token(*fact));
    let values = facts
        .values
        .iter()
        .map(|(fact, key)| value_token(*fact, key));
    let others = facts
        .depends_on
        .iter()
        .map(|iri| dependence_token(iri.as_str()));
    holds.chain(values).chain(others)
}
