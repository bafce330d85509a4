//! What is asked of others: databases, search engines, subgraphs.

use std::borrow::Cow;
use std::time::Instant;

use http::{Method, Uri};

use crate::server::method_name;
use crate::table::{CLIENT_DURATION, DB_DURATION, OTHER};

/// A server that is asked, by its address: whatever else is in an address, such as a password, is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    host: String,
    port: String,
}

impl Peer {
    /// Takes host and port of an address.
    #[must_use]
    pub fn new(host: impl Into<String>, port: u16) -> Self {
        Peer {
            host: host.into(),
            port: port.to_string(),
        }
    }

    /// Takes host and port of a URL of HTTP; those of anything else are unknown.
    #[must_use]
    pub fn of_url(url: &str) -> Self {
        let uri = url.parse::<Uri>().unwrap_or_default();
        let default = match uri.scheme_str() {
            Some("https") => "443",
            Some(_) => "80",
            None => "",
        };
        let port = uri.port().map(|port| port.as_str().to_owned());
        Peer {
            host: uri.host().unwrap_or(OTHER).to_owned(),
            port: port.unwrap_or_else(|| default.to_owned()),
        }
    }

    /// Begins a request to a database or a search engine.
    #[must_use]
    pub fn operation(&self, system: &'static str, operation: &'static str) -> Call {
        Call::begin(Asked::Database { system, operation }, self)
    }

    /// Begins a request to another HTTP server.
    #[must_use]
    pub fn request(&self, method: &Method) -> Call {
        Call::begin(Asked::Http(method_name(method)), self)
    }
}

#[derive(Debug)]
enum Asked {
    Database {
        system: &'static str,
        operation: &'static str,
    },
    Http(&'static str),
}

/// A request to another server, which is recorded when this is dropped: as cancelled, unless it is said before how it ended.
#[derive(Debug)]
pub struct Call {
    asked: Asked,
    peer: Peer,
    begun: Instant,
    /// Empty for success.
    error: Cow<'static, str>,
}

impl Call {
    fn begin(asked: Asked, peer: &Peer) -> Self {
        Call {
            asked,
            peer: peer.clone(),
            begun: Instant::now(),
            error: Cow::Borrowed("cancelled"),
        }
    }

    /// Notes that all is well so far.
    pub fn succeed(&mut self) {
        self.error = Cow::Borrowed("");
    }

    /// Notes why it failed: one of a few words.
    pub fn fail(&mut self, error: &'static str) {
        self.error = Cow::Borrowed(error);
    }

    /// Notes the status of an unsuccessful response.
    pub fn refuse(&mut self, status: u16) {
        self.error = Cow::Owned(status.to_string());
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let (host, port) = (self.peer.host.clone(), self.peer.port.clone());
        let error = std::mem::take(&mut self.error);
        let histogram = match self.asked {
            Asked::Database { system, operation } => DB_DURATION.histogram([
                system.into(),
                operation.into(),
                host.into(),
                port.into(),
                error.into(),
            ]),
            Asked::Http(method) => {
                CLIENT_DURATION.histogram([method.into(), host.into(), port.into(), error.into()])
            }
        };
        histogram.record(self.begun.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_host_and_port_is_taken_of_an_address() {
        let peer = |url| Peer::of_url(url);
        let address = "http://user:secret@store.example:7200/repositories/x?y";
        assert_eq!(peer(address), Peer::new("store.example", 7200));
        assert_eq!(
            peer("https://store.example/"),
            Peer::new("store.example", 443)
        );
        assert_eq!(peer("http://[::1]:80"), Peer::new("[::1]", 80));
        assert_eq!(peer("nonsense of a user").host, OTHER);
    }
}
