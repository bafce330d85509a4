//! Schemas that are moved between stores by the programs: by `soml migrate`, and at the start of services.
//!
//! Most tests need running servers: `scripts/servers.sh start rdf4j mongodb`.

mod kills;
mod moves;
mod refusals;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use object_service::folder::{DataFolder, DataFolderOptions};
use schema_registry::{
    Binding, Expected, FolderSchemaStore, MigrationPhase, MigrationRecord, MongoSchemaOptions,
    MongoSchemaStore, Rdf4jSchemaOptions, Rdf4jSchemaStore, SchemaStore, ServiceKind,
};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::processes::{Running, output};

/// The application that migrates, and another one that shares the stores.
const SHOP: &str = "shop";
const MUSEUM: &str = "museum";

/// Makes names that no other run has.
static NAMES: AtomicU64 = AtomicU64::new(0);

fn name(kind: &str) -> String {
    let number = NAMES.fetch_add(1, Ordering::Relaxed);
    format!("{kind}-{}-{number}", std::process::id())
}

/// A store that schemas are moved from or to.
enum Place {
    File(TempDir),
    Rdf4j { address: String, repository: String },
    MongoDb { endpoint: String, database: String },
}

impl Place {
    /// Names a store of a kind that nobody has used.
    fn new(kind: &str) -> Self {
        let variable = |name: &str| {
            let address = std::env::var(name);
            address.unwrap_or_else(|_| panic!("{name} names a running server"))
        };
        match kind {
            "file" => Place::File(TempDir::new().unwrap()),
            "rdf4j" => Place::Rdf4j {
                address: variable("RDF4J_URL"),
                repository: name("moved"),
            },
            _ => Place::MongoDb {
                endpoint: variable("MONGODB_URL"),
                database: name("moved"),
            },
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Place::File(_) => "file",
            Place::Rdf4j { .. } => "rdf4j",
            Place::MongoDb { .. } => "mongodb",
        }
    }

    /// Returns the properties that say where it is.
    fn properties(&self) -> Vec<String> {
        match self {
            Place::File(folder) => vec![format!("store.dataDir={}", data(folder).display())],
            Place::Rdf4j {
                address,
                repository,
            } => vec![
                format!("soml.storage.rdf4j.address={address}"),
                format!("soml.storage.rdf4j.repository={repository}"),
            ],
            Place::MongoDb { endpoint, database } => vec![
                format!("soml.storage.mongodb.endpoint={endpoint}"),
                format!("soml.storage.mongodb.database={database}"),
            ],
        }
    }

    /// Opens the store of schemas as an application. The folder must not be in use.
    async fn open(&self, application: &str) -> Arc<dyn SchemaStore> {
        match self {
            Place::File(folder) => {
                let options = DataFolderOptions::default();
                drop(DataFolder::open_or_create(&data(folder), &options).unwrap());
                Arc::new(FolderSchemaStore::open(data(folder).join("schemas")).unwrap())
            }
            Place::Rdf4j {
                address,
                repository,
            } => {
                let mut options = Rdf4jSchemaOptions::new(application);
                options.connection.addresses = address.parse().unwrap();
                options.connection.repository = Some(repository.clone());
                Arc::new(Rdf4jSchemaStore::new(options).unwrap())
            }
            Place::MongoDb { endpoint, database } => {
                let mut options = MongoSchemaOptions::new(application);
                options.endpoint.clone_from(endpoint);
                options.database.clone_from(database);
                Arc::new(MongoSchemaStore::open(&options).await.unwrap())
            }
        }
    }

    fn application(&self) -> &'static str {
        match self {
            Place::File(_) => "",
            _ => SHOP,
        }
    }
}

fn data(folder: &TempDir) -> std::path::PathBuf {
    folder.path().join("data")
}

/// What a store has: texts of schemas, rights, and what is bound to the services of applications.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Contents {
    schemas: BTreeMap<String, String>,
    rights: Option<String>,
    bound: BTreeSet<(String, &'static str, String)>,
}

impl Contents {
    async fn of(store: &dyn SchemaStore) -> Self {
        let mut contents = Contents::default();
        for entry in store.list().await.unwrap() {
            let stored = store.get(&entry.id).await.unwrap().unwrap();
            contents.schemas.insert(entry.id, stored.text.to_string());
        }
        let rights = store.rights().await.unwrap();
        contents.rights = rights.map(|rights| rights.text.to_string());
        for bound in store.bindings().await.unwrap() {
            if let Some(id) = bound.binding.into_id() {
                let service = bound.service.name();
                contents.bound.insert((bound.application, service, id));
            }
        }
        contents
    }

    /// Returns what the store of a place has.
    async fn at(place: &Place) -> Self {
        Contents::of(&*place.open(SHOP).await).await
    }

    fn ids(&self) -> Vec<&str> {
        self.schemas.keys().map(String::as_str).collect()
    }
}

