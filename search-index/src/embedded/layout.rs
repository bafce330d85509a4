//! From the definition of an index to the fields that its documents have in it.

use std::collections::HashMap;

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, NumericOptions, STORED, Schema, SchemaBuilder,
    TextFieldIndexing, TextOptions,
};

use crate::analysis::Analyzer;
use crate::engine::EngineError;
use crate::mapping::{
    self, Content, FACTS, IndexDefinition, IntegerType, ObjectFields, ScalarIndex,
};

/// The fields of an index.
pub(super) struct Layout {
    /// The fields as the index has them.
    pub(super) schema: Schema,
    /// Fields that every index has.
    pub(super) own: OwnFields,
    /// The fields of values.
    pub(super) leaves: Vec<Leaf>,
    /// Positions among the leaves, by full name.
    names: HashMap<String, usize>,
    /// The kinds of documents in a block: the root, and each field of nested objects.
    pub(super) levels: Vec<Level>,
    /// The members of a document.
    pub(super) root: Shape,
}

/// Fields that every index has.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnFields {
    /// The id of the document, on all documents of its block.
    pub(super) block: Field,
    /// The level of each document, as a position among the levels.
    pub(super) level: Field,
    /// The id of the document, stored on the root alone.
    pub(super) key: Field,
    /// The document as JSON, on the root alone.
    pub(super) source: Field,
}

/// A kind of documents in a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Level {
    /// The full name of the field of nested objects; empty for the root.
    pub(super) path: String,
    /// The level around it; the root is its own.
    pub(super) parent: usize,
}

/// The level of roots.
pub(super) const ROOT: usize = 0;

/// A field of values.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    /// The full name.
    pub(super) path: String,
    /// What its values are.
    pub(super) kind: Kind,
    /// Its terms.
    pub(super) field: Field,
    /// The column of its values, of text of their lengths.
    pub(super) column: Field,
    /// The name of the column.
    pub(super) column_name: String,
    /// The level whose documents have it.
    pub(super) level: usize,
}

/// What the values of a field are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Analysed text.
    Text(Analyzer),
    /// Whole values.
    Keyword,
    /// Integers between two bounds.
    Integer(i64, i64),
    /// Integers of 64 bits without a sign.
    Unsigned,
    /// Floating-point numbers.
    Double,
    /// Booleans, as 0 and 1.
    Boolean,
}

impl Kind {
    /// Returns whether values are sorted as integers of 32 bits, as OpenSearch sorts all that fit.
    pub(super) fn has_32_bits(self) -> bool {
        match self {
            Kind::Integer(least, greatest) => {
                least >= i32::MIN.into() && greatest <= i32::MAX.into()
            }
            Kind::Boolean => true,
            _ => false,
        }
    }
}

/// The members of an object.
#[derive(Debug, Default)]
pub(super) struct Shape {
    pub(super) members: HashMap<String, Member>,
}

/// A member of an object.
#[derive(Debug)]
pub(super) enum Member {
    /// Values of fields, by position among the leaves.
    Values(Vec<usize>),
    /// Objects; documents of their own at a level.
    Objects(Shape, Option<usize>),
    /// What is in the source alone.
    SourceOnly,
}

/// The name of the field of the ids of roots, which is the first one.
pub(super) const ID: &str = "f0";

/// The name of the field that says the level of a document.
pub(super) const LEVEL: &str = "_level";

impl Layout {
    /// Lays out a definition.
    ///
    /// # Errors
    /// When it names an analyzer that there is not.
    pub(super) fn new(definition: &IndexDefinition) -> Result<Layout, EngineError> {
        let mut schema = Schema::builder();
        let own = OwnFields {
            block: schema.add_text_field("_block", whole()),
            level: schema.add_u64_field(LEVEL, FAST),
            key: schema.add_text_field("_key", STORED),
            source: schema.add_bytes_field("_source", STORED),
        };
        let mut builder = Builder {
            schema,
            leaves: Vec::new(),
            levels: vec![Level {
                path: String::new(),
                parent: ROOT,
            }],
        };
        let root = builder.object(&definition.fields, ROOT)?;
        let names = builder
            .leaves
            .iter()
            .enumerate()
            .map(|(at, leaf)| (leaf.path.clone(), at))
            .collect();
        Ok(Layout {
            schema: builder.schema.build(),
            own,
            leaves: builder.leaves,
            names,
            levels: builder.levels,
            root,
        })
    }

