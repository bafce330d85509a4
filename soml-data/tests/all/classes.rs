//! Which classes data have instead of those of a schema.

use std::sync::Arc;

use graph_store::CallContext;
use graph_store::remote::{Dialect, RemoteOptions, RemoteStore};
use oxigraph::store::Store;
use oxrdfio::RdfFormat;
use soml_data::check::{CheckCode, CheckInput, CheckOptions, CheckReport, check};
use soml_data::classes::{ClassCounts, DataView, classes_instead};

use crate::images;
use crate::in_process::InProcess;

const SCHEMA: &str = "
id: /soml/books
specialPrefixes: {vocab_iri: 'http://v/', vocab_prefix: v}
objects:
  Book: {props: {title: {}}}
  Person: {typeProp: 'v:kind', type: ['v:Human']}
";

/// Looks through an embedded store and through an endpoint over the same data, which must agree.
fn look(data: &str) -> (Option<ClassCounts>, CheckReport) {
    let schema = soml_core::load(SCHEMA).schema.expect("a schema");
    let quads = images::quads(RdfFormat::TriG, data);
    let embedded = images::of(&quads);
    let listed = embedded.snapshot();
    let store = Store::new().expect("a store in memory");
    store.extend(quads).expect("a store in memory");
    let endpoint = InProcess {
        store,
        is_union: true,
    };
    let options = RemoteOptions::new(Dialect::Rdf4j);
    let remote = RemoteStore::new(Arc::new(endpoint), options);
    let context = CallContext::new();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let (statements, solutions) = (
            DataView::Statements(listed.as_ref()),
            DataView::Queries(&remote),
        );
        let here = classes_instead(&schema, &embedded, statements, 3, &context).await;
        let there = classes_instead(&schema, &remote, solutions, 3, &context).await;
        let here = here.expect("the store answers");
        assert_eq!(here, there.expect("the endpoint answers"));
        let input = CheckInput {
            schema: &schema,
            store: &embedded,
            statements: Some(listed.as_ref()),
            solutions: None,
            options: CheckOptions::default(),
        };
        let report = check(&input, &context).await.expect("the store answers");
        let input = CheckInput {
            store: &remote,
            statements: None,
            solutions: Some(&remote),
            ..input
        };
        let other = check(&input, &context).await.expect("the endpoint answers");
        assert_eq!(instead(&report), instead(&other));
        (here, report)
    })
}

/// Returns what a report says of classes that are there instead.
fn instead(report: &CheckReport) -> Option<(u64, Vec<String>)> {
    let mut findings = report.findings.iter();
    let finding = findings.find(|finding| finding.code == CheckCode::NoMatchingObjects)?;
    let examples = finding.examples.iter();
    let examples = examples.map(|example| {
        let number = example.value.as_deref().unwrap_or_default();
        format!("{} {number}", example.subject)
    });
    Some((finding.count, examples.collect()))
}

#[test]
fn data_with_an_object_of_some_type_are_those_of_the_schema() {
    for data in [
        "<http://r/1> a <http://v/Book> . <http://r/2> a <http://v/Other> .",
        "<http://r/1> <http://v/kind> <http://v/Human> .",
    ] {
        let (classes, report) = look(data);
        assert_eq!(classes, None, "{data}");
        assert_eq!(instead(&report), None, "{data}");
    }
}

#[test]
fn the_largest_classes_of_other_data_are_named_most_frequent_first() {
    let mut data = String::from("<http://r/0> <http://v/kind> <http://v/Robot> .");
    for class in 0..12 {
        for n in 0..=class {
            data.push_str(&format!("<http://r/{n}> a <http://w/C{class:02}> ."));
        }
    }
    data.push_str("[] a <http://w/C00> . <http://g> { <http://r/0> a <http://w/C01> }");
    let (classes, report) = look(&data);
    let classes = classes.expect("nothing fits");
    assert_eq!(classes.number, 13);
    let largest: Vec<(&str, u64)> = classes
        .largest
        .iter()
        .map(|(c, n)| (c.as_str(), *n))
        .collect();
    assert_eq!(
        largest,
        [
            ("http://w/C11", 12),
            ("http://w/C10", 11),
            ("http://w/C09", 10)
        ]
    );
    let (number, named) = instead(&report).expect("a finding");
    assert_eq!((number, named.len()), (13, 10));
    assert_eq!(named[0], "http://w/C11 12 instances");
    assert_eq!(named[9], "http://w/C02 3 instances");
}

#[test]
fn empty_data_have_no_classes() {
    let (classes, report) = look("");
    assert_eq!(classes, Some(ClassCounts::default()));
    assert_eq!(instead(&report), Some((0, Vec::new())));
}
