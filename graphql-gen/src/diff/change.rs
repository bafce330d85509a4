//! Changes as data.

use std::fmt;

use soml_core::span::Span;

use super::code::ChangeCode;

/// What a change means for the clients of an API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Criticality {
    /// Every operation goes on to give the same.
    Safe,
    /// Operations stay valid, but may read or write other data, or meet values they did not expect.
    Dangerous,
    /// Operations that were valid may no longer be.
    Breaking,
}

impl Criticality {
    /// Returns `safe`, `dangerous` or `breaking`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Criticality::Safe => "safe",
            Criticality::Dangerous => "dangerous",
            Criticality::Breaking => "breaking",
        }
    }
}

impl fmt::Display for Criticality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One change of a SOML document with everything that follows from it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The criticality of the code, or of the worst consequence.
    pub criticality: Criticality,
    /// What sort of change it is.
    pub code: ChangeCode,
    /// Where it is: a schema coordinate (`Planet.mass`); for a part of the document that has none,
    /// its path (`config.queryPfx`).
    pub coordinate: String,
    /// What changed, as a sentence fragment in lower case.
    pub message: String,
    /// The coordinate in the old document.
    pub old_span: Option<Span>,
    /// The coordinate in the new document.
    pub new_span: Option<Span>,
    /// What changes in the generated API because of it, the most critical first. Further objects that
    /// the same change reads other data for are listed too.
    pub consequences: Vec<Consequence>,
}

/// A single difference of two GraphQL schemas, or of what an object or a property reads.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Consequence {
    /// Its effect on clients.
    pub criticality: Criticality,
    /// What sort of difference it is.
    pub code: ChangeCode,
    /// Schema coordinate (`Query.planet(where:)`).
    pub coordinate: String,
    /// What changed, as a sentence fragment in lower case.
    pub message: String,
}

impl Consequence {
    pub(super) fn new(code: ChangeCode, coordinate: String, message: String) -> Self {
        Consequence {
            criticality: code.criticality(),
            code,
            coordinate,
            message,
        }
    }
}

impl fmt::Display for Consequence {
    /// Writes `criticality CODE coordinate: message`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Consequence {
            criticality,
            code,
            coordinate,
            message,
        } = self;
        write!(f, "{criticality} {code} {coordinate}: {message}")
    }
}

impl fmt::Display for Change {
    /// Writes `criticality CODE coordinate: message`, without consequences.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Change {
            criticality,
            code,
            coordinate,
            message,
            ..
        } = self;
        write!(f, "{criticality} {code} {coordinate}: {message}")
    }
}
