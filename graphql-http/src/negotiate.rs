//! What a client accepts: media types and languages, best first.

use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, ACCEPT_LANGUAGE};

/// The media type of a GraphQL answer, which also decides its status codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseType {
    /// `application/json`: every well-formed request is answered with 200.
    Json,
    /// `application/graphql-response+json`: a request error is answered with 400.
    GraphqlResponse,
}

impl ResponseType {
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            ResponseType::Json => "application/json; charset=utf-8",
            ResponseType::GraphqlResponse => "application/graphql-response+json; charset=utf-8",
        }
    }

    /// Chooses after `Accept`: the greatest weight, then the newer type.
    ///
    /// No header, `*/*` and `application/*` stand for `application/json`, which clients from before
    /// the specification expect.
    pub(crate) fn negotiate(headers: &HeaderMap) -> Option<Self> {
        let Some(ranges) = weighted(headers, ACCEPT) else {
            return Some(ResponseType::Json);
        };
        let weight = |names: &[&str]| {
            names.iter().find_map(|name| {
                ranges
                    .iter()
                    .find(|(range, _)| range == name)
                    .map(|(_, weight)| *weight)
            })
        };
        let json = weight(&["application/json", "application/*", "*/*"]).unwrap_or(0.0);
        let graphql = weight(&["application/graphql-response+json"]).unwrap_or(0.0);
        if graphql > 0.0 && graphql >= json {
            Some(ResponseType::GraphqlResponse)
        } else {
            (json > 0.0).then_some(ResponseType::Json)
        }
    }
}

/// Returns whether `headers` name `media_type` itself as acceptable.
pub fn accepts(headers: &HeaderMap, media_type: &str) -> bool {
    weighted(headers, ACCEPT).is_some_and(|ranges| {
        ranges
            .iter()
            .any(|(range, w)| range == media_type && *w > 0.0)
    })
}

/// Returns whether a client wants one of `these` media types rather than one of `those`: named
/// itself, and with a weight that is not lower.
pub fn prefers(headers: &HeaderMap, these: &[&str], those: &[&str]) -> bool {
    let ranges = weighted(headers, ACCEPT).unwrap_or_default();
    let greatest = |names: &[&str]| {
        let weights = ranges
            .iter()
            .filter(|(range, _)| names.contains(&range.as_str()));
        weights.map(|(_, weight)| *weight).fold(0.0, f32::max)
    };
    let wanted = greatest(these);
    wanted > 0.0 && wanted >= greatest(those)
}

/// Returns the languages of `Accept-Language`, best first; refused ones are left out, and `*` stands
/// for any.
pub(crate) fn languages(headers: &HeaderMap) -> Vec<String> {
    let mut ranges = weighted(headers, ACCEPT_LANGUAGE).unwrap_or_default();
    ranges.retain(|(_, weight)| *weight > 0.0);
    ranges.sort_by(|a, b| b.1.total_cmp(&a.1));
    ranges.into_iter().map(|(range, _)| range).collect()
}

/// Splits a header of comma-separated ranges with `q` weights; names come in lower case.
pub fn weighted(headers: &HeaderMap, name: axum::http::HeaderName) -> Option<Vec<(String, f32)>> {
    let mut values = headers
        .get_all(name)
        .iter()
        .filter_map(|v| v.to_str().ok())
        .peekable();
    values.peek()?;
    let items = values.flat_map(|value| value.split(','));
    Some(
        items
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .map(range)
            .collect(),
    )
}

fn range(item: &str) -> (String, f32) {
    let mut parts = item.split(';').map(str::trim);
    let range = parts.next().unwrap_or_default().to_ascii_lowercase();
    let weight = parts
        .find_map(|p| p.strip_prefix("q=").or_else(|| p.strip_prefix("Q=")))
        .map_or(1.0, |q| q.trim().parse().unwrap_or(0.0));
    (range, weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accept(value: &str) -> Option<ResponseType> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, value.parse().unwrap());
        ResponseType::negotiate(&headers)
    }

    #[test]
    fn media_type_follows_the_weights() {
        use ResponseType::{GraphqlResponse, Json};
        assert_eq!(ResponseType::negotiate(&HeaderMap::new()), Some(Json));
        assert_eq!(accept("*/*"), Some(Json));
        assert_eq!(accept("application/json"), Some(Json));
        assert_eq!(
            accept("application/graphql-response+json"),
            Some(GraphqlResponse)
        );
        assert_eq!(
            accept("application/graphql-response+json, application/json;q=0.9"),
            Some(GraphqlResponse)
        );
        assert_eq!(
            accept("application/graphql-response+json;q=0.5, application/json"),
            Some(Json)
        );
        assert_eq!(
            accept("application/json;q=0, application/graphql-response+json;q=0"),
            None
        );
        assert_eq!(accept("text/html"), None);
    }

    #[test]
    fn a_preferred_media_type_is_named_and_weighs_no_less() {
        let yaml = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, value.parse().unwrap());
            prefers(
                &headers,
                &["text/yaml", "application/yaml"],
                &["application/ld+json"],
            )
        };
        for value in [
            "text/yaml",
            "application/yaml;q=0.1, */*",
            "text/yaml, application/ld+json",
            "application/yaml;q=0.2, text/yaml;q=0.9, application/ld+json;q=0.5",
        ] {
            assert!(yaml(value), "{value}");
        }
        for value in [
            "*/*",
            "text/*",
            "text/yaml;q=0",
            "text/yaml;q=0.5, application/ld+json",
        ] {
            assert!(!yaml(value), "{value}");
        }
        assert!(!prefers(&HeaderMap::new(), &["text/yaml"], &[]));
    }

    #[test]
    fn languages_come_best_first() {
        let mut headers = HeaderMap::new();
        headers.insert(
            ACCEPT_LANGUAGE,
            "de;q=0.5, bg, en-GB;q=0.8, fr;q=0, *;q=0.1"
                .parse()
                .unwrap(),
        );
        assert_eq!(languages(&headers), ["bg", "en-gb", "de", "*"]);
    }
}
