//! Where data do not fit a schema: each rule finds its case, and data that fit give nothing.

use graph_store::CallContext;
use graph_store::image::ImageStore;
use oxrdfio::RdfFormat;
use soml_data::check::{CheckInput, CheckOptions, CheckReport, Statements, check};

use crate::images;

const SCHEMA: &str = r#"
id: /soml/check
specialPrefixes: {base_iri: 'http://r/', vocab_iri: 'http://v/', vocab_prefix: v}
types:
  Mood: {kind: enum, values: [{name: glad}, {name: sad}]}
objects:
  Agent:
    kind: abstract
    props:
      name: {min: 1}
  Person:
    inherits: Agent
    regex: "p/[0-9]+$"
    props:
      age: {range: integer}
      size: {range: decimal}
      mail: {max: 2, regex: "@"}
      color: {valuesIn: [red, blue]}
      motto: {range: langString, lang: {validate: "en,de;UNIQ"}, max: inf}
      slogan: {range: langString}
      knows: {range: Person, max: inf, symmetric: true}
      likes: {range: Agent, max: inf}
      home: {range: Place, rangeCheck: true}
      bornIn: {range: Place, inverseOf: birthPlaceOf}
      count: {range: int, typeCast: true}
  Robot: {inherits: Agent}
  Place:
    props:
      birthPlaceOf: {range: Person, max: inf, inverseOf: bornIn}
"#;

const PREFIXES: &str = "@prefix : <http://v/> . @prefix p: <http://r/p/> . @base <http://r/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
";

fn store(data: &str) -> ImageStore {
    images::from_text(RdfFormat::TriG, format!("{PREFIXES}{data}"))
}

fn run(store: &ImageStore, statements: bool, options: CheckOptions) -> CheckReport {
    let loaded = soml_core::load(SCHEMA);
    let schema = loaded
        .schema
        .unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let snapshot = store.snapshot();
    let input = CheckInput {
        schema: &schema,
        store,
        statements: statements.then_some(snapshot.as_ref() as &dyn Statements),
        solutions: None,
        options,
    };
    let report = futures::executor::block_on(check(&input, &CallContext::new()));
    report.expect("the store answers")
}

/// Returns errors and warnings, a line each: code, place, detail, number.
fn found(data: &str) -> Vec<String> {
    let report = run(&store(data), true, CheckOptions::default());
    lines(&report)
}

fn lines(report: &CheckReport) -> Vec<String> {
    let findings = report.findings.iter();
    findings
        .filter(|finding| finding.code.as_str() != "NO_INSTANCES")
        .map(|finding| {
            let place = finding.element().unwrap_or_default();
            let detail = finding.detail.clone().unwrap_or_default();
            let line = format!(
                "{} {place} {detail} {}",
                finding.code.as_str(),
                finding.count
            );
            line.split_whitespace().collect::<Vec<_>>().join(" ")
        })
        .collect()
}

const FITTING: &str = "
p:1 a :Person ; :name 'A' ; :age 3 ; :size 1.5 ; :mail 'a@b', 'c@d' ; :color 'red' ;
    :motto 'x'@en, 'y'@de ; :slogan 'x'@en, 'y'@fr ; :knows p:2 ; :likes <r1>, p:1 ; :bornIn <x> ;
    :count 3 .
p:2 a :Person ; :name 'B' ; :knows p:1 .
<r1> a :Robot ; :name 'R' .
<x> a :Place ; :birthPlaceOf p:1 .
";

#[test]
fn data_that_fit_give_no_finding() {
    let report = run(&store(FITTING), true, CheckOptions::default());
    assert_eq!(lines(&report), [""; 0]);
    let counts: Vec<_> = report
        .objects
        .iter()
        .map(|o| (o.name.as_str(), o.count))
        .collect();
    assert_eq!(counts, [("Person", 2), ("Robot", 1), ("Place", 1)]);
    assert_eq!(report.not_checked, [""; 0]);
}

#[test]
fn values_outside_of_their_range_are_found() {
    let data = "p:1 a :Person ; :name 'A' ; :age 'none' ; :slogan 'plain' ; :bornIn 'there' .
        p:2 a :Person ; :name <http://r/n> ; :age 1.5 ; :count 'x' .";
    let expected = [
        "VALUE_NOT_OF_RANGE Agent.v:name an IRI where string is declared 1",
        "VALUE_NOT_OF_RANGE Person.age xsd:decimal where integer is declared 1",
        "VALUE_NOT_OF_RANGE Person.age xsd:string where integer is declared 1",
        "VALUE_NOT_OF_RANGE Person.slogan xsd:string where langString is declared 1",
        "VALUE_NOT_OF_RANGE Person.bornIn xsd:string where Place is declared 1",
        "VALUE_NOT_OF_RANGE Person.count xsd:string where int is declared 1",
    ];
    assert_eq!(found(data), expected);
}

