//! Errors in the communication with a SPARQL server.
//!
//! The messages contain addresses and are for logs only; none contains credentials.

use call_context::CallError;
use std::time::Duration;

use reqwest::StatusCode;
use service_metrics::table::OTHER;

use crate::error::StoreError;

/// Why an endpoint cannot be made from its options.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// No address is given.
    #[error("no address of a SPARQL endpoint is given")]
    NoAddress,
    /// No connections are allowed.
    #[error("at least one concurrent connection is needed")]
    NoConnections,
    /// A token and a user are both given.
    #[error("either a token or a user with credentials, not both")]
    TwoAuthentications,
    /// Credentials without a user.
    #[error("credentials are given without a username")]
    NoUsername,
    /// Addresses for updates do not correspond to those for queries.
    #[error("as many addresses for updates as for queries are needed, or none")]
    UpdateAddresses,
    /// A plain endpoint has no repositories.
    #[error("an endpoint of type `sparql11` has no repositories; its address takes the queries")]
    RepositoryUnknown,
    /// An address that no path can be appended to.
    #[error("`{0}` cannot be the base of an address")]
    Base(String),
    /// A token that HTTP cannot carry.
    #[error("the token contains characters that are not allowed in HTTP headers")]
    Token,
    /// The HTTP client cannot be made.
    #[error("failed to set up the HTTP client")]
    Client(#[source] reqwest::Error),
    /// TLS cannot be set up.
    #[error("failed to set up TLS")]
    Tls(#[source] rustls::Error),
}

/// What a server answered, or failed to, when an error of a store comes from that.
///
/// ```
/// use graph_store::StoreError;
/// use graph_store::remote::http::HttpFailure;
///
/// fn is_denied(error: &StoreError) -> bool {
///     let status = HttpFailure::of(error).and_then(|failure| failure.status());
///     matches!(status, Some(401 | 403))
/// }
/// # assert!(!is_denied(&StoreError::Conflict));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct HttpFailure<'a>(&'a HttpError);

impl<'a> HttpFailure<'a> {
    /// Returns the failure that an error comes from, if it comes from one.
    #[must_use]
    pub fn of(error: &'a StoreError) -> Option<Self> {
        match error {
            StoreError::Unavailable(source)
            | StoreError::Interrupted(source)
            | StoreError::OutcomeUnknown(source)
            | StoreError::Failed(source) => source.downcast_ref().map(HttpFailure),
            _ => None,
        }
    }

    /// Returns the status of the answer, if there was one and it was no success.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.0.status().map(|status| status.as_u16())
    }

    /// Returns whether the server cannot be reached, did not answer completely and in time, or said that it cannot serve
    /// at the moment.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        self.0.meaning() == Meaning::Down || matches!(self.0, HttpError::Busy { .. })
    }
}

/// A failure of one exchange with one server.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum HttpError {
    #[error("{address} cannot be connected to: {cause}")]
    Connect { address: String, cause: String },
    #[error("{address} closed the connection before it answered: {cause}")]
    Lost { address: String, cause: String },
    #[error("{address} sent nothing for {} ms", .timeout.as_millis())]
    Silent { address: String, timeout: Duration },
    #[error("{address} has failed recently and is skipped")]
    Skipped { address: String },
    #[error("no connection to {address} became free within {} ms", .timeout.as_millis())]
    Busy { address: String, timeout: Duration },
    #[error("{address} sent no complete response within {} ms", .timeout.as_millis())]
    Slow { address: String, timeout: Duration },
    #[error("{address} wants other credentials: {status}{}", said(.text))]
    Credentials {
        address: String,
        status: StatusCode,
        text: String,
    },
    #[error("{address} answered {status}{}", said(.text))]
    Status {
        address: String,
        status: StatusCode,
        text: String,
    },
    #[error("{address} answered {status} and sends to `{location}`; redirects are not followed")]
    Redirect {
        address: String,
        status: StatusCode,
        location: String,
    },
    #[error("{address} answered with `{found}` where a SPARQL result was expected{}", said(.text))]
    ContentType {
        address: String,
        found: String,
        text: String,
    },
    #[error("{address} answered in the encoding `{found}`, which was not requested")]
    Encoding { address: String, found: String },
    #[error("the result of {address} broke off after {bytes} bytes: {cause}")]
    Broken {
        address: String,
        bytes: u64,
        cause: String,
    },
    #[error("the end of the result of {address} is not marked")]
    Unmarked { address: String },
    #[error("the result of {address} is malformed: {cause}")]
    Malformed { address: String, cause: String },
    #[error(
        "the result of {address} is malformed or truncated, since its end is not marked: {cause}"
    )]
    Unfinished { address: String, cause: String },
    #[error("the result of {address} is larger than {limit} bytes")]
    TooLarge { address: String, limit: u64 },
    #[error("there is no memory for the result")]
    OutOfMemory,
}

fn said(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!(": {text}")
    }
}

/// What a failure says about the server that it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The server is unreachable or unable to serve.
    Down,
    /// The server does not support this; another might.
    Refused,
    /// No other server would do better.
    Final,
}

impl HttpError {
    pub(super) fn meaning(&self) -> Meaning {
        match self {
            HttpError::Connect { .. }
            | HttpError::Skipped { .. }
            | HttpError::Lost { .. }
            | HttpError::Silent { .. }
            | HttpError::Slow { .. }
            | HttpError::Broken { .. } => Meaning::Down,
            HttpError::Status { status, .. } if is_outage(*status) => Meaning::Down,
            HttpError::Status { status, .. } if is_wrong(*status) => Meaning::Final,
            HttpError::Busy { .. }
            | HttpError::Status { .. }
            | HttpError::Redirect { .. }
            | HttpError::Unfinished { .. } => Meaning::Refused,
            HttpError::Credentials { .. }
            | HttpError::ContentType { .. }
            | HttpError::Encoding { .. }
            | HttpError::Unmarked { .. }
            | HttpError::Malformed { .. }
            | HttpError::TooLarge { .. }
            | HttpError::OutOfMemory => Meaning::Final,
        }
    }

