//! `soml provision --type keycloak`.

use std::process::Command;

use serde_json::{Value, json};
use service_auth::unverified_claims;

use super::{APPLICATION, Realm, USERS};
use crate::command_line::{code, err, out};
use crate::processes::output;

/// `correct horse`.
const HASH: &str = "$argon2id$v=19$m=4096,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$Fs3f3AmDjzWyBjjyo8OpE1GoenkeMqDw+adKFyzRXG8";

#[test]
#[ignore = "needs a running Keycloak server: scripts/servers.sh start keycloak"]
fn a_realm_is_created_with_roles_and_users_and_a_second_run_changes_nothing() {
    let realm = Realm::named("new");
    let looked = realm.provision(USERS, &["--dry-run"]);
    assert_eq!(code(&looked), Some(0), "{}", err(&looked));
    assert_eq!(realm.ask("GET", "", None).0, 404);
    let name = &realm.name;
    let steps = format!(
        "create realm {name}\n\
         make email, firstName, lastName optional for users of realm {name}\n\
         create client {APPLICATION} (soml)\n\
         create role Reader (default)\n\
         create role Federation\n\
         create role Admin (superRole)\n\
         create client soml-login for log-ins by device code\n\
         let tokens of client soml-login have roles Reader, Federation, Admin\n\
         create user anna with roles Admin\n\
         create user bert with roles Reader\n\
         create user gateway with roles Federation\n"
    );
    assert_eq!(
        out(&looked),
        format!("{steps}11 changes to make; nothing was changed\n")
    );
    let done = realm.provision(USERS, &[]);
    assert_eq!(code(&done), Some(0), "{}", err(&done));
    assert_eq!(out(&done), format!("{steps}11 changes made\n"));
    let again = realm.provision(USERS, &[]);
    assert_eq!(out(&again), "nothing to change\n", "{}", err(&again));

    let token = realm.token_of("anna@example.org", "correct horse");
    let claims = Value::Object(unverified_claims(&token).unwrap());
    assert_eq!(claims["roles"], json!(["Admin"]), "{claims}");
    assert_eq!(claims["aud"], APPLICATION, "{claims}");
    assert_eq!(claims["preferred_username"], "anna");
    assert_eq!(claims["iss"], realm.issuer());
    assert_eq!(realm.roles_of("bert"), ["Reader"]);
    assert_eq!(realm.get("")["bruteForceProtected"], true);
}

#[test]
#[ignore = "needs a running Keycloak server: scripts/servers.sh start keycloak"]
fn a_user_logs_in_with_the_password_of_a_hash() {
    let realm = Realm::named("hashed");
    let users = format!("security: {{users: [{{username: anna, password: '{HASH}'}}]}}");
    let done = realm.provision(&users, &[]);
    assert_eq!(code(&done), Some(0), "{}", err(&done));
    realm.token_of("anna", "correct horse");
    let (_, refused) = realm.log_in("anna", "battery staple");
    assert_eq!(refused["error"], "invalid_grant", "{refused}");
}

