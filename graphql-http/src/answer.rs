//! Responses to GraphQL as responses of HTTP: media type, status, compression, and for how long they may be kept.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response as HttpResponse;
use graphql_service::{Freshness, Outcome, RequestContext, Response};

use crate::answered::{Answered, Summary};
use crate::compression::{self, Encoding, compress};
use crate::forwarding::{Forwarding, is_personal};
use crate::negotiate::ResponseType;
use crate::resources::Resources;
use crate::response_body::ResponseBody;

/// What decides for how long an answer may be kept.
pub(crate) struct Caching {
    forwarding: Arc<Forwarding>,
    freshness: Arc<Freshness>,
    is_personal: bool,
}

impl Caching {
    pub(crate) fn of(
        forwarding: &Arc<Forwarding>,
        context: &RequestContext,
        headers: &HeaderMap,
    ) -> Self {
        Caching {
            forwarding: Arc::clone(forwarding),
            freshness: Arc::clone(&context.freshness),
            is_personal: is_personal(headers),
        }
    }
}

/// Returns a response to GraphQL as one of HTTP.
pub(crate) async fn http_response(
    response: Response,
    response_type: ResponseType,
    encoding: Option<Encoding>,
    caching: Option<Caching>,
    resources: &Resources,
) -> Answered {
    let summary = Summary {
        bytes: response.body.len(),
        outcome: response.outcome,
        written: response.written,
    };
    let status = match (response_type, response.outcome) {
        (ResponseType::GraphqlResponse, _) | (_, Outcome::Overloaded) => {
            StatusCode::from_u16(response.status).expect("the tables hold valid statuses")
        }
        (ResponseType::Json, _) => StatusCode::OK,
    };
    let (segments, encoding) = compress(response.body.into_parts(), encoding, resources).await;
    let body = ResponseBody::new(segments.0, segments.1);
    let mut http = HttpResponse::new(Body::new(body));
    *http.status_mut() = status;
    let headers = http.headers_mut();
    if status == StatusCode::SERVICE_UNAVAILABLE {
        headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(response_type.content_type()),
    );
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    if let Some(caching) = caching.filter(|_| status == StatusCode::OK) {
        let (freshness, is_personal) = (&caching.freshness, caching.is_personal);
        caching.forwarding.keep(freshness, is_personal, headers);
    }
    compression::set_headers(headers, encoding);
    Answered {
        response: http,
        summary: Some(summary),
    }
}
