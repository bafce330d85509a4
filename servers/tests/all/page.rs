//! The page at `/`, the documents that it links to, and what the schema settings do to them.

use graphql_gen::typesystem::ApiOptions;
use object_service::example_queries;
use schema_registry::{check, check_with};
use serde_json::{Value, json};
use servers::config::Settings;
use servers::demo::STAR_WARS;

use crate::service::{Answer, Service};

const PLANETS: &str = include_str!("../data/soml/swapi-schema-planets.yaml");
const HTML: &[(&str, &str)] = &[("accept", "text/html")];
const YAML: &[(&str, &str)] = &[("content-type", "text/yaml")];

fn page(service: &Service) -> String {
    let answer = service.send("GET", "/", HTML, b"");
    assert_eq!(answer.status, 200);
    answer.text()
}

fn bind(service: &Service, id: &str, text: &str) {
    let stored = service.send("POST", "/soml", YAML, text.as_bytes());
    assert_eq!(stored.status, 201, "{}", stored.text());
    let bound = service.send("PUT", &format!("/soml/{id}/objects"), &[], b"");
    assert_eq!(bound.status, 200, "{}", bound.text());
}

fn sdl_if(service: &Service, tag: &str) -> Answer {
    service.send("GET", "/schema.graphql", &[("if-none-match", tag)], b"")
}

#[test]
fn the_sdl_of_the_bound_schema_can_be_read_and_kept() {
    let service = Service::demo();
    let answer = service.get("/schema.graphql");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
    let api = check(STAR_WARS.schema).schema.unwrap().api;
    assert_eq!(answer.text(), api.sdl());

    let etag = answer.header("etag");
    assert_eq!(sdl_if(&service, &etag).status, 304);
    assert_eq!(sdl_if(&service, &format!("\"other\", {etag}")).status, 304);
    assert_eq!(sdl_if(&service, "\"other\"").status, 200);
    let head = service.send("HEAD", "/schema.graphql", &[], b"");
    assert_eq!((head.status, head.header("etag")), (200, etag.clone()));

    bind(&service, "swapi-planets", PLANETS);
    let other = sdl_if(&service, &etag);
    assert_eq!(other.status, 200);
    assert_ne!(other.header("etag"), etag);
    let api = check(PLANETS).schema.unwrap().api;
    assert_eq!(other.text(), api.sdl());
}

#[test]
fn without_a_schema_there_is_no_sdl_and_no_link_to_it() {
    let service = Service::empty();
    let answer = service.get("/schema.graphql");
    assert_eq!(answer.status, 503);
    assert_eq!(answer.code(), "SCHEMA_NOT_BOUND");
    assert!(!page(&service).contains("schema.graphql"));
    assert!(page(&Service::demo()).contains("<a href=\"schema.graphql\">"));
}

#[test]
fn explain_is_offered_only_where_it_is_answered() {
    let offered = |settings: &Settings, schema: &str| {
        let service = Service::demo_with(settings.clone());
        bind(&service, "other", schema);
        let query = "{object(limit: 1) {id}}";
        let body = json!({"query": query, "extensions": {"explain": true}});
        let answer = service.post(&body).json();
        let answered = answer["extensions"]["explain"].is_object();
        let shown = page(&service).contains("id=\"explain\"");
        assert_eq!(shown, answered, "{answer}");
        shown
    };
    let schema =
        |config: &str| format!("id: /soml/other\nconfig: {config}\nobjects: {{A: {{}}}}\n");
    let mut settings = Settings::default();
    assert!(!offered(&settings, &schema("{}")));
    settings.explain = true;
    assert!(offered(&settings, &schema("{}")));
    assert!(!offered(
        &settings,
        &schema("{enableGraphQlExplain: false}")
    ));
}

