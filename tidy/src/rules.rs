//! What may depend on what: the layers of the crates, and edges that no layer forbids but that are unwanted.

/// The rules that a workspace is held to.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The crates from the ground up. One depends only on those of lower layers.
    pub layers: &'static [&'static [&'static str]],
    /// Edges that must not be there, not even by way of other crates.
    pub forbidden: &'static [Forbidden],
    /// How many files may import each other in a cycle, and the crates where that is checked.
    pub cycles: FileCycles,
}

/// A bound on files that import each other.
#[derive(Clone, Copy, Debug)]
pub struct FileCycles {
    /// The greatest number of files, each of which leads to all others.
    pub most: usize,
    /// The crates that are held to it.
    pub crates: &'static [&'static str],
}

/// An edge that must not be there.
#[derive(Clone, Copy, Debug)]
pub struct Forbidden {
    /// The crate that must not depend on the other.
    pub from: &'static str,
    /// The other.
    pub to: &'static str,
    /// What would be lost.
    pub why: &'static str,
}

/// The rules of this workspace.
pub const RULES: Rules = Rules {
    layers: &[
        &["traces"],
        &[
            "tidy",
            "call-context",
            "outbound",
            "soml-core",
            "service-config",
            "service-log",
            "service-metrics",
        ],
        &["graphql-service", "graphql-gen", "graph-store"],
        &[
            "federation",
            "service-auth",
            "schema-registry",
            "soml-data",
            "rdf-load",
        ],
        &["object-engine", "search-index", "graphql-http"],
        &["service-runtime"],
        &[
            "object-service",
            "search-service",
            "gateway-service",
            "edge-service",
        ],
        &["example-extension", "build-script-example", "example-axum"],
        &["servers"],
        &["test-support", "fuzz-checks"],
        &["benches"],
    ],
    forbidden: &[
        Forbidden {
            from: "graph-store",
            to: "graphql-service",
            why: "a store can be used without GraphQL",
        },
        Forbidden {
            from: "graphql-gen",
            to: "graph-store",
            why: "a schema is generated in build scripts, without a store",
        },
        Forbidden {
            from: "graphql-service",
            to: "soml-core",
            why: "it serves any schema",
        },
        Forbidden {
            from: "federation",
            to: "soml-core",
            why: "a gateway serves subgraphs of anybody",
        },
        Forbidden {
            from: "federation",
            to: "graph-store",
            why: "a gateway serves subgraphs of anybody",
        },
        Forbidden {
            from: "graphql-http",
            to: "graph-store",
            why: "it serves any GraphQL service",
        },
        Forbidden {
            from: "gateway-service",
            to: "object-engine",
            why: "a gateway serves subgraphs of anybody",
        },
        Forbidden {
            from: "rdf-load",
            to: "graphql-service",
            why: "RDF is loaded without GraphQL",
        },
        Forbidden {
            from: "service-auth",
            to: "graphql-service",
            why: "any service can verify tokens",
        },
    ],
    cycles: FileCycles {
        most: 3,
        crates: &[
            "service-auth",
            "schema-registry",
            "rdf-load",
            "graphql-http",
            "service-config",
            "service-runtime",
            "object-service",
            "search-service",
            "gateway-service",
            "edge-service",
            "servers",
        ],
    },
};
