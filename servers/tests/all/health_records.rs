//! Health records have all strings that the interface lists, and their links lead to a place that is there.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::gateway::process::Gateway;
use crate::gateway::soml::{Soml, wait_until_indexed};
use crate::gateway::subgraph::Subgraph;
use crate::processes::PATIENCE;
use crate::service::Service;

/// Reads a page; returns its status and text.
fn read(address: &str) -> (u16, String) {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(PATIENCE));
    let agent: ureq::Agent = config.build().into();
    let mut answer = agent.get(address).call().unwrap();
    let status = answer.status().as_u16();
    (status, answer.body_mut().read_to_string().unwrap())
}

/// Checks the record of the service at an address and all records in it, and follows each link. Returns the records by
/// their identifiers.
pub(crate) fn check(base: &str) -> Vec<(String, Value)> {
    let (status, text) = read(&format!("{base}/__health?cache=false"));
    assert_eq!(status, 200, "{text}");
    let record: Value = serde_json::from_str(&text).unwrap();
    let (status, page) = read(&format!("{base}/__trouble"));
    assert_eq!(status, 200, "{page}");
    let anchors: Vec<_> = quoted(&page, " id=\"").collect();
    let distinct: BTreeSet<_> = anchors.iter().collect();
    assert_eq!(distinct.len(), anchors.len(), "{anchors:?}");
    for link in quoted(&page, " href=\"").filter(|link| link.starts_with('/')) {
        assert_eq!(read(&format!("{base}{link}")).0, 200, "{link}");
    }
    let mut found = Vec::new();
    walk(&record, &mut |record| {
        for member in [
            "status",
            "id",
            "type",
            "impact",
            "troubleshooting",
            "description",
            "message",
        ] {
            let text = record[member]
                .as_str()
                .unwrap_or_else(|| panic!("{member}: {record:#}"));
            assert!(!text.is_empty(), "{member}: {record:#}");
        }
        assert!(
            record["name"].is_string() || record.get("name").is_none(),
            "{record:#}"
        );
        assert_eq!(
            record["status"] == "OK",
            record["impact"] == "None.",
            "{record:#}"
        );
        let link = record["troubleshooting"].as_str().unwrap();
        if !link.starts_with("https://help.example/") {
            let anchor = link.strip_prefix("/__trouble").unwrap();
            let anchor = anchor.strip_prefix('#').unwrap_or_default();
            assert!(
                anchor.is_empty() || anchors.contains(&anchor),
                "{link} is not in {anchors:?}"
            );
        }
        found.push((record["id"].as_str().unwrap().to_owned(), record.clone()));
    });
    found
}

fn walk(record: &Value, look: &mut impl FnMut(&Value)) {
    look(record);
    for check in record["healthChecks"].as_array().unwrap() {
        walk(check, look);
    }
}

fn quoted<'t>(text: &'t str, before: &'t str) -> impl Iterator<Item = &'t str> {
    let rest = text.split(before).skip(1);
    rest.map(|rest| rest.split('"').next().unwrap())
}

fn of<'r>(records: &'r [(String, Value)], id: &str) -> &'r Value {
    &records.iter().find(|(known, _)| known == id).unwrap().1
}

#[test]
fn records_of_the_object_service_have_all_strings_and_links_that_lead_somewhere() {
    let records = check(&Service::demo().base);
    assert_eq!(records.len(), 6);
    assert_eq!(
        of(&records, "object-service")["troubleshooting"],
        "/__trouble"
    );
    let records = check(&Service::empty().base);
    let whole = of(&records, "object-service");
    assert_eq!(whole["status"], "ERROR");
    assert_eq!(whole["troubleshooting"], "/__trouble#1300");
    assert_eq!(whole["message"], "SOML: no schema is bound");
}

#[test]
fn the_page_of_a_gateway_has_the_checks_of_its_subgraphs() {
    // An object service without a schema, as a subgraph elsewhere.
    let objects = Service::empty();
    let (planets, moons) = (Subgraph::planets(), Subgraph::moons());
    moons.set_health(json!({
        "status": "OK", "id": "9500", "healthChecks": [
            {"status": "WARNING", "id": "a b", "name": "<script>", "troubleshooting": "/elsewhere#1",
             "message": "<b>lost</b>"},
            {"status": "OK", "id": "a b", "troubleshooting": "javascript:alert(1)"},
            {"status": "ERROR", "id": "9502", "troubleshooting": "https://help.example/9502"},
        ],
    }));
    let (health, other) = (format!("{}/__health", objects.base), moons.url("/__health"));
    let gateway = Gateway::over(
        &[&planets.url("/graphql"), &moons.url("/graphql")],
        &[
            ("GRAPHQL_SERVICE_0_NAME", "planets"),
            ("GRAPHQL_SERVICE_0_HEALTH", &health),
            ("GRAPHQL_SERVICE_1_NAME", "moons"),
            ("GRAPHQL_SERVICE_1_HEALTH", &other),
        ],
    );
    let records = check(&gateway.base);
    let link = |id: &str| of(&records, id)["troubleshooting"].clone();
    assert_eq!(link("object-service"), "/__trouble#planets");
    assert_eq!(link("1300"), "/__trouble#planets.1300");
    assert_eq!(link("9502"), "https://help.example/9502");
    let whole = of(&records, "federation-gateway");
    assert_eq!(
        (&whole["status"], &whole["troubleshooting"]),
        (&json!("ERROR"), &json!("/__trouble#planets"))
    );
    let page = gateway.get("/__trouble");
    assert!(
        page.header("content-security-policy")
            .contains("default-src 'none'")
    );
    for text in [
        "<h2 id=\"planets.1300\">planets: 1300: SOML</h2>",
        "Store a schema with POST /soml",
        "ERROR: no schema is bound",
        "<a href=\"https://help.example/9502\">",
        "&lt;b&gt;lost&lt;/b&gt;",
        "<h2 id=\"3200\">",
    ] {
        assert!(page.text.contains(text), "{text}: {}", page.text);
    }
    assert!(
        !page.text.contains("<script") && !page.text.contains("javascript:"),
        "{}",
        page.text
    );
    assert!(!page.text.contains(&objects.base), "{}", page.text);
}

#[test]
fn records_of_all_services_of_a_process_lead_to_the_page_of_whoever_shows_them() {
    let demo = Soml::demo(&[], &[], "Composed:");
    wait_until_indexed(demo.base("Search:"));
    for word in ["GraphQL:", "Search:"] {
        check(demo.base(word));
    }
    let records = check(demo.base("Gateway:"));
    let links: Vec<_> = records
        .iter()
        .map(|(_, record)| record["troubleshooting"].as_str().unwrap())
        .collect();
    for link in [
        "/__trouble#objects.1200",
        "/__trouble#search.2300",
        "/__trouble#extension",
    ] {
        assert!(links.contains(&link), "{links:?}");
    }
}
