//! Documents in bulk.

use bytes::{Bytes, BytesMut};
use serde::Deserialize;

use super::failure::Cause;
use crate::engine::{BulkOperation, Rejected};

/// Bytes of an action beside the id, about.
const ACTION: usize = 72;

/// Bytes that are written at once; other tasks get their turn in between.
const PIECE: usize = 512 << 10;

/// Writes the body of a request: an action, and a source for each document that is indexed.
pub(super) async fn body(writes: &[BulkOperation], version: u64) -> Bytes {
    let length = |write: &BulkOperation| {
        let source = match write {
            BulkOperation::Index(document) => document.source.len(),
            BulkOperation::Delete(_) => 0,
        };
        source + write.id().len() + ACTION
    };
    let mut body = BytesMut::with_capacity(writes.iter().map(length).sum());
    let mut piece = PIECE;
    for write in writes {
        let action = match write {
            BulkOperation::Index(_) => r#"{"index":{"_id":"#,
            BulkOperation::Delete(_) => r#"{"delete":{"_id":"#,
        };
        body.extend_from_slice(action.as_bytes());
        let id = serde_json::to_string(write.id()).expect("a string is JSON");
        body.extend_from_slice(id.as_bytes());
        let version = format!(",\"version\":{version},\"version_type\":\"external_gte\"}}}}\n");
        body.extend_from_slice(version.as_bytes());
        if let BulkOperation::Index(document) = write {
            body.extend_from_slice(&document.source);
            body.extend_from_slice(b"\n");
        }
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
#[serde(rename_all = "lowercase")]
enum Item {
    Index(Written),
    Delete(Written),
}

#[derive(Deserialize)]
struct Written {
    status: u16,
    error: Option<Cause>,
}

impl Item {
    /// Returns what was said of a write that is neither done nor superfluous.
    fn rejected(self) -> Option<Written> {
        let (written, is_deleted) = match self {
            Item::Index(written) => (written, false),
            Item::Delete(written) => (written, true),
        };
        let is_done = match written.status {
            200..300 => true,
            // There was none.
            404 => is_deleted,
            // The index has what is newer.
            409 => true,
            _ => false,
        };
        (!is_done).then_some(written)
    }
}

impl Outcome {
    /// Returns the documents that were not taken, of `number`.
    pub(super) fn rejected(self, number: usize) -> Result<Vec<Rejected>, String> {
        if self.items.len() != number {
            let found = self.items.len();
            return Err(format!("{found} of {number} documents are in the answer"));
        }
        let items = self.items.into_iter().map(Item::rejected).enumerate();
        let rejected = items
            .filter_map(|(position, item)| Some((position, item?)))
            .map(|(position, item)| Rejected {
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
                {"index":{"status":400}},{"index":{"status":409,"error":{"type":"version_conflict_engine_exception"}}},
                {"delete":{"status":404}},{"delete":{"status":503}},{"index":{"status":404}}]}"#,
        )
        .expect("JSON");
        let rejected = outcome.rejected(7).expect("complete");
        let rejected: Vec<_> = rejected
            .iter()
            .map(|r| (r.position, r.status, r.is_transient(), r.reason.as_str()))
            .collect();
        assert_eq!(
            rejected,
            [
                (1, 429, true, ": rejected: full: busy"),
                (2, 400, false, ""),
                (5, 503, true, ""),
                (6, 404, false, "")
            ]
        );
        let short: Outcome = serde_json::from_str(r#"{"items":[]}"#).expect("JSON");
        assert!(short.rejected(1).is_err());
    }
}
