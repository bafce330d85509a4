//! Types of the values in [`super::ConnectionOptions`], and their syntax.

use std::fmt;
use std::str::FromStr;

use reqwest::Url;

/// The addresses of a store: one server, or several that hold the same data, the main one first.
///
/// ```
/// use graph_store::remote::http::Addresses;
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

/// A set of HTTP status codes, such as `503`, `50x` or `5xx`.
///
/// ```
/// use graph_store::remote::http::HttpCodes;
///
/// let codes: HttpCodes = "429; 50x".parse().unwrap();
/// assert!(codes.contains(503) && !codes.contains(511));
/// assert_eq!(codes.to_string(), "429, 50x");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpCodes(Vec<(u16, u16)>);

impl HttpCodes {
    /// Returns whether `code` is in the set.
    #[must_use]
    pub fn contains(&self, code: u16) -> bool {
        self.0
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&code))
    }
}

impl FromStr for HttpCodes {
    type Err = &'static str;

    /// Parses codes and ranges separated by commas or semicolons; the error completes "expected …".
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split([',', ';']).map(str::trim);
        let ranges = parts.filter(|part| !part.is_empty()).map(codes);
        ranges.collect::<Result<_, _>>().map(HttpCodes)
    }
}

fn codes(text: &str) -> Result<(u16, u16), &'static str> {
    const EXPECTED: &str = "status codes from 400 to 599 or ranges such as `50x` and `5xx`";
    let lower = text.to_ascii_lowercase();
    let digits = lower.trim_end_matches('x');
    let open = u32::try_from(lower.len() - digits.len()).map_err(|_| EXPECTED)?;
    let plain = lower.len() == 3 && digits.bytes().all(|b| b.is_ascii_digit());
    if !plain || open > 2 {
        return Err(EXPECTED);
    }
    let size = 10_u16.pow(open);
    let first = digits.parse::<u16>().map_err(|_| EXPECTED)? * size;
    if !(400..600).contains(&first) {
        return Err(EXPECTED);
    }
    Ok((first, first + size - 1))
}

impl fmt::Display for HttpCodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (first, last)) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            match last - first {
                0 => write!(f, "{comma}{first}")?,
                9 => write!(f, "{comma}{}x", first / 10)?,
                _ => write!(f, "{comma}{}xx", first / 100)?,
            }
        }
        Ok(())
    }
}

/// A password or token; never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    /// Returns the secret, for what it is needed for; neither for logs nor for messages.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Configured kind of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerType {
    /// The kind is detected.
    #[default]
    Auto,
    /// It is of this kind.
    Known(ServerKind),
}

/// A kind of server; determines the protocol parameters and the dialect of queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServerKind {
    /// RDF4J Server, and other servers of its protocol.
    Rdf4j,
    /// GraphDB, which extends RDF4J's protocol.
    GraphDb,
    /// Apache Jena Fuseki.
    Fuseki,
    /// Any other endpoint of the SPARQL 1.1 Protocol.
    Sparql11,
}

impl ServerKind {
    /// Returns the name used in the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ServerKind::Rdf4j => "rdf4j",
            ServerKind::GraphDb => "graphdb",
            ServerKind::Fuseki => "fuseki",
            ServerKind::Sparql11 => "sparql11",
        }
    }
}

impl ServerType {
    /// Returns the name used in the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ServerType::Auto => "auto",
            ServerType::Known(kind) => kind.as_str(),
        }
    }
}

impl FromStr for ServerType {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "auto" => ServerType::Auto,
            "rdf4j" => ServerType::Known(ServerKind::Rdf4j),
            "graphdb" => ServerType::Known(ServerKind::GraphDb),
            "fuseki" => ServerType::Known(ServerKind::Fuseki),
            "sparql11" => ServerType::Known(ServerKind::Sparql11),
            _ => return Err("`auto`, `rdf4j`, `graphdb`, `fuseki` or `sparql11`"),
        })
    }
}

/// The requested format of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResultFormat {
    /// JSON, whose end is marked: a truncated result is always detected.
    #[default]
    Json,
    /// Tab-separated values: smaller and faster to parse. Only for servers that break the
    /// connection when a query fails midway; one that ends the response properly all the same, as
    /// RDF4J 3.7 and Fuseki 6.1 do when a query times out, makes a truncated list look complete.
    Tsv,
}

impl ResultFormat {
    /// Returns the name used in the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ResultFormat::Json => "json",
            ResultFormat::Tsv => "tsv",
        }
    }
}

impl FromStr for ResultFormat {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "json" => Ok(ResultFormat::Json),
            "tsv" => Ok(ResultFormat::Tsv),
            _ => Err("`json` or `tsv`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_single_or_ranges() {
        let codes: HttpCodes = "503, 41x;5XX".parse().unwrap();
        for code in [503, 410, 419, 500, 599] {
            assert!(codes.contains(code), "{code}");
        }
        for code in [409, 420, 499, 600] {
            assert!(!codes.contains(code), "{code}");
        }
        assert_eq!(codes.to_string().parse(), Ok(codes));
        assert_eq!("".parse(), Ok(HttpCodes::default()));
        for wrong in ["xxx", "5x3", "50", "5033", "200", "abc", "-50", "7xx"] {
            assert!(wrong.parse::<HttpCodes>().is_err(), "{wrong}");
        }
    }

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
    fn secrets_are_not_shown() {
        assert_eq!(format!("{:?}", Secret::new("hidden")), "***");
    }
}
