//! Proxies in front of a service, and what is believed of them.
//!
//! Anyone can send `X-Forwarded-*`. They are read only on connections from addresses that the operator lists.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use axum::http::{HeaderMap, HeaderName};
use ipnet::IpNet;

/// The header with the addresses that a request came by, the client first. Each proxy adds the one that it was asked by.
pub const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The header with the path below which a proxy shows a service.
pub const X_FORWARDED_PREFIX: HeaderName = HeaderName::from_static("x-forwarded-prefix");

/// Maximum number of hops that are followed.
const MAX_HOPS: usize = 32;

/// Maximum length of a prefix, in bytes.
const MAX_PREFIX: usize = 256;

/// The address that a request comes from, in the extensions of the request: that of the connection, or the one that a
/// trusted proxy names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientAddress(pub IpAddr);

/// The request came by a trusted proxy, whose `X-Forwarded-*` are believed. In the extensions of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BehindProxy;

/// The addresses and networks of proxies whose `X-Forwarded-For` and `X-Forwarded-Prefix` are believed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    /// Returns whether no proxy is trusted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether an address is that of a trusted proxy.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }

    /// Returns the address of the client of a request that came from `peer`: the nearest that is no trusted proxy.
    ///
    /// Where a trusted proxy names something else than an address, it is itself the client.
    #[must_use]
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        if !self.contains(peer) {
            return peer;
        }
        let lists: Vec<&str> = headers
            .get_all(X_FORWARDED_FOR)
            .iter()
            .map(|list| list.to_str().unwrap_or(""))
            .collect();
        let hops = lists.iter().rev().flat_map(|list| list.rsplit(','));
        let mut client = peer;
        for hop in hops.take(MAX_HOPS) {
            let Some(address) = address(hop.trim()) else {
                break;
            };
            client = address;
            if !self.contains(address) {
                break;
            }
        }
        client
    }
}

/// Returns the path below which a proxy shows a service, where it says one that can stand in a link.
pub(crate) fn prefix(headers: &HeaderMap) -> Option<&str> {
    let mut prefixes = headers.get_all(X_FORWARDED_PREFIX).iter();
    let (Some(prefix), None) = (prefixes.next(), prefixes.next()) else {
        return None;
    };
    let prefix = prefix.to_str().ok()?.trim_end_matches('/');
    let is_fit = |segment: &str| {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'~');
        !matches!(segment, "" | "." | "..") && segment.bytes().all(plain)
    };
    let segments = prefix.strip_prefix('/')?.split('/');
    (prefix.len() <= MAX_PREFIX && segments.into_iter().all(is_fit)).then_some(prefix)
}

/// Reads an address, which some proxies write with a port.
fn address(text: &str) -> Option<IpAddr> {
    let bracketed = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    let address = bracketed.unwrap_or(text).parse::<IpAddr>();
    let with_port = || text.parse::<SocketAddr>().map(|address| address.ip());
    let address = address.ok().or_else(|| with_port().ok())?;
    Some(address.to_canonical())
}

impl FromStr for TrustedProxies {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = if text == "none" { "" } else { text };
        let parts = text.split([',', ';']).map(str::trim);
        let networks = parts.filter(|part| !part.is_empty()).map(|part| {
            let network = part.parse::<IpNet>().map(|network| network.trunc());
            let single = || part.parse::<IpAddr>().map(|it| it.to_canonical().into());
            network
                .ok()
                .or_else(|| single().ok())
                .ok_or("IP addresses or networks, such as `10.0.0.7, 10.1.0.0/16`")
        });
        networks.collect::<Result<_, _>>().map(TrustedProxies)
    }
}

impl fmt::Display for TrustedProxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        for (index, network) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            if network.prefix_len() == network.max_prefix_len() {
                write!(f, "{comma}{}", network.addr())?;
            } else {
                write!(f, "{comma}{network}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn headers(name: HeaderName, values: &[&str]) -> HeaderMap {
        let entries = values.iter().map(|value| {
            let value = HeaderValue::from_str(value).unwrap();
            (name.clone(), value)
        });
        entries.collect()
    }

    #[test]
    fn the_client_is_the_nearest_address_that_is_no_trusted_proxy() {
        let proxies: TrustedProxies = "10.0.0.0/8, ::1".parse().unwrap();
        for (peer, lists, client) in [
            ("10.1.1.1", &["192.0.2.7"][..], "192.0.2.7"),
            ("10.1.1.1", &["192.0.2.7:4711"], "192.0.2.7"),
            ("10.1.1.1", &["[2001:db8::1]:80"], "2001:db8::1"),
            ("::ffff:10.1.1.1", &["192.0.2.7"], "192.0.2.7"),
            // What the client itself has written is before what the proxy has seen.
            ("10.1.1.1", &["198.51.100.1, 192.0.2.7"], "192.0.2.7"),
            (
                "10.1.1.1",
                &["198.51.100.1", "192.0.2.7, 10.2.2.2"],
                "192.0.2.7",
            ),
            ("10.1.1.1", &[], "10.1.1.1"),
            ("10.1.1.1", &["unknown"], "10.1.1.1"),
            ("10.1.1.1", &["192.0.2.7, unknown, 10.2.2.2"], "10.2.2.2"),
            ("10.1.1.1", &["10.3.3.3"], "10.3.3.3"),
            ("192.0.2.9", &["198.51.100.1"], "192.0.2.9"),
        ] {
            let headers = headers(X_FORWARDED_FOR, lists);
            let found = proxies.client(peer.parse().unwrap(), &headers);
            assert_eq!(found, client.parse::<IpAddr>().unwrap(), "{peer} {lists:?}");
        }
        let none = TrustedProxies::default();
        let headers = headers(X_FORWARDED_FOR, &["192.0.2.7"]);
        let peer = "127.0.0.1".parse().unwrap();
        assert_eq!(none.client(peer, &headers), peer);
    }

    #[test]
    fn a_prefix_is_a_plain_path() {
        let read = |value: &str| prefix(&headers(X_FORWARDED_PREFIX, &[value])).map(str::to_owned);
        assert_eq!(read("/graph/objects/"), Some("/graph/objects".to_owned()));
        for value in [
            "",
            "/",
            "objects",
            "//evil.example",
            "/a//b",
            "/a/../b",
            "/a b",
            "/a\"b",
            "/a%2f",
            "/a?b",
            "https://evil.example/",
            &format!("/{}", "a".repeat(MAX_PREFIX)),
        ] {
            assert_eq!(read(value), None, "{value}");
        }
        assert_eq!(prefix(&headers(X_FORWARDED_PREFIX, &["/a", "/b"])), None);
    }

    #[test]
    fn lists_are_read_as_they_are_shown() {
        let proxies: TrustedProxies = "10.0.0.1/8; ::ffff:10.0.0.7, 2001:db8::/32"
            .parse()
            .unwrap();
        assert_eq!(proxies.to_string(), "10.0.0.0/8, 10.0.0.7, 2001:db8::/32");
        assert_eq!(proxies.to_string().parse(), Ok(proxies));
        assert_eq!("none".parse(), Ok(TrustedProxies::default()));
        for text in ["proxy.example", "10.0.0.0/33", "10.0.0.1:80", "*"] {
            assert!(text.parse::<TrustedProxies>().is_err(), "{text}");
        }
    }
}
