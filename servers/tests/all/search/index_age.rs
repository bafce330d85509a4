//! Indexes are compared with the data: at the start, and when a schema is bound.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use graph_store::GraphStore;
use graph_store::image::{FolderOptions, ImageBuilder, ImageStore};
use oxrdfio::RdfFormat;
use search_index::engine::Engine;
use search_service::Engines;
use servers::config::Settings;
use tempfile::TempDir;

use super::{Sky, World, add_planet, add_planet_at, embedded, store, unknowing};
use crate::images;

const A: &str = "@prefix v: <http://e/> . v:a a v:Planet ; v:title \"A\" .";
const MALFORMED: &str =
    "@prefix v: <http://e/> . v:a a v:Planet ; v:title \"A\" ; v:size \"large\" .";

fn number(sky: &Sky) -> String {
    let info = sky.info();
    let index = info["indexes"][0]["index"].as_str().unwrap();
    index.rsplit('-').next().unwrap().to_owned()
}

/// Starts a service with the schema of a world.
fn start(world: &World, data: Arc<dyn GraphStore>, engine: &Engine) -> Sky {
    let engines = Engines::of(Arc::clone(engine));
    world.serve_parts(world.parts_over(data, engines))
}

/// A service over folders, as the command line has it.
struct Folders {
    world: World,
    settings: Settings,
    folder: TempDir,
}