#[test]
#[ignore = "needs a running Keycloak server: scripts/servers.sh start keycloak"]
fn drift_is_repaired_and_what_the_file_does_not_know_stays() {
    let realm = Realm::provisioned("drift");
    let application = realm.client(APPLICATION);
    let id = application["id"].as_str().unwrap();
    let changed = |method: &str, path: &str, body: Option<Value>| {
        let (status, answer) = realm.ask(method, path, body.as_ref());
        assert!((200..300).contains(&status), "{path}: {status} {answer}");
    };
    // What the file knows: a mapper, a role, the clients, and the roles of a user.
    let mapper = &application["protocolMappers"][0]["id"];
    let models = format!("/clients/{id}/protocol-mappers/models");
    changed(
        "DELETE",
        &format!("{models}/{}", mapper.as_str().unwrap()),
        None,
    );
    changed("DELETE", &format!("/clients/{id}/roles/Reader"), None);
    let off = json!({"clientId": APPLICATION, "directAccessGrantsEnabled": false});
    changed("PUT", &format!("/clients/{id}"), Some(off));
    let mut login = realm.client("soml-login");
    login["attributes"]["oauth2.device.authorization.grant.enabled"] = json!("false");
    let path = format!("/clients/{}", login["id"].as_str().unwrap());
    changed("PUT", &path, Some(login));
    let role = realm.get(&format!("/clients/{id}/roles/Admin"));
    let mut plain = role.clone();
    plain["attributes"] = json!({"superRole": ["false"], "note": ["kept"]});
    changed("PUT", &format!("/clients/{id}/roles/Admin"), Some(plain));
    let gateway = realm.user("gateway")["id"].as_str().unwrap().to_owned();
    let mappings = format!("/users/{gateway}/role-mappings/clients/{id}");
    changed("POST", &mappings, Some(json!([role])));
    // What it does not know.
    changed(
        "POST",
        &format!("/clients/{id}/roles"),
        Some(json!({"name": "Other"})),
    );
    changed("POST", "/users", Some(json!({"username": "carl"})));

    let done = realm.provision(USERS, &[]);
    assert_eq!(code(&done), Some(0), "{}", err(&done));
    let said = out(&done);
    for step in [
        &format!("change client {APPLICATION}\n"),
        "create mapper soml ",
        "create role Reader (default)\n",
        "change role Admin (superRole)\n",
        "change client soml-login\n",
        "let tokens of client soml-login have roles Reader\n",
        "change user bert: now with roles Reader\n",
        "change user gateway: now with roles Federation\n",
        "8 changes made\n",
    ] {
        assert!(said.contains(step), "{step}: {said}");
    }
    let again = realm.provision(USERS, &[]);
    assert_eq!(out(&again), "nothing to change\n");
    assert_eq!(realm.roles_of("gateway"), ["Federation"]);
    assert_eq!(realm.user("carl")["username"], "carl");
    realm.get(&format!("/clients/{id}/roles/Other"));
    let admin = realm.get(&format!("/clients/{id}/roles/Admin"));
    assert_eq!(admin["attributes"]["note"], json!(["kept"]));
    realm.token_of("anna", "correct horse");
}

#[test]
#[ignore = "needs a running Keycloak server: scripts/servers.sh start keycloak"]
fn a_run_that_failed_is_resumed() {
    let realm = Realm::named("resumed");
    // Keycloak wants three letters.
    let short = USERS.replace("bert", "b");
    let failed = realm.provision(&short, &[]);
    assert_eq!(code(&failed), Some(3), "{}", out(&failed));
    let said = err(&failed);
    assert!(
        said.contains("failed to create user b with roles Reader; 9 changes made before"),
        "{said}"
    );
    assert!(
        said.contains("error[IDP_FAILED]") && said.contains("error-invalid-length"),
        "{said}"
    );
    assert!(!said.contains("battery"), "{said}");
    let done = realm.provision(USERS, &[]);
    assert_eq!(code(&done), Some(0), "{}", err(&done));
    let rest = "create user bert with roles Reader\ncreate user gateway with roles Federation\n2 changes made\n";
    assert_eq!(out(&done), rest);
}

#[test]
#[ignore = "needs a running Keycloak server: scripts/servers.sh start keycloak"]
fn a_realm_of_others_keeps_its_profile_of_users() {
    let realm = Realm::named("others");
    let made = json!({"realm": realm.name, "enabled": true});
    assert_eq!(realm.ask("POST", "", Some(&made)).0, 201);
    let refused = realm.provision(USERS, &[]);
    assert_eq!(code(&refused), Some(1), "{}", out(&refused));
    let said = err(&refused);
    let required = "error[IDP_USERS_UNUSABLE]: the realm";
    assert!(said.starts_with(required), "{said}");
    assert!(
        said.contains("requires email, firstName, lastName of its users"),
        "{said}"
    );
    assert_eq!(out(&refused), "");
    assert_eq!(realm.get("/users"), json!([]));
    let path = "/authentication/required-actions/VERIFY_PROFILE";
    let mut action = realm.get(path);
    action["enabled"] = json!(false);
    assert_eq!(realm.ask("PUT", path, Some(&action)).0, 204);
    let done = realm.provision(USERS, &[]);
    assert_eq!(code(&done), Some(0), "{}", err(&done));
    assert!(!out(&done).contains("optional"), "{}", out(&done));
    realm.token_of("bert", "battery staple");
}

