//! The schemas of subgraphs, as `_service { sdl }` returns them.

use std::sync::Arc;
use std::time::Duration;

use graphql_service::{CallContext, Caller, Outcome, Request, RequestContext, Service};
use outbound::Secret;
use reqwest::{StatusCode, Url};
use serde_json::Value;

use super::client::{Client, ClientError};

/// What is asked of a subgraph.
const QUERY: &str = "{ _service { sdl } }";
/// Maximum time for a subgraph of this process to answer.
const LOCAL_TIME: Duration = Duration::from_secs(10);
/// Characters of a message of a subgraph that are repeated.
const MAX_MESSAGE: usize = 500;

/// Codes of errors by which services refuse a caller in an answer whose status is 200.
const NO_CALLER: [&str; 3] = [
    "AUTHENTICATION_REQUIRED",
    "TOKEN_INVALID",
    "UNAUTHENTICATED",
];
const NO_RIGHT: [&str; 4] = [
    "ACCESS_DENIED",
    "ACCESS_FIELD_REMOVED",
    "FORBIDDEN",
    "UNAUTHORIZED_FIELD_OR_TYPE",
];

/// Why the schema of a subgraph cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SdlError {
    /// There was no answer, or none that can be read.
    #[error(transparent)]
    Client(#[from] ClientErrorText),
    /// It is not ready.
    #[error("it is not ready: {0}")]
    NotReady(String),
    /// It asks who calls, or does not accept the token that it got.
    #[error("it demands a token: {0}")]
    Unauthenticated(String),
    /// It knows who calls, and does not allow it.
    #[error("it does not allow its schema to be read: {0}")]
    Forbidden(String),
    /// The status is a failure.
    #[error("it answered {status}{}", said(.message))]
    Status {
        /// The status.
        status: StatusCode,
        /// What it says.
        message: Option<String>,
    },
    /// It answers, and not as a GraphQL service does.
    #[error("its response is not a GraphQL response: {0}")]
    NotGraphQl(&'static str),
    /// It answers as a GraphQL service, and has no schema for a gateway.
    #[error("it has no `_service {{ sdl }}`{}", said(.0))]
    NoSdl(Option<String>),
}

/// The description of a failure by a client; `is_lasting` if a retry is pointless.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct ClientErrorText {
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
    /// Returns whether the schema may be there later.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            SdlError::Client(error) => !error.is_lasting,
            SdlError::NotReady(_) => true,
            SdlError::Unauthenticated(_)
            | SdlError::Forbidden(_)
            | SdlError::Status { .. }
            | SdlError::NotGraphQl(_)
            | SdlError::NoSdl(_) => false,
        }
    }

    /// Returns what helps.
    pub(super) fn help(&self) -> Option<&'static str> {
        Some(match self {
            SdlError::Client(error) if error.is_lasting => return None,
            SdlError::Client(_) => {
                "start the service, or correct its address; in a container, `localhost` is the container itself"
            }
            SdlError::NotReady(_) => "the gateway tries again every SERVICE_DWELL",
            SdlError::Unauthenticated(_) => {
                "set SECURITY_ENABLED=true and the variables IDP_* to make the gateway log in; the \
                 subgraph must accept its token"
            }
            SdlError::Forbidden(_) => {
                "the role of IDP_USERNAME needs the action `_Service/sdl/read`"
            }
            SdlError::Status { status, .. } if status.is_redirection() => {
                "redirects are not followed: configure the address that it redirects to"
            }
            SdlError::Status { .. } | SdlError::NotGraphQl(_) => {
                "the address must be that of the GraphQL endpoint, such as http://localhost:9995/graphql"
            }
            SdlError::NoSdl(_) => {
                "an object service is a subgraph with `graphql.federation.enabled=true`, a search service with \
                 `graphdql.federation.enabled=true`"
            }
        })
    }
}

fn said(message: &Option<String>) -> String {
    let message = message.as_ref();
    message.map_or_else(String::new, |message| format!(": {message}"))
}

