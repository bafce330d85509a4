//! Holds searches to what their sender may read (docs/search.md, "With security on").

use graph_store::facts::Seen;
use graphql_service::denial;
use graphql_service::error::{GraphqlError, Location};

use super::target::Found;
use crate::access::{Condition, Sight};
use crate::code;
use crate::dsl::{Bool, Nested, Query};
use crate::mapping::{FACTS, ObjectFields};

type Result<T> = std::result::Result<T, GraphqlError>;

/// What the sender of a request may read, for the argument that is being read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guard<'s> {
    pub(super) sight: Option<&'s dyn Sight>,
    /// The argument, for messages.
    pub(super) argument: &'s str,
    pub(super) location: Option<Location>,
}

/// Which objects are meant by a part of a search.
pub(super) enum Meant {
    Nothing,
    All,
    Some(Condition),
}

impl Meant {
    /// Returns the condition that an object is meant, where not all are.
    pub(super) fn condition(self) -> Option<Condition> {
        match self {
            Meant::Some(condition) => Some(condition),
            Meant::Nothing | Meant::All => None,
        }
    }

    pub(super) fn is_nothing(&self) -> bool {
        matches!(self, Meant::Nothing)
    }

    /// Returns what is shown, and where; `None` where nothing is.
    pub(super) fn then<T>(self, what: impl FnOnce() -> T) -> Option<(T, Option<Condition>)> {
        match self {
            Meant::Nothing => None,
            meant => Some((what(), meant.condition())),
        }
    }

    pub(super) fn and(self, other: Meant) -> Meant {
        match (self, other) {
            (Meant::Nothing, _) | (_, Meant::Nothing) => Meant::Nothing,
            (Meant::All, one) | (one, Meant::All) => one,
            (Meant::Some(one), Meant::Some(other)) => Meant::Some(one.and(other)),
        }
    }
}

impl<'s> Guard<'s> {
    /// Returns which objects are shown.
    pub(super) fn shown(&self, object: &ObjectFields) -> Result<Meant> {
        match self.sight {
            Some(sight) => self.meant(sight.shown(object.object), object),
            None => Ok(Meant::All),
        }
    }

    /// Returns of which objects, among those that are shown, a field can be read.
    pub(super) fn readable(&self, object: &ObjectFields, field: &str) -> Result<Meant> {
        let Some(sight) = self.sight else {
            return Ok(Meant::All);
        };
        let readable = sight.readable(object.object, field);
        if readable == sight.shown(object.object) && readable != Seen::Nothing {
            Ok(Meant::All)
        } else {
            self.meant(readable, object)
        }
    }

    /// Returns which of the objects that a field embeds are shown, where the field can be read.
    pub(super) fn embedded(&self, embedded: &ObjectFields) -> Result<Meant> {
        // Of what an index has nothing but the id, nothing but the id is shown.
        let shown = self.shown(embedded)?;
        if embedded.id_only {
            Ok(shown.and(self.readable(embedded, "id")?))
        } else {
            Ok(shown)
        }
    }

    fn meant(&self, seen: Seen, object: &ObjectFields) -> Result<Meant> {
        let condition = match seen {
            Seen::Nothing => return Ok(Meant::Nothing),
            Seen::All => return Ok(Meant::All),
            Seen::Some(decided) => Condition::new(&decided, &object.facts),
            Seen::Undecided => None,
        };
        // Whatever cannot be decided is refused: shown or hidden, the answer could be wrong.
        condition.map(Meant::Some).ok_or_else(|| self.not_indexed())
    }

    fn not_indexed(&self) -> GraphqlError {
        let message = format!(
            "a condition of a role cannot be evaluated by indexes, so these roles cannot search \
             here, roles=[{}]",
            self.roles()
        );
        GraphqlError::new(code::ROW_RULE_NOT_INDEXED, message).at(self.location)
    }

    /// Returns the error that the argument speaks of what cannot be read.
    pub(super) fn denied(&self, field: &str) -> GraphqlError {
        denial::denied(self.argument, field, &self.roles()).at(self.location)
    }

    /// Returns the error that the argument speaks of what can be read of some objects alone.
    pub(super) fn partly_denied(&self, field: &str) -> GraphqlError {
        denial::partly_denied(self.argument, field, &self.roles()).at(self.location)
    }

    pub(super) fn roles(&self) -> String {
        self.sight.map(Sight::roles).unwrap_or_default()
    }

    /// Returns the condition that a field can be read; `None` where it can be of all objects.
    pub(super) fn condition(
        &self,
        object: &ObjectFields,
        field: &str,
    ) -> Result<Option<Condition>> {
        match self.readable(object, field)? {
            Meant::Nothing => Err(self.denied(field)),
            meant => Ok(meant.condition()),
        }
    }

    /// Returns the condition that an embedded object is shown; `None` where all are.
    pub(super) fn condition_of_embedded(
        &self,
        embedded: &ObjectFields,
        field: &str,
    ) -> Result<Option<Condition>> {
        match self.embedded(embedded)? {
            Meant::Nothing => Err(self.denied(field)),
            meant => Ok(meant.condition()),
        }
    }

    /// Returns the conditions at each object on the way to a target, the outermost first: that it is shown, and of which objects
    /// the field that leads on can be read. Where the way begins, it is known already that the object is shown.
    pub(super) fn conditions(&self, found: &Found<'_>) -> Result<Vec<Option<Condition>>> {
        let mut all = Vec::with_capacity(found.way.len());
        let mut above: Option<&str> = None;
        for step in &found.way {
            let readable = self.condition(step.object, &step.field)?;
            let shown = match above {
                Some(field) => self.condition_of_embedded(step.object, field)?,
                None => None,
            };
            all.push(match (readable, shown) {
                (Some(readable), Some(shown)) => Some(shown.and(readable)),
                (readable, shown) => readable.or(shown),
            });
            above = Some(&step.field);
        }
        Ok(all)
    }

    /// Fails unless a target can be read of all objects.
    pub(super) fn require_all(&self, found: &Found<'_>, field: &str) -> Result<()> {
        if self.conditions(found)?.iter().any(Option::is_some) {
            Err(self.partly_denied(field))
        } else {
            Ok(())
        }
    }
}

/// Wraps a clause on a target, so that it matches where the conditions on the way hold, and in the nested objects that have
/// the target.
pub(super) fn wrapped(found: &Found<'_>, conditions: &[Option<Condition>], clause: Query) -> Query {
    let mut query = clause;
    // Nothing is to be said of nested objects around the innermost ones, unless there is a condition on them.
    let mut is_level_open = true;
    for (step, condition) in found.way.iter().zip(conditions).rev() {
        if let Some(condition) = condition {
            query = filtered(query, condition.query(&step.object.path_of(FACTS)));
            is_level_open = true;
        }
        if step.is_nested && is_level_open {
            query = nested(&step.object.path, query);
            is_level_open = false;
        }
    }
    query
}

/// Returns a clause for embedded objects.
pub(super) fn nested(path: &str, query: Query) -> Query {
    Query::Nested(Nested {
        path: path.to_owned(),
        query: Box::new(query),
        score_mode: None,
    })
}

/// Narrows what a clause matches; its scores stay.
pub(super) fn filtered(query: Query, filter: Query) -> Query {
    Query::Bool(Bool {
        // The scores of `filter` do not count
        // (<https://docs.opensearch.org/latest/query-dsl/compound/bool/>).
        must: vec![query],
        filter: vec![filter],
        ..Bool::default()
    })
}
