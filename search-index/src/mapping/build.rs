//! Makes the definitions of the indexes of a schema.

use std::collections::HashSet;
use std::sync::Arc;

use graph_store::facts::Fact;
use indexmap::IndexMap;
use serde_json::json;
use sha2::{Digest, Sha256};
use soml_core::Finding;
use soml_core::schema::{LiteralRange, Object, ObjectId, Property, PropertyId, Range, Schema};
use soml_core::search::SearchSettings;

use super::analysis::Analyzers;
use super::definition::{
    Content, Embedded, FACTS, Field, IndexDefinition, Indexes, LanguageField, Leaf, ObjectFields,
    Reads,
};
use super::finding::{FindingKind, MappingError};
use super::options::MappingOptions;
use super::scalar::{ScalarIndex, index_of};
use super::{json, limits, nesting};

/// Longest name of an object: that of an index has 255 bytes, prefix and number included.
const MAX_NAME: usize = 220;

/// Changes when documents of the same definition come to look different.
const FORMAT: u32 = 1;

/// Defines the indexes of a schema.
pub(super) fn indexes(schema: &Schema, options: &MappingOptions) -> Result<Indexes, MappingError> {
    let mut builder = Builder {
        schema,
        options,
        findings: nesting::check(schema, options.max_nesting_level),
        reported: HashSet::new(),
        fields: 0,
        path: Vec::new(),
    };
    let searched = |object: &Object| object.search.as_ref().is_some_and(|search| search.index);
    let mut indexes = Vec::new();
    for (id, object) in schema.objects() {
        if searched(object) {
            match builder.index(id) {
                Some(index) => indexes.push(index),
                None => {
                    return Err(MappingError {
                        findings: builder.findings,
                    });
                }
            }
        }
    }
    if indexes.is_empty() {
        let message = "no object of the schema is searchable".to_owned();
        let finding = FindingKind::NothingIndexed.at(None, message);
        let finding =
            finding.with_help("write `search: {index: yes}` at an object, or in `config` for all");
        builder.findings.push(finding);
    }
    match builder.findings {
        findings if findings.iter().any(Finding::is_error) => Err(MappingError { findings }),
        findings => Ok(Indexes { indexes, findings }),
    }
}

/// Builds the fields of one index after the other.
struct Builder<'a> {
    schema: &'a Schema,
    options: &'a MappingOptions,
    findings: Vec<Finding>,
    /// Findings about properties, which occur in many indexes and are reported once.
    reported: HashSet<(FindingKind, PropertyId)>,
    /// Fields of the current index so far.
    fields: usize,
    /// Objects from the root of the current index to where it is.
    path: Vec<ObjectId>,
}

