//! Whatever the classes and properties of some data are called, the document that is inferred is valid.

use std::collections::BTreeMap;
use std::sync::Arc;

use graph_store::image::ImageStore;
use graphql_gen::typesystem::{Api, ApiOptions, FederationMode};
use oxrdf::{GraphName, NamedNode, Quad};
use oxrdfio::RdfFormat;
use soml_data::infer::{InferOptions, Inferred};

use crate::images::{self, from_turtle};
use crate::infer::{answer, inferred_from};

/// Infers a document with some options, and checks that a service can be asked for everything about it.
fn valid_from(store: &ImageStore, options: &InferOptions) -> Inferred {
    let inferred = inferred_from(store, options);
    let loaded = soml_core::load(&inferred.yaml);
    assert!(
        loaded.diagnostics.is_empty(),
        "{:?}\n{}",
        loaded.diagnostics,
        inferred.yaml
    );
    let schema = Arc::new(loaded.schema.expect("no errors"));
    for mutations in [false, true] {
        for federation in [FederationMode::Off, FederationMode::V1, FederationMode::V2] {
            let options = ApiOptions::default()
                .with_mutations(mutations)
                .with_federation(federation);
            if let Err(error) = Api::new(Arc::clone(&schema), &options) {
                panic!("{error}\n{}", inferred.yaml);
            }
        }
    }
    inferred
}

fn yaml(data: &str) -> String {
    valid_from(&from_turtle(data), &InferOptions::default()).yaml
}

/// Returns the lines of an object of a document.
fn object<'y>(yaml: &'y str, name: &str) -> &'y str {
    let (_, rest) = yaml
        .split_once(&format!("\n  {name}:"))
        .unwrap_or_else(|| panic!("{name} in {yaml}"));
    let lines = rest.match_indices('\n');
    let mut ends = lines.filter(|(at, _)| !rest[at + 1..].starts_with("    "));
    &rest[..ends.next().map_or(rest.len(), |(at, _)| at)]
}

const CLASS_NAMES: &str = include_str!("../data/infer/class-names.nt");

#[test]
fn a_class_may_be_called_like_any_type_of_graphql_or_of_the_api() {
    let mut by_subject: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in CLASS_NAMES.lines() {
        let subject = line.split(' ').next().expect("a subject");
        by_subject.entry(subject).or_default().push(line);
    }
    assert_eq!(by_subject.len(), 53);
    for (subject, lines) in by_subject {
        let yaml = yaml(&lines.join("\n"));
        let name = subject.trim_end_matches('>').rsplit('/').next();
        let name = name.expect("a name");
        let iri = format!("http://ex.org/v#{name}");
        let loaded = soml_core::load(&yaml).schema.expect("no errors");
        assert_eq!(loaded.objects[0].types, [iri], "{yaml}");
        if loaded.objects[0].name.graphql != name {
            assert_eq!(loaded.objects[0].label.as_deref(), Some(name), "{yaml}");
        }
    }
}

#[test]
fn names_of_classes_that_are_generated_for_others_are_changed() {
    let yaml = yaml(CLASS_NAMES);
    for (name, changed) in [
        ("Boolean", "Boolean_"),
        ("Query", "Query_"),
        ("Object", "Object_"),
        ("Person_Where", "Person_Where_"),
        ("Person_Create_Input", "Person_Create_Input_"),
    ] {
        let object = object(&yaml, changed);
        assert!(
            object.contains(&format!("\n    label: {name}\n")),
            "{object}"
        );
        let ty = format!("\n    type: [\"http://ex.org/v#{name}\"]");
        assert!(object.contains(&ty), "{object}");
    }
    assert!(!object(&yaml, "Person").contains("type:"), "{yaml}");
}

#[tokio::test]
async fn real_classes_with_names_of_graphql_types_are_answered() {
    for (data, query, expected) in [
        (
            include_str!("../data/infer/dbpedia-like.nt"),
            "{ year_ { id } person { birthName { value } } }",
            serde_json::json!({
                "year_": [{"id": "http://dbpedia.org/resource/1999"}],
                "person": [{"birthName": {"value": "X"}}],
            }),
        ),
        (
            include_str!("../data/infer/bibframe-like.nt"),
            "{ object_ { title } }",
            serde_json::json!({"object_": [{"title": "A globe"}]}),
        ),
    ] {
        let body = answer(from_turtle(data), query).await;
        assert_eq!(body, serde_json::json!({"data": expected}));
    }
}

