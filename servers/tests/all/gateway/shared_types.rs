//! Two object services that share a type, behind one gateway.

use std::path::Path;

use serde_json::{Value, json};

use super::process::Gateway;
use super::soml::{Soml, post};
use crate::command_line::{code, err, out, soml};

/// Starts the two services of the page, and a gateway over them.
fn staff(payroll: &[&str]) -> (Soml, Soml, Gateway) {
    let people = Soml::example("people", &[]);
    let payroll = Soml::example("payroll", payroll);
    let gateway = Gateway::over(&[&people.endpoint(), &payroll.endpoint()], &[]);
    (people, payroll, gateway)
}

/// Returns the query of the page, and the answer that it shows.
fn example() -> (String, Value) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/gateway.md");
    let text = std::fs::read_to_string(page).unwrap();
    let (_, section) = text
        .split_once("## A type of two object services")
        .expect("the section is there");
    let block = |language: &str| {
        let (_, from) = section.split_once(&format!("```{language}\n")).unwrap();
        from.split_once("```").unwrap().0.to_owned()
    };
    (
        block("graphql"),
        serde_json::from_str(&block("json")).unwrap(),
    )
}

#[test]
fn two_object_services_that_share_a_type_compose_and_an_operation_crosses_both() {
    let (_people, _payroll, gateway) = staff(&[]);
    let (query, shown) = example();
    assert_eq!(gateway.query(&query), shown);
    // From the other service, and there and back again.
    let answer = gateway.query(
        "{ payroll_person(where: {name: {EQ: \"Bob\"}}) { salary email manager { email employer { founded } salary } } }",
    );
    let expected = json!({"data": {"payroll_person": [{"salary": "90", "email": "bob@example.org",
        "manager": {"email": "ada@example.org", "employer": {"founded": "1999"}, "salary": "100"}}]}});
    assert_eq!(answer, expected);
    // Filters of a shared type have the properties that both services know.
    let answer = gateway.query("{ __type(name: \"Person_Where\") { inputFields { name } } }");
    let fields = answer["data"]["__type"]["inputFields"].to_string();
    assert!(fields.contains("\"name\":\"ex_name\""), "{fields}");
    assert!(
        !fields.contains("email") && !fields.contains("salary"),
        "{fields}"
    );
}

#[test]
fn object_services_without_prefixes_are_in_conflict_only_over_their_query_fields() {
    let folder = tempfile::tempdir().unwrap();
    let mut services = Vec::new();
    for name in ["people", "payroll"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/examples");
        let text = std::fs::read_to_string(file.join(format!("{name}.yaml"))).unwrap();
        let schema = folder.path().join(format!("{name}.yaml"));
        std::fs::write(&schema, text.replace("queryPfx:", "mutationPfx:")).unwrap();
        let data = file.join(format!("{name}.ttl"));
        let (schema, data) = (schema.to_str().unwrap(), data.to_str().unwrap());
        let federation = "graphql.federation.enabled=true";
        let arguments = ["--schema", schema, "--data", data, "--set", federation];
        services.push(Soml::start(&arguments, &[], "Writing:"));
    }
    let urls = [services[0].endpoint(), services[1].endpoint()];
    let variables = [
        ("GRAPHQL_SERVICE_0", urls[0].as_str()),
        ("GRAPHQL_SERVICE_1", urls[1].as_str()),
    ];
    let (code, log) = Gateway::start(&variables).end();
    assert_eq!(code, Some(1), "{log}");
    let reasons: Vec<_> = log
        .lines()
        .filter(|line| line.contains(" ERROR "))
        .collect();
    let fields = ["Query.object", "Query.person"];
    assert_eq!(reasons.len(), fields.len(), "{log}");
    for (reason, field) in reasons.into_iter().zip(fields) {
        let begins = format!("[INVALID_FIELD_SHARING] `{field}` is resolved by ");
        assert!(reason.contains(&begins), "{field}: {log}");
        assert!(reason.contains("`config.queryPfx`"), "{field}: {log}");
    }
}

