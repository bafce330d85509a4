//! The fields of an index in one flat table.

use std::collections::BTreeMap;

use search_index::mapping::{
    Content, IndexDefinition, IntegerType, Leaf, ObjectFields, ScalarIndex,
};

/// What the values of a field are.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// Words, as an analyzer leaves them.
    Text(String),
    Keyword,
    Boolean,
    Integer(IntegerType),
    Double,
    Instant,
}

impl Kind {
    /// Returns what a field of this name and kind is called where its searches are counted.
    pub(crate) fn name(&self, field: &str) -> &'static str {
        match self {
            Kind::Text(_) => "text",
            Kind::Keyword if field.ends_with("$exact") => "exact",
            Kind::Keyword => "keyword",
            Kind::Boolean => "boolean",
            Kind::Integer(IntegerType::UnsignedLong) => "unsigned_long",
            Kind::Integer(IntegerType::Long) => "long",
            Kind::Integer(_) => "integer",
            Kind::Double => "double",
            Kind::Instant => "date",
        }
    }
}

/// A field.
#[derive(Clone, Debug)]
pub(crate) struct FieldInfo {
    pub(crate) kind: Kind,
    /// The full name of the nearest nested object around it; empty for the document itself.
    pub(crate) level: String,
}

/// The fields by full name.
pub(crate) type Fields = BTreeMap<String, FieldInfo>;

/// Lists the fields of an index that searches may name.
pub(crate) fn fields(definition: &IndexDefinition) -> Fields {
    let mut fields = Fields::new();
    add(&definition.fields, "", &mut fields);
    fields
}

fn add(object: &ObjectFields, level: &str, fields: &mut Fields) {
    let mut put = |path: String, kind: Kind| {
        let level = level.to_owned();
        fields.insert(path, FieldInfo { kind, level });
    };
    put(object.path_of("id"), Kind::Keyword);
    if !object.id_only {
        put(object.path_of("type"), Kind::Keyword);
    }
    for field in object.fields.values() {
        let Content::Leaf(leaf) = &field.content else {
            continue;
        };
        match leaf {
            Leaf::Language {
                analyzer,
                languages,
            } => {
                put(field.path.clone(), Kind::Text(analyzer.clone()));
                for language in languages {
                    let path = field.language_path(language);
                    put(path, Kind::Text(language.analyzer.clone()));
                }
                put(field.whole_path(), Kind::Keyword);
            }
            Leaf::Scalar { index, analyzer } => {
                if let Some(analyzer) = analyzer {
                    put(field.path.clone(), Kind::Text(analyzer.clone()));
                }
                put(field.whole_path(), kind(*index));
            }
        }
    }
    for field in object.fields.values() {
        if let Content::Object(embedded) = &field.content {
            let level = if embedded.nested {
                &embedded.fields.path
            } else {
                level
            };
            add(&embedded.fields, level, fields);
        }
    }
}

/// Returns what whole values are.
fn kind(index: ScalarIndex) -> Kind {
    match index {
        ScalarIndex::Text | ScalarIndex::Keyword | ScalarIndex::Exact | ScalarIndex::Time => {
            Kind::Keyword
        }
        ScalarIndex::Boolean => Kind::Boolean,
        ScalarIndex::Integer(ty) => Kind::Integer(ty),
        ScalarIndex::Double => Kind::Double,
        ScalarIndex::Instant => Kind::Instant,
    }
}
