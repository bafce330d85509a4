//! Pairs of documents, each with the changes between them.
//!
//! A case is a folder below `data/diff` with `old.yaml` and `new.yaml` (or two GraphQL schemas), whose
//! first comments say what it is about; `# options:` chooses what is generated. `UPDATE_EXPECT=1`
//! rewrites the expectations.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use graphql_gen::diff::{Change, ChangeCode, compare, diff};
use graphql_gen::typesystem::{Api, ApiOptions, FederationMode};
use soml_core::schema::Property;
use soml_core::span::{LineIndex, Span};

fn cases() -> Vec<PathBuf> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/diff");
    let entries = std::fs::read_dir(data).expect("there are cases");
    let mut folders: Vec<_> = entries.map(|e| e.expect("a folder").path()).collect();
    folders.sort();
    folders
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn options(text: &str) -> ApiOptions {
    let mut options = ApiOptions::minimal();
    let marked = text
        .lines()
        .find_map(|line| line.strip_prefix("# options:"));
    for option in marked.unwrap_or_default().split_whitespace() {
        match option {
            "mutations" => options.mutations = true,
            "counts" => options.counts = true,
            "aggregates" => options.aggregates = true,
            "connections" => options.connections = true,
            "service" => options.service = true,
            "v2" => options.federation = FederationMode::V2,
            other => panic!("no option {other}"),
        }
    }
    options
}

fn api(text: &str) -> Api {
    let loaded = soml_core::load(text);
    // Where data are is compared too, although no other service is asked for them.
    let findings = loaded.diagnostics.iter();
    let findings = findings.filter(|finding| finding.code != "FEDERATED_SERVICE_IGNORED");
    let findings: Vec<_> = findings.map(ToString::to_string).collect();
    assert!(findings.is_empty(), "{findings:#?}\n{text}");
    let schema = loaded
        .schema
        .expect("a document without errors has a schema");
    Api::new(Arc::new(schema), &options(text)).expect("the document has an API")
}

fn report(changes: &[Change], old: &str, new: &str) -> String {
    let (old, new) = (LineIndex::new(old), LineIndex::new(new));
    let place = |side: &str, lines: &LineIndex<'_>, span: Option<Span>| {
        span.map_or(String::new(), |span| {
            let at = lines.position(span.start);
            format!(" [{side} {}:{}]", at.line, at.column)
        })
    };
    let mut report = String::new();
    for change in changes {
        let old = place("old", &old, change.old_span);
        let new = place("new", &new, change.new_span);
        report += &format!("{change}{old}{new}\n");
        for consequence in &change.consequences {
            report += &format!("    {consequence}\n");
        }
    }
    report
}

fn actual(folder: &Path) -> String {
    if folder.join("old.graphql").exists() {
        let schema = |file: &str| {
            let text = read(&folder.join(file));
            apollo_compiler::Schema::parse_and_validate(text, file).expect("the schema is valid")
        };
        let differences = compare(&schema("old.graphql"), &schema("new.graphql"));
        return differences.iter().map(|d| format!("{d}\n")).collect();
    }
    let (old, new) = (
        read(&folder.join("old.yaml")),
        read(&folder.join("new.yaml")),
    );
    report(&diff(&api(&old), &api(&new)), &old, &new)
}

#[test]
fn each_pair_of_documents_gives_the_expected_changes() {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut failed = Vec::new();
    for folder in cases() {
        let (file, actual) = (folder.join("expected.txt"), actual(&folder));
        if update {
            std::fs::write(&file, actual).expect("expectations are writable");
        } else if read(&file) != actual {
            failed.push(format!("{}:\n{actual}", file.display()));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn every_code_has_a_case() {
    let expected: String = cases()
        .iter()
        .map(|f| read(&f.join("expected.txt")))
        .collect();
    let seen: HashSet<_> = expected
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1))
        .collect();
    let unseen: Vec<_> = ChangeCode::ALL
        .iter()
        .filter(|code| !seen.contains(code.as_str()))
        .collect();
    assert!(unseen.is_empty(), "{unseen:?}");
}

#[test]
fn a_schema_does_not_differ_from_itself() {
    for folder in cases() {
        for file in ["old.yaml", "new.yaml"] {
            if let Ok(text) = std::fs::read_to_string(folder.join(file)) {
                assert_eq!(diff(&api(&text), &api(&text)), []);
            }
        }
    }
}

/// Removes the entry whose key is at `start`: its line and the deeper ones behind it.
fn without_entry(text: &str, start: u32) -> String {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let first = text[..start as usize].rfind('\n').map_or(0, |at| at + 1);
    let mut lines = text[first..].split_inclusive('\n');
    let own = lines.next().unwrap_or_default();
    let deeper = lines.take_while(|line| line.trim().is_empty() || indent(line) > indent(own));
    let removed = own.len() + deeper.map(str::len).sum::<usize>();
    format!("{}{}", &text[..first], &text[first + removed..])
}

/// Removes an entry and then all that refers to it.
fn without(text: &str, start: u32) -> String {
    let mut text = without_entry(text, start);
    while let Some(error) = soml_core::load(&text).errors().last() {
        text = without_entry(&text, error.place.expect("a place").span.start);
    }
    text
}

#[test]
fn each_object_and_property_is_missed_with_its_place() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../servers/demo/star-wars/schema.yaml");
    let text = read(&file);
    let whole = api(&text);
    let soml = Arc::clone(whole.soml());
    let objects = soml.objects.iter().map(|o| (&o.name.graphql, o.span));
    // Listing an inherited property again says nothing, and leaving that out changes nothing.
    let inherited = |p: &Property| {
        let above = soml.lineage(p.owner).skip(1);
        let mut props = above.flat_map(|object| &soml[object].props);
        props.any(|&above| soml[above].name == p.name)
    };
    let properties = soml.properties.iter().filter(|p| !inherited(p));
    let properties = properties.map(|p| (&p.name.graphql, p.span));
    let entries: HashSet<_> = objects.chain(properties).collect();
    assert!(entries.len() > 100, "{}", entries.len());
    for (name, span) in entries {
        let less = api(&without(&text, span.start));
        let at = |change: &Change, span_of: fn(&Change) -> Option<Span>| {
            change.coordinate.contains(name.as_str())
                && span_of(change).is_some_and(|found| found == span)
        };
        let removed = diff(&whole, &less);
        assert!(
            removed.iter().any(|c| at(c, |c| c.old_span)),
            "{name} {removed:#?}"
        );
        let added = diff(&less, &whole);
        assert!(
            added.iter().any(|c| at(c, |c| c.new_span)),
            "{name} {added:#?}"
        );
    }
}
