//! What the answer to a search shows, in the order of the operation.

use std::sync::Arc;

use apollo_compiler::executable::{Field, SelectionSet};
use apollo_compiler::{Node, Schema as GraphqlSchema};

use soml_core::datatype::Scalar;
use soml_core::schema::{Range, Schema};

use super::federation::EntityTypes;
use super::reference::References;
use super::selection::Operation;
use super::target::Target;
use crate::mapping::{Content, Field as Indexed, Leaf, ObjectFields, Reads, ScalarIndex, index_of};

/// A field of an answer under its key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shown<T> {
    /// The key in the response.
    pub(crate) key: String,
    /// What is there.
    pub(crate) what: T,
}

/// The fields of an object of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fields<T> {
    /// The name of the GraphQL type.
    pub(crate) type_name: String,
    /// The fields, each key once.
    pub(crate) fields: Vec<Shown<T>>,
}

/// What is shown of the answer to a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape(pub(crate) Fields<ResultField>);

impl Shape {
    /// Tells whether scores are shown.
    pub(super) fn shows_scores(&self) -> bool {
        self.0.fields.iter().any(|shown| match &shown.what {
            ResultField::MaxScore => true,
            ResultField::Hits(hit) => hit.fields.iter().any(|of| of.what == HitField::Score),
            _ => false,
        })
    }

    /// Returns the fields of the source of hits that are shown.
    pub(super) fn source(&self) -> Vec<String> {
        let (mut source, mut has_id) = (Vec::new(), false);
        for shown in &self.0.fields {
            let ResultField::Hits(hit) = &shown.what else {
                continue;
            };
            for shown in &hit.fields {
                match &shown.what {
                    HitField::Id => has_id = true,
                    HitField::Object(object) => object.add_source("", &mut source),
                    HitField::Reference(references) => {
                        has_id = true;
                        if !references.types.is_certain {
                            put(&mut source, "type".to_owned());
                        }
                    }
                    HitField::TypeName | HitField::Score | HitField::Sort => {}
                }
            }
        }
        if has_id && !source.iter().any(|field| field == "id") {
            source.insert(0, "id".to_owned());
        }
        source
    }
}

impl Fields<ObjectField> {
    /// Adds the fields of the source that are shown of an object, whose own field is `above` with a dot.
    fn add_source(&self, above: &str, source: &mut Vec<String>) {
        for shown in &self.fields {
            let ObjectField::Value(value) = &shown.what else {
                continue;
            };
            let member = &value.member;
            match &value.content {
                ValueContent::Object(object) => {
                    object.add_source(&format!("{above}{member}."), source);
                }
                _ if value.is_converted => put(source, format!("{above}$shown.{member}")),
                _ => put(source, format!("{above}{member}")),
            }
        }
    }
}

