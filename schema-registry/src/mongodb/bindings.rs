//! Bindings, and the removal of schemas that are not bound. `mod.rs` explains the order of the steps.

use mongodb::bson::{Bson, Document, doc};

use super::calls::{Calls, Proof};
use super::document::{
    self, BindingRecord, Mark, binding_key, binding_key_of, read_application_binding, read_binding,
    read_marks, schema_key, string, unique,
};
use crate::store::{
    ApplicationBinding, Binding, BindingState, Expected, SchemaStoreError, ServiceKind,
};

/// How often a change begins again because others change the same.
const ROUNDS: usize = 64;

/// The bindings of an application.
pub(super) struct Bindings<'a> {
    pub(super) calls: &'a Calls,
    pub(super) application: &'a str,
}

impl Bindings<'_> {
    pub(super) async fn get(&self, service: ServiceKind) -> Result<Binding, SchemaStoreError> {
        let record = self.find(service).await?;
        Ok(record.map(|record| record.binding).unwrap_or_default())
    }

    pub(super) async fn state(
        &self,
        service: ServiceKind,
    ) -> Result<BindingState, SchemaStoreError> {
        let mut version = None;
        for _ in 0..ROUNDS {
            let Some(BindingRecord {
                binding,
                version: current,
                ..
            }) = self.find(service).await?
            else {
                return Ok(BindingState::default());
            };
            let found = match binding.id() {
                Some(id) => {
                    let fields = doc! { "revision": 1 };
                    self.calls.find(document::schema(id), fields).await?
                }
                None => None,
            };
            let revision = found.map(|found| string(&found, "revision")).transpose()?;
            let is_lost = version.as_ref() == Some(&current);
            if revision.is_some() || binding.id().is_none() || is_lost {
                return Ok(BindingState { binding, revision });
            }
            // It is lost, or another was bound and this one removed between the two reads.
            version = Some(current);
        }
        Err(contended())
    }

    /// Finds what is bound, as the read concern has it.
    async fn find(&self, service: ServiceKind) -> Result<Option<BindingRecord>, SchemaStoreError> {
        let filter = doc! { "_id": binding_key(self.application, service) };
        let found = self.calls.find(filter, doc! {}).await?;
        found.as_ref().map(read_binding).transpose()
    }

    pub(super) async fn set(
        &self,
        service: ServiceKind,
        id: Option<&str>,
    ) -> Result<(), SchemaStoreError> {
        let next = Binding::of(id);
        for _ in 0..ROUNDS {
            let earlier = self.read(service).await?;
            if self.change(service, earlier.as_ref(), &next).await? {
                return Ok(());
            }
        }
        Err(contended())
    }

    /// Binds nothing if a schema is bound. Returns whether it was.
    pub(super) async fn unset(
        &self,
        service: ServiceKind,
        id: &str,
    ) -> Result<bool, SchemaStoreError> {
        for _ in 0..ROUNDS {
            let earlier = self.read(service).await?;
            if earlier.as_ref().and_then(|record| record.binding.id()) != Some(id) {
                return Ok(false);
            }
            let change = self.change(service, earlier.as_ref(), &Binding::Nothing);
            if change.await? {
                return Ok(true);
            }
        }
        Err(contended())
    }

    /// Binds something else if what is bound is as expected. Returns whether it was.
    pub(super) async fn swap(
        &self,
        service: ServiceKind,
        expected: &Binding,
        next: &Binding,
    ) -> Result<bool, SchemaStoreError> {
        for _ in 0..ROUNDS {
            let earlier = self.read(service).await?;
            let current = earlier.as_ref().map(|record| &record.binding);
            if current.unwrap_or(&Binding::Unknown) != expected {
                return Ok(false);
            }
            if self.change(service, earlier.as_ref(), next).await? {
                return Ok(true);
            }
        }
        Err(contended())
    }

    async fn read(&self, service: ServiceKind) -> Result<Option<BindingRecord>, SchemaStoreError> {
        read(self.calls, binding_key(self.application, service)).await
    }

    /// Tries once to change a binding. Returns `false` if it has changed since it was read.
    pub(super) async fn change(
        &self,
        service: ServiceKind,
        earlier: Option<&BindingRecord>,
        next: &Binding,
    ) -> Result<bool, SchemaStoreError> {
        let id = next.id();
        let mark = Mark {
            application: self.application.to_owned(),
            service: service.name().to_owned(),
            mark: unique(),
        };
        if let Some(id) = id
            && !add(self.calls, id, &mark).await?
        {
            return Err(SchemaStoreError::NotFound);
        }
        let set = match next {
            Binding::Unknown => doc! {},
            Binding::Nothing => doc! { "schema": Bson::Null, "mark": Bson::Null },
            Binding::Schema(id) => doc! { "schema": id, "mark": &mark.mark },
        };
        let unset: &[&str] = match next {
            Binding::Unknown => &["schema", "mark"],
            _ => &[],
        };
        let is_changed = swap(self.calls, &mark, earlier, Changes { set, unset }).await?;
        let superfluous = if is_changed {
            earlier.and_then(|record| record.binding.id().zip(record.mark.as_deref()))
        } else {
            id.map(|id| (id, mark.mark.as_str()))
        };
        if let Some((id, mark)) = superfluous
            && let Err(error) = take(self.calls, id, mark).await
        {
            // The next removal of the schema takes it off.
            tracing::debug!(schema = id, ?error, "a mark is left on a schema");
        }
        Ok(is_changed)
    }
}

