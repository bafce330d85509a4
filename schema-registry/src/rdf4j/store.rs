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
    self, APPLICATION, BEAT, BINDING, BOUND_SCHEMA, BYTES, HOLDER, ID, LEASE, MODIFIED, NAME,
    NUMBER, REVISION, RIGHTS, SCHEMA, SERVICE, TEXT,
};
use crate::store::{
    Binding, BindingState, Expected, LeaseRecord, RIGHTS_ID, SchemaEntry, SchemaStore,
    SchemaStoreError, ServiceKind, StoredSchema,
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
            let services = rows.terms.chunks(2).filter_map(|row| row[1].as_ref());
            let mut services = services.map(|service| service_kind(service, &node));
            if let Some(service) = services.next() {
                return Err(SchemaStoreError::Bound { service: service? });
            }
            compare(&rows, expected)?.ok_or(SchemaStoreError::NotFound)?;
            Ok(Change {
                update: Some(algebra::remove(&node)),
                mark: Mark::Absent(node.clone()),
                result: (),
            })
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

fn stored_node(
    node: &NamedNode,
    class: NamedNodeRef<'_>,
    revision: &str,
    mut properties: Vec<(NamedNodeRef<'_>, Term)>,
) -> spargebra::Update {
    properties.extend([
        (rdf::TYPE, class.into_owned().into()),
        (REVISION, Literal::from(revision).into()),
        (MODIFIED, time(SystemTime::now()).into()),
    ]);
    algebra::store(node, properties)
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
    "{node} is not what a store of schemas writes: another program has changed it, so send or bind it again, or correct it \
     in the graph"
)]
struct Damaged {
    node: NamedNode,
}

fn damaged(node: &NamedNode) -> SchemaStoreError {
    let node = node.clone();
    SchemaStoreError::Failed(Box::new(Damaged { node }))
}
