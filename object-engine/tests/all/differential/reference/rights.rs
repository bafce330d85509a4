//! Who may read what, from the actions of a schema's `rbac` section as they are written.

use soml_core::rbac::{Action, Role};
use soml_core::schema::{ObjectId, Schema};

/// What the roles of one caller let read.
#[derive(Clone)]
pub(crate) struct Rights<'a> {
    schema: &'a Schema,
    /// `None` lets everything be read.
    roles: Option<Vec<&'a Role>>,
}

impl<'a> Rights<'a> {
    pub(crate) fn everything(schema: &'a Schema) -> Self {
        Rights {
            schema,
            roles: None,
        }
    }

    /// The claimed roles that are declared, else `Default`, else none.
    pub(crate) fn of(schema: &'a Schema, claimed: &[String]) -> Self {
        let named = |name: &str| schema.rbac.roles.iter().find(|role| role.name == name);
        let mut roles: Vec<&Role> = claimed.iter().filter_map(|name| named(name)).collect();
        if roles.is_empty() {
            roles.extend(named("Default"));
        }
        Rights {
            schema,
            roles: Some(roles),
        }
    }

    /// Returns whether a part of an object may be read: a property by its name as written, or `id`,
    /// `type`, `name`, `__typename`.
    pub(crate) fn reads(&self, object: ObjectId, part: &str) -> bool {
        let Some(roles) = &self.roles else {
            return true;
        };
        let reads = |role: &&Role| match part {
            "name" if self.schema[object].name_property.is_some() => {
                let shown = self.schema[object].name_property.expect("just seen");
                let shown = self.schema[shown].name.written.as_str();
                self.allows(role, object, shown)
                    && !self.says(&role.not_actions, object, ("name", "read"))
            }
            "__typename" => {
                self.shows(role, object) && !self.says(&role.not_actions, object, (part, "read"))
                    || self.allows(role, object, part)
            }
            part => self.allows(role, object, part),
        };
        roles.iter().any(reads)
    }

    /// Returns whether objects of a type are shown at all.
    pub(crate) fn sees(&self, object: ObjectId) -> bool {
        let all = |roles: &Vec<&Role>| roles.iter().any(|role| self.shows(role, object));
        self.roles.as_ref().is_none_or(all)
    }

    pub(crate) fn is_everything(&self) -> bool {
        self.roles.is_none()
    }

    /// The names of the roles that apply, as errors show them.
    pub(crate) fn roles(&self) -> String {
        let roles = self.roles.iter().flatten();
        let roles: Vec<&str> = roles.map(|role| role.name.as_str()).collect();
        if roles.is_empty() {
            "Default".to_owned()
        } else {
            roles.join(", ")
        }
    }

    fn shows(&self, role: &Role, object: ObjectId) -> bool {
        let properties = self.schema[object].props.iter();
        let properties = properties.map(|id| self.schema[*id].name.written.as_str());
        let mut parts = properties.chain(["id", "type"]);
        parts.any(|part| self.allows(role, object, part))
    }

    /// Returns whether some role allows an operation on a part of an object.
    pub(crate) fn may(&self, object: ObjectId, part: &str, operation: &str) -> bool {
        let may = |role: &&Role| self.allows_to(role, object, (part, operation));
        let any = |roles: &Vec<&Role>| roles.iter().any(may);
        self.roles.as_ref().is_none_or(any)
    }

    fn allows(&self, role: &Role, object: ObjectId, part: &str) -> bool {
        self.allows_to(role, object, (part, "read"))
    }

    /// `actions` less the `notActions` of the same role.
    fn allows_to(&self, role: &Role, object: ObjectId, what: (&str, &str)) -> bool {
        self.says(&role.actions, object, what) && !self.says(&role.not_actions, object, what)
    }

    /// Returns whether some action is about a part of the object, or about that of a class above which
    /// has it too.
    fn says(&self, actions: &[Action], object: ObjectId, (part, operation): (&str, &str)) -> bool {
        let built_in = ["id", "type", "__typename"].contains(&part);
        let names = |class: ObjectId, part: &str, action: &Action| {
            let class = &self.schema[class];
            let mut properties = class.props.iter().map(|id| &self.schema[*id].name.written);
            let is_name = part == "name" && class.name_property.is_some();
            let has = built_in || is_name || properties.any(|name| bare(name) == bare(part));
            has && fits(bare(&action.object), bare(&class.name.written))
        };
        actions.iter().any(|action| {
            let mut classes = self.schema.lineage(object);
            fits(&action.operation, operation)
                && fits(bare(&action.property), bare(part))
                && (classes.any(|class| names(class, part, action))
                    || built_in && action.object == "Object")
        })
    }
}

/// A name without the vocabulary prefix, which may be written or not.
fn bare(name: &str) -> &str {
    name.strip_prefix("v:").unwrap_or(name)
}

/// Returns whether a text fits a pattern in which `*` stands for any characters.
fn fits(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|text| {
            let mut ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
            ends.any(|at| fits(rest, &text[at..]))
        }),
    }
}
