//! Who sends a request: bearer tokens (JSON Web Tokens), the keys that they are verified with, and
//! what their claims say about the sender.
//!
//! Nothing that a token says is believed before its signature is verified, and nothing in it
//! chooses the key or the way of verifying it: `jku`, `x5u`, `x5c` and `jwk` are ignored, and each
//! key is used with its own algorithms alone. A refusal says what is wrong in a fixed text, and
//! never shows a part of the token.

mod advice;
mod bearer;
mod claims;
pub mod code;
mod compact;
mod der;
mod fetch;
mod jwk;
mod jwks;
mod key;
mod pem;
mod refusal;
mod verifier;

pub use advice::warnings;
pub use bearer::bearer;
pub use claims::at_path;
pub use compact::unverified_claims;
pub use fetch::ClientError;
pub use jwks::{Jwks, Times};
pub use key::{Key, KeyError};
pub use refusal::Refusal;
pub use verifier::{Verifier, VerifierError};
