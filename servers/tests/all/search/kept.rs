//! What is bound survives a restart, where the data do, and what cannot be kept is not bound.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use async_trait::async_trait;
use schema_registry::{
    Expected, InMemorySchemaStore, SchemaEntry, SchemaStore, SchemaStoreError, ServiceKind,
    StoredSchema,
};
use search_service::Engines;
use serde_json::Value;
use tempfile::TempDir;

use super::{Sky, World, block_on, planets};
use crate::processes::{Running, agent, output};
use crate::service::Service;

#[test]
fn a_restart_binds_what_was_bound_and_builds_nothing() {
    let (world, folder) = (World::embedded(), TempDir::new().unwrap());
    let mut settings = world.settings.clone();
    settings.search.location = folder.path().display().to_string();
    let storage = settings.search_storage();
    let parts = || {
        let engines = Engines::open(&settings.engine_options(), &storage).unwrap();
        let mut parts = world.parts_over(planets(20), engines);
        parts.storage = storage.clone();
        let schemas = Arc::new(InMemorySchemaStore::default());
        parts.schemas = block_on(storage.keeping(schemas, false)).unwrap();
        parts
    };
    let soml = world.soml("title: {}");
    let index = {
        let (service, app) = Service::search(parts(), Some(&soml));
        let info = service.get("/soml/info").json();
        drop(service);
        drop(app);
        info["indexes"][0].clone()
    };
    assert_eq!(index["documents"], 20);
    {
        let (service, app) = Service::search(parts(), None);
        let info = service.get("/soml/info").json();
        assert_eq!(info["schema"], "sky");
        let again = &info["indexes"][0];
        assert_eq!(
            (&again["index"], &again["documents"]),
            (&index["index"], &index["documents"])
        );
        let query = format!("{{ {} {{ total {{ value }} }} }}", world.root());
        assert!(service.query(&query).contains("20"));
        assert_eq!(
            service.send("DELETE", "/soml/sky/search", &[], b"").status,
            204
        );
        drop(service);
        drop(app);
    }
    let (service, _app) = Service::search(parts(), None);
    assert_eq!(service.get("/soml/info").status, 503, "it was unbound");
}

/// A store of schemas on a disk that is full once there is something bound.
#[derive(Default)]
struct FullDisk {
    schemas: InMemorySchemaStore,
    bound: std::sync::Mutex<Option<String>>,
}

#[async_trait]
impl SchemaStore for FullDisk {
    async fn list(&self) -> Result<Vec<SchemaEntry>, SchemaStoreError> {
        self.schemas.list().await
    }

    async fn get(&self, id: &str) -> Result<Option<StoredSchema>, SchemaStoreError> {
        self.schemas.get(id).await
    }

    async fn create(&self, id: &str, text: Arc<str>) -> Result<StoredSchema, SchemaStoreError> {
        self.schemas.create(id, text).await
    }

    async fn replace(
        &self,
        id: &str,
        text: Arc<str>,
        expected: &Expected,
    ) -> Result<StoredSchema, SchemaStoreError> {
        self.schemas.replace(id, text, expected).await
    }

    async fn remove(&self, id: &str, expected: &Expected) -> Result<(), SchemaStoreError> {
        self.schemas.remove(id, expected).await
    }

    async fn rights(&self) -> Result<Option<StoredSchema>, SchemaStoreError> {
        self.schemas.rights().await
    }

    async fn set_rights(
        &self,
        text: Arc<str>,
        expected: &Expected,
    ) -> Result<StoredSchema, SchemaStoreError> {
        self.schemas.set_rights(text, expected).await
    }

    async fn set_binding(
        &self,
        service: ServiceKind,
        id: Option<&str>,
    ) -> Result<(), SchemaStoreError> {
        if service == ServiceKind::Objects {
            return Ok(());
        }
        let mut bound = self.bound.lock().unwrap();
        if bound.is_some() && bound.as_deref() != id {
            return Err(SchemaStoreError::DiskFull);
        }
        *bound = id.map(str::to_owned);
        Ok(())
    }
}

#[test]
fn a_binding_that_cannot_be_kept_is_refused_and_nothing_changes() {
    for ignore_malformed in [true, false] {
        let world = World::embedded();
        let mut parts = world.parts(planets(20));
        parts.options.ignore_malformed = ignore_malformed;
        parts.schemas = Arc::new(FullDisk::default());
        let sky = world.serve_parts(parts);
        assert_eq!(sky.total(), 20);
        let other = world.soml("title: {}, size: {range: int}");
        sky.store("other", &other.replace("/soml/sky", "/soml/other"));
        let full = (507, "DISK_FULL".to_owned());
        let refused = sky.bind("other");
        assert_eq!((refused.status, refused.code()), full, "{ignore_malformed}");
        let refused = sky.unbind("sky");
        assert_eq!((refused.status, refused.code()), full, "{ignore_malformed}");
        assert_eq!(
            (&sky.info()["schema"], sky.total()),
            (&"sky".into(), 20.into())
        );
        // What is bound can be bound again: nothing has to be written for that.
        assert_eq!(sky.bind("sky").status, 200);
        wait_for_searches(&sky);
    }
}

fn wait_for_searches(sky: &Sky) {
    sky.wait("the index answers", |sky| {
        sky.info()["state"] == "READY" && sky.total() == 20
    });
}

/// A `search-service` that has no data, which is enough for a schema to be bound to it.
struct Alone {
    _running: Running,
    base: String,
}

