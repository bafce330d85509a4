//! Schemas that are moved between real stores.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schema_registry::{Lease, ServiceKind};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::{
    Contents, MUSEUM, Place, SHOP, SOML, bind, block_on, bound, command, fill, migrate, printed,
    refused, schema, service, start,
};
use crate::examples::rerun;
use crate::processes::{agent, base, eventually};

const OBJECTS: ServiceKind = ServiceKind::Objects;
const SEARCH: ServiceKind = ServiceKind::Search;
const HOUR: Duration = Duration::from_secs(3_600);
const STORES: [&str; 3] = ["file", "rdf4j", "mongodb"];

/// Calls a function with stores of each two kinds.
fn each_direction(test: impl Fn(Place, Place)) {
    for from in STORES {
        for to in STORES.into_iter().filter(|to| *to != from) {
            test(Place::new(from), Place::new(to));
        }
    }
}

#[test]
#[ignore = "needs running servers named by RDF4J_URL and MONGODB_URL"]
fn schemas_rights_and_bindings_move_in_each_direction_and_back() {
    each_direction(|one, two| {
        let text = "id: /soml/a\nlabel: \"Größe \\u0041\"\r\n";
        block_on(fill(&one, &[("a", text), ("b", "b: 1")], Some("rbac: {}")));
        block_on(bind(&one, SHOP, SEARCH, "b"));
        let first = block_on(Contents::at(&one));
        let plan = printed(&mut migrate(&one, &two, &["--dry-run"]));
        assert!(plan.contains("nothing was changed"), "{plan}");
        assert_eq!(block_on(Contents::at(&one)), first);
        let moved = printed(&mut migrate(&one, &two, &["--clean-after"]));
        for line in [
            "rights, 8 bytes: copied, removed from the origin".to_owned(),
            format!(
                "schema a, {} bytes: copied, removed from the origin",
                text.len()
            ),
            "schema b, 4 bytes: copied, removed from the origin".to_owned(),
            format!("2 schemas moved from {} to {}", one.kind(), two.kind()),
        ] {
            assert!(moved.lines().any(|it| it == line), "{line}: {moved}");
        }
        assert_eq!(block_on(Contents::at(&one)), Contents::default());
        let there = block_on(Contents::at(&two));
        assert_eq!(
            (&there.schemas, &there.rights),
            (&first.schemas, &first.rights)
        );
        let expected = [bound(&two, OBJECTS, "a"), bound(&two, SEARCH, "b")];
        assert_eq!(there.bound, expected.into());
        let again = printed(&mut migrate(
            &one,
            &two,
            &["--force", "--all", "--clean-before"],
        ));
        assert!(again.contains("the origin is empty"), "{again}");
        assert_eq!(block_on(Contents::at(&two)), there);
        printed(&mut migrate(&two, &one, &["--clean-after"]));
        assert_eq!(block_on(Contents::at(&one)), first);
        assert_eq!(block_on(Contents::at(&two)), Contents::default());
    });
}

#[test]
#[ignore = "needs running servers named by RDF4J_URL and MONGODB_URL"]
fn a_dry_run_makes_nothing_and_says_what_is_missing() {
    let (from, to) = (Place::new("mongodb"), Place::new("rdf4j"));
    block_on(fill(&from, &[("a", "a: 1")], None));
    for _ in 0..2 {
        let plan = printed(&mut migrate(&from, &to, &["--dry-run"]));
        assert!(plan.starts_with("there is no repository `moved-"), "{plan}");
        assert!(plan.contains("schema a, 4 bytes: copied"), "{plan}");
    }
    let folder = Place::new("file");
    for _ in 0..2 {
        let plan = printed(&mut migrate(&from, &folder, &["--dry-run"]));
        assert!(
            plan.contains("has no data yet; it would be created"),
            "{plan}"
        );
    }
    // An origin that is not there is made by nobody.
    for flags in [&["--dry-run"][..], &[]] {
        let mut missing = migrate(&to, &from, flags);
        missing.args(["--set", "soml.storage.migration.retries=0"]);
        let said = refused(&mut missing, 3);
        assert!(said.contains("there is no repository `moved-"), "{said}");
        let said = refused(&mut migrate(&folder, &from, flags), 3);
        assert!(said.contains("has no data"), "{said}");
    }
}

