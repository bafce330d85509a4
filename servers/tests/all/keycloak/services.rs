//! Services that take the tokens of a realm, and a gateway that logs in to it.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::fault_proxy::{Fault, FaultProxy, Harm};

use super::{APPLICATION, Realm};
use crate::gateway::process::Gateway;
use crate::gateway::soml::{Soml, get, post};
use crate::processes::agent;

const SCHEMA: &str = "
id: /soml/ships
specialPrefixes: {vocab_iri: 'http://ships.example/', vocab_prefix: s}
objects:
  Ship: {props: {name: {}, crew: {range: int}}}
rbac:
  roles:
    Federation: {actions: ['_Service/sdl/read']}
    Reader: {actions: ['Ship/*/read'], notActions: ['Ship/crew/read']}
";

const DATA: &str =
    "@prefix s: <http://ships.example/> . s:a a s:Ship ; s:name \"Argo\" ; s:crew 50 .";

const QUERY: &str = "{ ship { name crew } }";

/// An object service that takes the tokens of a realm.
pub(super) struct Ships {
    soml: Soml,
    _folder: TempDir,
}

impl Ships {
    /// Starts the service, which fetches the keys of the realm from a server.
    pub(super) fn start(realm: &Realm, keys_from: &str) -> Ships {
        let folder = TempDir::new().unwrap();
        let written = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let keys = format!(
            "security.jwks.url={keys_from}/realms/{}/protocol/openid-connect/certs",
            realm.name
        );
        let (issuer, audience) = (
            format!("security.issuer={}", realm.issuer()),
            format!("security.audience={APPLICATION}"),
        );
        let (schema, data) = (written("ships.yaml", SCHEMA), written("ships.ttl", DATA));
        let mut arguments = vec!["--schema", &schema, "--data", &data];
        let federation = "graphql.federation.enabled=true";
        let super_roles = "security.superRoles=Admin";
        for property in [&keys, &issuer, &audience, federation, super_roles] {
            arguments.extend(["--set", property]);
        }
        let soml = Soml::start(&arguments, &[], "Writing:");
        Ships {
            soml,
            _folder: folder,
        }
    }

    pub(super) fn base(&self) -> &str {
        self.soml.base("GraphQL:")
    }
}

/// Starts a gateway that logs in to the realm.
fn gateway(realm: &Realm, ships: &Ships, credentials: &[(&str, &str)]) -> Gateway {
    let address: SocketAddr = realm.url.trim_start_matches("http://").parse().unwrap();
    let (host, port) = (address.ip().to_string(), address.port().to_string());
    let endpoint = format!("{}/graphql", ships.base());
    let common = [
        ("GRAPHQL_SERVICE_0", endpoint.as_str()),
        ("SECURITY_ENABLED", "true"),
        ("IDP_TYPE", "keycloak"),
        ("IDP_REALM", realm.name.as_str()),
        ("IDP_APPLICATION_ID", APPLICATION),
        ("IDP_PROTOCOL", "http"),
        ("IDP_HOST", &host),
        ("IDP_PORT", &port),
        ("IDP_LOGIN_RETRIES", "0"),
    ];
    Gateway::start(&[&common, credentials].concat())
}

const USER: [(&str, &str); 2] = [("IDP_USERNAME", "gateway"), ("IDP_PASSWORD", "hunter two")];

#[test]
#[ignore = "needs a running Keycloak server: scripts/servers.sh start keycloak"]
fn a_gateway_composes_by_logging_in_and_callers_see_what_their_roles_allow() {
    let realm = Realm::provisioned("gateway");
    let ships = Ships::start(&realm, &realm.url);
    let mut gateway = gateway(&realm, &ships, &USER);
    gateway.composed();
    let anna = realm.token_of("anna", "correct horse");
    let bert = realm.token_of("bert", "battery staple");
    for base in [ships.base(), &gateway.base] {
        let (status, answer) = post(base, QUERY, Some(&anna));
        let ship = json!({"name": "Argo", "crew": 50});
        assert_eq!(
            (status, &answer["data"]["ship"]),
            (200, &json!([ship])),
            "{answer}"
        );
        let (_, answer) = post(base, QUERY, Some(&bert));
        let told = &answer["errors"][0];
        assert_eq!(told["path"], json!(["ship", "crew"]), "{answer}");
        let ship = &answer["data"]["ship"][0];
        assert_eq!(
            (&ship["name"], &ship["crew"]),
            (&json!("Argo"), &Value::Null)
        );
        let (_, answer) = post(base, QUERY, None);
        assert!(answer["data"]["ship"].is_null(), "{answer}");
    }
    let (_, log) = gateway.stop();
    assert!(!log.contains("hunter two") && !log.contains("eyJ"), "{log}");
}

