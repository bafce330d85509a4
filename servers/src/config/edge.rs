//! Settings of the edge: one address in front of services.

use std::collections::BTreeMap;

use edge_service::{EdgeOptions, Rate, RouteAccess, UpstreamOptions};
use outbound::Addresses;
use service_config::Setting;
use service_runtime::{HostNames, Route, public_rows, state_rows};

use super::search::SearchPort;
use super::security::Switch;
use super::setting::{Automatic, Programs};

/// Port of `soml edge`, and of the edge of `soml serve`, where none is named.
pub(crate) const EDGE_PORT: u16 = 8000;

/// Settings of the edge (`edge.*`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EdgeSettings {
    /// Whether `soml serve` has one too (`edge.enabled`).
    pub enabled: Switch,
    /// Port of that of `soml serve` (`edge.port`).
    pub port: SearchPort,
    /// The routes by number (`edge.route.N.*`).
    pub routes: BTreeMap<u32, RouteSettings>,
    /// Requests from one address (`edge.rate.address`).
    pub address_rate: Option<Rate>,
    /// Requests of one caller (`edge.rate.caller`).
    pub caller_rate: Option<Rate>,
    /// Maximum size of the body of a request (`edge.maxBodyBytes`).
    pub max_body_bytes: usize,
    /// Maximum number of streams (`edge.maxStreams`).
    pub max_streams: Automatic,
    /// File of the certificate (`edge.tls.certificate`).
    pub certificate: Option<String>,
    /// File of its key (`edge.tls.key`).
    pub key: Option<String>,
    /// How servers behind the edge are asked (`edge.upstream.*`).
    pub upstream: UpstreamOptions,
}

/// Settings of one route of the edge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RouteSettings {
    /// The path at and below which it takes requests.
    pub path: Option<String>,
    /// The servers of the service that it leads to.
    pub addresses: Addresses,
    /// The hosts that it is for.
    pub hosts: HostNames,
    /// Its name.
    pub name: Option<String>,
    /// Whether the path is taken away.
    pub strips_path: bool,
    /// Who may use it.
    pub access: RouteAccess,
    /// What below it needs no token.
    pub public: PublicPaths,
    /// Whether a WebSocket may bring its token later.
    pub allows_late_token: bool,
    /// Whether the service is sent the `Host` of its own address.
    pub hides_host: bool,
    /// Requests of all callers together.
    pub rate: Option<Rate>,
    /// Where the health of its servers is told.
    pub health: HealthPath,
}

/// Where the health of servers is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum HealthPath {
    /// Where services of this project tell it.
    #[default]
    Usual,
    /// Nowhere: they are connected to.
    None,
    /// At a path.
    At(String),
}

/// What needs no token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicPaths(pub Vec<Route>);

impl Default for PublicPaths {
    fn default() -> Self {
        PublicPaths(state_rows())
    }
}

impl PublicPaths {
    /// Reads `states`, `pages` and paths.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        const EXPECTED: &str =
            "`states`, `pages`, or paths such as `/docs` or `/files/*`, separated by commas";
        if text == "none" {
            return Ok(PublicPaths(Vec::new()));
        }
        let mut rows = Vec::new();
        for part in text.split([',', ';']).map(str::trim) {
            match part {
                "" => {}
                "states" => rows.extend(state_rows()),
                "pages" => rows.extend(public_rows()),
                path => rows.push(public_path(path).ok_or(EXPECTED)?),
            }
        }
        let mut distinct: Vec<Route> = Vec::with_capacity(rows.len());
        for row in rows {
            if !distinct.contains(&row) {
                distinct.push(row);
            }
        }
        Ok(PublicPaths(distinct))
    }
}

/// Reads a path, at whose end `*` stands for everything below it.
fn public_path(path: &str) -> Option<Route> {
    let (plain, rest) = match path.strip_suffix("/*") {
        Some(plain) => (plain, "/{*rest}"),
        None => (path, ""),
    };
    let is_fit = |b: u8| b.is_ascii_graphic() && !b"{}*?#\\\"".contains(&b);
    let is_path = (plain.starts_with('/') || !rest.is_empty() && plain.is_empty())
        && !plain.contains("//")
        && plain.bytes().all(is_fit);
    is_path.then(|| Route::public_at(None, format!("{plain}{rest}")))
}

impl Default for EdgeSettings {
    fn default() -> Self {
        let options = EdgeOptions::default();
        EdgeSettings {
            enabled: Switch::Automatic,
            port: SearchPort(None),
            routes: BTreeMap::new(),
            address_rate: options.address_rate,
            caller_rate: options.caller_rate,
            max_body_bytes: options.max_body_bytes,
            max_streams: Automatic(None),
            certificate: None,
            key: None,
            upstream: options.upstream,
        }
    }
}

impl EdgeSettings {
    /// Returns the port of the edge of `soml serve`, beside an object service on the given one.
    #[must_use]
    pub fn port_beside(&self, port: u16) -> u16 {
        match (self.port.0, port) {
            (Some(port), _) => port,
            (None, 0) => 0,
            (None, _) => EDGE_PORT,
        }
    }

    /// Returns the routes that something is configured of.
    pub(crate) fn given(&self) -> impl Iterator<Item = (u32, &RouteSettings)> + Clone {
        let all = self.routes.iter().map(|(number, it)| (*number, it));
        all.filter(|(_, it)| **it != RouteSettings::default())
    }
}

impl Setting<Programs> for Option<Rate> {
    const TYPE: &'static str = "rate or `none`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "" | "none" => Ok(None),
            _ => text.parse().map(Some),
        }
    }

    fn show(&self) -> String {
        self.map_or_else(|| "none".to_owned(), |rate| rate.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_paths_are_words_or_paths() {
        let of = |text: &str| -> Vec<String> {
            let PublicPaths(rows) = PublicPaths::parse(text).unwrap();
            rows.iter().map(|row| row.path.to_string()).collect()
        };
        assert_eq!(of("/docs, /files/*; /docs"), ["/docs", "/files/{*rest}"]);
        assert_eq!(of("/*"), ["/{*rest}"]);
        assert!(of("states").contains(&"/__health".to_owned()));
        assert!(of("states, pages").len() == of("pages").len());
        assert!(of("pages").contains(&"/api/login".to_owned()));
        assert!(of("none").is_empty());
        for text in ["docs", "/a//b", "/{a}", "/a*", "/a?b", "page"] {
            assert!(PublicPaths::parse(text).is_err(), "{text}");
        }
    }
}
