//! Ids of documents.

use sha2::{Digest, Sha256};

/// Longest id of a document, in bytes.
const MAX_ID: usize = 512;

/// Returns the id of the document of an object: its IRI, or a digest of it if that is too long for an
/// id.
///
/// No IRI begins with a `#`, so digests and IRIs are never the same.
#[must_use]
pub fn document_id(iri: &str) -> String {
    if iri.len() <= MAX_ID {
        return iri.to_owned();
    }
    let digest = Sha256::digest(iri.as_bytes());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("#{hex}")
}

#[cfg(test)]
mod tests {
    use super::{MAX_ID, document_id};

    #[test]
    fn long_iris_have_short_ids() {
        let longest = format!("http://e/{}", "a".repeat(MAX_ID - 9));
        assert_eq!(document_id(&longest), longest);
        let (one, other) = (format!("{longest}1"), format!("{longest}2"));
        assert_eq!(document_id(&one).len(), 65);
        assert_ne!(document_id(&one), document_id(&other));
    }
}