#[test]
fn values_that_are_converted_are_noted() {
    let data = "p:1 a :Person ; :name 'A' ; :size '1.5'^^xsd:float ; :age 2.0 ; :count '7' .
        p:2 a :Person ; :name 'A' ; :size 7 ; :age '7'^^xsd:int .";
    let expected = [
        "VALUE_CONVERTED Person.age xsd:decimal where integer is declared 1",
        "VALUE_CONVERTED Person.size xsd:float where decimal is declared 1",
        "VALUE_CONVERTED Person.size xsd:integer where decimal is declared 1",
        "VALUE_CONVERTED Person.count xsd:string where int is declared 1",
    ];
    assert_eq!(found(data), expected);
}

#[test]
fn numbers_of_values_are_counted_for_each_language() {
    let data =
        "p:1 a :Person ; :age 1, 2 ; :mail '@1', '@2', '@3' ; :slogan 'x'@en, 'y'@EN, 'z'@de .";
    let expected = [
        "TOO_FEW_VALUES Agent.v:name min: 1 1",
        "TOO_MANY_VALUES Person.age max: 1 1",
        "TOO_MANY_VALUES Person.mail max: 2 1",
        "TOO_MANY_VALUES Person.slogan max: 1 1",
    ];
    assert_eq!(found(data), expected);
}

#[test]
fn targets_are_of_the_range() {
    let data = "p:1 a :Person ; :name 'A' ; :likes <gone>, <untyped>, <alien>, <x>, p:1 .
        <untyped> :name 'U' . <alien> a :Alien . <x> a :Place .";
    let expected = [
        "TARGET_MISSING Person.likes no type where Agent is declared 1",
        "TARGET_UNTYPED Person.likes no type where Agent is declared 1",
        "TARGET_CLASS_UNKNOWN Person.likes <http://v/Alien> where Agent is declared 1",
        "TARGET_OTHER_TYPE Person.likes Place where Agent is declared 1",
        "CLASS_UNKNOWN <http://v/Alien> 1",
    ];
    assert_eq!(found(data), expected);
}

#[test]
fn what_range_check_leaves_out_does_not_count() {
    let data =
        "p:1 a :Person ; :name 'A' ; :home <x>, p:1, <alien> . <x> a :Place . <alien> a :Alien .
        p:2 a :Person ; :name 'B' ; :home <x>, <y> . <y> a :Place .";
    let expected = [
        "TOO_MANY_VALUES Person.home max: 1 1",
        "CLASS_UNKNOWN <http://v/Alien> 1",
        "TARGET_LEFT_OUT Person.home <http://v/Alien> where Place is declared 1",
        "TARGET_LEFT_OUT Person.home Person where Place is declared 1",
    ];
    assert_eq!(found(data), expected);
}

#[test]
fn malformed_numbers_and_numbers_out_of_bounds_are_told_as_such() {
    let data = "p:1 a :Person ; :name 'A' ; :age 'x'^^xsd:integer ; :count 3000000000 .";
    let expected = [
        "VALUE_NOT_OF_RANGE Person.age xsd:integer that is malformed or out of bounds, where integer is declared 1",
        "VALUE_NOT_OF_RANGE Person.count xsd:integer that is malformed or out of bounds, where int is declared 1",
    ];
    assert_eq!(found(data), expected);
}

#[test]
fn ids_and_texts_match_what_the_schema_asks() {
    let data = "<q/1> a :Person ; :name 'A' ; :mail 'nobody' ; :color 'green' .";
    let expected = [
        "ID_MISMATCH Person regex: p/[0-9]+$ 1",
        "VALUE_MISMATCH Person.mail regex: @ 1",
        "VALUE_NOT_LISTED Person.color 1",
    ];
    assert_eq!(found(data), expected);
}

#[test]
fn languages_are_those_that_may_be_written() {
    let data = "p:1 a :Person ; :name 'A' ; :motto 'x'@fr, 'y'@en, 'z'@EN .";
    let expected = [
        "LANG_NOT_ALLOWED Person.motto fr 1",
        "LANG_REPEATED Person.motto 1",
    ];
    assert_eq!(found(data), expected);
}

#[test]
fn partners_lead_back() {
    let data = "p:1 a :Person ; :name 'A' ; :knows p:2 ; :bornIn <x> .
        p:2 a :Person ; :name 'B' . <x> a :Place .";
    let expected = [
        "SYMMETRY_MISSING Person.knows 1",
        "INVERSE_MISSING Person.bornIn by Place.birthPlaceOf 1",
    ];
    assert_eq!(found(data), expected);
}

#[test]
fn what_the_schema_does_not_name_is_told() {
    let data = "p:1 a :Person, :Customer ; :name 'A' ; :shoeSize 42 ; :likes [ a :Robot ] .
        <m> a :Mystery . <n> a :Mystery .";
    let expected = [
        "CLASS_UNKNOWN <http://v/Mystery> 2",
        "BLANK_NODE as an instance of <http://v/Robot> 1",
        "PROPERTY_UNKNOWN Person <http://v/shoeSize> 1",
        "BLANK_NODE Person as value of <http://v/likes> 1",
        "CLASS_BESIDE <http://v/Customer> 1",
    ];
    assert_eq!(found(data), expected);
}

