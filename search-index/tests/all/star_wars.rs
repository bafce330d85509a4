//! The whole way, from data to answers, on each engine: the Star Wars data in all languages.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use graph_store::image::ImageStore;
use oxrdfio::{RdfFormat, RdfParser};
use search_index::embedded::EmbeddedEngine;
use search_index::engine::{Binding, BulkOperation, PhysicalName, SearchEngine};
use search_index::graph_store::{self, CallContext};
use search_index::graphql_service::{Request, RequestContext, Service};
use search_index::mapping::Owner;
use search_index::opensearch::{OpenSearch, OpenSearchOptions};
use search_index::read::DocumentReader;
use search_index::sdl::SearchApi;
use search_index::service::{SearchService, SearchServiceOptions, SearchTarget};
use serde_json::{Value, json};

use crate::{images, indexes, schema};

const SOML: &str = "
id: /soml/swapi
prefixes: {rdfs: 'http://www.w3.org/2000/01/rdf-schema#'}
specialPrefixes:
  base_iri: https://swapi.co/resource/
  vocab_iri: https://swapi.co/vocabulary/
  vocab_prefix: voc
objects:
  Planet:
    name: rdfs:label
    search: {index: yes, analysis: {lang: {en: {analyzer: english}}}}
    props:
      rdfs:label: {range: stringOrLangString, max: inf}
      climate: {max: inf}
      diameter: {range: integer}
      resident: {range: Character, max: inf}
  Character:
    search: {index: yes, analysis: {lang: {en: {analyzer: english}}}}
    props:
      rdfs:label: {range: stringOrLangString, max: inf}
      height: {range: double, typeCast: yes}
      homeworld: {range: Planet}
  Film:
    search: {index: yes, analysis: {lang: {en: {analyzer: english}, ru: {analyzer: russian}}}}
    props:
      rdfs:label: {range: stringOrLangString, max: inf}
      releaseDate: {range: date}
";

fn store() -> ImageStore {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../servers/tests/data/star-wars-multilingual/data.ttl.gz");
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(std::fs::File::open(file).expect("the file"))
        .read_to_end(&mut text)
        .expect("the data");
    let parser = RdfParser::from_format(RdfFormat::Turtle).lenient();
    let quads: Vec<_> = parser.for_slice(&text).filter_map(Result::ok).collect();
    images::of(&quads)
}

/// Writes all objects to an engine, and serves them.
async fn served(engine: Arc<dyn SearchEngine>, number: u64) -> SearchService {
    let (schema, store, context) = (Arc::new(schema(SOML)), store(), CallContext::new());
    let indexes = indexes(SOML).expect("the schema can be searched");
    let mut targets = Vec::new();
    for definition in &indexes.indexes {
        let name = PhysicalName::new(definition, number);
        let index = Binding {
            definition,
            name: &name,
        };
        engine.delete(&name, &context).await.expect("deleted");
        let owner = Owner::new("references");
        let created = engine.create(index, &owner, &context).await;
        created.expect("created");
        let reader = DocumentReader::new(&schema, definition, &store);
        let ids = reader.ids(&context).await.expect("ids");
        for page in ids.chunks(50) {
            let documents = reader.documents(page, &context).await.expect("documents");
            let rejected = engine
                .bulk(index, &BulkOperation::all(documents), 0, &context)
                .await;
            assert_eq!(rejected.expect("written"), []);
        }
        engine.refresh(&name, &context).await.expect("refreshed");
        let count = engine.count(&name, &context).await.expect("counted");
        assert_eq!(count, ids.len() as u64);
        targets.push(SearchTarget::Ready(name));
    }
    let api = SearchApi::new(schema, indexes).expect("the API is valid");
    SearchService::new(api, engine, targets, SearchServiceOptions::default())
}

async fn answer(service: &SearchService, query: &str) -> Value {
    let response = service.respond(Request::new(query), RequestContext::new());
    let body = response.await.body.to_bytes();
    let answer: Value = serde_json::from_slice(&body).expect("JSON");
    assert!(answer.get("errors").is_none(), "{query}: {answer:#}");
    answer["data"].clone()
}

