//! What the paths of a gateway answer with.

use graphql_http::HttpError;

use super::app::GatewayApp;
use super::code;

/// Returns the answer to requests while there is no composite schema.
pub(super) fn starting(app: &GatewayApp) -> HttpError {
    HttpError::new(code::GATEWAY_STARTING, app.waits_for().as_str()).soon_over()
}
