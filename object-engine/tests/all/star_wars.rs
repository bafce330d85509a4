//! The demo answers whole queries as documented, and its filters agree with SPARQL written by hand.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use graphql_service::{Request, RequestContext};
use object_engine::{ObjectService, ServiceOptions};
use oxigraph::sparql::{QueryResults, SparqlEvaluator};
use oxigraph::store::Store;
use oxrdf::Quad;
use oxrdfio::{RdfFormat, RdfParser};
use serde_json::Value;

use crate::fixture::{answer, json};
use crate::images;

struct Demo {
    service: ObjectService,
    /// The same data, which are asked in SPARQL.
    store: Store,
}

impl Demo {
    fn new(soml: &str, quads: &[Quad]) -> Self {
        let store = Store::new().expect("a store in memory");
        store
            .extend(quads.iter().cloned())
            .expect("a store in memory");
        let image = Arc::new(images::of(quads));
        Demo {
            service: crate::fixture::service(soml, image, ServiceOptions::default()),
            store,
        }
    }
}

fn demo() -> &'static Demo {
    static DEMO: OnceLock<Demo> = OnceLock::new();
    DEMO.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../servers/demo/star-wars");
        let soml = std::fs::read_to_string(folder.join("schema.yaml")).expect("the demo's schema");
        let data = std::fs::read(folder.join("data.ttl")).expect("the demo's data");
        Demo::new(&soml, &images::quads(RdfFormat::Turtle, data))
    })
}

/// The service over the same schema with the multilingual data, which has roles and locations.
fn multilingual() -> &'static Demo {
    static DEMO: OnceLock<Demo> = OnceLock::new();
    DEMO.get_or_init(|| {
        let servers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../servers");
        let soml = std::fs::read_to_string(servers.join("demo/star-wars/schema.yaml"));
        let soml = soml.expect("the demo's schema");
        let data = servers.join("tests/data/star-wars-multilingual/data.ttl.gz");
        let data = std::fs::File::open(data).expect("the data are there");
        let mut text = Vec::new();
        flate2::read::GzDecoder::new(data)
            .read_to_end(&mut text)
            .expect("the data are whole");
        // One tag of the file is longer than a tag may be.
        let parser = RdfParser::from_format(RdfFormat::Turtle).lenient();
        let quads: Result<Vec<Quad>, _> = parser.for_slice(&text).collect();
        Demo::new(&soml, &quads.expect("the data are Turtle"))
    })
}

#[test]
fn aliases_win_over_the_rdf_properties_of_global_entries() {
    // Each has an own `inverseAlias`, and a `rdfProp` and another range in the global entry.
    let fields = [
        ("character", "role", "FilmRole", "character", 50),
        ("film", "role", "FilmRole", "film", 50),
        ("person", "role", "FilmRole", "person", 50),
        ("country", "location", "Location", "country", 1),
        ("locationInterface", "film", "Film", "location", 1),
        ("locationInterface", "resident", "Person", "residentOf", 1),
    ];
    let demo = multilingual();
    for (root, field, class, stored, least) in fields {
        let query = format!("{{ {root} {{ id {field} {{ id }} }} }}");
        let context = RequestContext::default();
        let mut answered = json(&answer(&demo.service, Request::new(query), context));
        assert_eq!(answered.get("errors"), None, "{root}.{field}");
        let objects = answered["data"][root].take();
        let objects = objects.as_array().expect("a list");
        let id = |object: &Value| object["id"].as_str().expect("an id").to_owned();
        let mut found = BTreeSet::new();
        for object in objects {
            let values = object[field].as_array().expect("a list, not null");
            found.extend(values.iter().map(|value| (id(object), id(value))));
        }
        let roots: BTreeSet<String> = objects.iter().map(id).collect();
        let linked = select(
            &demo.store,
            &format!("SELECT ?o ?s {{ ?s a voc:{class} ; voc:{stored} ?o }}"),
        );
        let mut linked: BTreeSet<(String, String)> = linked
            .into_iter()
            .map(|row| (row[0].clone(), row[1].clone()))
            .collect();
        linked.retain(|(object, _)| roots.contains(object));
        assert_eq!(found, linked, "{root}.{field}");
        assert!(found.len() >= least, "{root}.{field}: {}", found.len());
    }
}

