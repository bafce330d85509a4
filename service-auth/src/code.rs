//! The error codes of authentication.

call_context::error_codes! {
    AUTHENTICATION_REQUIRED 401 public "The request has no `Authorization: Bearer` header, and the path is not public.";
    TOKEN_INVALID 401 public "The token is malformed, signed with a different key or algorithm, or meant for a different service; the message says which.";
    TOKEN_EXPIRED 401 public "The token has expired; get a new one.";
    KEYS_UNAVAILABLE 503 public "The keys to verify tokens could not be fetched from `security.jwks.url` yet; `Retry-After` says when to try again.";
}
