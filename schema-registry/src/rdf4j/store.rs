//! The store: what each of its calls reads and changes.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use graph_store::remote::Rows;
use graph_store::write::change_graph::time;
use oxrdf::vocab::rdf;
use oxrdf::{Literal, NamedNode, NamedNodeRef, Term};
use uuid::Uuid;

use super::algebra;
use super::options::{Rdf4jOptionsError, Rdf4jSchemaOptions};
use super::server::{Change, Mark, Server};
use super::vocabulary::{
    self, APPLICATION, BEAT, BINDING, BOUND_SCHEMA, BYTES, HOLDER, ID, LEASE, MIGRATION, MODIFIED,
    NAME, NUMBER, REVISION, RIGHTS, SCHEMA, SERVICE, TEXT,
};
use crate::store::{
    ApplicationBinding, Binding, BindingState, Expected, LeaseRecord, MigrationRecord, RIGHTS_ID,
    SchemaEntry, SchemaStore, SchemaStoreError, ServiceKind, StoredSchema,
};

/// Documents in a repository of a server of RDF4J's protocol, which several processes share.
///
/// ```no_run
/// use schema_registry::{Rdf4jSchemaOptions, Rdf4jSchemaStore, SchemaStore};
///
/// # async fn list() -> Result<(), Box<dyn std::error::Error>> {
/// let mut options = Rdf4jSchemaOptions::new("films");
/// options.connection.addresses = "http://localhost:8080/rdf4j-server".parse()?;
/// let store = Rdf4jSchemaStore::new(options)?;
/// for schema in store.list().await? {
///     println!("{} has {} bytes", schema.id, schema.bytes);
/// }
/// # Ok(())
/// # }
/// ```
pub struct Rdf4jSchemaStore {
    server: Server,
    application: String,
}

impl Rdf4jSchemaStore {
    /// Prepares a store; does not connect yet.
    ///
    /// # Errors
    /// When the options contradict each other, or TLS cannot be set up on this machine.
    pub fn new(options: Rdf4jSchemaOptions) -> Result<Self, Rdf4jOptionsError> {
        Ok(Rdf4jSchemaStore {
            application: options.application.clone(),
            server: Server::new(options)?,
        })
    }

    /// Returns whether the repository is there. It is never created.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn exists(&self) -> Result<bool, SchemaStoreError> {
        self.server.exists().await
    }

    async fn document(
        &self,
        id: &str,
        node: &NamedNode,
    ) -> Result<Option<StoredSchema>, SchemaStoreError> {
        let rows = self.server.select(&algebra::document(node)).await?;
        match &rows.terms[..] {
            [] => Ok(None),
            [Some(Term::Literal(text)), Some(Term::Literal(revision))] => Ok(Some(StoredSchema {
                id: id.to_owned(),
                text: text.value().into(),
                revision: revision.value().to_owned(),
            })),
            _ => Err(damaged(node)),
        }
    }
}

