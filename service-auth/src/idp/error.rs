//! Why a request to an identity provider failed.

use reqwest::StatusCode;

/// Why a request to an identity provider failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdpError {
    /// The address is not one.
    #[error(
        "the address of the identity provider must be `http://HOST:PORT` or `https://HOST:PORT`"
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
    /// A user of the file is somebody else at the provider.
    #[error(
        "the identity provider has the user `{user}` with another user name or email address; \
         nothing was changed"
    )]
    OtherUser {
        /// User name of the file.
        user: String,
    },
}

impl IdpError {
    /// Tells whether another attempt may succeed. So may one with wrong credentials: users are often
    /// brought to the provider while other services start already.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            IdpError::Unreachable(_) | IdpError::Credentials | IdpError::NotRegistered => true,
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

fn listed(codes: &[String]) -> String {
    match codes {
        [] => String::new(),
        codes => format!(" ({})", codes.join(", ")),
    }
}
