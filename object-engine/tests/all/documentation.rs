//! The examples of the documentation give the answers that stand below them.
//!
//! `UPDATE_EXPECT=1` rewrites the answers.

use std::sync::Arc;

use graphql_service::{Request, RequestContext};
use object_engine::{ObjectService, ServiceOptions};

use crate::images;

const PAGE: &str = include_str!("../../../docs/queries.md");
const SCHEMA: &str = include_str!("../../../servers/demo/star-wars/schema.yaml");
const DATA: &str = include_str!("../../../servers/demo/star-wars/data.ttl");

const EXTENDED: &str = "config: {enableConnections: true, enableAggregates: true}\n";

/// Returns the contents of the code blocks with a language, in the order of the page.
fn blocks(language: &str) -> Vec<&'static str> {
    let opening = format!("```{language}\n");
    PAGE.split(opening.as_str())
        .skip(1)
        .map(|rest| rest.split_once("\n```").expect("a block that ends").0)
        .collect()
}

#[tokio::test]
async fn examples_answer_as_written() {
    // What the page shows beside lists is off in the demo.
    let soml = format!("{SCHEMA}\n{EXTENDED}");
    let schema = soml_core::load(&soml).schema.expect("the schema is valid");
    let store = images::from_turtle(DATA);
    let store = Arc::new(store);
    let service =
        ObjectService::new(Arc::new(schema), store, ServiceOptions::default()).expect("an API");
    let (queries, answers) = (blocks("graphql"), blocks("json"));
    assert_eq!(queries.len(), answers.len());
    assert!(queries.len() >= 6, "the page has examples");
    let mut page = PAGE.to_owned();
    let rewrite = std::env::var_os("UPDATE_EXPECT").is_some();
    for (query, answer) in queries.into_iter().zip(answers) {
        let response = service
            .execute(Request::new(query), RequestContext::default())
            .await;
        let body: serde_json::Value =
            serde_json::from_slice(&response.body.to_bytes()).expect("JSON");
        let expected: serde_json::Value = serde_json::from_str(answer).expect("JSON in the page");
        if rewrite {
            let (start, rest) = page.split_once(query).expect("the query is in the page");
            let shown = serde_json::to_string_pretty(&body).expect("JSON");
            page = format!("{start}{query}{}", rest.replacen(answer, &shown, 1));
            continue;
        }
        assert_eq!(body, expected, "{query}");
    }
    if rewrite {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/queries.md");
        std::fs::write(path, page).expect("the page is writable");
    }
}
