//! What operators see of running services: metrics, levels of the log, slow operations.

mod dashboard;
mod levels;
mod scrape;
mod slow;
mod text;

use crate::command_line::{code, err, out, soml};

/// A secret that signs the tokens of these tests.
const SECRET: &str = "a secret of a test that is long enough for HMAC";

/// Returns a token of a user with a role.
fn token(role: &str) -> String {
    let secret = format!("security.secret={SECRET}");
    let output = soml(&["token", "--role", role, "--set", &secret]);
    assert_eq!(code(&output), Some(0), "{}", err(&output));
    out(&output).trim().to_owned()
}
