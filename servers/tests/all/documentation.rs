//! Documentation that comes from the code says what the code does.
//!
//! `UPDATE_EXPECT=1` rewrites the generated parts.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use gateway_service::{GatewayApp, GatewayAppOptions, GatewayParts, Subgraph};
use schema_registry::InMemorySchemaStore;
use search_service::{Engines, SearchApp, SearchOptions, SearchParts, Storage};
use serde_json::Value;
use servers::config::Settings;
use servers::store::in_memory;
use servers::wiring::object_service;
use service_runtime::{Route, Serve};

use crate::service::Service;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(name)
}

/// Held while a page is read and rewritten; some have several generated parts.
pub(crate) static PAGES: Mutex<()> = Mutex::new(());

/// Compares the part of a page between `<!-- generated … -->` and `<!-- end -->`.
fn compare(page: &str, generated: &str) {
    let _page = PAGES.lock();
    let text = fs::read_to_string(path(page)).unwrap();
    let start = text.find("<!-- generated").unwrap();
    let start = start + text[start..].find("-->\n").unwrap() + "-->\n".len();
    let end = text.find("<!-- end -->").unwrap();
    let wanted = format!("\n{}\n", generated.trim_end());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let new = format!("{}{wanted}\n{}", &text[..start], &text[end..]);
        fs::write(path(page), new).unwrap();
        return;
    }
    let found = text[start..end].trim();
    assert_eq!(
        found,
        wanted.trim(),
        "{page} is out of date: run with UPDATE_EXPECT=1"
    );
}

#[test]
fn the_page_of_properties_is_the_table() {
    compare("docs/configuration.md", &servers::config::markdown());
}

#[test]
fn the_page_of_codes_is_the_tables() {
    compare("docs/errors.md", &servers::codes::errors_markdown());
}

#[test]
fn the_table_of_keys_is_that_of_the_code() {
    compare("docs/first-schema.md", &soml_core::keys_markdown());
}

#[test]
fn the_page_of_findings_is_the_table() {
    compare(
        "docs/diagnostics.md",
        &servers::codes::diagnostics_markdown(),
    );
}

#[test]
fn the_page_of_changes_is_the_table() {
    compare("docs/changes.md", &servers::codes::changes_markdown());
}

#[test]
fn the_page_of_checks_is_the_table() {
    compare("docs/checks.md", &servers::codes::checks_markdown());
}

#[test]
fn the_page_of_metrics_is_the_table() {
    compare("docs/metrics.md", &servers::metrics::markdown());
}

#[test]
fn the_table_of_routes_is_that_of_the_services() {
    let settings = Settings {
        metrics: true,
        ..Settings::default()
    };
    let objects = Arc::new(object_service(
        &settings,
        in_memory().unwrap(),
        Arc::new(InMemorySchemaStore::default()),
    ));
    let searches = Arc::new(SearchApp::new(SearchParts {
        host: settings.host(),
        options: SearchOptions::default(),
        schemas: Arc::new(InMemorySchemaStore::default()),
        data: None,
        engines: Engines::embedded(&Storage::Memory).unwrap(),
        storage: Storage::Memory,
    }));
    let gateway = Arc::new(
        GatewayApp::new(GatewayParts {
            host: settings.host(),
            options: GatewayAppOptions::default(),
            local: vec![Subgraph::hosted("objects", Arc::clone(&objects))],
            requires_tokens: false,
            log_in: None,
            query: None,
        })
        .unwrap(),
    );
    let services = [
        ("object", objects.routes()),
        ("search", searches.routes()),
        ("gateway", gateway.routes()),
    ];
    let mut rows: Vec<(&Route, Vec<&str>)> = Vec::new();
    for (name, routes) in &services {
        for route in routes.table() {
            match rows.iter_mut().find(|(row, _)| *row == route) {
                Some((_, names)) => names.push(name),
                None => rows.push((route, vec![name])),
            }
        }
    }
    // Those of one path together.
    rows.sort_by_key(|(row, _)| row.path.clone());
    let mut text = String::from(
        "| method | path | service | who may | while data are loaded |\n|---|---|---|---|---|\n",
    );
    for (row, names) in rows {
        let method = row
            .method
            .as_ref()
            .map_or("`GET`, `POST`".to_owned(), |it| format!("`{it}`"));
        let services = match names.len() {
            3 => "all".to_owned(),
            _ => names.join(", "),
        };
        let loading = if row.needs_data {
            "503 `DATA_LOADING`"
        } else {
            "answers"
        };
        let (path, who) = (&row.path, row.access);
        writeln!(
            text,
            "| {method} | `{path}` | {services} | {who} | {loading} |"
        )
        .unwrap();
    }
    compare("docs/http.md", &text);
}

#[test]
fn the_query_of_the_readme_has_the_answer_that_it_shows() {
    let text = fs::read_to_string(path("README.md")).unwrap();
    let block = |language: &str| {
        let from = text.split_once(&format!("```{language}\n")).unwrap().1;
        from.split_once("```").unwrap().0.to_owned()
    };
    let shown: Value = serde_json::from_str(&block("json")).unwrap();
    let answer: Value = serde_json::from_str(&Service::demo().query(&block("graphql"))).unwrap();
    assert_eq!(answer, shown);
}

