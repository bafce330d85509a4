//! The properties that each subgraph of a gateway has: `graphql.service.N` and those below it.

use federation::transport::http::SubscriptionSource;
use gateway_service::{SubgraphOptions, endpoint, is_plain};
use reqwest::Url;
use service_config::{Numbered, Part};

use super::settings::Settings;

/// The properties that each subgraph of a gateway has.
pub(super) const SUBGRAPHS: Numbered<Settings> = Numbered {
    family: "graphql.service.",
    parts: &[
        Part {
            end: "",
            other_end: Some(".url"),
            kind: "address",
            doc: "Address of the GraphQL endpoint of a subgraph. Numbers begin at 0 and may have gaps. With \
         `gateway.supergraph.file`, it replaces the address in the file.",
            set: |settings, number, text| {
                subgraph(settings, number).address = address(text)?;
                Ok(())
            },
        },
        Part {
            end: ".gtg",
            other_end: None,
            kind: "address",
            doc: "Address of the subgraph's good-to-go check; without one, the subgraph counts as good to go.",
            set: |settings, number, text| {
                subgraph(settings, number).good_to_go = address(text)?;
                Ok(())
            },
        },
        Part {
            end: ".health",
            other_end: None,
            kind: "address",
            doc: "Address of the subgraph's health record; without one, the gateway probes the subgraph \
         with `{ __typename }`.",
            set: |settings, number, text| {
                subgraph(settings, number).health = address(text)?;
                Ok(())
            },
        },
        Part {
            end: ".name",
            other_end: None,
            kind: "string",
            doc: "Name of the subgraph in `@override(from:)` and in errors; by default `service_N`. With \
         `gateway.supergraph.file`, it selects the subgraph of the file that the properties of this number apply to.",
            set: |settings, number, text| {
                subgraph(settings, number).name = name(text)?;
                Ok(())
            },
        },
        Part {
            end: ".subscriptions",
            other_end: None,
            kind: "`sse`, `ws` or address",
            doc: "Protocol of the subgraph's subscriptions: server-sent events (`sse`, the default) or \
         `graphql-transport-ws` over WebSockets (`ws`), at the same address or at the given one.",
            set: |settings, number, text| {
                subgraph(settings, number).subscriptions = subscriptions(text)?;
                Ok(())
            },
        },
    ],
};

fn subgraph(settings: &mut Settings, number: u32) -> &mut SubgraphOptions {
    settings.gateway.subgraphs.entry(number).or_default()
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
    use crate::config::CATALOGUE;

    #[test]
    fn properties_of_subgraphs_are_found_by_number_and_end() {
        let said = |name: &str| CATALOGUE.described(&Settings::default(), name);
        for (name, key) in [
            ("GRAPHQL_SERVICE_0", "graphql.service.0 "),
            ("GRAPHQL_SERVICE_12_GTG", "graphql.service.12.gtg "),
            ("graphql.service.3.health", "graphql.service.3.health "),
            ("graphql.service.3.url", "graphql.service.3 "),
        ] {
            assert!(said(name).unwrap().starts_with(key), "{name}");
        }
        for name in [
            "GRAPHQL_SERVICE_HOST",
            "GRAPHQL_SERVICE_PORT_80_TCP",
            "GRAPHQL_SERVICE_",
            "GRAPHQL_SERVICE_1_OTHER",
            "GRAPHQL_SERVICE_99999999999",
        ] {
            assert_eq!(said(name), None, "{name}");
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
