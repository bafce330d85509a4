//! Repetitions: mutations that a client sends again under the same key.

use std::fmt::Write as _;

use graph_store::write::{ChangeRecord, RecordQuery};
use graph_store::{StoreError, WriteStore};
use sha2::{Digest, Sha256};

use super::Job;

/// What a repetition of a request is recognised by.
#[derive(Clone, Debug, Default)]
pub(super) struct Repetition {
    /// The key of the client, which others cannot use; `None` for a request without one.
    pub(super) key: Option<String>,
    /// The digest of what is asked for; empty without a key.
    pub(super) digest: String,
}

impl Repetition {
    /// Returns what a repetition of the request of a job is recognised by.
    pub(super) fn of(job: &Job) -> Self {
        let Some(key) = &job.context.idempotency_key else {
            return Repetition::default();
        };
        let caller = job.context.caller.as_deref();
        let name = caller.and_then(|caller| caller.name.as_deref());
        let request = &job.request;
        let variables = request
            .variables
            .as_ref()
            .map(|values| request.digits.text(values));
        // As requests without variables were recorded before.
        let variables = variables.unwrap_or_else(|| "null".to_owned());
        let operation = request.operation_name.as_deref().unwrap_or_default();
        Repetition {
            key: Some(digest(&[name.unwrap_or_default(), key])),
            digest: digest(&[&request.query, &variables, operation]),
        }
    }

    /// Returns the record of the request, if it was carried out before.
    pub(super) async fn record(
        &self,
        writer: &dyn WriteStore,
        job: &Job,
    ) -> Result<Option<ChangeRecord>, StoreError> {
        let Some(key) = &self.key else {
            return Ok(None);
        };
        let query = RecordQuery::IdempotencyKey(key.clone());
        let found = writer.records(&query, &job.call).await?;
        Ok(found.into_iter().next())
    }
}

/// Returns the digest of some texts, which differs wherever one of them does.
fn digest(texts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    let mut hex = String::new();
    for byte in hash.finalize() {
        write!(hex, "{byte:02x}").expect("writing to a string");
    }
    hex
}