impl Folders {
    fn new() -> Folders {
        let (world, folder) = (World::embedded(), TempDir::new().unwrap());
        let mut settings = world.settings.clone();
        settings.search.location = folder.path().join("search").display().to_string();
        Folders {
            world,
            settings,
            folder,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Makes data of planets of these names.
    fn create(&self, data: &str, planets: &[&str]) {
        let mut turtle = "@prefix v: <http://e/> .\n".to_owned();
        for name in planets {
            turtle += &format!("v:{name} a v:Planet ; v:title \"{name}\" .\n");
        }
        let image = images::builder(&images::quads(RdfFormat::Turtle, turtle));
        drop(ImageStore::create(self.path(data), image, &FolderOptions::default()).unwrap());
    }

    /// Calls a function while a service runs over data.
    fn run(&self, data: &str, during: impl FnOnce(&Sky, &ImageStore)) {
        let storage = self.settings.search_storage();
        let store = Arc::new(ImageStore::open(self.path(data), &FolderOptions::default()).unwrap());
        let engines = Engines::open(&self.settings.engine_options(), &storage).unwrap();
        let mut parts = self.world.parts_over(store.clone(), engines);
        parts.storage = storage;
        let sky = self.world.serve_parts(parts);
        during(&sky, &store);
        let Sky { service, app, .. } = sky;
        drop(service);
        drop(app);
    }
}

/// Waits until so many planets are found and health says that all is well, and compares the number of the index.
fn expect(sky: &Sky, total: usize, index: &str) {
    sky.wait("what is there is found", |sky| sky.total() == total);
    sky.wait_until_ok("2200");
    assert_eq!(number(sky), index);
}

#[test]
fn a_restart_follows_what_has_changed_since_and_builds_nothing() {
    let folders = Folders::new();
    folders.create("data", &[]);
    let run = |known: usize, adds: &[&str]| {
        folders.run("data", |sky, store| {
            expect(sky, known, "1");
            // The service may follow them, or end before.
            adds.iter().for_each(|name| add_planet(store, name));
        });
    };
    run(0, &["a"]);
    run(1, &["b", "c"]);
    run(3, &[]);
    folders.run("data", |sky, store| {
        assert_eq!(sky.total(), 3);
        // Other data are indexed anew, while the service runs.
        store.replace_data(ImageBuilder::new()).unwrap();
        expect(sky, 0, "2");
    });
}

#[test]
fn a_restart_over_other_data_indexes_them_anew() {
    let folders = Folders::new();
    folders.create("data", &["a", "b"]);
    folders.create("other", &["c", "d", "e"]);
    folders.run("data", |sky, store| {
        add_planet(store, "x");
        expect(sky, 3, "1");
    });
    folders.run("other", |sky, _| expect(sky, 3, "2"));
    folders.run("other", |sky, store| {
        add_planet(store, "f");
        expect(sky, 4, "2");
    });
}

#[test]
fn a_backup_that_is_restored_is_searched_as_it_is() {
    for changes_before_start in [false, true] {
        let folders = Folders::new();
        folders.create("data", &["a"]);
        folders.run("data", |sky, store| {
            add_planet(store, "b");
            store.backup(folders.path("restored")).unwrap();
            add_planet(store, "c");
            add_planet(store, "d");
            expect(sky, 4, "1");
        });
        if changes_before_start {
            // They have the sequences of those that are lost.
            let store =
                ImageStore::open(folders.path("restored"), &FolderOptions::default()).unwrap();
            add_planet(&store, "e");
            add_planet(&store, "f");
            add_planet(&store, "g");
        }
        let there = if changes_before_start { 5 } else { 2 };
        folders.run("restored", |sky, store| {
            expect(sky, there, "2");
            add_planet(store, "h");
            expect(sky, there + 1, "2");
        });
    }
}

#[test]
fn an_engine_that_was_emptied_while_nobody_looked_is_filled_again() {
    let folders = Folders::new();
    folders.create("data", &["a", "b"]);
    folders.run("data", |sky, _| expect(sky, 2, "1"));
    std::fs::remove_dir_all(folders.path("search")).unwrap();
    folders.run("data", |sky, store| {
        add_planet(store, "c");
        expect(sky, 3, "1");
    });
}

#[test]
fn changes_by_a_clock_that_was_set_back_are_followed() {
    let folders = Folders::new();
    folders.create("data", &["a"]);
    folders.run("data", |sky, store| {
        for (name, hours) in [("b", 0), ("c", 5), ("d", 1)] {
            let time = SystemTime::now() - Duration::from_secs(hours * 3_600);
            add_planet_at(store, name, time);
        }
        expect(sky, 4, "1");
    });
    folders.run("data", |sky, _| expect(sky, 4, "1"));
}

#[test]
fn a_bind_builds_nothing_where_an_index_follows_the_data() {
    let (world, engine) = (World::embedded(), embedded());
    let data = super::image(A);
    let sky = start(&world, data.clone(), &engine);
    assert_eq!(sky.bind("sky").status, 200);
    sky.wait("the run has ended", |sky| sky.info()["state"] == "READY");
    assert_eq!(number(&sky), "1");
    add_planet(&*data, "b");
    sky.wait("the planet is found", |sky| sky.total() == 2);
    assert_eq!(sky.bind("sky").status, 200);
    sky.wait("the run has ended", |sky| sky.info()["state"] == "READY");
    assert_eq!(number(&sky), "1");
    assert_eq!(sky.total(), 2);
}

#[test]
fn where_the_store_knows_nothing_a_start_warns_and_a_bind_builds_anew() {
    let (world, engine) = (World::embedded(), embedded());
    {
        let sky = start(&world, unknowing(A), &engine);
        assert_eq!(sky.check("2200")["status"], "OK", "it was just built");
    }
    let two = format!("{A} v:b a v:Planet ; v:title \"B\" .");
    let sky = start(&world, unknowing(&two), &engine);
    assert_eq!((sky.total(), number(&sky)), (1.into(), "1".to_owned()));
    let check = sky.check("2200");
    assert_eq!(check["status"], "WARNING");
    let message = check["message"].as_str().unwrap();
    assert!(message.contains("before the service started"), "{message}");
    let info = sky.info();
    assert_eq!(info["indexes"][0]["problems"][0]["code"], "MAY_BE_OLDER");
    assert_eq!(sky.bind("sky").status, 200);
    sky.wait("the new index answers", |sky| sky.total() == 2);
    assert_eq!(number(&sky), "2");
    sky.wait_until_ok("2200");
}

#[test]
fn an_index_without_some_values_is_not_served_where_none_may_be_missing() {
    let (world, engine) = (World::embedded(), embedded());
    {
        let sky = start(&world, store(MALFORMED), &engine);
        assert_eq!(sky.total(), 1);
        assert_eq!(sky.info()["indexes"][0]["malformedValues"], 1);
        assert_eq!(sky.check("2200")["status"], "OK", "they may be missing");
    }
    let mut parts = world.parts_over(store(MALFORMED), Engines::of(Arc::clone(&engine)));
    parts.options.ignore_malformed = false;
    let sky = world.serve_with(parts, None);
    sky.store("sky", &world.soml("title: {}, size: {range: int}"));
    let refused = sky.bind("sky");
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (422, "VALUES_MALFORMED")
    );
    let error = refused.json()["errors"][0]["extensions"].clone();
    assert_eq!(error["iri"], "http://e/a", "{error}");
    let search = sky.search();
    let code = &search["errors"][0]["extensions"]["code"];
    assert_eq!(code, "SCHEMA_NOT_BOUND", "{search}");
}

#[test]
fn a_restart_with_values_that_may_not_be_missing_starts_without_the_schema_and_says_so() {
    let (world, engine) = (World::embedded(), embedded());
    drop(start(&world, store(MALFORMED), &engine));
    let mut parts = world.parts_over(store(MALFORMED), Engines::of(Arc::clone(&engine)));
    parts.options.ignore_malformed = false;
    let sky = world.serve_parts(parts);
    let check = sky.check("2100");
    assert_eq!(check["status"], "WARNING");
    let message = check["message"].as_str().unwrap();
    assert!(message.contains("VALUES_MALFORMED"), "{message}");
    assert_eq!(sky.service.get("/__gtg").code(), "SCHEMA_NOT_BOUND");
    assert_eq!(sky.service.get("/__live").status, 200);
}

#[test]
fn without_indexing_an_index_without_some_values_is_said() {
    let (world, engine) = (World::embedded(), embedded());
    drop(start(&world, store(MALFORMED), &engine));
    let mut parts = world.parts_over(store(A), Engines::of(Arc::clone(&engine)));
    parts.data = None;
    parts.options.ignore_malformed = false;
    let sky = world.serve_parts(parts);
    assert_eq!(sky.total(), 1);
    let info = sky.info();
    assert_eq!(info["indexes"][0]["problems"][0]["code"], "MALFORMED");
    assert_eq!(sky.check("2200")["status"], "WARNING");
}
