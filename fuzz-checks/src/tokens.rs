//! Tokens and keys: of all texts only the one that was signed is believed, and no text makes a key
//! for algorithms that it is not for.

use service_auth::{Key, Verifier, VerifierOptions};

const SECRET: &[u8] = b"0123456789abcdef0123456789ABCDEF";

/// The one token that is signed with the secret; it expires in the year 2100.
const SIGNED: &str = include_str!("../../fuzz/seeds/tokens/signed.jwt");

/// Reads a token, keys in PEM, and keys as JSON.
pub fn run(input: &[u8]) {
    let keys = Key::from_json(input).unwrap_or_default();
    keys.iter().for_each(check);
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    match Key::from_pem(text) {
        Ok(keys) => keys.iter().for_each(check),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let verifier = Verifier::without_keys(&VerifierOptions::default());
    let verifier = verifier.with_keys([Key::hmac(SECRET)]).with_keys(keys);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime without drivers needs nothing");
    let token = text.trim_end();
    let verified = runtime.block_on(verifier.verify(token));
    assert_eq!(verified.is_ok(), token == SIGNED.trim_end(), "{text:?}");
    if let Err(refusal) = verified {
        let part = token.get(..24).unwrap_or("-");
        assert!(!refusal.to_string().contains(part));
    }
}

/// A public key is for no algorithm with secrets.
fn check(key: &Key) {
    assert!(!key.algorithms().is_empty());
    for algorithm in key.algorithms() {
        assert!(!format!("{algorithm:?}").starts_with("HS"), "{algorithm:?}");
    }
}
