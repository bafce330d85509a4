//! What composition has to say of subgraphs: errors and hints, with their places.

use std::fmt;

use graphql_service::Location;

use super::code::{CompositionCode, HintCode};

/// Something that keeps subgraphs from being composed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct CompositionError {
    /// The code.
    pub code: CompositionCode,
    /// The problem, in human-readable form.
    pub message: String,
    /// The element of the schema, such as `Planet.mass` or `Query.planet(id:)`.
    pub coordinate: Option<String>,
    /// Where it is, in each subgraph that takes part.
    pub places: Vec<Place>,
    /// What helps.
    pub help: Option<String>,
}

/// Something that people may want to know of subgraphs that can be composed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompositionHint {
    /// The code.
    pub code: HintCode,
    /// What there is to know, for people.
    pub message: String,
    /// The element of the schema.
    pub coordinate: Option<String>,
    /// Where it is, in each subgraph that takes part.
    pub places: Vec<Place>,
    /// What to do about it.
    pub help: Option<String>,
}

/// A place in a subgraph.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The name of the subgraph.
    pub subgraph: String,
    /// The place in its SDL, where it is known.
    pub location: Option<Location>,
}

impl CompositionError {
    pub(super) fn new(code: CompositionCode, message: impl Into<String>) -> Self {
        CompositionError {
            code,
            message: message.into(),
            coordinate: None,
            places: Vec::new(),
            help: code.help().map(str::to_owned),
        }
    }

    pub(super) fn about(mut self, coordinate: impl Into<String>) -> Self {
        self.coordinate = Some(coordinate.into());
        self
    }

    pub(super) fn at(mut self, place: Place) -> Self {
        self.places.push(place);
        self
    }

    pub(super) fn at_all(mut self, places: impl IntoIterator<Item = Place>) -> Self {
        self.places.extend(places);
        self
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for CompositionHint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl CompositionHint {
    pub(super) fn new(
        code: HintCode,
        coordinate: impl Into<String>,
        places: Vec<Place>,
        message: impl Into<String>,
    ) -> Self {
        CompositionHint {
            code,
            message: message.into(),
            coordinate: Some(coordinate.into()),
            places,
            help: code.help().map(str::to_owned),
        }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
