//! Addresses of what a gateway calls.

use reqwest::Url;

/// Reads the address of an endpoint.
///
/// # Errors
/// What was expected.
pub fn endpoint(text: &str) -> Result<Url, &'static str> {
    let expected = "an address such as http://localhost:9995/graphql, without user and fragment";
    let url = Url::parse(text).map_err(|_| expected)?;
    if matches!(url.scheme(), "http" | "https") && is_plain(&url) {
        Ok(url)
    } else {
        Err(expected)
    }
}

/// Returns whether an address has nothing to hide.
#[must_use]
pub fn is_plain(url: &Url) -> bool {
    url.has_host()
        && url.username().is_empty()
        && url.password().is_none()
        && url.fragment().is_none()
}
