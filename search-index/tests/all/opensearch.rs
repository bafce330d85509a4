//! What a real server says to definitions, documents and searches.
//!
//! `OPENSEARCH_URL` names a server of one node, version 2 or 3.

#[cfg(feature = "embedded")]
mod analyzers;
mod engine;
mod fake;
mod faults;
mod indexing;
mod schemas;

use std::sync::atomic::{AtomicU64, Ordering};

use oxrdf::{Literal, NamedNode, Term};
use search_index::document::{Document, FieldValues, ObjectValues};
use search_index::dsl::Search;
use search_index::mapping::{Dialect, Indexes, MappingOptions, Owner};
use serde_json::{Value, json};

use crate::schema;
use crate::searches::{API, SKY, search};

/// An index of planets on the server, which is gone when the test ends.
struct Server {
    index: String,
}

impl Server {
    fn with_planets() -> Server {
        // Downwards, since an indexer takes the number behind the greatest.
        static NEXT: AtomicU64 = AtomicU64::new(1_000);
        let address = address();
        let definition = API.indexes().named("Planet").expect("planets are indexed");
        let server = Server {
            index: format!(
                "{}/{}",
                address.trim_end_matches('/'),
                definition.physical(NEXT.fetch_sub(1, Ordering::Relaxed))
            ),
        };
        let _ = ureq::delete(&server.index).call();
        let body = definition.body(dialect(&address), &Owner::new("test"));
        server.send("", "PUT", body.to_string());
        let schema = schema(SKY);
        let mut lines = Vec::new();
        for at in 1..=3 {
            let document = planet(&schema, at);
            lines.extend(format!("{{\"index\":{{\"_id\":{:?}}}}}\n", document.id).into_bytes());
            lines.extend(document.source);
            lines.push(b'\n');
        }
        let lines = String::from_utf8(lines).expect("JSON is UTF-8");
        let answer = server.send("/_bulk?refresh=true", "POST", lines);
        assert_eq!(answer["errors"], false, "{answer}");
        server
    }

    fn send(&self, path: &str, method: &str, body: String) -> Value {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .build()
            .into();
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.index))
            .header("content-type", "application/json")
            .body(body.clone())
            .expect("a request");
        let mut answer = agent.run(request).expect("an answer");
        let text = answer.body_mut().read_to_string().expect("text");
        let head: String = body.chars().take(500).collect();
        assert!(answer.status().is_success(), "{path} {head}: {text}");
        serde_json::from_str(&text).expect("JSON")
    }

    fn search(&self, search: &Search) -> Value {
        let body = String::from_utf8(search.to_bytes()).expect("JSON is UTF-8");
        self.send("/_search", "POST", body)
    }

    /// Returns the ids of the planets that a clause matches, by their number.
    fn hits(&self, query: &str) -> Vec<String> {
        let operation = format!(
            "{{ planet_search(query: {{{query}}}, sort: {{id: {{}}}}) {{ hits {{ id }} }} }}"
        );
        let answer =
            self.search(&search(&operation).unwrap_or_else(|codes| panic!("{query}: {codes:?}")));
        let hits = answer["hits"]["hits"].as_array().expect("hits");
        let id = |hit: &Value| {
            hit["_source"]["id"]
                .as_str()
                .expect("an id")
                .replace("http://e/", "")
        };
        hits.iter().map(id).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = ureq::delete(&self.index).call();
    }
}

/// Returns the address of the server.
fn address() -> String {
    std::env::var("OPENSEARCH_URL").expect("OPENSEARCH_URL names the server")
}

fn dialect(address: &str) -> Dialect {
    let mut answer = ureq::get(address).call().expect("an answer");
    let text = answer.body_mut().read_to_string().expect("text");
    let root: Value = serde_json::from_str(&text).expect("JSON");
    match root["version"]["number"].as_str() {
        Some(number) if number.starts_with("2.") => Dialect::OpenSearch2,
        _ => Dialect::OpenSearch3,
    }
}