/// Stores schemas, and binds the first one.
async fn fill(place: &Place, schemas: &[(&str, &str)], rights: Option<&str>) {
    let store = place.open(SHOP).await;
    for (id, text) in schemas {
        store.create(id, (*text).into()).await.unwrap();
    }
    if let Some(rights) = rights {
        let any = Expected::default();
        store.set_rights(rights.into(), &any).await.unwrap();
    }
    if let Some((id, _)) = schemas.first() {
        let bound = store.set_binding(ServiceKind::Objects, Some(id)).await;
        bound.unwrap();
    }
}

/// Removes everything from a store.
async fn reset(place: &Place) {
    let store = place.open(SHOP).await;
    let current = store.migration().await.unwrap();
    let record = MigrationRecord {
        attempt: "test".to_owned(),
        source: "test".to_owned(),
        phase: MigrationPhase::Cleaning,
    };
    let (from, cleaning) = (current.as_ref(), Some(&record));
    assert!(store.swap_migration(from, cleaning).await.unwrap());
    assert!(store.clear(&record).await.unwrap());
    assert!(store.swap_migration(cleaning, None).await.unwrap());
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    Runtime::new().unwrap().block_on(work)
}

/// Returns a command of a program, with what both stores need.
fn command(program: &str, arguments: &[&str], places: &[&Place], more: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    let own = [
        "application.name=shop",
        "soml.storage.leaseTime=100",
        "soml.storage.migration.delay=1",
        "soml.storage.rdf4j.maxRetries=0",
        "soml.storage.mongodb.serverSelectionTimeout=500",
    ];
    let of_places = places.iter().flat_map(|place| place.properties());
    let own = own.iter().chain(more).map(|it| (*it).to_owned());
    for property in own.chain(of_places) {
        command.args(["--set", &property]);
    }
    command
}

const SOML: &str = env!("CARGO_BIN_EXE_soml");

/// Returns the command that moves schemas by hand.
fn migrate(from: &Place, to: &Place, flags: &[&str]) -> Command {
    let arguments = ["migrate", "--from", from.kind(), "--to", to.kind()];
    let arguments: Vec<&str> = arguments.iter().chain(flags).copied().collect();
    command(SOML, &arguments, &[from, to], &[])
}

/// Runs a command, which must succeed; returns what it prints.
fn printed(command: &mut Command) -> String {
    let output = output(command, b"");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a command, which must fail with a code; returns what it says.
fn refused(command: &mut Command, code: i32) -> String {
    let Output { status, stderr, .. } = output(command, b"");
    let text = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(code), "{text}");
    text
}

/// Returns the command of a service whose store of schemas is a place, and that moves them there from another one.
fn service(program: &str, from: &Place, to: &Place, more: &[&str]) -> Command {
    let (provider, source) = (
        format!("soml.storage.provider={}", to.kind()),
        format!("soml.storage.migration.source={}", from.kind()),
    );
    let own = [
        "soml.storage.migration.enabled=true",
        "search.enabled=auto",
        "security.enabled=false",
        "gateway.enabled=false",
        &provider,
        &source,
    ];
    let more: Vec<&str> = own.iter().chain(more).copied().collect();
    let arguments = match program {
        SOML => &["serve", "--port", "0"][..],
        _ => &["--port", "0"],
    };
    command(program, arguments, &[from, to], &more)
}

/// Starts a service, with its log in a file, and waits until it serves.
fn start(command: &mut Command, log: &Path, line: &str) -> (Running, Vec<String>) {
    let running = Running::start(command.stderr(std::fs::File::create(log).unwrap()));
    let mut said = Vec::new();
    while let Some(text) = running.line() {
        let is_last = text.starts_with(line);
        said.push(text);
        if is_last {
            return (running, said);
        }
    }
    panic!("{said:?} {}", std::fs::read_to_string(log).unwrap());
}

/// Returns what is bound to a service of an application.
fn bound(place: &Place, service: ServiceKind, id: &str) -> (String, &'static str, String) {
    (
        place.application().to_owned(),
        service.name(),
        id.to_owned(),
    )
}

/// Returns a schema that can be served and searched.
fn schema(id: &str) -> String {
    format!(
        "id: /soml/{id}\nspecialPrefixes: {{vocab_iri: 'http://e/', vocab_prefix: e, base_iri: 'http://e/'}}\n\
         objects: {{Film: {{search: {{index: yes}}, props: {{{id}Title: {{}}}}}}}}\n"
    )
}

async fn bind(place: &Place, application: &str, service: ServiceKind, id: &str) {
    let store = place.open(application).await;
    store.set_binding(service, Some(id)).await.unwrap();
    let bound = store.binding(service).await.unwrap();
    assert_eq!(bound, Binding::Schema(id.to_owned()));
}
