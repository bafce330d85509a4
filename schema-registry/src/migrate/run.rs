//! Moves what is to be moved.

use std::fmt;
use std::sync::Arc;

use uuid::Uuid;

use super::Migration;
use super::error::{During, MigrationError};
use super::plan::{Cleaning, MovedBinding, Plan};
use super::report::{Fate, MigrationReport, Moved, Skipped};
use super::turn::Turn;
use crate::store::{
    Binding, Expected, LeaseRecord, MigrationPhase, MigrationRecord, SchemaEntry, SchemaStore,
    SchemaStoreError, StoredSchema,
};

/// How often something is looked at again that others change.
const ROUNDS: usize = 16;

/// How many migrations were completed before this one was tried first, once that is known.
pub(super) type CompletedBefore = Option<Option<LeaseRecord>>;

impl Migration {
    /// Tries to migrate once it is the turn of this process.
    pub(super) async fn attempt(
        &self,
        before: &mut CompletedBefore,
    ) -> Result<MigrationReport, MigrationError> {
        let completed = match before {
            Some(completed) => completed.clone(),
            None => before.insert(self.completed().await?).clone(),
        };
        let turn = self.turn().await?;
        let migrated = self.in_turn(&turn, completed).await;
        turn.end().await;
        migrated
    }

    async fn in_turn(
        &self,
        turn: &Turn,
        before: Option<LeaseRecord>,
    ) -> Result<MigrationReport, MigrationError> {
        let plan = match self.inspect().await? {
            Ok(plan) => plan,
            Err(reason) => return Ok(MigrationReport::skipped(reason)),
        };
        if plan.record.is_none() && turn.is_done(&before, &self.completed().await?) {
            return Ok(MigrationReport::skipped(Skipped::Done));
        }
        tracing::info!(
            schemas = plan.schemas.len(),
            is_resumed = plan.is_resumed,
            "schemas are moved from {}",
            self.options.source
        );
        let report = self.migrate(&plan, turn).await?;
        if self.options.clean_after {
            warn_of_rest(&report);
        }
        Ok(report)
    }

    async fn migrate(&self, plan: &Plan, turn: &Turn) -> Result<MigrationReport, MigrationError> {
        let ids = || plan.schemas.iter().map(|entry| entry.id.clone()).collect();
        let first = if plan.is_emptying {
            MigrationPhase::Emptying { schemas: ids() }
        } else if plan.cleaning == Cleaning::Nothing {
            MigrationPhase::Copying
        } else {
            MigrationPhase::Cleaning
        };
        let mut kept = Kept {
            migration: self,
            turn,
            record: plan.record.clone(),
            attempt: Uuid::new_v4().simple().to_string(),
        };
        kept.enter(first).await?;
        let mut report = plan.report();
        if plan.cleaning != Cleaning::Nothing {
            self.clean(plan, &kept).await?;
            kept.enter(MigrationPhase::Copying).await?;
        }
        self.copy(plan, turn, &mut report).await?;
        if self.options.clean_after || plan.is_emptying {
            if !plan.is_emptying {
                kept.enter(MigrationPhase::Emptying { schemas: ids() })
                    .await?;
            }
            self.empty(plan, turn, &mut report).await?;
        }
        kept.end().await?;
        self.count(turn).await?;
        Ok(report)
    }

    /// Empties the destination.
    async fn clean(&self, plan: &Plan, kept: &Kept<'_>) -> Result<(), MigrationError> {
        const DOING: &str = "remove what is there";
        kept.turn.check().await?;
        match plan.cleaning {
            Cleaning::Nothing => {}
            Cleaning::Everything => {
                let record = kept.record.as_ref().expect("a phase has been entered");
                let cleared = self.destination.clear(record).await;
                if !cleared.in_destination(DOING)? {
                    return Err(MigrationError::Overtaken);
                }
            }
            Cleaning::Rest => {
                for bound in &plan.there.bindings {
                    // One that has changed since is that of someone else.
                    let swapped = self.destination.swap_binding(bound, &Binding::Unknown);
                    swapped.await.in_destination(DOING)?;
                }
                if let Some(rights) = &plan.there.rights {
                    let removed = Document::Rights.remove(&*self.destination, rights).await;
                    unless_changed(removed).in_destination(DOING)?;
                }
            }
        }
        Ok(())
    }