fn put(source: &mut Vec<String>, path: String) {
    if !source.contains(&path) {
        source.push(path);
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ResultField {
    TypeName,
    Took,
    Total(Fields<TotalField>),
    MaxScore,
    Hits(Fields<HitField>),
    Aggregations(Fields<AggregationField>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TotalField {
    TypeName,
    Value,
    Relation,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HitField {
    TypeName,
    Id,
    Score,
    Sort,
    Object(Fields<ObjectField>),
    Reference(References),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BucketField {
    TypeName,
    Key,
    Count,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AggregationField {
    TypeName,
    Name,
    Type,
    Error,
    Other,
    Buckets(Fields<BucketField>),
}

/// A field of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ObjectField {
    TypeName,
    Value(Value),
}

/// The values of a field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Value {
    /// The member of the source.
    pub(crate) member: String,
    /// The member is one of `$shown`.
    pub(crate) is_converted: bool,
    /// There may be several values.
    pub(crate) multiple: bool,
    /// The value is never null.
    pub(crate) non_null: bool,
    /// What each value is.
    pub(crate) content: ValueContent,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ValueContent {
    /// JSON that is shown as it is.
    Plain,
    /// A JSON number that is shown as values of a scalar are.
    Number(Scalar),
    /// A literal, of which members are shown.
    Literal(Fields<LiteralField>),
    /// An embedded object.
    Object(Fields<ObjectField>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LiteralField {
    TypeName,
    Value,
    Lang,
    Type,
}

/// Returns whether values are numbers in the index, and strings in answers, as those of the object service are.
fn is_string_of_number(scalar: Scalar) -> bool {
    let is_number = matches!(
        index_of(scalar),
        ScalarIndex::Integer(_) | ScalarIndex::Double
    );
    let shown_as_number = [
        Scalar::Byte,
        Scalar::Short,
        Scalar::Int,
        Scalar::Long,
        Scalar::Double,
    ];
    is_number && !shown_as_number.contains(&scalar)
}

/// How the keys of buckets look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyForm {
    /// As the engine has them.
    AsIs,
    /// Exact numbers.
    Exact,
    /// Booleans, which engines show as numbers.
    Boolean,
    /// Instants as values of a scalar.
    Instant(Scalar),
}

/// Finds out how the keys of the buckets of a field look.
pub(super) fn key_form(soml: &Schema, target: Target<'_>) -> KeyForm {
    let Target::Values(field, Leaf::Scalar { index, .. }) = target else {
        return KeyForm::AsIs;
    };
    match index {
        ScalarIndex::Exact => KeyForm::Exact,
        ScalarIndex::Boolean => KeyForm::Boolean,
        ScalarIndex::Instant => KeyForm::Instant(match soml[field.reads.property()].range {
            Range::Scalar(scalar) => scalar,
            // A union of dates, years and months: each is its first day.
            _ => Scalar::Date,
        }),
        _ => KeyForm::AsIs,
    }
}

/// Reads selections.
#[derive(Clone, Copy)]
pub(super) struct Shapes<'d, 's> {
    pub(super) of: Operation<'d>,
    pub(super) soml: &'s Schema,
    /// The types of the objects of hits where those are references.
    pub(super) references: Option<(&'s GraphqlSchema, &'s Arc<EntityTypes>)>,
}

impl<'d> Shapes<'d, '_> {
    /// Reads what is selected of the answer to a search.
    pub(super) fn result(
        self,
        object: &ObjectFields,
        object_field: &str,
        fields: &[&'d Node<Field>],
    ) -> Shape {
        let sets = fields.iter().map(|field| &field.selection_set);
        Shape(self.fields(sets, |name, inner| match name {
            "took" => ResultField::Took,
            "total" => ResultField::Total(self.fields(inner, |name, _| match name {
                "value" => TotalField::Value,
                "relation" => TotalField::Relation,
                _ => TotalField::TypeName,
            })),
            "max_score" => ResultField::MaxScore,
            "hits" => ResultField::Hits(self.fields(inner, |name, inner| match name {
                "id" => HitField::Id,
                "score" => HitField::Score,
                "sort" => HitField::Sort,
                name if name == object_field => match self.references {
                    Some((schema, types)) => {
                        HitField::Reference(References::of(self.of, schema, types, inner))
                    }
                    None => HitField::Object(self.object(object, inner)),
                },
                _ => HitField::TypeName,
            })),
            "aggregations" => ResultField::Aggregations(self.aggregations(inner)),
            _ => ResultField::TypeName,
        }))
    }

    fn aggregations(self, sets: Vec<&'d SelectionSet>) -> Fields<AggregationField> {
        self.fields(sets, |name, inner| match name {
            "name" => AggregationField::Name,
            "type" => AggregationField::Type,
            "doc_count_error_upper_bound" => AggregationField::Error,
            "sum_other_doc_count" => AggregationField::Other,
            "buckets" => AggregationField::Buckets(self.fields(inner, |name, _| match name {
                "key" => BucketField::Key,
                "doc_count" => BucketField::Count,
                _ => BucketField::TypeName,
            })),
            _ => AggregationField::TypeName,
        })
    }

    fn object(self, object: &ObjectFields, sets: Vec<&'d SelectionSet>) -> Fields<ObjectField> {
        self.fields(sets, |name, inner| {
            let value = |member: &str, multiple, non_null| Value {
                member: member.to_owned(),
                is_converted: false,
                multiple,
                non_null,
                content: ValueContent::Plain,
            };
            let Some(field) = object.fields.get(name) else {
                return match name {
                    "id" => ObjectField::Value(value("id", false, true)),
                    "type" => ObjectField::Value(value("type", true, false)),
                    _ => ObjectField::TypeName,
                };
            };
            ObjectField::Value(Value {
                is_converted: field.leaf().is_some_and(Leaf::is_converted),
                content: self.content(field, inner),
                ..value(name, field.multiple, false)
            })
        })
    }

    fn content(self, field: &Indexed, sets: Vec<&'d SelectionSet>) -> ValueContent {
        if let Content::Object(embedded) = &field.content {
            return ValueContent::Object(self.object(&embedded.fields, sets));
        }
        let range = match field.reads {
            Reads::Name(_) => return ValueContent::Plain,
            Reads::Property(id) => self.soml[id].range,
        };
        match range {
            Range::Literal(_) => {}
            Range::Scalar(scalar) if is_string_of_number(scalar) => {
                return ValueContent::Number(scalar);
            }
            _ => return ValueContent::Plain,
        }
        ValueContent::Literal(self.fields(sets, |name, _| match name {
            "value" => LiteralField::Value,
            "lang" => LiteralField::Lang,
            "type" => LiteralField::Type,
            _ => LiteralField::TypeName,
        }))
    }

    /// Reads selection sets of one type; those of fields with the same key are taken together.
    pub(super) fn fields<T>(
        self,
        sets: impl IntoIterator<Item = &'d SelectionSet>,
        what: impl Fn(&str, Vec<&'d SelectionSet>) -> T,
    ) -> Fields<T> {
        let mut type_name = String::new();
        let sets = sets.into_iter().inspect(|set| {
            set.ty.as_str().clone_into(&mut type_name);
        });
        let by_key = self.of.by_key(sets);
        let fields = by_key.into_iter().map(|(key, fields)| {
            let inner = fields.iter().map(|field| &field.selection_set);
            Shown {
                key: key.to_owned(),
                what: what(fields[0].name.as_str(), inner.collect()),
            }
        });
        Fields {
            fields: fields.collect(),
            type_name,
        }
    }
}