#[test]
#[ignore = "needs a running Keycloak server: scripts/servers.sh start keycloak"]
fn a_gateway_logs_in_as_the_service_account_of_a_client_with_a_secret() {
    let realm = Realm::provisioned("secret");
    let mut client = realm.client(APPLICATION);
    for (key, value) in [
        ("publicClient", json!(false)),
        ("secret", json!("of the client")),
        ("serviceAccountsEnabled", json!(true)),
        ("directAccessGrantsEnabled", json!(false)),
    ] {
        client[key] = value;
    }
    let id = client["id"].as_str().unwrap().to_owned();
    assert_eq!(
        realm.ask("PUT", &format!("/clients/{id}"), Some(&client)).0,
        204
    );
    let account = realm.get(&format!("/clients/{id}/service-account-user"));
    let role = realm.get(&format!("/clients/{id}/roles/Federation"));
    let account = account["id"].as_str().unwrap();
    let mappings = format!("/users/{account}/role-mappings/clients/{id}");
    assert_eq!(realm.ask("POST", &mappings, Some(&json!([role]))).0, 204);
    // What the operator has made of the client stays.
    let done = realm.provision(super::USERS, &[]);
    assert_eq!(crate::command_line::out(&done), "nothing to change\n");

    let ships = Ships::start(&realm, &realm.url);
    let mut gateway = gateway(&realm, &ships, &[("IDP_CLIENT_SECRET", "of the client")]);
    gateway.composed();
    let (_, log) = gateway.stop();
    assert!(!log.contains("of the client"), "{log}");
}

#[test]
#[ignore = "needs a running Keycloak server: scripts/servers.sh start keycloak"]
fn a_gateway_that_may_not_log_in_or_read_schemas_is_told_why() {
    let realm = Realm::provisioned("not-told");
    let ships = Ships::start(&realm, &realm.url);
    let bert = [("IDP_USERNAME", "bert"), ("IDP_PASSWORD", "battery staple")];
    let mut without_role = gateway(&realm, &ships, &bert);
    let (ended, log) = without_role.end();
    assert_eq!(ended, Some(1), "{log}");
    assert!(log.contains("_Service/sdl/read"), "{log}");

    let wrong = [("IDP_USERNAME", "gateway"), ("IDP_PASSWORD", "wrong horse")];
    let (ended, log) = gateway(&realm, &ships, &wrong).end();
    assert_eq!(ended, Some(1), "{log}");
    assert!(
        log.contains("the password is wrong") && !log.contains("horse"),
        "{log}"
    );

    let mut client = realm.client(APPLICATION);
    client["directAccessGrantsEnabled"] = json!(false);
    let path = format!("/clients/{}", client["id"].as_str().unwrap());
    assert_eq!(realm.ask("PUT", &path, Some(&client)).0, 204);
    let (ended, log) = gateway(&realm, &ships, &USER).end();
    assert_eq!(ended, Some(1), "{log}");
    assert!(log.contains("direct access grants"), "{log}");
}

#[test]
#[ignore = "needs a running Keycloak server: scripts/servers.sh start keycloak"]
fn services_go_on_while_the_provider_is_unavailable() {
    let realm = Realm::provisioned("dying");
    let server: SocketAddr = realm.url.trim_start_matches("http://").parse().unwrap();
    let proxy = FaultProxy::start(server);
    let ships = Ships::start(&realm, &format!("http://{}", proxy.address()));
    let mut gateway = gateway(&realm, &ships, &USER);
    gateway.composed();
    let anna = realm.token_of("anna", "correct horse");
    assert_eq!(post(ships.base(), QUERY, Some(&anna)).0, 200);
    proxy.harm(Harm {
        fault: Fault::Refuse,
        is_carried_out: false,
        only: |_, _| true,
        times: usize::MAX,
    });
    // A token that was not seen before: its signature is verified by the keys that are known.
    let bert = realm.token_of("bert", "battery staple");
    for base in [ships.base(), &gateway.base] {
        let (status, answer) = post(base, "{ ship { name } }", Some(&bert));
        assert_eq!(status, 200, "{answer}");
        assert_eq!(
            answer["data"]["ship"],
            json!([{"name": "Argo"}]),
            "{answer}"
        );
        let health = format!("{base}/__health?cache=false");
        let mut health = agent()
            .get(health)
            .header("authorization", format!("Bearer {bert}"))
            .call()
            .unwrap();
        assert_eq!(health.status(), 200);
        let record = health.body_mut().read_to_string().unwrap();
        let record: Value = serde_json::from_str(&record).unwrap();
        assert_eq!(record["status"], "OK", "{record}");
        assert_eq!(get(base, "/__gtg")["gtg"], "OK");
    }
}
