//! What requests may see: claims against the requirements of `@authenticated`, `@requiresScopes` and `@policy`.
//!
//! What a request may not see is cut before planning, so it is not fetched; its place in the answer is null, with
//! an error.

use std::collections::HashSet;
use std::fmt;
use std::ptr;

use apollo_compiler::ExecutableDocument;
use apollo_compiler::executable::{Field, Operation, Selection, SelectionSet};
use async_trait::async_trait;
use graphql_service::RequestContext;
use serde_json::Value;

use crate::supergraph::{FieldId, Requirement, RequirementId, Supergraph};

/// Decides what a request may do.
#[async_trait]
pub trait Authorizer: fmt::Debug + Send + Sync + 'static {
    /// Returns what a request has of what supergraphs can require. `policies` are the names of all policies that
    /// the supergraph knows; others are of no interest.
    async fn grants(&self, context: &RequestContext, policies: &[&str]) -> Grants;
}

/// What a request has of what supergraphs can require.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    /// Everything, whatever is required.
    everything: bool,
    is_authenticated: bool,
    scopes: HashSet<String>,
    policies: HashSet<String>,
}

impl Grants {
    /// Grants nothing.
    #[must_use]
    pub fn nothing() -> Self {
        Grants::default()
    }

    /// Grants everything, whatever is required.
    #[must_use]
    pub fn everything() -> Self {
        Grants {
            everything: true,
            ..Grants::default()
        }
    }

    /// Marks the request as authenticated: its sender is known.
    #[must_use]
    pub fn authenticated(mut self) -> Self {
        self.is_authenticated = true;
        self
    }

    /// Grants scopes.
    #[must_use]
    pub fn with_scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Grants policies.
    #[must_use]
    pub fn with_policies(mut self, policies: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.policies.extend(policies.into_iter().map(Into::into));
        self
    }

    /// Returns those of some requirements that are not fulfilled.
    pub(crate) fn missing(
        &self,
        supergraph: &Supergraph,
        requirements: impl Iterator<Item = RequirementId>,
    ) -> Vec<RequirementId> {
        let all = supergraph.requirements();
        let missing = requirements.filter(|id| !self.fulfil(&all[id.index()]));
        missing.collect()
    }

    /// Returns whether a requirement is fulfilled.
    fn fulfil(&self, requirement: &Requirement) -> bool {
        let all = |granted: &HashSet<String>, lists: &[Vec<String>]| {
            let mut lists = lists.iter();
            lists.any(|list| list.iter().all(|name| granted.contains(name)))
        };
        self.everything
            || match requirement {
                Requirement::Authenticated => self.is_authenticated,
                Requirement::Scopes(lists) => all(&self.scopes, lists),
                Requirement::Policies(lists) => all(&self.policies, lists),
            }
    }
}

/// Reads what a request may do from its [`Caller`](graphql_service::Caller): who is known is authenticated; scopes
/// are those of the claim `scope`, or `scp`, as text with spaces or as a list; policies are the caller's roles. A
/// superuser may do everything.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct CallerClaims;

#[async_trait]
impl Authorizer for CallerClaims {
    async fn grants(&self, context: &RequestContext, _: &[&str]) -> Grants {
        let Some(caller) = &context.caller else {
            return Grants::nothing();
        };
        if caller.superuser {
            return Grants::everything();
        }
        let claims = ["scope", "scp"].iter();
        let claims = claims.filter_map(|name| caller.claims.get(*name));
        Grants::nothing()
            .authenticated()
            .with_scopes(claims.flat_map(scopes))
            .with_policies(caller.roles.iter().cloned())
    }
}

fn scopes(claim: &Value) -> Vec<String> {
    match claim {
        Value::String(text) => {
            let names = text.split_whitespace();
            names.map(str::to_owned).collect()
        }
        Value::Array(items) => {
            let names = items.iter().filter_map(Value::as_str);
            names.map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

/// The requirements that a request does not fulfil, as far as an operation touches them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Denied {
    requirements: Vec<RequirementId>,
    /// Addresses of the fields that are selected of interfaces, where the interface requires it.
    selections: HashSet<usize>,
}

impl Denied {
    /// Looks for what the operations of a document may not see.
    #[must_use]
    pub fn new(
        supergraph: &Supergraph,
        grants: &Grants,
        document: &ExecutableDocument,
        operation: &Operation,
    ) -> Self {
        let all = (0..supergraph.requirements().len()).map(RequirementId::new);
        let missing = grants.missing(supergraph, all);
        let mut denied = Denied::default();
        if missing.is_empty() {
            return denied;
        }
        let mut touched = HashSet::new();
        let sets = document.fragments.values().map(|it| &it.selection_set);
        for set in sets.chain([&operation.selection_set]) {
            denied.look_through(supergraph, &missing, set, &mut touched);
        }
        denied.requirements = missing;
        denied.requirements.retain(|id| touched.contains(id));
        denied
    }

    fn look_through(
        &mut self,
        supergraph: &Supergraph,
        missing: &[RequirementId],
        set: &SelectionSet,
        touched: &mut HashSet<RequirementId>,
    ) {
        let parent = supergraph.type_id(&set.ty);
        for selection in &set.selections {
            match selection {
                Selection::Field(field) => {
                    touched.extend(supergraph.requirements_of_name(&field.name));
                    let known = parent.and_then(|parent| supergraph.field_id(parent, &field.name));
                    let requires = known.map(|known| &supergraph.field(known).requirements);
                    if requires.is_some_and(|ids| ids.iter().any(|id| missing.contains(id))) {
                        self.selections.insert(address(field));
                    }
                    self.look_through(supergraph, missing, &field.selection_set, touched);
                }
                Selection::InlineFragment(inline) => {
                    self.look_through(supergraph, missing, &inline.selection_set, touched);
                }
                Selection::FragmentSpread(_) => {}
            }
        }
    }

    /// Returns whether selections of a field of an object type are denied.
    pub(crate) fn is(&self, supergraph: &Supergraph, field: FieldId, selected: &[&Field]) -> bool {
        if self.requirements.is_empty() {
            return false;
        }
        let mut requires = supergraph.field(field).requirements.iter();
        requires.any(|id| self.requirements.contains(id))
            || selected
                .iter()
                .any(|field| self.selections.contains(&address(field)))
    }
}

fn address(field: &Field) -> usize {
    ptr::from_ref(field).addr()
}
