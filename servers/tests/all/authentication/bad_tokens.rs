//! Tokens that no service may believe: each is answered with 401 and a code, and none is in the
//! log.

use jsonwebtoken::Algorithm;
use serde_json::{Value, json};

use super::keys::{Signer, base64url, unsigned};
use super::process::Process;
use super::{SECRET, claims, claims_with, of_tests};
use crate::bad_tokens::{Accepted, Table, bad_tokens};

const QUERY: &str = "/graphql?query=%7B__typename%7D";

/// What a service with a secret refuses.
fn refused_with_a_secret(accepted: &Accepted<'_>) -> Table {
    let mut table = bad_tokens(accepted);
    let shorter = Signer::hmac(&SECRET.as_bytes()[..31]);
    table.token("a shorter secret", shorter.token(&claims()));
    table
}

/// What a service with public keys refuses.
fn refused_with_public_keys(keys: &[Signer; 4], pem: &str) -> Table {
    let mut table = Table::default();
    let [rsa, p256, p384, ed] = keys;
    let claims = claims();
    for (name, secret) in [
        ("the PEM text", pem),
        ("a public key", &rsa.pem),
        ("it trimmed", rsa.pem.trim()),
    ] {
        let token = Signer::hmac(secret.as_bytes()).token(&claims);
        table.token(&format!("HMAC with {name} as secret"), token);
    }
    table.token("HMAC with the modulus as secret", {
        let modulus = rsa.jwk["n"].as_str().unwrap();
        Signer::hmac(modulus.as_bytes()).token(&claims)
    });
    let others = [
        Signer::rsa(),
        Signer::p256(),
        Signer::p384(),
        Signer::ed25519(),
    ];
    for other in &others {
        let token = other.token(&claims);
        table.token(&format!("another key for {:?}", other.algorithm), token);
    }
    for algorithm in [Algorithm::RS512, Algorithm::PS256, Algorithm::PS384] {
        let other = others[0].using(algorithm);
        table.token(
            &format!("another key for {algorithm:?}"),
            other.token(&claims),
        );
    }
    let claimed = |algorithm: &str, signer: &Signer| {
        let header = json!({"alg": algorithm}).to_string();
        signer.signed(&header, &claims.to_string())
    };
    for (name, token) in [
        (
            "RS256 that is RS512",
            claimed("RS256", &rsa.using(Algorithm::RS512)),
        ),
        (
            "RS256 that is PS256",
            claimed("RS256", &rsa.using(Algorithm::PS256)),
        ),
        ("PS256 that is RS256", claimed("PS256", rsa)),
        ("ES256 on another curve", claimed("ES256", p384)),
        ("ES384 on another curve", claimed("ES384", p256)),
        ("ES512", claimed("ES512", p384)),
        ("EdDSA that is ES256", claimed("EdDSA", p256)),
        ("ES256 that is EdDSA", claimed("ES256", ed)),
        ("HS256 that is RS256", claimed("HS256", rsa)),
        ("none that is RS256", claimed("none", rsa)),
    ] {
        table.token(name, token);
    }
    let with_signature = |algorithm: &str, signature: &[u8]| {
        let header = json!({"alg": algorithm}).to_string();
        format!(
            "{}.{}",
            unsigned(&header, &claims.to_string()),
            base64url(signature)
        )
    };
    for (algorithm, length) in [
        ("RS256", 256),
        ("PS256", 256),
        ("ES256", 64),
        ("ES384", 96),
        ("EdDSA", 64),
    ] {
        table.token(
            &format!("{algorithm} of zeros"),
            with_signature(algorithm, &vec![0; length]),
        );
        table.token(
            &format!("{algorithm} of ones"),
            with_signature(algorithm, &vec![255; length]),
        );
        table.token(
            &format!("{algorithm} of nothing"),
            with_signature(algorithm, &[]),
        );
    }
    // The form that other formats have, which is not that of tokens.
    let der = [0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01];
    table.token("ES256 in DER", with_signature("ES256", &der));
    table
}

/// Sends each request and checks what it is answered.
fn check(process: &Process, table: &Table) {
    for (name, headers) in &table.0 {
        let reply = process.query(QUERY, headers);
        let text = &reply.text;
        assert_eq!(reply.status, 401, "{name}: {text}");
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let body: Value =
            serde_json::from_str(body).unwrap_or_else(|e| panic!("{name}: {e}: {body}"));
        let error = &body["errors"][0];
        let code = error["extensions"]["code"].as_str().unwrap();
        let known = ["AUTHENTICATION_REQUIRED", "TOKEN_INVALID", "TOKEN_EXPIRED"];
        assert!(known.contains(&code), "{name}: {code}");
        assert!(
            error["message"].is_string() && body.get("data").is_none(),
            "{name}: {body}"
        );
        let challenge = "www-authenticate: Bearer realm=\"graphql\"";
        assert!(head.contains(challenge), "{name}: {head}");
        let has_error = head.contains("error=\"invalid_token\"");
        assert_eq!(
            has_error,
            code != "AUTHENTICATION_REQUIRED",
            "{name}: {head}"
        );
    }
}