/// What the references show, one after the other.
async fn behaves_as_the_references_show(service: &SearchService) {
    let ask = |query: &'static str| answer(service, query);

    let all = ask(
        "{ planet_search { max_score total { value relation } hits { score planet { id } } } }",
    )
    .await;
    assert_eq!(
        all["planet_search"]["total"],
        json!({"value": 61, "relation": "eq"})
    );
    assert_eq!(all["planet_search"]["max_score"], 1.0);
    let hits = all["planet_search"]["hits"].as_array().expect("hits");
    assert_eq!(hits.len(), 10);
    assert!(hits.iter().all(|hit| hit["score"] == 1.0));

    let high = ask(
        r#"{ character_search(query: {term: {height: {value: "177"}}})
        { hits { score character { id height } } } }"#,
    )
    .await;
    assert_eq!(
        high["character_search"]["hits"],
        json!([{"score": 1.0, "character": {"id": "https://swapi.co/resource/human/25", "height": 177.0}}]),
        "{high}"
    );

    let one = r#"bool: {must: {match: {rdfs_label: {query: "tatooine"}}}, filter: {range: {diameter: {gte: "1000"}}}}"#;
    let list = r#"bool: {must: [{match: {rdfs_label: {query: "tatooine"}}}], filter: [{range: {diameter: {gte: "1000"}}}]}"#;
    let mut found = Vec::new();
    for clause in [one, list] {
        let query = format!(
            "{{ planet_search(query: {{{clause}}}) {{ hits {{ score planet {{ id }} }} }} }}"
        );
        found.push(answer(service, &query).await);
    }
    assert_eq!(found[0], found[1]);
    assert_eq!(
        found[0]["planet_search"]["hits"][0]["planet"]["id"],
        "https://swapi.co/resource/planet/1"
    );

    let typo = ask(r#"{
        plain: planet_search(query: {match: {rdfs_label: {query: "Tatoine"}}}) { total { value } }
        fuzzy: planet_search(query: {match: {rdfs_label: {query: "Tatonie", fuzziness: "2"}}}) { hits { score planet { id } } }
        boosted: planet_search(query: {match: {rdfs_label: {query: "Tatonie", fuzziness: "2", boost: 4.0}}}) { hits { score } }
    }"#).await;
    assert_eq!(typo["plain"]["total"]["value"], 0);
    let hits = typo["fuzzy"]["hits"].as_array().expect("hits");
    assert_eq!(hits.len(), 1, "{typo}");
    assert_eq!(
        hits[0]["planet"]["id"],
        "https://swapi.co/resource/planet/1"
    );
    let score = |of: &str| typo[of]["hits"][0]["score"].as_f64().expect("a score");
    let ratio = score("boosted") / score("fuzzy");
    assert!((ratio - 4.0).abs() < 1e-3, "{ratio}");

    let examples = ask(r#"{
        first: planet_search { max_score hits { score planet { id name } } }
        second: planet_search(query: {bool: {must: {match: {name: {query: "Tatoine", fuzziness: "2"}}},
                              filter: [{range: {diameter: {gte: "1000"}}}]}}, from: 0, size: 5)
        { hits { score planet { id name rdfs_label { value lang } } } }
    }"#).await;
    assert_eq!(examples["first"]["max_score"], 1.0);
    let planet = &examples["second"]["hits"][0]["planet"];
    assert_eq!(
        (&planet["id"], &planet["name"]),
        (
            &json!("https://swapi.co/resource/planet/1"),
            &json!("Tatooine")
        ),
        "{examples:#}"
    );
    assert_eq!(
        planet["rdfs_label"],
        json!([{"value": "Tatooine", "lang": null}])
    );

    let languages = ask(
        r#"{ film_search(query: {match: {rdfs_label: {query: "империя", lang: "ru"}}})
        { hits { film { id releaseDate rdfs_label { value lang } } } } }"#,
    )
    .await;
    let hits = languages["film_search"]["hits"].as_array().expect("hits");
    assert_eq!(hits.len(), 1, "{languages}");
    let film = &hits[0]["film"];
    assert_eq!(film["releaseDate"], "1980-05-17");
    let labels = film["rdfs_label"].as_array().expect("labels");
    assert!(labels.len() > 60, "{} labels", labels.len());
    assert!(labels.contains(&json!({"value": "L'Impero colpisce ancora", "lang": "it"})));
    assert!(labels.contains(&json!({"value": "The Empire Strikes Back", "lang": null})));
    let any = ask(r#"{ film_search(query: {match: {rdfs_label: {query: "colpisce"}}}) { hits { film { id } } } }"#).await;
    assert_eq!(
        any["film_search"]["hits"][0]["film"]["id"],
        "https://swapi.co/resource/film/2"
    );

    let embedded = ask(r#"{ planet_search(
        query: {bool: {must: [{match: {resident: {rdfs_label: {query: "skywalker", operator: AND}}}}]}},
        sort: [{diameter: {order: DESC}}], aggregations: [{name: "climates", terms: {field: climate}}])
        { hits { sort planet { id diameter resident { id } } } aggregations { buckets { key doc_count } } } }"#).await;
    let hits = embedded["planet_search"]["hits"].as_array().expect("hits");
    let planets: Vec<_> = hits.iter().map(|hit| &hit["planet"]["id"]).collect();
    assert_eq!(
        planets,
        ["https://swapi.co/resource/planet/1"],
        "{embedded:#}"
    );
    assert_eq!(
        embedded["planet_search"]["aggregations"][0]["buckets"],
        json!([{"key": "arid", "doc_count": 1}])
    );
}

#[tokio::test]
async fn the_embedded_engine_behaves_as_the_references_show() {
    let engine = EmbeddedEngine::in_memory().expect("an engine");
    behaves_as_the_references_show(&served(Arc::new(engine), 1).await).await;
}

#[tokio::test]
#[ignore = "needs an OpenSearch server named by OPENSEARCH_URL"]
async fn opensearch_behaves_as_the_references_show() {
    let address = std::env::var("OPENSEARCH_URL").expect("OPENSEARCH_URL names a server");
    let addresses = address.parse().expect("an address");
    let options = OpenSearchOptions::new(addresses, "references");
    let engine = OpenSearch::new(options).expect("an engine");
    // Numbers that no other test has.
    behaves_as_the_references_show(&served(Arc::new(engine), 77_000).await).await;
}
