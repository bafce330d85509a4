//! Definitions as OpenSearch takes them.

use serde_json::{Map, Value, json};

use super::definition::{Content, FACTS, Field, IndexDefinition, Leaf, ObjectFields};
use super::scalar::ScalarIndex;
use super::settings::IndexSettings;

/// Longest whole value, in UTF-16 units; longer ones are in the source of a document alone.
pub const MAX_KEYWORD: usize = 8_191;

/// Returns whether a text is short enough to be a whole value.
#[must_use]
pub fn fits_keyword(text: &str) -> bool {
    text.len() <= MAX_KEYWORD || text.encode_utf16().count() <= MAX_KEYWORD
}

/// What an engine understands of the settings that make its major versions score alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// Scores as all do that came before it.
    OpenSearch2,
    /// Has to be asked to score as the version before.
    OpenSearch3,
}

/// Whose index it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Owner {
    /// Name of the application; instances of one name share their indexes.
    pub application: String,
}

impl Owner {
    /// Names the application.
    #[must_use]
    pub fn new(application: impl Into<String>) -> Self {
        Owner {
            application: application.into(),
        }
    }
}

/// Adds the settings that every index needs and the configuration does not give.
pub(super) fn add_defaults(settings: &mut IndexSettings) {
    // Deletions are remembered for longer than a writer may be late.
    settings.or("index.gc_deletes", "1h".into());
}

impl IndexDefinition {
    /// Returns the body of the request that creates the index: settings, and a mapping whose `_meta`
    /// says whose index it is, what of, and its fingerprint.
    #[must_use]
    pub fn body(&self, dialect: Dialect, owner: &Owner) -> Value {
        let mut body = self.layout(dialect);
        body["mappings"]["_meta"] = json!({
            "application": owner.application,
            "schema": self.schema,
            "object": self.name,
            "fingerprint": self.fingerprint,
        });
        body
    }

    /// Returns the body without the mark of its owner.
    pub(super) fn layout(&self, dialect: Dialect) -> Value {
        let mut settings = self.settings.clone();
        if dialect == Dialect::OpenSearch3 {
            settings.or("index.similarity.default.type", "LegacyBM25".into());
        }
        json!({
            "settings": settings.as_map(),
            "mappings": {"dynamic": "strict", "_meta": {}, "properties": Printer(dialect).properties(&self.fields)},
        })
    }
}

/// Prints fields for an engine.
struct Printer(Dialect);

impl Printer {
    fn properties(&self, object: &ObjectFields) -> Map<String, Value> {
        let mut properties = Map::new();
        properties.insert("id".to_owned(), self.keyword());
        if object.has_facts() {
            properties.insert(FACTS.to_owned(), self.keyword());
        }
        if object.id_only {
            return properties;
        }
        properties.insert("type".to_owned(), self.keyword());
        for (name, field) in &object.fields {
            self.add(name, field, &mut properties);
        }
        if object.has_converted() {
            let unindexed = json!({"type": "object", "enabled": false});
            properties.insert("$shown".to_owned(), unindexed);
        }
        properties
    }

    fn add(&self, name: &str, field: &Field, properties: &mut Map<String, Value>) {
        let mut put = |suffix: &str, mapping| {
            properties.insert(format!("{name}{suffix}"), mapping);
        };
        match &field.content {
            Content::Object(embedded) => {
                let ty = if embedded.nested { "nested" } else { "object" };
                let inner = self.properties(&embedded.fields);
                put("", json!({"type": ty, "properties": inner}));
            }
            Content::Leaf(Leaf::Language {
                analyzer,
                languages,
            }) => {
                put("", json!({"type": "text", "analyzer": analyzer}));
                for language in languages {
                    let mapping = json!({"type": "text", "analyzer": language.analyzer});
                    put(&format!("${}", language.tag), mapping);
                }
                put("$keyword", self.keyword());
            }
            Content::Leaf(Leaf::Scalar { index, analyzer }) => match index {
                ScalarIndex::Text => {
                    let whole = json!({"keyword": self.keyword()});
                    put(
                        "",
                        json!({"type": "text", "analyzer": analyzer, "fields": whole}),
                    );
                }
                ScalarIndex::Keyword | ScalarIndex::Time => put("", self.keyword()),
                ScalarIndex::Instant => put("", json!({"type": "date", "format": "epoch_millis"})),
                ScalarIndex::Exact => {
                    put("", json!({"type": "double"}));
                    put("$exact", self.keyword());
                }
                ScalarIndex::Boolean | ScalarIndex::Integer(_) | ScalarIndex::Double => {
                    put("", json!({"type": index.type_name()}));
                }
            },
        }
    }

    fn keyword(&self) -> Value {
        match self.0 {
            Dialect::OpenSearch2 => json!({"type": "keyword", "ignore_above": MAX_KEYWORD}),
            Dialect::OpenSearch3 => {
                json!({"type": "keyword", "ignore_above": MAX_KEYWORD, "use_similarity": true})
            }
        }
    }
}
