//! What is inferred of a property is what the API shows of it, and what `check` asks of the same data.

use graph_store::CallContext;
use soml_data::check::{CheckCode, CheckInput, CheckOptions, CheckSeverity, check};
use soml_data::infer::InferOptions;

use crate::images::from_turtle;
use crate::infer::inferred_from;

/// Infers a document from data, and checks the same data against it.
fn checked(data: &str) -> (String, Vec<String>) {
    let store = from_turtle(data);
    let options = InferOptions::default();
    let inferred = inferred_from(&store, &options);
    let schema = soml_core::load(&inferred.yaml).schema.expect("no errors");
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
    for object in &report.objects {
        let plural = if object.count == 1 { "" } else { "s" };
        let line = format!("{}:  # {} instance{plural}\n", object.name, object.count);
        let quoted = line.replacen(&object.name, &format!("\"{}\"", object.name), 1);
        let yaml = &inferred.yaml;
        assert!(
            yaml.contains(&line) || yaml.contains(&quoted),
            "{line}{yaml}"
        );
    }
    let findings = report.findings.iter();
    let told = findings
        .filter(|finding| finding.severity == CheckSeverity::Error)
        .map(|finding| format!("{} {:?}", finding.code.as_str(), finding.element()))
        .collect();
    (inferred.yaml, told)
}

#[test]
fn malformed_literals_make_nothing_mandatory() {
    let (yaml, _) = checked(
        "<http://e/a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://v/T> .
         <http://e/a> <http://v/number> \"abc\"^^<http://www.w3.org/2001/XMLSchema#integer> .
         <http://e/a> <http://v/d> \" 2025-07-23 \"^^<http://www.w3.org/2001/XMLSchema#date> .",
    );
    assert!(yaml.contains("      number: {range: integer}"), "{yaml}");
    assert!(yaml.contains("      d: {range: date, min: 1}"), "{yaml}");
}

#[test]
fn blank_nodes_give_no_property_and_a_comment() {
    let (yaml, errors) = checked(include_str!("../data/infer/min-blank.nt"));
    let comment = "    # <http://ex.org/v#part> is left out: 1 value of 1 instance, only blank nodes, \
                   which are not shown\n";
    assert!(yaml.contains(comment), "{yaml}");
    assert!(!yaml.contains("part: {"), "{yaml}");
    assert!(yaml.contains("      p: {min: 1}"), "{yaml}");
    assert_eq!(errors, [""; 0]);
}

#[test]
fn a_class_with_nothing_but_blank_nodes_has_no_properties() {
    let (yaml, _) = checked("<http://r/1> a <http://v/A> ; <http://v/p> [], [] .");
    assert!(!yaml.contains("props:"), "{yaml}");
    assert!(
        yaml.contains("2 values of 1 instance, only blank nodes"),
        "{yaml}"
    );
}

#[test]
fn a_minimum_needs_a_value_of_each_instance_that_the_api_shows() {
    let (yaml, errors) = checked(
        "@prefix : <http://v/> .
         <http://r/1> a :A ; :some [] ; :texts 'a', 'b' ; :links <http://r/2>, 'x' ; :part [], <http://r/2> .
         <http://r/2> a :A ; :some 'c' ; :texts 'a', <http://r/1> ; :links <http://r/1> ; :part <http://r/2> .",
    );
    for line in [
        "      some: {}  # 2 values of 2 instances; blank nodes 1 (not shown), xsd:string 1",
        "      texts: {min: 1, max: inf}  # 4 values of 2 instances; objects 1, xsd:string 3",
        "      links: {range: A, min: 1}  # 3 values of 2 instances; objects 2, xsd:string 1",
        "      part: {range: A, min: 1}  # 3 values of 2 instances; objects 2, blank nodes 1 (not shown)",
    ] {
        assert!(yaml.contains(line), "{line}\n{yaml}");
    }
    let counted = |code: CheckCode| {
        errors
            .iter()
            .filter(|e| e.starts_with(code.as_str()))
            .count()
    };
    assert_eq!(counted(CheckCode::TooFewValues), 0, "{errors:?}");
}

#[test]
fn data_conform_to_the_schema_inferred_from_them() {
    let data = include_str!("../../../servers/demo/star-wars/data.ttl");
    let (_, errors) = checked(data);
    assert!(!errors.iter().any(|e| e.starts_with("TOO_")), "{errors:?}");
    let (yaml, errors) = checked(include_str!("../data/infer/typed-blank-nodes.ttl"));
    assert!(
        !errors.iter().any(|e| e.starts_with("TOO_")),
        "{errors:?}\n{yaml}"
    );
}

#[test]
fn instances_of_subclasses_count_in_both() {
    checked(
        "@prefix : <http://v/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
         :Sub rdfs:subClassOf :Sup . :Other rdfs:subClassOf :Sup .
         <http://r/1> a :Sup, :Sub ; :n 'x' . <http://r/2> a :Sub, :Other . <http://r/3> a :Sup .",
    );
}
