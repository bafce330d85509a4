//! Which answers are GraphQL responses, by status and media type.

use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, HeaderMap};

use super::super::TransportError;

/// What is asked for: the media type of GraphQL, or JSON of servers that do not know it.
pub(super) const ACCEPTED: &str =
    "application/graphql-response+json; charset=utf-8, application/json; charset=utf-8; q=0.9";

/// Checks that an answer is a GraphQL response.
///
/// Under `application/graphql-response+json` it is one whatever the status. Under `application/json` another
/// status than 200 can be that of an intermediary, so its body is not read. 401 and 403 are about the
/// credentials of the request, whatever the body.
pub(super) fn check(status: StatusCode, headers: &HeaderMap) -> Result<(), TransportError> {
    let refused = TransportError::Status(status.as_u16());
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Err(refused);
    }
    let content_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let (media_type, is_unicode) = content_type.map_or((String::new(), true), parsed);
    let is_response = match &*media_type {
        "application/graphql-response+json" => !status.is_redirection(),
        "application/json" => status == StatusCode::OK,
        _ => false,
    };
    match (is_response, is_unicode, status.is_success()) {
        (true, true, _) => Ok(()),
        (_, _, false) => Err(refused),
        _ => Err(TransportError::NotJson),
    }
}

/// Returns a media type without parameters, and whether its character set is UTF-8.
fn parsed(text: &str) -> (String, bool) {
    let mut parts = text.split(';').map(str::trim);
    let media_type = parts.next().unwrap_or_default().to_ascii_lowercase();
    let is_unicode = parts.all(|parameter| match parameter.split_once('=') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
            let value = value.trim().trim_matches('"');
            value.eq_ignore_ascii_case("utf-8") || value.eq_ignore_ascii_case("utf8")
        }
        _ => true,
    });
    (media_type, is_unicode)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(status: u16, content_type: &str) -> String {
        let mut headers = HeaderMap::new();
        if !content_type.is_empty() {
            headers.insert(CONTENT_TYPE, content_type.parse().unwrap());
        }
        match check(StatusCode::from_u16(status).unwrap(), &headers) {
            Ok(()) => "ok".to_owned(),
            Err(error) => format!("{error:?}"),
        }
    }

    #[test]
    fn status_and_media_type_say_whether_a_body_is_a_graphql_response() {
        let cases = [
            (200, "application/json", "ok"),
            (200, "Application/JSON; charset=\"UTF-8\"", "ok"),
            (200, "application/graphql-response+json", "ok"),
            (400, "application/graphql-response+json", "ok"),
            (
                503,
                "application/graphql-response+json; charset=utf-8",
                "ok",
            ),
            (400, "application/json", "Status(400)"),
            (502, "application/json", "Status(502)"),
            (302, "application/graphql-response+json", "Status(302)"),
            (401, "application/graphql-response+json", "Status(401)"),
            (403, "application/json", "Status(403)"),
            (500, "text/html", "Status(500)"),
            (200, "text/html", "NotJson"),
            (200, "", "NotJson"),
            (200, "application/json; charset=iso-8859-1", "NotJson"),
            (200, "application/jsonp", "NotJson"),
        ];
        for (status, content_type, expected) in cases {
            assert_eq!(
                outcome(status, content_type),
                expected,
                "{status} {content_type}"
            );
        }
    }
}
