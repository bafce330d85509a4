//! Small documents, each with the schema or the errors that it gives.
//!
//! A case is a folder below `data/typesystem` with `schema.yaml`, whose first comment says what it
//! is about. Comments `# options:` and `# print:` choose what is generated and how it is printed.
//! `UPDATE_EXPECT=1` rewrites the expectations. Types that every API has are left out of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use graphql_gen::typesystem::{Api, ApiError, ApiOptions, FederationMode};
use soml_core::span::{LineIndex, Span};

fn manifest(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn api(text: &str, options: &ApiOptions) -> Result<Api, ApiError> {
    let loaded = soml_core::load(text);
    let findings: Vec<_> = loaded.errors().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "{findings:#?}");
    Api::new(
        Arc::new(
            loaded
                .schema
                .expect("a document without errors has a schema"),
        ),
        options,
    )
}

/// Returns what follows `# key:` in a document.
fn header<'a>(text: &'a str, key: &str) -> &'a str {
    let marked = text
        .lines()
        .find_map(|line| line.strip_prefix("# ")?.strip_prefix(key));
    marked
        .and_then(|rest| rest.strip_prefix(':'))
        .unwrap_or_default()
        .trim()
}

fn options(text: &str) -> ApiOptions {
    let mut options = ApiOptions::default();
    for option in header(text, "options").split_whitespace() {
        match option {
            "mutations" => options.mutations = true,
            "counts" => options.counts = true,
            "service" => options.service = true,
            "v1" => options.federation = FederationMode::V1,
            "v2" => options.federation = FederationMode::V2,
            other => panic!("no option {other}"),
        }
    }
    options
}

#[test]
fn each_document_gives_the_expected_schema_or_errors() {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut cases = 0;
    let mut failed = Vec::new();
    for entry in std::fs::read_dir(manifest("tests/data/typesystem")).expect("there are cases") {
        let folder = entry.expect("a folder can be listed").path();
        let text = read(&folder.join("schema.yaml"));
        let (actual, file) = match api(&text, &options(&text)) {
            Ok(api) => (print(&api, header(&text, "print")), "expected.graphql"),
            Err(error) => (report(&error, &text), "expected.txt"),
        };
        cases += 1;
        let expected = folder.join(file);
        if update {
            std::fs::write(&expected, actual).expect("expectations are writable");
        } else if read(&expected) != actual {
            failed.push(format!("{}:\n{actual}", expected.display()));
        }
    }
    println!("{cases} cases");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

fn print(api: &Api, form: &str) -> String {
    let printed = match form {
        "" => api.sdl(),
        "v1" => api.subgraph_sdl(FederationMode::V1),
        "v2" => api.subgraph_sdl(FederationMode::V2),
        "full" => api.full_sdl(),
        other => panic!("no form {other}"),
    };
    // Definitions that an empty document has too say nothing about the case.
    let empty = self::api("id: /soml/empty\nobjects: {}\n", &ApiOptions::default());
    let empty = empty.expect("an empty document has an API").sdl();
    let common: std::collections::HashSet<&str> = definitions(&empty).collect();
    let own: Vec<&str> = definitions(&printed)
        .filter(|d| !common.contains(d))
        .collect();
    own.join("\n\n") + "\n"
}

/// Splits printed definitions at the blank lines between them.
fn definitions(sdl: &str) -> impl Iterator<Item = &str> {
    let mut rest = sdl;
    std::iter::from_fn(move || {
        let end = rest.match_indices("\n\n").map(|(at, _)| at).find(|&at| {
            let next = rest[at..].trim_start_matches('\n');
            !next.starts_with([' ', '}'])
        });
        let (definition, after) = match end {
            Some(at) => (&rest[..at], &rest[at..]),
            None => (rest, ""),
        };
        rest = after.trim_start_matches('\n');
        (!definition.is_empty()).then(|| definition.trim_end())
    })
}

fn report(error: &ApiError, text: &str) -> String {
    let lines = LineIndex::new(text);
    let place = |span: Span| {
        let position = lines.position(span.start);
        format!("{}:{}", position.line, position.column)
    };
    let mut report = String::new();
    for problem in &error.problems {
        let at = problem.span.map_or("-".to_owned(), place);
        report += &format!("{at} {problem}\n");
        for (span, text) in &problem.related {
            report += &format!("  {} {text}\n", place(*span));
        }
        if let Some(help) = &problem.help {
            report += &format!("  help: {help}\n");
        }
    }
    report
}

#[test]
fn published_schemas_have_an_api_in_every_form() {
    let documents = [
        "graphdb-workbench/swapi-schema.yaml",
        "graphdb-workbench/swapi-schema-planets.yaml",
        "graphdb-workbench/swapi-schema-species.yaml",
        "graphdb-workbench/swapi-schema-film-restricted.yaml",
        "bsdd/bsdd-graphql-soml-orig.yaml",
        "bsdd/bsdd-graphql-soml-refact.yaml",
        "bsdd/bsdd-graphql-soml-template.yaml",
        "bsdd/bsdd-graphql-soml-withDiagram-noLabel.yaml",
        "talk2powersystem/cim-subset-pretty-ontology.yaml",
    ];
    for document in documents {
        let text = read(&manifest("../soml-core/tests/data").join(document));
        for federation in [FederationMode::Off, FederationMode::V1, FederationMode::V2] {
            let all = ApiOptions {
                mutations: true,
                federation,
                counts: true,
                service: true,
            };
            for options in [
                ApiOptions {
                    federation,
                    ..ApiOptions::default()
                },
                all,
            ] {
                let api = api(&text, &options).unwrap_or_else(|e| panic!("{document}: {e}"));
                for printed in [api.sdl(), api.full_sdl()] {
                    apollo_compiler::Schema::parse_and_validate(printed, document)
                        .unwrap_or_else(|e| panic!("{document}: {}", e.errors));
                }
                assert_eq!(
                    api.service_sdl().is_some(),
                    federation != FederationMode::Off
                );
            }
        }
    }
}
