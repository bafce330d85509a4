//! What is moved.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Migration;
use super::error::{During, MigrationError};
use super::report::{Fate, MigrationReport, Moved, Skipped};
use crate::store::{
    ApplicationBinding, Binding, MigrationPhase, MigrationRecord, SchemaEntry, StoredSchema,
};

/// What is moved, as the stores were when they were looked at.
pub(super) struct Plan {
    /// The record of an interrupted migration, whichever it was.
    pub(super) record: Option<MigrationRecord>,
    /// Whether this migration is the one that was interrupted.
    pub(super) is_resumed: bool,
    /// Whether the destination had everything when that was interrupted.
    pub(super) is_emptying: bool,
    pub(super) cleaning: Cleaning,
    /// The schemas that are moved.
    pub(super) schemas: Vec<SchemaEntry>,
    /// The schemas that are left in the origin.
    left: Vec<SchemaEntry>,
    /// The rights, if the origin has any.
    pub(super) rights: Option<StoredSchema>,
    /// What is bound in the origin, and moved.
    pub(super) bindings: Vec<MovedBinding>,
    /// What the destination had.
    pub(super) there: There,
}

/// What a destination has.
pub(super) struct There {
    pub(super) schemas: Vec<SchemaEntry>,
    pub(super) rights: Option<StoredSchema>,
    pub(super) bindings: Vec<ApplicationBinding>,
}

/// What is removed from the destination first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cleaning {
    Nothing,
    Everything,
    /// Rights and bindings: the destination had no schemas, and those that someone stores meanwhile must stay.
    Rest,
}

/// A binding, as each store names its application.
#[derive(Clone, Debug)]
pub(super) struct MovedBinding {
    pub(super) origin: ApplicationBinding,
    pub(super) destination: ApplicationBinding,
}

impl Migration {
    /// Looks what is to be moved; `Err` in the result says why nothing is.
    pub(super) async fn inspect(&self) -> Result<Result<Plan, Skipped>, MigrationError> {
        let options = &self.options;
        let record = self.record().await?;
        self.check_origin().await?;
        let is_resumed = record
            .as_ref()
            .is_some_and(|record| record.source == options.source);
        let (mut bindings, others) = self.bindings().await?;
        let listed = self.source.list().await.in_origin("list the schemas")?;
        let rights = self.source.rights().await.in_origin("read the rights")?;
        check_bindings(&bindings, &listed)?;
        let emptied = match &record {
            Some(MigrationRecord {
                phase: MigrationPhase::Emptying { schemas },
                ..
            }) if is_resumed => Some(schemas),
            _ => None,
        };
        let there = self.there().await?;
        if !options.force && !is_resumed && !there.schemas.is_empty() {
            let schemas = there.schemas.len();
            return Ok(Err(Skipped::DestinationHolds { schemas }));
        }
        let bound: BTreeSet<&str> = bindings.iter().filter_map(MovedBinding::id).collect();
        let (schemas, left): (Vec<_>, Vec<_>) =
            listed.into_iter().partition(|entry| match emptied {
                Some(schemas) => schemas.contains(&entry.id),
                None => options.all || !options.force || bound.contains(&*entry.id),
            });
        if schemas.is_empty() && !is_resumed {
            match left.len() {
                0 if rights.is_none() => return Ok(Err(Skipped::OriginEmpty)),
                0 => {}
                schemas => return Ok(Err(Skipped::NothingBound { schemas })),
            }
        }
        if options.clean_after || emptied.is_some() {
            check_others(&others)?;
        }
        let is_emptying = emptied.is_some();
        // What was bound since the origin began to be emptied stays there with its schema.
        let is_moved = |id: &str| schemas.iter().any(|entry| entry.id == id);
        bindings.retain(|bound| bound.id().is_none_or(is_moved));
        // An origin without schemas never empties a destination.
        let cleaning = if options.clean_before && !schemas.is_empty() {
            self.cleaning(record.as_ref().filter(|_| is_resumed))
        } else {
            Cleaning::Nothing
        };
        Ok(Ok(Plan {
            is_resumed,
            is_emptying,
            cleaning,
            schemas,
            left,
            rights,
            bindings,
            there,
            record,
        }))
    }

    /// Fails if the origin does not have all that was stored there.
    async fn check_origin(&self) -> Result<(), MigrationError> {
        let record = self.source.migration().await;
        if let Some(record) = record.in_origin("read the record of migrations")?
            && !matches!(record.phase, MigrationPhase::Emptying { .. })
        {
            let from = record.source;
            return Err(MigrationError::OriginIncomplete { from });
        }
        let missing = self.source.missing().await;
        let files = missing.in_origin("look for lost documents")?;
        if files.is_empty() {
            Ok(())
        } else {
            Err(MigrationError::Lost { files })
        }
    }