#[test]
fn the_links_of_the_pages_lead_somewhere() {
    let pages = [
        "README.md",
        "CONTRIBUTING.md",
        "docs/access.md",
        "docs/changes.md",
        "docs/cli.md",
        "docs/checks.md",
        "docs/diagnostics.md",
        "docs/embedding.md",
        "docs/errors.md",
        "docs/federation.md",
        "docs/first-schema.md",
        "docs/gateway.md",
        "docs/http.md",
        "docs/identity.md",
        "docs/loading.md",
        "docs/metrics.md",
        "docs/queries.md",
        "docs/schema.md",
        "docs/search.md",
        "docs/shared-schemas.md",
        "docs/sparql-servers.md",
        "docs/writing.md",
    ];
    for page in pages {
        let text = fs::read_to_string(path(page)).unwrap();
        let targets = text
            .split("](")
            .skip(1)
            .map(|rest| rest.split(')').next().unwrap());
        for target in targets.filter(|target| !target.starts_with("http")) {
            let file = target.split('#').next().unwrap();
            let found = path(page).parent().unwrap().join(file);
            assert!(found.exists(), "{page} links to {target}");
        }
    }
}

#[test]
fn what_the_tables_of_the_pages_name_is_there() {
    let mut sources = String::new();
    for crate_name in [
        "federation",
        "gateway-service",
        "graph-store",
        "graphql-gen",
        "graphql-http",
        "object-engine",
        "object-service",
        "rdf-load",
        "schema-registry",
        "search-index",
        "search-service",
        "servers",
        "service-config",
        "service-metrics",
        "service-runtime",
    ] {
        for part in ["src", "tests"] {
            let folder = path(crate_name).join(part);
            // Some have unit tests alone.
            if folder.is_dir() {
                add_sources(&folder, &mut sources);
            }
        }
    }
    let folders = [
        "federation/tests/cases",
        "object-engine/tests/mutations/library",
        "object-engine/tests/mutations/museum",
        "graphql-gen/tests/data/typesystem",
    ];
    let mut missing = Vec::new();
    for page in [
        "docs/internals/federation.md",
        "docs/internals/gateway.md",
        "docs/internals/writing.md",
        "docs/internals/search.md",
    ] {
        let text = fs::read_to_string(path(page)).expect("the page is there");
        let (_, table) = text
            .split_once("| what holds | shown by |")
            .expect("the table is there");
        let table = table.split("\n\n").next().expect("the table ends");
        for row in table.lines().filter(|row| row.starts_with("| ")) {
            let names = row.trim_end_matches(" |").rsplit(" | ").next();
            let names = names.expect("a cell");
            if names.starts_with("later: ") {
                continue;
            }
            for name in names.split('`').skip(1).step_by(2) {
                let is_folder = folders
                    .iter()
                    .any(|folder| path(folder).join(name).is_dir());
                if !is_folder && !sources.contains(&format!("fn {name}(")) {
                    missing.push(format!("{page}: {name}"));
                }
            }
        }
    }
    let page = "docs/internals/storage-properties.md";
    let text = fs::read_to_string(path(page)).expect("the page is there");
    for row in text.lines().filter(|row| row.starts_with("| ")) {
        let tests = row
            .trim_end_matches(" |")
            .rsplit(" | ")
            .next()
            .expect("a cell");
        for name in tests.split('`').skip(1).step_by(2) {
            if !sources.contains(&format!("fn {name}(")) {
                missing.push(format!("{page}: {name}"));
            }
        }
    }
    assert!(missing.is_empty(), "there is no test {missing:?}");
}

#[test]
fn the_table_of_the_gateway_has_a_row_for_each_variable_of_the_interface() {
    let text = fs::read_to_string(path("docs/internals/gateway.md")).expect("the page is there");
    let (_, table) = text
        .split_once("| what holds | shown by |")
        .expect("the table is there");
    let claims: Vec<_> = table
        .lines()
        .filter_map(|row| row.split(" | ").next())
        .collect();
    for variable in [
        "SECURITY_ENABLED",
        "IDP_APPLICATION_ID",
        "IDP_PROTOCOL",
        "IDP_HOST",
        "IDP_PORT",
        "IDP_USERNAME",
        "IDP_PASSWORD",
        "FORWARD_HEADERS",
        "IDP_LOGIN_RETRIES",
        "IDP_LOGIN_RETRY_DELAY",
        "X-Request-ID",
        "GRAPHQL_SERVICE_N",
        "GRAPHQL_SERVICE_N_GTG",
        "GRAPHQL_SERVICE_N_HEALTH",
        "CACHE_MAX_AGE",
        "ENGINE_API_KEY",
        "SERVICE_DWELL",
        "graphql.federation.enabled",
        "graphdql.federation.enabled",
    ] {
        let name = format!("`{variable}`");
        let is_named = claims.iter().any(|claim| claim.contains(&name));
        assert!(is_named, "no row is about {variable}");
    }
}

/// Adds the Rust sources below a folder.
fn add_sources(folder: &Path, sources: &mut String) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            add_sources(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push_str(&fs::read_to_string(&path).expect("a source"));
        }
    }
}
