//! Who may call: the `Host` that a request names, the web page that it comes from, and CORS.
//!
//! A service need not ask for tokens, and a browser on the same machine can reach it. So a page of
//! another site must neither send it requests nor, by a name that it lets lead to this machine,
//! pass for a page of the service itself.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::http::header::{
    ACCEPT, ACCEPT_LANGUAGE, AUTHORIZATION, CONTENT_TYPE, ETAG, HeaderName, IF_MATCH,
    IF_NONE_MATCH, LOCATION, ORIGIN, RETRY_AFTER, WWW_AUTHENTICATE,
};
use axum::http::{HeaderMap, HeaderValue, Method, Uri};
use graphql_http::{
    AWAIT_DATA_SEQUENCE_HEADER, DATA_SEQUENCE_HEADER, HttpError, IDEMPOTENCY_KEY, code as common,
    request_id::X_REQUEST_ID,
};
use tower_http::cors::{AllowOrigin, CorsLayer};

use super::authority::{Authority, authorities, is_loopback};
use super::caller_lists::{HostNames, Origins};
use super::code;
use super::options::HostOptions;
use super::refusals::Refusals;
use super::trusted_proxies::TrustedProxies;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// The rules of one service.
pub(crate) struct Callers {
    /// Whether other hosts than those of the list, and the machine itself, are refused.
    checks_hosts: bool,
    hosts: HostNames,
    origins: Origins,
    preflight_age: Duration,
    pub(crate) proxies: TrustedProxies,
    refusals: Refusals,
}

fn cors(callers: &Arc<Callers>, max_age: Duration) -> CorsLayer {
    let callers = Arc::clone(callers);
    let allowed = AllowOrigin::predicate(move |origin, _| callers.allows(origin));
    CorsLayer::new()
        .allow_origin(allowed)
        .allow_methods([
            Method::GET,
            Method::HEAD,
            Method::POST,
            Method::PUT,
            Method::DELETE,
        ])
        .allow_headers([
            ACCEPT,
            ACCEPT_LANGUAGE,
            AUTHORIZATION,
            AWAIT_DATA_SEQUENCE_HEADER,
            CONTENT_TYPE,
            IDEMPOTENCY_KEY,
            IF_MATCH,
            IF_NONE_MATCH,
            X_REQUEST_ID,
        ])
        .expose_headers([
            DATA_SEQUENCE_HEADER,
            ETAG,
            LOCATION,
            HeaderName::from_static("ratelimit"),
            HeaderName::from_static("ratelimit-policy"),
            RETRY_AFTER,
            WWW_AUTHENTICATE,
            X_REQUEST_ID,
        ])
        .max_age(max_age)
}

impl Callers {
    /// Returns the rules of a service.
    pub(crate) fn of(options: &HostOptions) -> Self {
        let callers = &options.callers;
        Callers {
            checks_hosts: is_loopback(options.address.ip()) || !callers.hosts.is_empty(),
            hosts: callers.hosts.clone(),
            origins: callers.origins.clone(),
            preflight_age: callers.preflight_age,
            proxies: callers.proxies.clone(),
            refusals: Refusals::default(),
        }
    }

    /// Returns the layer that answers CORS preflights of callers that are allowed, where there are any.
    pub(crate) fn cors(self: &Arc<Self>) -> Option<CorsLayer> {
        match &self.origins {
            Origins::None => None,
            Origins::Any | Origins::Listed(_) => Some(cors(self, self.preflight_age)),
        }
    }

    /// Refuses a request of a caller that is not allowed.
    pub(crate) fn check(&self, request: &Request) -> Result<(), HttpError> {
        let named = authorities(request)?;
        self.check_hosts(&named)?;
        check_path(request.uri())?;
        self.check_page(request, &named)
    }