    async fn copy(
        &self,
        plan: &Plan,
        turn: &Turn,
        report: &mut MigrationReport,
    ) -> Result<(), MigrationError> {
        let cleaned_rights = plan.cleaning != Cleaning::Nothing && plan.there.rights.is_some();
        if let Some((rights, fate)) = self.copy_document(Document::Rights, turn).await? {
            report.rights = Some(Moved {
                item: rights.text.len(),
                fate: after_cleaning(fate, cleaned_rights),
                is_removed: false,
            });
        }
        let was_there = |id: &str| plan.cleaning == Cleaning::Everything && plan.there.has(id);
        for entry in &plan.schemas {
            let Some((stored, fate)) = self
                .copy_document(Document::Schema(&entry.id), turn)
                .await?
            else {
                // Someone has removed it meanwhile.
                continue;
            };
            let fate = after_cleaning(fate, was_there(&entry.id));
            let bytes = stored.text.len();
            tracing::info!(schema = entry.id, bytes, "{fate}");
            report.schemas.push(Moved {
                item: SchemaEntry {
                    id: entry.id.clone(),
                    bytes,
                },
                fate,
                is_removed: false,
            });
        }
        report.sort();
        for bound in &plan.bindings {
            let fate = self.copy_binding(bound, turn).await?;
            report.bindings.push(Moved {
                item: bound.destination.clone(),
                fate,
                is_removed: false,
            });
        }
        Ok(())
    }

    /// Copies a document as it is now; `None` if there is none any more.
    async fn copy_document(
        &self,
        document: Document<'_>,
        turn: &Turn,
    ) -> Result<Option<(StoredSchema, Fate)>, MigrationError> {
        let (read, store) = (format!("read {document}"), format!("store {document}"));
        for _ in 0..ROUNDS {
            let stored = document.read(&*self.source).await.in_origin(&read)?;
            let Some(stored) = stored else {
                return Ok(None);
            };
            let there = document
                .read(&*self.destination)
                .await
                .in_destination(&read)?;
            let fate = match &there {
                Some(there) if there.text == stored.text => return Ok(Some((stored, Fate::Same))),
                Some(_) if !self.options.force => return Ok(Some((stored, Fate::Kept))),
                Some(_) => Fate::Overwritten,
                None => Fate::Copied,
            };
            turn.check().await?;
            let text = Arc::clone(&stored.text);
            let written = document.write(&*self.destination, text, there.as_ref());
            match written.await {
                Ok(()) => return Ok(Some((stored, fate))),
                Err(
                    SchemaStoreError::Exists
                    | SchemaStoreError::NotFound
                    | SchemaStoreError::RevisionMismatch,
                ) => {}
                Err(error) => return Err(error).in_destination(store),
            }
        }
        Err(contended(document.to_string()))
    }

    async fn copy_binding(
        &self,
        bound: &MovedBinding,
        turn: &Turn,
    ) -> Result<Fate, MigrationError> {
        let next = &bound.destination.binding;
        for _ in 0..ROUNDS {
            let there = self
                .destination
                .bindings()
                .await
                .in_destination("list what is bound")?;
            let current = bound.current(&there);
            let fate = self.fate_of_binding(bound, current);
            if matches!(fate, Fate::Same | Fate::Kept) {
                return Ok(fate);
            }
            turn.check().await?;
            let mut expected = bound.destination.clone();
            expected.binding = current.clone();
            let swapped = self.destination.swap_binding(&expected, next).await;
            let doing = format!("bind `{}`", next.id().unwrap_or_default());
            if swapped.in_destination(doing)? {
                return Ok(fate);
            }
        }
        Err(contended("what is bound"))
    }

    /// Removes from the origin what the destination has.
    async fn empty(
        &self,
        plan: &Plan,
        turn: &Turn,
        report: &mut MigrationReport,
    ) -> Result<(), MigrationError> {
        for (at, bound) in plan.bindings.iter().enumerate() {
            // What was bound after the schemas were copied stays with its schema.
            let is_moved = |id| {
                report
                    .schemas
                    .iter()
                    .any(|it| it.item.id == id && it.fate.is_there())
            };
            if bound.destination.binding.id().is_none_or(is_moved) {
                self.remove_binding(bound, turn).await?;
                report.bindings[at].is_removed = true;
            }
        }
        for moved in &mut report.schemas {
            if moved.fate.is_there() {
                moved.is_removed = self
                    .remove_document(Document::Schema(&moved.item.id), turn)
                    .await?;
            }
        }
        let left = self.source.list().await.in_origin("list the schemas")?;
        // They protect what stays.
        if left.is_empty()
            && self.remove_document(Document::Rights, turn).await?
            && let Some(rights) = &mut report.rights
        {
            rights.is_removed = true;
        }
        Ok(())
    }

    async fn remove_binding(
        &self,
        bound: &MovedBinding,
        turn: &Turn,
    ) -> Result<(), MigrationError> {
        for _ in 0..ROUNDS {
            let fate = self.copy_binding(bound, turn).await?;
            if matches!(fate, Fate::Copied | Fate::Overwritten) {
                // It is read back.
                continue;
            }
            turn.check().await?;
            let forgotten = self.source.swap_binding(&bound.origin, &Binding::Unknown);
            if forgotten.await.in_origin("forget what is bound")? {
                return Ok(());
            }
            break;
        }
        Err(contended("what is bound"))
    }

