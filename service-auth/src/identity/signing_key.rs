//! The key that signs tokens: ECDSA on P-256 (`ES256`), in memory or in a file.
//!
//! Every library of JSON Web Tokens verifies this algorithm, the key is made in less than a
//! millisecond, and its tokens are short.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::encoding::PublicKeyX509Der;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use jsonwebtoken::jwk::{Jwk, PublicKeyUse, ThumbprintHash};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use outbound::Secret;
use pem::{EncodeConfig, LineEnding, Pem};
use uuid::Uuid;

use super::ProviderError;
use super::token::Claims;

pub(super) const ALGORITHM: Algorithm = Algorithm::ES256;

/// Such a key takes less than 300 bytes.
const MAX_BYTES: u64 = 16 << 10;

/// What a private key (PKCS #8) is called in PEM (RFC 7468, section 10).
const PRIVATE_KEY: &str = "PRIVATE KEY";

/// A private key with its public half.
pub(super) struct SigningKey {
    private: EncodingKey,
    pub(super) public: Jwk,
    pub(super) public_pem: String,
    pub(super) id: String,
    header: Header,
}

impl SigningKey {
    /// Makes a key that ends with the process.
    pub(super) fn in_memory() -> Result<Self, ProviderError> {
        let pem = new_pem()?;
        SigningKey::of_pem(pem.reveal().as_bytes()).ok_or(ProviderError::Cryptography)
    }

    /// Reads the key of a file, and makes the file first where there is none.
    pub(super) fn of_file(path: &Path) -> Result<Self, ProviderError> {
        let file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let written = write_new(path, &new_pem()?);
                written.map_err(|source| failed(path, source))?;
                File::open(path)
            }
            opened => opened,
        };
        SigningKey::of_open_file(path, file)
    }

    fn of_open_file(path: &Path, file: io::Result<File>) -> Result<Self, ProviderError> {
        let failed = |source| failed(path, source);
        let file = file.map_err(failed)?;
        if is_shared(&file).map_err(failed)? {
            return Err(ProviderError::KeyShared {
                path: path.to_owned(),
            });
        }
        let mut pem = Vec::new();
        file.take(MAX_BYTES).read_to_end(&mut pem).map_err(failed)?;
        SigningKey::of_pem(&pem).ok_or_else(|| ProviderError::KeyMalformed {
            path: path.to_owned(),
        })
    }

    fn of_pem(text: &[u8]) -> Option<Self> {
        let section = pem::parse(text).ok()?;
        if section.tag() != PRIVATE_KEY {
            return None;
        }
        let private = EncodingKey::from_ec_der(section.contents());
        // Fails for keys on other curves.
        let mut public = Jwk::from_encoding_key(&private, ALGORITHM).ok()?;
        let kid = public.thumbprint(ThumbprintHash::SHA256).ok()?;
        public.common.key_id = Some(kid.clone());
        public.common.public_key_use = Some(PublicKeyUse::Signature);
        let header = Header {
            kid: Some(kid.clone()),
            ..Header::new(ALGORITHM)
        };
        Some(SigningKey {
            public_pem: public_pem(&private)?,
            private,
            public,
            id: kid,
            header,
        })
    }

    pub(super) fn sign(&self, claims: &Claims<'_>) -> Option<Secret> {
        let token = encode(&self.header, claims, &self.private).ok()?;
        Some(Secret::new(token))
    }
}

fn failed(path: &Path, source: io::Error) -> ProviderError {
    ProviderError::KeyFile {
        path: path.to_owned(),
        source,
    }
}

/// Returns the public half of the key of a file, as PEM, and the name of the key. Makes no file.
///
/// # Errors
/// When the file is not there or cannot be used.
pub fn kept_public_key(path: &Path) -> Result<(String, String), ProviderError> {
    let key = SigningKey::of_open_file(path, File::open(path))?;
    Ok((key.public_pem, key.id))
}

/// Makes a key as PEM.
fn new_pem() -> Result<Secret, ProviderError> {
    let random = SystemRandom::new();
    let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random)
        .map_err(|_| ProviderError::Cryptography)?;
    Ok(Secret::new(armored(PRIVATE_KEY, key.as_ref())))
}

/// Returns the public half of a key as PEM.
fn public_pem(private: &EncodingKey) -> Option<String> {
    let pair =
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, private.as_bytes()).ok()?;
    let public: PublicKeyX509Der<'_> = pair.public_key().as_der().ok()?;
    Some(armored("PUBLIC KEY", public.as_ref()))
}

fn armored(label: &str, der: &[u8]) -> String {
    let lines = EncodeConfig::new().set_line_ending(LineEnding::LF);
    pem::encode_config(&Pem::new(label, der), lines)
}

/// Writes a file that only its owner may open. It appears as a whole, and never in the place of one
/// that another process has made meanwhile: then that one stays.
fn write_new(path: &Path, pem: &Secret) -> io::Result<()> {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}", Uuid::new_v4()));
    let temporary = path.with_file_name(name);
    let written = private_file(&temporary)
        .and_then(|mut file| {
            file.write_all(pem.reveal().as_bytes())?;
            file.sync_all()
        })
        .and_then(|()| match fs::hard_link(&temporary, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        });
    // When it cannot be removed, a copy of the key remains that only the owner can read.
    let _ = fs::remove_file(&temporary);
    written
}

fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(unix)]
fn is_shared(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    Ok(file.metadata()?.permissions().mode() & 0o077 != 0)
}

/// Elsewhere the folder decides who may open a file.
#[cfg(not(unix))]
fn is_shared(_file: &File) -> io::Result<bool> {
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;

    #[test]
    fn a_key_is_read_as_it_is_written() {
        let text = new_pem().unwrap();
        let text = text.reveal();
        let key = SigningKey::of_pem(text.as_bytes()).unwrap();
        for pem in [text, &key.public_pem] {
            assert!(pem.starts_with("-----BEGIN ") && pem.ends_with("-----\n"));
            assert!(pem.lines().all(|line| line.len() <= 64) && !pem.contains('\r'));
        }
        let public = Key::from_pem(&key.public_pem).unwrap();
        assert_eq!(public[0].algorithms(), [ALGORITHM]);
        let names = ["EC PRIVATE KEY", "PUBLIC KEY"];
        let named = names.map(|name| text.replace(PRIVATE_KEY, name));
        let cut = text.replace("-----END", "");
        for other in [&named[0], &named[1], &key.public_pem, &cut, ""] {
            assert!(SigningKey::of_pem(other.as_bytes()).is_none(), "{other}");
        }
    }
}
