//! The properties that each subgraph of a gateway has: `graphql.service.N` and those below it.

use federation::transport::http::SubscriptionSource;
use reqwest::Url;

use super::settings::Settings;
use super::table::normalized;
use crate::gateway::{endpoint, is_plain};

/// A part of what is configured of a subgraph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Address,
    GoodToGo,
    Health,
    Name,
    Subscriptions,
}

/// The name of a property of one subgraph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SubgraphProperty {
    number: u32,
    part: Part,
}

/// The properties that each subgraph has: the end of the name, the type and the meaning.
pub(super) const SUBGRAPH_PROPERTIES: [(&str, &str, &str); 5] = [
    (
        "",
        "address",
        "Address of the GraphQL endpoint of a subgraph. Numbers begin at 0 and may have gaps. With \
         `gateway.supergraph.file`, it takes the place of the address in the file.",
    ),
    (
        ".gtg",
        "address",
        "Address of its good-to-go check; without one, the subgraph counts as good to go.",
    ),
    (
        ".health",
        "address",
        "Address of its health record; without one, a record is made of whether it answers `{ __typename }`.",
    ),
    (
        ".name",
        "string",
        "Its name, as `@override(from:)` and errors use it; by default `service_N`. With `gateway.supergraph.file`, it \
         says which subgraph of the file the properties of this number are about.",
    ),
    (
        ".subscriptions",
        "`sse`, `ws` or address",
        "How its subscriptions are reached: as server-sent events (`sse`, the default) or by the protocol \
         `graphql-transport-ws` over WebSockets (`ws`), at the same address or at the one that is given.",
    ),
];

impl Part {
    /// Returns the end of the name of the property.
    fn end(self) -> &'static str {
        match self {
            Part::Address => "",
            Part::GoodToGo => ".gtg",
            Part::Health => ".health",
            Part::Name => ".name",
            Part::Subscriptions => ".subscriptions",
        }
    }
}

impl SubgraphProperty {
    /// Finds the property called `name`, ignoring case and punctuation.
    pub(super) fn find(name: &str) -> Option<Self> {
        let wanted = normalized(name);
        let rest = wanted.strip_prefix("graphqlservice")?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number = rest[..digits].parse().ok()?;
        let part = match &rest[digits..] {
            "" | "url" => Part::Address,
            "gtg" => Part::GoodToGo,
            "health" => Part::Health,
            "name" => Part::Name,
            "subscriptions" => Part::Subscriptions,
            _ => return None,
        };
        Some(SubgraphProperty { number, part })
    }

    /// Returns the name as it is documented.
    pub(super) fn key(self) -> String {
        format!("graphql.service.{}{}", self.number, self.part.end())
    }

    /// Returns the type and the meaning.
    pub(super) fn described(self) -> (&'static str, &'static str) {
        let mut properties = SUBGRAPH_PROPERTIES.iter();
        let found = properties.find(|(end, ..)| *end == self.part.end());
        let (_, kind, meaning) = found.expect("each part is in the table");
        (kind, meaning)
    }

    /// Sets the value; the error says what was expected.
    pub(super) fn set(self, settings: &mut Settings, text: &str) -> Result<(), &'static str> {
        let subgraph = settings.gateway.subgraphs.entry(self.number).or_default();
        match self.part {
            Part::Address => subgraph.address = address(text)?,
            Part::GoodToGo => subgraph.good_to_go = address(text)?,
            Part::Health => subgraph.health = address(text)?,
            Part::Name => subgraph.name = name(text)?,
            Part::Subscriptions => subgraph.subscriptions = subscriptions(text)?,
        }
        Ok(())
    }
}

fn address(text: &str) -> Result<Option<Url>, &'static str> {
    if matches!(text, "" | "none") {
        return Ok(None);
    }
    endpoint(text).map(Some)
}

fn subscriptions(text: &str) -> Result<SubscriptionSource, &'static str> {
    let expected = "`sse`, `ws`, or an address that begins with http://, https://, ws:// or wss://, without user and \
                    fragment";
    if matches!(text, "" | "none") {
        return Ok(SubscriptionSource::default());
    }
    let source: SubscriptionSource = text.parse().map_err(|_| expected)?;
    match &source {
        SubscriptionSource::WebSocketAt(url) | SubscriptionSource::ServerSentEventsAt(url)
            if !is_plain(url) =>
        {
            Err(expected)
        }
        _ => Ok(source),
    }
}

fn name(text: &str) -> Result<Option<String>, &'static str> {
    let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic());
    match text {
        "" => Ok(None),
        _ if begins && text.chars().all(is_fit) => Ok(Some(text.to_owned())),
        _ => Err("a letter, and then letters, digits, `-`, `_` and `.`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_of_subgraphs_are_found_by_number_and_end() {
        let found = |name| SubgraphProperty::find(name).map(SubgraphProperty::key);
        assert_eq!(found("GRAPHQL_SERVICE_0").unwrap(), "graphql.service.0");
        assert_eq!(
            found("GRAPHQL_SERVICE_12_GTG").unwrap(),
            "graphql.service.12.gtg"
        );
        assert_eq!(
            found("graphql.service.3.health").unwrap(),
            "graphql.service.3.health"
        );
        assert_eq!(found("graphql.service.3.url").unwrap(), "graphql.service.3");
        for name in [
            "GRAPHQL_SERVICE_HOST",
            "GRAPHQL_SERVICE_PORT_80_TCP",
            "GRAPHQL_SERVICE_",
            "GRAPHQL_SERVICE_1_OTHER",
            "GRAPHQL_SERVICE_99999999999",
        ] {
            assert_eq!(found(name), None, "{name}");
        }
    }

    #[test]
    fn malformed_values_of_subgraphs_are_refused() {
        for text in [
            "ftp://a",
            "localhost:9995",
            "http://u:p@a/",
            "http://a/#x",
            "/graphql",
        ] {
            assert!(address(text).is_err(), "{text}");
        }
        assert!(address("http://a:1/graphql?x=1").is_ok());
        for text in ["ftp://a", "sockets", "ws://u:p@a/", "wss://a/#x"] {
            assert!(subscriptions(text).is_err(), "{text}");
        }
        for text in ["sse", "ws", "wss://a/x", "http://a:1/stream"] {
            assert!(subscriptions(text).is_ok(), "{text}");
        }
        for text in ["_", "1a", "a b", "a/b"] {
            assert!(name(text).is_err(), "{text}");
        }
    }
}
