//! Documents as they are read from a store.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use futures::executor::block_on;
use graph_store::pattern::{PatternSource, PatternStore, Quads};
use graph_store::query::{Hydrated, HydrationRequest, Objects, Selection};
use graph_store::{CallContext, GraphStore, StoreError, StoreInfo};
use oxrdf::{
    GraphName, GraphNameRef, NamedNode, NamedNodeRef, NamedOrBlankNodeRef, Quad, Term, TermRef,
};
use search_index::document::{Document, Reason};
use search_index::mapping::{Indexes, MappingOptions};
use search_index::read::DocumentReader;
use serde_json::{Value, json};

use crate::schema;

const SCHEMA: &str = "
id: /soml/f
specialPrefixes: {vocab_iri: 'http://e/', vocab_prefix: v}
objects:
  Work: {kind: abstract, search: yes, props: {title: {}}}
  Film:
    inherits: Work
    props:
      planets: {range: Planet, max: inf, search: {type: {nestingLevel: 2}}}
      sequel: {range: Work, search: {type: {nestingLevel: 0}}}
  Book: {inherits: Work}
  Planet:
    search: yes
    props: {mass: {range: decimal}, films: {range: Film, max: inf, inverseAlias: planets}, ruler: {range: Person}}
  Person: {search: yes, props: {alias: {}}}
";

/// Subject, predicate and object of each triple; names are those of the vocabulary.
const DATA: &[(&str, &str, &str)] = &[
    ("f1", "type", "Film"),
    ("f1", "title", "\"One\""),
    ("f1", "planets", "p1"),
    ("f1", "planets", "p2"),
    ("f1", "planets", "\"nowhere\""),
    ("f1", "sequel", "f2"),
    ("f1", "sequel", "\"later\""),
    ("f2", "type", "Film"),
    ("f2", "title", "\"Two\""),
    (
        "f2",
        "title",
        "\"2\"^^<http://www.w3.org/2001/XMLSchema#integer>",
    ),
    ("f2", "planets", "p2"),
    ("f2", "sequel", "none"),
    ("b1", "type", "Book"),
    ("b1", "title", "\"Book\""),
    ("p1", "type", "Planet"),
    (
        "p1",
        "mass",
        "\"1.50\"^^<http://www.w3.org/2001/XMLSchema#decimal>",
    ),
    ("p1", "ruler", "luke"),
    ("p2", "type", "Planet"),
    ("p2", "mass", "\"heavy\""),
    ("p2", "ruler", "luke"),
    ("luke", "type", "Person"),
    ("luke", "alias", "\"Luke\""),
];

/// The triples as a store.
struct Triples(Vec<Quad>);

impl Triples {
    fn new() -> Self {
        let node = |name: &str| match name {
            "type" => oxrdf::vocab::rdf::TYPE.into_owned(),
            name => NamedNode::new_unchecked(format!("http://e/{name}")),
        };
        let quad = |(subject, predicate, object): &(&str, &str, &str)| {
            let object: Term = if object.starts_with('"') {
                object.parse().expect("a literal")
            } else {
                node(object).into()
            };
            Quad::new(
                node(subject),
                node(predicate),
                object,
                GraphName::DefaultGraph,
            )
        };
        Triples(DATA.iter().map(quad).collect())
    }
}

impl PatternSource for Triples {
    fn quads_for_pattern(
        &self,
        subject: Option<NamedOrBlankNodeRef<'_>>,
        predicate: Option<NamedNodeRef<'_>>,
        object: Option<TermRef<'_>>,
        _graph: Option<GraphNameRef<'_>>,
    ) -> Quads<'_> {
        let fits = |quad: &&Quad| {
            subject.is_none_or(|subject| quad.subject.as_ref() == subject)
                && predicate.is_none_or(|predicate| quad.predicate.as_ref() == predicate)
                && object.is_none_or(|object| quad.object.as_ref() == object)
        };
        let found: Vec<_> = self.0.iter().filter(fits).cloned().map(Ok).collect();
        Box::new(found.into_iter())
    }
}

/// A store that counts how often values are asked for.
struct Counting {
    store: PatternStore<Triples>,
    hydrations: AtomicUsize,
}

