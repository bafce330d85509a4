//! Why a request to an identity provider failed.

use reqwest::StatusCode;
use serde_json::Value;

use crate::exchange::{Answer, ExchangeError};
use crate::oauth::{Denial, printable};

/// Codes of an answer that an error lists, and their length.
const MAX_CODES: usize = 10;

/// Why a request to an identity provider failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdpError {
    /// The address is not one.
    #[error(
        "the address of the identity provider must be `http://HOST:PORT` or `https://HOST:PORT`, without user and \
         password"
    )]
    Address,
    /// The client cannot be set up.
    #[error("failed to set up the client of the identity provider: {0}")]
    Setup(String),
    /// There was no answer.
    #[error("the identity provider does not answer: {0}")]
    Unreachable(String),
    /// The provider refuses the credentials of a user.
    #[error("the identity provider does not know the user, or the password is wrong")]
    Credentials,
    /// The user exists, but not for the application.
    #[error("the user is not registered for the application")]
    NotRegistered,
    /// The provider refuses the API key, or wants one for log-ins.
    #[error("the identity provider refuses the API key, or there is none")]
    ApiKey,
    /// The provider knows the user, who cannot log in.
    #[error("the user cannot log in to the identity provider: {0}")]
    Account(Denial),
    /// The provider refuses the client of the log-in.
    #[error(
        "the identity provider refuses the client `{id}`: {denial}; a log-in with user and password needs the client \
         to have direct access grants, one without a user needs a secret and a service account"
    )]
    Client {
        /// The `client_id`.
        id: String,
        /// Why.
        denial: Denial,
    },
    /// The administrator may not do this.
    #[error(
        "the administrator may not do this at the identity provider: {realm} needs the roles `manage-realm`, \
         `manage-clients` and `manage-users` of `realm-management`, or an administrator of the realm `master`"
    )]
    Forbidden {
        /// The realm.
        realm: String,
    },
    /// The realm is that of administrators.
    #[error(
        "the realm `master` is for administrators of Keycloak: name a different one, which is \
         created if missing"
    )]
    MasterRealm,
    /// Users of an existing realm need more than a provisioning file says of them.
    #[error(
        "the realm `{realm}` requires {} of its users, which the file does not have, so they could not log in: make \
         it optional in the user profile of the realm, or disable the required action `Verify Profile`; nothing \
         was changed", .attributes.join(", ")
    )]
    ProfileRequired {
        /// The realm.
        realm: String,
        /// The attributes.
        attributes: Vec<String>,
    },
    /// The step was planned for another kind of provider.
    #[error("the plan is for a different kind of identity provider")]
    OtherPlan,
    /// The answer is a failure.
    #[error("the identity provider answered {status}{}", listed(.codes))]
    Refused {
        /// The status of the answer.
        status: StatusCode,
        /// Codes of the errors in it; messages are left out, since they may quote the request.
        codes: Vec<String>,
    },
    /// The answer is not one of the documented ones.
    #[error("the answer of the identity provider is malformed: {0}")]
    Malformed(&'static str),
    /// All attempts failed.
    #[error("no log-in after {attempts} attempts")]
    GaveUp {
        /// Number of attempts.
        attempts: u32,
        /// Why the last one failed.
        #[source]
        source: Box<IdpError>,
    },
    /// Users to create whose password is a hash.
    #[error(
        "the identity provider takes no argon2 strings: new users need a password as plain text or \
         `${{VARIABLE}}`: {}", .users.join(", ")
    )]
    HashedPasswords {
        /// Names of the users.
        users: Vec<String>,
    },
    /// A user of the file is someone else at the provider.
    #[error(
        "the identity provider has the user `{user}` with a different user name or email address; \
         nothing was changed"
    )]
    OtherUser {
        /// User name of the file.
        user: String,
    },
}

impl IdpError {
    /// Returns the error that an answer without success is.
    pub(super) fn refused(answer: &Answer) -> Self {
        let codes = fusion_auth_codes(&answer.body).chain(keycloak_codes(&answer.body));
        IdpError::Refused {
            status: answer.status,
            codes: codes.take(MAX_CODES).map(printable).collect(),
        }
    }

    /// Returns whether another attempt may succeed. So may one with wrong credentials: users are often
    /// brought to the provider while other services start already.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            IdpError::Unreachable(_)
            | IdpError::Credentials
            | IdpError::NotRegistered
            | IdpError::Account(_)
            | IdpError::Client { .. } => true,
            IdpError::Refused { status, .. } => {
                status.is_server_error()
                    || matches!(
                        *status,
                        StatusCode::REQUEST_TIMEOUT
                            | StatusCode::CONFLICT
                            | StatusCode::LOCKED
                            | StatusCode::TOO_MANY_REQUESTS
                    )
            }
            _ => false,
        }
    }
}

impl From<ExchangeError> for IdpError {
    fn from(error: ExchangeError) -> Self {
        match error {
            ExchangeError::Setup(cause) => IdpError::Setup(cause),
            ExchangeError::Unreachable(cause) => IdpError::Unreachable(cause),
            ExchangeError::TooLarge => IdpError::Malformed("it is too large"),
        }
    }
}

/// Returns the codes of an answer of FusionAuth. Its messages may quote the request.
fn fusion_auth_codes(body: &Value) -> impl Iterator<Item = &str> {
    let general = body["generalErrors"].as_array();
    let fields = body["fieldErrors"].as_object();
    let fields = fields
        .into_iter()
        .flat_map(|fields| fields.values())
        .filter_map(Value::as_array)
        .flatten();
    let errors = general.into_iter().flatten().chain(fields);
    errors.filter_map(|error| error["code"].as_str())
}

/// Returns what an answer of Keycloak says: a field, and a message that names users and never a password.
fn keycloak_codes(body: &Value) -> impl Iterator<Item = &str> {
    let names = ["field", "error", "errorMessage", "error_description"];
    names.into_iter().filter_map(|name| body[name].as_str())
}

fn listed(codes: &[String]) -> String {
    match codes {
        [] => String::new(),
        codes => format!(" ({})", codes.join(", ")),
    }
}