    /// Removes a document from the origin. Returns `false` if it stays, since the destination keeps another one.
    async fn remove_document(
        &self,
        document: Document<'_>,
        turn: &Turn,
    ) -> Result<bool, MigrationError> {
        for _ in 0..ROUNDS {
            let stored = match self.copy_document(document, turn).await? {
                None => return Ok(true),
                Some((stored, Fate::Same)) => stored,
                Some((_, Fate::Kept)) => return Ok(false),
                // It is read back.
                Some(_) => continue,
            };
            turn.check().await?;
            match document.remove(&*self.source, &stored).await {
                Ok(()) | Err(SchemaStoreError::NotFound) => return Ok(true),
                Err(SchemaStoreError::RevisionMismatch) => {}
                Err(error) => return Err(error).in_origin(format!("remove {document}")),
            }
        }
        Err(contended(document.to_string()))
    }
}

/// A document that is moved.
#[derive(Clone, Copy)]
enum Document<'a> {
    Rights,
    /// The schema of this name.
    Schema(&'a str),
}

impl Document<'_> {
    async fn read(self, store: &dyn SchemaStore) -> Result<Option<StoredSchema>, SchemaStoreError> {
        match self {
            Document::Rights => store.rights().await,
            Document::Schema(id) => store.get(id).await,
        }
    }

    /// Stores the document in place of the one that is `there`.
    async fn write(
        self,
        store: &dyn SchemaStore,
        text: Arc<str>,
        there: Option<&StoredSchema>,
    ) -> Result<(), SchemaStoreError> {
        let expected = there.map(|there| Expected::revision(&there.revision));
        let written = match (self, expected) {
            (Document::Rights, expected) => {
                let expected = expected.unwrap_or_else(Expected::nothing);
                store.set_rights(text, &expected).await
            }
            (Document::Schema(id), Some(expected)) => store.replace(id, text, &expected).await,
            (Document::Schema(id), None) => store.create(id, text).await,
        };
        written.map(drop)
    }

    /// Removes the document as it was read.
    async fn remove(
        self,
        store: &dyn SchemaStore,
        stored: &StoredSchema,
    ) -> Result<(), SchemaStoreError> {
        let expected = Expected::revision(&stored.revision);
        match self {
            Document::Rights => store.remove_rights(&expected).await,
            Document::Schema(id) => store.remove(id, &expected).await,
        }
    }
}

impl fmt::Display for Document<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Document::Rights => f.write_str("the rights"),
            Document::Schema(id) => write!(f, "the schema `{id}`"),
        }
    }
}

/// The record of this attempt, which the destination keeps.
struct Kept<'a> {
    migration: &'a Migration,
    turn: &'a Turn,
    /// As it is stored.
    record: Option<MigrationRecord>,
    attempt: String,
}

impl Kept<'_> {
    /// Keeps that a phase begins.
    async fn enter(&mut self, phase: MigrationPhase) -> Result<(), MigrationError> {
        let record = MigrationRecord {
            attempt: self.attempt.clone(),
            source: self.migration.options.source.clone(),
            phase,
        };
        self.swap(Some(record)).await
    }

    /// Keeps that the migration is complete.
    async fn end(&mut self) -> Result<(), MigrationError> {
        self.swap(None).await
    }

    async fn swap(&mut self, next: Option<MigrationRecord>) -> Result<(), MigrationError> {
        self.turn.check().await?;
        let destination = &self.migration.destination;
        let swapped = destination
            .swap_migration(self.record.as_ref(), next.as_ref())
            .await;
        if !swapped.in_destination("keep how far the migration has come")? {
            return Err(MigrationError::Overtaken);
        }
        self.record = next;
        Ok(())
    }
}

/// Warns about what stays in an origin that was to be emptied.
fn warn_of_rest(report: &MigrationReport) {
    let left = report.with_fate(Fate::Left);
    if left > 0 {
        tracing::warn!(
            schemas = left,
            "schemas that are not bound stay in the origin, with their access rights: \
             `soml.storage.migration.somlMigration` moves them too; then turn off \
             `soml.storage.migration.cleanBeforeMigration`, which would remove what has been moved"
        );
    }
    let schemas = report.schemas.iter();
    for moved in schemas.filter(|it| it.fate != Fate::Left && !it.is_removed) {
        tracing::warn!(
            schema = moved.item.id,
            "the schema stays in the origin: the destination has a different schema with this name"
        );
    }
}

/// Returns what became of something whose place was cleaned before.
fn after_cleaning(fate: Fate, was_there: bool) -> Fate {
    if was_there && fate == Fate::Copied {
        Fate::Overwritten
    } else {
        fate
    }
}

/// Ignores that something has changed or gone since it was read.
fn unless_changed(removed: Result<(), SchemaStoreError>) -> Result<(), SchemaStoreError> {
    match removed {
        Err(SchemaStoreError::NotFound | SchemaStoreError::RevisionMismatch) => Ok(()),
        removed => removed,
    }
}

fn contended(what: impl Into<String>) -> MigrationError {
    MigrationError::Contended { what: what.into() }
}
