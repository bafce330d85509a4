//! Passwords of a provisioning file: plain text, or an argon2 hash.

use argon2::Params;
use argon2::password_hash::phc::PasswordHash;
use outbound::Secret;

/// Maximum memory of a hash in KiB, maximum passes and lanes: a file must not be able to stall log-ins.
const MAX_MEMORY: u32 = 256 << 10;
const MAX_PASSES: u32 = 16;
const MAX_LANES: u32 = 8;

/// A password as a provisioning file gives it.
#[derive(Clone, Debug)]
pub enum Password {
    /// The password itself.
    Plain(Secret),
    /// An argon2 hash in the PHC string format.
    Hash(Secret),
}

impl Password {
    /// Takes a text as a hash where it has the form of one, and as the password itself otherwise.
    pub(super) fn new(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() {
            return Err("the password is empty");
        }
        if !text.starts_with("$argon2") {
            return Ok(Password::Plain(Secret::new(text)));
        }
        check(text)?;
        Ok(Password::Hash(Secret::new(text)))
    }
}

fn check(text: &str) -> Result<(), &'static str> {
    let malformed = "the argon2 string is malformed";
    let hash = PasswordHash::new(text).map_err(|_| malformed)?;
    let known = ["argon2id", "argon2i", "argon2d"];
    if !known.contains(&hash.algorithm.as_str()) || hash.salt.is_none() || hash.hash.is_none() {
        return Err(malformed);
    }
    let params = Params::try_from(&hash).map_err(|_| malformed)?;
    if params.m_cost() > MAX_MEMORY || params.t_cost() > MAX_PASSES || params.p_cost() > MAX_LANES {
        return Err("the argon2 string asks for more than 256 MiB, 16 passes or 8 lanes");
    }
    Ok(())
}
