//! The error codes of the configuration.

graphql_service::error_codes! {
    IDP_FAILED 500 public "The identity provider does not answer as documented, refuses a request, or is not configured for it; the message says which.";
    IDP_LOGIN_REFUSED 500 public "The identity provider refuses the log-in: a wrong password, client or key, missing rights, or a log-in that was not confirmed in the browser.";
    IDP_UNAVAILABLE 500 public "The identity provider does not respond, or responds with a server error. Try again later.";
    IDP_USERS_UNUSABLE 500 public "Users of the provisioning file cannot be created in the identity provider; the message says which and why. Nothing was changed.";
    LOGIN_ENDED 500 public "The token stored by `soml login` for the service has expired and cannot be refreshed; log in again.";
    PROTECTION_UNAVAILABLE 500 public "A property asks for protection that is not available, so the service does not start.";
    PROVISIONING_INVALID 500 public "The provisioning file cannot be read or has errors; nothing in it is used.";
    SCHEMA_MIGRATION_FAILED 500 public "Schemas could not be moved between stores. None is lost, and the next migration continues; the message says what failed.";
    SIGNING_KEY_UNUSABLE 500 public "The provider's signing key cannot be created or read, its file is readable by others than its owner, or the file contains something else.";
    TOKEN_KEYS_MISSING 500 public "Security is on, but neither `security.secret` nor `security.jwks.url` provides a key to verify tokens, so the service does not start.";
    TOKEN_KEY_INVALID 500 public "`security.secret` contains no key to verify tokens with, or `security.algorithms` allows none of its algorithms, so the service does not start.";
}
