//! Tokens that nobody may believe who accepts one algorithm, one key, one issuer and one audience: a table that tests of
//! services and of what is in front of them share.
//!
//! Each is a mutation of a good token, so a test first shows that [`Accepted::token`] is accepted.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::Algorithm;
use serde_json::{Value, json};

use crate::authentication::keys::{Signer, base64url, unsigned};

/// What is accepted. Clocks may differ by up to a minute.
pub(crate) struct Accepted<'s> {
    /// Signs with the only accepted key, by the only accepted algorithm.
    pub(crate) signer: &'s Signer,
    pub(crate) issuer: &'s str,
    pub(crate) audience: &'s str,
}

impl Accepted<'_> {
    /// Returns claims that are accepted.
    pub(crate) fn claims(&self) -> Value {
        json!({
            "iss": self.issuer,
            "aud": ["other", self.audience],
            "sub": "0e5c7d2a",
            "preferred_username": "anna",
            "exp": from_now(3_600),
            "nbf": from_now(-10),
            "roles": ["Reader"],
        })
    }

    /// Returns the claims with some of them changed; null removes one.
    pub(crate) fn claims_with(&self, changes: Value) -> Value {
        let mut claims = self.claims();
        for (name, value) in changes.as_object().unwrap() {
            match value {
                Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
                value => claims[name] = value.clone(),
            }
        }
        claims
    }

    /// Returns a token that is accepted.
    pub(crate) fn token(&self) -> String {
        self.signer.token(&self.claims())
    }

    /// Returns the name of the algorithm.
    fn algorithm(&self) -> String {
        format!("{:?}", self.signer.algorithm)
    }

    /// Returns a token of claims that are written as they are.
    pub(crate) fn token_of(&self, claims: &str) -> String {
        let header = json!({"alg": self.algorithm(), "typ": "JWT"}).to_string();
        self.signer.signed(&header, claims)
    }

    /// Returns a signer with a key of its own, by the same algorithm.
    fn thief(&self) -> Signer {
        let other = match self.signer.algorithm {
            Algorithm::HS256 | Algorithm::HS384 | Algorithm::HS512 => {
                Signer::hmac(b"another secret of thirty-two byte")
            }
            Algorithm::ES256 => Signer::p256(),
            Algorithm::ES384 => Signer::p384(),
            Algorithm::EdDSA => Signer::ed25519(),
            _ => Signer::rsa(),
        };
        other.using(self.signer.algorithm)
    }
}

/// Returns seconds since 1970, from now.
pub(crate) fn from_now(seconds: i64) -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_secs()).unwrap() + seconds
}

/// Names of what is wrong, with the lines of headers that have it.
#[derive(Default)]
pub(crate) struct Table(pub(crate) Vec<(String, Vec<u8>)>);

impl Table {
    pub(crate) fn token(&mut self, name: &str, token: impl AsRef<str>) {
        self.headers(
            name,
            format!("Authorization: Bearer {}\r\n", token.as_ref()),
        );
    }

    pub(crate) fn headers(&mut self, name: &str, headers: impl Into<Vec<u8>>) {
        self.0.push((name.to_owned(), headers.into()));
    }
}