#[tokio::test]
async fn namespaces_that_are_only_a_scheme_are_written_in_full() {
    let data = include_str!("../data/infer/namespace-a.nt");
    let document = yaml(data);
    assert!(
        document.contains("title: {min: 1, rdfProp: \"<dc11:title>\"}"),
        "{document}"
    );
    let body = answer(from_turtle(data), "{ t { title } }").await;
    assert_eq!(body, serde_json::json!({"data": {"t": [{"title": "t"}]}}));

    let document = yaml(include_str!("../data/infer/namespace-b.nt"));
    assert!(
        object(&document, "T").contains("type: [\"urn:T\"]"),
        "{document}"
    );

    let data = include_str!("../data/infer/namespace-c.nt");
    let document = yaml(data);
    assert!(document.contains("rdfProp: \"urn:p\""), "{document}");
    let body = answer(from_turtle(data), "{ t { id p } }").await;
    let expected = serde_json::json!({"data": {"t": [{"id": "urn:a", "p": "t"}]}});
    assert_eq!(body, expected);

    let document = yaml(include_str!("../data/infer/urnprop.nt"));
    assert!(document.contains("rdfProp: \"urn:p\""), "{document}");
}

#[test]
fn properties_whose_names_collide_are_numbered_and_keep_their_iris() {
    for (data, properties) in [
        (include_str!("../data/infer/namespace-d.nt"), 20),
        (include_str!("../data/infer/typeprop.nt"), 5),
        (include_str!("../data/infer/case.nt"), 2),
        (include_str!("../data/infer/ns1.nt"), 2),
        (include_str!("../data/infer/twons.nt"), 2),
    ] {
        let options = InferOptions::default();
        let inferred = valid_from(&from_turtle(data), &options);
        let schema = soml_core::load(&inferred.yaml).schema.expect("no errors");
        let mut iris: Vec<&str> = schema.properties.iter().map(|p| p.path.iri()).collect();
        iris.sort_unstable();
        iris.dedup();
        let found: std::collections::BTreeSet<String> = from_turtle(data)
            .snapshot()
            .iter()
            .map(|quad| quad.predicate.into_string())
            .filter(|iri| !iri.ends_with("#type") || !iri.starts_with("http://www.w3.org/"))
            .collect();
        assert_eq!(iris, Vec::from_iter(&found), "{}", inferred.yaml);
        assert_eq!(iris.len(), properties, "{}", inferred.yaml);
    }
}

#[test]
fn classes_that_share_a_root_field_or_begin_with_underscores_are_kept_apart() {
    let yaml = yaml(include_str!("../data/infer/root.nt"));
    let schema = soml_core::load(&yaml).schema.expect("no errors");
    let mut types: Vec<&str> = schema.objects.iter().map(|o| o.types[0].as_str()).collect();
    types.sort_unstable();
    let of = |name: &str| format!("http://ex.org/v#{name}");
    assert_eq!(
        types,
        [of("Object_"), of("__type"), of("_service")],
        "{yaml}"
    );
}

/// Hundreds of names that GraphQL cannot tell apart, and names that numbering leads to.
#[test]
fn any_number_of_equal_names_gets_numbers() {
    let mut data = String::new();
    for (position, c) in ('\u{400}'..'\u{500}').enumerate() {
        data.push_str(&format!(
            "<http://r/{position}> a <http://v/Query{c}>, <http://v/Query_{position}> ;
                <http://v/p{c}> 1 ; <http://v/p_{position}> 2 ; <http://v/P_{position}> 2 .\n"
        ));
    }
    let inferred = valid_from(&from_turtle(&data), &InferOptions::default());
    assert_eq!(inferred.objects, 512);
}

#[test]
fn an_iri_that_no_document_can_have_is_left_out_with_a_comment() {
    let data = "<http://r/1> a <http://v/A> ; <http://v/p> 1 .";
    let mut quads = images::quads(RdfFormat::Turtle, data);
    let of = |subject: &str, predicate: &str, object: &str| Quad {
        subject: NamedNode::new_unchecked(subject).into(),
        predicate: NamedNode::new_unchecked(predicate),
        object: NamedNode::new_unchecked(object).into(),
        graph_name: GraphName::DefaultGraph,
    };
    let ty = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
    quads.extend([
        of("http://r/2", ty, "http://w/a^b"),
        of("http://r/1", "http://v/x|y", "http://r/2"),
        of("http://r/1", "http://v/x|y/z", "http://r/2"),
        of("http://r/a|b/3", ty, "http://v/B"),
        of("http://r/a|b/4", ty, "http://v/B"),
    ]);
    let yaml = valid_from(&images::of(&quads), &InferOptions::default()).yaml;
    for iri in ["http://w/a^b", "http://v/x|y", "http://v/x|y/z"] {
        let note = format!("# <{iri}> is left out: error[BAD_IRI]");
        assert!(yaml.contains(&note), "{yaml}");
    }
    assert!(yaml.contains("      p: {range: integer, min: 1}"), "{yaml}");
    assert!(yaml.contains("\n  B:  # 2 instances\n"), "{yaml}");
}