#[async_trait]
impl GraphStore for Counting {
    async fn select(
        &self,
        selection: &Selection,
        context: &CallContext,
    ) -> Result<Objects, StoreError> {
        self.store.select(selection, context).await
    }

    async fn hydrate(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Result<Hydrated, StoreError> {
        self.hydrations.fetch_add(1, Ordering::Relaxed);
        self.store.hydrate(request, context).await
    }

    async fn probe(&self, context: &CallContext) -> Result<StoreInfo, StoreError> {
        self.store.probe(context).await
    }
}

/// Reads the documents of an index, in pages; returns them with the number of hydrations.
fn documents(index: &str, page: usize) -> (Vec<Document>, usize) {
    let store = Counting {
        store: PatternStore::new(Triples::new()),
        hydrations: AtomicUsize::new(0),
    };
    let schema = schema(SCHEMA);
    let indexes = Indexes::new(&schema, &MappingOptions::default()).expect("searchable");
    let reader = DocumentReader::new(&schema, indexes.named(index).expect("an index"), &store);
    let context = CallContext::new();
    let documents = block_on(async {
        let ids = reader.ids(&context).await.expect("ids");
        let mut documents = Vec::new();
        for page in ids.chunks(page) {
            documents.extend(reader.documents(page, &context).await.expect("documents"));
        }
        documents
    });
    (documents, store.hydrations.into_inner())
}

fn source(document: &Document) -> Value {
    serde_json::from_slice(&document.source).expect("JSON")
}

#[test]
fn objects_are_read_with_those_that_they_embed() {
    let (films, _) = documents("Film", 10);
    let ids: Vec<_> = films.iter().map(|film| film.id.as_str()).collect();
    assert_eq!(ids, ["http://e/f1", "http://e/f2"]);
    let luke = json!({"id": "http://e/luke", "type": ["http://e/Person"], "alias": "Luke"});
    let second = json!({"id": "http://e/p2", "type": ["http://e/Planet"], "ruler": luke,
        "films": [{"id": "http://e/f1"}, {"id": "http://e/f2"}]});
    assert_eq!(
        source(&films[0]),
        json!({
            "id": "http://e/f1",
            "type": ["http://e/Film"],
            "title": "One",
            "planets": [
                {"id": "http://e/p1", "type": ["http://e/Planet"], "mass": 1.5, "mass$exact": "25000115",
                    "films": [{"id": "http://e/f1"}], "ruler": luke, "$shown": {"mass": "1.5"}},
                second,
            ],
            "sequel": {"id": "http://e/f2"},
        })
    );
    // What is no instance of an abstract range is not there.
    assert_eq!(
        source(&films[1]),
        json!({"id": "http://e/f2", "type": ["http://e/Film"], "title": "Two", "planets": [second]})
    );
    let malformed: Vec<_> = films[1]
        .malformed
        .iter()
        .map(|m| (m.iri.as_str(), m.path.as_str()))
        .collect();
    assert_eq!(
        malformed,
        [("http://e/f2", "title"), ("http://e/p2", "planets.mass")]
    );
}

#[test]
fn literals_where_objects_belong_are_counted_also_for_an_abstract_range() {
    let (films, _) = documents("Film", 10);
    let malformed = films[0].malformed.iter();
    let malformed: Vec<_> = malformed
        .map(|m| (m.iri.as_str(), m.path.as_str(), m.value.as_str(), m.reason))
        .collect();
    assert_eq!(
        malformed,
        [
            ("http://e/p2", "planets.mass", "\"heavy\"", Reason::IllTyped),
            ("http://e/f1", "planets", "\"nowhere\"", Reason::IllTyped),
            ("http://e/f1", "sequel", "\"later\"", Reason::IllTyped),
        ]
    );
}

#[test]
fn an_abstract_index_has_the_instances_of_all_classes_below() {
    let (works, _) = documents("Work", 10);
    let titles: Vec<_> = works
        .iter()
        .map(|work| source(work)["title"].clone())
        .collect();
    assert_eq!(titles, ["Book", "One", "Two"]);
}

#[test]
fn each_level_of_a_page_is_one_call_to_the_store() {
    let (all, calls) = documents("Film", 10);
    assert_eq!(calls, 3, "films, planets and people");
    let (one_by_one, calls) = documents("Film", 1);
    assert_eq!((all, 6), (one_by_one, calls));
}
