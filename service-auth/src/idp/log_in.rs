//! What a log-in sends, and what it makes of the answer: FusionAuth's log-in and Keycloak's token endpoint.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use outbound::Secret;
use outbound::address::below;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

use super::IdpError;
use super::transport::Transport;
use crate::exchange::{Answer, Content};
use crate::oauth::{OauthError, Tokens, claimed_end};

const LOGIN: &str = "/api/login";

/// Who logs in, and how.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum LogIn {
    /// `POST /api/login` of FusionAuth, and of the provider of this crate.
    FusionAuth {
        /// The application to log in to. The provider of this crate has only one, so it can be left out there.
        application_id: Option<Uuid>,
        /// User name or email address.
        username: String,
        /// Password.
        password: Secret,
    },
    /// The token endpoint of a realm of Keycloak.
    Keycloak {
        /// The realm.
        realm: String,
        /// The client (`client_id`), whose mappers decide what is in the token.
        client_id: String,
        /// What the client, or a user, proves itself with.
        grant: Grant,
    },
}

/// A grant of OAuth 2.0 without a browser (RFC 6749 sections 4.3 and 4.4).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Grant {
    /// Name and password of a user.
    Password {
        /// User name or email address.
        username: String,
        /// Password.
        password: Secret,
        /// Secret of the client, unless it is a public one.
        client_secret: Option<Secret>,
    },
    /// The credentials of the client itself: those of its service account.
    ClientCredentials {
        /// Secret of the client.
        client_secret: Secret,
    },
}

/// A token, and when it ends.
pub(super) struct Issued {
    pub(super) token: Secret,
    pub(super) expires_at: Option<SystemTime>,
}

/// A failed attempt.
pub(super) struct Failure {
    pub(super) error: IdpError,
    pub(super) retry_after: Option<Duration>,
}

impl From<IdpError> for Failure {
    fn from(error: IdpError) -> Self {
        Failure {
            error,
            retry_after: None,
        }
    }
}

impl LogIn {
    /// Logs in once.
    pub(super) async fn attempt(&self, transport: &Transport) -> Result<Issued, Failure> {
        match self {
            LogIn::FusionAuth {
                application_id,
                username,
                password,
            } => {
                let mut body = json!({ "loginId": username, "password": password.reveal() });
                if let Some(id) = application_id {
                    body["applicationId"] = json!(id.to_string());
                }
                let url = transport.at(LOGIN, &[]);
                let sent = transport.send(Method::POST, url, Content::Json(&body));
                fusion_auth(&sent.await?)
            }
            LogIn::Keycloak {
                realm,
                client_id,
                grant,
            } => {
                let path = ["realms", realm, "protocol", "openid-connect", "token"];
                let url = below(transport.base(), &path);
                let asked = SystemTime::now();
                let form = grant.form(client_id);
                let sent = transport.send(Method::POST, url, Content::Form(&form));
                keycloak(&sent.await?, asked, client_id)
            }
        }
    }
}

impl Grant {
    /// Creates the grant of a user, with the secret of a client that is not public.
    #[must_use]
    pub fn password(
        username: impl Into<String>,
        password: Secret,
        client_secret: Option<Secret>,
    ) -> Self {
        Grant::Password {
            username: username.into(),
            password,
            client_secret,
        }
    }

    fn form<'f>(&'f self, client_id: &'f str) -> Vec<(&'f str, &'f str)> {
        let mut form = vec![("client_id", client_id)];
        match self {
            Grant::Password {
                username,
                password,
                client_secret,
            } => {
                form.push(("grant_type", "password"));
                form.push(("username", username));
                form.push(("password", password.reveal()));
                let secret = client_secret.as_ref();
                form.extend(secret.map(|secret| ("client_secret", secret.reveal())));
            }
            Grant::ClientCredentials { client_secret } => {
                form.push(("grant_type", "client_credentials"));
                form.push(("client_secret", client_secret.reveal()));
            }
        }
        form
    }
}

fn fusion_auth(answer: &Answer) -> Result<Issued, Failure> {
    let error = match answer.status {
        StatusCode::OK => {
            let token = answer.body["token"].as_str();
            let token = Secret::new(token.ok_or(IdpError::Malformed("it has no token"))?);
            return Ok(Issued {
                expires_at: stated_end(&answer.body).or_else(|| claimed_end(&token)),
                token,
            });
        }
        StatusCode::ACCEPTED => IdpError::NotRegistered,
        StatusCode::NOT_FOUND => IdpError::Credentials,
        StatusCode::UNAUTHORIZED => IdpError::ApiKey,
        _ => IdpError::refused(answer),
    };
    Err(Failure {
        error,
        retry_after: answer.retry_after,
    })
}

fn stated_end(body: &Value) -> Option<SystemTime> {
    let milliseconds = body["tokenExpirationInstant"].as_u64()?;
    UNIX_EPOCH.checked_add(Duration::from_millis(milliseconds))
}

fn keycloak(answer: &Answer, asked: SystemTime, client_id: &str) -> Result<Issued, Failure> {
    let error = match Tokens::of(answer, asked) {
        Ok(tokens) => {
            return Ok(Issued {
                token: tokens.access_token,
                expires_at: tokens.expires_at,
            });
        }
        Err(OauthError::Denied(denial)) => match denial.error.as_str() {
            "invalid_grant" if is_wrong_password(denial.description.as_deref()) => {
                IdpError::Credentials
            }
            "invalid_client" | "unauthorized_client" => IdpError::Client {
                id: client_id.to_owned(),
                denial,
            },
            "invalid_grant" => IdpError::Account(denial),
            _ => IdpError::refused(answer),
        },
        Err(OauthError::Malformed(what)) => IdpError::Malformed(what),
        Err(_) => IdpError::refused(answer),
    };
    Err(Failure {
        error,
        retry_after: answer.retry_after,
    })
}

/// Other reasons, such as an account that is disabled, come with the same error code.
fn is_wrong_password(description: Option<&str>) -> bool {
    description.is_none_or(|text| text.eq_ignore_ascii_case("invalid user credentials"))
}
