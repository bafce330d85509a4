//! One attempt to carry out a mutation, in one transaction.

use std::collections::HashSet;
use std::sync::Arc;

use graph_store::query::{NodeCondition, Selection, Step};
use graph_store::write::{ChangeKind, ChangedObjects, QuadPattern};
use graph_store::{CallContext, GraphStore, StoreError, Transaction};
use graphql_gen::typesystem::TypeRef;
use graphql_service::Answer;
use graphql_service::error::{GraphqlError, PathSegment};
use indexmap::{IndexMap, IndexSet};
use oxrdf::{NamedNode, NamedOrBlankNode, Term};
use soml_core::access::Part;
use soml_core::rbac::Operation;
use soml_core::schema::{ObjectId, PropertyId};

use super::checks::pattern_of;
use super::draft::{Draft, Setting};
use super::payload;
use super::rows::Verdicts;
use crate::code;
use crate::execute::{Execution, Fetched};
use crate::plan::{
    Action, MutationField, MutationRoot, Plan, RootValue, Selected, keep_missing_rights,
};

/// An attempt to carry out a mutation.
pub(crate) struct Attempt<'a> {
    pub(crate) setting: Setting<'a>,
    /// The store as others see it.
    pub(crate) store: &'a dyn GraphStore,
    pub(crate) context: &'a CallContext,
    /// What reading back has in common with queries; its plan and store are set for each field.
    pub(crate) reading: Execution<'a>,
}

/// What came of an attempt, before it is committed.
pub(crate) enum Done {
    /// Something is wrong: nothing is to be written.
    Refused(Vec<GraphqlError>),
    /// Everything is applied; the answer, and what the record of the transaction says.
    Applied(Answer, Vec<ChangedObjects>),
    /// Everything is applied, and the answer can be read when it is committed.
    Unread(Vec<FieldResult>, Vec<ChangedObjects>),
}

/// What a field did.
pub(crate) struct FieldResult {
    /// The objects by the name of their type.
    pub(super) affected: IndexMap<ObjectId, IndexSet<NamedNode>>,
    /// What was read back, once it is.
    pub(super) fetched: Option<Fetched>,
}

impl FieldResult {
    fn new() -> Self {
        FieldResult {
            affected: IndexMap::new(),
            fetched: None,
        }
    }

    fn add(&mut self, object: ObjectId, id: NamedNode) {
        self.affected.entry(object).or_default().insert(id);
    }

    fn ids(&self) -> Vec<NamedNode> {
        let mut ids: Vec<NamedNode> = self.affected.values().flatten().cloned().collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}

/// The objects that a field updates.
struct UpdateTargets<'i> {
    /// The objects to change, each with the position of its entry.
    objects: Vec<(usize, NamedNode)>,
    /// The ids that the filter lists and that were not selected.
    unselected: Vec<&'i NamedNode>,
}

type Result<T> = std::result::Result<T, StoreError>;

