//! Composes subgraph schemas into a supergraph (docs/composition.md).
//!
//! Composition has four phases: each subgraph alone, the merge, the merged schema, and whether every query that it
//! allows can be answered. A phase reports everything that it finds; the next one runs if there is
//! nothing.
//!
//! What the directives mean is said in [Federation directives], how types are merged in
//! [Composition rules], and how the result is written in the [join specification].
//!
//! [Federation directives]:
//! https://www.apollographql.com/docs/federation/federated-schemas/federated-directives
//!
//! [Composition rules]: https://www.apollographql.com/docs/federation/federated-schemas/composition
//!
//! [join specification]: https://specs.apollo.dev/join/v0.3

mod check;
mod code;
mod facts;
mod field_set;
mod finding;
mod merge;
mod post;
mod read;
mod runtime_types;
mod satisfiability;
mod supergraph;
mod upgrade;
mod values;

use apollo_compiler::Name;

pub use code::{CompositionCode, HintCode};
pub use finding::{CompositionError, CompositionHint, Place};

use crate::supergraph::{Supergraph, SupergraphError};
use facts::Facts;
use read::Subgraph;

/// A subgraph that is to be composed.
#[derive(Clone, Debug)]
pub struct SubgraphSource {
    /// Its name, which `@override(from:)` uses.
    pub name: String,
    /// Where it is served; may be empty.
    pub url: String,
    /// Its schema, as `_service { sdl }` prints it.
    pub sdl: String,
}

/// How subgraphs are composed.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ComposeOptions {
    /// What becomes of query fields that several subgraphs have.
    pub shared_root_fields: SharedRootFields,
    /// Whether every query that the composed schema allows can be answered.
    pub satisfiability: Satisfiability,
}

/// Whether it is checked that every query can be answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Satisfiability {
    /// A field that cannot be reached somewhere is an error.
    #[default]
    Check,
    /// Such fields are let through: queries for them are refused when they are planned.
    Skip,
}

/// What becomes of query fields that several subgraphs have without `@shareable`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SharedRootFields {
    /// Those of federation 1 subgraphs are shared; those of federation 2 are an error.
    #[default]
    Allow,
    /// They are an error.
    Reject,
}

/// Why subgraphs cannot be composed: everything that one phase has found.
pub type CompositionErrors = Vec<CompositionError>;

/// Subgraphs that have been composed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Composed {
    /// The supergraph in the SDL of the join specification.
    pub supergraph_sdl: String,
    /// What people may want to know.
    pub hints: Vec<CompositionHint>,
}

/// Composes subgraphs.
///
/// # Errors
/// With everything that the first phase that fails has found.
pub fn compose(
    sources: &[SubgraphSource],
    options: &ComposeOptions,
) -> Result<Composed, CompositionErrors> {
    let graphs = graph_names(sources)?;
    let mut errors = Vec::new();
    let read = sources
        .iter()
        .zip(graphs)
        .filter_map(|(source, graph)| read::read(source, graph, &mut errors));
    let mut subgraphs: Vec<_> = read.collect();
    // What subgraphs of federation 1 say is known once they are upgraded.
    let known = |it: &Subgraph| (!it.is_federation_1()).then(|| Facts::of(it));
    let known: Vec<Option<Facts>> = subgraphs.iter().map(known).collect();
    for (subgraph, facts) in subgraphs.iter().zip(&known) {
        errors.extend(facts.iter().flat_map(|facts| check::check(subgraph, facts)));
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    // Before the upgrade, which takes the keys of interfaces away.
    let mut keys_of_objects = upgrade::interface_keys(&subgraphs);
    let not_upgraded = upgrade::upgrade(&mut subgraphs);
    let facts: Vec<Facts> = subgraphs
        .iter()
        .zip(known)
        .map(|(it, known)| known.unwrap_or_else(|| Facts::of(it)))
        .collect();
    let mut errors = Vec::new();
    for (at, mut found) in not_upgraded.into_iter().enumerate() {
        if subgraphs[at].is_federation_1() && found.is_empty() {
            found = check::check(&subgraphs[at], &facts[at]);
        }
        if found.is_empty() {
            let of_it = keys_of_objects.extract_if(.., |(other, _)| *other == at);
            found.extend(of_it.map(|(_, error)| error));
        }
        errors.extend(found);
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let merged = merge::merge(&subgraphs, &facts, options)?;
    post::check(&merged, &subgraphs)?;
    let supergraph_sdl = supergraph::write(&merged, &subgraphs);
    // What is written is read as a gateway reads it, so nothing is composed that cannot be served.
    let composed = Supergraph::parse(&supergraph_sdl, "supergraph.graphql").map_err(|errors| {
        let error = |error: SupergraphError| {
            CompositionError::new(
                CompositionCode::INVALID_GRAPHQL,
                format!("the merged schema: {}", error.message),
            )
        };
        errors.into_iter().map(error).collect::<Vec<_>>()
    })?;
    post::defaults::check(composed.schema(), &subgraphs)?;
    let mut hints = merged.hints;
    if options.satisfiability == Satisfiability::Check {
        hints.extend(satisfiability::check(&composed, &subgraphs)?);
    }
    Ok(Composed {
        supergraph_sdl,
        hints,
    })
}

/// Returns the values of `join__Graph`: names in capitals, made unique by a number.
fn graph_names(sources: &[SubgraphSource]) -> Result<Vec<Name>, CompositionErrors> {
    let mut errors = Vec::new();
    let mut names: Vec<Name> = Vec::new();
    for (at, source) in sources.iter().enumerate() {
        let mut refuse = |why: &str| {
            let message = format!("`{}` cannot be the name of a subgraph: {why}", source.name);
            errors.push(CompositionError::new(
                CompositionCode::INVALID_SUBGRAPH_NAME,
                message,
            ));
        };
        if source.name.is_empty() || source.name == "_" {
            refuse("it says nothing");
        }
        if sources[..at].iter().any(|other| other.name == source.name) {
            refuse("another subgraph has it");
        }
        let capital = |c: char| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_uppercase()
            } else {
                '_'
            }
        };
        let mut name: String = source.name.chars().map(capital).collect();
        if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() {
            name.insert(0, '_');
        }
        // The numbers of names that are alike go behind an underscore.
        if name
            .rsplit('_')
            .next()
            .is_some_and(|end| !end.is_empty() && end.bytes().all(|b| b.is_ascii_digit()))
            && name.contains('_')
        {
            name.push('_');
        }
        let mut unique = name.clone();
        let mut number = 1;
        while names.iter().any(|known| known.as_str() == unique) {
            unique = format!("{name}_{number}");
            number += 1;
        }
        names.push(Name::new_unchecked(&unique));
    }
    if errors.is_empty() {
        Ok(names)
    } else {
        Err(errors)
    }
}
