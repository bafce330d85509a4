//! What a client sent that upstream services are sent too.

use std::fmt;

/// The names by which logs and traces are put together. No answer depends on them.
///
/// `baggage` is not among them: applications put into it what their services act on, such as a tenant or a switch for
/// a feature.
const CORRELATION: [&str; 3] = ["x-request-id", "traceparent", "tracestate"];

/// Names and values that are passed on to upstream services, such as headers with the client's credentials.
///
/// Whoever receives a request chooses them; a service passes them on as they are. Values are never shown by
/// `Debug`.
///
/// ```
/// use graphql_service::{Forwarded, RequestContext};
///
/// let forwarded = Forwarded::new([("authorization", "Bearer secret")]);
/// let context = RequestContext::new().with_forwarded(forwarded);
/// assert_eq!(context.forwarded.iter().next(), Some(("authorization", "Bearer secret")));
/// assert!(!format!("{context:?}").contains("secret"));
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Forwarded {
    entries: Vec<(String, String)>,
}

impl Forwarded {
    /// Creates a list of names with their values; a name may come several times.
    #[must_use]
    pub fn new<N: Into<String>, V: Into<String>>(
        entries: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let entries = entries.into_iter();
        Forwarded {
            entries: entries
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        }
    }

    /// Returns names and values in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let entries = self.entries.iter();
        entries.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns what an answer may depend on: all but the names by which logs and traces are put together
    /// (`CORRELATION`).
    pub(super) fn significant(&self) -> impl Iterator<Item = (&str, &str)> {
        self.iter().filter(|(name, _)| {
            let mut correlation = CORRELATION.iter();
            !correlation.any(|known| known.eq_ignore_ascii_case(name))
        })
    }
}

impl fmt::Debug for Forwarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.entries.iter().map(|(name, _)| name))
            .finish()
    }
}