    /// Finds a field of values by its full name.
    pub(super) fn leaf(&self, path: &str) -> Option<&Leaf> {
        self.names.get(path).map(|at| &self.leaves[*at])
    }

    /// Finds the level of a field of nested objects.
    ///
    /// # Errors
    /// When there is no such field.
    pub(super) fn level(&self, path: &str) -> Result<usize, EngineError> {
        let mut levels = self.levels.iter().skip(1);
        let found = levels.position(|level| level.path == path);
        found.map(|at| at + 1).ok_or_else(|| {
            EngineError::Unsupported(format!("there are no nested objects under `{path}`"))
        })
    }

    /// Returns whether one level is somewhere below another.
    pub(super) fn is_below(&self, level: usize, above: usize) -> bool {
        let mut at = level;
        while at != ROOT {
            at = self.levels[at].parent;
            if at == above {
                return true;
            }
        }
        false
    }

    /// Returns the fields under the name of an object, which are not those of nested objects in it.
    pub(super) fn under(&self, path: &str) -> impl Iterator<Item = &Leaf> {
        let prefix = format!("{path}.");
        self.leaves
            .iter()
            .filter(move |leaf| leaf.path.starts_with(&prefix))
    }
}

/// How whole values are indexed: terms without frequencies.
fn whole() -> TextOptions {
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("raw")
        .set_fieldnorms(false)
        .set_index_option(IndexRecordOption::Basic);
    TextOptions::default().set_indexing_options(indexing)
}

/// Lays out objects.
struct Builder {
    schema: SchemaBuilder,
    leaves: Vec<Leaf>,
    levels: Vec<Level>,
}

impl Builder {
    fn object(&mut self, object: &ObjectFields, level: usize) -> Result<Shape, EngineError> {
        let mut shape = Shape::default();
        let mut keyword = |builder: &mut Builder, name: &str| {
            let leaf = builder.leaf(object.path_of(name), Kind::Keyword, level);
            shape
                .members
                .insert(name.to_owned(), Member::Values(vec![leaf]));
        };
        keyword(self, "id");
        if object.has_facts() {
            keyword(self, FACTS);
        }
        if object.id_only {
            return Ok(shape);
        }
        keyword(self, "type");
        for (name, field) in &object.fields {
            match &field.content {
                Content::Leaf(leaf) => self.values(name, field, leaf, level, &mut shape)?,
                Content::Object(embedded) => {
                    let nested = embedded.nested.then(|| {
                        self.levels.push(Level {
                            path: field.path.clone(),
                            parent: level,
                        });
                        self.levels.len() - 1
                    });
                    let inner = self.object(&embedded.fields, nested.unwrap_or(level))?;
                    let member = Member::Objects(inner, nested);
                    shape.members.insert(name.clone(), member);
                }
            }
        }
        shape
            .members
            .insert("$shown".to_owned(), Member::SourceOnly);
        Ok(shape)
    }

