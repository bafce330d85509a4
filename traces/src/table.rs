//! The table of all spans, which the documentation is made from.

/// What OpenTelemetry calls the kind of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpanKind {
    /// A request that is answered.
    Server,
    /// A request that is sent.
    Client,
    /// Work within the process.
    Internal,
}

/// A span that a request can leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpanRow {
    /// What stands for one of them.
    pub what: &'static str,
    /// Its name, with attributes in braces.
    pub name: &'static str,
    /// Its kinds.
    pub kinds: &'static [SpanKind],
    /// The span that it is below, as [`SpanRow::what`] has it.
    pub parent: &'static str,
    /// Its attributes, those of the semantic conventions and those that begin with `graphql.subgraph.`.
    pub attributes: &'static [&'static str],
}

/// All spans.
pub const SPANS: &[SpanRow] = &[
    SERVER, OPERATION, PLAN, SUBGRAPH, STORE, ENGINE, SEARCH, CLIENT,
];

pub(crate) const SERVER: SpanRow = SpanRow {
    what: "request to a service",
    name: "{http.request.method} {http.route}",
    kinds: &[SpanKind::Server],
    parent: "the caller's span in `traceparent`, if there is one",
    attributes: &[
        "http.request.method",
        "url.scheme",
        "url.path",
        "http.route",
        "http.response.status_code",
        "error.type",
    ],
};

pub(crate) const OPERATION: SpanRow = SpanRow {
    what: "GraphQL operation",
    name: "{graphql.operation.type} {graphql.operation.name}",
    kinds: &[SpanKind::Internal],
    parent: "request to a service, or request to a subgraph of the same process",
    attributes: &["graphql.operation.type", "graphql.operation.name"],
};

pub(crate) const PLAN: SpanRow = SpanRow {
    what: "planning, where the plan is not cached",
    name: "plan",
    kinds: &[SpanKind::Internal],
    parent: "GraphQL operation",
    attributes: &[],
};

pub(crate) const SUBGRAPH: SpanRow = SpanRow {
    what: "request to a subgraph",
    name: "subgraph {graphql.subgraph.name}",
    kinds: &[SpanKind::Client, SpanKind::Internal],
    parent: "GraphQL operation",
    attributes: &[
        "graphql.subgraph.name",
        "graphql.subgraph.representations",
        "graphql.subgraph.joined",
        "graphql.operation.type",
        "http.request.method",
        "http.request.body.size",
        "server.address",
        "server.port",
        "http.response.status_code",
        "http.response.body.size",
        "error.type",
    ],
};

pub(crate) const STORE: SpanRow = SpanRow {
    what: "request to a triple store",
    name: "{db.operation.name} {server.address}:{server.port}",
    kinds: &[SpanKind::Client],
    parent: "GraphQL operation",
    attributes: &[
        "db.system.name",
        "db.operation.name",
        "http.request.method",
        "server.address",
        "server.port",
        "http.response.status_code",
        "error.type",
    ],
};

pub(crate) const ENGINE: SpanRow = SpanRow {
    what: "request to a search engine",
    name: "{db.operation.name} {db.collection.name}",
    kinds: &[SpanKind::Client],
    parent: "GraphQL operation",
    attributes: &[
        "db.system.name",
        "db.operation.name",
        "db.collection.name",
        "http.request.method",
        "server.address",
        "server.port",
        "http.response.status_code",
        "error.type",
    ],
};

pub(crate) const SEARCH: SpanRow = SpanRow {
    what: "search in the embedded engine",
    name: "{db.operation.name} {db.collection.name}",
    kinds: &[SpanKind::Internal],
    parent: "GraphQL operation",
    attributes: &["db.system.name", "db.operation.name", "db.collection.name"],
};

pub(crate) const CLIENT: SpanRow = SpanRow {
    what: "request to another server: of the edge to a service, or for keys of tokens",
    name: "{http.request.method}",
    kinds: &[SpanKind::Client],
    parent: "request to a service",
    attributes: &[
        "http.request.method",
        "server.address",
        "server.port",
        "http.response.status_code",
        "error.type",
    ],
};

#[cfg(all(test, feature = "http"))]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::{Arc, Mutex};

    use http::{HeaderMap, Method};
    use tracing::Span;
    use tracing::span::{Attributes, Id};
    use tracing_subscriber::filter::LevelFilter;
    use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
    use tracing_subscriber::registry::LookupSpan;

    use super::*;
    use crate::{Exchange, Peer, Subgraph, TARGET, operation, plan, search};

    /// The fields of spans, by their names.
    #[derive(Clone, Default)]
    struct Seen(Arc<Mutex<BTreeMap<&'static str, Vec<&'static str>>>>);

    impl<S: tracing::Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Seen {
        fn on_new_span(&self, span: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
            let metadata = span.metadata();
            assert_eq!(metadata.target(), TARGET);
            let fields = metadata
                .fields()
                .iter()
                .map(|field| field.name())
                .filter(|name| !name.starts_with("otel."));
            let mut seen = self.0.lock().expect("nobody panics");
            seen.insert(metadata.name(), fields.collect());
        }
    }

    #[test]
    fn spans_have_the_attributes_of_the_table() {
        let seen = Seen::default();
        let subscriber = tracing_subscriber::registry().with(seen.clone());
        tracing::subscriber::with_default(subscriber, || {
            let request = Exchange::server(&Method::GET, "http", "/", &HeaderMap::new());
            let parent = request.span();
            let peer = Peer {
                address: "localhost",
                port: None,
            };
            let subgraph = Subgraph {
                name: "a",
                operation_type: "query",
                body_size: 1,
                representations: 0,
                joined: None,
            };
            let _ = (operation(parent), plan(parent));
            let _ = search(parent, "tantivy", "search", "films");
            let _ = Exchange::client(parent, &Method::GET, peer);
            let _ = Exchange::store(parent, "rdf4j", "query", &Method::GET, peer);
            let _ = Exchange::engine(parent, "search", "films", &Method::GET, peer);
            let _ = Exchange::subgraph(parent, &subgraph, Some(peer));
        });
        let expected = [
            ("HTTP request", SERVER),
            ("GraphQL operation", OPERATION),
            ("plan", PLAN),
            ("subgraph", SUBGRAPH),
            ("triple store", STORE),
            ("search engine", ENGINE),
            ("search", SEARCH),
            ("HTTP client request", CLIENT),
        ];
        assert_eq!(expected.len(), SPANS.len());
        let expected = expected.map(|(name, row)| (name, row.attributes.to_vec()));
        assert_eq!(*seen.0.lock().unwrap(), BTreeMap::from(expected));
    }

    #[test]
    fn without_anybody_who_wants_them_and_without_a_request_there_are_no_spans() {
        let uninterested = tracing_subscriber::registry().with(LevelFilter::DEBUG);
        tracing::subscriber::with_default(uninterested, || {
            let request = Exchange::server(&Method::GET, "http", "/", &HeaderMap::new());
            assert!(request.is_untraced() && operation(request.span()).is_disabled());
        });
        let subscriber = tracing_subscriber::registry().with(Seen::default());
        tracing::subscriber::with_default(subscriber, || {
            assert!(operation(&Span::none()).is_disabled());
            assert!(plan(&Span::none()).is_disabled());
        });
    }
}
