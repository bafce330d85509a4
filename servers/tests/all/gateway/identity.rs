//! The gateway over object services that demand tokens, which the development provider gives.

use std::net::TcpListener;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::{Value, json};

use super::process::Gateway;
use super::soml::{Soml, log_in};
use super::subgraph::{Asked, Said, Subgraph};

/// The application of the development provider.
const APPLICATION: &str = "8a1f6c2e-5b0d-4e37-9c64-d7f03b52a918";

const USERS: &str = "security:
  roles: [{name: Federation}, {name: Reader}, {name: Staff}]
  users:
  - {username: gateway, password: correct horse, roles: [Federation]}
  - {username: rita, password: battery staple, roles: [Reader]}
  - {username: stan, password: paper clip, roles: [Staff]}
";

const ROLES: &str = "rbac:
  roles:
    Federation: {actions: ['_Service/sdl/read']}
    Reader: {actions: ['Person/id/read', 'Person/ex:name/read', 'Company/*/read']}
    Staff: {actions: ['*/*/read']}
";

/// Two object services with roles, the first of which is the provider of tokens for both.
struct Staff {
    people: Soml,
    payroll: Soml,
    _folder: tempfile::TempDir,
}

impl Staff {
    fn start() -> Staff {
        Staff::start_at(0)
    }

    /// Starts the services, the first of them on a port.
    fn start_at(port: u16) -> Staff {
        let folder = tempfile::tempdir().unwrap();
        let users = folder.path().join("users.yaml");
        std::fs::write(&users, USERS).unwrap();
        let users = format!("security.provisioning.file={}", users.display());
        let people = secured(folder.path(), "people", port, &[&users]);
        let keys = people.base("GraphQL:");
        let keys = format!("security.jwks.url={keys}/.well-known/jwks.json");
        let audience = format!("security.audience={APPLICATION}");
        let payroll = secured(folder.path(), "payroll", 0, &[&keys, &audience]);
        Staff {
            people,
            payroll,
            _folder: folder,
        }
    }

    fn port(&self) -> u16 {
        let base = self.people.base("GraphQL:");
        base.rsplit(':').next().unwrap().parse().unwrap()
    }

    /// Starts a gateway over both that logs in, without waiting.
    fn gateway(&self, user: [&str; 2], variables: &[(&str, &str)]) -> Gateway {
        let urls = [self.people.endpoint(), self.payroll.endpoint()];
        gateway(&[&urls[0], &urls[1]], self.port(), user, variables)
    }

    fn token(&self, user: &str, password: &str) -> String {
        let token = log_in(self.people.base("GraphQL:"), user, password);
        format!("Bearer {token}")
    }
}

/// Starts an object service with roles.
fn secured(folder: &Path, name: &str, port: u16, properties: &[&str]) -> Soml {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/examples");
    let text = std::fs::read_to_string(examples.join(format!("{name}.yaml"))).unwrap();
    let schema = folder.join(format!("{name}.yaml"));
    std::fs::write(&schema, text + ROLES).unwrap();
    let data = examples.join(format!("{name}.ttl"));
    let (schema, data) = (schema.to_str().unwrap(), data.to_str().unwrap());
    let mut arguments = vec!["--schema", schema, "--data", data];
    for property in ["graphql.federation.enabled=true"].iter().chain(properties) {
        arguments.extend(["--set", property]);
    }
    Soml::start_at(port, &arguments, &[], "Writing:")
}

const GATEWAY: [&str; 2] = ["gateway", "correct horse"];

fn gateway(urls: &[&str], provider: u16, user: [&str; 2], variables: &[(&str, &str)]) -> Gateway {
    let numbered: Vec<_> = (0..urls.len())
        .map(|number| format!("GRAPHQL_SERVICE_{number}"))
        .collect();
    let named = numbered
        .iter()
        .map(String::as_str)
        .zip(urls.iter().copied());
    let port = provider.to_string();
    let own = [
        ("SECURITY_ENABLED", "true"),
        ("IDP_APPLICATION_ID", APPLICATION),
        ("IDP_PROTOCOL", "http"),
        ("IDP_HOST", "127.0.0.1"),
        ("IDP_PORT", &port),
        ("IDP_USERNAME", user[0]),
        ("IDP_PASSWORD", user[1]),
    ];
    let all: Vec<_> = named.chain(own).chain(variables.iter().copied()).collect();
    Gateway::start(&all)
}

