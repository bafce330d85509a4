//! Tokens are believed or refused, and a program that checks them needs little else.

use std::collections::BTreeSet;
use std::process::Command;

use jsonwebtoken::{EncodingKey, Header, encode};
use serde_json::{Value, json};

const SECRET: &str = "a secret of at least thirty-two bytes";

/// Crates that the program may need, itself included.
const MOST_CRATES: usize = 130;

fn token(claims: &Value) -> String {
    let key = EncodingKey::from_secret(SECRET.as_bytes());
    encode(&Header::default(), claims, &key).expect("signed")
}

#[tokio::test]
async fn a_token_says_who_sent_it_or_is_refused() {
    let mut claims =
        json!({"sub": "anna", "aud": "films", "exp": 99_999_999_999_u64, "roles": ["Reader"]});
    let said = check_token::sender(SECRET, "films", &token(&claims)).await;
    assert_eq!(said.as_deref(), Ok("anna (Reader)"));
    let other = check_token::sender(SECRET, "books", &token(&claims)).await;
    assert_eq!(
        other.expect_err("another audience").code().as_str(),
        "TOKEN_INVALID"
    );
    claims["exp"] = json!(1_000);
    let late = check_token::sender(SECRET, "films", &token(&claims)).await;
    assert_eq!(
        late.expect_err("it is over").code().as_str(),
        "TOKEN_EXPIRED"
    );
}

#[test]
fn it_needs_no_graphql_and_few_crates() {
    let tree = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--locked",
            "--offline",
            "--edges",
            "normal",
            "--prefix",
            "none",
        ])
        .args(["--format", "{p}", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .expect("cargo runs");
    assert!(
        tree.status.success(),
        "{}",
        String::from_utf8_lossy(&tree.stderr)
    );
    let text = String::from_utf8(tree.stdout).expect("UTF-8");
    let crates: BTreeSet<&str> = text
        .lines()
        .map(|line| line.trim_end_matches(" (*)"))
        .collect();
    assert!(crates.len() <= MOST_CRATES, "{} crates", crates.len());
    let is_foreign = |name: &&&str| {
        let foreign = ["apollo", "graphql", "soml-core", "graph-store"];
        foreign.iter().any(|part| name.starts_with(part))
    };
    let found: Vec<_> = crates.iter().filter(is_foreign).collect();
    assert!(found.is_empty(), "{found:?}");
}