fn body(query: &str) -> String {
    let body = answer(
        &demo().service,
        Request::new(query),
        RequestContext::default(),
    );
    String::from_utf8(body).expect("an answer is UTF-8")
}

/// Returns `data` of an answer that must be free of errors.
fn data(query: &str) -> Value {
    let mut answer = json(body(query).as_bytes());
    assert_eq!(answer.get("errors"), None, "{query}");
    answer["data"].take()
}

/// Returns the ids under a root field.
fn ids(query: &str) -> Vec<String> {
    let data = data(query);
    let (_, list) = data
        .as_object()
        .and_then(|fields| fields.iter().next())
        .expect("a root field");
    let id = |object: &Value| object["id"].as_str().expect("an id").to_owned();
    list.as_array()
        .expect("a root field is a list")
        .iter()
        .map(id)
        .collect()
}

/// Runs a `SELECT` with one column over the same data.
fn sparql(query: &str) -> Vec<String> {
    let rows = select(&demo().store, query).into_iter();
    rows.map(|mut row| row.swap_remove(0)).collect()
}

/// Runs a `SELECT`; the rows have the texts of the terms.
fn select(store: &Store, query: &str) -> Vec<Vec<String>> {
    let query = format!(
        "PREFIX voc: <https://swapi.co/vocabulary/>
         PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
         PREFIX r: <https://swapi.co/resource/>
         {query}"
    );
    let results = SparqlEvaluator::new()
        .parse_query(&query)
        .expect("valid SPARQL")
        .on_store(store)
        .execute();
    let Ok(QueryResults::Solutions(solutions)) = results else {
        panic!("not a SELECT: {query}");
    };
    let text = |term: &oxrdf::Term| match term {
        oxrdf::Term::NamedNode(node) => node.as_str().to_owned(),
        oxrdf::Term::Literal(literal) => literal.value().to_owned(),
        other => panic!("unexpected {other}"),
    };
    solutions
        .map(|solution| {
            let solution = solution.expect("a solution");
            solution.iter().map(|(_, term)| text(term)).collect()
        })
        .collect()
}

/// Checks that a root field with a filter lists exactly the objects of a SPARQL query, of which
/// there are at least `least`, and that the filter leaves some object out.
#[track_caller]
fn agree(field: &str, filter: &str, select: &str, least: usize) {
    let found = ids(&format!("{{ {field}(where: {{{filter}}}) {{ id }} }}"));
    let expected: BTreeSet<_> = sparql(select).into_iter().collect();
    let distinct: BTreeSet<_> = found.iter().cloned().collect();
    assert_eq!(found.len(), distinct.len(), "an object occurs twice");
    assert_eq!(distinct, expected, "{field}(where: {{{filter}}})");
    assert!(expected.len() >= least, "only {} objects", expected.len());
    let all = ids(&format!("{{ {field} {{ id }} }}"));
    assert!(expected.len() < all.len(), "the filter leaves nothing out");
}

