//! Small documents, each with the schema or the errors that it gives.
//!
//! A case is a folder below `data/typesystem` with `schema.yaml`, whose first comment says what it
//! is about. Comments `# options:` and `# print:` choose what is generated and in which
//! form it is printed; `# show:` names the definitions to look at.
//! `UPDATE_EXPECT=1` rewrites the expectations.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use graphql_gen::typesystem::{
    Api, ApiError, ApiOptions, FederationMode, Field, RootKind, TypeRef,
};
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
    let mut options = ApiOptions::minimal();
    for option in header(text, "options").split_whitespace() {
        match option {
            "mutations" => options.mutations = true,
            "counts" => options.counts = true,
            "aggregates" => options.aggregates = true,
            "connections" => options.connections = true,
            "service" => options.service = true,
            "denied" => options.nullable_where_denied = true,
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
            Ok(api) => {
                let show: Vec<&str> = header(&text, "show").split_whitespace().collect();
                (
                    print(&api, header(&text, "print"), &show),
                    "expected.graphql",
                )
            }
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

fn print(api: &Api, form: &str, show: &[&str]) -> String {
    let printed = match form {
        "" => api.sdl(),
        "v1" => api.subgraph_sdl(FederationMode::V1),
        "v2" => api.subgraph_sdl(FederationMode::V2),
        "full" => api.full_sdl(),
        other => panic!("no form {other}"),
    };
    let shown: Vec<&str> = definitions(&printed)
        .filter(|d| show.contains(&defined(d).as_str()))
        .collect();
    shown.join("\n\n") + "\n"
}

/// Returns the name of what is defined; `@x` for a directive and `schema` for the schema.
fn defined(definition: &str) -> String {
    let line = definition
        .lines()
        .find(|line| !line.starts_with('"'))
        .unwrap_or_default();
    let mut words = line
        .split([' ', '(', '{'])
        .skip_while(|word| *word == "extend");
    match words.next() {
        Some("schema") => "schema".to_owned(),
        _ => words.next().unwrap_or_default().to_owned(),
    }
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
        report += &format!("{at} {}: {}\n", problem.code, problem.message);
        for (span, text) in &problem.labels {
            report += &format!("  {} {text}\n", place(*span));
        }
        if let Some(help) = &problem.help {
            report += &format!("  help: {help}\n");
        }
    }
    report
}

/// Documents that were made for use, below `soml-core/tests/data`.
const PUBLISHED: [&str; 9] = [
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

#[test]
fn published_schemas_have_an_api_in_every_form() {
    for document in PUBLISHED {
        let text = read(&manifest("../soml-core/tests/data").join(document));
        let alone = api(&text, &ApiOptions::minimal());
        assert_eq!(
            alone
                .unwrap_or_else(|e| panic!("{document}: {e}"))
                .service_sdl(),
            None
        );
        for federation in [FederationMode::V1, FederationMode::V2] {
            let options = ApiOptions::default()
                .with_federation(federation)
                .with_mutations(true);
            let api = api(&text, &options).unwrap_or_else(|e| panic!("{document}: {e}"));
            assert!(api.service_sdl().is_some());
            apollo_compiler::Schema::parse_and_validate(api.full_sdl(), document)
                .unwrap_or_else(|e| panic!("{document}: {}", e.errors));
        }
    }
}

#[test]
fn graphql_names_lead_back_to_objects_and_properties() {
    let text = read(&manifest("tests/data/typesystem/dual/schema.yaml"));
    let api = api(&text, &ApiOptions::default()).expect("the document has an API");
    let soml = Arc::clone(api.soml());
    let id = |name| soml.object_named(name).expect("the object exists");
    let (agent, person, child) = (id("Agent"), id("Person"), id("Child"));

    assert_eq!(api.type_ref("Object"), Some(TypeRef::AnyObject));
    assert_eq!(api.type_ref("Nameable"), Some(TypeRef::Nameable));
    assert_eq!(api.type_ref("Agent"), Some(TypeRef::Concrete(agent)));
    assert_eq!(
        api.type_ref("AgentInterface"),
        Some(TypeRef::Interface(agent))
    );
    assert_eq!(api.type_ref("Literal"), None);
    assert_eq!(api.type_name(agent), "Agent");
    assert_eq!(api.range_type(person), TypeRef::Interface(person));
    assert_eq!(api.range_type(child), TypeRef::Concrete(child));

    let target = |field| api.root_field(field).map(|root| root.target);
    assert_eq!(target("object"), Some(TypeRef::AnyObject));
    assert_eq!(target("agent"), Some(TypeRef::Interface(agent)));
    assert_eq!(target("child"), Some(TypeRef::Concrete(child)));
    assert_eq!(target("agentInterface"), None);

    assert_eq!(
        api.possible_types(TypeRef::AnyObject),
        [agent, person, child]
    );
    assert_eq!(
        api.possible_types(TypeRef::Interface(person)),
        [person, child]
    );
    assert_eq!(api.possible_types(TypeRef::Concrete(person)), [person]);
    assert!(api.possible_types(TypeRef::Nameable).is_empty());

    assert_eq!(api.field(TypeRef::AnyObject, "id"), Some(Field::Id));
    assert_eq!(api.field(TypeRef::AnyObject, "name"), None);
    assert_eq!(api.field(TypeRef::Interface(agent), "age"), None);
    for (ty, owner) in [
        (TypeRef::Interface(agent), agent),
        (TypeRef::Concrete(child), child),
    ] {
        let Some(Field::Property(knows)) = api.field(ty, "knows") else {
            panic!("no property")
        };
        assert_eq!(soml[knows].owner, owner);
    }
}

#[test]
fn counts_lead_back_to_what_they_count() {
    let text = read(&manifest("tests/data/typesystem/counts/schema.yaml"));
    let api = api(&text, &options(&text)).expect("the document has an API");
    let shelf = api.type_ref("Shelf").expect("the interface exists");
    let Some(Field::Property(boxes)) = api.field(shelf, "boxes") else {
        panic!("no property")
    };
    assert_eq!(api.field(shelf, "boxes_count"), Some(Field::Count(boxes)));
    assert_eq!(api.field(shelf, "size_count"), None);
    let root = api.root_field("shelf_count").expect("the type is counted");
    assert_eq!((root.target, root.kind), (shelf, RootKind::Count));
}