    fn check_hosts(&self, named: &[Authority<'_>]) -> Result<(), HttpError> {
        if !self.checks_hosts {
            return Ok(());
        }
        if named.is_empty() {
            let message = "the request has no `Host`";
            return Err(HttpError::new(code::HOST_MALFORMED, message));
        }
        let is_allowed = |a: &&Authority<'_>| a.is_loopback() || self.hosts.contains(a.host);
        let Some(refused) = named.iter().find(|named| !is_allowed(named)) else {
            return Ok(());
        };
        let code = code::HOST_NOT_ALLOWED;
        self.refusals.host(refused.host, code, "http.allowedHosts");
        let message = "the service does not accept requests for this host name; its operator can \
                       allow it with `http.allowedHosts`";
        Err(HttpError::new(code, message))
    }

    /// Refuses what a page of another origin sends, as far as browsers tell.
    fn check_page(&self, request: &Request, named: &[Authority<'_>]) -> Result<(), HttpError> {
        let headers = request.headers();
        let mut origins = headers.get_all(ORIGIN).iter();
        let origin = match (origins.next(), origins.next()) {
            (Some(origin), Some(_)) if !self.allows(origin) => {
                return Err(self.cross_site(Some(origin)));
            }
            (origin, _) => origin,
        };
        if origin.is_some_and(|origin| self.allows(origin)) {
            return Ok(());
        }
        let mut sites = headers.get_all(SEC_FETCH_SITE).iter().peekable();
        let is_own = if sites.peek().is_some() {
            sites.all(|site| site == "same-origin" || site == "none")
        } else {
            // Browsers leave the header out where the connection is neither encrypted nor local.
            origin.is_none_or(|origin| is_origin_of(origin, named))
        };
        if is_own || opens_page(request) {
            return Ok(());
        }
        Err(self.cross_site(origin))
    }

    /// Refuses a request of a page of another origin; logs which.
    fn cross_site(&self, origin: Option<&HeaderValue>) -> HttpError {
        let (code, property) = (code::CROSS_SITE, "http.cors.allowedOrigins");
        let origin = origin.map(HeaderValue::as_bytes);
        self.refusals.origin(origin, code, property);
        let message = "the request comes from a web page of a different origin; the operator of the \
                       service can allow that with `http.cors.allowedOrigins`";
        HttpError::new(code, message)
    }

    fn allows(&self, origin: &HeaderValue) -> bool {
        origin
            .to_str()
            .is_ok_and(|origin| self.origins.contains(origin))
    }
}

/// Returns whether an origin is that of the server that the request is addressed to.
fn is_origin_of(origin: &HeaderValue, named: &[Authority<'_>]) -> bool {
    let parts = origin.to_str().ok().and_then(|o| o.split_once("://"));
    let Some((scheme, authority)) = parts else {
        return false;
    };
    let authority = Authority::parse(authority);
    authority.is_some_and(|a| named.iter().any(|named| named.is_same(&a, scheme)))
}

/// Returns whether someone follows a link to the page of the service.
fn opens_page(request: &Request) -> bool {
    let is = |name: &HeaderName, value: &str| only(request.headers(), name) == Some(value);
    request.method() == Method::GET
        && request.uri().path() == "/"
        && is(&SEC_FETCH_MODE, "navigate")
        && is(&SEC_FETCH_DEST, "document")
}

/// Returns the value of a header that occurs once.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

/// Refuses a path whose percent-encoding is malformed, or does not stand for UTF-8.
fn check_path(uri: &Uri) -> Result<(), HttpError> {
    let mut decoded = Vec::new();
    let mut rest = uri.path().as_bytes();
    while let Some(position) = rest.iter().position(|byte| *byte == b'%') {
        decoded.extend_from_slice(&rest[..position]);
        let hex = rest.get(position + 1..position + 3).unwrap_or_default();
        let text = std::str::from_utf8(hex).ok();
        let is_hex = hex.len() == 2 && hex.iter().all(u8::is_ascii_hexdigit);
        let byte = text
            .filter(|_| is_hex)
            .and_then(|t| u8::from_str_radix(t, 16).ok());
        let Some(byte) = byte else {
            let message = "the path has a `%` without two hexadecimal digits after it";
            return Err(HttpError::new(common::REQUEST_MALFORMED, message));
        };
        decoded.push(byte);
        rest = &rest[position + 3..];
    }
    if decoded.is_empty() || std::str::from_utf8(&decoded).is_ok() {
        return Ok(());
    }
    let message = "the percent-encoded path is not UTF-8";
    Err(HttpError::new(common::REQUEST_MALFORMED, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_percent_encoded_utf8() {
        for path in ["/", "/soml/a%20b", "/%C3%a4/x", "/%F0%9F%90%99"] {
            assert!(check_path(&path.parse().unwrap()).is_ok(), "{path}");
        }
        for path in ["/%", "/a%2", "/%zz", "/%+1", "/%ff", "/%C3x%A4", "/x%C3"] {
            let error = check_path(&path.parse().unwrap()).unwrap_err();
            assert_eq!(error.code, common::REQUEST_MALFORMED, "{path}");
        }
    }
}