impl fmt::Debug for Rdf4jSchemaStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rdf4jSchemaStore")
            .field("application", &self.application)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl SchemaStore for Rdf4jSchemaStore {
    async fn list(&self) -> Result<Vec<SchemaEntry>, SchemaStoreError> {
        let rows = self.server.select(&algebra::all_schemas()).await?;
        let entries = rows.terms.chunks(2).map(|row| match row {
            [Some(Term::Literal(id)), Some(Term::Literal(bytes))] => Ok(SchemaEntry {
                id: id.value().to_owned(),
                bytes: number(bytes).ok_or_else(|| damaged(&vocabulary::schema(id.value())))?,
            }),
            _ => Err(damaged(&vocabulary::graph())),
        });
        let mut entries: Vec<_> = entries.collect::<Result<_, _>>()?;
        entries.sort_unstable_by(|left, right| left.id.cmp(&right.id));
        entries.dedup_by(|left, right| left.id == right.id);
        Ok(entries)
    }

    async fn get(&self, id: &str) -> Result<Option<StoredSchema>, SchemaStoreError> {
        self.document(id, &vocabulary::schema(id)).await
    }

    async fn create(&self, id: &str, text: Arc<str>) -> Result<StoredSchema, SchemaStoreError> {
        let node = vocabulary::schema(id);
        let read = algebra::revision(&node);
        let create = |rows: Rows| match revisions(&rows)[..] {
            [] => Ok(document(&node, SCHEMA, id, &text)),
            _ => Err(SchemaStoreError::Exists),
        };
        self.server.change(&read, create).await
    }

    async fn replace(
        &self,
        id: &str,
        text: Arc<str>,
        expected: &Expected,
    ) -> Result<StoredSchema, SchemaStoreError> {
        let node = vocabulary::schema(id);
        let read = algebra::revision(&node);
        let replace = |rows: Rows| {
            compare(&rows, expected)?.ok_or(SchemaStoreError::NotFound)?;
            Ok(document(&node, SCHEMA, id, &text))
        };
        self.server.change(&read, replace).await
    }

    async fn remove(&self, id: &str, expected: &Expected) -> Result<(), SchemaStoreError> {
        let node = vocabulary::schema(id);
        let remove = |rows: Rows| {
            let mut services = rows
                .terms
                .chunks(2)
                .filter_map(|row| row[1].as_ref())
                .map(|service| service_kind(service, &node));
            if let Some(service) = services.next() {
                return Err(SchemaStoreError::Bound { service: service? });
            }
            compare(&rows, expected)?.ok_or(SchemaStoreError::NotFound)?;
            Ok(removal(&node, ()))
        };
        let read = algebra::use_of_schema(&node);
        self.server.change(&read, remove).await
    }

    async fn rights(&self) -> Result<Option<StoredSchema>, SchemaStoreError> {
        self.document(RIGHTS_ID, &vocabulary::rights()).await
    }

    async fn set_rights(
        &self,
        text: Arc<str>,
        expected: &Expected,
    ) -> Result<StoredSchema, SchemaStoreError> {
        let node = vocabulary::rights();
        let read = algebra::revision(&node);
        let new = || document(&node, RIGHTS, RIGHTS_ID, &text);
        let set = |rows: Rows| match compare(&rows, expected)? {
            None => expected.compare_none().map(|()| new()),
            Some(()) => Ok(new()),
        };
        self.server.change(&read, set).await
    }

    async fn binding(&self, service: ServiceKind) -> Result<Binding, SchemaStoreError> {
        Ok(self.binding_state(service).await?.binding)
    }

    async fn set_binding(
        &self,
        service: ServiceKind,
        id: Option<&str>,
    ) -> Result<(), SchemaStoreError> {
        let node = vocabulary::binding(&self.application, service);
        let schema = id.map(vocabulary::schema);
        // Without a schema, what is bound is read, so that of two changes one conflicts.
        let read = algebra::revision(schema.as_ref().unwrap_or(&node));
        let bind = |rows: Rows| match (&schema, &revisions(&rows)[..]) {
            (Some(_), []) => Err(SchemaStoreError::NotFound),
            _ => Ok(binding(
                &node,
                &self.application,
                service,
                schema.clone(),
                (),
            )),
        };
        self.server.change(&read, bind).await
    }

    async fn unbind(&self, service: ServiceKind, id: &str) -> Result<bool, SchemaStoreError> {
        let node = vocabulary::binding(&self.application, service);
        let unbind = |rows: Rows| {
            let state = binding_state(&rows, &node)?;
            let is_bound = state.binding.id() == Some(id);
            let mut change = binding(&node, &self.application, service, None, is_bound);
            if !is_bound {
                change.update = None;
            }
            Ok(change)
        };
        let read = algebra::bound(&node);
        self.server.change(&read, unbind).await
    }

    async fn binding_state(&self, service: ServiceKind) -> Result<BindingState, SchemaStoreError> {
        let node = vocabulary::binding(&self.application, service);
        let rows = self.server.select(&algebra::bound(&node)).await?;
        binding_state(&rows, &node)
    }

    fn is_shared(&self) -> bool {
        true
    }

    async fn lease(&self, name: &str) -> Result<Option<LeaseRecord>, SchemaStoreError> {
        let node = vocabulary::lease(name);
        let rows = self.server.select(&lease_query(&node)).await?;
        lease_record(&rows, &node)
    }

    async fn swap_lease(
        &self,
        name: &str,
        expected: Option<&LeaseRecord>,
        lease: &LeaseRecord,
    ) -> Result<bool, SchemaStoreError> {
        let node = vocabulary::lease(name);
        let swap = |rows: Rows| {
            let stored = lease_record(&rows, &node)?;
            let is_expected = stored.as_ref() == expected;
            let properties = vec![
                (NAME, Literal::from(name).into()),
                (HOLDER, Literal::from(lease.holder.as_str()).into()),
                (NUMBER, Literal::from(lease.number).into()),
                (BEAT, Literal::from(lease.beat).into()),
            ];
            let revision = new_revision();
            let update = || stored_node(&node, LEASE, &revision, properties);
            Ok(Change {
                update: is_expected.then(update),
                mark: Mark::Revision(node.clone(), revision.clone()),
                result: is_expected,
            })
        };
        self.server.change(&lease_query(&node), swap).await
    }

    fn application(&self) -> &str {
        &self.application
    }

    async fn bindings(&self) -> Result<Vec<ApplicationBinding>, SchemaStoreError> {
        let rows = self.server.select(&algebra::all_bindings()).await?;
        let graph = vocabulary::graph();
        let bindings = rows.terms.chunks(3).map(|row| match row {
            [Some(Term::Literal(application)), Some(service), schema] => Ok(ApplicationBinding {
                application: application.value().to_owned(),
                service: service_kind(service, &graph)?,
                binding: match schema {
                    None => Binding::Nothing,
                    Some(schema) => bound_schema(schema, &graph)?,
                },
            }),
            _ => Err(damaged(&graph)),
        });
        bindings.collect()
    }

    async fn swap_binding(
        &self,
        expected: &ApplicationBinding,
        next: &Binding,
    ) -> Result<bool, SchemaStoreError> {
        let (application, service) = (&*expected.application, expected.service);
        let node = vocabulary::binding(application, service);
        let schema = next.id().map(vocabulary::schema);
        let swap = |rows: Rows| {
            let (mut is_stored, mut current) = (false, Binding::Unknown);
            for row in rows.terms.chunks(3) {
                match row {
                    [Some(_), _, _] => is_stored = true,
                    [_, Some(_), None] => current = Binding::Nothing,
                    [_, Some(_), Some(schema)] => current = bound_schema(schema, &node)?,
                    _ => return Err(damaged(&node)),
                }
            }
            let is_expected = current == expected.binding;
            if is_expected && schema.is_some() && !is_stored {
                return Err(SchemaStoreError::NotFound);
            }
            let mut change = match next {
                Binding::Unknown => removal(&node, is_expected),
                _ => binding(&node, application, service, schema.clone(), is_expected),
            };
            if !is_expected {
                change.update = None;
            }
            Ok(change)
        };
        let read = algebra::to_bind(&node, schema.as_ref());
        self.server.change(&read, swap).await
    }

    async fn remove_rights(&self, expected: &Expected) -> Result<(), SchemaStoreError> {
        let node = vocabulary::rights();
        let remove = |rows: Rows| {
            compare(&rows, expected)?.ok_or(SchemaStoreError::NotFound)?;
            Ok(removal(&node, ()))
        };
        self.server.change(&algebra::revision(&node), remove).await
    }

    async fn migration(&self) -> Result<Option<MigrationRecord>, SchemaStoreError> {
        let node = vocabulary::migration();
        let rows = self.server.select(&algebra::document(&node)).await?;
        migration_record(&rows, &node)
    }

    async fn swap_migration(
        &self,
        expected: Option<&MigrationRecord>,
        next: Option<&MigrationRecord>,
    ) -> Result<bool, SchemaStoreError> {
        let node = vocabulary::migration();
        let swap = |rows: Rows| {
            let is_expected = migration_record(&rows, &node)?.as_ref() == expected;
            let mut change = match next {
                None => removal(&node, is_expected),
                Some(record) => {
                    let (revision, properties) = (new_revision(), record_properties(record));
                    Change {
                        update: Some(stored_node(&node, MIGRATION, &revision, properties)),
                        mark: Mark::Revision(node.clone(), revision),
                        result: is_expected,
                    }
                }
            };
            if !is_expected {
                change.update = None;
            }
            Ok(change)
        };
        self.server.change(&algebra::document(&node), swap).await
    }

    async fn clear(&self, record: &MigrationRecord) -> Result<bool, SchemaStoreError> {
        let node = vocabulary::migration();
        let clear = |rows: Rows| {
            let is_expected = migration_record(&rows, &node)?.as_ref() == Some(record);
            // It is stored again, so that the change is found if its answer is lost.
            let revision = new_revision();
            let properties = node_properties(MIGRATION, &revision, record_properties(record));
            Ok(Change {
                update: is_expected.then(|| algebra::keep_only(&node, properties)),
                mark: Mark::Revision(node.clone(), revision),
                result: is_expected,
            })
        };
        self.server.change(&algebra::document(&node), clear).await
    }

    async fn probe(&self) -> Result<Vec<String>, SchemaStoreError> {
        self.server.probe().await
    }
}

