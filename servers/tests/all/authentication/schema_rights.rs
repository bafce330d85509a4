//! `/soml-rbac`: who may manage which schemas.

use serde_json::json;

use super::process::Process;
use super::routes::{as_user, secured};
use super::{SECRET, token_of};
use crate::service::{Answer, Service};

const RIGHTS: &str = "
rbac:
  roles:
    Reader: {actions: ['*/soml/read']}
    Editor: {description: Edits films, actions: ['films/*/*'], notActions: ['films/objects/delete']}
    Keeper: {actions: ['soml-rbac/*/read']}
";

const FILMS: &str = "id: /soml/films\nobjects: {Film: {props: {title: {}}}}\nrbac: {roles: {}}\n";

struct Managed {
    service: Service,
}

impl Managed {
    fn new() -> Self {
        let managed = Managed {
            service: secured(&[]),
        };
        let answer = managed.put("/soml-rbac", RIGHTS, "SchemaRBACAdmin");
        assert_eq!(answer.status, 201, "{}", answer.text());
        managed
    }

    fn ask(&self, method: &str, path: &str, role: &str) -> Answer {
        as_user(&self.service, method, path, &token_of("anna", &[role]))
    }

    fn put(&self, path: &str, text: &str, role: &str) -> Answer {
        self.send("PUT", path, text, role)
    }

    fn send(&self, method: &str, path: &str, text: &str, role: &str) -> Answer {
        let token = token_of("anna", &[role]);
        send_as(&self.service, (method, path), &token, ("text/yaml", text))
    }
}

fn send_as(
    service: &Service,
    (method, path): (&str, &str),
    token: &str,
    (media_type, text): (&str, &str),
) -> Answer {
    let authorization = format!("Bearer {token}");
    let headers = [
        ("authorization", authorization.as_str()),
        ("content-type", media_type),
    ];
    service.send(method, path, &headers, text.as_bytes())
}

#[track_caller]
fn assert_forbidden(answer: &Answer) {
    assert_eq!((answer.status, answer.code().as_str()), (403, "FORBIDDEN"));
}

#[test]
fn without_rights_only_administrators_read_or_change_them() {
    let managed = Managed {
        service: secured(&["security.schemaAdminRole=Chief"]),
    };
    assert_forbidden(&managed.ask("GET", "/soml-rbac", "Reader"));
    assert_forbidden(&managed.put("/soml-rbac", RIGHTS, "SchemaRBACAdmin"));
    let absent = managed.ask("GET", "/soml-rbac", "Chief");
    assert_eq!(
        (absent.status, absent.code().as_str()),
        (404, "SCHEMA_RIGHTS_NOT_FOUND")
    );
    assert_eq!(managed.put("/soml-rbac", RIGHTS, "Chief").status, 201);
    assert_eq!(managed.put("/soml-rbac", RIGHTS, "Chief").status, 200);
}

#[test]
fn the_rights_are_returned_as_json_ld_and_as_yaml() {
    let managed = Managed::new();
    let answer = managed.ask("GET", "/soml-rbac", "Keeper");
    assert_eq!(answer.status, 200);
    assert!(
        answer
            .header("content-type")
            .starts_with("application/ld+json")
    );
    let document = answer.json();
    assert_eq!(document["@id"], "/soml-rbac");
    assert_eq!(
        document["rbac"]["roles"]["Editor"],
        json!({
            "description": "Edits films",
            "actions": ["films/*/*"],
            "notActions": ["films/objects/delete"],
        })
    );
    let token = format!("Bearer {}", token_of("anna", &["Keeper"]));
    let headers = [("authorization", token.as_str()), ("accept", "text/yaml")];
    let yaml = managed.service.send("GET", "/soml-rbac", &headers, b"");
    assert_eq!(yaml.text(), RIGHTS);
    assert_forbidden(&managed.put("/soml-rbac", RIGHTS, "Keeper"));
}

#[test]
fn json_is_taken_too_and_what_is_malformed_is_refused() {
    let managed = Managed::new();
    let token = token_of("anna", &["SchemaRBACAdmin"]);
    let put = |media_type: &str, text: &str| {
        send_as(
            &managed.service,
            ("PUT", "/soml-rbac"),
            &token,
            (media_type, text),
        )
    };
    let text = r#"{"rbac": {"roles": {"R": {"actions": ["*/*/*"]}}}}"#;
    assert_eq!(put("application/json", text).status, 200);
    let refused = put(
        "text/yaml",
        "rbac: {roles: {R: {actions: ['films/soml/red']}}}",
    );
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (422, "SCHEMA_RIGHTS_INVALID")
    );
    assert!(
        refused.text().contains("names no operation"),
        "{}",
        refused.text()
    );
    assert_eq!(put("text/plain", text).status, 415);
    let kept = as_user(&managed.service, "GET", "/soml-rbac", &token).json();
    assert_eq!(kept["rbac"]["roles"]["R"]["actions"], json!(["*/*/*"]));
}

