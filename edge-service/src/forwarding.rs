//! Which headers pass, and what is said to services of the client.

use axum::http::header::{
    CONNECTION, CONTENT_LENGTH, EXPECT, FORWARDED, HOST, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION,
    TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue};
use graphql_http::RequestId;
use graphql_http::request_id::X_REQUEST_ID;
use service_runtime::{BehindProxy, ClientAddress, X_FORWARDED_FOR, X_FORWARDED_PREFIX};

use super::route::EdgeRoute;

const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// The headers of one connection (RFC 9110, section 7.6.1).
const OF_CONNECTION: [HeaderName; 9] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    HeaderName::from_static("proxy-connection"),
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Removes the headers that are about the connection that a message came by.
pub(crate) fn remove_of_connection(headers: &mut HeaderMap) {
    let mut named = Vec::new();
    for list in headers.get_all(CONNECTION) {
        let names = list.to_str().unwrap_or_default().split(',');
        named.extend(names.filter_map(|name| name.trim().parse::<HeaderName>().ok()));
    }
    for name in named.iter().chain(&OF_CONNECTION) {
        headers.remove(name);
    }
}

/// Removes also what is about a body that was read, and is sent again.
pub(crate) fn remove_of_body(headers: &mut HeaderMap) {
    headers.remove(CONTENT_LENGTH);
    headers.remove(EXPECT);
}

/// Sets the headers that tell a service who sent a request, and removes what a client has written there.
pub(crate) fn describe_client(
    route: &EdgeRoute,
    is_tls: bool,
    headers: &mut HeaderMap,
    extensions: &Extensions,
) {
    // What the proxy in front of the edge says stays.
    let is_behind = extensions.get::<BehindProxy>().is_some();
    let kept = |name: &HeaderName| headers.get(name).filter(|_| is_behind).cloned();
    let scheme = HeaderValue::from_static(if is_tls { "https" } else { "http" });
    let scheme = kept(&X_FORWARDED_PROTO).unwrap_or(scheme);
    let host = kept(&X_FORWARDED_HOST).or_else(|| headers.get(HOST).cloned());
    let outer = kept(&X_FORWARDED_PREFIX);
    let outer = outer.as_ref().and_then(|prefix| prefix.to_str().ok());
    let prefix = format!(
        "{}{}",
        outer.unwrap_or_default().trim_end_matches('/'),
        route.prefix().unwrap_or_default()
    );
    let client = extensions.get::<ClientAddress>().map(|client| client.0);
    let client = client.and_then(|client| HeaderValue::try_from(client.to_string()).ok());
    let prefix = (!prefix.is_empty()).then(|| HeaderValue::try_from(prefix).ok());
    headers.remove(FORWARDED);
    for (name, value) in [
        (X_FORWARDED_FOR, client),
        (X_FORWARDED_PROTO, Some(scheme)),
        (X_FORWARDED_HOST, host),
        (X_FORWARDED_PREFIX, prefix.flatten()),
    ] {
        match value {
            Some(value) => headers.insert(name, value),
            None => headers.remove(name),
        };
    }
    if let Some(id) = extensions.get::<RequestId>()
        && let Ok(id) = HeaderValue::from_str(&id.0)
    {
        headers.insert(X_REQUEST_ID, id);
    }
}

/// Removes what a service says of its own CORS, in whose place the edge has said it.
pub(crate) fn remove_cors(headers: &mut HeaderMap) {
    let names = headers
        .keys()
        .filter(|name| name.as_str().starts_with("access-control-"));
    for name in names.cloned().collect::<Vec<_>>() {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;
    use crate::options::{RouteOptions, Target, UpstreamOptions};
    use crate::route::RouteTable;

    fn headers(entries: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in entries {
            headers.append(*name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn headers_of_the_connection_and_those_that_it_names_are_removed() {
        let mut found = headers(&[
            ("connection", "keep-alive, X-One"),
            ("connection", "close"),
            ("x-one", "1"),
            ("keep-alive", "1"),
            ("proxy-authorization", "secret"),
            ("te", "trailers"),
            ("transfer-encoding", "chunked"),
            ("authorization", "Bearer a"),
            ("x-two", "2"),
        ]);
        remove_of_connection(&mut found);
        let left: Vec<&str> = found.keys().map(HeaderName::as_str).collect();
        assert!(
            left.len() == 2 && left.contains(&"authorization") && left.contains(&"x-two"),
            "{left:?}"
        );
    }

    #[test]
    fn services_hear_of_the_client_from_the_edge_alone() {
        let target = Target::Servers("http://127.0.0.1:1".parse().unwrap());
        let route = RouteOptions::new("objects", "/objects", target).stripped();
        let routes = RouteTable::new(vec![route], &UpstreamOptions::default()).unwrap();
        let route = routes.find(None, "/objects").unwrap();
        let given = [
            ("host", "data.example"),
            ("x-forwarded-for", "198.51.100.1"),
            ("x-forwarded-proto", "ftp"),
            ("x-forwarded-host", "evil.example"),
            ("x-forwarded-prefix", "/outer/"),
            ("forwarded", "for=198.51.100.1"),
        ];
        let mut extensions = Extensions::new();
        extensions.insert(ClientAddress(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7))));
        extensions.insert(RequestId("r-1".to_owned()));
        let mut described = headers(&given);
        describe_client(route, true, &mut described, &extensions);
        let expected = headers(&[
            ("host", "data.example"),
            ("x-forwarded-for", "192.0.2.7"),
            ("x-forwarded-proto", "https"),
            ("x-forwarded-host", "data.example"),
            ("x-forwarded-prefix", "/objects"),
            ("x-request-id", "r-1"),
        ]);
        assert_eq!(described, expected);
        extensions.insert(BehindProxy);
        let mut described = headers(&given);
        describe_client(route, false, &mut described, &extensions);
        assert_eq!(described["x-forwarded-prefix"], "/outer/objects");
        assert_eq!(described["x-forwarded-host"], "evil.example");
        assert_eq!(described["x-forwarded-for"], "192.0.2.7");
    }

    #[test]
    fn cors_of_a_service_is_removed() {
        let mut found = headers(&[("access-control-allow-origin", "*"), ("vary", "origin")]);
        remove_cors(&mut found);
        assert_eq!(found, headers(&[("vary", "origin")]));
    }
}
