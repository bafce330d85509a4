//! The service of one's own that the page on extension services writes, beside the demo.

use std::path::Path;

use serde_json::Value;

use super::soml::{Soml, get, post};
use super::subgraph::served;

#[expect(dead_code, reason = "a program of its own")]
#[path = "../../../../example-extension/examples/travel.rs"]
mod travel;

/// Returns the code blocks of the page in a language, without those inside of lists.
fn blocks(language: &str) -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../example-extension/README.md");
    let text = std::fs::read_to_string(page).unwrap();
    let fence = format!("\n```{language}\n");
    let blocks = text.split(&fence).skip(1);
    blocks
        .map(|rest| rest.split("```").next().unwrap().to_owned())
        .collect()
}

#[test]
fn the_service_of_the_page_joins_the_demo_and_is_asked_with_what_it_requires() {
    let (_runtime, address) = served(travel::router());
    let url = format!("http://{address}/graphql");
    let variables = [
        ("GRAPHQL_SERVICE_0", url.as_str()),
        ("GRAPHQL_SERVICE_0_NAME", "travel"),
    ];
    let demo = Soml::demo(&[], &variables, "Composed:");
    let gateway = demo.base("Gateway:");
    let query = blocks("graphql").pop().unwrap();
    let shown: Value = serde_json::from_str(&blocks("json").pop().unwrap()).unwrap();
    assert_eq!(post(gateway, &query, None).1, shown);
    // The query at the head of the page is about the extension of the demo.
    let (_, answer) = post(gateway, &blocks("graphql")[0], None);
    let planet = &answer["data"]["planet"][0];
    assert!(planet["calculatedGravity"].is_number(), "{answer}");
    let record = get(gateway, "/__health?cache=false");
    assert_eq!(record["healthChecks"][3]["id"], "travel", "{record:#}");
}

#[test]
fn the_program_of_the_page_is_the_one_that_is_tested() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = file.join("../example-extension/examples/travel.rs");
    let [program] = blocks("rust,no_run").try_into().unwrap();
    assert_eq!(program, std::fs::read_to_string(file).unwrap());
}