fn new_revision() -> String {
    Uuid::new_v4().simple().to_string()
}

/// Returns the change that stores a document.
fn document(
    node: &NamedNode,
    class: NamedNodeRef<'_>,
    id: &str,
    text: &Arc<str>,
) -> Change<StoredSchema> {
    let stored = StoredSchema::revised(id, Arc::clone(text));
    let bytes = u64::try_from(text.len()).expect("sizes fit into 64 bits");
    let properties = vec![
        (ID, Literal::from(id).into()),
        (TEXT, Literal::from(&**text).into()),
        (BYTES, Literal::from(bytes).into()),
    ];
    Change {
        update: Some(stored_node(node, class, &stored.revision, properties)),
        mark: Mark::Revision(node.clone(), stored.revision.clone()),
        result: stored,
    }
}

/// Returns the change that binds a schema, or nothing.
fn binding<T>(
    node: &NamedNode,
    application: &str,
    service: ServiceKind,
    schema: Option<NamedNode>,
    result: T,
) -> Change<T> {
    let mut properties = vec![
        (APPLICATION, Literal::from(application).into()),
        (SERVICE, Literal::from(service.name()).into()),
    ];
    properties.extend(schema.map(|schema| (BOUND_SCHEMA, schema.into())));
    let revision = new_revision();
    Change {
        update: Some(stored_node(node, BINDING, &revision, properties)),
        mark: Mark::Revision(node.clone(), revision),
        result,
    }
}