const QUERY: &str =
    "{ people_person(orderBy: {name: ASC}, limit: 2) { name email salary employer { name } } }";

#[test]
fn the_gateway_logs_in_at_the_development_provider_and_callers_see_what_their_roles_allow() {
    let staff = Staff::start();
    let mut gateway = staff.gateway(GATEWAY, &[]);
    gateway.composed();
    let stan = staff.token("stan", "paper clip");
    let answer = gateway.post(QUERY, &[("authorization", &stan)]).json();
    let expected = json!({"data": {"people_person": [
        {"name": "Ada", "email": "ada@example.org", "salary": "100", "employer": {"name": "Acme"}},
        {"name": "Bob", "email": "bob@example.org", "salary": "90", "employer": null},
    ]}});
    assert_eq!(answer, expected);
    // Neither service shows what the role of the caller may not read.
    let rita = staff.token("rita", "battery staple");
    let answer = gateway.post(QUERY, &[("authorization", &rita)]).json();
    let people = answer["data"]["people_person"].as_array().unwrap();
    assert_eq!(people[0]["name"], "Ada", "{answer}");
    for secret in ["ada@example.org", "100", "90"] {
        assert!(!answer["data"].to_string().contains(secret), "{answer}");
    }
    let messages = answer["errors"].to_string();
    for field in ["'email' from type 'Person'", "'salary' from type 'Person'"] {
        assert!(messages.contains(field), "{field}: {answer}");
    }
    // The user of the gateway reads schemas and nothing else.
    let own = staff.token(GATEWAY[0], GATEWAY[1]);
    let answer = gateway.post(QUERY, &[("authorization", &own)]).json();
    assert!(!answer["data"].to_string().contains("Ada"), "{answer}");
    // Whoever has no token, or a wrong one, is answered by the services, not by the token of the gateway.
    for headers in [&[][..], &[("authorization", "Bearer a.b.c")]] {
        let reply = gateway.post(QUERY, headers);
        assert_eq!(
            (reply.status, reply.code()),
            (200, json!("UNAUTHENTICATED")),
            "{}",
            reply.text
        );
        let nothing = json!({ "people_person": null });
        assert_eq!(reply.json()["data"], nothing, "{}", reply.text);
    }
    let (_, log) = gateway.stop();
    assert!(
        !log.contains("correct horse") && !log.contains("Bearer"),
        "{log}"
    );
}

#[test]
fn a_wrong_password_is_tried_as_often_as_configured_and_ends_the_start() {
    let staff = Staff::start();
    let tries = [("IDP_LOGIN_RETRIES", "2"), ("IDP_LOGIN_RETRY_DELAY", "100")];
    let begun = Instant::now();
    let (code, log) = staff.gateway(["gateway", "wrong"], &tries).end();
    assert_eq!(code, Some(1), "{log}");
    assert!(begun.elapsed().as_millis() >= 200);
    let failures = log
        .matches("failed to log in to the identity provider")
        .count();
    assert_eq!(failures, 3, "{log}");
    assert!(log.contains("no log-in after 3 attempts"), "{log}");
}

#[test]
fn a_user_without_the_right_to_the_schema_is_told_which_right_that_is() {
    let staff = Staff::start();
    let (code, log) = staff.gateway(["rita", "battery staple"], &[]).end();
    assert_eq!(code, Some(1), "{log}");
    assert_eq!(
        log.matches(" ERROR ").count(),
        2,
        "one for each service: {log}"
    );
    assert!(
        log.contains("roles=[Reader]") && log.contains("`_Service/sdl/read`"),
        "{log}"
    );
    let without = [("SECURITY_ENABLED", "false")];
    let (code, log) = staff.gateway(GATEWAY, &without).end();
    assert_eq!(code, Some(1), "{log}");
    assert!(
        log.contains("demands a token") && log.contains("SECURITY_ENABLED=true"),
        "{log}"
    );
}

/// Returns a port that nobody listens on, below those that systems give to whoever asks for any.
fn quiet_port() -> u16 {
    let first = 20_000 + u16::try_from(std::process::id() % 10_000).unwrap();
    let is_quiet = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    (first..30_000).find(is_quiet).unwrap()
}