    /// Returns what is bound in the origin, and what of it the destination cannot keep.
    async fn bindings(
        &self,
    ) -> Result<(Vec<MovedBinding>, Vec<ApplicationBinding>), MigrationError> {
        let all = self.source.bindings().await;
        let (mut moved, mut others) = (Vec::new(), Vec::new());
        for origin in all.in_origin("list what is bound")? {
            match self.in_destination(&origin) {
                Some(destination) => moved.push(MovedBinding {
                    origin,
                    destination,
                }),
                None => others.push(origin),
            }
        }
        Ok((moved, others))
    }

    async fn there(&self) -> Result<There, MigrationError> {
        let destination = &self.destination;
        let bindings = destination.bindings().await;
        let rights = destination.rights().await;
        let schemas = destination.list().await;
        Ok(There {
            schemas: schemas.in_destination("list the schemas")?,
            rights: rights.in_destination("read the rights")?,
            bindings: bindings.in_destination("list what is bound")?,
        })
    }

    /// Returns the record of a migration that was interrupted, unless that one must be completed first.
    async fn record(&self) -> Result<Option<MigrationRecord>, MigrationError> {
        let options = &self.options;
        let record = self.destination.migration().await;
        let record = record.in_destination("read the record of migrations")?;
        if let Some(other) = record.as_ref().filter(|it| it.source != options.source) {
            let is_emptying = matches!(other.phase, MigrationPhase::Emptying { .. });
            // What has left the other origin is only here.
            if !options.force || (is_emptying && options.clean_before) {
                let from = other.source.clone();
                return Err(MigrationError::Interrupted { from });
            }
        }
        Ok(record)
    }

    /// Returns what is removed from the destination first, after an interrupted migration with this record.
    fn cleaning(&self, resumed: Option<&MigrationRecord>) -> Cleaning {
        match resumed.map(|record| &record.phase) {
            Some(MigrationPhase::Emptying { .. }) => Cleaning::Nothing,
            _ if self.options.force => Cleaning::Everything,
            // The destination may have what others have stored since.
            Some(MigrationPhase::Copying) => Cleaning::Nothing,
            None | Some(MigrationPhase::Cleaning) => Cleaning::Rest,
        }
    }

    /// Returns a binding of the origin as the destination names its application; `None` if it keeps no bindings of that
    /// application.
    fn in_destination(&self, bound: &ApplicationBinding) -> Option<ApplicationBinding> {
        let (from, to) = (self.source.application(), self.destination.application());
        let is_own = bound.application == from;
        let application = match (from.is_empty(), to.is_empty()) {
            (false, false) => &bound.application,
            _ if is_own => to,
            _ => return None,
        };
        Some(ApplicationBinding {
            application: application.to_owned(),
            ..bound.clone()
        })
    }

    /// Returns what a run would do now.
    pub(super) async fn foreseen(&self) -> Result<MigrationReport, MigrationError> {
        let plan = match self.inspect().await? {
            Ok(plan) => plan,
            Err(reason) => return Ok(MigrationReport::skipped(reason)),
        };
        let mut report = plan.report();
        let is_removed = self.options.clean_after || plan.is_emptying;
        let is_cleaned = plan.cleaning == Cleaning::Everything;
        let cleans_rights = plan.cleaning != Cleaning::Nothing;
        if let Some(rights) = &plan.rights {
            let there = plan.there.rights.as_ref();
            let there = there.map(|there| (!cleans_rights).then(|| there.text.clone()));
            let fate = self.fate(&rights.text, there);
            report.rights = Some(Moved {
                item: rights.text.len(),
                fate,
                is_removed: is_removed && fate.is_there(),
            });
        }
        for entry in &plan.schemas {
            let doing = format!("read the schema `{}`", entry.id);
            let stored = self.source.get(&entry.id).await.in_origin(&doing)?;
            let Some(stored) = stored else {
                continue;
            };
            let there = if !plan.there.has(&entry.id) {
                None
            } else if is_cleaned {
                Some(None)
            } else {
                let there = self.destination.get(&entry.id).await;
                there.in_destination(doing)?.map(|there| Some(there.text))
            };
            let fate = self.fate(&stored.text, there);
            report.schemas.push(Moved {
                item: entry.clone(),
                fate,
                is_removed: is_removed && fate.is_there(),
            });
        }
        report.sort();
        if let Some(rights) = &mut report.rights
            && report.schemas.iter().any(|schema| !schema.is_removed)
        {
            rights.is_removed = false;
        }
        for bound in &plan.bindings {
            let current = if cleans_rights {
                &Binding::Unknown
            } else {
                bound.current(&plan.there.bindings)
            };
            let mut schemas = report.schemas.iter();
            let leaves = |id| schemas.any(|it| it.item.id == id && it.is_removed);
            let is_removed = is_removed && bound.id().is_none_or(leaves);
            report.bindings.push(Moved {
                item: bound.destination.clone(),
                fate: self.fate_of_binding(bound, current),
                is_removed,
            });
        }
        Ok(report)
    }

