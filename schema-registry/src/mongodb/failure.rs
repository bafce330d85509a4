//! What failures of the driver and the server mean.
//!
//! Messages of the driver may name servers, so they are sources of the errors of the store and no part of their text.

use std::fmt;

use mongodb::bson::Document;
use mongodb::error::{Error, ErrorKind};

use super::calls::number;
use crate::store::SchemaStoreError;

/// `DuplicateKey`, in the names of `error_codes.yml` of the server, as all below.
const DUPLICATE_KEY: i64 = 11_000;
/// `Unauthorized`, `AuthenticationFailed`, `ReauthenticationRequired`.
const ACCESS_DENIED: [i64; 3] = [13, 18, 391];
/// `NotWritablePrimary`, `NotPrimaryNoSecondaryOk`, `NotPrimaryOrSecondary` and the old `NotPrimary`: the server has
/// not begun.
const NOT_PRIMARY: [i64; 4] = [10_107, 13_435, 13_436, 10_058];
/// `HostUnreachable`, `HostNotFound`, `MaxTimeMSExpired`, `WriteConcernFailed` (or timed out), `NetworkTimeout`,
/// `ShutdownInProgress`, `PrimarySteppedDown`, `ReadConcernMajorityNotAvailableYet`, `ExceededTimeLimit`,
/// `SocketException`, `InterruptedAtShutdown`, `InterruptedDueToReplStateChange`.
const TRANSIENT: [i64; 12] = [6, 7, 50, 64, 89, 91, 189, 134, 262, 9_001, 11_600, 11_602];

/// Why a call of the driver has not ended well.
pub(super) struct CallError {
    pub(super) cause: Cause,
    /// Whether a command may have reached the server.
    pub(super) was_sent: bool,
}

/// What has ended a call.
pub(super) enum Cause {
    Driver(Error),
    TimedOut,
}

/// Why a write has not been acknowledged.
pub(super) enum WriteFailure {
    /// It was not made.
    NotMade(SchemaStoreError),
    /// It may have been made.
    Lost(Box<dyn std::error::Error + Send + Sync>),
    /// It was made, but not with the durability that was asked for.
    LessDurable(ServerError),
}

impl CallError {
    pub(super) fn into_read_error(self) -> SchemaStoreError {
        match self.cause {
            Cause::Driver(error) => of_driver(error),
            Cause::TimedOut => SchemaStoreError::Unavailable(Box::new(TimedOut)),
        }
    }

    pub(super) fn into_write_failure(self) -> WriteFailure {
        let is_lost = self.was_sent
            && match &self.cause {
                Cause::Driver(error) => leaves_outcome_open(error),
                Cause::TimedOut => true,
            };
        match self.cause {
            Cause::Driver(error) if is_lost => WriteFailure::Lost(Box::new(error)),
            Cause::TimedOut if is_lost => WriteFailure::Lost(Box::new(TimedOut)),
            _ => WriteFailure::NotMade(self.into_read_error()),
        }
    }
}

/// Returns whether a command may have been executed although it failed.
fn leaves_outcome_open(error: &Error) -> bool {
    match &*error.kind {
        ErrorKind::Command(command) => TRANSIENT.contains(&command.code.into()),
        ErrorKind::Authentication { .. }
        | ErrorKind::InvalidArgument { .. }
        | ErrorKind::ServerSelection { .. }
        | ErrorKind::ConnectionPoolCleared { .. }
        | ErrorKind::DnsResolve { .. } => false,
        _ => true,
    }
}

fn of_driver(error: Error) -> SchemaStoreError {
    match &*error.kind {
        ErrorKind::Authentication { .. } => SchemaStoreError::AccessDenied(Box::new(error)),
        ErrorKind::Command(command) => of_code(command.code.into(), error),
        ErrorKind::Io(_)
        | ErrorKind::ServerSelection { .. }
        | ErrorKind::ConnectionPoolCleared { .. }
        | ErrorKind::DnsResolve { .. }
        | ErrorKind::Shutdown => SchemaStoreError::Unavailable(Box::new(error)),
        _ => SchemaStoreError::Failed(Box::new(error)),
    }
}

fn of_code(
    code: i64,
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> SchemaStoreError {
    if ACCESS_DENIED.contains(&code) {
        SchemaStoreError::AccessDenied(error.into())
    } else if TRANSIENT.contains(&code) || NOT_PRIMARY.contains(&code) {
        SchemaStoreError::Unavailable(error.into())
    } else {
        SchemaStoreError::Failed(error.into())
    }
}

/// An error in the answer to a command that the server has executed.
#[derive(Debug)]
pub(super) struct ServerError {
    code: i64,
    message: String,
}

impl ServerError {
    /// Reads why the write of an answer failed.
    pub(super) fn of_write(reply: &Document) -> Option<Self> {
        let errors = reply.get_array("writeErrors").ok()?;
        errors.first()?.as_document().map(ServerError::new)
    }

    /// Reads why a write is less durable than asked for.
    pub(super) fn of_write_concern(reply: &Document) -> Option<Self> {
        let error = reply.get_document("writeConcernError").ok()?;
        Some(ServerError::new(error))
    }

    fn new(error: &Document) -> Self {
        let message = error.get_str("errmsg").unwrap_or_default();
        ServerError {
            code: number(error, "code").unwrap_or_default(),
            message: message.to_owned(),
        }
    }

    pub(super) fn is_duplicate_key(&self) -> bool {
        self.code == DUPLICATE_KEY
    }

    pub(super) fn into_error(self) -> SchemaStoreError {
        of_code(self.code, self)
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MongoDB answered: {} (code {})", self.message, self.code)
    }
}

impl std::error::Error for ServerError {}

/// There was no answer in time.
#[derive(Debug, thiserror::Error)]
#[error("MongoDB did not answer in time")]
struct TimedOut;

/// A document of the collection is not what the store writes.
#[derive(Debug, thiserror::Error)]
#[error("the document `{key}` of the collection was not written by a store of schemas: {fault}")]
pub(super) struct Foreign {
    pub(super) key: String,
    pub(super) fault: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use mongodb::bson::doc;

    #[test]
    fn codes_say_whether_access_is_denied_or_it_may_work_later() {
        let error = |code: i32| {
            let reply =
                doc! { "n": 0, "writeErrors": [{ "index": 0, "code": code, "errmsg": "no" }] };
            ServerError::of_write(&reply).unwrap().into_error()
        };
        assert!(matches!(error(13), SchemaStoreError::AccessDenied(_)));
        assert!(matches!(error(10_107), SchemaStoreError::Unavailable(_)));
        assert!(matches!(error(50), SchemaStoreError::Unavailable(_)));
        let failed = error(121);
        assert!(matches!(failed, SchemaStoreError::Failed(_)));
        assert_eq!(failed.to_string(), "the schema store failed");
    }
}
