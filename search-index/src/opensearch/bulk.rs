//! Documents in bulk.

use bytes::{Bytes, BytesMut};
use serde::Deserialize;

use super::failure::Cause;
use crate::document::Document;
use crate::engine::Rejected;

/// Bytes that are written at once; other tasks get their turn in between.
const PIECE: usize = 512 << 10;

/// Writes the body of a request: an action and a source for each document.
pub(super) async fn body(documents: &[Document]) -> Bytes {
    let length = |document: &Document| document.source.len() + document.id.len() + 32;
    let mut body = BytesMut::with_capacity(documents.iter().map(length).sum());
    let mut piece = PIECE;
    for document in documents {
        body.extend_from_slice(br#"{"index":{"_id":"#);
        let id = serde_json::to_string(&document.id).expect("a string is JSON");
        body.extend_from_slice(id.as_bytes());
        body.extend_from_slice(b"}}\n");
        body.extend_from_slice(&document.source);
        body.extend_from_slice(b"\n");
        if body.len() >= piece {
            piece = body.len() + PIECE;
            tokio::task::yield_now().await;
        }
    }
    body.freeze()
}

/// What the engine says of each document.
#[derive(Deserialize)]
pub(super) struct Outcome {
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: Written,
}

#[derive(Deserialize)]
struct Written {
    status: u16,
    error: Option<Cause>,
}

impl Outcome {
    /// Returns the documents that were not taken, of `number`.
    pub(super) fn rejected(self, number: usize) -> Result<Vec<Rejected>, String> {
        if self.items.len() != number {
            let found = self.items.len();
            return Err(format!("{found} of {number} documents are in the answer"));
        }
        let items = self.items.into_iter().map(|item| item.index).enumerate();
        let rejected = items.filter(|(_, item)| !(200..300).contains(&item.status));
        let rejected = rejected.map(|(position, item)| Rejected {
            position,
            status: item.status,
            reason: item.error.unwrap_or_default().said().to_string(),
        });
        Ok(rejected.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_document_is_judged_alone() {
        let outcome: Outcome = serde_json::from_str(
            r#"{"errors":true,"items":[{"index":{"status":201}},
                {"index":{"status":429,"error":{"type":"rejected","reason":"full","caused_by":{"type":"x","reason":"busy"}}}},
                {"index":{"status":400}}]}"#,
        )
        .expect("JSON");
        let rejected = outcome.rejected(3).expect("complete");
        let rejected: Vec<_> = rejected
            .iter()
            .map(|r| (r.position, r.status, r.is_transient(), r.reason.as_str()))
            .collect();
        assert_eq!(
            rejected,
            [
                (1, 429, true, ": rejected: full: busy"),
                (2, 400, false, "")
            ]
        );
        let short: Outcome = serde_json::from_str(r#"{"items":[]}"#).expect("JSON");
        assert!(short.rejected(1).is_err());
    }
}
