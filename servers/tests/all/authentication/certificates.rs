//! Keys in PEM as other programs write them: certificates, and public keys in their forms.
//!
//! The tokens beside the certificates under `tests/data/certificates` were signed with the private
//! keys, which nobody has any more. The certificate of the RSA key is signed with an Ed25519 key.

use std::fs;
use std::path::Path;

use service_auth::{Key, KeyError, Refusal, Verifier, VerifierOptions};

use super::keys::Signer;
use super::{SECRET, claims};

fn file(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/certificates");
    fs::read_to_string(folder.join(name)).unwrap()
}

fn verifier(pem: &str) -> Verifier {
    let verifier = Verifier::without_keys(&VerifierOptions::default());
    verifier.with_keys(Key::from_pem(pem).unwrap())
}

const NAMES: [&str; 4] = ["rsa", "p256", "p384", "ed25519"];

#[tokio::test]
async fn the_key_of_a_certificate_verifies_what_its_private_key_signed() {
    for name in NAMES {
        let verifier = verifier(&file(&format!("{name}.pem")));
        let caller = verifier.verify(file(&format!("{name}.jwt")).trim()).await;
        assert_eq!(caller.unwrap().roles, ["Reader"], "{name}");
        let other = NAMES.iter().find(|other| **other != name).unwrap();
        let refusal = verifier.verify(file(&format!("{other}.jwt")).trim()).await;
        assert_eq!(refusal, Err(Refusal::UnknownKey), "{name} {other}");
    }
}

#[tokio::test]
async fn several_keys_stand_in_one_text_with_words_between_them() {
    let texts = NAMES.map(|name| file(&format!("{name}.pem")));
    let all = verifier(&format!(
        "The keys of our provider:\n{}",
        texts.join("\nand\n")
    ));
    for name in NAMES {
        let token = file(&format!("{name}.jwt"));
        assert!(all.verify(token.trim()).await.is_ok(), "{name}");
    }
    // As environment variables of some systems have it, and as other systems end lines.
    for written in [
        file("rsa.pem").replace('\n', "\\n"),
        file("rsa.pem").replace('\n', "\r\n"),
    ] {
        assert!(
            verifier(&written)
                .verify(file("rsa.jwt").trim())
                .await
                .is_ok(),
            "{written}"
        );
    }
}

#[tokio::test]
async fn an_rsa_key_in_its_own_form_is_read_too() {
    let token = file("rsa.jwt");
    let caller = verifier(&file("rsa-pkcs1.pem")).verify(token.trim()).await;
    assert_eq!(caller.unwrap().name.as_deref(), Some("anna"));
}

#[test]
fn what_is_no_key_for_tokens_is_refused_with_the_reason() {
    let private = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----";
    let cut = file("rsa.pem").replace("-----END CERTIFICATE-----", "");
    let garbage = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
    let other_end = "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END CERTIFICATE-----";
    for (text, expected) in [
        (file("weak.pem"), KeyError::Length),
        (file("secp256k1.pem"), KeyError::Unsupported),
        (private.to_owned(), KeyError::NotPublic),
        (format!("{}{private}", file("rsa.pem")), KeyError::NotPublic),
        (cut, KeyError::Pem),
        (garbage.to_owned(), KeyError::Pem),
        (other_end.to_owned(), KeyError::Pem),
        (SECRET.to_owned(), KeyError::Nothing),
        (String::new(), KeyError::Nothing),
    ] {
        assert_eq!(Key::from_pem(&text).unwrap_err(), expected, "{text}");
    }
}

#[tokio::test]
async fn a_public_key_is_never_a_secret() {
    for name in ["rsa.pem", "rsa-pkcs1.pem", "ed25519.pem"] {
        let text = file(name);
        let verifier = verifier(&text);
        for secret in [text.as_str(), text.trim(), ""] {
            let token = Signer::hmac(secret.as_bytes()).token(&claims());
            let refusal = verifier.verify(&token).await;
            assert_eq!(refusal, Err(Refusal::UnknownKey), "{name}");
        }
    }
}
