//! Tokens that no service may believe: each is answered with 401 and a code, and none is in the
//! log.

use jsonwebtoken::Algorithm;
use serde_json::{Value, json};

use super::keys::{Signer, base64url, unsigned};
use super::process::Process;
use super::{SECRET, claims, claims_with, from_now};

const QUERY: &str = "/graphql?query=%7B__typename%7D";

/// Names of what is wrong, with the lines of headers that have it.
struct Table(Vec<(String, Vec<u8>)>);

impl Table {
    fn token(&mut self, name: &str, token: impl AsRef<str>) {
        self.headers(
            name,
            format!("Authorization: Bearer {}\r\n", token.as_ref()),
        );
    }

    fn headers(&mut self, name: &str, headers: impl Into<Vec<u8>>) {
        self.0.push((name.to_owned(), headers.into()));
    }
}

/// Changes one character of a text.
fn with_other(text: &str, place: usize) -> String {
    let other = if &text[place..=place] == "A" {
        "B"
    } else {
        "A"
    };
    format!("{}{other}{}", &text[..place], &text[place + 1..])
}

/// What a service with a secret refuses.
fn refused_with_a_secret(good: &str) -> Table {
    let mut table = Table(Vec::new());
    let signer = Signer::hmac(SECRET.as_bytes());
    let thief = Signer::hmac(b"another secret of thirty-two byte");
    wrong_signatures(&mut table, &signer, &thief, good);
    wrong_algorithms(&mut table, &signer);
    wrong_claims(&mut table, &signer);
    wrong_forms(&mut table, &signer, good);
    wrong_headers(&mut table, &thief, good);
    keys_in_the_token(&mut table, &signer, &thief);
    table
}