    fn values(
        &mut self,
        name: &str,
        field: &mapping::Field,
        leaf: &mapping::Leaf,
        level: usize,
        shape: &mut Shape,
    ) -> Result<(), EngineError> {
        let path = &field.path;
        let mut put = |name: String, leaves| shape.members.insert(name, Member::Values(leaves));
        match leaf {
            mapping::Leaf::Language {
                analyzer,
                languages,
            } => {
                let others = self.leaf(path.clone(), Kind::Text(named(analyzer)?), level);
                put(name.to_owned(), vec![others]);
                for language in languages {
                    let kind = Kind::Text(named(&language.analyzer)?);
                    let leaf = self.leaf(field.language_path(language), kind, level);
                    put(format!("{name}${}", language.tag), vec![leaf]);
                }
                let whole = self.leaf(field.whole_path(), Kind::Keyword, level);
                put(format!("{name}$keyword"), vec![whole]);
            }
            mapping::Leaf::Scalar { index, analyzer } => {
                let kind = kind(*index, analyzer.as_deref())?;
                let mut leaves = vec![self.leaf(path.clone(), kind, level)];
                match index {
                    ScalarIndex::Text => {
                        leaves.push(self.leaf(field.whole_path(), Kind::Keyword, level));
                    }
                    ScalarIndex::Exact => {
                        let exact = self.leaf(field.whole_path(), Kind::Keyword, level);
                        put(format!("{name}$exact"), vec![exact]);
                    }
                    _ => {}
                }
                put(name.to_owned(), leaves);
            }
        }
        Ok(())
    }

    /// Adds a field; returns its position.
    fn leaf(&mut self, path: String, kind: Kind, level: usize) -> usize {
        let at = self.leaves.len();
        // Names of the engine's own: those of a schema may have any form.
        let name = format!("f{at}");
        let number = NumericOptions::default() | INDEXED | FAST;
        let schema = &mut self.schema;
        let (field, column, column_name) = match kind {
            Kind::Text(_) => {
                let indexing = TextFieldIndexing::default()
                    .set_tokenizer("raw")
                    .set_fieldnorms(false)
                    .set_index_option(IndexRecordOption::WithFreqsAndPositions);
                let options = TextOptions::default().set_indexing_options(indexing);
                let lengths = format!("l{at}");
                let field = schema.add_text_field(&name, options);
                (field, schema.add_u64_field(&lengths, FAST), lengths)
            }
            Kind::Keyword => {
                let field = schema.add_text_field(&name, whole().set_fast("raw"));
                (field, field, name)
            }
            Kind::Integer(..) => {
                let field = schema.add_i64_field(&name, number);
                (field, field, name)
            }
            Kind::Unsigned | Kind::Boolean => {
                let field = schema.add_u64_field(&name, number);
                (field, field, name)
            }
            Kind::Double => {
                let field = schema.add_f64_field(&name, number);
                (field, field, name)
            }
        };
        self.leaves.push(Leaf {
            path,
            kind,
            field,
            column,
            column_name,
            level,
        });
        at
    }
}

fn kind(index: ScalarIndex, analyzer: Option<&str>) -> Result<Kind, EngineError> {
    Ok(match index {
        ScalarIndex::Text => Kind::Text(named(analyzer.unwrap_or_default())?),
        ScalarIndex::Keyword | ScalarIndex::Time => Kind::Keyword,
        ScalarIndex::Boolean => Kind::Boolean,
        ScalarIndex::Double | ScalarIndex::Exact => Kind::Double,
        ScalarIndex::Instant | ScalarIndex::Integer(IntegerType::Long) => {
            Kind::Integer(i64::MIN, i64::MAX)
        }
        ScalarIndex::Integer(IntegerType::Integer) => {
            Kind::Integer(i32::MIN.into(), i32::MAX.into())
        }
        ScalarIndex::Integer(IntegerType::Short) => Kind::Integer(i16::MIN.into(), i16::MAX.into()),
        ScalarIndex::Integer(IntegerType::Byte) => Kind::Integer(i8::MIN.into(), i8::MAX.into()),
        ScalarIndex::Integer(IntegerType::UnsignedLong) => Kind::Unsigned,
    })
}

fn named(analyzer: &str) -> Result<Analyzer, EngineError> {
    Analyzer::named(analyzer).ok_or_else(|| {
        let names = Analyzer::names();
        let names: Vec<_> = names.names().collect();
        EngineError::Unsupported(format!(
            "the embedded engine has no analyzer `{analyzer}`; it has {}",
            names.join(", ")
        ))
    })
}