/// Checks that no part of any token is in the log, which has everything.
fn check_log(log: &str, good: &[&str], table: &Table) {
    assert!(
        log.contains("answered") && log.contains("refused a request"),
        "{log}"
    );
    let headers = table
        .0
        .iter()
        .map(|(_, headers)| String::from_utf8_lossy(headers).into_owned());
    let headers = headers.chain(good.iter().map(|token| (*token).to_owned()));
    let mut parts = 0;
    for text in headers {
        let pieces = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-');
        for piece in pieces.filter(|piece| piece.len() >= 20) {
            parts += 1;
            assert!(!log.contains(piece), "{piece} is in the log");
        }
    }
    assert!(parts > 100, "{parts}");
    assert!(!log.contains(SECRET));
}

#[test]
fn a_service_with_a_secret_refuses_every_bad_token_and_logs_none() {
    let process = Process::start(&[
        ("security.secret", SECRET),
        ("security.algorithms", "HS256"),
        ("security.issuer", "https://idp.example"),
        ("security.audience", "api"),
        ("logging.level", "trace"),
    ]);
    let signer = Signer::hmac(SECRET.as_bytes());
    let good = signer.token(&claims());
    let accepted = |headers: &str| process.query(QUERY, headers.as_bytes()).status;
    // So that it is known that the good part of the bad ones is good.
    assert_eq!(accepted(&format!("Authorization: Bearer {good}\r\n")), 200);
    // Schemes have no case (RFC 9110, section 11.1).
    assert_eq!(accepted(&format!("authorization: bearer {good}\r\n")), 200);
    let with_key_name = Signer::hmac(SECRET.as_bytes())
        .named("main")
        .token(&claims());
    assert_eq!(
        accepted(&format!("Authorization: Bearer {with_key_name}\r\n")),
        200
    );
    let table = refused_with_a_secret(&of_tests(&signer));
    assert!(table.0.len() >= 100, "{}", table.0.len());
    check(&process, &table);
    // A token counts nowhere but in the header.
    for target in ["access_token", "token", "authorization", "jwt"] {
        let reply = process.query(&format!("{QUERY}&{target}={good}"), b"");
        assert_eq!(reply.status, 401, "{target}");
    }
    // So long that it is not even read.
    let long = format!("Authorization: Bearer {}\r\n", "a".repeat(1 << 20));
    let reply = process.query(QUERY, long.as_bytes());
    assert!(reply.text.contains("HEADERS_TOO_LARGE"), "{}", reply.text);
    check_log(&process.log(), &[], &table);
}

#[test]
fn a_service_with_public_keys_refuses_every_bad_token_and_logs_none() {
    let keys = [
        Signer::rsa(),
        Signer::p256(),
        Signer::p384(),
        Signer::ed25519(),
    ];
    let pem: String = keys.iter().map(|key| key.pem.as_str()).collect();
    let process = Process::start(&[("security.secret", &pem), ("logging.level", "trace")]);
    let [rsa, p256, p384, ed] = &keys;
    let (rsa_family, mut good) = (
        [
            Algorithm::RS256,
            Algorithm::RS384,
            Algorithm::RS512,
            Algorithm::PS256,
            Algorithm::PS384,
            Algorithm::PS512,
        ],
        Vec::new(),
    );
    good.extend(rsa_family.map(|algorithm| rsa.using(algorithm).token(&claims())));
    good.extend([p256, p384, ed].map(|key| key.token(&claims())));
    for token in &good {
        let header = format!("Authorization: Bearer {token}\r\n");
        let reply = process.query(QUERY, header.as_bytes());
        assert_eq!(reply.status, 200, "{}", reply.text);
    }
    let table = refused_with_public_keys(&keys, &pem);
    check(&process, &table);
    let good: Vec<&str> = good.iter().map(String::as_str).collect();
    check_log(&process.log(), &good, &table);
}

#[tokio::test]
async fn a_token_of_a_megabyte_is_refused_without_being_read() {
    use service_auth::{Key, Refusal, Verifier, VerifierOptions};

    let key = Key::hmac(SECRET.as_bytes());
    let verifier = Verifier::without_keys(&VerifierOptions::default()).with_keys([key]);
    let long = claims_with(json!({"padding": "x".repeat(1 << 20)}));
    let token = Signer::hmac(SECRET.as_bytes()).token(&long);
    assert_eq!(verifier.verify(&token).await, Err(Refusal::TooLong));
}