/// Reads the schema of a subgraph at an address, as a gateway does that composes it.
///
/// # Errors
/// When it does not answer, or has none.
pub async fn fetch_sdl(address: &Url) -> Result<String, SdlError> {
    let client = Client::new([address])?;
    read_sdl(&client, address, None).await
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
    if answer.status == StatusCode::OK {
        let body = serde_json::from_slice(&answer.body);
        return sdl_of(body.map_err(|_| SdlError::NotGraphQl("it is not JSON"))?);
    }
    let (status, message) = (answer.status, message_of(&answer.json()));
    let text = || format!("it answered {status}{}", said(&message));
    Err(match status {
        StatusCode::UNAUTHORIZED => SdlError::Unauthenticated(text()),
        StatusCode::FORBIDDEN => SdlError::Forbidden(text()),
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => SdlError::NotReady(text()),
        _ if status.is_server_error() => SdlError::NotReady(text()),
        _ => SdlError::Status { status, message },
    })
}

/// Reads the schema of a service of this process.
pub(super) async fn read_local(service: Option<Arc<dyn Service>>) -> Result<String, SdlError> {
    let not_ready = |why: &str| SdlError::NotReady(why.to_owned());
    let service = service.ok_or_else(|| not_ready("no schema is bound"))?;
    let call = CallContext::new().with_timeout(LOCAL_TIME);
    let context = RequestContext::from(call).with_caller(Arc::new(Caller::superuser()));
    let answer = service.respond(Request::new(QUERY), context).await;
    let body = serde_json::from_slice(&answer.body.to_bytes()).unwrap_or_default();
    match answer.outcome {
        Outcome::Overloaded => Err(not_ready("it is overloaded")),
        _ => sdl_of(body),
    }
}

fn sdl_of(mut body: Value) -> Result<String, SdlError> {
    if body.get("data").is_none() && body.get("errors").is_none() {
        return Err(SdlError::NotGraphQl("it has neither `data` nor `errors`"));
    }
    match body["data"]["_service"]["sdl"].take() {
        Value::String(sdl) if sdl.trim().is_empty() => {
            Err(SdlError::NoSdl(Some("the text is empty".to_owned())))
        }
        Value::String(sdl) => Ok(sdl),
        _ => Err(refusal(&body).unwrap_or_else(|| SdlError::NoSdl(message_of(&body)))),
    }
}

/// Returns why a caller is refused, where the errors of an answer say so.
fn refusal(body: &Value) -> Option<SdlError> {
    let code = body["errors"][0]["extensions"]["code"].as_str()?;
    let message = message_of(body)?;
    match () {
        () if NO_CALLER.contains(&code) => Some(SdlError::Unauthenticated(message)),
        () if NO_RIGHT.contains(&code) => Some(SdlError::Forbidden(message)),
        () => None,
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(code: &str) -> SdlError {
        let error = json!({ "message": "no", "extensions": { "code": code } });
        sdl_of(json!({ "data": { "_service": {} }, "errors": [error] })).unwrap_err()
    }

    #[test]
    fn a_refusal_in_the_errors_of_an_answer_is_told_from_a_missing_schema() {
        for code in NO_CALLER {
            let error = refused(code);
            assert!(matches!(error, SdlError::Unauthenticated(_)), "{error}");
            assert!(error.help().unwrap().contains("SECURITY_ENABLED"));
        }
        for code in NO_RIGHT {
            let error = refused(code);
            assert!(matches!(error, SdlError::Forbidden(_)), "{error}");
            assert!(error.help().unwrap().contains("_Service/sdl/read"));
        }
        assert!(matches!(
            refused("GRAPHQL_VALIDATION_FAILED"),
            SdlError::NoSdl(Some(_))
        ));
    }

    #[test]
    fn what_is_no_graphql_response_and_what_has_no_schema_are_told_apart() {
        for body in [json!([]), json!({}), json!("x"), json!(null)] {
            assert!(matches!(sdl_of(body).unwrap_err(), SdlError::NotGraphQl(_)));
        }
        for data in [
            json!(null),
            json!({}),
            json!({ "_service": { "sdl": null } }),
        ] {
            let error = sdl_of(json!({ "data": data })).unwrap_err();
            assert_eq!(error, SdlError::NoSdl(None));
        }
        let empty = sdl_of(json!({ "data": { "_service": { "sdl": " " } } })).unwrap_err();
        assert!(empty.to_string().contains("empty"), "{empty}");
    }
}
