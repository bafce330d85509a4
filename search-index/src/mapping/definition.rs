//! Definitions of indexes.

use std::sync::Arc;

use graph_store::facts::Fact;
use indexmap::IndexMap;
use soml_core::Finding;
use soml_core::schema::{ObjectId, PropertyId, Schema};

use super::build;
use super::finding::MappingError;
use super::number::IndexNumber;
use super::options::MappingOptions;
use super::scalar::ScalarIndex;
use super::settings::IndexSettings;

/// The indexes of a schema.
///
/// ```
/// use search_index::mapping::{Dialect, Indexes, MappingOptions, Owner};
///
/// let text = "
/// id: /soml/sky
/// objects:
///   Planet: {search: {index: yes}, props: {title: {}, mass: {range: decimal}}}
/// ";
/// let schema = soml_core::load(text).schema.expect("the document is valid");
/// let indexes = Indexes::new(&schema, &MappingOptions::default())?;
/// let planet = indexes.named("Planet").expect("planets are indexed");
/// assert_eq!((planet.alias(), planet.physical(3)), ("svc-planet".to_owned(), "svc-planet-3".to_owned()));
/// let body = planet.body(Dialect::OpenSearch3, &Owner::new("demo"));
/// assert_eq!(body["mappings"]["properties"]["mass$exact"]["type"], "keyword");
/// # Ok::<(), search_index::mapping::MappingError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Indexes {
    /// The indexes, in document order of their objects.
    pub indexes: Vec<IndexDefinition>,
    /// Warnings about them.
    pub findings: Vec<Finding>,
}

impl Indexes {
    /// Defines the indexes of a schema.
    ///
    /// # Errors
    /// All reasons why it cannot be searched, with their places in the document.
    pub fn new(schema: &Schema, options: &MappingOptions) -> Result<Indexes, MappingError> {
        build::indexes(schema, options)
    }

    /// Finds the index of an object by its GraphQL name.
    #[must_use]
    pub fn named(&self, object: &str) -> Option<&IndexDefinition> {
        self.indexes.iter().find(|index| index.name == object)
    }
}

/// The index of one object.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct IndexDefinition {
    /// The object.
    pub object: ObjectId,
    /// The GraphQL name of the object.
    pub name: String,
    /// The id of the schema.
    pub schema: String,
    /// The fields of its documents.
    pub fields: ObjectFields,
    /// The settings of the index.
    pub settings: IndexSettings,
    /// What the documents are made of, as a digest: equal for equal documents of equal data.
    pub fingerprint: String,
}

/// Start of the names of all indexes.
pub(crate) const PREFIX: &str = "svc-";

/// What the names of all indexes match.
#[cfg(feature = "opensearch")]
pub(crate) const PATTERN: &str = "svc-*";

impl IndexDefinition {
    /// Returns the name under which searches find the index.
    #[must_use]
    pub fn alias(&self) -> String {
        format!("{PREFIX}{}", self.name.to_lowercase())
    }

    /// Returns the name of the index of a number behind the alias.
    #[must_use]
    pub fn physical(&self, number: impl Into<IndexNumber>) -> String {
        format!("{}-{}", self.alias(), number.into())
    }
}

/// The field of facts about an object, which no search addresses.
pub(crate) const FACTS: &str = "$facts";

/// The fields of an object: of a document, or of an object that is embedded in one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ObjectFields {
    /// The object.
    pub object: ObjectId,
    /// The full name of the field that embeds it; empty for the document itself.
    pub path: String,
    /// The embedded object is nothing but its `id`.
    pub id_only: bool,
    /// Fields of properties by GraphQL name, in the order of the object's properties.
    pub fields: IndexMap<String, Field>,
    /// What the field `$facts` says of each object.
    pub facts: Arc<[Fact]>,
}

/// A field.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Field {
    /// The full name in the index, such as `planets.name`.
    pub path: String,
    /// What of the object it reads.
    pub reads: Reads,
    /// Answers show a list.
    pub multiple: bool,
    /// How values are indexed.
    pub content: Content,
}

/// What of an object a field reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reads {
    /// The values of a property.
    Property(PropertyId),
    /// The one value of the name property that answers show as `name`, chosen by
    /// `config.lang.defaultNameFetch`.
    Name(PropertyId),
}

