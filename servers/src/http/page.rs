//! `GET /`: GraphiQL, served from the program with nothing fetched from elsewhere.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock};

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};

use super::code;
use super::error::HttpError;
use super::negotiate::accepts;
use crate::app::App;

const PAGE: &str = include_str!("../../assets/graphiql/index.html");

/// Hash of the files, which is in their path: other content is another address, so caches may keep
/// what they have.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hasher = DefaultHasher::new();
    FILES.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
});

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";

/// Scripts and styles, by name.
const FILES: &[(&str, &str, &[u8])] = &[
    (
        "graphiql.min.js",
        JAVASCRIPT,
        include_bytes!("../../assets/graphiql/graphiql.min.js"),
    ),
    (
        "graphiql.min.css",
        CSS,
        include_bytes!("../../assets/graphiql/graphiql.min.css"),
    ),
    (
        "react.production.min.js",
        JAVASCRIPT,
        include_bytes!("../../assets/graphiql/react.production.min.js"),
    ),
    (
        "react-dom.production.min.js",
        JAVASCRIPT,
        include_bytes!("../../assets/graphiql/react-dom.production.min.js"),
    ),
    (
        "page.js",
        JAVASCRIPT,
        include_bytes!("../../assets/graphiql/page.js"),
    ),
    (
        "page.css",
        CSS,
        include_bytes!("../../assets/graphiql/page.css"),
    ),
    (
        "LICENSES.txt",
        "text/plain; charset=utf-8",
        include_bytes!("../../assets/graphiql/LICENSES.txt"),
    ),
];

/// The editor sets styles on its elements, hence the exception for styles; scripts have none.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
     img-src 'self' data:; font-src data:; connect-src 'self'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'";

const NO_SCHEMA: &str = "# No schema is bound to this service yet.\n\
     # Store one with POST /soml and bind it with PUT /soml/{id}/objects, then load this page again.\n";

/// Answers browsers with GraphiQL and everybody else with where to go.
pub(crate) async fn index(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    if !app.settings.graphiql || !accepts(&headers, "text/html") {
        let message = "this is a GraphQL service; send requests to /graphql";
        return HttpError::new(code::NOT_FOUND, message).into_response();
    }
    let bound = app.bound();
    let (title, query) = match &bound {
        Some(bound) => (
            bound.label.as_deref().unwrap_or(&bound.id),
            bound.first_query.as_str(),
        ),
        None => ("no schema", NO_SCHEMA),
    };
    let page = PAGE
        .replace("{version}", &VERSION)
        .replace("{title}", &escaped(title))
        .replace("{query}", &escaped(query.trim_end()));
    let headers = [
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static(POLICY),
        ),
        (
            header::REFERRER_POLICY,
            HeaderValue::from_static("no-referrer"),
        ),
        (header::VARY, HeaderValue::from_static("accept")),
    ];
    (headers, Html(page)).into_response()
}

/// Answers with one of the files of the page.
pub(crate) async fn file(
    State(app): State<Arc<App>>,
    Path((version, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    let found = FILES.iter().find(|(known, ..)| *known == name);
    let Some((_, content_type, bytes)) = found.filter(|_| app.settings.graphiql) else {
        return HttpError::new(code::NOT_FOUND, "the file does not exist").into_response();
    };
    let etag = HeaderValue::from_str(&format!("\"{}\"", *VERSION)).expect("hexadecimal digits");
    // An address with another version would otherwise be kept for a year with the wrong content.
    let cache = if version == *VERSION {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let cached = headers.get(header::IF_NONE_MATCH) == Some(&etag);
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (header::CACHE_CONTROL, HeaderValue::from_static(cache)),
        (header::ETAG, etag),
    ];
    if cached {
        (StatusCode::NOT_MODIFIED, headers).into_response()
    } else {
        (headers, *bytes).into_response()
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            c => out.push(c),
        }
    }
    out
}
