//! An index with a few objects, and short ways to search it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use oxrdf::{Literal, NamedNode, Term};
use search_index::document::{Document, FieldValues, ObjectValues};
use search_index::dsl::{Query, Search, Sort};
use search_index::engine::{
    AggregationContent, Answer, Binding, BulkOperation, Engine, EngineError, PhysicalName,
};
use search_index::graph_store::CallContext;
use search_index::mapping::{
    Content, IndexDefinition, IndexNumber, Indexes, MappingOptions, ObjectFields, Owner,
};
use search_index::soml_core::Valid;
use search_index::soml_core::datatype::Scalar;
use search_index::soml_core::schema::{Range, Schema};
use serde_json::Value as Json;

use crate::schema;

/// A schema, and what makes documents of its first object.
pub(crate) struct Objects {
    schema: Valid<Schema>,
    pub(crate) definition: IndexDefinition,
}

/// The values of an object as RDF terms.
struct Owned {
    iri: String,
    fields: Vec<OwnedValues>,
}

enum OwnedValues {
    Terms(Vec<Term>),
    Objects(Vec<Owned>),
}

impl Objects {
    /// Takes the objects of a document; the first one is indexed.
    pub(crate) fn new(objects: &str) -> Self {
        let schema = schema(&format!("id: /soml/cases\nobjects:\n{objects}"));
        let indexes = Indexes::new(&schema, &MappingOptions::default()).expect("searchable");
        let definition = indexes.indexes[0].clone();
        Objects { schema, definition }
    }

    /// Makes the document of an object that is written as JSON: `id` is a number or a name, values are
    /// lexical forms, and those in a language end in `@` and its tag.
    pub(crate) fn document(&self, object: &Json) -> Document {
        let owned = self.owned(&self.definition.fields, object);
        Document::of(&self.schema, &self.definition, &owned.values())
    }

    fn owned(&self, fields: &ObjectFields, object: &Json) -> Owned {
        let members = object.as_object().expect("an object");
        for name in members.keys().filter(|name| *name != "id") {
            assert!(
                fields.fields.contains_key(name),
                "there is no field `{name}`"
            );
        }
        let iri = match &object["id"] {
            Json::String(name) => format!("http://e/{name}"),
            number => format!("http://e/{number}"),
        };
        let values = fields.fields.iter().map(|(name, field)| {
            let values = match members.get(name) {
                None => Vec::new(),
                Some(Json::Array(values)) => values.clone(),
                Some(value) => vec![value.clone()],
            };
            match &field.content {
                Content::Object(embedded) => {
                    let objects = values
                        .iter()
                        .map(|value| self.owned(&embedded.fields, value));
                    OwnedValues::Objects(objects.collect())
                }
                Content::Leaf(_) => {
                    let range = self.schema[field.reads.property()].range;
                    OwnedValues::Terms(values.iter().map(|value| term(range, value)).collect())
                }
            }
        });
        Owned {
            iri,
            fields: values.collect(),
        }
    }
}

fn term(range: Range, value: &Json) -> Term {
    let text = match value {
        Json::String(text) => text.clone(),
        value => value.to_string(),
    };
    match range {
        Range::Scalar(Scalar::Iri) => NamedNode::new_unchecked(text).into(),
        Range::Scalar(Scalar::String) => Literal::new_simple_literal(text).into(),
        Range::Scalar(scalar) => {
            let datatype = NamedNode::new_unchecked(scalar.datatype_iri());
            Literal::new_typed_literal(text, datatype).into()
        }
        _ => match text.rsplit_once('@') {
            Some((text, tag)) => Literal::new_language_tagged_literal_unchecked(text, tag).into(),
            None => Literal::new_simple_literal(text).into(),
        },
    }
}

impl Owned {
    fn values(&self) -> ObjectValues<'_> {
        let fields = self.fields.iter().map(|values| match values {
            OwnedValues::Terms(terms) => FieldValues::Terms(terms),
            OwnedValues::Objects(objects) => {
                FieldValues::objects(objects.iter().map(Owned::values).collect())
            }
        });
        ObjectValues {
            iri: &self.iri,
            types: vec!["http://e/Thing"],
            fields: fields.collect(),
            facts: None,
        }
    }
}

/// An index of some objects.
pub(crate) struct Fixture {
    pub(crate) engine: Engine,
    pub(crate) objects: Arc<Objects>,
    pub(crate) name: PhysicalName,
    pub(crate) context: CallContext,
}

impl Fixture {
    /// Creates the index, and writes the objects of a JSON array.
    pub(crate) async fn new(engine: Engine, objects: &str, data: Json) -> Self {
        let fixture = Fixture::empty(engine, objects).await;
        fixture.write(&data).await;
        fixture
    }

    /// Creates the index.
    pub(crate) async fn empty(engine: Engine, objects: &str) -> Self {
        Fixture::empty_under(engine, objects, 0).await
    }