#[test]
#[ignore = "needs running servers named by RDF4J_URL and MONGODB_URL"]
fn each_option_decides_what_is_moved_and_what_is_removed() {
    let (from, to) = (Place::new("mongodb"), Place::new("rdf4j"));
    block_on(async {
        fill(
            &from,
            &[("a", "a: 1"), ("b", "b: 1"), ("c", "c: 1")],
            Some("1"),
        )
        .await;
        bind(&from, MUSEUM, SEARCH, "b").await;
        fill(&to, &[("a", "a: 2"), ("d", "d: 2")], Some("2")).await;
    });
    let schemas = |place: &Place| block_on(Contents::at(place)).schemas;
    let of = |pairs: &[(&str, &str)]| {
        let pairs = pairs.iter();
        pairs
            .map(|(id, text)| ((*id).to_owned(), (*text).to_owned()))
            .collect()
    };
    // A destination with schemas is left alone.
    let held = printed(&mut migrate(&from, &to, &[]));
    assert!(held.contains("already has 2 schemas"), "{held}");
    // What is bound by any application is moved, and nothing else is touched.
    let forced = printed(&mut migrate(&from, &to, &["--force"]));
    for line in [
        "schema a, 4 bytes: overwritten",
        "schema b, 4 bytes: copied",
        "schema c, 4 bytes: left",
        "a bound to the object service of shop: same",
        "b bound to the search service of museum: copied",
    ] {
        assert!(forced.lines().any(|it| it == line), "{line}: {forced}");
    }
    assert_eq!(
        schemas(&to),
        of(&[("a", "a: 1"), ("b", "b: 1"), ("d", "d: 2")])
    );
    // All are moved, to an empty destination.
    let cleaned = printed(&mut migrate(
        &from,
        &to,
        &["--force", "--all", "--clean-before"],
    ));
    assert!(
        cleaned.contains("schema d, 4 bytes: removed from the destination"),
        "{cleaned}"
    );
    let all = [("a", "a: 1"), ("b", "b: 1"), ("c", "c: 1")];
    assert_eq!(schemas(&to), of(&all));
    assert_eq!(schemas(&from), of(&all));
    // What has been moved is removed from the origin.
    printed(&mut migrate(&from, &to, &["--force", "--clean-after"]));
    assert_eq!(schemas(&to), of(&all));
    assert_eq!(schemas(&from), of(&[("c", "c: 1")]));
    assert_eq!(block_on(Contents::at(&from)).rights.as_deref(), Some("1"));
}

#[test]
#[ignore = "needs running servers named by RDF4J_URL and MONGODB_URL"]
fn a_folder_takes_the_bindings_of_the_application_and_refuses_to_empty_those_of_others() {
    let (from, to) = (Place::new("rdf4j"), Place::new("file"));
    block_on(fill(&from, &[("a", "a: 1"), ("b", "b: 1")], None));
    block_on(bind(&from, MUSEUM, OBJECTS, "b"));
    let first = block_on(Contents::at(&from));
    let said = refused(&mut migrate(&from, &to, &["--clean-after"]), 3);
    assert!(said.contains("(museum)"), "{said}");
    assert_eq!(block_on(Contents::at(&from)), first);
    printed(&mut migrate(&from, &to, &[]));
    assert_eq!(block_on(Contents::at(&from)), first);
    let there = block_on(Contents::at(&to));
    assert_eq!(there.ids(), ["a", "b"]);
    assert_eq!(there.bound, [bound(&to, OBJECTS, "a")].into());
}

#[test]
#[ignore = "needs running servers named by RDF4J_URL and MONGODB_URL"]
fn a_service_serves_what_it_has_moved_at_its_start() {
    each_direction(|from, to| {
        let files = TempDir::new().unwrap();
        let log = files.path().join("log");
        let (a, b) = (schema("a"), schema("b"));
        block_on(fill(&from, &[("a", &a), ("b", &b)], None));
        let moved = ["soml.storage.migration.cleanOnComplete=true"];
        for program in [SOML, env!("CARGO_BIN_EXE_object-service")] {
            let mut serve = service(program, &from, &to, &moved);
            let (mut running, said) = start(&mut serve, &log, "Security:");
            let about = format!("{}/__about", base(&said, "GraphQL:"));
            let mut about = agent().get(about).call().unwrap();
            let about = about.body_mut().read_to_string().unwrap();
            assert!(about.contains("\"schema\":\"a\""), "{about}");
            assert!(running.stop().success());
        }
        let log = fs::read_to_string(&log).unwrap();
        // The second one finds it done.
        assert!(log.contains("no schemas are moved"), "{log}");
        assert_eq!(block_on(Contents::at(&from)), Contents::default());
        assert_eq!(block_on(Contents::at(&to)).ids(), ["a", "b"]);
    });
}

#[test]
#[ignore = "needs running servers named by RDF4J_URL and MONGODB_URL"]
fn a_service_serves_what_is_moved_while_it_runs() {
    each_direction(|from, to| {
        let files = TempDir::new().unwrap();
        let log = files.path().join("log");
        block_on(fill(&from, &[("a", &schema("a"))], None));
        let more = [
            "soml.storage.migration.async=true",
            "soml.storage.followInterval=50",
        ];
        let mut serve = service(SOML, &from, &to, &more);
        let (running, said) = start(&mut serve, &log, "Security:");
        let about = format!("{}/__about", base(&said, "GraphQL:"));
        eventually(|| {
            let mut about = agent().get(&about).call().unwrap();
            let about = about.body_mut().read_to_string().unwrap();
            about.contains("\"schema\":\"a\"")
        });
        drop(running);
    });
}