    /// Converts the failure to an error of the store.
    pub(super) fn into_store_error(self) -> StoreError {
        match self {
            HttpError::TooLarge { limit, .. } => StoreError::ResultTooLarge { limit },
            HttpError::OutOfMemory => StoreError::Call(CallError::OutOfMemory),
            HttpError::Busy { .. } => StoreError::Unavailable(Box::new(self)),
            HttpError::Broken { .. } => StoreError::Failed(Box::new(self)),
            _ if self.meaning() == Meaning::Down => StoreError::Unavailable(Box::new(self)),
            _ => StoreError::Failed(Box::new(self)),
        }
    }

    /// Returns whether the server certainly did not carry out what was sent, and may when it is sent
    /// again.
    pub(super) fn is_undone(&self) -> bool {
        match self {
            HttpError::Connect { .. } | HttpError::Skipped { .. } | HttpError::Busy { .. } => true,
            HttpError::Status { status, .. } => matches!(
                *status,
                StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS
            ),
            _ => false,
        }
    }

    /// Returns whether the server refused what was sent, so that it is not carried out.
    pub(super) fn is_refusal(&self) -> bool {
        let status = self.status();
        self.is_undone() || status.is_some_and(|status| !status.is_server_error())
    }

    /// Returns whether the server says that there is no such thing: outside of a transaction, the repository.
    pub(super) fn is_not_found(&self) -> bool {
        let status = self.status();
        status.is_some_and(|status| status == StatusCode::NOT_FOUND)
    }

    /// Returns the kind of failure in a word, for metrics.
    pub(super) fn word(&self) -> &'static str {
        match self {
            HttpError::Connect { .. } | HttpError::Skipped { .. } => "connect",
            HttpError::Lost { .. } | HttpError::Broken { .. } | HttpError::Unfinished { .. } => {
                "lost"
            }
            HttpError::Silent { .. } | HttpError::Slow { .. } | HttpError::Busy { .. } => "timeout",
            HttpError::TooLarge { .. } | HttpError::OutOfMemory => "too_large",
            HttpError::ContentType { .. }
            | HttpError::Encoding { .. }
            | HttpError::Unmarked { .. }
            | HttpError::Malformed { .. } => "malformed",
            HttpError::Credentials { .. }
            | HttpError::Status { .. }
            | HttpError::Redirect { .. } => OTHER,
        }
    }

    /// Returns what is wrong with the server, in words that name neither the server nor what it said.
    pub(super) fn trouble(&self) -> String {
        match self {
            HttpError::Connect { .. } => "it cannot be connected to".to_owned(),
            HttpError::Skipped { .. } => "it is skipped".to_owned(),
            HttpError::Lost { .. } | HttpError::Broken { .. } | HttpError::Unfinished { .. } => {
                "it breaks connections off".to_owned()
            }
            HttpError::Silent { .. } | HttpError::Slow { .. } => {
                "it does not answer in time".to_owned()
            }
            HttpError::Busy { .. } => "all connections to it are in use".to_owned(),
            HttpError::Credentials { status, .. } => {
                format!("it wants other credentials ({})", status.as_u16())
            }
            _ if self.is_not_found() => "it has no such repository (404)".to_owned(),
            HttpError::Status { status, .. } | HttpError::Redirect { status, .. } => {
                format!("it answers with the status {}", status.as_u16())
            }
            HttpError::ContentType { .. }
            | HttpError::Encoding { .. }
            | HttpError::Unmarked { .. }
            | HttpError::Malformed { .. }
            | HttpError::TooLarge { .. } => {
                "it answers with something other than results".to_owned()
            }
            HttpError::OutOfMemory => "there is no memory for its answer".to_owned(),
        }
    }

    /// Returns what the server said, if it answered.
    pub(super) fn text(&self) -> &str {
        match self {
            HttpError::Status { text, .. } | HttpError::Credentials { text, .. } => text,
            _ => "",
        }
    }

    /// Returns the status of the response, if it was not a success.
    pub(super) fn status(&self) -> Option<StatusCode> {
        match self {
            HttpError::Status { status, .. }
            | HttpError::Credentials { status, .. }
            | HttpError::Redirect { status, .. } => Some(*status),
            _ => None,
        }
    }
}

/// Statuses that mean that the request is wrong, whichever server it is sent to.
fn is_wrong(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::BAD_REQUEST
            | StatusCode::METHOD_NOT_ALLOWED
            | StatusCode::NOT_ACCEPTABLE
            | StatusCode::LENGTH_REQUIRED
            | StatusCode::PAYLOAD_TOO_LARGE
            | StatusCode::URI_TOO_LONG
            | StatusCode::UNSUPPORTED_MEDIA_TYPE
            | StatusCode::EXPECTATION_FAILED
            | StatusCode::UNPROCESSABLE_ENTITY
            | StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE
            | StatusCode::NOT_IMPLEMENTED
            | StatusCode::HTTP_VERSION_NOT_SUPPORTED
    )
}

/// Statuses that mean that the server, or a proxy in front of it, cannot serve at the moment.
fn is_outage(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::REQUEST_TIMEOUT
            | StatusCode::TOO_EARLY
            | StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    )
}
