//! Which roles may do what, for `@hasRole`.

use apollo_compiler::ast::Directive;
use apollo_compiler::name;
use soml_core::rbac::{Action, Role};
use soml_core::schema::{Object, Property, Schema};

use super::directives::Applied;

/// The roles of a document.
pub(super) struct Roles<'a> {
    roles: &'a [Role],
    vocab_prefix: &'a str,
}

impl<'a> Roles<'a> {
    /// Returns `None` for a document without roles.
    pub(super) fn new(soml: &'a Schema) -> Option<Self> {
        let roles = soml.rbac.roles.as_slice();
        let vocab_prefix = soml.prefixes.vocab_prefix.as_str();
        (!roles.is_empty()).then_some(Roles {
            roles,
            vocab_prefix,
        })
    }

    /// Returns `@hasRole` for an object.
    pub(super) fn on_object(&self, object: &Object) -> Directive {
        let name = object.name.written.as_str();
        let may = |operation| self.allowed(name, "id", operation);
        Applied::new(name!("hasRole"))
            .with_list("read", may("read"))
            .with_list("write", may("write"))
            .with_list("delete", may("delete"))
            .build()
    }

    /// Returns `@hasRole` for a property of an object.
    pub(super) fn on_property(&self, object: &Object, property: &Property) -> Directive {
        let may = |operation| self.allowed(&object.name.written, &property.name.written, operation);
        Applied::new(name!("hasRole"))
            .with_list("read", may("read"))
            .with_list("write", may("write"))
            .build()
    }

    fn allowed(&self, object: &str, property: &str, operation: &str) -> Vec<&'a str> {
        let matches = |action: &Action| {
            covers(self.bare(&action.object), self.bare(object))
                && covers(self.bare(&action.property), self.bare(property))
                && covers(&action.operation, operation)
        };
        let may = |role: &&Role| {
            role.actions.iter().any(matches) && !role.not_actions.iter().any(matches)
        };
        self.roles
            .iter()
            .filter(may)
            .map(|role| role.name.as_str())
            .collect()
    }

    /// Drops the vocabulary prefix, which may be written or not.
    fn bare<'n>(&self, name: &'n str) -> &'n str {
        name.strip_prefix(self.vocab_prefix)
            .and_then(|r| r.strip_prefix(':'))
            .unwrap_or(name)
    }
}

/// Tells whether a text fits a pattern in which `*` stands for any characters.
fn covers(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::covers;

    #[test]
    fn a_star_stands_for_any_characters() {
        assert!(covers("*", ""));
        assert!(covers("*", "Droid"));
        assert!(covers("rdfs:label*", "rdfs:label"));
        assert!(covers("a*b*c", "a-b-bc"));
        assert!(!covers("Droid", "Droids"));
        assert!(!covers("a*a", "a"));
        assert!(!covers("*x", "y"));
    }
}
