//! Which objects the conditions of the sender's roles accept, as far as a mutation needs to know it.
//!
//! What is shown is decided by the data before the mutation, what may be written by those before it and those that it
//! leaves. Verdicts are asked of the store, many at once, before they are needed; what was not asked is not accepted.

use std::collections::{HashMap, HashSet};

use graph_store::query::{Dataset, NodeCondition, Page, Selection};
use graph_store::{CallContext, GraphStore, StoreError};
use oxrdf::NamedNode;
use soml_core::access::{Part, RolePlace};
use soml_core::rbac::Operation;
use soml_core::schema::{ObjectId, PropertyId};

use super::draft::Draft;
use crate::access::Permit;

/// Objects of one question.
const ASKED_AT_ONCE: usize = 1_000;

/// The condition of a role on objects of a type.
type Rule = (RolePlace, ObjectId, Operation);

/// What is known of objects.
#[derive(Default)]
pub(super) struct Verdicts {
    asked: HashSet<(Rule, NamedNode)>,
    accepted: HashMap<NamedNode, HashSet<Rule>>,
}

impl Verdicts {
    /// Returns whether one of some roles accepts an object.
    pub(super) fn accept(
        &self,
        permit: &Permit,
        id: &NamedNode,
        object: ObjectId,
        operation: Operation,
        mut roles: impl Iterator<Item = RolePlace>,
    ) -> bool {
        roles.any(|role| {
            permit.condition(role, object, operation).is_none()
                || self
                    .accepted
                    .get(id)
                    .is_some_and(|rules| rules.contains(&(role, object, operation)))
        })
    }

    /// Asks the store about objects with their types, unless that is known.
    pub(super) async fn ask(
        &mut self,
        permit: &Permit,
        objects: &[(NamedNode, ObjectId)],
        operation: Operation,
        store: &dyn GraphStore,
        context: &CallContext,
    ) -> Result<(), StoreError> {
        let roles: Vec<RolePlace> = permit.role_places().collect();
        let mut types: Vec<ObjectId> = objects.iter().map(|(_, object)| *object).collect();
        types.sort_unstable();
        types.dedup();
        for role in roles {
            for &object in &types {
                let Some(condition) = permit.condition(role, object, operation) else {
                    continue;
                };
                let rule = (role, object, operation);
                let mut ids: Vec<NamedNode> = Vec::new();
                for (id, ty) in objects {
                    if *ty == object && self.asked.insert((rule, id.clone())) {
                        ids.push(id.clone());
                    }
                }
                for ids in ids.chunks(ASKED_AT_ONCE) {
                    let listed = NodeCondition::one_of(ids.to_vec());
                    let selection = Selection {
                        condition: NodeCondition::all([listed, condition.clone()]),
                        order: Vec::new(),
                        page: Page::default(),
                        dataset: Dataset::default(),
                    };
                    let found = store.select(&selection, context).await?;
                    for id in found.into_refs() {
                        self.accepted.entry(id.into()).or_default().insert(rule);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Something that is written to an object, which a role must allow and accept.
pub(super) struct RowWrite {
    pub(super) id: NamedNode,
    pub(super) object: ObjectId,
    /// The property; `None` for the object itself.
    pub(super) property: Option<PropertyId>,
    /// The entry that asks for it, and the member there.
    pub(super) entry: usize,
    pub(super) member: Option<String>,
}

impl RowWrite {
    pub(super) fn part(&self) -> Part {
        self.property.map_or(Part::Id, Part::Property)
    }
}

impl Draft<'_> {
    /// Returns those of some ids that are objects of a type, with their own types.
    pub(super) fn with_types<'i>(
        &self,
        ids: impl IntoIterator<Item = &'i NamedNode>,
        object: ObjectId,
    ) -> Vec<(NamedNode, ObjectId)> {
        let ids = ids.into_iter();
        let typed = ids.filter_map(|id| Some((id.clone(), self.instance_of(id, object)?)));
        typed.collect()
    }

    /// Returns the objects that were there and are written to, where conditions of roles decide whether they may.
    pub(super) fn written_before(&self) -> Vec<(NamedNode, ObjectId)> {
        let old = self
            .row_writes
            .iter()
            .filter(|write| !self.created.contains_key(&write.id));
        old.map(|write| (write.id.clone(), write.object)).collect()
    }

    /// Returns the objects that are there afterwards and were written to, likewise.
    pub(super) fn written_after(&self) -> Vec<(NamedNode, ObjectId)> {
        let left = self
            .row_writes
            .iter()
            .filter(|write| !self.deleted.contains_key(&write.id));
        left.map(|write| (write.id.clone(), write.object)).collect()
    }

    /// Checks that some role allows each write and accepts the object as it was.
    pub(super) fn check_rows_before(&mut self) {
        self.check_rows(|draft, write, access| {
            draft.created.contains_key(&write.id) || {
                let writing = access.allowing(write.object, write.part(), Operation::Write);
                let (id, object) = (&write.id, write.object);
                draft
                    .before
                    .accept(access, id, object, Operation::Write, writing)
            }
        });
    }

    /// Checks that some role allows each write and accepts the object as it was and as it is now.
    pub(super) fn check_rows_after(&mut self, after: &Verdicts) {
        self.check_rows(|draft, write, access| {
            let (id, object) = (&write.id, write.object);
            let mut writing = access.allowing(object, write.part(), Operation::Write);
            let is_new = draft.created.contains_key(id);
            draft.deleted.contains_key(id)
                || writing.any(|role| {
                    let accepts = |verdicts: &Verdicts| {
                        let role = std::iter::once(role);
                        verdicts.accept(access, id, object, Operation::Write, role)
                    };
                    (is_new || accepts(&draft.before)) && accepts(after)
                })
        });
    }

    fn check_rows(&mut self, is_allowed: impl Fn(&Self, &RowWrite, &Permit) -> bool) {
        let Some(access) = self.setting.rights.access else {
            return;
        };
        let mut findings = Vec::new();
        for write in &self.row_writes {
            if self.taken.contains(&write.id) || is_allowed(self, write, access) {
                continue;
            }
            let message = self.setting.rights.denies_write(write.object, write.part());
            let entry = self.entry(write.entry);
            findings.push(match &write.member {
                Some(member) => {
                    entry.finding_at(member, &[], graphql_service::code::ACCESS_DENIED, message)
                }
                None => entry.finding(graphql_service::code::ACCESS_DENIED, message),
            });
        }
        self.findings.extend(findings);
    }
}
