//! The names of headers that subgraphs are sent (`forward.headers`), and which ones cannot be.

use reqwest::header::HeaderName;
use service_config::Setting;

use super::setting::Programs;

/// Names of headers, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderNames(pub Vec<HeaderName>);

/// Headers that requests to subgraphs do not take over from those of clients, with what is expected instead.
macro_rules! not_forwarded {
    ($($why:literal: $($name:literal)*;)*) => {
        &[$($((
            $name,
            concat!("names of headers without `", $name, "`: ", $why),
        ),)*)*]
    };
}

const NOT_FORWARDED: &[(&str, &str)] = not_forwarded! {
    "it belongs to one connection, and subgraphs have connections of their own":
        "Connection" "HTTP2-Settings" "Keep-Alive" "Proxy-Authenticate" "Proxy-Authorization" "Proxy-Connection"
        "TE" "Trailer" "Transfer-Encoding" "Upgrade";
    "it describes the body of a request, and subgraphs are sent other bodies":
        "Content-Encoding" "Content-Length" "Content-Type" "Expect";
    "it names the host that is called, which differs for each subgraph":
        "Host";
    "the gateway itself chooses which responses of subgraphs it accepts":
        "Accept" "Accept-Encoding";
    "it belongs to the handshake of one WebSocket":
        "Sec-WebSocket-Accept" "Sec-WebSocket-Extensions" "Sec-WebSocket-Key" "Sec-WebSocket-Protocol"
        "Sec-WebSocket-Version";
};

impl Setting<Programs> for HeaderNames {
    const TYPE: &'static str = "names of headers or `none`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        let text = if text == "none" { "" } else { text };
        let mut names: Vec<HeaderName> = Vec::new();
        for name in text.split(',').map(str::trim).filter(|it| !it.is_empty()) {
            let name: HeaderName = name
                .parse()
                .map_err(|_| "names of headers, separated by commas")?;
            let mut refused = NOT_FORWARDED.iter();
            if let Some((_, expected)) = refused.find(|(it, _)| name == *it) {
                return Err(expected);
            }
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Ok(HeaderNames(names))
    }

    fn show(&self) -> String {
        match self.0.as_slice() {
            [] => "none".to_owned(),
            names => {
                let names: Vec<_> = names.iter().map(HeaderName::as_str).collect();
                names.join(", ")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use federation::transport::http::{OF_THE_CONNECTION, OF_THE_TRANSPORT};

    use super::*;

    #[test]
    fn names_of_headers_are_trimmed_and_each_is_there_once() {
        let names = HeaderNames::parse(" Authorization ,X-Tenant,, authorization").unwrap();
        assert_eq!(names.show(), "authorization, x-tenant");
        assert!(HeaderNames::parse("a b").is_err());
        assert!(HeaderNames::parse("none").unwrap().0.is_empty());
    }

    #[test]
    fn every_header_that_is_not_passed_on_is_refused_by_its_name_with_the_reason() {
        let known: Vec<_> = NOT_FORWARDED.iter().map(|(name, _)| *name).collect();
        for name in OF_THE_CONNECTION.iter().chain(&OF_THE_TRANSPORT) {
            let known = known.iter().any(|it| it.eq_ignore_ascii_case(name));
            assert!(known, "{name}: the transport leaves it out");
        }
        for name in known {
            for written in [name.to_owned(), name.to_ascii_uppercase()] {
                let text = format!("X-Tenant, {written}");
                let expected = HeaderNames::parse(&text).unwrap_err();
                let why = expected.strip_prefix(&format!("names of headers without `{name}`: "));
                assert!(!why.unwrap().is_empty(), "{expected}");
            }
        }
    }
}