impl Alone {
    fn start(folder: &Path, arguments: &[&str]) -> Alone {
        let mut command = Alone::command(folder, arguments);
        let running = Running::start(command.stderr(Stdio::null()));
        let line = std::iter::from_fn(|| running.line()).find(|line| line.starts_with("Search:"));
        let line = line.expect("it says where it is");
        let url = line.split_whitespace().nth(1).unwrap();
        Alone {
            base: url.trim_end_matches("/graphql").to_owned(),
            _running: running,
        }
    }

    fn command(folder: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_search-service"));
        command.args(["--port", "0", "--set", "security.enabled=false"]);
        let location = format!("search.storage.location={}", folder.display());
        command.args(["--set", &location]).args(arguments);
        command
    }

    fn send(&self, method: &str, path: &str) -> u16 {
        let url = format!("{}{path}", self.base);
        let answer = match method {
            "PUT" => agent().put(url).send_empty(),
            _ => agent().delete(url).call(),
        };
        answer.unwrap().status().as_u16()
    }

    fn schema(&self) -> Option<String> {
        let mut info = agent()
            .get(format!("{}/soml/info", self.base))
            .call()
            .unwrap();
        let text = info.body_mut().read_to_string().unwrap();
        let info: Value = serde_json::from_str(&text).unwrap();
        info["schema"].as_str().map(str::to_owned)
    }
}

#[test]
fn a_search_service_alone_serves_what_was_bound_to_it_unless_the_command_line_names_another() {
    let folder = TempDir::new().unwrap();
    let write = |id: &str| {
        let text = World::embedded().soml("title: {}");
        let path = folder.path().join(format!("{id}.yaml"));
        std::fs::write(&path, text.replace("/soml/sky", &format!("/soml/{id}"))).unwrap();
        path.display().to_string()
    };
    let (sky, sea) = (write("sky"), write("sea"));
    let start = |arguments: &[&str]| Alone::start(&folder.path().join("kept"), arguments);
    let bound = |arguments: &[&str]| start(arguments).schema();
    assert_eq!(bound(&[]), None);
    assert_eq!(bound(&["--schema", &sky]).as_deref(), Some("sky"));
    assert_eq!(bound(&[]).as_deref(), Some("sky"));
    // The file has another schema, or another text of the same.
    assert_eq!(bound(&["--schema", &sea]).as_deref(), Some("sea"));
    let other = World::embedded().soml("title: {}, more: {}");
    std::fs::write(&sea, other.replace("/soml/sky", "/soml/sea")).unwrap();
    assert_eq!(bound(&["--schema", &sea]).as_deref(), Some("sea"));
    let service = start(&[]);
    assert_eq!(service.schema().as_deref(), Some("sea"));
    assert_eq!(service.send("DELETE", "/soml/sea/search"), 204);
    drop(service);
    assert_eq!(bound(&[]), None);
    assert_eq!(bound(&["--schema", &sky]).as_deref(), Some("sky"));
}

#[test]
fn a_search_service_of_an_object_service_keeps_what_was_bound_of_its_schemas() {
    let (objects, folder) = (Service::empty(), TempDir::new().unwrap());
    let headers = [("content-type", "text/yaml")];
    for id in ["sky", "sea"] {
        let text = World::embedded().soml("title: {}");
        let text = text.replace("/soml/sky", &format!("/soml/{id}"));
        let stored = objects.send("POST", "/soml", &headers, text.as_bytes());
        assert_eq!(stored.status, 201, "{}", stored.text());
    }
    let address = format!("search.soml.address={}", objects.base);
    let start = || Alone::start(folder.path(), &["--set", &address]);
    let service = start();
    assert_eq!(service.schema(), None);
    assert_eq!(service.send("PUT", "/soml/sea/search"), 200);
    drop(service);
    let service = start();
    assert_eq!(service.schema().as_deref(), Some("sea"));
    drop(service);
    // What the object service does not have any more cannot be bound, and is named.
    let removed = objects.send("DELETE", "/soml/sea", &[], b"");
    assert_eq!(removed.status, 204);
    let service = start();
    assert_eq!(service.schema(), None);
    let url = format!("{}/__health", service.base);
    let health = agent().get(url).call().unwrap().body_mut().read_to_string();
    assert!(health.unwrap().contains("(SCHEMA_NOT_FOUND)"));
    assert_eq!(service.send("PUT", "/soml/sky/search"), 200);
    assert_eq!(service.send("DELETE", "/soml/sky/search"), 204);
    drop(service);
    assert_eq!(start().schema(), None);
}

#[test]
fn a_folder_that_a_later_version_has_written_to_is_refused_by_its_code() {
    let folder = TempDir::new().unwrap();
    let schemas = folder.path().join("search-service/schemas");
    std::fs::create_dir_all(&schemas).unwrap();
    std::fs::write(schemas.join("bound.yaml"), "# soml-store 2 0 a b\n").unwrap();
    let refused = output(&mut Alone::command(folder.path(), &[]), b"");
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(3), "{said}");
    assert!(
        said.contains("error[DATA_VERSION]") && said.contains("bound.yaml"),
        "{said}"
    );
}

#[test]
fn a_second_search_service_is_refused_where_one_keeps_what_is_bound() {
    let folder = TempDir::new().unwrap();
    let elsewhere = ["--set", "indexer.host=http://127.0.0.1:9"];
    let service = Alone::start(folder.path(), &elsewhere);
    let refused = output(&mut Alone::command(folder.path(), &elsewhere), b"");
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(3), "{said}");
    assert!(said.contains("error[DATA_IN_USE]"), "{said}");
    drop(service);
    assert_eq!(Alone::start(folder.path(), &elsewhere).schema(), None);
}
