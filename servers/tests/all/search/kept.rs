//! What is bound survives a restart, where the data do.

use std::sync::Arc;

use servers::schema_store::InMemorySchemaStore;
use servers::search::{Engines, Storage};
use tempfile::TempDir;

use super::{World, planets};
use crate::service::Service;

#[test]
fn a_restart_binds_what_was_bound_and_builds_nothing() {
    let (world, folder) = (World::embedded(), TempDir::new().unwrap());
    let mut settings = world.settings.clone();
    settings.search.location = folder.path().display().to_string();
    let storage = Storage::of(&settings);
    let parts = || {
        let engines = Engines::open(&settings, &storage).unwrap();
        let mut parts = world.parts_over(planets(20), engines);
        parts.storage = storage.clone();
        parts.schemas = Arc::new(InMemorySchemaStore::default());
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
