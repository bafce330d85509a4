//! The error codes of the edge.

graphql_service::error_codes! {
    PATH_AMBIGUOUS 400 public "The path has segments that servers read differently, such as `..` or an empty one; send it as it is meant.";
    ROUTE_NOT_FOUND 404 public "No route of the edge leads from this host and path to a service.";
    RATE_LIMITED 429 public "The caller, its address or the route has had more requests than is allowed; `Retry-After` says when to try again.";
    UPSTREAM_FAILED 502 public "The service behind the edge broke the connection off; whether it has done what was asked is not known.";
    UPSTREAM_UNAVAILABLE 503 public "No server of the service behind the edge can be reached now; `Retry-After` says when to try again.";
    UPSTREAM_BUSY 503 public "As many requests wait for the service behind the edge as may; try again soon.";
    UPSTREAM_TIMEOUT 504 public "The service behind the edge did not begin to answer in time; whether it has done what was asked is not known.";
}