fn wrong_signatures(table: &mut Table, signer: &Signer, thief: &Signer, good: &str) {
    let (message, signature) = good.rsplit_once('.').unwrap();
    table.token("another secret", thief.token(&claims()));
    table.token("an empty secret", Signer::hmac(b"").token(&claims()));
    let shorter = Signer::hmac(&SECRET.as_bytes()[..31]);
    table.token("a shorter secret", shorter.token(&claims()));
    table.token("no signature", format!("{message}."));
    table.token(
        "half a signature",
        format!("{message}.{}", &signature[..22]),
    );
    table.token(
        "a changed signature",
        format!("{message}.{}", with_other(signature, 0)),
    );
    table.token(
        "a signature of zeros",
        format!("{message}.{}", base64url(&[0; 32])),
    );
    table.token("a padded signature", format!("{good}="));
    // The last character has two bits that stand for nothing.
    let loose = match signature.as_bytes().last() {
        Some(b'A'..=b'Y') => with_last(signature, 1),
        _ => with_last(signature, -1),
    };
    table.token("loose bits in the signature", format!("{message}.{loose}"));
    let (header, payload) = message.split_once('.').unwrap();
    let changed = claims_with(json!({"roles": ["Admin"]})).to_string();
    let changed = base64url(changed.as_bytes());
    table.token("changed claims", format!("{header}.{changed}.{signature}"));
    let other = base64url(br#"{"alg":"HS256"}"#);
    table.token("a changed header", format!("{other}.{payload}.{signature}"));
    let swapped = signer.signature(&format!("{payload}.{header}"));
    table.token(
        "a signature of something else",
        format!("{message}.{swapped}"),
    );
}

/// Moves the last character of base64url to a neighbour.
fn with_last(text: &str, step: i8) -> String {
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let (rest, last) = text.split_at(text.len() - 1);
    let place = alphabet.find(last).unwrap();
    let place = place.checked_add_signed(isize::from(step)).unwrap();
    format!("{rest}{}", &alphabet[place..=place])
}

fn wrong_algorithms(table: &mut Table, signer: &Signer) {
    for name in ["none", "None", "NONE", "nOnE", ""] {
        let header = json!({"alg": name, "typ": "JWT"}).to_string();
        let message = unsigned(&header, &claims().to_string());
        table.token(
            &format!("`{name}` without a signature"),
            format!("{message}."),
        );
        table.token(
            &format!("`{name}` with a signature"),
            signer.signed(&header, &claims().to_string()),
        );
    }
    // The service accepts HS256 alone.
    table.token("HS384", signer.using(Algorithm::HS384).token(&claims()));
    table.token("HS512", signer.using(Algorithm::HS512).token(&claims()));
    for alg in [
        json!("hs256"),
        json!("HS1"),
        json!("RS256"),
        json!("ES256"),
        json!("ES256K"),
        json!("EdDSA"),
        json!("dir"),
        json!(256),
        json!(null),
        json!(["HS256"]),
    ] {
        let header = json!({"alg": alg}).to_string();
        table.token(
            &format!("the algorithm {alg}"),
            signer.signed(&header, &claims().to_string()),
        );
    }
    table.token(
        "no algorithm",
        signer.signed(r#"{"typ":"JWT"}"#, &claims().to_string()),
    );
    let twice = r#"{"alg":"none","alg":"HS256"}"#;
    table.token(
        "two algorithms",
        signer.signed(twice, &claims().to_string()),
    );
}

fn wrong_claims(table: &mut Table, signer: &Signer) {
    let changes = [
        ("expired", json!({"exp": from_now(-120)})),
        ("expired in 1970", json!({"exp": 0})),
        ("not valid yet", json!({"nbf": from_now(600)})),
        ("no end", json!({"exp": null})),
        (
            "an end that is text",
            json!({"exp": from_now(600).to_string()}),
        ),
        ("an end before 1970", json!({"exp": -from_now(600)})),
        ("an end that is a list", json!({"exp": [from_now(600)]})),
        ("an end that is true", json!({"exp": true})),
        ("a beginning that is text", json!({"nbf": "0"})),
        ("another issuer", json!({"iss": "https://evil.example"})),
        (
            "the issuer with a slash",
            json!({"iss": "https://idp.example/"}),
        ),
        ("no issuer", json!({"iss": null})),
        ("issuers in a list", json!({"iss": ["https://idp.example"]})),
        ("another audience", json!({"aud": "other"})),
        ("a part of the audience", json!({"aud": "ap"})),
        ("no audience", json!({"aud": null})),
        ("an empty audience", json!({"aud": []})),
        ("audiences of others", json!({"aud": ["other", "API"]})),
        (
            "an audience that is an object",
            json!({"aud": {"api": true}}),
        ),
    ];
    for (name, change) in changes {
        table.token(name, signer.token(&claims_with(change)));
    }
}

fn wrong_forms(table: &mut Table, signer: &Signer, good: &str) {
    let header = r#"{"alg":"HS256"}"#;
    for (name, claims) in [
        ("claims that are no JSON", "{".to_owned()),
        ("claims that are nothing", String::new()),
        ("claims that are a list", json!([claims()]).to_string()),
        (
            "claims that are text",
            json!(claims().to_string()).to_string(),
        ),
        ("claims that are null", "null".to_owned()),
        (
            "an end out of range",
            claims()
                .to_string()
                .replacen("\"exp\":", "\"exp\":1e999,\"x\":", 1),
        ),
        ("claims with something behind", format!("{} x", claims())),
        (
            "claims too deep",
            format!("{{\"exp\":{}{}}}", "[".repeat(500), "]".repeat(500)),
        ),
    ] {
        table.token(name, signer.signed(header, &claims));
    }
    for (name, header) in [
        ("a header that is no JSON", "{"),
        ("a header that is a list", r#"["HS256"]"#),
        ("a header that is text", r#""HS256""#),
        ("a header that is nothing", ""),
        (
            "a key's name that is a number",
            r#"{"alg":"HS256","kid":1}"#,
        ),
    ] {
        table.token(name, signer.signed(header, &claims().to_string()));
    }
    let (message, signature) = good.rsplit_once('.').unwrap();
    for (name, token) in [
        ("one part", "abc".to_owned()),
        ("two parts", message.to_owned()),
        ("four parts", format!("{good}.{signature}")),
        ("five parts", format!("{good}.a.b")),
        ("empty parts", "..".to_owned()),
        ("dots", ".....".to_owned()),
        ("a space inside", good.replacen('.', " .", 1)),
        ("a comma behind", format!("{good},")),
        ("bad base64", good.replacen('e', "!", 1)),
        ("other base64", good.replacen('e', "+", 1)),
        ("percent-encoded", good.replace('.', "%2E")),
        ("quoted", format!("\"{good}\"")),
        ("twice in one header", format!("{good}, Bearer {good}")),
    ] {
        table.token(name, token);
    }
    let long = claims_with(json!({"padding": "x".repeat(20_000)}));
    table.token("20 KB", signer.token(&long));
    let long = claims_with(json!({"padding": "x".repeat(40_000)}));
    table.token("53 KB", signer.token(&long));
}

fn wrong_headers(table: &mut Table, thief: &Signer, good: &str) {
    let bad = thief.token(&claims());
    for (name, headers) in [
        ("nothing", String::new()),
        ("an empty header", "Authorization: \r\n".to_owned()),
        ("a scheme alone", "Authorization: Bearer\r\n".to_owned()),
        ("white space", "Authorization: Bearer    \r\n".to_owned()),
        ("no scheme", format!("Authorization: {good}\r\n")),
        ("another scheme", format!("Authorization: Basic {good}\r\n")),
        (
            "a longer scheme",
            format!("Authorization: Bearers {good}\r\n"),
        ),
        ("a tab", format!("Authorization: Bearer\t{good}\r\n")),
        ("a colon", format!("Authorization: Bearer: {good}\r\n")),
        (
            "the scheme in lower case",
            format!("authorization: bearer {bad}\r\n"),
        ),
        (
            "another header",
            format!("X-Authorization: Bearer {good}\r\n"),
        ),
        (
            "a header of proxies",
            format!("Proxy-Authorization: Bearer {good}\r\n"),
        ),
        ("a cookie", format!("Cookie: access_token={good}\r\n")),
    ] {
        table.headers(name, headers);
    }
    let one = format!("Authorization: Bearer {good}\r\n");
    table.headers("the same header twice", one.repeat(2));
    table.headers(
        "a good and a bad one",
        format!("{one}Authorization: Bearer {bad}\r\n"),
    );
    table.headers(
        "a bad and a good one",
        format!("Authorization: Bearer {bad}\r\n{one}"),
    );
    table.headers(
        "another scheme before",
        format!("Authorization: Basic YTpi\r\n{one}"),
    );
    let mut bytes = b"Authorization: Bearer \xff\xfe".to_vec();
    bytes.extend_from_slice(good.as_bytes());
    bytes.extend_from_slice(b"\r\n");
    table.headers("bytes that are no text", bytes);
    table.headers("other letters", "Authorization: Bearer \u{e4}.b.c\r\n");
}

/// A token must not bring its own key, or say where it is.
fn keys_in_the_token(table: &mut Table, signer: &Signer, thief: &Signer) {
    let pair = Signer::ed25519();
    let (claims, jwk) = (claims(), pair.jwk.clone());
    let place = "https://evil.example/keys";
    table.token("`jwk`", pair.token_with(json!({"jwk": jwk}), &claims));
    table.token(
        "`jwk` of a secret",
        thief.token_with(json!({"jwk": thief.jwk}), &claims),
    );
    table.token(
        "`jku`",
        thief.token_with(json!({"jku": place, "kid": "1"}), &claims),
    );
    table.token("`x5u`", thief.token_with(json!({"x5u": place}), &claims));
    table.token("`x5c`", thief.token_with(json!({"x5c": ["MIIB"]}), &claims));
    table.token(
        "a path as `kid`",
        thief.token_with(json!({"kid": "../../dev/null"}), &claims),
    );
    // These are signed well, and ask for what is not done here.
    let critical = json!({"crit": ["b64"], "b64": false});
    table.token("`crit`", signer.token_with(critical, &claims));
    table.token(
        "an empty `crit`",
        signer.token_with(json!({"crit": []}), &claims),
    );
    for typ in [
        "logout+jwt",
        "dpop+jwt",
        "JOSE",
        "JWE",
        "application/jose",
        "",
    ] {
        let token = signer.token_with(json!({"typ": typ}), &claims);
        table.token(&format!("the type `{typ}`"), token);
    }
}

/// What a service with public keys refuses.
fn refused_with_public_keys(keys: &[Signer; 4], pem: &str) -> Table {
    let mut table = Table(Vec::new());
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
    let good = Signer::hmac(SECRET.as_bytes()).token(&claims());
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
    let table = refused_with_a_secret(&good);
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
