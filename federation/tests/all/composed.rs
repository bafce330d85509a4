//! Scenario folders of `tests/composed`: `subgraphs`, the `supergraph.graphql` that is made of them, and `case.md`, which
//! says why. `UPDATE_EXPECT=1` rewrites the supergraphs.

use std::fs;
use std::path::{Path, PathBuf};

use apollo_compiler::ast::Document;
use federation::Supergraph;
use federation::compose::{ComposeOptions, SubgraphSource, compose};

use crate::composition::source;
use crate::writing::assert_same;

/// Imports of an old version, so that the supergraph needs nothing that that of federation 1 does not need.
const LINK: &str = r#"extend schema @link(url: "https://specs.apollo.dev/federation/v2.0", import: ["@key", "@external", "@requires", "@extends", "@shareable"]) "#;

/// Returns the scenario folders, by their names.
pub(super) fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/composed");
    let entries = fs::read_dir(root).unwrap();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders
}

/// Returns the subgraphs of a scenario, by their names.
pub(super) fn subgraphs(folder: &Path) -> Vec<SubgraphSource> {
    let files = fs::read_dir(folder.join("subgraphs")).unwrap();
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    let sources = files.iter().map(|file| {
        let name = file.file_stem().unwrap().to_string_lossy();
        source(&name, None, &fs::read_to_string(file).unwrap())
    });
    sources.collect()
}

fn composed(subgraphs: &[SubgraphSource], what: &str) -> String {
    let composed = compose(subgraphs, &ComposeOptions::default());
    composed
        .unwrap_or_else(|errors| panic!("{what}: {errors:#?}"))
        .supergraph_sdl
}

fn parse(sdl: &str) -> Supergraph {
    Supergraph::parse(sdl, "supergraph.graphql").unwrap()
}

#[test]
fn subgraphs_compose_to_the_supergraph_of_their_scenario() {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let folders = folders();
    assert!(folders.len() >= 20, "{}", folders.len());
    for folder in folders {
        assert!(folder.join("case.md").exists(), "{folder:?} says why");
        let composed = composed(&subgraphs(&folder), &folder.to_string_lossy());
        let file = folder.join("supergraph.graphql");
        if update {
            fs::write(file, composed).unwrap();
        } else {
            let expected = fs::read_to_string(file).unwrap_or_default();
            assert!(
                composed == expected,
                "{}: UPDATE_EXPECT=1 writes it anew:\n{composed}",
                folder.display()
            );
        }
    }
}

/// What federation 1 has only by keys of interfaces is left out.
#[test]
fn extensions_of_federation_1_mean_the_same_in_federation_2() {
    let is_of_both = |folder: &&PathBuf| {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let begins = ["empty-type-", "extension-", "key-on-"];
        begins.iter().any(|begin| name.starts_with(begin))
    };
    let folders = folders();
    let mut count = 0;
    for folder in folders.iter().filter(is_of_both) {
        let mut subgraphs = subgraphs(folder);
        let first = composed(&subgraphs, "federation 1");
        if subgraphs.iter().any(|it| it.sdl.contains("@link")) {
            continue;
        }
        for subgraph in subgraphs.iter_mut().skip(1) {
            subgraph.sdl.insert_str(0, LINK);
        }
        let second = composed(&subgraphs, &folder.to_string_lossy());
        assert_same(&parse(&first), &parse(&second));
        count += 1;
    }
    assert!(count >= 8, "{count}");
}

/// A document has no order.
#[test]
fn an_extension_may_stand_before_or_behind_its_definition() {
    for folder in folders() {
        let mut subgraphs = subgraphs(&folder);
        let first = parse(&composed(&subgraphs, "as written"));
        for subgraph in &mut subgraphs {
            let mut document = Document::parse(subgraph.sdl.as_str(), "sdl").unwrap();
            document.definitions.reverse();
            subgraph.sdl = document.to_string();
        }
        let what = format!("{}, reversed", folder.display());
        let second = parse(&composed(&subgraphs, &what));
        assert_eq!(sorted(&first), sorted(&second), "{what}");
    }
}

/// The same schema, as different programs print it for federation 1.
#[test]
fn versions_of_a_library_print_schemas_that_compose_alike() {
    let api = |version: &str| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/composed");
        let folder = root.join(format!("apollo-subgraph-{version}"));
        sorted(&parse(&composed(&subgraphs(&folder), version)))
    };
    let oldest = api("0.6-federation-1");
    for version in [
        "2.14-federation-1",
        "2.14-federation-2",
        "2.15-federation-1",
        "2.15-federation-2",
    ] {
        assert_eq!(api(version), oldest, "{version}");
    }
    assert_eq!(api("2.15-extensions-only"), api("0.6-extensions-only"));
}

/// Returns what clients see and what the subgraphs have of it, without an order.
fn sorted(supergraph: &Supergraph) -> Vec<String> {
    let api = supergraph.api().to_string();
    let mut lines: Vec<String> = api.lines().map(str::to_owned).collect();
    for id in supergraph.type_ids() {
        let ty = supergraph.ty(id);
        for join in &ty.joins {
            let subgraph = &supergraph.subgraph(join.subgraph).name;
            lines.push(format!("{} {subgraph} {:?}", ty.name, join.keys.len()));
        }
        for (_, field) in ty.fields() {
            let field = supergraph.field(field);
            for join in &field.joins {
                let subgraph = &supergraph.subgraph(join.subgraph).name;
                let external = join.is_external;
                lines.push(format!("{}.{} {subgraph} {external}", ty.name, field.name));
            }
        }
    }
    lines.sort();
    lines
}
