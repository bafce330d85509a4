//! What has become of a request.

use std::net::IpAddr;
use std::sync::Arc;

use axum::response::{IntoResponse, Response as HttpResponse};
use graphql_service::{Outcome, WriteCounts};

use crate::compression::Offered;

/// A response of HTTP, and what is logged of it.
pub struct Answered {
    /// The response.
    pub response: HttpResponse,
    /// Of a response to GraphQL, which was offered for compression then.
    pub summary: Option<Summary>,
}

impl From<HttpResponse> for Answered {
    fn from(mut response: HttpResponse) -> Self {
        Answered {
            summary: response.extensions_mut().remove(),
            response,
        }
    }
}

impl IntoResponse for Answered {
    fn into_response(mut self) -> HttpResponse {
        if let Some(summary) = self.summary {
            let extensions = self.response.extensions_mut();
            extensions.insert(summary);
            extensions.insert(Offered);
        }
        self.response
    }
}

/// Where a request was passed on to, in the extensions of its response: for the log line of a proxy.
#[derive(Clone, Debug)]
pub struct Relayed {
    /// The name of the route that it took.
    pub route: Arc<str>,
    /// The host and port of the server that was called last, if any.
    pub server: Option<Arc<str>>,
    /// The address of the client, where that is known.
    pub client: Option<IpAddr>,
}

/// The parts of a GraphQL response that are logged; the operation is not, since clients write it.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    /// Length of the response before compression.
    pub bytes: usize,
    /// What became of the operation.
    pub outcome: Outcome,
    /// What a mutation has written.
    pub written: Option<WriteCounts>,
}