#[test]
fn a_starship_is_found_by_its_iri() {
    assert_eq!(
        body(r#"{ starship(ID: "https://swapi.co/resource/starship/9") { name } }"#),
        r#"{"data":{"starship":[{"name":"Death Star"}]}}"#
    );
}

#[test]
fn a_planet_is_found_by_its_iri() {
    assert_eq!(
        body(r#"{ planet(ID: "https://swapi.co/resource/planet/1") { name } }"#),
        r#"{"data":{"planet":[{"name":"Tatooine"}]}}"#
    );
}

#[test]
fn a_page_of_all_objects_is_full() {
    let data = data("{ object(limit: 100) { id __typename } }");
    let objects = data["object"].as_array().expect("a list");
    assert_eq!(objects.len(), 100);
    let ids: Vec<_> = objects.iter().map(|o| o["id"].as_str()).collect();
    assert!(ids.is_sorted(), "a page without `orderBy` is ordered by id");
    let distinct: BTreeSet<_> = ids.iter().collect();
    assert_eq!(distinct.len(), 100, "each object occurs once");
    for object in objects {
        let name = object["__typename"].as_str().expect("a type name");
        assert_ne!(name, "Object", "the type name is that of a concrete type");
    }
}

#[test]
fn nested_lists_are_ordered_and_cut_per_parent() {
    let data = data(
        "{ film { name character(orderBy: {name: ASC}, limit: 3) {
             name ... on Droid { id } homeworld { name } } } }",
    );
    let films = data["film"].as_array().expect("a list");
    assert_eq!(films.len(), sparql("SELECT ?f { ?f a voc:Film }").len());
    for film in films {
        let title = film["name"].as_str().expect("films have names");
        let expected = sparql(&format!(
            "SELECT ?name {{ ?film a voc:Film; rdfs:label \"{title}\"; voc:character ?c .
                             ?c a voc:Character; rdfs:label ?name }}"
        ));
        let characters = film["character"].as_array().expect("a list");
        assert_eq!(characters.len(), expected.len().min(3), "{title}");
        let names: Vec<_> = characters
            .iter()
            .map(|c| c["name"].as_str().expect("characters have names"))
            .collect();
        let mut expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        expected.sort_unstable();
        expected.truncate(3);
        assert_eq!(names, expected, "{title}");
        for character in characters {
            let is_droid = !sparql(&format!(
                "SELECT ?c {{ ?c a voc:Droid; rdfs:label {} }}",
                character["name"]
            ))
            .is_empty();
            let has_id = character.get("id").is_some();
            assert_eq!(has_id, is_droid, "only droids show their id: {character}");
        }
    }
}

#[test]
fn eq_finds_the_equal_text() {
    agree(
        "planet",
        r#"climate: {EQ: "arid"}"#,
        r#"SELECT ?p { ?p a voc:Planet; voc:climate "arid" }"#,
        2,
    );
}

#[test]
fn eq_compares_numbers_by_value_across_datatypes() {
    agree(
        "starship",
        r#"length: {EQ: "9.2"}"#,
        r#"SELECT ?s { ?s a voc:Starship; voc:length ?l FILTER(STR(?l) = "9.2") }"#,
        1,
    );
    agree(
        "human",
        r#"height: {EQ: "188.0"}"#,
        "SELECT ?h { ?h a voc:Human; voc:height ?l FILTER(?l = 188) }",
        2,
    );
}

#[test]
fn in_finds_any_of_the_listed() {
    agree(
        "film",
        r#"episodeId: {IN: ["1", 3, 5]}"#,
        "SELECT ?f { ?f a voc:Film; voc:episodeId ?e FILTER(?e IN (1, 3, 5)) }",
        3,
    );
    agree(
        "human",
        r#"eyeColor: {IN: ["blue", "hazel"]}"#,
        r#"SELECT ?h { ?h a voc:Human; voc:eyeColor ?c FILTER(?c IN ("blue", "hazel")) }"#,
        3,
    );
}

#[test]
fn ire_matches_without_regard_to_case() {
    agree(
        "planet",
        r#"name: {IRE: "^t"}"#,
        r#"SELECT ?p { ?p a voc:Planet; rdfs:label ?n FILTER(REGEX(STR(?n), "^t", "i")) }"#,
        2,
    );
    agree(
        "vehicle",
        r#"manufacturer: {IRE: "KUAT.*yards"}"#,
        r#"SELECT ?v { ?v a voc:Vehicle; voc:manufacturer ?m
                       FILTER(REGEX(?m, "kuat.*yards", "i")) }"#,
        2,
    );
}

#[test]
fn gt_compares_numbers() {
    agree(
        "planet",
        r#"diameter: {GT: "12000"}"#,
        "SELECT ?p { ?p a voc:Planet; voc:diameter ?d FILTER(?d > 12000) }",
        5,
    );
    agree(
        "starship",
        r#"hyperdriveRating: {GT: 1.5}"#,
        "SELECT ?s { ?s a voc:Starship; voc:hyperdriveRating ?r FILTER(?r > 1.5) }",
        5,
    );
    agree(
        "human",
        r#"height: {GT: 180, LTE: "190.0"}"#,
        "SELECT ?h { ?h a voc:Human; voc:height ?l FILTER(?l > 180 && ?l <= 190) }",
        3,
    );
}