impl Reads {
    /// Returns the property.
    #[must_use]
    pub fn property(self) -> PropertyId {
        match self {
            Reads::Property(id) | Reads::Name(id) => id,
        }
    }
}

/// How the values of a field are indexed.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// As values.
    Leaf(Leaf),
    /// As embedded objects.
    Object(Embedded),
}

/// Objects in the document of another object.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Embedded {
    /// Each is a document of its own inside, so that conditions on several fields are about one.
    pub nested: bool,
    /// Their fields.
    pub fields: ObjectFields,
}

/// How a value is indexed.
#[derive(Clone, Debug, PartialEq)]
pub enum Leaf {
    /// As the table of scalars says, text with an analyzer.
    Scalar {
        /// The row of the table.
        index: ScalarIndex,
        /// The analyzer of [`ScalarIndex::Text`].
        analyzer: Option<String>,
    },
    /// Literals with language tags: a field for each language that the schema names, and one for all
    /// others.
    Language {
        /// The analyzer of values in other languages, and of those without a tag.
        analyzer: String,
        /// Languages that the schema names.
        languages: Vec<LanguageField>,
    },
}

/// The field of one language.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LanguageField {
    /// Language tag in lower case. Values with longer tags belong to it too, unless these have a
    /// field of their own.
    pub tag: String,
    /// The analyzer.
    pub analyzer: String,
}

impl Leaf {
    /// Returns whether answers show something else than what is indexed, which `$shown` then holds.
    #[must_use]
    pub fn is_converted(&self) -> bool {
        match self {
            Leaf::Scalar { index, .. } => index.is_converted(),
            Leaf::Language { .. } => true,
        }
    }

    /// Returns whether values are analysed, so that a field for whole values is beside.
    #[must_use]
    pub fn is_text(&self) -> bool {
        match self {
            Leaf::Scalar { index, .. } => *index == ScalarIndex::Text,
            Leaf::Language { .. } => true,
        }
    }

    /// Finds the position of the field of a language tag; `None` for that of all other languages.
    ///
    /// The longest named language wins that is the tag or its beginning.
    #[must_use]
    pub fn language_of(&self, tag: &str) -> Option<usize> {
        let Leaf::Language { languages, .. } = self else {
            return None;
        };
        let tag = tag.to_ascii_lowercase();
        let covers = |language: &LanguageField| {
            let rest = tag.strip_prefix(language.tag.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        let named = languages.iter().enumerate().filter(|(_, l)| covers(l));
        named.max_by_key(|(_, l)| l.tag.len()).map(|(at, _)| at)
    }
}

impl ObjectFields {
    /// Returns the full name of a field.
    #[must_use]
    pub fn path_of(&self, name: &str) -> String {
        match self.path.as_str() {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        }
    }

    /// Returns whether there are facts about the objects, and so a field of them.
    #[must_use]
    pub fn has_facts(&self) -> bool {
        !self.facts.is_empty()
    }

    /// Returns whether some values are shown in another form than they are indexed in.
    #[must_use]
    pub fn has_converted(&self) -> bool {
        let mut leaves = self.fields.values().filter_map(Field::leaf);
        leaves.any(Leaf::is_converted)
    }
}

impl Field {
    /// Returns how values are indexed, for a field that is no object.
    #[must_use]
    pub fn leaf(&self) -> Option<&Leaf> {
        match &self.content {
            Content::Leaf(leaf) => Some(leaf),
            Content::Object(_) => None,
        }
    }

    /// Returns the full name of the field that holds whole values: the one that sorts, aggregates,
    /// and compares exactly.
    #[must_use]
    pub fn whole_path(&self) -> String {
        let path = &self.path;
        match self.leaf() {
            Some(Leaf::Language { .. }) => format!("{path}$keyword"),
            Some(Leaf::Scalar { index, .. }) => match index {
                ScalarIndex::Text => format!("{path}.keyword"),
                ScalarIndex::Exact => format!("{path}$exact"),
                _ => path.clone(),
            },
            None => path.clone(),
        }
    }

    /// Returns the full name of the field of a language.
    #[must_use]
    pub fn language_path(&self, language: &LanguageField) -> String {
        format!("{}${}", self.path, language.tag)
    }
}