/// Writes the document of the planet of a number from 1 to 3. The third has no values.
fn planet(schema: &search_index::soml_core::schema::Schema, at: i32) -> Document {
    let indexes = Indexes::new(schema, &MappingOptions::default()).expect("searchable");
    let definition = indexes.named("Planet").expect("planets");
    let typed = |text: String, datatype: &str| -> Term {
        let iri = format!("http://www.w3.org/2001/XMLSchema#{datatype}");
        Literal::new_typed_literal(text, NamedNode::new_unchecked(iri)).into()
    };
    let titles = ["Tatooine", "Alderaan"];
    let values = |name: &str| -> Vec<Term> {
        let Some(title) = titles.get(at as usize - 1) else {
            return Vec::new();
        };
        vec![match name {
            "title" => Literal::new_simple_literal(*title).into(),
            "label" => Literal::new_language_tagged_literal_unchecked(*title, "en-US").into(),
            "diameter" => typed(format!("{}", 1_000 * at), "int"),
            "mass" => typed(format!("{at}00000000000000000000000000.5"), "decimal"),
            "heat" => typed(format!("{at}.5"), "double"),
            "moon" => typed((at == 1).to_string(), "boolean"),
            "seen" => typed(format!("-000{at}-01-01T00:00:00Z"), "dateTime"),
            "rises" => typed(format!("0{at}:00:00Z"), "time"),
            "tiny" => typed(at.to_string(), "byte"),
            "huge" => typed("18446744073709551615".to_owned(), "unsignedLong"),
            _ => return Vec::new(),
        }]
    };
    let terms: Vec<_> = definition
        .fields
        .fields
        .keys()
        .map(|name| values(name))
        .collect();
    let (alias, height) = (
        [Literal::new_simple_literal("Luke").into()],
        [typed(format!("{at}"), "double")],
    );
    let iri = format!("http://e/{at}");
    let person = || ObjectValues {
        iri: "http://e/luke",
        types: vec!["http://e/Person"],
        fields: vec![
            FieldValues::Terms(&alias),
            FieldValues::Terms(&height),
            FieldValues::objects(Vec::new()),
        ],
        facts: None,
    };
    let fields = definition
        .fields
        .fields
        .iter()
        .zip(&terms)
        .map(|((_, field), terms)| match (field.leaf(), at) {
            (Some(_), _) => FieldValues::Terms(terms),
            (None, 1 | 2) => FieldValues::objects(vec![person()]),
            (None, _) => FieldValues::objects(Vec::new()),
        });
    let object = ObjectValues {
        iri: &iri,
        types: vec!["http://e/Planet"],
        fields: fields.collect(),
        facts: None,
    };
    let document = Document::of(schema, definition, &object);
    assert_eq!(document.malformed, []);
    document
}