#[test]
fn a_provider_that_comes_later_is_waited_for() {
    let port = quiet_port();
    let url = format!("http://127.0.0.1:{port}/graphql");
    let tries = [
        ("IDP_LOGIN_RETRIES", "1000000"),
        ("IDP_LOGIN_RETRY_DELAY", "100"),
    ];
    let mut gateway = gateway(&[&url], port, GATEWAY, &tries);
    gateway.wait_for_log("failed to log in to the identity provider", 2);
    assert_eq!(gateway.get("/__gtg").status, 503);
    let staff = Staff::start_at(port);
    gateway.composed();
    let stan = staff.token("stan", "paper clip");
    let answer = gateway.post("{ people_person { email } }", &[("authorization", &stan)]);
    assert!(answer.text.contains("ada@example.org"), "{}", answer.text);
}

const ACCOUNTS: &str =
    "type Query { me: User } type User @key(fields: \"id\") { id: ID! token: String }";
const VISITS: &str =
    "extend type User @key(fields: \"id\") { id: ID! @external seen(at: String): String }";

/// The subgraphs say which token they were sent, the second one to the entity that the first one named.
fn who() -> (Subgraph, Subgraph) {
    let token = |asked: &Asked| asked.header("authorization").unwrap_or("nobody").to_owned();
    let accounts = Subgraph::start(ACCOUNTS, move |asked| {
        // All callers are one entity, so that only the token tells them apart.
        let me = json!({"__typename": "User", "id": "1", "token": token(asked)});
        Said::from(json!({ "data": { "me": me } }))
    });
    let visits = Subgraph::start(VISITS, move |asked| {
        assert_eq!(asked.variables["representations"][0]["id"], "1");
        let seen = json!({"__typename": "User", "seen": token(asked)});
        Said::from(json!({ "data": { "_entities": [seen] } }))
    });
    (accounts, visits)
}

const ME: &str = "{ me { token seen(at: \"now\") } }";
/// The SHA-256 hash of it.
const HASH: &str = "cc2d4e598b1fcfb90a1f211a63167a927088776b7c54b8dc26e7361bee9100c2";

/// The ways in which a client may send the one operation.
fn bodies() -> [Value; 3] {
    let persisted = json!({"persistedQuery": {"version": 1, "sha256Hash": HASH}});
    [
        json!({ "query": ME }),
        json!({ "query": ME, "extensions": persisted }),
        json!({ "extensions": persisted }),
    ]
}

#[test]
fn fifty_clients_with_two_tokens_never_share_an_answer() {
    const ROUNDS: usize = 30;
    let (accounts, visits) = who();
    let urls = [accounts.url("/graphql"), visits.url("/graphql")];
    let variables = [
        ("CACHE_MAX_AGE", "60"),
        ("GATEWAY_BATCHING_MAXOPERATIONS", "2"),
    ];
    let gateway = Gateway::over(&[&urls[0], &urls[1]], &variables);
    let bodies = bodies();
    // From here on the hash is known.
    let first = send(&gateway, Some("Bearer first"), &bodies[1]);
    assert_eq!(first["data"]["me"]["token"], "Bearer first", "{first}");
    let answers = AtomicUsize::new(0);
    let (gateway, bodies, count) = (&gateway, &bodies, &answers);
    std::thread::scope(|scope| {
        for client in 0..50 {
            let own = format!("Bearer token-{}", client % 2);
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    // Some send nothing of themselves in between.
                    let token = (round % 7 != 6).then_some(own.as_str());
                    let said = token.unwrap_or("nobody");
                    let me = json!({"data": {"me": {"token": said, "seen": said}}});
                    let body = &bodies[(client + round) % 3];
                    let (body, expected) = match round % 5 {
                        4 => (json!([body, body]), json!([me, me])),
                        _ => (body.clone(), me),
                    };
                    assert_eq!(send(gateway, token, &body), expected, "{body}");
                    count.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
    });
    assert_eq!(answers.load(Ordering::SeqCst), 50 * ROUNDS);
}

fn send(gateway: &Gateway, token: Option<&str>, body: &Value) -> Value {
    let json = ("content-type", "application/json");
    let token = token.map(|token| ("authorization", token));
    let headers: Vec<_> = [json].into_iter().chain(token).collect();
    let reply = gateway.send("POST", "/graphql", &headers, &body.to_string());
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.json()
}