impl Builder<'_> {
    /// Builds the index of an object; `None` if it has too many fields.
    fn index(&mut self, id: ObjectId) -> Option<IndexDefinition> {
        let object = &self.schema[id];
        if object.name.graphql.len() > MAX_NAME {
            let message = format!("the name of `{}` is too long for an index", object.name);
            let finding = FindingKind::IndexName.at(Some(object.span), message);
            let help = format!("names of searchable objects have at most {MAX_NAME} bytes");
            self.findings.push(finding.with_help(help));
        }
        self.fields = 0;
        let fields = self.object(id, "", None);
        if self.fields > self.options.max_fields {
            let limit = self.options.max_fields;
            let message = format!("`{}` leads to more than {limit} fields", object.name);
            let finding = FindingKind::TooManyFields.at(Some(object.span), message);
            self.findings.push(
                finding.with_help("lower `nestingLevel`, or exclude properties with `search: no`"),
            );
            return None;
        }
        let mut settings = self.options.settings.clone();
        json::add_defaults(&mut settings);
        let mut index = IndexDefinition {
            object: id,
            name: object.name.graphql.clone(),
            schema: self.schema.id.clone(),
            fields,
            settings,
            fingerprint: String::new(),
        };
        index.fingerprint = self.fingerprint(&index);
        self.findings.extend(limits::check(&index, object.span));
        Some(index)
    }

    /// Builds the fields of an object; `level` is how many levels of objects it may embed, `None`
    /// for the root, whose properties each have their own.
    fn object(&mut self, id: ObjectId, path: &str, level: Option<u32>) -> ObjectFields {
        self.path.push(id);
        // `id` and `type`, and `$shown`.
        self.fields += 3;
        let mut fields = IndexMap::new();
        for &property in &self.schema[id].props {
            if self.fields > self.options.max_fields {
                break;
            }
            let Some(search) = searched(&self.schema[property]) else {
                continue;
            };
            let name = self.schema[property].name.graphql.clone();
            if matches!(name.as_str(), "id" | "type") || fields.contains_key(&name) {
                self.name_taken(property);
                continue;
            }
            let field = self.field(property, search, join(path, &name), level);
            fields.insert(name, field);
        }
        self.add_name(id, path, &mut fields);
        self.path.pop();
        ObjectFields {
            object: id,
            path: path.to_owned(),
            id_only: false,
            fields,
            facts: self.facts(id),
        }
    }

    /// Returns what is held of objects of a type beside their values.
    fn facts(&mut self, id: ObjectId) -> Arc<[Fact]> {
        let facts = self.options.facts.get(&id).cloned().unwrap_or_default();
        self.fields += usize::from(!facts.is_empty());
        facts
    }

    /// Adds `name`, which answers show of every object with a name property, if no property is
    /// called so.
    fn add_name(&mut self, id: ObjectId, path: &str, fields: &mut IndexMap<String, Field>) {
        let Some(property) = self.schema[id].name_property else {
            return;
        };
        let Some(search) = searched(&self.schema[property]) else {
            return;
        };
        if fields.contains_key("name") {
            return;
        }
        let analyzer = self.analyzer(property, search.analyzer.as_deref());
        let field = Field {
            path: join(path, "name"),
            reads: Reads::Name(property),
            multiple: false,
            content: Content::Leaf(Leaf::Scalar {
                index: ScalarIndex::Text,
                analyzer: Some(analyzer),
            }),
        };
        self.fields += 2;
        fields.insert("name".to_owned(), field);
    }

    fn field(
        &mut self,
        id: PropertyId,
        search: &SearchSettings,
        path: String,
        level: Option<u32>,
    ) -> Field {
        let property = &self.schema[id];
        let content = match property.range {
            Range::Object(target) => {
                Content::Object(self.embedded(id, target, search, &path, level))
            }
            Range::Scalar(scalar) => Content::Leaf(self.scalar(id, search, index_of(scalar))),
            Range::Enum(_) => Content::Leaf(self.scalar(id, search, ScalarIndex::Keyword)),
            Range::Literal(LiteralRange::DateOrYearOrMonth) => {
                Content::Leaf(self.scalar(id, search, ScalarIndex::Instant))
            }
            Range::Literal(_) => Content::Leaf(self.languages(id, search)),
        };
        Field {
            path,
            reads: Reads::Property(id),
            multiple: property.max.is_multiple(),
            content,
        }
    }

    fn scalar(&mut self, id: PropertyId, search: &SearchSettings, index: ScalarIndex) -> Leaf {
        let index = match (index, search.field_type.as_deref()) {
            (index, None) => index,
            (ScalarIndex::Text, Some("keyword")) => ScalarIndex::Keyword,
            (index, Some(ty)) => {
                if ty != index.type_name() {
                    self.type_misfit(id, ty);
                }
                index
            }
        };
        let is_text = index == ScalarIndex::Text;
        self.fields += if is_text || index == ScalarIndex::Exact {
            2
        } else {
            1
        };
        Leaf::Scalar {
            index,
            analyzer: is_text.then(|| self.analyzer(id, search.analyzer.as_deref())),
        }
    }

    fn languages(&mut self, id: PropertyId, search: &SearchSettings) -> Leaf {
        if let Some(ty) = search.field_type.as_deref().filter(|ty| *ty != "text") {
            self.type_misfit(id, ty);
        }
        let mut languages: Vec<LanguageField> = Vec::new();
        for (tag, analyzer) in &search.lang_analyzers {
            let tag = tag.to_ascii_lowercase();
            let analyzer = self.analyzer(id, Some(analyzer));
            languages.retain(|known| known.tag != tag);
            languages.push(LanguageField { tag, analyzer });
        }
        self.fields += 2 + languages.len();
        Leaf::Language {
            analyzer: self.analyzer(id, search.analyzer.as_deref()),
            languages,
        }
    }

    fn embedded(
        &mut self,
        id: PropertyId,
        target: ObjectId,
        search: &SearchSettings,
        path: &str,
        level: Option<u32>,
    ) -> Embedded {
        let own = search.nesting_level;
        let wanted = match (level, own) {
            (None, own) => own.unwrap_or(1),
            (Some(level), own) => own.map_or(level, |own| own.min(level)),
        };
        let wanted = wanted.min(self.options.max_nesting_level);
        // Facts about several objects are told apart where each is a document.
        let has_facts = self
            .options
            .facts
            .get(&target)
            .is_some_and(|facts| !facts.is_empty());
        let needs_nested = has_facts && self.schema[id].max.is_multiple();
        if wanted == 0 || self.path.contains(&target) {
            self.fields += 2;
            return Embedded {
                nested: needs_nested,
                fields: ObjectFields {
                    object: target,
                    path: path.to_owned(),
                    id_only: true,
                    fields: IndexMap::new(),
                    facts: self.facts(target),
                },
            };
        }
        let asks = |object: ObjectId| {
            self.schema[object]
                .search
                .as_ref()
                .is_some_and(|s| s.nested)
        };
        let nested = match search.field_type.as_deref() {
            Some("object") if needs_nested => {
                self.type_misfit(id, "object");
                true
            }
            Some("object") => false,
            Some("nested") => true,
            other => {
                let nested = self.schema[id].max.is_multiple() || search.nested || asks(target);
                if let Some(ty) = other {
                    self.type_misfit(id, ty);
                }
                nested
            }
        };
        self.fields += 1;
        Embedded {
            nested,
            fields: self.object(target, path, Some(wanted - 1)),
        }
    }

    /// Returns the name of an analyzer, which the engine must have.
    fn analyzer(&mut self, id: PropertyId, name: Option<&str>) -> String {
        let name = name.unwrap_or(Analyzers::DEFAULT);
        let known = self.options.analyzers.contains(name);
        if !known && !self.options.settings.defines_analyzer(name) {
            let message = format!(
                "analyzer `{name}` of property `{}` is not supported",
                self.schema[id].name
            );
            let names: Vec<_> = self.options.analyzers.names().collect();
            let help = format!("the engine has {}", names.join(", "));
            self.report(FindingKind::AnalyzerUnsupported, id, message, &help);
        }
        name.to_owned()
    }

    /// Reports a type of field that a property cannot have.
    fn type_misfit(&mut self, id: PropertyId, ty: &str) {
        const TYPES: &[&str] = &[
            "text",
            "keyword",
            "boolean",
            "byte",
            "short",
            "integer",
            "long",
            "unsigned_long",
            "double",
            "date",
            "object",
            "nested",
        ];
        let name = &self.schema[id].name;
        if TYPES.contains(&ty) {
            let message = format!("type `{ty}` does not fit the range of property `{name}`");
            let help = "strings can be `keyword`, and objects `nested` or `object`";
            self.report(FindingKind::TypeIgnored, id, message, help);
        } else {
            let message = format!("type `{ty}` of property `{name}` is not supported");
            let help = format!("the types are {}", TYPES.join(", "));
            self.report(FindingKind::TypeUnsupported, id, message, &help);
        }
    }

    fn name_taken(&mut self, id: PropertyId) {
        let property = &self.schema[id];
        let name = &property.name;
        let message = format!(
            "property `{name}` gives the field `{}`, which is in use",
            name.graphql
        );
        let help = "rename it and give its old IRI with `rdfProp`";
        self.report(FindingKind::NameTaken, id, message, help);
    }

    fn report(&mut self, kind: FindingKind, id: PropertyId, message: String, help: &str) {
        if self.reported.insert((kind, id)) {
            let finding = kind.at(Some(self.schema[id].span), message);
            self.findings.push(finding.with_help(help));
        }
    }

    /// Returns a digest of everything that documents and their index are made of.
    fn fingerprint(&self, index: &IndexDefinition) -> String {
        let object = &self.schema[index.object];
        let types: Vec<_> = self
            .schema
            .concrete(index.object)
            .into_iter()
            .map(|id| (&self.schema[id].type_prop, &self.schema[id].types))
            .collect();
        let mut reads = Vec::new();
        self.reads(&index.fields, &mut reads);
        let config = &self.schema.config;
        let made_of = json!({
            "format": FORMAT,
            "index": index.layout(json::Dialect::OpenSearch2),
            "types": [object.type_prop, object.types, types],
            "reads": reads,
            "data": [config.include_inferred, config.expand_owl_same_as, config.repository],
            "name": config.lang.default_name_fetch.to_string(),
        });
        let digest = Sha256::digest(made_of.to_string().as_bytes());
        digest
            .iter()
            .take(16)
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// Lists where in the data the values of each field come from.
    fn reads(&self, object: &ObjectFields, all: &mut Vec<String>) {
        if object.has_facts() {
            all.push(format!("{} {:?}", object.path_of(FACTS), object.facts));
        }
        for field in object.fields.values() {
            let property = &self.schema[field.reads.property()];
            let Property {
                path,
                range,
                type_cast,
                prefix,
                ..
            } = property;
            all.push(format!(
                "{} {path:?} {range:?} {type_cast} {prefix:?}",
                field.path
            ));
            if let Content::Object(embedded) = &field.content {
                self.reads(&embedded.fields, all);
            }
        }
    }
}

/// Returns the search settings of a property that is searchable.
fn searched(property: &Property) -> Option<&SearchSettings> {
    property.search.as_ref().filter(|search| search.index)
}

fn join(path: &str, name: &str) -> String {
    match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    }
}
