//! Conditions of roles on objects, for the sender of a request.
//!
//! What a role allows holds for the objects that its conditions accept, so a sender may read a part of an object if some
//! role allows that and accepts the object. Conditions are those that `where` makes, with claims of the sender in
//! place of variables, and see everything.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use foldhash::HashMap;
use graph_store::query::NodeCondition;
use serde_json::Value as Json;
use soml_core::access::{Access, Part, RolePlace};
use soml_core::rbac::Operation;
use soml_core::schema::ObjectId;

/// What the sender of a request may do, and with which objects.
#[derive(Clone, Debug)]
pub(crate) struct Permit {
    access: Access,
    rows: Arc<Rows>,
}

/// The conditions of the roles of a sender.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// Absent where a role accepts all objects of a type.
    pub(crate) conditions: HashMap<(RolePlace, ObjectId, Operation), NodeCondition>,
    /// The claims that conditions and presets read.
    pub(crate) claims: ReadClaims,
    /// The claims as text, to compare and hash them by.
    pub(crate) key: String,
}

/// Claims of a sender by their paths. One that is missing is null.
pub(crate) type ReadClaims = BTreeMap<String, Json>;

/// The objects of a type that some roles accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Accepted {
    /// All of them.
    All,
    /// Those that satisfy a condition.
    Some(NodeCondition),
}

impl Accepted {
    /// Returns the condition; `None` for all.
    pub(crate) fn condition(self) -> Option<NodeCondition> {
        match self {
            Accepted::All => None,
            Accepted::Some(condition) => Some(condition),
        }
    }
}

impl Deref for Permit {
    type Target = Access;

    fn deref(&self) -> &Access {
        &self.access
    }
}

impl PartialEq for Permit {
    fn eq(&self, other: &Self) -> bool {
        self.access == other.access && self.rows.key == other.rows.key
    }
}

impl Eq for Permit {}

impl Hash for Permit {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.access, &self.rows.key).hash(state);
    }
}

impl Permit {
    pub(crate) fn new(access: Access, rows: Arc<Rows>) -> Self {
        Permit { access, rows }
    }

    /// Returns the condition of a role on objects of a type; `None` where it accepts all.
    pub(crate) fn condition(
        &self,
        role: RolePlace,
        object: ObjectId,
        operation: Operation,
    ) -> Option<&NodeCondition> {
        self.rows.conditions.get(&(role, object, operation))
    }

    /// Returns the condition on the objects of which a part can be read, among the objects of a type that are shown; `None`
    /// for all of them. Some role must allow reading the part.
    pub(crate) fn readable_rows(&self, object: ObjectId, part: Part) -> Option<NodeCondition> {
        let shown: Vec<RolePlace> = self.seeing(object).collect();
        let reading: Vec<RolePlace> = self.allowing(object, part, Operation::Read).collect();
        if shown == reading {
            return None;
        }
        let shown = self.accepted(object, Operation::Read, shown.into_iter());
        let reading = self.accepted(object, Operation::Read, reading.into_iter());
        if shown == reading {
            None
        } else {
            reading.condition()
        }
    }

    /// Returns whether some objects of a type that is shown may be hidden.
    pub(crate) fn hides_rows(&self, object: ObjectId) -> bool {
        self.accepted(object, Operation::Read, self.seeing(object)) != Accepted::All
    }

    /// Returns the types with conditions on objects for an operation.
    pub(crate) fn conditioned(&self, operation: Operation) -> impl Iterator<Item = ObjectId> {
        let rules = self
            .rows
            .conditions
            .keys()
            .filter(move |(.., of)| *of == operation);
        rules.map(|(_, object, _)| *object)
    }

    /// Returns the claims that conditions and presets read.
    pub(crate) fn claims(&self) -> &ReadClaims {
        &self.rows.claims
    }

    /// Returns which objects of a type are accepted by some of the roles that allow something.
    ///
    /// No role means a caller who may do everything, so callers first check that something is allowed.
    pub(crate) fn accepted(
        &self,
        object: ObjectId,
        operation: Operation,
        roles: impl Iterator<Item = RolePlace>,
    ) -> Accepted {
        if self.rows.conditions.is_empty() {
            return Accepted::All;
        }
        let mut any: Vec<NodeCondition> = Vec::new();
        let mut is_everybody = true;
        for role in roles {
            is_everybody = false;
            match self.rows.conditions.get(&(role, object, operation)) {
                None => return Accepted::All,
                Some(condition) if any.contains(condition) => {}
                Some(condition) => any.push(condition.clone()),
            }
        }
        match any.len() {
            0 if is_everybody => Accepted::All,
            1 => Accepted::Some(any.swap_remove(0)),
            _ => {
                any.retain(|condition| !condition.is_false());
                Accepted::Some(NodeCondition::Any(any))
            }
        }
    }
}
