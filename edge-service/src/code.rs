//! The error codes of the edge.

graphql_service::error_codes! {
    PATH_AMBIGUOUS 400 public "The path has segments that servers interpret differently, such as `..` or an empty one; send the normalised path.";
    ROUTE_NOT_FOUND 404 public "No route of the edge matches this host and path.";
    RATE_LIMITED 429 public "The caller, its address or the route has exceeded its rate limit; `Retry-After` says when to try again.";
    UPSTREAM_FAILED 502 public "The service behind the edge closed the connection early; it is not known whether the request was carried out.";
    UPSTREAM_UNAVAILABLE 503 public "No server of the service behind the edge can be reached at the moment; `Retry-After` says when to try again.";
    UPSTREAM_BUSY 503 public "Too many requests are waiting for the service behind the edge; try again soon.";
    UPSTREAM_TIMEOUT 504 public "The service behind the edge did not begin to respond in time; it is not known whether the request was carried out.";
}
