//! As much of DER (X.690) as public keys and certificates need.

/// The tags that occur.
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OBJECT_IDENTIFIER: u8 = 0x06;
const SEQUENCE: u8 = 0x30;
/// The version of a certificate.
const VERSION: u8 = 0xa0;

/// A public key in its place (`SubjectPublicKeyInfo`, RFC 5280, section 4.1).
#[derive(Debug, PartialEq, Eq)]
pub(super) struct KeyInfo<'d> {
    /// The identifier of the algorithm.
    pub(super) algorithm: &'d [u8],
    /// The identifier of the curve, where there is one.
    pub(super) curve: Option<&'d [u8]>,
    pub(super) key: &'d [u8],
}

/// What is left to read.
struct Reader<'d>(&'d [u8]);

impl<'d> Reader<'d> {
    /// Reads one element of a tag.
    fn element(&mut self, tag: u8) -> Option<&'d [u8]> {
        let (found, content, rest) = element(self.0)?;
        (found == tag).then(|| {
            self.0 = rest;
            content
        })
    }

    fn sequence(&mut self) -> Option<Reader<'d>> {
        self.element(SEQUENCE).map(Reader)
    }

    fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }
}

/// Reads a public key.
pub(super) fn key_info(bytes: &[u8]) -> Option<KeyInfo<'_>> {
    let mut all = Reader(bytes);
    let info = key_info_in(&mut all)?;
    all.is_at_end().then_some(info)
}

/// Reads the public key of a certificate.
pub(super) fn certified_key(bytes: &[u8]) -> Option<KeyInfo<'_>> {
    let mut certificate = Reader(bytes).sequence()?;
    let mut signed = certificate.sequence()?;
    // Without a version it is of the first one.
    let _ = signed.element(VERSION);
    signed.element(INTEGER)?;
    // Its signature, issuer, validity and subject.
    for _ in 0..4 {
        signed.sequence()?;
    }
    key_info_in(&mut signed)
}

/// Returns the modulus of an RSA public key (RFC 8017, section A.1.1) without leading zeros.
pub(super) fn modulus(key: &[u8]) -> Option<&[u8]> {
    let mut all = Reader(key);
    let mut parts = all.sequence()?;
    let modulus = parts.element(INTEGER)?;
    parts.element(INTEGER)?;
    let zeros = modulus.iter().take_while(|byte| **byte == 0).count();
    (all.is_at_end() && parts.is_at_end()).then(|| &modulus[zeros..])
}

fn key_info_in<'d>(reader: &mut Reader<'d>) -> Option<KeyInfo<'d>> {
    let mut info = reader.sequence()?;
    let mut method = info.sequence()?;
    let algorithm = method.element(OBJECT_IDENTIFIER)?;
    let curve = method.element(OBJECT_IDENTIFIER);
    let (unused, key) = info.element(BIT_STRING)?.split_first()?;
    (*unused == 0 && info.is_at_end()).then_some(KeyInfo {
        algorithm,
        curve,
        key,
    })
}

/// Splits an element off: its tag, its content and what follows.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = match *first {
        short @ 0..=0x7f => (usize::from(short), rest),
        // Longer ones have no place in what is read here.
        long @ 0x81..=0x83 => {
            let (digits, rest) = rest.split_at_checked(usize::from(long & 0x7f))?;
            let length = digits
                .iter()
                .fold(0, |sum, byte| sum << 8 | usize::from(*byte));
            (length, rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_too_early_is_nothing() {
        for bytes in [
            &b""[..],
            b"\x30",
            b"\x30\x05\x02",
            b"\x30\x82\x01",
            b"\x30\x80",
            b"\x30\x84\0\0\0\0",
        ] {
            assert_eq!(key_info(bytes), None, "{bytes:?}");
            assert_eq!(certified_key(bytes), None, "{bytes:?}");
            assert_eq!(modulus(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn a_modulus_has_no_leading_zeros() {
        assert_eq!(
            modulus(b"\x30\x07\x02\x02\0\x80\x02\x01\x03"),
            Some(&b"\x80"[..])
        );
        assert_eq!(modulus(b"\x30\x07\x02\x02\0\x80\x02\x01\x03\0"), None);
    }
}
