//! Public keys and certificates in PEM (RFC 7468).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::KeyError;

/// A labelled piece of DER.
pub(super) struct Section {
    pub(super) label: String,
    pub(super) der: Vec<u8>,
}

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";

/// Tells whether a text is meant to be PEM.
pub(super) fn is_pem(text: &str) -> bool {
    text.contains(BEGIN)
}

/// Reads all sections of a text. What stands between them is for people.
///
/// Environment variables of some systems have no lines; there `\n` stands for the end of one.
pub(super) fn sections(text: &str) -> Result<Vec<Section>, KeyError> {
    let text = text.replace("\\n", "\n");
    let mut sections = Vec::new();
    let mut rest = text.as_str();
    while let Some((_, begun)) = rest.split_once(BEGIN) {
        let (label, body) = begun.split_once(DASHES).ok_or(KeyError::Pem)?;
        let (body, end) = body.split_once(END).ok_or(KeyError::Pem)?;
        let after = end
            .strip_prefix(label)
            .and_then(|end| end.strip_prefix(DASHES));
        rest = after.ok_or(KeyError::Pem)?;
        let plain: String = body.split_whitespace().collect();
        sections.push(Section {
            label: label.to_owned(),
            der: STANDARD.decode(plain).map_err(|_| KeyError::Pem)?,
        });
    }
    Ok(sections)
}