/// Returns the change that removes a node.
fn removal<T>(node: &NamedNode, result: T) -> Change<T> {
    Change {
        update: Some(algebra::remove(node)),
        mark: Mark::Absent(node.clone()),
        result,
    }
}

type Properties = Vec<(NamedNodeRef<'static>, Term)>;

fn stored_node(
    node: &NamedNode,
    class: NamedNodeRef<'_>,
    revision: &str,
    properties: Properties,
) -> spargebra::Update {
    algebra::store(node, node_properties(class, revision, properties))
}

/// Adds to the properties of a node those that every node has.
fn node_properties(
    class: NamedNodeRef<'_>,
    revision: &str,
    mut properties: Properties,
) -> Properties {
    properties.extend([
        (rdf::TYPE, class.into_owned().into()),
        (REVISION, Literal::from(revision).into()),
        (MODIFIED, time(SystemTime::now()).into()),
    ]);
    properties
}

fn record_properties(record: &MigrationRecord) -> Properties {
    vec![(TEXT, Literal::from(record.to_text()).into())]
}

fn migration_record(
    rows: &Rows,
    node: &NamedNode,
) -> Result<Option<MigrationRecord>, SchemaStoreError> {
    match &rows.terms[..] {
        [] => Ok(None),
        [Some(Term::Literal(text)), Some(Term::Literal(_))] => {
            let record = MigrationRecord::of_text(text.value());
            record.ok_or_else(|| damaged(node)).map(Some)
        }
        _ => Err(damaged(node)),
    }
}

/// Returns the revisions in the first column.
fn revisions(rows: &Rows) -> Vec<&str> {
    let first = rows.terms.chunks(rows.width.max(1)).map(|row| &row[0]);
    first
        .filter_map(|term| match term {
            Some(Term::Literal(revision)) => Some(revision.value()),
            _ => None,
        })
        .collect()
}

/// Compares the revision that was read; `None` if there is no document.
///
/// Other programs may have given it several. Then it has any of them, so that it can be replaced.
fn compare(rows: &Rows, expected: &Expected) -> Result<Option<()>, SchemaStoreError> {
    let mut compared = Ok(None);
    for revision in revisions(rows) {
        compared = expected.compare(revision).map(Some);
        if compared.is_ok() {
            break;
        }
    }
    compared
}

fn binding_state(rows: &Rows, node: &NamedNode) -> Result<BindingState, SchemaStoreError> {
    match &rows.terms[..] {
        [] => Ok(BindingState::default()),
        [None, _] => Ok(BindingState {
            binding: Binding::Nothing,
            revision: None,
        }),
        [Some(Term::NamedNode(schema)), revision] => {
            let id = vocabulary::schema_id(schema).ok_or_else(|| damaged(node))?;
            let revision = match revision {
                None => None,
                Some(Term::Literal(revision)) => Some(revision.value().to_owned()),
                Some(_) => return Err(damaged(schema)),
            };
            Ok(BindingState {
                binding: Binding::Schema(id),
                revision,
            })
        }
        _ => Err(damaged(node)),
    }
}

/// Returns the schema of a binding, which a node has.
fn bound_schema(schema: &Term, node: &NamedNode) -> Result<Binding, SchemaStoreError> {
    let id = match schema {
        Term::NamedNode(schema) => vocabulary::schema_id(schema),
        _ => None,
    };
    id.map(Binding::Schema).ok_or_else(|| damaged(node))
}

fn service_kind(term: &Term, node: &NamedNode) -> Result<ServiceKind, SchemaStoreError> {
    let Term::Literal(name) = term else {
        return Err(damaged(node));
    };
    ServiceKind::of_name(name.value()).ok_or_else(|| damaged(node))
}

fn lease_query(node: &NamedNode) -> spargebra::Query {
    algebra::properties(node, &[HOLDER, NUMBER, BEAT])
}

fn lease_record(rows: &Rows, node: &NamedNode) -> Result<Option<LeaseRecord>, SchemaStoreError> {
    match &rows.terms[..] {
        [] => Ok(None),
        [
            Some(Term::Literal(holder)),
            Some(Term::Literal(number_of)),
            Some(Term::Literal(beat)),
        ] => Ok(Some(LeaseRecord {
            holder: holder.value().to_owned(),
            number: number(number_of).ok_or_else(|| damaged(node))?,
            beat: number(beat).ok_or_else(|| damaged(node))?,
        })),
        _ => Err(damaged(node)),
    }
}

fn number<T: std::str::FromStr>(literal: &Literal) -> Option<T> {
    literal.value().parse().ok()
}

/// A node is not what this store writes.
#[derive(Debug, thiserror::Error)]
#[error(
    "{node} was not written by a store of schemas: another program has changed it, so send or bind \
     it again, or correct it in the graph"
)]
struct Damaged {
    node: NamedNode,
}

fn damaged(node: &NamedNode) -> SchemaStoreError {
    let node = node.clone();
    SchemaStoreError::Failed(Box::new(Damaged { node }))
}