#[test]
#[ignore = "needs a running Keycloak server: scripts/servers.sh start keycloak"]
fn somebody_else_stops_it_before_anything_changes() {
    let realm = Realm::provisioned("somebody");
    let users = "security: {roles: [{name: New}], users: [\n\
                 {username: anne, email: anna@example.org, password: correct horse}]}";
    let refused = realm.provision(users, &[]);
    assert_eq!(code(&refused), Some(1), "{}", out(&refused));
    assert!(
        err(&refused).contains("has the user `anne`"),
        "{}",
        err(&refused)
    );
    let id = realm.client(APPLICATION)["id"].as_str().unwrap().to_owned();
    assert_eq!(
        realm
            .ask("GET", &format!("/clients/{id}/roles/New"), None)
            .0,
        404
    );
}

#[test]
#[ignore = "needs a running Keycloak server: scripts/servers.sh start keycloak"]
fn administrators_without_a_password_or_rights_are_refused() {
    let realm = Realm::provisioned("rights");
    let wrong = realm.provision_as(USERS, &[], &[("IDP_ADMIN_PASSWORD", "wrong horse")]);
    let (ended, said) = (code(&wrong), err(&wrong));
    assert_eq!(ended, Some(3), "{said}");
    assert!(said.starts_with("error[IDP_LOGIN_REFUSED]: "), "{said}");
    assert!(!said.contains("horse"), "{said}");

    let missing = realm.provision_as(USERS, &[], &[]);
    assert_eq!(code(&missing), Some(64));
    assert!(
        err(&missing).contains("--admin-password-file"),
        "{}",
        err(&missing)
    );

    // A user of the realm, who may do nothing.
    let of_realm = ["--admin-realm", &realm.name, "--admin-user", "bert"];
    let password = [("IDP_ADMIN_PASSWORD", "battery staple")];
    let forbidden = realm.provision_as(USERS, &of_realm, &password);
    assert_eq!(code(&forbidden), Some(3), "{}", out(&forbidden));
    assert!(
        err(&forbidden).contains("manage-users"),
        "{}",
        err(&forbidden)
    );

    let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
    command
        .arg("provision")
        .arg(realm.folder.path().join("users.yaml"));
    command.args([
        "--type", "keycloak", "--url", &realm.url, "--realm", "master",
    ]);
    command.args(["--application", APPLICATION, "--admin-user", "admin"]);
    let master = output(command.env("IDP_ADMIN_PASSWORD", "admin"), b"");
    assert_eq!(code(&master), Some(64), "{}", out(&master));
    assert!(err(&master).contains("`master` is for administrators"));
    let tenant = ["--tenant", APPLICATION];
    let refused = realm.provision(USERS, &tenant);
    assert!(err(&refused).contains("--tenant is for --type fusionauth"));
}

#[test]
#[ignore = "needs a running Keycloak server: scripts/servers.sh start keycloak"]
fn a_service_account_administers_its_realm() {
    let realm = Realm::provisioned("account");
    let client = json!({
        "clientId": "operator", "secret": "of the operator", "publicClient": false, "serviceAccountsEnabled": true,
        "standardFlowEnabled": false,
    });
    assert_eq!(realm.ask("POST", "/clients", Some(&client)).0, 201);
    let id = realm.client("operator")["id"].as_str().unwrap().to_owned();
    let account = realm.get(&format!("/clients/{id}/service-account-user"));
    let management = realm.client("realm-management")["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let role = |name: &str| realm.get(&format!("/clients/{management}/roles/{name}"));
    let roles = json!([
        role("manage-realm"),
        role("manage-clients"),
        role("manage-users")
    ]);
    let account = account["id"].as_str().unwrap();
    let path = format!("/users/{account}/role-mappings/clients/{management}");
    assert_eq!(realm.ask("POST", &path, Some(&roles)).0, 204);

    let users = USERS.replace("roles: [Admin]", "roles: [Reader]");
    let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
    let file = realm.folder.path().join("changed.yaml");
    std::fs::write(&file, users).unwrap();
    command.arg("provision").arg(&file);
    command.args(["--url", &realm.url, "--application", APPLICATION]);
    command.args(["--admin-realm", &realm.name, "--admin-client", "operator"]);
    command.envs([
        ("IDP_TYPE", "keycloak"),
        ("IDP_REALM", &realm.name),
        ("IDP_ADMIN_CLIENT_SECRET", "of the operator"),
    ]);
    let done = output(&mut command, b"");
    let expected = "change user anna: now with roles Reader\n1 change made\n";
    assert_eq!(out(&done), expected, "{}", err(&done));
    assert_eq!(realm.roles_of("anna"), ["Reader"]);
}