    /// Creates an index under a lease.
    pub(crate) async fn empty_under(engine: Engine, objects: &str, lease: u64) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let objects = Arc::new(Objects::new(objects));
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let fixture = Fixture {
            engine,
            name: PhysicalName::new(&objects.definition, IndexNumber { lease, number }),
            objects,
            context: CallContext::new(),
        };
        let context = &fixture.context;
        let deleted = fixture.engine.delete(&fixture.name, context).await;
        deleted.expect("what an earlier run left is deleted");
        let owner = Owner::new("cases");
        let created = fixture.engine.create(fixture.binding(), &owner, context);
        created.await.expect("the index is created");
        fixture
    }

    pub(crate) fn binding(&self) -> Binding<'_> {
        Binding {
            definition: &self.objects.definition,
            name: &self.name,
        }
    }

    /// Writes objects, so that searches find them.
    pub(crate) async fn write(&self, data: &Json) {
        let data = data.as_array().expect("a list of objects");
        let documents: Vec<_> = data
            .iter()
            .map(|object| self.objects.document(object))
            .collect();
        for document in &documents {
            assert_eq!(document.malformed, []);
        }
        let rejected = self
            .engine
            .bulk(
                self.binding(),
                &BulkOperation::all(documents),
                0,
                &self.context,
            )
            .await;
        assert_eq!(rejected.expect("documents are written"), []);
        let refreshed = self.engine.refresh(&self.name, &self.context).await;
        refreshed.expect("the index is refreshed");
    }

    /// Deletes the index.
    pub(crate) async fn end(self) {
        let deleted = self.engine.delete(&self.name, &self.context).await;
        deleted.expect("the index is deleted");
    }

    pub(crate) async fn try_search(&self, search: &Search) -> Result<Answer, EngineError> {
        self.engine
            .search(self.binding(), search, &self.context)
            .await
    }

    pub(crate) async fn search(&self, search: &Search) -> Answer {
        let answer = self.try_search(search).await;
        answer.unwrap_or_else(|error| panic!("{search:?}: {error:?}"))
    }

    /// Returns the ids of what a clause matches, in ascending order.
    pub(crate) async fn ids(&self, query: Query) -> Vec<String> {
        let search = Search {
            query: Some(query),
            size: 1_000,
            sort: vec![Sort::field("id")],
            ..Search::default()
        };
        let answer = self.search(&search).await;
        let ids = names(&answer);
        let total = answer.total.map(|total| total.value);
        assert_eq!(total, Some(ids.len() as u64), "the total of {search:?}");
        ids
    }

    /// Checks what a clause matches, by ids with spaces between them.
    pub(crate) async fn expect(&self, query: Query, expected: &str) {
        let text = format!("{query:?}");
        assert_eq!(self.ids(query).await.join(" "), expected, "{text}");
    }

    /// Checks the scores of what a clause matches, by id.
    pub(crate) async fn expect_scores(&self, query: Query, expected: &[(&str, f64)]) {
        let text = format!("{query:?}");
        let search = Search {
            query: Some(query),
            size: 1_000,
            sort: vec![Sort::field("id")],
            track_scores: true,
            ..Search::default()
        };
        let answer = self.search(&search).await;
        let found: Vec<_> = names(&answer)
            .into_iter()
            .zip(answer.hits.iter().map(|hit| hit.score))
            .collect();
        assert_eq!(found.len(), expected.len(), "{text}: {found:?}");
        for ((id, score), (expected_id, expected)) in found.iter().zip(expected) {
            let score = score.expect("scores are tracked");
            let is_near = (score - expected).abs() <= 1e-4 * expected.abs().max(1e-3);
            assert!(
                id == expected_id && is_near,
                "{text}: {found:?}, not {expected_id} {expected}"
            );
        }
    }

    /// Checks the order of all objects, by ids with spaces between them.
    pub(crate) async fn expect_order(&self, sort: Vec<Sort>, expected: &str) {
        let text = format!("{sort:?}");
        let search = Search {
            size: 1_000,
            sort,
            ..Search::default()
        };
        assert_eq!(
            names(&self.search(&search).await).join(" "),
            expected,
            "{text}"
        );
    }

    /// Checks that the engine says what it cannot do.
    pub(crate) async fn expect_refusal(&self, search: &Search) {
        let answer = self.try_search(search).await;
        assert!(
            matches!(answer, Err(EngineError::Unsupported(_))),
            "{search:?}: {answer:?}"
        );
    }
}

/// Returns the ids of hits, without what they all begin with.
pub(crate) fn names(answer: &Answer) -> Vec<String> {
    let name = |id: &str| id.strip_prefix("http://e/").unwrap_or(id).to_owned();
    answer.hits.iter().map(|hit| name(&hit.id)).collect()
}

/// Writes an aggregation as `key:count`, with those inside of it in parentheses.
pub(crate) fn written(content: &AggregationContent) -> String {
    let inner = |answers: &[search_index::engine::AggregationAnswer]| -> String {
        let answers = answers
            .iter()
            .map(|answer| format!("({})", written(&answer.content)));
        answers.collect()
    };
    match content {
        AggregationContent::Buckets { buckets, other, .. } => {
            let buckets = buckets.iter().map(|bucket| {
                let key = serde_json::to_string(&bucket.key).expect("a key");
                let key = key.trim_matches('"').to_owned();
                format!("{key}:{}{}", bucket.count, inner(&bucket.aggregations))
            });
            let mut parts: Vec<String> = buckets.collect();
            if *other > 0 {
                parts.push(format!("+{other}"));
            }
            parts.join(" ")
        }
        AggregationContent::Nested {
            count,
            aggregations,
        } => format!("{count}{}", inner(aggregations)),
        other => panic!("{other:?}"),
    }
}