#[test]
fn the_page_begins_with_the_query_of_the_demo_and_all_examples_have_answers() {
    let service = Service::demo();
    let html = page(&service);
    let examples = html.split("data-examples=\"").nth(1).unwrap();
    let examples = examples.split('"').next().unwrap();
    let examples = examples.replace("&quot;", "\"").replace("&#10;", "\n");
    let examples = examples.replace("&lt;", "<").replace("&gt;", ">");
    let examples: Value = serde_json::from_str(&examples.replace("&amp;", "&")).unwrap();
    let examples = examples.as_array().unwrap();
    assert_eq!(examples[0]["query"], STAR_WARS.query);

    let api = check(STAR_WARS.schema).schema.unwrap().api;
    let generated = serde_json::to_value(example_queries(&api)).unwrap();
    assert_eq!(&examples[1..], generated.as_array().unwrap());
    assert!(examples.len() >= 5, "{examples:?}");
    for example in examples {
        let answer = service.query(example["query"].as_str().unwrap());
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer.get("errors"), None, "{example}");
        let lists = answer["data"].as_object().unwrap().values();
        for list in lists {
            let affected = list.get("affected_count");
            let list = affected.unwrap_or(list).as_array();
            assert!(!list.unwrap().is_empty(), "{example}");
        }
    }
}

#[test]
fn a_label_cannot_become_markup_or_a_place_in_the_template() {
    let service = Service::empty();
    let label = "<b>\\\"{version}{examples}</b>";
    let text = format!("id: /soml/a\nlabel: \"{label}\"\nobjects: {{A: {{}}}}\n");
    bind(&service, "a", &text);
    let html = page(&service);
    assert!(
        html.contains("<h1>&lt;b&gt;&quot;{version}{examples}&lt;/b&gt;</h1>"),
        "{html}"
    );
    assert!(!html.contains("<b>"));
}

#[test]
fn the_page_has_no_inline_scripts_and_its_policy_forbids_them() {
    let service = Service::demo();
    let answer = service.send("GET", "/", HTML, b"");
    let policy = answer.header("content-security-policy");
    assert!(
        policy.contains("default-src 'none'; script-src 'self';"),
        "{policy}"
    );
    let html = answer.text();
    for script in html.split("<script").skip(1) {
        assert!(script.starts_with(" src=\"graphiql/"), "{script}");
    }
    for name in [" onclick", " onchange", " style=", "javascript:"] {
        assert!(!html.contains(name), "{name}");
    }
}

#[test]
fn the_documentation_is_that_of_the_program() {
    let service = Service::demo();
    let answer = service.get("/docs/queries");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
    let policy = answer.header("content-security-policy");
    assert!(
        policy.starts_with("default-src 'none'; style-src 'self';"),
        "{policy}"
    );
    let html = answer.text();
    assert!(html.contains("<h1 id=\"queries\">Queries</h1>"));
    let style = html
        .split("href=\"..")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    assert_eq!(
        service.get(style).header("content-type"),
        "text/css; charset=utf-8"
    );

    assert_eq!(service.get("/docs/none").code(), "PATH_NOT_FOUND");
    assert_eq!(service.get("/docs/../Cargo.toml").code(), "PATH_NOT_FOUND");
    let settings = Settings {
        graphiql: false,
        ..Settings::default()
    };
    let service = Service::demo_with(settings);
    for path in ["/docs", "/docs/queries"] {
        assert_eq!(service.get(path).code(), "PATH_NOT_FOUND", "{path}");
    }
    assert_eq!(service.get("/schema.graphql").status, 200);
}

/// Returns what the links and styles of a page lead to, as a browser resolves them.
fn linked(base: &str, html: &str) -> Vec<String> {
    let base: reqwest::Url = base.parse().unwrap();
    let links = html.split(" href=\"").skip(1);
    let links = links.map(|rest| rest.split('"').next().unwrap());
    let links = links.filter(|link| !link.contains("://"));
    links
        .map(|link| base.join(link).unwrap().path().to_owned())
        .collect()
}

