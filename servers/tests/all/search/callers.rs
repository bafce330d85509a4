//! Who may do what at the search service, and where its schemas come from.

use std::sync::Arc;

use outbound::Secret;
use search_service::{ObjectServiceSchemas, SearchParts};
use serde_json::json;
use servers::config::{SearchRoles, Switch};
use service_auth::Verifier;

use super::{World, planets};
use crate::authentication::{SECRET, token_of};
use crate::service::Service;

const READER: &str = "    Reader: {description: Reads little, actions: ['*/id/read']}\n";

/// The section of roles of a schema.
fn rbac(roles: &str) -> String {
    match roles {
        "" => String::new(),
        roles => format!("rbac:\n  roles:\n{roles}"),
    }
}

/// What a service is made of whose requests need a token, and whose searches obey no roles.
fn guarded(enabled: Switch) -> (World, SearchParts) {
    guarded_with(enabled, false)
}

fn guarded_with(enabled: Switch, obeys_roles: bool) -> (World, SearchParts) {
    let mut world = World::embedded();
    world.settings.security.secret = Some(Secret::new(SECRET));
    world.settings.search.enabled = enabled;
    world.settings.search.roles = if obeys_roles {
        SearchRoles::Said(Switch::Automatic)
    } else {
        SearchRoles::Ignored
    };
    let mut parts = world.parts(planets(3));
    let verifier = Verifier::of(&world.settings.security.verifier_options()).unwrap();
    parts.host.verifier = Some(Arc::new(verifier));
    (world, parts)
}

/// A service whose requests need a token, with a schema that has some roles.
fn serve(roles: &str) -> (World, Service) {
    let (world, parts) = guarded(Switch::On);
    let soml = world.soml("title: {}");
    let (service, _app) = Service::search(parts, Some(&format!("{soml}{}", rbac(roles))));
    (world, service)
}

/// A service whose requests need a token, with a schema that lets readers read less than all.
fn secured() -> (World, Service) {
    serve(READER)
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

const EVERYBODY: &str = "    Default: {actions: ['*/*/read']}\n";

#[test]
fn health_says_that_roles_are_not_enforced_where_nobody_has_decided_that() {
    let hidden = "`search.rbac.enabled` is not set";
    let all_but_unknown = "    Reader: {actions: ['*/*/read']}\n";
    for (roles, status) in [
        (READER, "WARNING"),
        ("", "WARNING"),
        (all_but_unknown, "WARNING"),
        (EVERYBODY, "OK"),
    ] {
        let (_world, service) = serve(roles);
        let record = service.get("/__health").json();
        let check = &record["healthChecks"][0];
        assert_eq!(check["status"], status, "{roles}: {record:#}");
        let message = check["message"].as_str().unwrap();
        assert_eq!(message.contains(hidden), status == "WARNING", "{message}");
        // Whoever asks needs no token.
        assert!(
            !message.contains("Planet") && !message.contains("Reader"),
            "{message}"
        );
    }
}

#[test]
fn with_security_on_a_schema_that_hides_something_is_bound_only_where_search_is_enabled() {
    let admin = &["SchemaRBACAdmin"][..];
    for (enabled, roles, expected) in [
        (Switch::Automatic, READER, Some("`Reader`")),
        (Switch::Off, READER, Some("`Reader`")),
        (Switch::Automatic, "", Some("no `rbac` section")),
        (
            Switch::Automatic,
            "    Reader: {actions: ['*/*/read']}\n",
            Some("`Default`"),
        ),
        (Switch::Automatic, EVERYBODY, None),
        (Switch::On, READER, None),
        (Switch::On, "", None),
    ] {
        let (world, parts) = guarded(enabled);
        let schemas = Arc::clone(&parts.schemas);
        let (service, app) = Service::search(parts, None);
        let soml = format!("{}{}", world.soml("title: {}"), rbac(roles));
        super::block_on(schemas.create("sky", soml.as_str().into())).unwrap();
        let answer = with_token(&service, ("PUT", "/soml/sky/search"), admin);
        assert_eq!(app.has_schema(), expected.is_none(), "{enabled:?} {roles}");
        let Some(expected) = expected else {
            assert_eq!(answer.status, 200, "{}", answer.text());
            continue;
        };
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (409, "SEARCH_IGNORES_ROLES")
        );
        let said = answer.text();
        for part in [expected, &world.object, "`search.enabled=true`"] {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
}

#[test]
fn searches_obey_the_roles_of_callers() {
    let (world, parts) = guarded_with(Switch::Automatic, true);
    let roles = "    Reader: {actions: ['*/id/read', '*/title/read'], filters: {__: {read: {title: {EQ: $claims.preferred_username}}}}}\n    \
                 Admin: {actions: ['*/*/*']}\n";
    let roles = roles.replace("__", &world.object);
    let soml = format!("{}{}", world.soml("title: {}"), rbac(&roles));
    let (service, app) = Service::search(parts, Some(&soml));
    assert!(app.has_schema());
    let status = service.get("/__health").json()["healthChecks"][0]["status"].clone();
    assert_eq!(status, "OK");
    let found = |name: &str, roles: &[&str]| {
        let authorization = format!("Bearer {}", token_of(name, roles));
        let headers = [
            ("authorization", authorization.as_str()),
            ("content-type", "application/json"),
        ];
        let root = world.root();
        let query = format!("{{ {root}(size: 100) {{ total {{ value }} }} }}");
        let body = json!({ "query": query }).to_string();
        let answer = service
            .send("POST", "/graphql", &headers, body.as_bytes())
            .json();
        (
            answer["data"][&root]["total"]["value"].clone(),
            answer["errors"][0]["extensions"]["code"].clone(),
        )
    };
    assert_eq!(found("anna", &["Admin"]), (json!(3), json!(null)));
    assert_eq!(found("Planet 1", &["Reader"]), (json!(1), json!(null)));
    assert_eq!(found("Planet 9", &["Reader"]), (json!(0), json!(null)));
    assert_eq!(
        found("anna", &["Nobody"]),
        (json!(null), json!("ACCESS_FIELD_REMOVED"))
    );
}

#[test]
fn without_security_roles_are_nobody_s_and_any_schema_is_bound() {
    let world = World::embedded();
    let parts = world.parts(planets(3));
    let soml = format!("{}{}", world.soml("title: {}"), rbac(READER));
    let (service, app) = Service::search(parts, Some(&soml));
    assert!(app.has_schema());
    assert_eq!(
        service.get("/__health").json()["healthChecks"][0]["status"],
        "OK"
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
    let flags = [format!("search.soml.address={}", objects.base)];
    let sources = servers::config::Sources {
        flags: &flags,
        ..servers::config::Sources::default()
    };
    let (settings, _) = servers::config::read(&sources).unwrap();
    let address = settings.search.object_service.unwrap();
    let mut parts = world.parts(planets(5));
    parts.schemas =
        Arc::new(ObjectServiceSchemas::new(address, None, settings.max_schema_bytes).unwrap());
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
