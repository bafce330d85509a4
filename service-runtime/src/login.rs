//! `POST /api/login`, and the keys that verify tokens.
//!
//! Requests and responses have the shape of FusionAuth's log-in, so that clients work with either.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use axum::Json;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use graphql_http::body::BodyLimits;
use graphql_http::{HttpError, Resources, body};
use graphql_service::{ErrorCode, code as shared};
use outbound::Secret;
use serde_json::{Map, Value, json};
use service_auth::identity::{Credentials, LoggedIn, LoginError, Provider};
use uuid::Uuid;

use super::code;
use super::routes::Routes;
use super::service::Host;
use super::state::HostState;
use super::table::Route;
use super::trusted_proxies::ClientAddress;

/// Maximum size of the body of a log-in.
const MAX_BYTES: usize = 16 << 10;

#[derive(Clone)]
struct Login {
    provider: Arc<Provider>,
    resources: Resources,
    limits: BodyLimits,
}

/// The row of what logs users in, which they need no token for.
pub(crate) fn login_route() -> Route {
    Route::post("/api/login").public()
}

/// The row of the keys that verify tokens.
pub(crate) fn keys_route() -> Route {
    Route::get("/.well-known/jwks.json").public()
}

/// Adds the routes of a provider of tokens, which are for those who have none yet.
#[must_use]
pub fn add<H: Host>(routes: Routes<H>, provider: &Arc<Provider>, host: &HostState) -> Routes<H> {
    let login = Login {
        provider: Arc::clone(provider),
        resources: host.resources.clone(),
        limits: BodyLimits {
            bytes: MAX_BYTES.min(host.options.max_body_bytes),
            time: host.options.request_timeout,
        },
    };
    let verification = login.clone();
    routes
        .with(login_route(), move |request| async move {
            login.log_in(request).await
        })
        .with(keys_route(), move || async move {
            Json(&verification.provider.verification().keys).into_response()
        })
}

impl Login {
    async fn log_in(&self, request: Request) -> Response {
        let unknown = IpAddr::V6(Ipv6Addr::UNSPECIFIED);
        let address = request
            .extensions()
            .get::<ClientAddress>()
            .map_or(unknown, |client| client.0);
        let mut response = match self.answer(request, address).await {
            Ok(answer) => Json(answer).into_response(),
            Err(refusal) => refusal.into_response(),
        };
        let no_store = HeaderValue::from_static("no-store");
        response
            .headers_mut()
            .insert(header::CACHE_CONTROL, no_store);
        response
    }

    async fn answer(&self, request: Request, address: IpAddr) -> Result<Value, Refusal> {
        body::require_type(request.headers(), &["application/json"])?;
        let body = body::read(request, self.limits, &self.resources).await?;
        let credentials = credentials(&body.text)?;
        drop(body);
        let logged_in = self.provider.log_in(&credentials, address).await?;
        tracing::info!(user = logged_in.account.username, "logged in");
        Ok(shown(&logged_in))
    }
}

/// Why there is no token.
enum Refusal {
    /// As any other route would say it.
    Http(HttpError),
    /// As the known provider says it.
    Login {
        status: StatusCode,
        body: Option<Value>,
        retry_after: Option<u64>,
    },
}

impl Refusal {
    /// A member of the request that cannot be used.
    fn of_field(kind: &str, field: &str, message: &str) -> Self {
        let error = json!([{ "code": format!("[{kind}]{field}"), "message": message }]);
        let fields = BTreeMap::from([(field, error)]);
        Refusal::Login {
            status: StatusCode::BAD_REQUEST,
            body: Some(json!({ "fieldErrors": fields, "generalErrors": [] })),
            retry_after: None,
        }
    }

    fn general(status: StatusCode, code: &str, message: &str, retry_after: Option<u64>) -> Self {
        let error = json!({ "code": code, "message": message });
        Refusal::Login {
            status,
            body: Some(json!({ "fieldErrors": {}, "generalErrors": [error] })),
            retry_after,
        }
    }

