//! The context of a trace in headers, as W3C Trace Context has it: that of the caller, and that for subgraphs.

use axum::http::{HeaderMap, HeaderName};
use graphql_service::Forwarded;
use opentelemetry::Context;
use opentelemetry::propagation::{Extractor, Injector, TextMapPropagator};
use opentelemetry_sdk::propagation::TraceContextPropagator;

const PARENT: HeaderName = HeaderName::from_static("traceparent");
const STATE: HeaderName = HeaderName::from_static("tracestate");

/// Length of `traceparent` in the version that is known.
const LENGTH: usize = 55;

/// Bytes of `tracestate` that are passed on, and that spans hold.
const MAX_STATE: usize = 512;

/// Returns the context that a caller has sent along. What is not well-formed is as good as nothing.
pub(super) fn of_caller(headers: &HeaderMap) -> Context {
    let mut parents = headers.get_all(PARENT).iter();
    let (parent, None) = (parents.next(), parents.next()) else {
        return Context::new();
    };
    let parent = parent.and_then(|value| value.to_str().ok());
    let Some(parent) = parent.filter(|text| is_well_formed(text)) else {
        return Context::new();
    };
    let caller = Caller {
        parent,
        state: state(headers),
    };
    TraceContextPropagator::new().extract_with_context(&Context::new(), &caller)
}

/// Returns what a subgraph is sent along: what is forwarded, with the context of a span in place of any other.
pub(super) fn forwarded(forwarded: &Forwarded, context: &Context) -> Forwarded {
    let is_other = |name: &str| {
        !name.eq_ignore_ascii_case(PARENT.as_str()) && !name.eq_ignore_ascii_case(STATE.as_str())
    };
    let others = forwarded.iter().filter(|(name, _)| is_other(name));
    let others = others.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let mut entries = Entries(others.collect());
    TraceContextPropagator::new().inject_context(context, &mut entries);
    Forwarded::new(entries.0)
}

/// Returns the list in `tracestate`, which may be in several headers: as many of the first members as may be kept, which
/// are the newest.
fn state(headers: &HeaderMap) -> String {
    let lists = headers.get_all(STATE).iter();
    let lists: Result<Vec<&str>, _> = lists.map(|value| value.to_str()).collect();
    let lists = lists.unwrap_or_default();
    let mut state = String::new();
    for member in lists.iter().flat_map(|list| list.split(',')) {
        let member = member.trim();
        if member.is_empty() {
            continue;
        }
        if state.len() + 1 + member.len() > MAX_STATE {
            break;
        }
        if !state.is_empty() {
            state.push(',');
        }
        state.push_str(member);
    }
    state
}

/// Tells whether a text has the form of `traceparent`. Later versions may have more after what is known.
fn is_well_formed(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_hex = |bytes: &[u8]| {
        let mut bytes = bytes.iter();
        bytes.all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    if bytes.len() < LENGTH || bytes[2] != b'-' || bytes[35] != b'-' || bytes[52] != b'-' {
        return false;
    }
    let (version, rest) = (&bytes[..2], &bytes[LENGTH..]);
    let is_complete = rest.is_empty() || (version != b"00" && rest[0] == b'-');
    is_complete
        && version != b"ff"
        && is_hex(version)
        && is_hex(&bytes[3..35])
        && is_hex(&bytes[36..52])
        && is_hex(&bytes[53..LENGTH])
}

/// The headers of a caller.
struct Caller<'h> {
    parent: &'h str,
    state: String,
}

impl Extractor for Caller<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        match key {
            "traceparent" => Some(self.parent),
            "tracestate" => Some(&self.state),
            _ => None,
        }
    }

    fn keys(&self) -> Vec<&str> {
        vec!["traceparent", "tracestate"]
    }
}

/// Headers for a subgraph.
struct Entries(Vec<(String, String)>);

impl Injector for Entries {
    fn set(&mut self, key: &str, value: String) {
        if !value.is_empty() {
            self.0.push((key.to_owned(), value));
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use opentelemetry::trace::TraceContextExt;

    use super::*;

    const VALID: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn headers(entries: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in entries {
            headers.append(*name, HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    fn sent_on(entries: &[(&'static str, &str)]) -> Vec<(String, String)> {
        let context = of_caller(&headers(entries));
        let given = [("authorization", "a"), ("TraceParent", "other")];
        let sent = forwarded(&Forwarded::new(given), &context);
        let sent = sent.iter();
        sent.map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    #[test]
    fn a_context_is_taken_with_its_state_and_written_as_it_was() {
        let states = [
            ("traceparent", VALID),
            ("tracestate", "a=1 , b=2"),
            ("tracestate", "c=3"),
        ];
        let expected = [
            ("authorization", "a"),
            ("traceparent", VALID),
            ("tracestate", "a=1,b=2,c=3"),
        ];
        let sent = sent_on(&states);
        let sent: Vec<_> = sent.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(sent, expected);
    }

    #[test]
    fn a_state_that_is_not_valid_is_dropped_and_the_parent_kept() {
        let sent = sent_on(&[("traceparent", VALID), ("tracestate", "no list")]);
        let names: Vec<_> = sent.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["authorization", "traceparent"]);
    }

    #[test]
    fn of_a_long_state_the_first_members_are_kept() {
        let member = |key: char| format!("{key}={}", "x".repeat(200));
        let states = [member('a'), format!("{},{}", member('b'), member('c'))];
        let sent = sent_on(&[
            ("traceparent", VALID),
            ("tracestate", &states[0]),
            ("tracestate", &states[1]),
        ]);
        let expected = format!("{},{}", member('a'), member('b'));
        assert_eq!(sent[2], ("tracestate".to_owned(), expected));
    }

    #[test]
    fn what_is_not_well_formed_is_as_good_as_nothing() {
        let id = "4bf92f3577b34da6a3ce929d0e0e4736";
        for parent in [
            String::new(),
            "00".to_owned(),
            format!("00-{id}-00f067aa0ba902b7"),
            format!("00-{id}-00f067aa0ba902b7-01-"),
            format!("00-{id}-00f067aa0ba902b7-01-more"),
            format!("ff-{id}-00f067aa0ba902b7-01"),
            format!("0-{id}0-00f067aa0ba902b7-01"),
            format!("+0-{id}-00f067aa0ba902b7-01"),
            format!("00-{}-00f067aa0ba902b7-01", id.to_uppercase()),
            format!("00-{}-00f067aa0ba902b7-01", "0".repeat(32)),
            format!("00-{id}-0000000000000000-01"),
            format!("00-{id}-00f067aa0ba902b7-0g"),
            format!("00_{id}_00f067aa0ba902b7_01"),
            format!("01-{id}-00f067aa0ba902b7-01more"),
        ] {
            let context = of_caller(&headers(&[("traceparent", &parent)]));
            assert!(!context.span().span_context().is_valid(), "{parent}");
        }
        let twice = headers(&[("traceparent", VALID), ("traceparent", VALID)]);
        assert!(!of_caller(&twice).span().span_context().is_valid());
        let later = format!("01{}-more", &VALID[2..]);
        let context = of_caller(&headers(&[("traceparent", &later)]));
        assert!(
            context.span().span_context().is_sampled(),
            "a later version"
        );
    }
}
