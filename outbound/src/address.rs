//! Addresses of servers.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use reqwest::Url;

/// Addresses of one server, or of several that hold the same data, the main one first.
///
/// ```
/// use outbound::Addresses;
///
/// let addresses: Addresses = "http://main:7200; http://other:7200".parse().unwrap();
/// assert_eq!(addresses.to_string(), "http://main:7200/, http://other:7200/");
/// assert!("http://user:password@main".parse::<Addresses>().is_err());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Addresses(Vec<Url>);

impl Addresses {
    /// Returns whether there is no address.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns how many addresses there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the addresses.
    #[must_use]
    pub fn urls(&self) -> &[Url] {
        &self.0
    }
}

impl FromStr for Addresses {
    type Err = &'static str;

    /// Parses addresses separated by commas or semicolons; the error completes "expected …".
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split([',', ';']).map(str::trim);
        let urls = parts.filter(|part| !part.is_empty()).map(address);
        urls.collect::<Result<_, _>>().map(Addresses)
    }
}

fn address(text: &str) -> Result<Url, &'static str> {
    const EXPECTED: &str = "http or https addresses without user, password and fragment";
    let url = Url::parse(text).map_err(|_| EXPECTED)?;
    let plain = matches!(url.scheme(), "http" | "https")
        && url.username().is_empty()
        && url.password().is_none()
        && url.fragment().is_none();
    if plain { Ok(url) } else { Err(EXPECTED) }
}

impl fmt::Display for Addresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, url) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{url}")?;
        }
        Ok(())
    }
}

/// Returns whether an address leads to this machine itself, so that no one on the way reads along.
#[must_use]
pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    // Addresses of IPv6 are in brackets.
    let address: Option<IpAddr> = host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .parse()
        .ok();
    host.strip_suffix('.').unwrap_or(host) == "localhost"
        || address.is_some_and(|address| address.to_canonical().is_loopback())
}

/// Appends segments to the path of an address.
///
/// # Panics
/// When the address has no path, which those of [`Addresses`] have.
#[must_use]
pub fn below(base: &Url, segments: &[&str]) -> Url {
    let mut url = base.clone();
    url.path_segments_mut()
        .expect("http addresses have a path")
        .pop_if_empty()
        .extend(segments);
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_carry_secrets_or_speak_something_else_are_refused() {
        for wrong in [
            "http://u:p@host/",
            "http://u@host",
            "ftp://host",
            "host:7200",
            "http://",
        ] {
            assert!(wrong.parse::<Addresses>().is_err(), "{wrong}");
        }
        let addresses: Addresses = " http://a/, ;https://b/x?y=z ".parse().unwrap();
        assert_eq!(addresses.len(), 2);
        assert_eq!(addresses.to_string().parse(), Ok(addresses));
    }

    #[test]
    fn loopback_is_told_by_whole_names_and_addresses() {
        let is_loopback = |text| is_loopback(&Url::parse(text).unwrap());
        for text in [
            "http://LocalHost:1/",
            "http://localhost./",
            "http://127.0.0.9/",
            "http://[::1]:1/",
            "http://[::ffff:127.0.0.1]/",
        ] {
            assert!(is_loopback(text), "{text}");
        }
        for text in [
            "http://localhost.example/",
            "http://127.0.0.1.example/",
            "http://0.0.0.0/",
            "http://10.0.0.1/",
        ] {
            assert!(!is_loopback(text), "{text}");
        }
    }

    #[test]
    fn paths_of_addresses_stay() {
        let url = |base: &str| below(&Url::parse(base).unwrap(), &["a/b", "_search"]).to_string();
        assert_eq!(url("http://a"), "http://a/a%2Fb/_search");
        assert_eq!(url("http://b/es/"), "http://b/es/a%2Fb/_search");
    }
}