#[test]
fn keys_beside_each_other_must_all_hold() {
    agree(
        "planet",
        r#"diameter: {GT: 10000}, population: {LT: 100000000}"#,
        "SELECT ?p { ?p a voc:Planet; voc:diameter ?d; voc:population ?n
                     FILTER(?d > 10000 && ?n < 100000000) }",
        2,
    );
    agree(
        "planet",
        r#"AND: [{diameter: {GT: 10000}}, {climate: {RE: "temperate"}}]"#,
        r#"SELECT ?p { ?p a voc:Planet; voc:diameter ?d; voc:climate ?c
                       FILTER(?d > 10000 && REGEX(?c, "temperate")) }"#,
        2,
    );
}

#[test]
fn or_takes_either() {
    agree(
        "planet",
        r#"OR: [{diameter: {GT: 100000}}, {name: {EQ: "Tatooine"}}]"#,
        r#"SELECT DISTINCT ?p { ?p a voc:Planet
             { ?p voc:diameter ?d FILTER(?d > 100000) } UNION { ?p rdfs:label "Tatooine" } }"#,
        2,
    );
}

#[test]
fn not_takes_objects_without_the_value_too() {
    agree(
        "planet",
        r#"NOT: {climate: {RE: "temperate"}}"#,
        r#"SELECT ?p { ?p a voc:Planet
             FILTER NOT EXISTS { ?p voc:climate ?c FILTER(REGEX(?c, "temperate")) } }"#,
        5,
    );
    agree(
        "planet",
        "NOT: {population: {}}",
        "SELECT ?p { ?p a voc:Planet FILTER NOT EXISTS { ?p voc:population ?n } }",
        2,
    );
}

#[test]
fn and_or_not_combine() {
    agree(
        "human",
        r#"OR: [{AND: [{gender: {EQ: "female"}}, {NOT: {homeworld: {name: {EQ: "Naboo"}}}}]},
                {height: {GT: 195}}]"#,
        r#"SELECT DISTINCT ?h { ?h a voc:Human
             { ?h voc:gender "female"
               FILTER NOT EXISTS { ?h voc:homeworld/rdfs:label "Naboo" } }
             UNION { ?h voc:height ?l FILTER(?l > 195) } }"#,
        3,
    );
}

#[test]
fn conditions_reach_nested_objects() {
    agree(
        "character",
        r#"homeworld: {name: {EQ: "Tatooine"}}"#,
        r#"SELECT ?c { ?c a voc:Character; voc:homeworld [ rdfs:label "Tatooine" ] }"#,
        3,
    );
    agree(
        "starship",
        r#"pilot: {height: {LT: 175}, homeworld: {climate: {EQ: "temperate"}}}"#,
        r#"SELECT DISTINCT ?s { ?s a voc:Starship; voc:pilot ?p . ?p voc:height ?h;
             voc:homeworld [ voc:climate "temperate" ] FILTER(?h < 175) }"#,
        1,
    );
}

#[test]
fn conditions_on_species_look_at_the_types_that_are_species() {
    agree(
        "character",
        r#"species: {language: {EQ: "Galactic Basic"}}"#,
        r#"SELECT DISTINCT ?c { ?c a voc:Character, ?s . ?s a voc:Species;
             voc:language "Galactic Basic" }"#,
        5,
    );
}

#[test]
fn all_asks_of_every_value() {
    agree(
        "planet",
        r#"film: {ALL_EXISTS: {episodeId: {LTE: 3}}}"#,
        "SELECT ?p { ?p a voc:Planet FILTER EXISTS { ?p voc:film ?any }
           FILTER NOT EXISTS { ?p voc:film ?f
             FILTER NOT EXISTS { ?f voc:episodeId ?e FILTER(?e <= 3) } } }",
        2,
    );
}