#[test]
#[ignore = "needs running servers named by RDF4J_URL and MONGODB_URL"]
fn a_search_service_moves_schemas_too_and_a_destination_that_it_does_not_use_is_a_warning() {
    let files = TempDir::new().unwrap();
    let log = files.path().join("log");
    let program = env!("CARGO_BIN_EXE_search-service");
    let (from, to) = (Place::new("mongodb"), Place::new("rdf4j"));
    block_on(fill(&from, &[("a", &schema("a"))], None));
    block_on(bind(&from, SHOP, SEARCH, "a"));
    let location = format!("search.storage.location={}", files.path().display());
    let mut serve = service(program, &from, &to, &[&location]);
    let (mut running, _) = start(&mut serve, &log, "Search:");
    assert!(running.stop().success());
    assert_eq!(block_on(Contents::at(&to)).ids(), ["a"]);

    let folder = Place::new("file");
    let more = [
        location.as_str(),
        "soml.storage.migration.enabled=true",
        "soml.storage.migration.source=rdf4j",
        "soml.storage.migration.destination=file",
        "soml.storage.provider=rdf4j",
        "security.enabled=false",
    ];
    let mut serve = command(program, &["--port", "0"], &[&to, &folder], &more);
    let (mut running, _) = start(&mut serve, &log, "Search:");
    assert!(running.stop().success());
    assert_eq!(block_on(Contents::at(&folder)).ids(), ["a"]);
    let log = fs::read_to_string(&log).unwrap();
    assert!(
        log.contains("a store that this service does not use"),
        "{log}"
    );
}

#[test]
#[ignore = "needs running servers named by RDF4J_URL and MONGODB_URL"]
fn of_two_instances_that_start_together_one_migrates() {
    let files = TempDir::new().unwrap();
    let (from, to) = (Place::new("mongodb"), Place::new("rdf4j"));
    for force in ["true", "false"] {
        block_on(super::reset(&from));
        block_on(super::reset(&to));
        block_on(fill(&from, &[("a", &schema("a"))], None));
        let force = format!("soml.storage.migration.forceStoreUpdate={force}");
        let more = [
            &*force,
            "soml.storage.migration.cleanBeforeMigration=true",
            "soml.storage.leaseTime=60000",
        ];
        let logs = ["one", "two"].map(|name| files.path().join(name));
        let runtime = Runtime::new().unwrap();
        // A third one migrates, until both wait for it.
        let third = runtime.block_on(async {
            let third = Lease::new(to.open(SHOP).await, "migration", "third", HOUR);
            assert!(third.hold().await.unwrap().is_some());
            third
        });
        let starts = logs.clone().map(|log| {
            let mut serve = service(SOML, &from, &to, &more);
            std::thread::spawn(move || start(&mut serve, &log, "Security:").0)
        });
        let said = |log: &PathBuf| fs::read_to_string(log).unwrap_or_default();
        eventually(|| {
            logs.iter()
                .all(|log| said(log).contains("waiting for another process"))
        });
        runtime.block_on(third.release()).unwrap();
        let running = starts.map(|start| start.join().unwrap());
        let said = logs.each_ref().map(said);
        let count = |text: &str| said.iter().filter(|log| log.contains(text)).count();
        assert_eq!(count("schemas have been moved"), 1, "{said:?}");
        assert_eq!(count("no schemas are moved"), 1, "{said:?}");
        assert_eq!(block_on(Contents::at(&to)).ids(), ["a"]);
        drop(running);
    }
}

/// Returns the first block of a language in a text.
fn block<'t>(text: &'t str, language: &str) -> &'t str {
    let opening = format!("```{language}\n");
    let (_, rest) = text.split_once(&opening).expect("the block is there");
    rest.split_once("```").expect("it ends").0
}

#[test]
#[ignore = "needs a running RDF4J Server named by RDF4J_URL"]
fn the_commands_of_the_page_print_what_is_shown() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/shared-schemas.md");
    let text = fs::read_to_string(&page).unwrap();
    let (_, section) = text
        .split_once("## Moving schemas to another store")
        .expect("the section is there");
    let (files, folder, to) = (
        TempDir::new().unwrap(),
        Place::new("file"),
        Place::new("rdf4j"),
    );
    let schemas = [
        ("films", "id: /soml/films\n"),
        ("books", "id: /soml/books\n"),
    ];
    block_on(fill(&folder, &schemas, Some("rbac: {}\n")));
    let (
        Place::File(library),
        Place::Rdf4j {
            address,
            repository,
        },
    ) = (&folder, &to)
    else {
        unreachable!("they are of these kinds");
    };
    let library = library.path().join("data").display().to_string();
    // What the page names, and what there is.
    let names = [
        ("http://localhost:8080/rdf4j-server", address.as_str()),
        (": schemas\n", &format!(": {repository}\n")),
        (": library\n", &format!(": {library}\n")),
    ];
    let properties = names.iter().fold(
        block(section, "properties").to_owned(),
        |text, (shown, real)| text.replace(shown, real),
    );
    fs::write(files.path().join("shop.properties"), properties).unwrap();
    let commands = block(section, "console");
    let printed = rerun(files.path(), commands);
    let printed = printed.replace(repository.as_str(), "schemas");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&page, text.replace(commands, &printed)).unwrap();
    } else {
        assert_eq!(printed, commands);
    }
}
