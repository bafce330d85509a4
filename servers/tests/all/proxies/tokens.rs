//! Tokens through HAProxy: a bad one never reaches a service, whatever is wrong with it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Command;

use jsonwebtoken::Algorithm;
use serde_json::{Value, json};

use super::harness::{AUDIENCE, ISSUER, Proxy, Services, accepted, bearer, path};
use crate::authentication::keys::Signer;
use crate::authentication::process::Reply;
use crate::bad_tokens::{Accepted, Table, bad_tokens, from_now};
use crate::processes::PATIENCE;

/// What HAProxy refuses in addition, since it reads tokens more strictly than the services do.
fn refused_by_haproxy(accepted: &Accepted<'_>) -> Table {
    let mut table = Table::default();
    let claims = accepted.claims().to_string();
    let rest = claims.strip_prefix('{').unwrap();
    for (name, member) in [
        ("a first end that is bad", r#""exp":1"#),
        ("a first end that is text", r#""exp":"1""#),
        ("a first issuer that is bad", r#""iss":"x""#),
        ("a first audience that is bad", r#""aud":"x""#),
        (
            "an end within another claim, too",
            r#""a":{"exp":99999999999}"#,
        ),
        ("a name with an escape", r#""\u0061":1"#),
        ("two subjects", r#""sub":"another""#),
    ] {
        table.token(name, accepted.token_of(&format!("{{{member},{rest}")));
    }
    for length in [1_000, 9_000] {
        let long = "\\u0078".repeat(length / 6);
        let claims = format!(r#"{{"a":"{long}","exp":1,{rest}"#);
        table.token(
            &format!("a bad end after {length} bytes"),
            accepted.token_of(&claims),
        );
    }
    for (name, exp) in [
        ("a fraction", "99999999999.5"),
        ("an exponent", "9e10"),
        ("a number that is too long", "9999999999999"),
    ] {
        let ended = claims.replacen("\"exp\":", &format!("\"exp\":{exp},\"x\":"), 1);
        table.token(&format!("an end with {name}"), accepted.token_of(&ended));
    }
    let begun = claims.replacen("\"nbf\":", "\"nbf\":9e9,\"x\":", 1);
    table.token("a beginning with an exponent", accepted.token_of(&begun));
    let late: Vec<_> = (0..10)
        .map(|n| n.to_string())
        .chain([AUDIENCE.to_owned()])
        .collect();
    let mixed = json!([1, AUDIENCE]);
    for (name, aud) in [
        ("the audience as the eleventh of a list", json!(late)),
        ("an audience that is a number before", mixed),
    ] {
        let claims = accepted.claims_with(json!({"aud": aud}));
        table.token(name, accepted.signer.token(&claims));
    }
    let header = json!({"alg": format!("{:?}", accepted.signer.algorithm), "typ": null});
    let typeless = accepted.signer.signed(&header.to_string(), &claims);
    table.token("a type that is null", typeless);
    let escaped = format!(
        r#"{{"alg":"{:?}","\u0074yp":"JWT"}}"#,
        accepted.signer.algorithm
    );
    table.token(
        "a header with an escape",
        accepted.signer.signed(&escaped, &claims),
    );
    table
}

/// Tokens that are good in every form that they may have.
fn good_tokens(accepted: &Accepted<'_>) -> Vec<(&'static str, String)> {
    let signer = accepted.signer;
    let with = |changes: Value| signer.token(&accepted.claims_with(changes));
    let nine: Vec<_> = (0..9)
        .map(|n| n.to_string())
        .chain([AUDIENCE.to_owned()])
        .collect();
    let roles: Vec<_> = (0..200).map(|n| format!("Role {n}")).collect();
    let spaced = serde_json::to_string_pretty(&accepted.claims()).unwrap();
    vec![
        ("the usual one", accepted.token()),
        ("no beginning", with(json!({"nbf": null}))),
        ("no subject", with(json!({"sub": null}))),
        ("one audience", with(json!({"aud": AUDIENCE}))),
        ("ten audiences", with(json!({"aud": nine}))),
        ("many roles", with(json!({"roles": roles}))),
        (
            "9,000 bytes of claims",
            with(json!({"padding": "x".repeat(9_000)})),
        ),
        (
            "a name that is not ASCII",
            with(json!({"name": "Änne \"X\" \\ 𝄞"})),
        ),
        (
            "nested claims",
            with(json!({"realm_access": {"roles": [["x", {"a": [1.5e3, null]}]]}})),
        ),
        (
            "the end within the leeway",
            with(json!({"exp": from_now(-20)})),
        ),
        (
            "the beginning within the leeway",
            with(json!({"nbf": from_now(30)})),
        ),
        ("white space", accepted.token_of(&spaced)),
        (
            "the name of a key",
            signer.named("main").token(&accepted.claims()),
        ),
        (
            "an access token",
            signer.token_with(json!({"typ": "at+jwt"}), &accepted.claims()),
        ),
        (
            "a media type",
            signer.token_with(json!({"typ": "application/JWT"}), &accepted.claims()),
        ),
        ("no type", signer.token_with(json!({}), &accepted.claims())),
    ]
}

/// Checks the form of a refusal.
fn is_refused(reply: &Reply, length: usize) -> Result<(), String> {
    // A head that does not fit into a buffer is no request to HAProxy.
    if length > 15_000 {
        let is_malformed = reply.status == 400;
        return is_malformed.then_some(()).ok_or_else(|| reply.text.clone());
    }
    let code = reply.code();
    let known = ["AUTHENTICATION_REQUIRED", "TOKEN_INVALID", "TOKEN_EXPIRED"];
    let challenge = reply.header("www-authenticate");
    let has_error = challenge.contains("error=\"invalid_token\"");
    let is_refusal = reply.status == 401
        && known.contains(&code.as_str())
        && challenge.starts_with("bearer realm=\"graphql\"")
        && has_error == (code != "AUTHENTICATION_REQUIRED");
    is_refusal.then_some(()).ok_or_else(|| reply.text.clone())
}

fn bad_tokens_reach_nobody(signer: &Signer, minimum: usize) {
    let services = Services::start();
    let proxy = Proxy::recording(signer, &services, &[]);
    let accepted = accepted(signer);
    for (name, token) in good_tokens(&accepted) {
        for target in ["/graphql", "/objects/soml"] {
            let reply = proxy.get(target, &bearer(&token));
            assert_eq!(reply.status, 200, "{name}: {}", reply.text);
        }
        let [objects, gateway] = services
            .take()
            .try_into()
            .unwrap_or_else(|all| panic!("{all:?}"));
        assert_eq!((gateway.0, objects.0), ("gateway", "objects"), "{name}");
        let sent = format!("\nauthorization: bearer {}\n", token.to_ascii_lowercase());
        assert!(gateway.1.contains(&sent), "{name}: {}", gateway.1);
    }
    // Schemes have no case (RFC 9110, section 11.1).
    let lower = format!("authorization: bearer   {}\r\n", accepted.token());
    assert_eq!(proxy.get("/graphql", lower.as_bytes()).status, 200);
    services.take();

    let mut table = bad_tokens(&accepted);
    table.0.extend(refused_by_haproxy(&accepted).0);
    assert!(table.0.len() >= minimum, "{}", table.0.len());
    let targets = [
        "/graphql",
        "/objects/graphql",
        "/searches/graphql",
        "/gateway/graphql",
    ];
    let mut problems = Vec::new();
    for (name, headers) in &table.0 {
        for target in targets {
            let reply = proxy.get(target, headers);
            let reached = services.take();
            if !reached.is_empty() {
                problems.push(format!("{name}: it reaches {}", reached[0].0));
            } else if let Err(problem) = is_refused(&reply, headers.len()) {
                problems.push(format!("{name}: {problem}"));
            }
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
    let expired = accepted.claims_with(json!({"exp": from_now(-120)}));
    let reply = proxy.get("/graphql", &bearer(&signer.token(&expired)));
    assert_eq!(reply.code(), "TOKEN_EXPIRED");
    assert_eq!(proxy.get("/graphql", b"").code(), "AUTHENTICATION_REQUIRED");
    // A token counts nowhere but in the header.
    for name in ["access_token", "token", "authorization", "jwt"] {
        let reply = proxy.get(&format!("/graphql?{name}={}", accepted.token()), b"");
        assert_eq!(reply.status, 401, "{name}");
    }
    assert!(services.take().is_empty());
}

#[test]
#[ignore = "needs HAProxy"]
fn the_api_gateway_of_5_1_7_lets_no_bad_token_reach_a_service() {
    bad_tokens_reach_nobody(&Signer::rsa(), 140);
}

#[test]
#[ignore = "needs HAProxy"]
fn tokens_signed_by_es256_as_those_of_the_provider_are_told_apart_as_well() {
    bad_tokens_reach_nobody(&Signer::p256(), 130);
}

/// Sends requests on one connection, one after the other or all at once, and returns the statuses of the answers.
fn on_one_connection(address: &str, headers: &[&[u8]], at_once: bool) -> Vec<String> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let requests: Vec<_> = headers
        .iter()
        .map(|headers| {
            let line = b"GET /objects/soml HTTP/1.1\r\nHost: localhost\r\n";
            [&line[..], headers, b"\r\n"].concat()
        })
        .collect();
    if at_once {
        stream.write_all(&requests.concat()).unwrap();
    }
    let mut statuses = Vec::new();
    for request in &requests {
        if !at_once {
            stream.write_all(request).unwrap();
        }
        let (mut line, mut length) = (String::new(), 0);
        while line != "\r\n" {
            line.clear();
            assert_ne!(reader.read_line(&mut line).unwrap(), 0);
            line.make_ascii_lowercase();
            if let Some(status) = line.strip_prefix("http/1.1 ") {
                statuses.push(status[..3].to_owned());
            } else if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.trim().parse().unwrap();
            }
        }
        reader.read_exact(&mut vec![0; length]).unwrap();
    }
    statuses
}

#[test]
#[ignore = "needs HAProxy"]
fn each_request_of_a_connection_needs_a_token_of_its_own() {
    let (signer, services) = (Signer::rsa(), Services::start());
    let proxy = Proxy::recording(&signer, &services, &[]);
    let good = bearer(&accepted(&signer).token());
    let bad = bearer(&accepted(&Signer::rsa()).token());
    let headers: [&[u8]; 6] = [&good, b"", &bad, &good, &bad, b""];
    for at_once in [false, true] {
        let statuses = on_one_connection(&proxy.address, &headers, at_once);
        assert_eq!(statuses, ["200", "401", "401", "200", "401", "401"]);
        assert_eq!(services.take().len(), 2);
    }
}

#[test]
#[ignore = "needs HAProxy"]
fn an_algorithm_counts_only_if_it_is_the_configured_one() {
    let (signer, services) = (Signer::rsa(), Services::start());
    let strong = signer.using(Algorithm::RS512);
    let proxy = Proxy::recording(&strong, &services, &[]);
    let get = |token: &str| proxy.get("/graphql", &bearer(token)).status;
    assert_eq!(get(&accepted(&strong).token()), 200);
    services.take();
    assert_eq!(get(&accepted(&signer).token()), 401);
    assert!(services.take().is_empty());
}

#[test]
#[ignore = "needs HAProxy"]
fn haproxy_does_not_start_without_key_issuer_and_audience() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/proxies/haproxy.cfg");
    let folder = tempfile::TempDir::new().unwrap();
    let key = folder.path().join("key.pem");
    std::fs::write(&key, Signer::rsa().pem).unwrap();
    let all = [
        ("TOKEN_KEY", key.to_str().unwrap()),
        ("TOKEN_ISSUER", ISSUER),
        ("TOKEN_AUDIENCE", AUDIENCE),
    ];
    let check = |variables: &[(&str, &str)]| {
        let mut command = Command::new("haproxy");
        command.args(["-c", "-f", file]).env("PATH", path());
        for (name, _) in all {
            command.env_remove(name);
        }
        let output = command.envs(variables.iter().copied()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.success(), said)
    };
    let (good, said) = check(&all);
    // Not even a warning.
    assert!(good && !said.contains("WARNING"), "{said}");
    for (name, _) in all {
        let without: Vec<_> = all
            .into_iter()
            .filter(|(other, _)| *other != name)
            .collect();
        for variables in [without.clone(), [&without[..], &[(name, "")]].concat()] {
            let (good, said) = check(&variables);
            assert!(!good && said.contains(&format!("set {name}")), "{said}");
        }
    }
}

#[test]
#[ignore = "needs HAProxy"]
fn without_a_usable_key_no_token_is_believed() {
    let (signer, services) = (Signer::rsa(), Services::start());
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/proxies/haproxy.cfg");
    let proxy = Proxy::recording(&signer, &services, &[("TOKEN_KEY", file)]);
    let token = accepted(&signer).token();
    assert_eq!(
        proxy.get("/graphql", &bearer(&token)).code(),
        "TOKEN_INVALID"
    );
    assert!(services.take().is_empty());
}