#[test]
fn an_object_of_two_types_is_checked_as_both() {
    let data = "p:1 a :Person, :Place ; :name 'A' ; :age 'x' ; :birthPlaceOf 'nobody' .";
    let expected = [
        "VALUE_NOT_OF_RANGE Person.age xsd:string where integer is declared 1",
        "VALUE_NOT_OF_RANGE Place.birthPlaceOf xsd:string where Person is declared 1",
    ];
    assert_eq!(found(data), expected);
}

#[test]
fn a_statement_in_several_graphs_counts_once() {
    let data = "p:1 a :Person ; :name 'A' ; :odd 1 . <m> a :Mystery .
        <g> { p:1 a :Person ; :name 'A' ; :odd 1 . <m> a :Mystery }";
    let expected = [
        "CLASS_UNKNOWN <http://v/Mystery> 1",
        "PROPERTY_UNKNOWN Person <http://v/odd> 1",
    ];
    assert_eq!(found(data), expected);
}

/// Pages and batches cut nothing off and count nothing twice.
#[test]
fn small_pages_and_batches_find_the_same() {
    let people: String = (0..25)
        .map(|n| format!("p:{n} a :Person ; :age 'x' ; :likes p:{} .\n", n + 1))
        .collect();
    let store = store(&people);
    let whole = run(&store, true, CheckOptions::default());
    let small = CheckOptions {
        page: 4,
        batch: 3,
        ..CheckOptions::default()
    };
    let paged = run(&store, true, small);
    assert_eq!(lines(&whole), lines(&paged));
    assert_eq!(whole.objects, paged.objects);
    assert!(lines(&whole).contains(&"TOO_FEW_VALUES Agent.v:name min: 1 25".to_owned()));
    assert!(whole.findings.iter().all(|f| f.examples.len() <= 3));
}

#[test]
fn a_store_without_statements_says_what_was_not_checked() {
    let data = "p:1 a :Person ; :name 'A' ; :shoeSize 42 ; :likes <gone> . <m> a :Mystery .";
    let report = run(&store(data), false, CheckOptions::default());
    assert_eq!(
        lines(&report),
        ["TARGET_UNTYPED Person.likes no type where Agent is declared 1"]
    );
    assert_eq!(report.not_checked.len(), 1);
    assert!(report.not_checked[0].contains("blank nodes"));
}

#[test]
fn a_check_that_nobody_waits_for_stops() {
    let context = CallContext::default();
    context.cancellation.cancel();
    let schema = soml_core::load(SCHEMA).schema.expect("a schema");
    let store = store(FITTING);
    let input = CheckInput {
        schema: &schema,
        store: &store,
        statements: None,
        solutions: None,
        options: CheckOptions::default(),
    };
    let result = futures::executor::block_on(check(&input, &context));
    assert!(result.is_err());
}

#[test]
fn an_object_whose_instances_are_all_of_a_subclass_has_instances() {
    let loaded = soml_core::load(include_str!("../data/check/ni.yaml"));
    let schema = loaded.schema.expect("a schema");
    let store = store(include_str!("../data/check/ni.ttl"));
    let statements = store.snapshot();
    let input = CheckInput {
        schema: &schema,
        store: &store,
        statements: Some(statements.as_ref()),
        solutions: None,
        options: CheckOptions::default(),
    };
    let report = futures::executor::block_on(check(&input, &CallContext::new()));
    let report = report.expect("the store answers");
    let counts = report.objects.iter().map(|o| (o.name.as_str(), o.count));
    assert_eq!(Vec::from_iter(counts), [("Sup", 1), ("Sub", 1)]);
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

#[test]
fn an_object_of_several_types_counts_once_for_what_they_inherit_from() {
    let schema = "
        id: /soml/several
        specialPrefixes: {vocab_iri: 'http://v/', vocab_prefix: v}
        objects: {Top: {}, A: {inherits: Top}, B: {inherits: Top}, Empty: {inherits: Top}}";
    let schema = soml_core::load(schema).schema.expect("a schema");
    let store = store("<1> a :A, :B . <2> a :B . <3> a :Top .");
    let input = CheckInput {
        schema: &schema,
        store: &store,
        statements: None,
        solutions: None,
        options: CheckOptions {
            page: 1,
            batch: 1,
            ..CheckOptions::default()
        },
    };
    let report = futures::executor::block_on(check(&input, &CallContext::new()));
    let report = report.expect("the store answers");
    let counts = report.objects.iter().map(|o| (o.name.as_str(), o.count));
    let expected = [("Top", 3), ("A", 1), ("B", 2), ("Empty", 0)];
    assert_eq!(Vec::from_iter(counts), expected);
    let empty = report.findings.iter().map(|finding| finding.element());
    assert_eq!(Vec::from_iter(empty), [Some("Empty".to_owned())]);
}