/// Prints the schemas of both examples for a version of federation, changed ones, and composes them.
fn composed(versions: [&str; 2], change: impl Fn(&str, String) -> String) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/examples");
    let mut arguments = vec![
        "compose".to_owned(),
        "--reject-shared-root-fields".to_owned(),
    ];
    for (name, version) in ["people", "payroll"].into_iter().zip(versions) {
        let text = std::fs::read_to_string(examples.join(format!("{name}.yaml"))).unwrap();
        let document = folder.path().join(format!("{name}.yaml"));
        std::fs::write(&document, change(name, text)).unwrap();
        let document = document.to_str().unwrap();
        let printed = soml(&[
            "sdl",
            document,
            "--kind",
            "federation",
            "--federation-version",
            version,
        ]);
        assert_eq!(code(&printed), Some(0), "{}", err(&printed));
        let sdl = folder.path().join(format!("{name}.graphql"));
        std::fs::write(&sdl, out(&printed)).unwrap();
        arguments.extend(["--subgraph".to_owned(), format!("{name}={}", sdl.display())]);
    }
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let output = soml(&arguments);
    (code(&output), out(&output) + &err(&output))
}

#[test]
fn object_services_that_share_a_type_compose_in_both_versions_of_federation() {
    for versions in [["1", "1"], ["1", "2"], ["2", "1"], ["2", "2"]] {
        let (code, text) = composed(versions, |_, document| document);
        assert_eq!(code, Some(0), "{versions:?}: {text}");
        for field in ["email: String", "salary: Integer"] {
            assert!(text.contains(field), "{versions:?}: {field}");
        }
    }
}

#[test]
fn an_extension_shares_what_its_owner_has_too() {
    let extended = |name: &str, document: String| match name {
        "payroll" => document.replace("  Person:\n", "  Person:\n    extend: true\n"),
        _ => document,
    };
    for versions in [["1", "1"], ["1", "2"], ["2", "2"]] {
        let (code, text) = composed(versions, extended);
        assert_eq!(code, Some(0), "{versions:?}: {text}");
    }
}

#[test]
fn aggregates_of_a_shared_type_compose_if_one_service_alone_has_them() {
    let aggregated = |document: String| {
        let (before, after) = document.split_once("_}\n").unwrap();
        format!("{before}_, enableAggregates: true}}\n{after}")
    };
    let (code, text) = composed(["1", "1"], |name, document| match name {
        "payroll" => aggregated(document),
        _ => document,
    });
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = composed(["1", "1"], |_, document| aggregated(document));
    assert_ne!(code, Some(0), "{text}");
    let errors: Vec<_> = text
        .lines()
        .filter(|line| line.starts_with("error["))
        .collect();
    let is_about_aggregates = |line: &&str| {
        line.contains("[SATISFIABILITY_ERROR]")
            && (line.contains("`Person_Aggregate.") || line.contains("`Person_Group"))
    };
    assert!(
        !errors.is_empty() && errors.iter().all(is_about_aggregates),
        "{text}"
    );
}

#[test]
fn the_key_of_every_type_of_an_object_service_is_its_id() {
    let payroll = Soml::example("payroll", &[]);
    let query = "{ _service { sdl } }";
    let (_, answer) = post(payroll.base("GraphQL:"), query, None);
    let sdl = answer["data"]["_service"]["sdl"].as_str().unwrap();
    let keys: Vec<_> = sdl.split("@key(").skip(1).collect();
    assert!(!keys.is_empty());
    assert!(
        keys.iter().all(|key| key.starts_with("fields: \"id\")")),
        "{sdl}"
    );
    let types = sdl.lines().filter(|line| line.starts_with("type Person "));
    assert!(
        types
            .clone()
            .all(|line| line.contains("@key(fields: \"id\")")),
        "{sdl}"
    );
    assert_eq!(types.count(), 1, "{sdl}");
}
