//! How mutations are served.

use std::time::Duration;

use graph_store::write::change_graph::GRAPH;
use oxrdf::NamedNode;
use service_config::Setting;

use super::setting::Programs;

/// How mutations are served (`graphql.mutation.*`, `mutation.*`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MutationSettings {
    /// Whether the type `Mutation` is served where schema and store allow it
    /// (`graphql.mutation.enabled`).
    pub enabled: bool,
    /// The graph that triples are added to, in place of the default graph (`graphql.mutation.graph`).
    pub graph: Option<Graph>,
    /// How often a mutation is repeated after a conflict (`mutation.conflictRetries`).
    pub conflict_retries: u32,
    /// How long records of changes are kept (`mutation.changes.retention`).
    pub retention: Option<Duration>,
}

/// A named graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph(pub NamedNode);

impl Default for MutationSettings {
    fn default() -> Self {
        MutationSettings {
            enabled: true,
            graph: None,
            conflict_retries: 5,
            retention: Some(Duration::from_secs(7 * 24 * 60 * 60)),
        }
    }
}

impl Setting<Programs> for Option<Graph> {
    const TYPE: &'static str = "IRI or `none`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "" | "none" => Ok(None),
            _ => match NamedNode::new(text) {
                Ok(graph) if graph.as_ref() == GRAPH => {
                    Err("a graph other than that of the change records")
                }
                Ok(graph) => Ok(Some(Graph(graph))),
                Err(_) => Err("an absolute IRI such as `http://example.org/graph`, or `none`"),
            },
        }
    }

    fn show(&self) -> String {
        match self {
            Some(Graph(graph)) => graph.as_str().to_owned(),
            None => "none".to_owned(),
        }
    }
}

impl Setting<Programs> for Option<Duration> {
    const TYPE: &'static str = "milliseconds or `none`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "none" => Ok(None),
            _ => <Duration as Setting<Programs>>::parse(text)
                .map(Some)
                .map_err(|_| "a number of milliseconds, as a non-negative integer, or `none`"),
        }
    }

    fn show(&self) -> String {
        self.map_or_else(
            || "none".to_owned(),
            |time| Setting::<Programs>::show(&time),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_is_an_absolute_iri() {
        for text in ["http://e/g", "urn:a:b", "https://example.org/ü"] {
            let graph = Option::<Graph>::parse(text).unwrap();
            assert_eq!(graph.show(), text);
        }
        assert_eq!(Option::<Graph>::parse("none"), Ok(None));
        for text in [
            "graph",
            "/graph",
            "http://e/a b",
            "http://e/<g>",
            "default",
            GRAPH.as_str(),
        ] {
            assert!(Option::<Graph>::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_retention_is_a_time_or_none() {
        let week = MutationSettings::default().retention;
        assert_eq!(week.show(), "604800000");
        assert_eq!(Option::<Duration>::parse("604800000"), Ok(week));
        assert_eq!(Option::<Duration>::parse("none"), Ok(None));
        assert!(Option::<Duration>::parse("-1").is_err());
        assert!(Option::<Duration>::parse("a week").is_err());
    }
}
