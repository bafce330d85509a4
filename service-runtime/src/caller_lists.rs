//! Who may call: names of hosts and origins of web pages, as lists of them are written.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

/// Host names and IP addresses, without ports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostNames(Vec<String>);

impl HostNames {
    /// Returns whether no name is listed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether `host` is listed; an IPv6 address stands without brackets.
    #[must_use]
    pub fn contains(&self, host: &str) -> bool {
        let host = plain(host);
        self.0.contains(&host)
    }
}

/// Origins of web pages: scheme, host, and port where it is not the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origins {
    /// No origin.
    #[default]
    None,
    /// Every origin (`*`).
    Any,
    /// The listed ones, as browsers send them.
    Listed(Vec<String>),
}

impl Origins {
    /// Returns whether a page of `origin` is listed.
    #[must_use]
    pub fn contains(&self, origin: &str) -> bool {
        match self {
            Origins::None => false,
            Origins::Any => true,
            Origins::Listed(origins) => normalized(origin).is_some_and(|o| origins.contains(&o)),
        }
    }
}

impl FromStr for HostNames {
    /// What is expected instead.
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let names = items(text).map(|name| {
            let name = plain(
                name.strip_prefix('[')
                    .map_or(name, |n| n.trim_end_matches(']')),
            );
            let is_name = !name.is_empty()
                && name
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
            (is_name || name.parse::<Ipv6Addr>().is_ok())
                .then_some(name)
                .ok_or("host names or IP addresses without ports, such as `data.example.org`")
        });
        names.collect::<Result<_, _>>().map(HostNames)
    }
}

impl fmt::Display for HostNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&joined(&self.0))
    }
}

impl FromStr for Origins {
    /// What is expected instead.
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "*" {
            return Ok(Origins::Any);
        }
        let expected =
            "`*`, or origins of scheme, host and port, such as `https://app.example.org`";
        let origins: Vec<String> = items(text)
            .map(|origin| normalized(origin).ok_or(expected))
            .collect::<Result<_, _>>()?;
        Ok(if origins.is_empty() {
            Origins::None
        } else {
            Origins::Listed(origins)
        })
    }
}

impl fmt::Display for Origins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origins::None => f.write_str("none"),
            Origins::Any => f.write_str("*"),
            Origins::Listed(origins) => f.write_str(&joined(origins)),
        }
    }
}

/// Splits a list at commas and semicolons.
fn items(text: &str) -> impl Iterator<Item = &str> {
    let text = if text == "none" { "" } else { text };
    text.split([',', ';'])
        .map(str::trim)
        .filter(|item| !item.is_empty())
}

fn joined(items: &[String]) -> String {
    match items {
        [] => "none".to_owned(),
        items => items.join(", "),
    }
}

/// Returns a host as it is compared: in lower case, without the dot of the root, and an address in
/// its shortest form.
fn plain(host: &str) -> String {
    let host = host.strip_suffix('.').unwrap_or(host);
    match host.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().to_string(),
        Err(_) => host.to_ascii_lowercase(),
    }
}

/// Returns an origin as browsers send it; `None` when it is not one.
fn normalized(origin: &str) -> Option<String> {
    let (scheme, authority) = origin.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_lowercase())
        && scheme
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    let is_authority = !authority.is_empty()
        && authority
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_.:[]".contains(&b));
    if !is_scheme || !is_authority {
        return None;
    }
    let authority = authority.to_ascii_lowercase();
    let default_port = match scheme.as_str() {
        "http" => ":80",
        "https" => ":443",
        _ => "",
    };
    let authority = authority.strip_suffix(default_port).unwrap_or(&authority);
    Some(format!("{scheme}://{authority}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_compare_without_case_root_and_notation() {
        let hosts = HostNames::from_str("Data.example.org, [::1]; 10.0.0.1").unwrap();
        assert_eq!(hosts.to_string(), "data.example.org, ::1, 10.0.0.1");
        for host in [
            "data.EXAMPLE.org",
            "data.example.org.",
            "0:0::1",
            "::ffff:10.0.0.1",
        ] {
            assert!(hosts.contains(host), "{host}");
        }
        assert!(!hosts.contains("example.org") && !hosts.contains("a.data.example.org"));
        for text in ["a.example:80", "http://a.example", "a/b", "*", "[::1]:80"] {
            assert!(HostNames::from_str(text).is_err(), "{text}");
        }
    }

    #[test]
    fn origins_compare_as_browsers_send_them() {
        let origins =
            Origins::from_str("https://App.example.org:443, http://localhost:3000").unwrap();
        assert_eq!(
            origins.to_string(),
            "https://app.example.org, http://localhost:3000"
        );
        assert!(origins.contains("https://app.example.org"));
        for other in ["http://app.example.org", "http://localhost", "null", ""] {
            assert!(!origins.contains(other), "{other}");
        }
        for text in [
            "app.example.org",
            "null",
            "https://a.example/",
            "https://",
            "*, http://a",
        ] {
            assert!(Origins::from_str(text).is_err(), "{text}");
        }
        assert!(Origins::from_str("*").unwrap().contains("null"));
        assert_eq!(Origins::from_str("none").unwrap(), Origins::None);
    }
}
