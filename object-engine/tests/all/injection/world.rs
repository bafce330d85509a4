//! The data that requests find, of which most must stay as they are.

use std::collections::BTreeSet;
use std::sync::Arc;

use graph_store::GraphStore;
use graphql_gen::typesystem::ApiOptions;
use object_engine::{ObjectService, ServiceOptions};
use oxrdf::vocab::rdf;
use oxrdf::{GraphName, Literal, NamedNode, Quad, Term};

use super::texts;
use crate::back_end::{BackEnd, Kind};
use crate::differential::random::Random;
use crate::fixture;

/// The schema, with `PREFIX` and `PATTERN` in place of texts.
const SCHEMA: &str = r#"
id: /soml/injection
specialPrefixes: {base_iri: 'http://e/', vocab_iri: 'http://v/', vocab_prefix: v}
types: {Mix: {union: [string, langString, integer, date]}}
objects:
  Thing:
    props:
      text: {}
      texts: {max: inf}
      title: {range: langString}
      label: {range: langString, max: inf}
      mixed: {range: Mix, max: inf}
      link: {range: iri}
      links: {range: iri, max: inf}
      near: {range: Thing, max: inf}
      whole: {range: integer}
      amount: {range: decimal}
      weight: {range: double}
      day: {range: date}
      moment: {range: dateTime}
  Named: {pattern: PATTERN, props: {slug: {min: 1}}}
  Placed: {prefix: PREFIX, props: {slug: {}}}
"#;

/// The schema without texts in it.
pub(super) fn plain_schema() -> String {
    schema("named/${slug}", "placed/")
}

/// The schema with a pattern and a prefix.
pub(super) fn schema(pattern: &str, prefix: &str) -> String {
    let quoted = |text: &str| serde_json::to_string(text).expect("a text");
    let schema = SCHEMA.replace("PATTERN", &quoted(pattern));
    schema.replace("PREFIX", &quoted(prefix))
}

/// The quads of a store, as texts.
pub(super) type State = BTreeSet<String>;

/// A store, and what it held before a request.
pub(super) struct World {
    back_end: BackEnd,
}

/// What a store holds before a request.
pub(super) struct Before {
    pub(super) quads: State,
    all: Vec<Quad>,
    /// The values of `text`, `texts` and `label`.
    pub(super) texts: Vec<String>,
}

/// The things that are there.
pub(super) const THINGS: &[&str] = &[
    "http://e/t/1",
    "http://e/t/2",
    "http://e/t/3",
    "http://e/t/%22'()*;=@:,+&!~é",
];

pub(super) fn node(iri: &str) -> NamedNode {
    NamedNode::new_unchecked(iri)
}

pub(super) fn property(name: &str) -> NamedNode {
    node(&format!("http://v/{name}"))
}

/// Returns a quad of the default graph as a text, as stores keep it.
pub(super) fn shown(subject: &str, property: &NamedNode, value: impl Into<Term>) -> String {
    let quad = Quad::new(
        node(subject),
        property.clone(),
        value,
        GraphName::DefaultGraph,
    );
    quad.to_string()
}

impl World {
    pub(super) fn new(kind: Kind) -> Self {
        let back_end = match kind {
            Kind::Rdf4j { .. } | Kind::Fuseki => BackEnd::written_on_server(kind),
            _ => BackEnd::new(kind),
        };
        World { back_end }
    }

    pub(super) fn store(&self) -> Arc<dyn GraphStore> {
        self.back_end.graph_store()
    }

    /// Returns a service by a schema.
    pub(super) fn service(&self, soml: &str) -> ObjectService {
        let options = ServiceOptions::new().with_api(ApiOptions::default().with_mutations(true));
        fixture::service(soml, self.store(), options)
    }

    /// Puts data with hostile texts in place of all that the store holds.
    pub(super) fn fill(&self, random: &mut Random) -> Before {
        let texts: Vec<String> = (0..4).map(|_| texts::stored(random)).collect();
        let mut all = Vec::new();
        for (at, thing) in THINGS.iter().enumerate() {
            let text = Literal::new_simple_literal(&texts[at]);
            let next = THINGS[(at + 1) % THINGS.len()];
            let label = Literal::new_language_tagged_literal_unchecked(&texts[at], "en");
            let german = Literal::new_language_tagged_literal_unchecked("x", "de");
            let values: [(NamedNode, Term); 8] = [
                (rdf::TYPE.into_owned(), property("Thing").into()),
                (property("text"), text.clone().into()),
                (property("texts"), text.into()),
                (
                    property("texts"),
                    Literal::new_simple_literal("plain").into(),
                ),
                (property("label"), label.clone().into()),
                (property("label"), german.into()),
                (property("title"), label.into()),
                (property("near"), node(next).into()),
            ];
            let quad = |(name, value): (NamedNode, Term)| {
                Quad::new(node(thing), name, value, GraphName::DefaultGraph)
            };
            all.extend(values.into_iter().map(quad));
        }
        // What no request is about.
        let bystander = Literal::new_simple_literal(&texts[0]);
        for graph in [GraphName::DefaultGraph, node("http://g/1").into()] {
            let about = Quad::new(
                node("http://b/1"),
                node("http://b/p"),
                bystander.clone(),
                graph.clone(),
            );
            let near = Quad::new(
                node("http://b/1"),
                node("http://b/q"),
                node("http://b/2"),
                graph,
            );
            all.extend([about, near]);
        }
        self.back_end.load(&all);
        Before {
            quads: self.state(),
            all,
            texts,
        }
    }

    /// Returns what the store holds.
    pub(super) fn state(&self) -> State {
        let quads = self.back_end.quads();
        quads.iter().map(ToString::to_string).collect()
    }
}

impl Before {
    /// Returns the things whose values of a property pass a test.
    pub(super) fn things(&self, name: &str, passes: impl Fn(&str) -> bool) -> BTreeSet<String> {
        let of = self
            .all
            .iter()
            .filter(|quad| quad.predicate == property(name));
        let of = of.filter(|quad| match &quad.object {
            Term::Literal(literal) => passes(literal.value()),
            _ => false,
        });
        of.map(|quad| quad.subject.to_string().trim_matches(['<', '>']).to_owned())
            .collect()
    }

    /// Returns what is left without all quads about some objects, or that lead to them.
    pub(super) fn without(&self, ids: &BTreeSet<String>) -> State {
        let is_one = |term: String| ids.contains(term.trim_matches(['<', '>']));
        let stays =
            |quad: &&Quad| !is_one(quad.subject.to_string()) && !is_one(quad.object.to_string());
        self.all
            .iter()
            .filter(stays)
            .map(ToString::to_string)
            .collect()
    }
}