/// What is changed in a binding.
#[derive(Default)]
struct Changes {
    set: Document,
    unset: &'static [&'static str],
}

/// Returns what is bound to the services of all applications, and as what it is stored.
pub(super) async fn all(
    calls: &Calls,
) -> Result<Vec<(ApplicationBinding, BindingRecord)>, SchemaStoreError> {
    let found = calls.find_all(document::all_bindings(), doc! {}).await?;
    let mut bindings = Vec::with_capacity(found.len());
    for found in &found {
        let record = read_binding(found)?;
        if record.binding != Binding::Unknown {
            bindings.push((read_application_binding(found)?, record));
        }
    }
    Ok(bindings)
}

/// Removes a schema that is bound nowhere.
pub(super) async fn remove(
    calls: &Calls,
    id: &str,
    expected: &Expected,
) -> Result<(), SchemaStoreError> {
    for _ in 0..ROUNDS {
        let fields = doc! { "revision": 1, "bindings": 1 };
        let found = calls
            .find_latest(document::schema(id), fields)
            .await?
            .ok_or(SchemaStoreError::NotFound)?;
        let revision = string(&found, "revision")?;
        let marks = read_marks(&found)?;
        let mut records = Vec::with_capacity(marks.len());
        for mark in &marks {
            let key = binding_key_of(&mark.application, &mark.service);
            let record = read(calls, key).await?;
            if record.as_ref().and_then(|record| record.binding.id()) == Some(id) {
                let service = mark.service().ok_or_else(unknown_service)?;
                return Err(SchemaStoreError::Bound { service });
            }
            records.push(record);
        }
        expected.compare(&revision)?;
        if !take_off(calls, id, &marks, &records).await? {
            continue;
        }
        let same = doc! { "_id": schema_key(id), "revision": revision };
        let mut unmarked = same.clone();
        unmarked.insert("bindings", Bson::Array(Vec::new()));
        if calls.delete(unmarked, Proof::Absent(same)).await? {
            return Ok(());
        }
    }
    Err(contended())
}

/// Takes marks off a schema that the bindings do not name. Returns `false` if a binding has changed meanwhile.
async fn take_off(
    calls: &Calls,
    id: &str,
    marks: &[Mark],
    records: &[Option<BindingRecord>],
) -> Result<bool, SchemaStoreError> {
    for (at, mark) in marks.iter().enumerate() {
        // Several marks of one binding were left by several attempts, and it needs one new version.
        let is_first = !marks[..at].iter().any(|earlier| {
            earlier.application == mark.application && earlier.service == mark.service
        });
        let no_changes = Changes::default();
        if is_first && !swap(calls, mark, records[at].as_ref(), no_changes).await? {
            return Ok(false);
        }
        take(calls, id, &mark.mark).await?;
    }
    Ok(true)
}

async fn read(calls: &Calls, key: String) -> Result<Option<BindingRecord>, SchemaStoreError> {
    let found = calls.find_latest(doc! { "_id": key }, doc! {}).await?;
    found.as_ref().map(read_binding).transpose()
}

/// Changes the binding that a mark is for, and gives it a new version, if it still is what it was. Returns whether it
/// was.
async fn swap(
    calls: &Calls,
    mark: &Mark,
    earlier: Option<&BindingRecord>,
    mut changes: Changes,
) -> Result<bool, SchemaStoreError> {
    let key = binding_key_of(&mark.application, &mark.service);
    let version = unique();
    changes.set.insert("version", &version);
    let proof = Proof::Present(doc! { "_id": &key, "version": version });
    match earlier {
        Some(earlier) => {
            let same = doc! { "_id": key, "version": &earlier.version };
            let mut update = doc! { "$set": changes.set };
            if !changes.unset.is_empty() {
                let unset = changes
                    .unset
                    .iter()
                    .map(|field| ((*field).to_owned(), "".into()));
                update.insert("$unset", Document::from_iter(unset));
            }
            calls.update(same, update, proof).await
        }
        None => {
            let mut new = doc! {
                "_id": key,
                "application": &mark.application,
                "service": &mark.service,
            };
            new.extend(changes.set);
            calls.insert(new, proof).await
        }
    }
}

/// Adds a mark to a schema. Returns `false` if there is no such schema.
async fn add(calls: &Calls, id: &str, mark: &Mark) -> Result<bool, SchemaStoreError> {
    let update = doc! { "$push": { "bindings": mark.to_document() } };
    let marked = doc! { "_id": schema_key(id), "bindings.mark": &mark.mark };
    calls
        .update(document::schema(id), update, Proof::Present(marked))
        .await
}

/// Takes a mark off a schema.
async fn take(calls: &Calls, id: &str, mark: &str) -> Result<(), SchemaStoreError> {
    let marked = doc! { "_id": schema_key(id), "bindings.mark": mark };
    let update = doc! { "$pull": { "bindings": { "mark": mark } } };
    let proof = Proof::Absent(marked.clone());
    calls.update(marked, update, proof).await.map(drop)
}

fn contended() -> SchemaStoreError {
    let reason = "other processes kept changing the same documents";
    SchemaStoreError::Unavailable(reason.into())
}

fn unknown_service() -> SchemaStoreError {
    let reason = "the schema is bound to a kind of service that this version does not know";
    SchemaStoreError::Failed(reason.into())
}
