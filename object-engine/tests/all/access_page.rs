//! The examples of the page on access: each role, asked as the page says, is answered as it says.
//!
//! `UPDATE_EXPECT=1` rewrites the answers.

use std::sync::Arc;

use graphql_service::{Caller, Request, RequestContext};
use object_engine::ServiceOptions;
use serde_json::{Map, Value, json};

use crate::fixture::{answer, service};
use crate::images;

const PAGE: &str = include_str!("../../../docs/access.md");

/// Where the examples begin and end.
const BEGIN: &str = "<!-- examples -->\n";
const END: &str = "<!-- end of examples -->\n";

/// Code blocks, each with its language.
fn blocks(text: &str) -> Vec<(&str, &str)> {
    let mut parts = text.split("```");
    parts.next();
    let mut blocks = Vec::new();
    while let Some(block) = parts.next() {
        blocks.push(block.split_once('\n').expect("a language and a text"));
        parts.next();
    }
    blocks
}

/// Reads who asks: the first line of a query, `# Role, Role {claims}`.
fn caller(query: &str) -> Caller {
    let line = query
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("# as "));
    let line = line.unwrap_or_else(|| panic!("nobody asks: {query}"));
    let (roles, claims) = line.split_once('{').unwrap_or((line, ""));
    let roles = roles
        .split(',')
        .map(str::trim)
        .filter(|role| !role.is_empty());
    let mut caller = Caller::with_roles(roles);
    if !claims.is_empty() {
        let claims: Map<String, Value> =
            serde_json::from_str(&format!("{{{claims}")).expect("claims are JSON");
        caller.claims = claims;
    }
    caller
}

/// Returns what a page shows of an answer: its data, and the codes of its errors.
fn shown(answer: &[u8]) -> Value {
    let mut answer: Value = serde_json::from_slice(answer).expect("JSON");
    let mut shown = Map::new();
    if let Some(data) = answer.get_mut("data") {
        shown.insert("data".to_owned(), data.take());
    }
    if let Some(errors) = answer["errors"].as_array() {
        let code = |error: &Value| {
            // A mutation that is refused lists what is wrong inside of one error.
            let findings = error["extensions"]["findings"].as_array();
            match findings.and_then(|findings| findings.first()) {
                Some(finding) => finding["code"].clone(),
                None => error["extensions"]["code"].clone(),
            }
        };
        let codes: Vec<Value> = errors.iter().map(code).collect();
        shown.insert("errors".to_owned(), json!(codes));
    }
    Value::Object(shown)
}

#[test]
fn each_rule_of_the_page_has_an_example_that_is_answered_as_shown() {
    let (_, rest) = PAGE.split_once(BEGIN).expect("examples begin");
    let (examples, _) = rest.split_once(END).expect("examples end");
    let rewrite = std::env::var_os("UPDATE_EXPECT").is_some();
    let (mut schema, mut data, mut roles) = ("", "", "");
    let mut page = PAGE.to_owned();
    let mut query: Option<&str> = None;
    let mut number = 0;
    for (language, text) in blocks(examples) {
        match language {
            "yaml" if text.starts_with("id:") => schema = text,
            "yaml" => roles = text,
            "turtle" => data = text,
            "graphql" => query = Some(text),
            "json" => {
                let query = query.take().expect("a query before an answer");
                let indented: String = roles.lines().map(|line| format!("    {line}\n")).collect();
                let soml = format!("{schema}rbac:\n  roles:\n{indented}");
                let mut options = ServiceOptions::default().with_roles_enforced(true);
                options.api = options.api.with_mutations(true);
                let service = service(&soml, Arc::new(images::from_turtle(data)), options);
                let context = RequestContext::new().with_caller(Arc::new(caller(query)));
                let is = shown(&answer(&service, Request::new(query), context));
                number += 1;
                if rewrite {
                    let (start, rest) = page.split_once(query).expect("the query is in the page");
                    page = format!(
                        "{start}{query}{}",
                        rest.replacen(text, &format!("{is}\n"), 1)
                    );
                    continue;
                }
                let expected: Value = serde_json::from_str(text).expect("JSON in the page");
                assert_eq!(is, expected, "{roles}\n{query}");
            }
            other => panic!("{other} is no language of an example"),
        }
    }
    assert!(number >= 20, "{number} examples are too few");
    if rewrite {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/access.md");
        std::fs::write(path, page).expect("the page is writable");
    }
}