#[test]
fn prefixes_that_the_data_declare_are_used() {
    let data = "<http://r/1> a <http://v/A> ; <http://v/p> 1 ; <http://v/q> 2 ; <http://w/r> 3 ;
        <http://x/s> 4 ; <http://purl.org/dc/terms/title> 't' ; <http://y/t> 5 .";
    let prefixes = [
        ("", "http://w/"),
        ("ex", "http://v/"),
        ("w", "http://w/"),
        ("also-w", "http://w/"),
        ("http", "http://x/"),
        ("dcterms", "http://purl.org/dc/terms/"),
        ("ex", "http://y/"),
    ];
    let prefixes = prefixes.map(|(prefix, of)| (prefix.to_owned(), of.to_owned()));
    let options = InferOptions {
        prefixes: prefixes.to_vec(),
        ..InferOptions::default()
    };
    let yaml = valid_from(&from_turtle(data), &options).yaml;
    let head = "\
specialPrefixes:
  vocab_iri: \"http://v/\"
  vocab_prefix: ex
prefixes:
  dcterms: \"http://purl.org/dc/terms/\"
  w: \"http://w/\"
  ns3: \"http://x/\"
  ns4: \"http://y/\"
";
    assert!(yaml.contains(head), "{yaml}");
    assert!(yaml.contains("\"w:r\": "), "{yaml}");
}

const ONTOLOGY: &str = "
    @prefix : <http://v/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
    @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
    :Book a owl:Class ; rdfs:label 'Buch'@de, 'A book'@en ; rdfs:comment 'Printed.', 'Gedruckt.'@de ;
        skos:definition \"Something \\\"printed\\\",\\n  to read.\"@en .
    :Novel a rdfs:Class ; rdfs:subClassOf :Book, rdfs:Class ; rdfs:label 'Novel' .
    :title a owl:DatatypeProperty ; rdfs:label 'Title of a book' .
    :pages a rdf:Property .
";

#[test]
fn classes_of_ontologies_are_left_out_where_there_are_others_unless_asked_for() {
    let data = format!(
        "{ONTOLOGY} <http://r/1> a :Book ; :title 'A' ; :pages 1 .
         <http://r/2> a :Novel, owl:NamedIndividual ; :title 'B' ."
    );
    let options = InferOptions::default();
    let inferred = valid_from(&from_turtle(&data), &options);
    assert_eq!((inferred.objects, inferred.ontology_classes), (2, 5));
    let all = InferOptions {
        ontology_classes: true,
        ..InferOptions::default()
    };
    let inferred = valid_from(&from_turtle(&data), &all);
    assert_eq!((inferred.objects, inferred.ontology_classes), (7, 0));
    let inferred = valid_from(&from_turtle(ONTOLOGY), &options);
    assert_eq!((inferred.objects, inferred.ontology_classes), (4, 0));
}

#[test]
fn labels_and_definitions_of_classes_and_properties_are_taken_over() {
    let data = format!("{ONTOLOGY} <http://r/1> a :Book, :Novel ; :title 'A' ; :pages 1 .");
    let yaml = yaml(&data);
    assert!(
        yaml.contains("properties:\n  title: {label: \"Title of a book\"}\nobjects:\n"),
        "{yaml}"
    );
    let book = object(&yaml, "Book");
    assert!(book.contains("\n    label: \"A book\"\n"), "{yaml}");
    let definition = "\n    descr: \"Something \\\"printed\\\", to read.\"";
    assert!(book.contains(definition), "{yaml}");
    assert!(!object(&yaml, "Novel").contains("label"), "{yaml}");
    let schema = soml_core::load(&yaml).schema.expect("no errors");
    let title = schema.properties.iter().find(|p| p.name.graphql == "title");
    let title = title.expect("a property");
    assert_eq!(title.label.as_deref(), Some("Title of a book"));
}

#[test]
fn strings_with_characters_that_yaml_does_not_print_are_escaped() {
    let data = "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        <http://v/A> rdfs:label \"a\\u007F\\u0085\\u2028\\uFEFF\\u0001: #b\" .
        <http://r/1> a <http://v/A> .";
    let schema = soml_core::load(&yaml(data)).schema.expect("no errors");
    let label = schema.objects[0].label.as_deref();
    assert_eq!(label, Some("a\u{7f} \u{feff}\u{1}: #b"));
}

/// A document comes from any Turtle, also when the data are nothing but names.
#[test]
fn every_field_case_gives_a_valid_document() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/infer");
    let files = std::fs::read_dir(folder).expect("the folder is there");
    let mut count = 0;
    for file in files {
        let path = file.expect("a file").path();
        let data = std::fs::read_to_string(&path).expect("a text");
        let inferred = valid_from(&from_turtle(&data), &InferOptions::default());
        assert!(inferred.objects > 0, "{}", path.display());
        count += 1;
    }
    assert_eq!(count, 15);
}
