//! Which analyzers a cluster has, from what its nodes have installed.

use std::collections::HashMap;

use serde::Deserialize;

use crate::mapping::Analyzers;

/// Analyzers without which there is no server.
const CORE: &[&str] = &["standard", "simple", "stop", "whitespace", "keyword"];

/// The module of all other analyzers of the distribution.
const COMMON: &str = "analysis-common";

/// Plugins, and the analyzers that each brings along.
const PLUGINS: &[(&str, &[&str])] = &[
    ("analysis-icu", &["icu_analyzer"]),
    ("analysis-kuromoji", &["kuromoji"]),
    ("analysis-nori", &["nori"]),
    ("analysis-smartcn", &["smartcn"]),
    ("analysis-stempel", &["polish"]),
    ("analysis-ukrainian", &["ukrainian"]),
];

/// The nodes of a cluster, and what each has installed.
#[derive(Deserialize)]
pub(super) struct Installed {
    #[serde(default)]
    nodes: HashMap<String, Node>,
}

#[derive(Deserialize)]
struct Node {
    #[serde(default)]
    plugins: Vec<Part>,
    #[serde(default)]
    modules: Vec<Part>,
}

#[derive(Deserialize)]
struct Part {
    name: String,
}

impl Installed {
    /// Returns the analyzers that every node has.
    pub(super) fn analyzers(&self) -> Analyzers {
        let has = |name: &str| {
            let mut nodes = self.nodes.values();
            nodes.all(|node| {
                let mut parts = node.plugins.iter().chain(&node.modules);
                parts.any(|part| part.name == name)
            })
        };
        let mut names: Vec<String> = CORE.iter().map(ToString::to_string).collect();
        if has(COMMON) {
            names.extend(Analyzers::distribution().names().map(str::to_owned));
        }
        for (plugin, analyzers) in PLUGINS {
            if has(plugin) {
                names.extend(analyzers.iter().map(ToString::to_string));
            }
        }
        names.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn analyzers(nodes: &str) -> Analyzers {
        let installed: Installed = serde_json::from_str(nodes).expect("JSON");
        installed.analyzers()
    }

    #[test]
    fn analyzers_are_those_that_every_node_has() {
        let all = analyzers(
            r#"{"nodes":{
                "a":{"plugins":[{"name":"analysis-stempel"},{"name":"analysis-icu"}],"modules":[{"name":"analysis-common"}]},
                "b":{"plugins":[{"name":"analysis-stempel"}],"modules":[{"name":"analysis-common"}]}}}"#,
        );
        assert!(all.contains("polish") && all.contains("english"));
        assert!(!all.contains("icu_analyzer") && !all.contains("ukrainian"));
        let bare = analyzers(r#"{"nodes":{"a":{"modules":[{"name":"transport-netty4"}]}}}"#);
        assert!(bare.contains("standard") && !bare.contains("english"));
    }
}