#[test]
#[ignore = "needs an OpenSearch server named by OPENSEARCH_URL"]
fn a_server_takes_definitions_documents_and_searches() {
    let server = Server::with_planets();
    let cases: &[(&str, &[&str])] = &[
        ("match_all: {}", &["1", "2", "3"]),
        ("match_none: {}", &[]),
        (
            r#"match: {title: {query: "tatoine", fuzziness: "AUTO", max_expansions: 10, prefix_length: 1}}"#,
            &["1"],
        ),
        (r#"match: {label: {query: "alderaan", lang: "en"}}"#, &["2"]),
        (r#"match: {label: {query: "alderaan"}}"#, &["2"]),
        (
            r#"match: {title: {query: "a", zero_terms_query: ALL, operator: AND, lenient: true, minimum_should_match: "2<75%"}}"#,
            &[],
        ),
        (r#"match: {tiny: {query: "2", lenient: true}}"#, &["2"]),
        (
            r#"term: {title_keyword: {value: "TATOOINE", case_insensitive: true}}"#,
            &["1"],
        ),
        (r#"term: {title: {value: "Tatooine"}}"#, &[]),
        (
            r#"term: {huge: {value: "18446744073709551615"}}"#,
            &["1", "2"],
        ),
        (
            r#"term: {mass: {value: "100000000000000000000000000.5"}}"#,
            &["1"],
        ),
        (
            r#"range: {mass: {gt: "100000000000000000000000000.4", lt: "100000000000000000000000000.6"}}"#,
            &["1"],
        ),
        ("range: {mass: {gt: -1}}", &["1", "2"]),
        (r#"range: {heat: {gte: 1.5, lt: "2.5"}}"#, &["1"]),
        (r#"range: {seen: {lt: "-0001-01-01T00:00:00Z"}}"#, &["2"]),
        ("terms: {tiny: {values: [1, 3, 300]}}", &["1"]),
        ("exists: {field: mass}", &["1", "2"]),
        ("exists: {field: label}", &["1", "2"]),
        ("exists: {field: people__height}", &["1", "2"]),
        (r#"ids: {values: ["http://e/3"]}"#, &["3"]),
        (r#"prefix: {title: {value: "ta"}}"#, &["1"]),
        (
            r#"prefix: {title_keyword: {value: "al", case_insensitive: true}}"#,
            &["2"],
        ),
        (
            "constant_score: {filter: {term: {moon: {value: true}}}}",
            &["1"],
        ),
        (
            "dis_max: {queries: [{term: {tiny: {value: 1}}}, {term: {tiny: {value: 2}}}], tie_breaker: 0.3}",
            &["1", "2"],
        ),
        ("bool: {must_not: {exists: {field: title}}}", &["3"]),
        ("range: {people: {height: {gt: 1}}}", &["2"]),
        (r#"match: {ruler: {alias: {query: "luke"}}}"#, &["1", "2"]),
        (
            r#"nested: {people: {score_mode: MAX, query: {bool: {must: [{term: {alias: {value: "luke"}}}, {range: {height: {lt: 2}}}]}}}}"#,
            &["1"],
        ),
    ];
    for (query, expected) in cases {
        assert_eq!(server.hits(query), *expected, "{query}");
    }
}

#[test]
#[ignore = "needs an OpenSearch server named by OPENSEARCH_URL"]
fn pages_go_on_behind_keywords_and_scores_of_a_hit() {
    let server = Server::with_planets();
    for sort in [
        "{title: {}}",
        "{title: {order: DESC, missing: _first}}",
        "{mass: {order: DESC}}",
        "{rises: {missing: _first}}",
        "{label: {}}",
        "{_score: {}}",
    ] {
        let mut seen = Vec::new();
        let mut after = String::new();
        for _ in 0..3 {
            let operation = format!(
                "{{ planet_search(size: 1, sort: {sort}{after}) {{ hits {{ id sort }} }} }}"
            );
            let answer = server.search(
                &search(&operation).unwrap_or_else(|codes| panic!("{operation}: {codes:?}")),
            );
            let hit = &answer["hits"]["hits"][0];
            seen.push(hit["_source"]["id"].as_str().expect("an id").to_owned());
            let keys = hit["sort"]
                .as_array()
                .expect("keys")
                .iter()
                .map(|key| match key {
                    Value::Null => "null".to_owned(),
                    Value::String(text) => format!("{text:?}"),
                    number => format!("\"{number}\""),
                });
            after = format!(", search_after: [{}]", keys.collect::<Vec<_>>().join(", "));
        }
        seen.sort();
        assert_eq!(seen, ["http://e/1", "http://e/2", "http://e/3"], "{sort}");
    }
}

#[test]
#[ignore = "needs an OpenSearch server named by OPENSEARCH_URL"]
fn aggregations_and_scores_are_those_of_the_rules() {
    let server = Server::with_planets();
    let operation = r#"{ planet_search(size: 0, aggregations: [{name: "t", terms: {field: title, missing: "none"}},
        {name: "m", terms: {field: mass, order: KEY_DESC}}, {name: "k", terms: {field: people__alias}}]) { hits { id } } }"#;
    let found = server.search(&search(operation).expect("valid"));
    let keys = |buckets: &Value| -> Vec<String> {
        let buckets = buckets["buckets"].as_array().expect("buckets");
        buckets
            .iter()
            .map(|bucket| bucket["key"].as_str().expect("a key").to_owned())
            .collect()
    };
    let all = &found["aggregations"];
    assert_eq!(keys(&all["t"]), ["Alderaan", "Tatooine", "none"]);
    assert_eq!(
        all["k"]["k"]["buckets"],
        json!([{"key": "Luke", "doc_count": 2, "$roots": {"doc_count": 2}}])
    );
    let masses: Vec<_> = keys(&all["m"])
        .iter()
        .map(|key| {
            graph_store::value::ExactKey::from_engine(key)
                .expect("a key")
                .to_number()
        })
        .collect();
    assert_eq!(
        masses,
        [
            "200000000000000000000000000.5",
            "100000000000000000000000000.5"
        ]
    );
    let score = |query: &str| {
        let operation =
            format!("{{ planet_search(query: {{{query}}}) {{ max_score hits {{ id }} }} }}");
        server.search(&search(&operation).expect("valid"))["hits"]["max_score"].as_f64()
    };
    assert_eq!(score("match_all: {}"), Some(1.0));
    assert_eq!(
        score(r#"term: {mass: {value: "100000000000000000000000000.5", boost: 4}}"#),
        Some(4.0)
    );
    let plain = score(r#"match: {title: {query: "tatooine"}}"#).expect("a score");
    let boosted = score(r#"match: {title: {query: "tatooine", boost: 4.0}}"#).expect("a score");
    assert!((boosted / plain - 4.0).abs() < 1e-3, "{plain} {boosted}");
}