/// Returns what is refused, each with the lines of its headers.
pub(crate) fn bad_tokens(accepted: &Accepted<'_>) -> Table {
    let mut table = Table::default();
    let (good, thief) = (accepted.token(), accepted.thief());
    wrong_signatures(&mut table, accepted, &thief, &good);
    wrong_algorithms(&mut table, accepted);
    wrong_claims(&mut table, accepted);
    claims_twice(&mut table, accepted);
    wrong_forms(&mut table, accepted, &good);
    wrong_headers(&mut table, accepted, &thief, &good);
    keys_in_the_token(&mut table, accepted, &thief);
    table
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

fn wrong_signatures(table: &mut Table, accepted: &Accepted<'_>, thief: &Signer, good: &str) {
    let (message, signature) = good.rsplit_once('.').unwrap();
    let length = URL_SAFE_NO_PAD.decode(signature).unwrap().len();
    table.token("another key", thief.token(&accepted.claims()));
    table.token(
        "an empty secret",
        Signer::hmac(b"").token(&accepted.claims()),
    );
    table.token("no signature", format!("{message}."));
    table.token(
        "half a signature",
        format!("{message}.{}", &signature[..signature.len() / 2]),
    );
    table.token(
        "a changed signature",
        format!("{message}.{}", with_other(signature, 0)),
    );
    for (name, byte) in [("zeros", 0), ("ones", 255)] {
        let signature = base64url(&vec![byte; length]);
        let name = format!("a signature of {name}");
        table.token(&name, format!("{message}.{signature}"));
    }
    table.token("a padded signature", format!("{good}="));
    // The last character has bits that stand for nothing, unless the length is divisible by three.
    if length % 3 != 0 {
        let loose = match signature.as_bytes().last() {
            Some(b'A'..=b'Y') => with_last(signature, 1),
            _ => with_last(signature, -1),
        };
        table.token("loose bits in the signature", format!("{message}.{loose}"));
    }
    let (header, payload) = message.split_once('.').unwrap();
    let changed = accepted.claims_with(json!({"roles": ["Admin"]}));
    let changed = base64url(changed.to_string().as_bytes());
    table.token("changed claims", format!("{header}.{changed}.{signature}"));
    let other = base64url(json!({"alg": accepted.algorithm()}).to_string().as_bytes());
    table.token("a changed header", format!("{other}.{payload}.{signature}"));
    let swapped = accepted.signer.signature(&format!("{payload}.{header}"));
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

fn wrong_algorithms(table: &mut Table, accepted: &Accepted<'_>) {
    let (signer, own) = (accepted.signer, accepted.algorithm());
    let claims = accepted.claims().to_string();
    for name in ["none", "None", "NONE", "nOnE", ""] {
        let header = json!({"alg": name, "typ": "JWT"}).to_string();
        let message = unsigned(&header, &claims);
        table.token(
            &format!("`{name}` without a signature"),
            format!("{message}."),
        );
        table.token(
            &format!("`{name}` with a signature"),
            signer.signed(&header, &claims),
        );
    }
    for text in public_texts(signer) {
        let token = Signer::hmac(text.as_bytes()).token(&accepted.claims());
        let name = text.replace('\n', " ");
        table.token(
            &format!("HMAC with the public key as secret: {name}"),
            token,
        );
    }
    for other in same_key(signer.algorithm) {
        let token = signer.using(*other).token(&accepted.claims());
        table.token(&format!("{other:?} by the same key"), token);
    }
    let names = [
        "HS1", "HS256", "HS512", "RS256", "RS512", "PS256", "ES256", "ES256K", "EdDSA", "dir",
    ];
    let names = names.into_iter().filter(|name| *name != own);
    let lower = own.to_lowercase();
    let odd = [
        json!(lower),
        json!(256),
        json!(null),
        json!([own]),
        json!({}),
    ];
    for alg in names.map(|name| json!(name)).chain(odd) {
        let header = json!({"alg": alg}).to_string();
        let name = format!("the algorithm {alg}");
        table.token(&name, signer.signed(&header, &claims));
    }
    table.token("no algorithm", signer.signed(r#"{"typ":"JWT"}"#, &claims));
    let twice = format!(r#"{{"alg":"none","alg":"{own}"}}"#);
    table.token("two algorithms", signer.signed(&twice, &claims));
}

/// Returns what is public of a key, in the forms that somebody could take for a secret.
fn public_texts(signer: &Signer) -> Vec<String> {
    let mut texts = Vec::new();
    if !signer.pem.is_empty() {
        texts.extend([signer.pem.clone(), signer.pem.trim().to_owned()]);
        texts.push(signer.jwk.to_string());
        let numbers = ["n", "x"].map(|name| signer.jwk.get(name));
        let numbers = numbers.into_iter().flatten().filter_map(Value::as_str);
        texts.extend(numbers.map(str::to_owned));
    }
    texts
}

/// Returns the other algorithms that a key can sign by.
fn same_key(algorithm: Algorithm) -> &'static [Algorithm] {
    match algorithm {
        Algorithm::HS256 => &[Algorithm::HS384, Algorithm::HS512],
        Algorithm::RS256 => &[Algorithm::RS384, Algorithm::RS512, Algorithm::PS256],
        _ => &[],
    }
}

fn wrong_claims(table: &mut Table, accepted: &Accepted<'_>) {
    let (issuer, audience) = (accepted.issuer, accepted.audience);
    let part = &audience[..audience.len() - 1];
    let changes = [
        ("expired", json!({"exp": from_now(-120)})),
        ("expired in 1970", json!({"exp": 0})),
        ("not valid yet", json!({"nbf": from_now(600)})),
        ("no end", json!({"exp": null})),
        ("an end in text", json!({"exp": from_now(600).to_string()})),
        ("an end before 1970", json!({"exp": -from_now(600)})),
        ("an end that is a list", json!({"exp": [from_now(600)]})),
        ("an end that is true", json!({"exp": true})),
        (
            "an end within another claim",
            json!({"exp": null, "a": {"exp": from_now(600)}}),
        ),
        ("a beginning in text", json!({"nbf": "0"})),
        ("a beginning that is a list", json!({"nbf": [0]})),
        ("another issuer", json!({"iss": "https://evil.example"})),
        (
            "the issuer with a slash",
            json!({"iss": format!("{issuer}/")}),
        ),
        (
            "the issuer in upper case",
            json!({"iss": issuer.to_uppercase()}),
        ),
        ("no issuer", json!({"iss": null})),
        ("an empty issuer", json!({"iss": ""})),
        ("issuers in a list", json!({"iss": [issuer]})),
        (
            "an issuer within another claim",
            json!({"iss": null, "a": {"iss": issuer}}),
        ),
        ("another audience", json!({"aud": "other"})),
        ("a part of the audience", json!({"aud": part})),
        (
            "more than the audience",
            json!({"aud": format!("{audience} x")}),
        ),
        ("no audience", json!({"aud": null})),
        ("an empty audience", json!({"aud": ""})),
        ("a list of no audiences", json!({"aud": []})),
        (
            "audiences of others",
            json!({"aud": ["other", audience.to_uppercase()]}),
        ),
        (
            "an audience that is an object",
            json!({"aud": {audience: true}}),
        ),
        (
            "an audience in a list in a list",
            json!({"aud": [[audience]]}),
        ),
    ];
    for (name, change) in changes {
        let claims = accepted.claims_with(change);
        table.token(name, accepted.signer.token(&claims));
    }
}

/// Claims that are there twice, of which the last one is bad: it is the one that most parsers take.
fn claims_twice(table: &mut Table, accepted: &Accepted<'_>) {
    let claims = accepted.claims().to_string();
    let open = claims.strip_suffix('}').unwrap();
    let past = from_now(-600);
    for (name, member) in [
        ("two ends", format!(r#""exp":{past}"#)),
        (
            "two ends, one with an escape",
            format!(r#""e\u0078p":{past}"#),
        ),
        ("two beginnings", format!(r#""nbf":{}"#, from_now(600))),
        ("two issuers", r#""iss":"https://evil.example""#.to_owned()),
        ("two audiences", r#""aud":"other""#.to_owned()),
        ("a second end that is null", r#""exp":null"#.to_owned()),
        ("a beginning that is null", r#""nbf":null"#.to_owned()),
    ] {
        table.token(name, accepted.token_of(&format!("{open},{member}}}")));
    }
}

fn wrong_forms(table: &mut Table, accepted: &Accepted<'_>, good: &str) {
    let (signer, own) = (accepted.signer, accepted.algorithm());
    let claims = accepted.claims();
    let text = claims.to_string();
    for (name, claims) in [
        ("claims that are no JSON", "{".to_owned()),
        ("claims that are nothing", String::new()),
        ("claims that are a list", json!([claims]).to_string()),
        ("claims that are text", json!(text).to_string()),
        ("claims that are null", "null".to_owned()),
        (
            "an end out of range",
            text.replacen("\"exp\":", "\"exp\":1e999,\"x\":", 1),
        ),
        ("claims with something behind", format!("{text} x")),
        ("claims with something before", format!("x {text}")),
        ("claims with a comma too many", text.replace('}', ",}")),
        (
            "claims too deep",
            text.replacen(
                '{',
                &format!("{{\"a\":{}{},", "[".repeat(500), "]".repeat(500)),
                1,
            ),
        ),
    ] {
        table.token(name, accepted.token_of(&claims));
    }
    let numbered = format!(r#"{{"alg":"{own}","kid":1}}"#);
    let listed = format!(r#"["{own}"]"#);
    let quoted = format!("\"{own}\"");
    let behind = format!(r#"{{"alg":"{own}"}} x"#);
    let double = format!(r#"{{"alg":"{own}"}}{{"alg":"{own}"}}"#);
    for (name, header) in [
        ("a header that is no JSON", "{"),
        ("a header that is a list", &listed),
        ("a header that is text", &quoted),
        ("a header that is nothing", ""),
        ("a header with something behind", &behind),
        ("two headers", &double),
        ("a key's name that is a number", &numbered),
    ] {
        table.token(name, signer.signed(header, &text));
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
        ("without its end", good[..good.len() - 1].to_owned()),
        ("without its beginning", good[1..].to_owned()),
    ] {
        table.token(name, token);
    }
    for length in [20_000, 40_000] {
        let long = accepted.claims_with(json!({"padding": "x".repeat(length)}));
        table.token(&format!("{length} bytes of claims"), signer.token(&long));
    }
}

fn wrong_headers(table: &mut Table, accepted: &Accepted<'_>, thief: &Signer, good: &str) {
    let bad = thief.token(&accepted.claims());
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
fn keys_in_the_token(table: &mut Table, accepted: &Accepted<'_>, thief: &Signer) {
    let pair = Signer::ed25519();
    let (claims, jwk) = (accepted.claims(), pair.jwk.clone());
    let place = "https://evil.example/keys";
    table.token("`jwk`", pair.token_with(json!({"jwk": jwk}), &claims));
    table.token(
        "`jwk` of the thief",
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
    table.token("`crit`", accepted.signer.token_with(critical, &claims));
    table.token(
        "an empty `crit`",
        accepted.signer.token_with(json!({"crit": []}), &claims),
    );
    for typ in [
        "logout+jwt",
        "dpop+jwt",
        "JOSE",
        "JWE",
        "application/jose",
        "",
    ] {
        let token = accepted.signer.token_with(json!({"typ": typ}), &claims);
        table.token(&format!("the type `{typ}`"), token);
    }
}
