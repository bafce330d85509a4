//! Who may do what at the search service, and where its schemas come from.

use std::sync::Arc;

use graph_store::remote::http::Secret;
use serde_json::json;
use servers::auth::Verifier;
use servers::config::Settings;
use servers::search::ObjectServiceSchemas;

use super::{World, planets};
use crate::authentication::{SECRET, token_of};
use crate::service::Service;

/// A service whose requests need a token, with a schema that lets readers read less than all.
fn secured() -> (World, Service) {
    let mut world = World::embedded();
    world.settings.security.secret = Some(Secret::new(SECRET));
    let mut parts = world.parts(planets(3));
    let verifier = Verifier::of(&world.settings.security).unwrap();
    parts.verifier = Some(Arc::new(verifier));
    let soml = world.soml("title: {}");
    let roles =
        "rbac:\n  roles:\n    Reader: {description: Reads little, actions: ['*/id/read']}\n";
    let (service, _app) = Service::search(parts, Some(&format!("{soml}{roles}")));
    (world, service)
}

fn with_token(service: &Service, request: (&str, &str), roles: &[&str]) -> crate::service::Answer {
    let authorization = format!("Bearer {}", token_of("anna", roles));
    let headers = [
        ("authorization", authorization.as_str()),
        ("content-type", "application/json"),
    ];
    let body = json!({ "query": "{ __typename }" }).to_string();
    service.send(request.0, request.1, &headers, body.as_bytes())
}

#[test]
fn requests_need_a_token_and_binding_a_right() {
    let (_world, service) = secured();
    for (method, path) in [
        ("POST", "/graphql"),
        ("GET", "/soml/info"),
        ("PUT", "/soml/sky/search"),
        ("DELETE", "/soml/sky/search"),
        ("POST", "/soml/validate"),
        ("GET", "/schema.graphql"),
        ("GET", "/__health?cache=false"),
    ] {
        let answer = service.send(method, path, &[], b"");
        assert_eq!(answer.status, 401, "{method} {path}");
    }
    for path in [
        "/__health",
        "/__health?x=1&cache=true",
        "/__gtg",
        "/__gtg?x=1",
        "/__trouble",
        "/__trouble?x",
        "/__about",
        "/docs",
        "/__live",
        "/__ready",
        "/",
    ] {
        assert_ne!(service.get(path).status, 401, "{path}");
    }
    assert_eq!(
        with_token(&service, ("POST", "/graphql"), &["Reader"]).status,
        200
    );
    for request in [
        ("GET", "/soml/info"),
        ("PUT", "/soml/sky/search"),
        ("DELETE", "/soml/sky/search"),
        ("POST", "/soml/validate"),
    ] {
        let answer = with_token(&service, request, &["Reader"]);
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (403, "FORBIDDEN"),
            "{request:?}"
        );
    }
    let admin = &["SchemaRBACAdmin"][..];
    assert_eq!(
        with_token(&service, ("GET", "/soml/info"), admin).status,
        200
    );
    assert_eq!(
        with_token(&service, ("PUT", "/soml/sky/search"), admin).status,
        200
    );
    assert_eq!(
        with_token(&service, ("DELETE", "/soml/sky/search"), admin).status,
        204
    );
}

#[test]
fn health_says_that_roles_are_not_enforced_where_nobody_has_decided_that() {
    let (_world, service) = secured();
    let record = service.get("/__health").json();
    let check = &record["healthChecks"][0];
    assert_eq!(check["status"], "WARNING", "{record:#}");
    let message = check["message"].as_str().unwrap();
    assert!(
        message.contains("`search.rbac.enabled` is not set"),
        "{message}"
    );
}

#[test]
fn schemas_are_read_from_an_object_service() {
    let objects = Service::empty();
    let world = World::embedded();
    let soml = world.soml("title: {}");
    let headers = [("content-type", "text/yaml")];
    let stored = objects.send("POST", "/soml", &headers, soml.as_bytes());
    assert_eq!(stored.status, 201, "{}", stored.text());
    let mut settings = Settings::default();
    let flags = [format!("search.soml.address={}", objects.base)];
    let sources = servers::config::Sources {
        flags: &flags,
        ..servers::config::Sources::default()
    };
    settings.search.object_service = servers::config::read(&sources)
        .unwrap()
        .0
        .search
        .object_service;
    let address = settings.search.object_service.clone().unwrap();
    let mut parts = world.parts(planets(5));
    parts.schemas = Arc::new(ObjectServiceSchemas::new(address, &settings).unwrap());
    let (service, app) = Service::search(parts, None);
    let unknown = service.send("PUT", "/soml/none/search", &[], b"");
    assert_eq!(
        (unknown.status, unknown.code().as_str()),
        (404, "SCHEMA_NOT_FOUND")
    );
    let bound = service.send("PUT", "/soml/sky/search", &[], b"");
    assert_eq!(bound.status, 200, "{}", bound.text());
    assert_eq!(bound.header("etag"), stored.header("etag"));
    assert!(app.has_schema());
    drop(objects);
    let away = service.send("PUT", "/soml/sky/search", &[], b"");
    assert_eq!(away.status, 500);
}