    /// Returns what becomes of a text; `there` is that of the destination, `None` in it if that is removed first.
    fn fate(&self, text: &Arc<str>, there: Option<Option<Arc<str>>>) -> Fate {
        match there {
            None => Fate::Copied,
            Some(Some(there)) if there == *text => Fate::Same,
            Some(Some(_)) if !self.options.force => Fate::Kept,
            Some(_) => Fate::Overwritten,
        }
    }

    /// Returns what becomes of a binding, of which the destination has this one.
    pub(super) fn fate_of_binding(&self, bound: &MovedBinding, current: &Binding) -> Fate {
        match (&bound.destination.binding, current) {
            (next, current) if next == current => Fate::Same,
            (Binding::Unknown, _) => Fate::Same,
            // That nothing is bound on purpose unbinds nothing elsewhere.
            (Binding::Nothing, Binding::Schema(_)) => Fate::Kept,
            (Binding::Nothing, _) => Fate::Copied,
            (Binding::Schema(_), Binding::Schema(_)) if self.options.force => Fate::Overwritten,
            (Binding::Schema(_), Binding::Schema(_)) => Fate::Kept,
            (Binding::Schema(_), _) => Fate::Copied,
        }
    }
}

impl Plan {
    /// Returns a report of what is not moved.
    pub(super) fn report(&self) -> MigrationReport {
        let is_moved = |there: &SchemaEntry| self.schemas.iter().any(|entry| entry.id == there.id);
        let cleaned = if self.cleaning == Cleaning::Everything {
            let there = self.there.schemas.iter();
            there.filter(|there| !is_moved(there)).cloned().collect()
        } else {
            Vec::new()
        };
        let left = self.left.iter().map(|entry| Moved {
            item: entry.clone(),
            fate: Fate::Left,
            is_removed: false,
        });
        MigrationReport {
            is_resumed: self.is_resumed,
            cleaned,
            schemas: left.collect(),
            ..MigrationReport::default()
        }
    }
}

impl MigrationReport {
    pub(super) fn sort(&mut self) {
        let by_name = |a: &Moved<SchemaEntry>, b: &Moved<SchemaEntry>| a.item.id.cmp(&b.item.id);
        self.schemas.sort_by(by_name);
    }
}

impl There {
    /// Returns whether there is a schema of a name.
    pub(super) fn has(&self, id: &str) -> bool {
        self.schemas.iter().any(|entry| entry.id == id)
    }
}

impl MovedBinding {
    /// Returns the name of the schema that is bound.
    fn id(&self) -> Option<&str> {
        self.origin.binding.id()
    }

    /// Returns what is bound to the same service in the destination, of all that is bound there.
    pub(super) fn current<'a>(&self, there: &'a [ApplicationBinding]) -> &'a Binding {
        let ApplicationBinding {
            application,
            service,
            ..
        } = &self.destination;
        let mut there = there.iter();
        let same = there.find(|it| it.application == *application && it.service == *service);
        same.map_or(&Binding::Unknown, |same| &same.binding)
    }
}

/// Refuses bindings of schemas that are not there.
fn check_bindings(bindings: &[MovedBinding], listed: &[SchemaEntry]) -> Result<(), MigrationError> {
    let is_stored = |id: &str| listed.iter().any(|entry| entry.id == id);
    let mut bindings = bindings.iter();
    match bindings.find(|bound| bound.id().is_some_and(|id| !is_stored(id))) {
        Some(bound) => Err(MigrationError::Dangling {
            binding: Box::new(bound.origin.clone()),
        }),
        None => Ok(()),
    }
}

/// Refuses to remove what other applications have bound from the origin.
fn check_others(others: &[ApplicationBinding]) -> Result<(), MigrationError> {
    let bound = others.iter().filter(|other| other.binding.id().is_some());
    let applications: BTreeSet<_> = bound.map(|other| other.application.clone()).collect();
    if applications.is_empty() {
        return Ok(());
    }
    Err(MigrationError::OtherApplications {
        applications: applications.into_iter().collect(),
    })
}
