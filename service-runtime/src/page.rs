//! `GET /`: GraphiQL, served from the program with nothing fetched from elsewhere.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock};

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use graphql_http::{HttpError, negotiate::accepts};
use serde_json::json;

use super::code;
use super::mount::RootLinks;
use super::preconditions::has_current;
use super::service::{Host, Shown};

const PAGE: &str = include_str!("../assets/graphiql/index.html");

/// Hash of the files, which is in their path: other content is another address, so caches may keep
/// what they have.
pub(crate) static VERSION: LazyLock<String> = LazyLock::new(|| {
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
        include_bytes!("../assets/graphiql/graphiql.min.js"),
    ),
    (
        "graphiql.min.css",
        CSS,
        include_bytes!("../assets/graphiql/graphiql.min.css"),
    ),
    (
        "react.production.min.js",
        JAVASCRIPT,
        include_bytes!("../assets/graphiql/react.production.min.js"),
    ),
    (
        "react-dom.production.min.js",
        JAVASCRIPT,
        include_bytes!("../assets/graphiql/react-dom.production.min.js"),
    ),
    (
        "page.js",
        JAVASCRIPT,
        include_bytes!("../assets/graphiql/page.js"),
    ),
    (
        "page.css",
        CSS,
        include_bytes!("../assets/graphiql/page.css"),
    ),
    (
        "docs.css",
        CSS,
        include_bytes!("../assets/graphiql/docs.css"),
    ),
    (
        "LICENSES.txt",
        "text/plain; charset=utf-8",
        include_bytes!("../assets/graphiql/LICENSES.txt"),
    ),
];

/// The editor sets styles on its elements, hence the exception for styles; scripts have none.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
     img-src 'self' data:; font-src data:; connect-src 'self'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'";

/// The switch for `explain`.
const EXPLAIN: &str =
    "<label><input type=\"checkbox\" id=\"explain\"> <span>Explain</span></label>";

/// The field for the token, which stays in the memory of the page. No field for a password:
/// browsers offer to keep those.
const TOKEN: &str = "<label class=\"token\"><span>Token</span> <input type=\"text\" id=\"token\" \
     autocomplete=\"off\" spellcheck=\"false\"></label>";

/// Answers browsers with GraphiQL and everyone else with where to go.
///
/// The page itself is public. So where requests need a token it shows nothing of the schema, and
/// asks for one.
pub(crate) async fn index<H: Host>(
    State(app): State<Arc<H>>,
    RootLinks(base): RootLinks,
    headers: HeaderMap,
) -> Response {
    if !app.state().options.graphiql || !accepts(&headers, "text/html") {
        let message = "this is a GraphQL service; send requests to /graphql";
        return HttpError::new(code::PATH_NOT_FOUND, message).into_response();
    }
    let needs_token = app.needs_tokens();
    let bound = app.shown().filter(|_| !needs_token);
    let title = if needs_token {
        app.state().options.name.as_str()
    } else {
        title(bound.as_deref())
    };
    let examples = bound.as_deref().map_or(&[][..], |bound| bound.examples());
    let examples = serde_json::to_string(examples).expect("strings are JSON");
    let explained = |bound: &dyn Shown| app.state().options.explain && bound.may_explain();
    let explain = match bound.as_deref() {
        Some(bound) => explained(bound),
        None => needs_token && app.state().options.explain,
    };
    let base = escaped(&base);
    let sdl = format!("<a href=\"{base}schema.graphql\">Schema (SDL)</a>");
    let page = filled(
        PAGE,
        &[
            ("{base}", &base),
            ("{version}", &VERSION),
            ("{title}", &escaped(title)),
            ("{examples}", &escaped(&examples)),
            ("{explain}", if explain { EXPLAIN } else { "" }),
            ("{token}", if needs_token { TOKEN } else { "" }),
            ("{sdl}", if bound.is_some() { &sdl } else { "" }),
        ],
    );
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

/// Answers with what the page shows of the schema, for a page that had to ask for a token first.
pub(crate) async fn examples<H: Host>(State(app): State<Arc<H>>) -> Response {
    if !app.state().options.graphiql {
        return HttpError::new(code::PATH_NOT_FOUND, "the page does not exist").into_response();
    }
    let bound = app.shown();
    let bound = bound.as_deref();
    let examples = bound.map_or(&[][..], |bound| bound.examples());
    let headers = [(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))];
    let shown = json!({ "title": title(bound), "examples": examples });
    (headers, Json(shown)).into_response()
}

fn title(bound: Option<&dyn Shown>) -> &str {
    bound.map_or("no schema", |bound| bound.label().unwrap_or(bound.id()))
}

/// Answers with one of the files of the page.
pub(crate) async fn file<H: Host>(
    State(app): State<Arc<H>>,
    Path((version, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    let found = FILES.iter().find(|(known, ..)| *known == name);
    let Some((_, content_type, bytes)) = found.filter(|_| app.state().options.graphiql) else {
        return HttpError::new(code::PATH_NOT_FOUND, "the file does not exist").into_response();
    };
    let etag = HeaderValue::from_str(&format!("\"{}\"", *VERSION)).expect("hexadecimal digits");
    // An address with another version would otherwise be kept for a year with the wrong content.
    let cache = if version == *VERSION {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let cached = match has_current(&headers, &etag) {
        Ok(cached) => cached,
        Err(error) => return error.into_response(),
    };
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

/// Puts values into a template, each in the place of its name. Names within values stay what they
/// are.
fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    let next = |rest: &str| {
        let found = values.iter().filter_map(|(name, value)| {
            let at = rest.find(name)?;
            Some((at, at + name.len(), *value))
        });
        found.min()
    };
    while let Some((start, end, value)) = next(rest) {
        out.push_str(&rest[..start]);
        out.push_str(value);
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// Escapes text for content and for attributes in double quotes.
pub(crate) fn escaped(text: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_not_taken_for_templates() {
        let values = [("{a}", "1 {b}"), ("{b}", "2")];
        assert_eq!(filled("{b}-{a}-{c}{b}", &values), "2-1 {b}-{c}2");
    }
}
