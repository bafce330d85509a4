//! The host and port that a request is addressed to, after RFC 9112, section 3.2.

use std::net::{IpAddr, Ipv6Addr};

use axum::http::header::HOST;
use axum::http::{Request, Version};
use graphql_http::HttpError;

use super::code;

/// A host with its port, if one is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Authority<'a> {
    /// A name, or an address; without brackets.
    pub(crate) host: &'a str,
    pub(crate) port: Option<u16>,
}

impl<'a> Authority<'a> {
    /// Reads `host`, `host:port` or `[address]:port`.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (address, port) = rest.split_once(']')?;
                address.parse::<Ipv6Addr>().ok()?;
                (address, port)
            }
            None => {
                let end = text.find(':').unwrap_or(text.len());
                let (host, port) = text.split_at(end);
                let is_fit = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
                if host.is_empty() || !host.bytes().all(is_fit) {
                    return None;
                }
                (host, port)
            }
        };
        let port = match port.strip_prefix(':') {
            None if port.is_empty() => None,
            None => return None,
            // The grammar lets digits be missing.
            Some("") => None,
            Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => {
                Some(digits.parse().ok()?)
            }
            Some(_) => return None,
        };
        Some(Authority { host, port })
    }

    /// Returns whether the name leads to the machine itself, whoever looks it up.
    pub(crate) fn is_loopback(&self) -> bool {
        let host = self.host.strip_suffix('.').unwrap_or(self.host);
        host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(is_loopback)
    }

    /// Returns whether two authorities are those of one server for URLs of `scheme`.
    pub(crate) fn is_same(&self, other: &Authority<'_>, scheme: &str) -> bool {
        let default = match scheme {
            "https" => Some(443),
            _ => Some(80),
        };
        self.host.eq_ignore_ascii_case(other.host)
            && self.port.or(default) == other.port.or(default)
    }
}

/// Returns whether an address is that of the machine itself.
pub(crate) fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// Returns all authorities that a request names: that of `Host`, and that of a target in absolute
/// form. None are named by HTTP/1.0 without `Host`.
///
/// Both count where both are there: something on the way may have gone by either.
pub(crate) fn authorities<B>(request: &Request<B>) -> Result<Vec<Authority<'_>>, HttpError> {
    let malformed = |message: &str| HttpError::new(code::HOST_MALFORMED, message);
    let mut hosts = request.headers().get_all(HOST).iter();
    let mut found = Vec::with_capacity(2);
    match (hosts.next(), hosts.next()) {
        (None, _) if request.version() < Version::HTTP_11 => {}
        (None, _) => return Err(malformed("the request has no `Host`")),
        (Some(_), Some(_)) => return Err(malformed("the request has several `Host` headers")),
        (Some(host), None) => {
            let authority = host.to_str().ok().and_then(Authority::parse);
            found.push(
                authority.ok_or_else(|| malformed("`Host` is not a host with an optional port"))?,
            );
        }
    }
    if let Some(target) = request.uri().authority() {
        let authority = Authority::parse(target.as_str());
        found.push(authority.ok_or_else(|| malformed("the target names no host with a port"))?);
    }
    Ok(found)
}

/// Returns the name of the host that a request is for, without its port.
#[must_use]
pub fn host_name<B>(request: &Request<B>) -> Option<String> {
    let named = request.uri().authority().map(|it| it.as_str());
    let header = || request.headers().get(HOST)?.to_str().ok();
    let authority = Authority::parse(named.or_else(header)?)?;
    Some(authority.host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_with_their_ports() {
        for (text, host, port) in [
            ("localhost", "localhost", None),
            ("a.example:80", "a.example", Some(80)),
            ("a_b-c.example.:", "a_b-c.example.", None),
            ("127.0.0.1:65535", "127.0.0.1", Some(65_535)),
            ("[::1]", "::1", None),
            ("[::1]:9995", "::1", Some(9_995)),
        ] {
            assert_eq!(
                Authority::parse(text),
                Some(Authority { host, port }),
                "{text}"
            );
        }
        for text in [
            "",
            ":80",
            "a b",
            "a:b",
            "a:65536",
            "a:+1",
            "a:1:2",
            "u@localhost",
            "localhost/",
            "::1",
            "[::1",
            "[::1]x",
            "[fe80::1%eth0]",
            "[127.0.0.1]",
            "local\u{212A}ost",
            "a,b",
        ] {
            assert_eq!(Authority::parse(text), None, "{text}");
        }
    }

    #[test]
    fn loopback_is_told_by_whole_names_and_addresses() {
        let is_loopback = |text| Authority::parse(text).unwrap().is_loopback();
        for text in [
            "localhost",
            "LocalHost.:1",
            "127.0.0.1",
            "127.255.0.9:80",
            "[::1]",
            "[::ffff:127.0.0.1]",
        ] {
            assert!(is_loopback(text), "{text}");
        }
        for text in [
            "localhost.example",
            "localhost..",
            "127.0.0.1.example",
            "127.1",
            "2130706433",
            "0x7f.0.0.1",
            "0.0.0.0",
            "[::]",
            "10.0.0.1",
        ] {
            assert!(!is_loopback(text), "{text}");
        }
    }

    #[test]
    fn a_default_port_is_the_same_as_none() {
        let same = |a, b, scheme| {
            let (a, b) = (Authority::parse(a).unwrap(), Authority::parse(b).unwrap());
            a.is_same(&b, scheme)
        };
        assert!(same("A.example", "a.example:80", "http"));
        assert!(same("a.example", "a.example:443", "https"));
        assert!(!same("a.example", "a.example:80", "https"));
        assert!(!same("a.example:1", "a.example:2", "http"));
    }
}
