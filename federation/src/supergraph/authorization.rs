//! `@authenticated`, `@requiresScopes` and `@policy`: what a request must have for a field or a type.

use apollo_compiler::ast::{Directive, Value};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{Name, Node, Schema};
use indexmap::IndexSet;

use super::error::SupergraphError;
use super::model::{RequirementId, Supergraph};
use crate::code;

/// Directives of authorization.
const DIRECTIVES: [&str; 3] = ["authenticated", "requiresScopes", "policy"];

/// What a request must have.
///
/// Of the outer list one item is enough; of an inner list all are needed. So an empty inner list is fulfilled by
/// every request, and an empty outer list by none.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Requirement {
    /// It is known who sent it.
    Authenticated,
    /// Scopes.
    Scopes(Vec<Vec<String>>),
    /// Policies.
    Policies(Vec<Vec<String>>),
}

/// The different requirements of a supergraph.
#[derive(Debug, Default)]
pub(super) struct Requirements(IndexSet<Requirement>);

impl Requirements {
    /// Returns what directives require, ascending.
    pub(super) fn of<'d>(
        &mut self,
        directives: impl Iterator<Item = &'d Directive>,
    ) -> Vec<RequirementId> {
        let found = directives.filter_map(requirement);
        let mut ids: Vec<RequirementId> = found
            .map(|found| RequirementId::new(self.0.insert_full(found).0))
            .collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Returns what a type requires wherever it is used.
    pub(super) fn of_type(&mut self, ty: &ExtendedType) -> Vec<RequirementId> {
        self.of(ty.directives().iter().map(|directive| &***directive))
    }

    pub(super) fn into_list(self) -> Vec<Requirement> {
        self.0.into_iter().collect()
    }
}

fn requirement(directive: &Directive) -> Option<Requirement> {
    Some(match directive.name.as_str() {
        "authenticated" => Requirement::Authenticated,
        "requiresScopes" => Requirement::Scopes(alternatives(directive, "scopes")),
        "policy" => Requirement::Policies(alternatives(directive, "policies")),
        _ => return None,
    })
}

/// Reads lists of names; a name that stands for a list is a list of one, as in GraphQL.
fn alternatives(directive: &Directive, argument: &str) -> Vec<Vec<String>> {
    let Some(value) = directive.specified_argument_by_name(argument) else {
        return Vec::new();
    };
    items(value)
        .iter()
        .map(|item| items(item).iter().filter_map(text).collect())
        .collect()
}

fn items(value: &Node<Value>) -> &[Node<Value>] {
    value.as_list().unwrap_or(std::slice::from_ref(value))
}

fn text(value: &Node<Value>) -> Option<String> {
    value.as_str().map(str::to_owned)
}

impl Supergraph {
    /// Checks that nothing is required, for a gateway that could not tell who has it.
    ///
    /// # Errors
    /// With the first field or type that requires something.
    pub(crate) fn check_that_nothing_is_required(&self) -> Result<(), SupergraphError> {
        let Some((directive, place)) = first_use(&self.schema) else {
            return Ok(());
        };
        let name = &directive.name;
        let message = format!("`@{name}` on `{place}` needs an authorizer, but there is none");
        let error = SupergraphError::new(code::AUTHORIZER_MISSING, message);
        Err(error.at(directive.location(), &self.schema))
    }
}

/// Returns a directive of authorization and where it stands: `User.email`, or `User`.
fn first_use(schema: &Schema) -> Option<(&Node<Directive>, String)> {
    let requires = |name: &Name| DIRECTIVES.contains(&name.as_str());
    for (name, ty) in &schema.types {
        if let Some(found) = ty.directives().iter().find(|it| requires(&it.name)) {
            return Some((&found.node, name.to_string()));
        }
        let fields = match ty {
            ExtendedType::Object(object) => &object.fields,
            ExtendedType::Interface(interface) => &interface.fields,
            _ => continue,
        };
        for field in fields.values() {
            if let Some(found) = field.directives.iter().find(|it| requires(&it.name)) {
                return Some((found, format!("{name}.{}", field.name)));
            }
        }
    }
    None
}
