//! The token of a request.

use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::refusal::Refusal;

/// Returns the token in `Authorization: Bearer`, as RFC 6750 and RFC 9110 have it: the scheme in
/// any case, one header, and no other place.
///
/// # Errors
///
/// Fails when there is none, when there are several headers, and when the header is no text.
pub fn bearer(headers: &HeaderMap) -> Result<&str, Refusal> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let value = match (given.next(), given.next()) {
        (None, _) => return Err(Refusal::Missing),
        (Some(_), Some(_)) => return Err(Refusal::Several),
        (Some(value), None) => value,
    };
    let scheme = value.as_bytes().get(..SCHEME.len());
    if !scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case(SCHEME)) {
        return Err(Refusal::Missing);
    }
    let text = value.to_str().map_err(|_| NOT_TEXT)?;
    let token = text[SCHEME.len()..].trim_matches(' ');
    match token {
        "" => Err(Refusal::Missing),
        token => Ok(token),
    }
}

const SCHEME: &[u8] = b"bearer ";

const NOT_TEXT: Refusal = Refusal::Malformed("it has other characters than ASCII");

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn of(values: &[&[u8]]) -> Result<String, Refusal> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_bytes(value).unwrap());
        }
        bearer(&headers).map(str::to_owned)
    }

    #[test]
    fn the_scheme_is_read_in_any_case() {
        for value in ["Bearer a.b.c", "bearer a.b.c", "BEARER   a.b.c "] {
            assert_eq!(of(&[value.as_bytes()]).as_deref(), Ok("a.b.c"), "{value}");
        }
    }

    #[test]
    fn other_schemes_are_no_token() {
        for value in [
            "Basic YTpi",
            "Bearer",
            "Bearer ",
            "a.b.c",
            "",
            "Bearera.b.c",
        ] {
            assert_eq!(of(&[value.as_bytes()]), Err(Refusal::Missing), "{value}");
        }
        assert_eq!(of(&[]), Err(Refusal::Missing));
    }

    #[test]
    fn two_headers_and_other_characters_are_refused() {
        assert_eq!(of(&[b"Bearer a", b"Bearer a"]), Err(Refusal::Several));
        assert_eq!(of(&[b"Basic a", b"Bearer a"]), Err(Refusal::Several));
        assert_eq!(of(&[b"Bearer \xff"]), Err(NOT_TEXT));
    }
}
