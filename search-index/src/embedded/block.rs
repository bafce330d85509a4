//! Documents as blocks: those of nested objects, and their root behind them.

use std::collections::HashMap;

use serde_json::{Map, Value as Json};
use tantivy::TantivyDocument;
use tantivy::tokenizer::{PreTokenizedString, Token};

use super::layout::{Kind, Layout, Member, ROOT, Shape};
use crate::analysis::{Analyzer, POSITION_GAP};
use crate::document::Document;
use crate::mapping::fits_keyword;

/// Longest id of a document, in bytes.
const MAX_ID: usize = 512;

/// Longest term, in bytes.
const MAX_TERM: usize = 32_766;

/// Maximum number of nested objects of a document.
const MAX_NESTED: usize = 10_000;

/// Bytes of a document in memory, beside its values.
const DOCUMENT: usize = 2 << 10;

/// Bytes of a term in memory, beside its text.
const TERM: usize = size_of::<Token>() + 16;

/// The documents of nested objects, and that of their root behind them.
#[derive(Default)]
pub(super) struct Block {
    pub(super) documents: Vec<TantivyDocument>,
    /// Bytes in memory, about.
    pub(super) bytes: usize,
}

/// Makes the block of a document.
///
/// # Errors
/// When the document does not fit the layout.
pub(super) fn block(layout: &Layout, document: &Document) -> Result<Block, String> {
    if document.id.is_empty() || document.id.len() > MAX_ID {
        return Err(format!("an id has 1 to {MAX_ID} bytes"));
    }
    let json = serde_json::from_slice(&document.source).map_err(|error| error.to_string())?;
    let Json::Object(members) = json else {
        return Err("a document is a JSON object".to_owned());
    };
    let mut writer = Writer {
        layout,
        id: &document.id,
        block: Block::default(),
    };
    let mut values = Values::default();
    writer.object(&layout.root, &members, &mut values)?;
    let mut root = writer.document(ROOT, values)?;
    root.add_text(layout.own.key, &document.id);
    root.add_bytes(layout.own.source, &document.source);
    writer.block.documents.push(root);
    writer.block.bytes += 2 * document.source.len();
    Ok(writer.block)
}

/// The values of a document by field, and its text as terms.
#[derive(Default)]
struct Values<'v> {
    leaves: HashMap<usize, Vec<&'v Json>>,
}

struct Writer<'w> {
    layout: &'w Layout,
    id: &'w str,
    block: Block,
}

impl<'w> Writer<'w> {
    /// Collects the values of an object, and writes the nested objects in it.
    fn object<'v>(
        &mut self,
        shape: &Shape,
        members: &'v Map<String, Json>,
        values: &mut Values<'v>,
    ) -> Result<(), String> {
        for (name, value) in members {
            let member = shape
                .members
                .get(name)
                .ok_or_else(|| format!("the index has no field `{name}`"))?;
            for value in each(value) {
                match member {
                    Member::SourceOnly => {}
                    Member::Values(leaves) => {
                        for leaf in leaves {
                            values.leaves.entry(*leaf).or_default().push(value);
                        }
                    }
                    Member::Objects(inner, level) => {
                        let Json::Object(members) = value else {
                            return Err(format!("`{name}` holds objects"));
                        };
                        self.embedded(inner, *level, members, values)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn embedded<'v>(
        &mut self,
        shape: &Shape,
        level: Option<usize>,
        members: &'v Map<String, Json>,
        values: &mut Values<'v>,
    ) -> Result<(), String> {
        let Some(level) = level else {
            return self.object(shape, members, values);
        };
        if self.block.documents.len() >= MAX_NESTED {
            return Err(format!(
                "a document has at most {MAX_NESTED} nested objects"
            ));
        }
        let mut own = Values::default();
        self.object(shape, members, &mut own)?;
        let document = self.document(level, own)?;
        self.block.documents.push(document);
        Ok(())
    }

    /// Writes the document of a level.
    fn document(&mut self, level: usize, values: Values<'_>) -> Result<TantivyDocument, String> {
        let own = self.layout.own;
        self.block.bytes += DOCUMENT;
        let mut document = TantivyDocument::default();
        document.add_text(own.block, self.id);
        document.add_u64(own.level, level as u64);
        for (at, values) in values.leaves {
            self.leaf(at, &values, &mut document)?;
        }
        Ok(document)
    }

    fn leaf(
        &mut self,
        at: usize,
        values: &[&Json],
        document: &mut TantivyDocument,
    ) -> Result<(), String> {
        let leaf = &self.layout.leaves[at];
        let misfit = |value: &Json| format!("{value} does not fit the field `{}`", leaf.path);
        match leaf.kind {
            Kind::Text(analyzer) => {
                let mut text = Text::default();
                for value in values {
                    text.add(analyzer, &scalar_text(value).ok_or_else(|| misfit(value))?)?;
                }
                document.add_u64(leaf.column, text.tokens.len() as u64);
                self.block.bytes += text.tokens.len() * TERM;
                if !text.tokens.is_empty() {
                    document.add_pre_tokenized_text(leaf.field, text.finish());
                }
            }
            Kind::Keyword => {
                for value in values {
                    let text = scalar_text(value).ok_or_else(|| misfit(value))?;
                    if fits_keyword(&text) {
                        document.add_text(leaf.field, text);
                    }
                }
            }
            Kind::Integer(least, greatest) => {
                for value in values {
                    let number = value
                        .as_i64()
                        .filter(|number| (least..=greatest).contains(number));
                    document.add_i64(leaf.field, number.ok_or_else(|| misfit(value))?);
                }
            }
            Kind::Unsigned => {
                for value in values {
                    document.add_u64(leaf.field, value.as_u64().ok_or_else(|| misfit(value))?);
                }
            }
            Kind::Double => {
                for value in values {
                    document.add_f64(leaf.field, value.as_f64().ok_or_else(|| misfit(value))?);
                }
            }
            Kind::Boolean => {
                for value in values {
                    let value = value.as_bool().ok_or_else(|| misfit(value))?;
                    document.add_u64(leaf.field, value.into());
                }
            }
        }
        Ok(())
    }
}

/// Returns the values of a member: those of a list, or the one; null is none.
fn each(value: &Json) -> impl Iterator<Item = &Json> {
    let values = match value {
        Json::Array(values) => values.as_slice(),
        value => std::slice::from_ref(value),
    };
    values.iter().filter(|value| !value.is_null())
}

/// Returns a value that is no list or object as text.
fn scalar_text(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => Some(text.clone()),
        Json::Number(_) | Json::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// The terms of the values of a field.
#[derive(Default)]
struct Text {
    tokens: Vec<Token>,
    next: usize,
}

impl Text {
    fn add(&mut self, analyzer: Analyzer, text: &str) -> Result<(), String> {
        let terms = analyzer.analyze(text);
        for token in terms.tokens {
            if token.text.len() > MAX_TERM {
                return Err(format!("a term has more than {MAX_TERM} bytes"));
            }
            self.tokens.push(Token {
                position: self.next + token.position as usize,
                text: token.text,
                ..Token::default()
            });
        }
        self.next += (terms.words + POSITION_GAP) as usize;
        Ok(())
    }

    fn finish(self) -> PreTokenizedString {
        PreTokenizedString {
            text: String::new(),
            tokens: self.tokens,
        }
    }
}