#[test]
fn the_list_of_the_documentation_has_every_page_and_all_its_links_lead_somewhere() {
    let service = Service::demo();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs");
    let files = std::fs::read_dir(folder).unwrap();
    let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let names: Vec<_> = files
        .filter_map(|name| Some(format!("/docs/{}", name.strip_suffix(".md")?)))
        .collect();
    assert!(names.len() > 20, "{names:?}");
    for path in ["/docs", "/docs/"] {
        let answer = service.get(path);
        assert_eq!(answer.status, 200, "{path}");
        let links = linked(&format!("{}{path}", service.base), &answer.text());
        for name in &names {
            assert!(links.contains(name), "{path}: {name} is not in {links:?}");
        }
        for link in links {
            let found = service.send("GET", &link, HTML, b"");
            assert_eq!(found.status, 200, "{path}: {link}");
        }
    }
    for name in names {
        let answer = service.get(&name);
        assert_eq!(answer.status, 200, "{name}");
        let links = linked(&format!("{}{name}", service.base), &answer.text());
        assert!(links.contains(&"/docs".to_owned()), "{name}: {links:?}");
    }
}

/// Returns the queries of the page about queries that the demo answers.
fn documented() -> Vec<String> {
    let text = include_str!("../../../docs/queries.md");
    let blocks = text.split("```graphql\n").skip(1);
    let blocks = blocks.map(|rest| rest.split("```").next().unwrap().to_owned());
    let off = ["Connection", "_aggregate"];
    blocks
        .filter(|block| !off.iter().any(|o| block.contains(o)))
        .collect()
}

#[test]
fn a_pruned_schema_gives_the_same_answers() {
    let full = Service::demo();
    let pruned = Service::demo_with(Settings {
        prune: true,
        ..Settings::default()
    });
    let api = check(STAR_WARS.schema).schema.unwrap().api;
    let mut queries = documented();
    queries.extend(
        example_queries(&api)
            .into_iter()
            .map(|example| example.query),
    );
    queries.extend(
        [
            "{ object(limit: 5) { __typename id ... on Nameable { name } ... on Film { title } } }",
            "query($w: Planet_Where_Multi) { planet(where: $w, limit: 3) { name type } }",
            "{ character(limit: 3) { name ... on Human { mass } } planet { nme } }",
            "{ __type(name: \"Planet\") { fields { name args { name type { name } } } } }",
            "{ __type(name: \"Object\") { possibleTypes { name } } }",
        ]
        .map(str::to_owned),
    );
    assert!(queries.len() > 10);
    for query in queries {
        assert_eq!(pruned.query(&query), full.query(&query), "{query}");
    }

    let sdl = pruned.get("/schema.graphql").text();
    let options = ApiOptions::default().with_mutations(true).with_prune(true);
    let api = check_with(STAR_WARS.schema, &options).schema.unwrap().api;
    assert_eq!(sdl, api.sdl());
    assert!(sdl.len() * 10 < full.get("/schema.graphql").text().len() * 9);
    let gone = "{ __type(name: \"Planet_Subscription\") { name } }";
    assert_eq!(pruned.query(gone), "{\"data\":{\"__type\":null}}");
}

#[test]
fn arguments_are_described_where_that_is_asked_for() {
    let query = "{ __type(name: \"Query\") { fields { name args { name description } } } }";
    let described = |settings: Settings| {
        let service = Service::demo_with(settings);
        let answer: Value = serde_json::from_str(&service.query(query)).unwrap();
        let fields = answer["data"]["__type"]["fields"]
            .as_array()
            .unwrap()
            .clone();
        let film = fields
            .into_iter()
            .find(|field| field["name"] == "film")
            .unwrap();
        let arguments = film["args"].as_array().unwrap().clone();
        let of = |name: &str| {
            arguments
                .iter()
                .find(|a| a["name"] == name)
                .unwrap()
                .clone()
        };
        ["where", "orderBy", "limit", "offset", "ID", "lang", "from"]
            .map(|name| of(name)["description"].is_string())
    };
    assert_eq!(described(Settings::default()), [false; 7]);
    let settings = Settings {
        describe_arguments: true,
        ..Settings::default()
    };
    assert_eq!(described(settings), [true; 7]);
}
