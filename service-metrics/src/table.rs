//! The table of metrics: names after the [semantic conventions] of OpenTelemetry, as Prometheus writes them. What these have
//! no name for follows their form.
//!
//! [semantic conventions]: https://opentelemetry.io/docs/specs/semconv/

use metrics::Unit;

use crate::metric::{Label, Metric, MetricKind, MetricScope};

/// Upper bounds of the histograms of durations, in seconds.
pub const BOUNDS: &[f64] = &[
    0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

/// The value of a label for whatever is in none of its lists.
pub const OTHER: &str = "_OTHER";

/// The value of `http_response_status_code` for requests whose client left before there was a response.
pub const NO_RESPONSE: &str = "none";

const SERVICE: Label = Label {
    name: "service_name",
    values: "the name of the service (`application.name` for the object service)",
};

const METHOD: Label = Label {
    name: "http_request_method",
    values: "the method; `_OTHER` for methods that HTTP does not define",
};

const ROUTE: Label = Label {
    name: "http_route",
    values: "the route, such as `/soml/{id}`; `_OTHER` for paths without one",
};

const STATUS: Label = Label {
    name: "http_response_status_code",
    values: "the status; `none` if the client left before there was a response",
};

const OPERATION_TYPE: Label = Label {
    name: "graphql_operation_type",
    values: "`query`, `mutation`, `subscription`; `_OTHER` for operations that were refused before their type was known",
};

const OUTCOME: Label = Label {
    name: "graphql_outcome",
    values: "`executed`, `executed_with_errors`, `refused`, `overloaded`",
};

const CODE: Label = Label {
    name: "error_type",
    values: "the [code](errors.md) of the error",
};

const FAILURE: Label = Label {
    name: "error_type",
    values: "empty for success; the status of an unsuccessful response; `connect`, `timeout`, `lost`, `malformed`, \
             `too_large`, `cancelled`, or `_OTHER`",
};

const ADDRESS: Label = Label {
    name: "server_address",
    values: "the host that was called",
};

const PORT: Label = Label {
    name: "server_port",
    values: "its port",
};

const SYSTEM: Label = Label {
    name: "db_system_name",
    values: "`rdf4j`, `graphdb`, `fuseki`, `sparql11`, `sparql` until the type of a SPARQL server is known; `opensearch`",
};

const DB_OPERATION: Label = Label {
    name: "db_operation_name",
    values: "for a store `query`, `update`, `read`; for a search engine the API that was called: `_search`, `_bulk`, \
             `_count`, `_refresh`, `_aliases`, `_mapping`, `_cluster`, `_nodes`, or `_OTHER`",
};

const SUBGRAPH: Label = Label {
    name: "graphql_subgraph_name",
    values: "the name of the subgraph",
};

const SUBGRAPH_OUTCOME: Label = Label {
    name: "graphql_subgraph_outcome",
    values: "`answered`, `failed`, `refused`, `timed_out`, `too_large`, `cancelled`",
};

const CACHE: Label = Label {
    name: "cache_name",
    values: "`documents` (validated documents), `introspections` (answers to introspections), `plans` (plans of the object \
             service), `conditions` (conditions of roles that the object service has read), `gateway_plans`, `persisted_queries`",
};

const CACHE_OUTCOME: Label = Label {
    name: "cache_outcome",
    values: "`hit`, `miss`",
};

const WEIGHT: Label = Label {
    name: "slot_weight",
    values: "`medium`, `long`, `background`",
};

const SPANS: Label = Label {
    name: "outcome",
    values: "`sent`, `dropped`, `failed`, `rejected`",
};

macro_rules! metrics {
    ($($constant:ident $name:literal $kind:ident ($unit:expr) [$($label:ident),*] $reach:ident $help:literal;)*) => {
        $(
            #[doc = $help]
            pub const $constant: Metric = Metric {
                name: $name,
                kind: MetricKind::$kind,
                unit: $unit,
                labels: &[$($label),*],
                reach: MetricScope::$reach,
                help: $help,
            };
        )*

        /// All metrics, in the order of the documentation.
        pub const METRICS: &[Metric] = &[$($constant),*];
    };
}

metrics! {
    REQUEST_DURATION "http_server_request_duration_seconds" Histogram (Some(Unit::Seconds)) [SERVICE, METHOD, ROUTE, STATUS] Servers
        "Time from a request until the response headers.";
    ACTIVE_REQUESTS "http_server_active_requests" Gauge (None) [SERVICE] Servers
        "Requests that have no response yet.";
    OPERATION_DURATION "graphql_operation_duration_seconds" Histogram (Some(Unit::Seconds)) [SERVICE, OPERATION_TYPE, OUTCOME] Services
        "Duration of client operations; for subscriptions, until they had begun.";
    ERRORS "graphql_errors_total" Counter (None) [SERVICE, CODE] Servers
        "Errors in responses, by code. Requests refused before their document is read, such as for a missing token, are included.";
    SLOW_OPERATIONS "graphql_slow_operations_total" Counter (None) [SERVICE] Services
        "Operations that took at least as long as `logging.slowOperations.threshold`.";
    DB_DURATION "db_client_operation_duration_seconds" Histogram (Some(Unit::Seconds)) [SYSTEM, DB_OPERATION, ADDRESS, PORT, FAILURE] Process
        "Duration of requests to SPARQL servers and search engines, until the end of the result.";
    CLIENT_DURATION "http_client_request_duration_seconds" Histogram (Some(Unit::Seconds)) [METHOD, ADDRESS, PORT, FAILURE] Process
        "Duration of requests from a gateway to subgraphs in other processes; for subscriptions, until they had begun. For an edge, time until the servers behind it began to respond.";
    SUBGRAPH_DURATION "graphql_subgraph_request_duration_seconds" Histogram (Some(Unit::Seconds)) [SERVICE, SUBGRAPH, SUBGRAPH_OUTCOME] Gateway
        "Duration of requests to subgraphs, including those in the same process.";
    SUBGRAPH_SENT "graphql_subgraph_sent_bytes_total" Counter (Some(Unit::Bytes)) [SERVICE, SUBGRAPH] Gateway
        "Bytes sent in requests to subgraphs.";
    SUBGRAPH_RECEIVED "graphql_subgraph_received_bytes_total" Counter (Some(Unit::Bytes)) [SERVICE, SUBGRAPH] Gateway
        "Bytes received in responses from subgraphs.";
    SUBGRAPH_JOINED "graphql_subgraph_joined_requests_total" Counter (None) [SERVICE, SUBGRAPH] Gateway
        "Requests to subgraphs that were not sent because they shared the response of an identical request in flight (`gateway.sharing.subgraphRequests`).";
    OPERATIONS_JOINED "graphql_joined_operations_total" Counter (None) [SERVICE] Gateway
        "Client queries that were not executed because they shared the response of an identical query in flight (`gateway.sharing.clientRequests`).";
    SUBGRAPH_ENTITIES "graphql_subgraph_entities_total" Counter (None) [SERVICE, SUBGRAPH] Gateway
        "Entities requested from subgraphs by their representations.";
    SUBGRAPH_KNOWN "graphql_subgraph_known_entities_total" Counter (None) [SERVICE, SUBGRAPH] Gateway
        "Entities not requested from subgraphs because the same operation had already fetched them (`gateway.entityMemo.enabled`).";
    SUBGRAPH_EVENTS "graphql_subgraph_events_total" Counter (None) [SERVICE, SUBGRAPH] Gateway
        "Subscription events from subgraphs.";
    SUBSCRIPTIONS "graphql_subscriptions_open" Gauge (None) [SERVICE] Gateway
        "Open client subscriptions.";
    SCHEMA_SWITCHES "graphql_schema_switches_total" Counter (None) [SERVICE] Gateway
        "Replacements of a composite schema by a new one.";
    SPANS_TOTAL "traces_spans_total" Counter (None) [SPANS] Process
        "Ended spans, by outcome; only if traces are sent.";
    INDEX_LAG "search_index_lag_seconds" Gauge (Some(Unit::Seconds)) [SERVICE] Search
        "Time since the indexes were last known to contain all changes of the data; 0 if they do not follow changes.";
    SLOTS_IN_USE "service_slots_in_use" Gauge (None) [WEIGHT] Process
        "Slots in use: requests that run off the async workers (`graphql.slots`).";
    SLOTS_LIMIT "service_slots_limit" Gauge (None) [WEIGHT] Process
        "Maximum number of slots in use at a time.";
    SLOTS_WAITING "service_slots_waiting" Gauge (None) [WEIGHT] Process
        "Requests waiting for a slot (`graphql.queue`).";
    MEMORY_HELD "service_memory_held_bytes" Gauge (Some(Unit::Bytes)) [] Process
        "Memory used by requests, beyond 32 KiB each.";
    MEMORY_LIMIT "service_memory_limit_bytes" Gauge (Some(Unit::Bytes)) [] Process
        "Memory that all requests together may use (`http.memoryBudget`).";
    CACHE_REQUESTS "cache_requests_total" Counter (None) [CACHE, CACHE_OUTCOME] Process
        "Cache look-ups, by hit and miss.";
    CACHE_ENTRIES "cache_entries" Gauge (None) [CACHE] Process
        "Entries in caches, of all services together.";
    CPU_SECONDS "process_cpu_seconds_total" Counter (Some(Unit::Seconds)) [] Process
        "CPU time of the process, in whole seconds.";
    OPEN_FILES "process_open_fds" Gauge (None) [] Process
        "Open files and sockets.";
    MAX_FILES "process_max_fds" Gauge (None) [] Process
        "Maximum number of open files and sockets.";
    RESIDENT "process_resident_memory_bytes" Gauge (Some(Unit::Bytes)) [] Process
        "Resident memory of the process.";
    VIRTUAL "process_virtual_memory_bytes" Gauge (Some(Unit::Bytes)) [] Process
        "Address space of the process.";
    MAX_VIRTUAL "process_virtual_memory_max_bytes" Gauge (Some(Unit::Bytes)) [] Process
        "Maximum address space of the process.";
    THREADS "process_threads" Gauge (None) [] Process
        "Threads of the process.";
    START_TIME "process_start_time_seconds" Gauge (Some(Unit::Seconds)) [] Process
        "When the process started, in seconds since 1970.";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_distinct_and_say_their_unit() {
        let names: BTreeSet<&str> = METRICS.iter().map(|metric| metric.name).collect();
        assert_eq!(names.len(), METRICS.len());
        for metric in METRICS {
            let name = metric.name.trim_end_matches("_total");
            match metric.unit {
                Some(Unit::Seconds) => assert!(name.ends_with("_seconds"), "{name}"),
                Some(Unit::Bytes) => assert!(name.ends_with("_bytes"), "{name}"),
                _ => {}
            }
            let is_total = metric.name.ends_with("_total");
            assert_eq!(is_total, metric.kind == MetricKind::Counter, "{name}");
            let labels: BTreeSet<&str> = metric.labels.iter().map(|label| label.name).collect();
            assert_eq!(labels.len(), metric.labels.len(), "{name}");
        }
    }
}
