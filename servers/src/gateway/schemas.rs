//! The schemas of subgraphs, as `_service { sdl }` returns them.

use std::sync::Arc;
use std::time::Duration;

use graph_store::remote::http::Secret;
use graphql_service::{Caller, Outcome, Request, RequestContext, Service};
use reqwest::{StatusCode, Url};
use serde_json::Value;

use super::client::{Client, ClientError};

/// What is asked of a subgraph.
const QUERY: &str = "{ _service { sdl } }";
/// Maximum time for a subgraph of this process to answer.
const LOCAL_TIME: Duration = Duration::from_secs(10);
/// Characters of a message of a subgraph that are repeated.
const MAX_MESSAGE: usize = 500;

/// Why the schema of a subgraph cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum SdlError {
    /// There was no answer, or none that can be read.
    #[error(transparent)]
    Client(#[from] ClientErrorText),
    /// It is not ready.
    #[error("it is not ready: {0}")]
    NotReady(String),
    /// It asks for credentials, or does not accept those that it got.
    #[error("it answered {status}{}", said(.message))]
    Refused {
        /// The status.
        status: StatusCode,
        /// What it says.
        message: Option<String>,
    },
    /// The status is a failure.
    #[error("it answered {status}{}", said(.message))]
    Status {
        /// The status.
        status: StatusCode,
        /// What it says.
        message: Option<String>,
    },
    /// It answers, and has no schema for a gateway.
    #[error("it has no `_service {{ sdl }}`{}", said(.0))]
    NoSdl(Option<String>),
}

/// What a client says of a failure; `is_lasting` if trying again is of no use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub(crate) struct ClientErrorText {
    text: String,
    is_lasting: bool,
}

impl From<ClientError> for SdlError {
    fn from(error: ClientError) -> Self {
        SdlError::Client(ClientErrorText {
            text: error.to_string(),
            is_lasting: !matches!(error, ClientError::Unreachable(_)),
        })
    }
}

impl SdlError {
    /// Tells whether the schema may be there later.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            SdlError::Client(error) => !error.is_lasting,
            SdlError::NotReady(_) => true,
            SdlError::Refused { .. } | SdlError::Status { .. } | SdlError::NoSdl(_) => false,
        }
    }

    /// Returns what helps.
    pub(super) fn help(&self) -> Option<&'static str> {
        match self {
            SdlError::Refused { status, .. } if *status == StatusCode::UNAUTHORIZED => Some(
                "SECURITY_ENABLED=true with the variables IDP_* makes the gateway log in; the token must \
                 be one that the subgraph accepts",
            ),
            SdlError::Refused { .. } => {
                Some("the role of IDP_USERNAME needs the action `_Service/sdl/read`")
            }
            SdlError::NoSdl(_) => Some(
                "an object service is a subgraph with `graphql.federation.enabled=true`, a search service with \
                 `graphdql.federation.enabled=true`",
            ),
            _ => None,
        }
    }
}

fn said(message: &Option<String>) -> String {
    let message = message.as_ref();
    message.map_or_else(String::new, |message| format!(": {message}"))
}

/// Reads the schema of a subgraph from its endpoint.
///
/// # Errors
/// When it does not answer, or has none.
pub(crate) async fn read_sdl(
    client: &Client,
    address: &Url,
    token: Option<&Secret>,
) -> Result<String, SdlError> {
    let answer = client.query(address, QUERY, token).await?;
    let mut body = answer.json();
    if answer.status == StatusCode::OK {
        return sdl_of(&mut body);
    }
    let (status, message) = (answer.status, message_of(&body));
    let is_busy = status.is_server_error()
        || matches!(
            status,
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS
        );
    Err(match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => SdlError::Refused { status, message },
        _ if is_busy => SdlError::NotReady(format!("it answered {status}{}", said(&message))),
        _ => SdlError::Status { status, message },
    })
}

/// Reads the schema of a service of this process.
pub(super) async fn read_local(service: Option<Arc<dyn Service>>) -> Result<String, SdlError> {
    let not_ready = |why: &str| SdlError::NotReady(why.to_owned());
    let service = service.ok_or_else(|| not_ready("no schema is bound"))?;
    let context = RequestContext::new()
        .with_timeout(LOCAL_TIME)
        .with_caller(Arc::new(Caller::superuser()));
    let answer = service.respond(Request::new(QUERY), context).await;
    let mut body = serde_json::from_slice(&answer.body.to_bytes()).unwrap_or_default();
    match answer.outcome {
        Outcome::Overloaded => Err(not_ready("it is overloaded")),
        _ => sdl_of(&mut body),
    }
}

fn sdl_of(body: &mut Value) -> Result<String, SdlError> {
    match body["data"]["_service"]["sdl"].take() {
        Value::String(sdl) => Ok(sdl),
        _ => Err(SdlError::NoSdl(message_of(body))),
    }
}

/// Returns the message of the first error, and its code.
fn message_of(body: &Value) -> Option<String> {
    let error = &body["errors"][0];
    let message: String = error["message"]
        .as_str()?
        .chars()
        .take(MAX_MESSAGE)
        .collect();
    let code = error["extensions"]["code"].as_str();
    Some(match code {
        Some(code) => format!("{message} ({})", code.chars().take(100).collect::<String>()),
        None => message,
    })
}