impl<'a> Attempt<'a> {
    /// Works out the changes, checks and applies them, and reads back what is asked for.
    ///
    /// # Errors
    /// Those of the transaction, which is then to be rolled back.
    pub(crate) async fn run(&self, transaction: &mut dyn Transaction) -> Result<Done> {
        let mut draft = Draft::new(self.setting);
        let mut results: Vec<FieldResult> = Vec::new();
        for root in &self.setting.plan.fields {
            let mut result = FieldResult::new();
            if let MutationRoot::Write(field) = root {
                self.field(field, &mut draft, transaction, &mut result)
                    .await?;
            }
            results.push(result);
        }
        draft.touch_around_deleted();
        let wanted = draft.wanted_by_checks();
        self.load(&mut draft, transaction, wanted).await?;
        let wanted = draft.wanted_of_values();
        self.load(&mut draft, transaction, wanted).await?;
        let candidates = draft.row_candidates();
        self.ask(&mut draft, &candidates, Operation::Read).await?;
        draft.check();
        self.check_deletions(&mut draft);
        let written = draft.written_before();
        self.ask(&mut draft, &written, Operation::Write).await?;
        draft.check_rows_before();
        keep_missing_rights(&mut draft.findings);
        if !draft.findings.is_empty() {
            return Ok(Done::Refused(draft.findings));
        }
        let changes = self.changes(&draft);
        let overlay = std::mem::take(&mut draft.overlay);
        if overlay.has_change() {
            let change = overlay.into_change();
            transaction.apply(change, self.context).await?;
        }
        self.check_rows_after(&mut draft, transaction).await?;
        if !draft.findings.is_empty() {
            return Ok(Done::Refused(draft.findings));
        }
        drop(draft);
        if transaction.view().is_none() {
            if self.setting.plan.dry_run && self.reads_back() {
                return Err(StoreError::Unsupported(
                    "this store cannot show what a dry run would leave; select `affected_count` and \
                     `affected_objects` only"
                        .to_owned(),
                ));
            }
            return Ok(Done::Unread(results, changes));
        }
        for (root, result) in self.setting.plan.fields.iter().zip(&mut results) {
            let view = transaction.view().expect("the transaction has a view");
            if let MutationRoot::Write(field) = root
                && result.fetched.is_none()
            {
                result.fetched = self.read_result(field, result, view).await?;
            }
        }
        let view = transaction.view().expect("the transaction has a view");
        let reading = Execution {
            store: view,
            ..self.reading
        };
        Ok(match payload::write(&self.setting, &reading, &results)? {
            Ok(answer) => Done::Applied(answer, changes),
            Err(errors) => Done::Refused(errors),
        })
    }

    /// Asks what the conditions of roles say of objects as they were before the mutation.
    async fn ask(
        &self,
        draft: &mut Draft<'a>,
        objects: &[(NamedNode, ObjectId)],
        operation: Operation,
    ) -> Result<()> {
        let Some(access) = self.setting.rights.access else {
            return Ok(());
        };
        let before = &mut draft.before;
        before
            .ask(access, objects, operation, self.store, self.context)
            .await
    }

    /// Checks that the conditions of roles accept the objects that were written as they are now.
    async fn check_rows_after(
        &self,
        draft: &mut Draft<'a>,
        transaction: &mut dyn Transaction,
    ) -> Result<()> {
        let written = draft.written_after();
        let Some(access) = self.setting.rights.access.filter(|_| !written.is_empty()) else {
            return Ok(());
        };
        let Some(view) = transaction.view() else {
            return Err(StoreError::Unsupported(
                "this store cannot read uncommitted changes, so the conditions of roles on written \
                 data cannot be checked"
                    .to_owned(),
            ));
        };
        let mut after = Verdicts::default();
        after
            .ask(access, &written, Operation::Write, view, self.context)
            .await?;
        draft.check_rows_after(&after);
        keep_missing_rights(&mut draft.findings);
        Ok(())
    }

    fn reads_back(&self) -> bool {
        let mut fields = self.setting.plan.fields.iter();
        fields.any(|root| match root {
            MutationRoot::Write(field) => !field.read_back.roots.is_empty(),
            MutationRoot::TypeName(_) => false,
        })
    }