#[test]
fn a_change_can_expect_a_revision() {
    let managed = Managed::new();
    let bearer = format!("Bearer {}", token_of("anna", &["SchemaRBACAdmin"]));
    let put = |tag: &str| {
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "text/yaml"),
            ("if-match", tag),
        ];
        managed
            .service
            .send("PUT", "/soml-rbac", &headers, RIGHTS.as_bytes())
    };
    assert_eq!(put("\"other\"").status, 412);
    let tag = managed.ask("GET", "/soml-rbac", "Keeper").header("etag");
    assert_eq!(put(&tag).status, 200);
    assert_eq!(put(&tag).status, 412);
}

#[test]
fn roles_manage_the_schemas_that_their_actions_name() {
    let managed = Managed::new();
    let other = FILMS.replace("films", "other");
    assert_forbidden(&managed.send("POST", "/soml", &other, "Editor"));
    assert_forbidden(&managed.send("POST", "/soml", FILMS, "Reader"));
    assert_eq!(
        managed
            .send("POST", "/soml/validate", FILMS, "Editor")
            .status,
        200
    );
    assert_forbidden(&managed.send("POST", "/soml/validate", FILMS, "Reader"));
    assert_eq!(managed.send("POST", "/soml", FILMS, "Editor").status, 201);
    assert_eq!(managed.ask("GET", "/soml/films", "Reader").status, 200);
    assert_eq!(
        managed.ask("PUT", "/soml/films/objects", "Editor").status,
        200
    );
    assert_forbidden(&managed.ask("DELETE", "/soml/films/objects", "Editor"));
    assert_forbidden(&managed.ask("DELETE", "/soml/films/soaas", "Editor"));
    assert_forbidden(&managed.ask("DELETE", "/soml/films", "Reader"));
    // However the path is written, it names the same document.
    assert_forbidden(&managed.ask("DELETE", "/soml/f%69lms", "Reader"));
    assert_forbidden(&managed.ask("DELETE", "/soml/swapi", "Editor"));
    assert_eq!(managed.put("/soml/films", FILMS, "Editor").status, 200);
    let listed = managed.ask("GET", "/soml", "Editor").json();
    assert_eq!(listed["hydra:totalItems"], 1);
    assert_eq!(listed["hydra:member"][0]["@id"], "/soml/films");
    assert_forbidden(&managed.ask("GET", "/soml", "Unknown"));
}

#[test]
fn each_change_is_one_line_of_the_audit() {
    let process = Process::start(&[("security.secret", SECRET)]);
    let token = token_of("anna", &["SchemaRBACAdmin"]);
    let headers = format!("Authorization: Bearer {token}\r\nContent-Type: text/yaml\r\n");
    let more = format!("{FILMS}# more\n");
    for (method, path, text, status) in [
        ("PUT", "/soml-rbac", RIGHTS, 201),
        ("POST", "/soml", FILMS, 201),
        ("PUT", "/soml/films", more.as_str(), 200),
        ("DELETE", "/soml/films", "", 204),
        ("DELETE", "/soml/films", "", 404),
    ] {
        let reply = process.send((method, path), headers.as_bytes(), text.as_bytes());
        assert_eq!(reply.status, status, "{method} {path}: {}", reply.text);
    }
    let log = process.log();
    let audit: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("managed schemas"))
        .collect();
    assert_eq!(audit.len(), 4, "{log}");
    for (line, parts) in audit.iter().zip([
        ["anna", "replace", "soml-rbac", "+Editor +Keeper +Reader"],
        ["anna", "create", "films", "+3 -0 lines"],
        ["anna", "replace", "films", "+1 -0 lines"],
        ["anna", "remove", "films", ""],
    ]) {
        for part in parts {
            assert!(line.contains(part), "{part} is not in {line}");
        }
    }
}

#[test]
fn change_records_are_for_those_who_administer() {
    let managed = Managed::new();
    for (role, status) in [
        ("SchemaRBACAdmin", 200),
        ("Reader", 403),
        ("Keeper", 403),
        ("Editor", 403),
    ] {
        let answer = managed.ask("GET", "/changes", role);
        assert_eq!(answer.status, status, "{role}: {}", answer.text());
        if status == 403 {
            assert_eq!(answer.code(), "FORBIDDEN");
        }
    }
    let anonymous = managed.service.get("/changes");
    assert_eq!(anonymous.status, 401, "{}", anonymous.text());
}