    fn coded(code: ErrorCode, message: &str, retry_after: Option<u64>) -> Self {
        let status = StatusCode::from_u16(code.status()).expect("the tables hold valid statuses");
        Refusal::general(status, code.as_str(), message, retry_after)
    }
}

impl From<HttpError> for Refusal {
    fn from(error: HttpError) -> Self {
        Refusal::Http(error)
    }
}

impl From<LoginError> for Refusal {
    fn from(error: LoginError) -> Self {
        let text = error.to_string();
        match error {
            // Without a body, whichever of them is wrong.
            LoginError::Credentials => Refusal::Login {
                status: StatusCode::NOT_FOUND,
                body: None,
                retry_after: None,
            },
            LoginError::Application => Refusal::of_field("invalid", "applicationId", &text),
            LoginError::RateLimited { retry_after } => {
                Refusal::coded(code::LOGIN_RATE_LIMITED, &text, Some(retry_after.as_secs()))
            }
            LoginError::Busy(error) => match HttpError::of_slot(error) {
                error if error.code == shared::OVERLOADED => Refusal::coded(
                    error.code,
                    "too many log-ins are waiting for a processor",
                    Some(1),
                ),
                error => Refusal::Http(error),
            },
            // A token that cannot be signed, and whatever else is no fault of the user.
            _ => Refusal::Http(HttpError::internal()),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, body, retry_after) = match self {
            Refusal::Http(error) => return error.into_response(),
            Refusal::Login {
                status,
                body,
                retry_after,
            } => (status, body, retry_after),
        };
        let mut headers = HeaderMap::new();
        if let Some(seconds) = retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        match body {
            Some(body) => (status, headers, Json(body)).into_response(),
            None => (status, headers).into_response(),
        }
    }
}

/// Reads the body; members other than the three are ignored.
fn credentials(body: &[u8]) -> Result<Credentials, Refusal> {
    // What the parser says may quote the body, and so the password.
    let malformed = || {
        let message = "the body is not a JSON object";
        Refusal::general(StatusCode::BAD_REQUEST, "[invalidJSON]", message, None)
    };
    let body: Map<String, Value> = serde_json::from_slice(body).map_err(|_| malformed())?;
    let application_id = match body.get("applicationId") {
        None | Some(Value::Null) => None,
        Some(id) => Some(application(id)?),
    };
    Ok(Credentials {
        login_id: text(&body, "loginId")?.to_owned(),
        password: Secret::new(text(&body, "password")?),
        application_id,
    })
}

fn text<'b>(body: &'b Map<String, Value>, field: &str) -> Result<&'b str, Refusal> {
    let refused = |kind, message| Err(Refusal::of_field(kind, field, message));
    match body.get(field) {
        None | Some(Value::Null) => refused("blank", "the member is missing"),
        Some(Value::String(text)) if text.trim().is_empty() => {
            refused("blank", "the string is empty")
        }
        Some(Value::String(text)) => Ok(text),
        Some(_) => refused("invalid", "the member is not a string"),
    }
}

fn application(id: &Value) -> Result<Uuid, Refusal> {
    let parsed = id.as_str().and_then(|id| id.parse().ok());
    parsed.ok_or_else(|| Refusal::of_field("invalid", "applicationId", "the member is not a UUID"))
}

/// Writes the response as the known provider does.
fn shown(logged_in: &LoggedIn) -> Value {
    let account = &logged_in.account;
    let mut user = json!({
        "id": account.id.to_string(),
        "active": true,
        "verified": true,
        "username": account.username,
        "usernameStatus": "ACTIVE",
        "registrations": [{
            "applicationId": logged_in.application_id.to_string(),
            "roles": account.roles,
            "username": account.username,
            "usernameStatus": "ACTIVE",
            "verified": true,
        }],
    });
    if let Some(email) = &account.email {
        user["email"] = json!(email);
    }
    json!({
        "token": logged_in.token.reveal(),
        "tokenExpirationInstant": logged_in.expires.saturating_mul(1_000),
        "user": user,
    })
}