    /// Answers a repetition of a mutation that was committed before, by its record: each field shows what its
    /// verb did to objects of its type, as they are now.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) async fn answer_again(&self, changes: &[ChangedObjects]) -> Result<Answer> {
        let fields = self.setting.plan.fields.iter();
        let results = fields.map(|root| self.result_again(root, changes));
        self.answer(results.collect()).await
    }

    fn result_again(&self, root: &MutationRoot, changes: &[ChangedObjects]) -> FieldResult {
        let mut result = FieldResult::new();
        let MutationRoot::Write(field) = root else {
            return result;
        };
        let writes = self
            .setting
            .plan
            .fields
            .iter()
            .filter(|root| matches!(root, MutationRoot::Write(_)));
        let is_only = writes.count() == 1;
        for group in changes {
            let ty = self.setting.api.type_ref(&group.object_type);
            let Some(object) = ty.and_then(TypeRef::object) else {
                continue;
            };
            if group.kind != ChangeKind::Created && !self.setting.rights.sees(object) {
                continue;
            }
            let is_own = self.setting.schema().is_a(object, field.object);
            let is_meant = match (&field.action, group.kind) {
                (Action::Create(_), ChangeKind::Created) => is_own || is_only,
                (Action::Update(_) | Action::UpdateWhere(..), ChangeKind::Updated) => is_own,
                (Action::Update(_) | Action::UpdateWhere(..), ChangeKind::Created) => is_only,
                (Action::Delete(_), ChangeKind::Deleted) => is_own,
                _ => false,
            };
            for id in group.objects.iter().filter(|_| is_meant) {
                result.add(object, id.clone());
            }
        }
        result
    }

    /// Answers after the commit, from a store that could not show it before.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) async fn answer(&self, mut results: Vec<FieldResult>) -> Result<Answer> {
        for (root, result) in self.setting.plan.fields.iter().zip(&mut results) {
            if let MutationRoot::Write(field) = root
                && result.fetched.is_none()
            {
                result.fetched = self.read_result(field, result, self.store).await?;
            }
        }
        let written = payload::write(&self.setting, &self.reading, &results)?;
        Ok(written.unwrap_or_else(|errors| payload::nothing(self.setting.plan, errors)))
    }

    async fn field(
        &self,
        field: &'a MutationField,
        draft: &mut Draft<'a>,
        transaction: &mut dyn Transaction,
        result: &mut FieldResult,
    ) -> Result<()> {
        let before = draft.created.len();
        match &field.action {
            Action::Create(entries) => entries.iter().for_each(|entry| draft.create(*entry)),
            Action::Update(entries) => {
                self.update(field, entries, draft, transaction, result)
                    .await?;
            }
            Action::UpdateWhere(selected, entry) => {
                let ids = self.select(selected, draft, transaction).await?;
                let targets = UpdateTargets {
                    objects: ids.iter().map(|id| (*entry, id.clone())).collect(),
                    unselected: not_among(&selected.listed, &ids),
                };
                self.change(field, &targets, draft, transaction, result)
                    .await?;
            }
            Action::Delete(selected) => {
                self.delete(field, selected, draft, transaction, result)
                    .await?;
            }
        }
        let created: Vec<_> = draft.created.iter().skip(before).collect();
        for (id, (object, _)) in created {
            result.add(*object, id.clone());
        }
        Ok(())
    }

    /// Reads those of some patterns that have not been read.
    async fn load(
        &self,
        draft: &mut Draft<'a>,
        transaction: &mut dyn Transaction,
        wanted: Vec<QuadPattern>,
    ) -> Result<()> {
        let unread = draft.overlay.unread(wanted);
        if !unread.is_empty() {
            let quads = transaction.quads(&unread, self.context).await?;
            draft.overlay.load(quads);
        }
        Ok(())
    }

    /// Applies what is pending.
    async fn flush(&self, draft: &mut Draft<'a>, transaction: &mut dyn Transaction) -> Result<()> {
        if draft.overlay.has_change() {
            let change = draft.overlay.take_change();
            transaction.apply(change, self.context).await?;
        }
        Ok(())
    }

    /// Returns the objects that `where` selects, with all that earlier fields have changed.
    async fn select(
        &self,
        selected: &Selected,
        draft: &mut Draft<'a>,
        transaction: &mut dyn Transaction,
    ) -> Result<Vec<NamedNode>> {
        // Whether anything is changed may depend on what the sender is not shown.
        if draft.has_written() {
            if transaction.view().is_none() {
                return Err(StoreError::Unsupported(
                    "this store cannot select by what the same mutation has written before; send the \
                     fields as requests of their own"
                        .to_owned(),
                ));
            }
            // What was there before has to be known before it is changed.
            let wanted = draft.wanted_by_checks();
            self.load(draft, transaction, wanted).await?;
            draft.note_taken();
            if !draft.taken.is_empty() {
                // Nothing is selected by what a new object would be mixed with.
                return Ok(Vec::new());
            }
            self.flush(draft, transaction).await?;
        }
        let store = transaction.view().unwrap_or(self.store);
        let found = store.select(&selected.selection, self.context).await?;
        let limit = self.setting.limits.affected;
        if found.len() + draft.created.len() > limit {
            let message = "the mutation writes too many objects";
            let error = GraphqlError::new(code::LIMIT_AFFECTED, message);
            draft.findings.push(error.with("limit", limit as u64));
            return Ok(Vec::new());
        }
        let mut ids: Vec<NamedNode> = found.into_refs().into_iter().map(NamedNode::from).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// Changes objects by their ids.
    async fn update(
        &self,
        field: &MutationField,
        entries: &[usize],
        draft: &mut Draft<'a>,
        transaction: &mut dyn Transaction,
        result: &mut FieldResult,
    ) -> Result<()> {
        let objects = entries.iter().filter_map(|entry| {
            let id = draft.entry(*entry).id.clone()?;
            Some((*entry, id))
        });
        let targets = UpdateTargets {
            objects: objects.collect(),
            unselected: Vec::new(),
        };
        self.change(field, &targets, draft, transaction, result)
            .await
    }

    /// Changes objects, each as its entry says.
    async fn change(
        &self,
        field: &MutationField,
        targets: &UpdateTargets<'_>,
        draft: &mut Draft<'a>,
        transaction: &mut dyn Transaction,
        result: &mut FieldResult,
    ) -> Result<()> {
        let mut wanted = Vec::new();
        for id in &targets.unselected {
            draft.types_wanted(id, &mut wanted);
        }
        for (entry, id) in &targets.objects {
            draft.types_wanted(id, &mut wanted);
            draft.types_of_patched(*entry, &mut wanted);
            for change in &draft.entry(*entry).changes {
                for step in self.steps(field.object, change.property) {
                    wanted.push(pattern_of(id, &step));
                    for partner in self.setting.facts.partners(&step.predicate) {
                        let back = Step {
                            predicate: partner.clone(),
                            inverse: !step.inverse,
                        };
                        wanted.push(pattern_of(id, &back));
                    }
                }
            }
        }
        self.load(draft, transaction, wanted).await?;
        let named = targets
            .objects
            .iter()
            .map(|(_, id)| id)
            .chain(targets.unselected.iter().copied());
        let objects = draft.with_types(named, field.object);
        self.ask(draft, &objects, Operation::Read).await?;
        self.check_listed(field, &targets.unselected, draft);
        for (entry, id) in &targets.objects {
            let is_selected = draft.entry(*entry).id.is_none();
            let found = draft.instance_of(id, field.object);
            match found.filter(|object| is_selected || draft.finds(id, *object)) {
                Some(object) => {
                    draft.update(*entry, id, object);
                    result.add(object, id.clone());
                }
                None => {
                    let message = self.missing(field.object, id);
                    let finding =
                        draft
                            .entry(*entry)
                            .finding_at("id", &[], code::NOT_FOUND, message);
                    draft.findings.push(finding);
                }
            }
        }
        Ok(())
    }

    /// Returns the steps that a property stands for, of an object or of one of its subclasses.
    fn steps(&self, object: ObjectId, property: PropertyId) -> Vec<Step> {
        let schema = self.setting.schema();
        let name = &schema[property].name.graphql;
        let objects = schema.concrete(object).into_iter();
        let mut steps = vec![Step::from(&schema[property].path)];
        for own in objects.flat_map(|object| &schema[object].props) {
            let own = &schema[*own];
            let step = Step::from(&own.path);
            if own.name.graphql == *name && !steps.contains(&step) {
                steps.push(step);
            }
        }
        steps
    }

    fn missing(&self, object: ObjectId, id: &NamedNode) -> String {
        let ty = self.setting.api.type_name(object);
        format!("there is no `{ty}` with the id `{}`", id.as_str())
    }

    /// Checks that objects exist that a filter lists and does not select, and that the sender may see them.
    fn check_listed(&self, field: &MutationField, listed: &[&NamedNode], draft: &mut Draft<'a>) {
        for id in listed {
            let found = draft.instance_of(id, field.object);
            if !found.is_some_and(|object| draft.finds(id, object)) {
                let message = self.missing(field.object, id);
                let path = ["where", "ID"].map(|key| PathSegment::Key(key.to_owned()));
                let finding = field.place().finding(code::NOT_FOUND, message, &path);
                draft.findings.push(finding);
            }
        }
    }

    async fn delete(
        &self,
        field: &MutationField,
        selected: &Selected,
        draft: &mut Draft<'a>,
        transaction: &mut dyn Transaction,
        result: &mut FieldResult,
    ) -> Result<()> {
        let ids = self.select(selected, draft, transaction).await?;
        if !field.read_back.roots.is_empty() {
            let store = transaction.view().unwrap_or(self.store);
            result.fetched = Some(self.read_back(field, &ids, store).await?);
        }
        let listed = not_among(&selected.listed, &ids);
        let mut wanted = Vec::new();
        for id in &listed {
            draft.types_wanted(id, &mut wanted);
        }
        for id in &ids {
            wanted.push(QuadPattern::About(id.clone()));
            wanted.push(QuadPattern::Referrers {
                object: id.clone(),
                also: self.setting.facts.type_properties.clone(),
            });
        }
        self.load(draft, transaction, wanted).await?;
        let objects = draft.with_types(listed.iter().copied(), field.object);
        self.ask(draft, &objects, Operation::Read).await?;
        let objects = draft.with_types(&ids, field.object);
        self.ask(draft, &objects, Operation::Delete).await?;
        self.check_listed(field, &listed, draft);
        for id in &ids {
            let types = &self.setting.facts.type_properties;
            draft.overlay.referrers_read(id, types);
            // The selection has tested it; the types say which of its subclasses it is.
            if let Some(object) = draft.instance_of(id, field.object) {
                self.check_delete(field, object, draft);
                self.check_row_deleted(field, id, object, draft);
                draft.delete(id, object);
                result.add(object, id.clone());
            }
        }
        Ok(())
    }

    /// Checks that objects of a subclass may be deleted.
    fn check_delete(&self, field: &MutationField, object: ObjectId, draft: &mut Draft<'a>) {
        let missing = self.setting.rights.lacks_delete(object);
        if let Some(message) = missing.filter(|_| object != field.object) {
            let finding = field
                .place()
                .finding(graphql_service::code::ACCESS_DENIED, message, &[]);
            draft.findings.push(finding);
        }
    }

    /// Checks that a role that allows it accepts that an object is deleted.
    fn check_row_deleted(
        &self,
        field: &MutationField,
        id: &NamedNode,
        object: ObjectId,
        draft: &mut Draft<'a>,
    ) {
        let Some(access) = self.setting.rights.access else {
            return;
        };
        let mut deleting = access
            .allowing(object, Part::Id, Operation::Delete)
            .peekable();
        // A missing right is said elsewhere.
        if deleting.peek().is_none() || draft.created.contains_key(id) {
            return;
        }
        let before = &draft.before;
        if !before.accept(access, id, object, Operation::Delete, deleting) {
            let called = draft.called(id, object, false);
            let message = format!("{called} cannot be deleted without permission");
            let finding = field
                .place()
                .finding(graphql_service::code::ACCESS_DENIED, message, &[]);
            draft.findings.push(finding);
        }
    }

    fn check_deletions(&self, draft: &mut Draft<'a>) {
        let mut fields = self.setting.plan.fields.iter();
        let deleting = fields.find_map(|root| match root {
            MutationRoot::Write(field) if matches!(field.action, Action::Delete(_)) => Some(field),
            _ => None,
        });
        if let Some(field) = deleting {
            draft.check_deleted(&field.place());
        }
    }

    /// Fetches what the payload of a field reads back of the objects of its result, if it reads something back.
    async fn read_result(
        &self,
        field: &MutationField,
        result: &FieldResult,
        store: &dyn GraphStore,
    ) -> Result<Option<Fetched>> {
        if field.read_back.roots.is_empty() {
            Ok(None)
        } else {
            self.read_back(field, &result.ids(), store).await.map(Some)
        }
    }

    /// Fetches what the payload of a field reads back of some objects.
    async fn read_back(
        &self,
        field: &MutationField,
        ids: &[NamedNode],
        store: &dyn GraphStore,
    ) -> Result<Fetched> {
        let plan = Arc::new(among(&field.read_back, ids));
        let execution = Execution {
            plan: &plan,
            store,
            ..self.reading
        };
        execution.fetch().await
    }

    /// Returns what happened to which objects, for the record of the transaction.
    fn changes(&self, draft: &Draft<'_>) -> Vec<ChangedObjects> {
        let mut subjects = HashSet::new();
        let mut ends = HashSet::new();
        // New and deleted objects have changed in any case.
        let is_open = !(draft.updated.is_empty() && draft.beside.is_empty());
        let changed = is_open.then(|| draft.overlay.changed());
        for triple in changed.into_iter().flatten() {
            if let NamedOrBlankNode::NamedNode(node) = &triple.subject {
                subjects.insert(node);
            }
            if let Term::NamedNode(node) = &triple.object {
                ends.insert(node);
            }
        }
        let is_changed = |id: &NamedNode| subjects.contains(id) || ends.contains(id);
        let mut groups: IndexMap<(ChangeKind, ObjectId), Vec<NamedNode>> = IndexMap::new();
        let mut add = |kind, object, id: &NamedNode| {
            groups.entry((kind, object)).or_default().push(id.clone());
        };
        for (id, (object, _)) in &draft.created {
            if !draft.deleted.contains_key(id) {
                add(ChangeKind::Created, *object, id);
            }
        }
        let named = draft.updated.iter().filter(|(id, _)| is_changed(id));
        let beside = draft
            .beside
            .iter()
            .filter(|(id, _)| !draft.updated.contains_key(*id))
            .filter(|(id, _)| subjects.contains(id));
        for (id, object) in named.chain(beside) {
            if !draft.deleted.contains_key(id) && !draft.created.contains_key(id) {
                add(ChangeKind::Updated, *object, id);
            }
        }
        for (id, object) in &draft.deleted {
            if !draft.created.contains_key(id) {
                add(ChangeKind::Deleted, *object, id);
            }
        }
        let groups = groups.into_iter().map(|((kind, object), mut objects)| {
            objects.sort_unstable();
            ChangedObjects {
                kind,
                object_type: self.setting.api.type_name(object).to_string(),
                objects,
            }
        });
        groups.collect()
    }
}

/// Returns those of some ids that others do not contain.
fn not_among<'i>(ids: &'i [NamedNode], others: &[NamedNode]) -> Vec<&'i NamedNode> {
    let others: HashSet<&NamedNode> = others.iter().collect();
    ids.iter().filter(|id| !others.contains(id)).collect()
}

/// Returns a plan whose roots are narrowed to some objects.
fn among(plan: &Plan, ids: &[NamedNode]) -> Plan {
    let mut plan = plan.clone();
    for root in &mut plan.roots {
        if let RootValue::Objects(objects) = &mut root.value {
            let selection: &mut Selection = &mut objects.selection;
            let all = std::mem::replace(&mut selection.condition, NodeCondition::TRUE);
            selection.condition = NodeCondition::all([NodeCondition::one_of(ids.to_vec()), all]);
        }
    }
    plan
}
