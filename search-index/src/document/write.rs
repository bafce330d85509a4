//! Writes documents.

use std::fmt;

use bytes::Bytes;
use graph_store::facts::FactsOf;
use graph_store::value::Numbers;
use oxrdf::Term;
use soml_core::schema::Schema;

use super::leaf::{LeafWriter, reported};
use crate::mapping::{Content, Embedded, FACTS, Field, IndexDefinition, Leaf, ObjectFields};
use crate::value::{document_id, fact_tokens};

/// The values of an object, as they were read.
#[derive(Clone, Debug)]
pub struct ObjectValues<'v> {
    /// The IRI of the object.
    pub iri: &'v str,
    /// The IRIs of its classes.
    pub types: Vec<&'v str>,
    /// The values of each field, in the order of [`ObjectFields::fields`].
    pub fields: Vec<FieldValues<'v>>,
    /// What is known of [`ObjectFields::facts`], if there are any.
    pub facts: Option<&'v FactsOf>,
}

/// The values of a field, as they were read.
#[derive(Clone, Debug)]
pub enum FieldValues<'v> {
    /// Values, each once.
    Terms(&'v [Term]),
    /// Objects, each once.
    Objects {
        /// The objects.
        objects: Vec<ObjectValues<'v>>,
        /// Literals beside them, which are none.
        literals: Vec<&'v Term>,
    },
}

impl<'v> FieldValues<'v> {
    /// Returns objects without literals.
    #[must_use]
    pub fn objects(objects: Vec<ObjectValues<'v>>) -> Self {
        FieldValues::Objects {
            objects,
            literals: Vec::new(),
        }
    }
}

/// The document of an object.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Document {
    /// The id of the document.
    pub id: String,
    /// The document as JSON.
    pub source: Bytes,
    /// Values that are not in it, or not wholly.
    pub malformed: Vec<Malformed>,
}

/// A value that cannot be indexed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Malformed {
    /// The object that has the value.
    pub iri: String,
    /// The full name of the field.
    pub path: String,
    /// The beginning of the value, as a term.
    pub value: String,
    /// Its problem.
    pub reason: Reason,
}

/// Why a value cannot be indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// It is not in the range of the property.
    IllTyped,
    /// It is a date before the year -9999 or after the year 99999.
    DateOutOfRange,
    /// It has more digits or characters than a whole value may have.
    TooLong,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::IllTyped => "it is not in the range of the property",
            Reason::DateOutOfRange => "dates are indexed from the year -9999 to the year 99999",
            Reason::TooLong => "it is too long for a whole value",
        })
    }
}

impl Document {
    /// Writes the document of an object.
    ///
    /// # Panics
    /// When the values are not those of the fields of the index.
    #[must_use]
    pub fn of(schema: &Schema, index: &IndexDefinition, object: &ObjectValues<'_>) -> Document {
        let mut writer = Writer {
            schema,
            malformed: Vec::new(),
        };
        let mut source = Vec::with_capacity(1 << 10);
        writer.object(&index.fields, object, &mut source);
        Document {
            id: document_id(object.iri),
            source: source.into(),
            malformed: writer.malformed,
        }
    }
}

/// Writes objects as JSON.
struct Writer<'s> {
    schema: &'s Schema,
    malformed: Vec<Malformed>,
}

impl Writer<'_> {
    fn object(&mut self, fields: &ObjectFields, object: &ObjectValues<'_>, out: &mut Vec<u8>) {
        let mut members = Members::open(out);
        members.key("id").extend(json_string(object.iri));
        if let Some(facts) = object.facts {
            let tokens: Vec<_> = fact_tokens(facts)
                .map(|token| json_string(&token))
                .collect();
            members.list(FACTS, &tokens, true);
        }
        if !fields.id_only {
            let types: Vec<_> = object.types.iter().map(|ty| json_string(ty)).collect();
            members.list("type", &types, true);
        }
        assert_eq!(
            fields.fields.len(),
            object.fields.len(),
            "there are values for each field"
        );
        let mut shown = Vec::new();
        let mut shown_members = Members::open(&mut shown);
        for ((name, field), values) in fields.fields.iter().zip(&object.fields) {
            match (&field.content, values) {
                (Content::Leaf(leaf), FieldValues::Terms(terms)) => {
                    let mut leaves = LeafWriter::new(self.schema, field, leaf, terms);
                    leaves.write(name, &mut members, &mut shown_members);
                    let iri = object.iri;
                    let malformed = leaves.malformed.into_iter();
                    self.malformed
                        .extend(malformed.map(|(value, reason)| Malformed {
                            iri: iri.to_owned(),
                            path: field.path.clone(),
                            value,
                            reason,
                        }));
                }
                (Content::Object(embedded), FieldValues::Objects { objects, literals }) => {
                    self.embedded(name, field, embedded, objects, &mut members);
                    self.malformed
                        .extend(literals.iter().map(|literal| Malformed {
                            iri: object.iri.to_owned(),
                            path: field.path.clone(),
                            value: reported(&literal.to_string()),
                            reason: Reason::IllTyped,
                        }));
                }
                _ => panic!("the values of `{}` are of its kind", field.path),
            }
        }
        if shown_members.close() {
            members.key("$shown").extend(shown);
        }
        members.close();
    }

    fn embedded(
        &mut self,
        name: &str,
        field: &Field,
        embedded: &Embedded,
        objects: &[ObjectValues<'_>],
        members: &mut Members<'_>,
    ) {
        let mut sorted: Vec<_> = objects.iter().collect();
        sorted.sort_unstable_by_key(|object| object.iri);
        if !field.multiple {
            sorted.truncate(1);
        }
        let written: Vec<_> = sorted
            .into_iter()
            .map(|object| {
                let mut out = Vec::new();
                self.object(&embedded.fields, object, &mut out);
                out
            })
            .collect();
        members.list(name, &written, field.multiple);
    }
}

/// An object that is being written.
pub(super) struct Members<'o> {
    out: &'o mut Vec<u8>,
    is_empty: bool,
}

impl<'o> Members<'o> {
    fn open(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Members {
            out,
            is_empty: true,
        }
    }

    /// Ends the object; returns whether it has members.
    fn close(self) -> bool {
        self.out.push(b'}');
        !self.is_empty
    }

    /// Begins a member, whose value is to be written next.
    fn key(&mut self, name: &str) -> &mut Vec<u8> {
        if !self.is_empty {
            self.out.push(b',');
        }
        self.is_empty = false;
        self.out.extend(json_string(name));
        self.out.push(b':');
        self.out
    }

    /// Writes values as a list or, where there is one at most, as that one; nothing if there are none.
    pub(super) fn list(&mut self, name: &str, values: &[Vec<u8>], multiple: bool) {
        match values {
            [] => {}
            [value] if !multiple => self.key(name).extend(value),
            values => {
                let out = self.key(name);
                for (at, value) in values.iter().enumerate() {
                    out.push(if at == 0 { b'[' } else { b',' });
                    out.extend(value);
                }
                out.push(b']');
            }
        }
    }
}

/// Returns a text as a JSON string.
pub(super) fn json_string(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 2);
    graphql_service::writer::write_string(&mut out, text);
    out
}

/// How numbers look to answers: those that a JSON reader may not hold are strings.
pub(super) const SHOWN: Numbers = Numbers::Exact;

/// Returns whether the leaf is text in languages, of which every value is indexed.
pub(super) fn is_language(leaf: &Leaf) -> bool {
    matches!(leaf, Leaf::Language { .. })
}
