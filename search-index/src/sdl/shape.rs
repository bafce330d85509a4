//! What the answer to a search shows, in the order of the operation.

use std::cell::RefCell;
use std::sync::Arc;

use apollo_compiler::Schema as GraphqlSchema;
use apollo_compiler::executable::SelectionSet;

use graphql_service::denial;
use graphql_service::error::{GraphqlError, Location, PathSegment};
use soml_core::datatype::Scalar;
use soml_core::schema::{Range, Schema};

use super::federation::EntityTypes;
use super::guard::{Guard, Meant};
use super::reference::References;
use super::selection::{FieldGroup, Operation};
use super::target::Target;
use crate::access::Condition;
use crate::mapping::{
    Content, FACTS, Field as Indexed, Leaf, ObjectFields, Reads, ScalarIndex, index_of,
};

/// A field of an answer under its key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shown<T> {
    /// The key in the response.
    pub(crate) key: String,
    /// What is there.
    pub(crate) what: T,
    /// Where it is there; `None` for everywhere.
    pub(crate) condition: Option<Condition>,
}

/// The fields of an object of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fields<T> {
    /// The name of the GraphQL type.
    pub(crate) type_name: String,
    /// The fields, each key once.
    pub(crate) fields: Vec<Shown<T>>,
}

/// The parts of the response to a search that are returned.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponseShape(pub(crate) Fields<ResultField>);

impl ResponseShape {
    /// Returns whether scores are shown.
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
                if shown.condition.is_some() {
                    put(&mut source, FACTS.to_owned());
                }
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
        if self.fields.iter().any(|shown| shown.condition.is_some()) {
            put(source, format!("{above}{FACTS}"));
        }
        for shown in &self.fields {
            let ObjectField::Value(value) = &shown.what else {
                continue;
            };
            let member = &value.member;
            match &value.content {
                ValueContent::Object(object) => {
                    // Of an object without any of the fields an engine would show nothing, not even that it is there.
                    put(source, format!("{above}{member}.id"));
                    if value.of_objects.is_some() {
                        put(source, format!("{above}{member}.{FACTS}"));
                    }
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
    /// Which of the objects that are embedded are there; `None` for all.
    pub(crate) of_objects: Option<Condition>,
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

/// Returns whether values are numbers in the index, and strings in answers, as those of the object
/// service are (docs/queries.md, "Values").
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
    pub(super) guard: Guard<'s>,
    pub(super) left_out: &'s RefCell<Vec<GraphqlError>>,
}

/// What is made of a field that is selected: nothing, or what is shown, and where.
type Selected<T> = Result<Option<(T, Option<Condition>)>, GraphqlError>;

/// The response keys from the root to a selection.
#[derive(Clone, Copy)]
struct Keys<'k> {
    above: Option<&'k Keys<'k>>,
    key: &'k str,
}

impl Keys<'_> {
    fn path(&self) -> Vec<PathSegment> {
        let mut path = self.above.map(Keys::path).unwrap_or_default();
        path.push(PathSegment::Key(self.key.to_owned()));
        path
    }
}

impl<'d> Shapes<'d, '_> {
    /// Reads what is selected of the answer to a search; `None` where nothing of it can be read.
    pub(super) fn result(
        self,
        object: &ObjectFields,
        object_field: &str,
        group: FieldGroup<'d, '_>,
    ) -> Result<Option<ResponseShape>, GraphqlError> {
        let keys = Keys {
            above: None,
            key: group.key,
        };
        let shape = self.readable_fields(group.selection_sets(), &keys, |name, inner, keys| {
            let all = |what| Ok(Some((what, None)));
            match name {
                "took" => all(ResultField::Took),
                "total" => all(ResultField::Total(self.fields(
                    inner,
                    |name, _| match name {
                        "value" => TotalField::Value,
                        "relation" => TotalField::Relation,
                        _ => TotalField::TypeName,
                    },
                ))),
                "max_score" => all(ResultField::MaxScore),
                "hits" => {
                    let hits = self.readable_fields(inner, keys, |name, inner, keys| {
                        self.hit(object, object_field, name, inner, keys)
                    })?;
                    Ok(hits.map(|hits| (ResultField::Hits(hits), None)))
                }
                "aggregations" => all(ResultField::Aggregations(self.aggregations(inner))),
                _ => all(ResultField::TypeName),
            }
        })?;
        Ok(shape.map(ResponseShape))
    }

    fn hit(
        self,
        object: &ObjectFields,
        object_field: &str,
        name: &str,
        inner: Vec<&'d SelectionSet>,
        keys: &Keys<'_>,
    ) -> Selected<HitField> {
        let all = |what| Ok(Some((what, None)));
        match name {
            "id" => self.where_read(object, "id", || HitField::Id),
            "score" => all(HitField::Score),
            // The last key is the id.
            // It cannot be cut short: `search_after` takes all values (docs/search.md, "With
            // security on").
            "sort" => match self.guard.readable(object, "id")? {
                Meant::All => all(HitField::Sort),
                Meant::Nothing | Meant::Some(_) => Ok(None),
            },
            name if name == object_field => match self.references {
                Some((schema, types)) => {
                    let id = self.guard.readable(object, "id")?;
                    let meant = id.and(self.guard.readable(object, "__typename")?);
                    Ok(meant.then(|| {
                        HitField::Reference(References::of(self.of, schema, types, inner))
                    }))
                }
                None => {
                    let object = self.object(object, inner, keys)?;
                    Ok(object.map(|object| (HitField::Object(object), None)))
                }
            },
            _ => all(HitField::TypeName),
        }
    }

    fn where_read<T>(
        self,
        object: &ObjectFields,
        field: &str,
        what: impl FnOnce() -> T,
    ) -> Selected<T> {
        Ok(self.guard.readable(object, field)?.then(what))
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

    fn object(
        self,
        object: &ObjectFields,
        sets: Vec<&'d SelectionSet>,
        keys: &Keys<'_>,
    ) -> Result<Option<Fields<ObjectField>>, GraphqlError> {
        self.readable_fields(sets, keys, |name, inner, keys| {
            let value = |member: &str, multiple, non_null| Value {
                member: member.to_owned(),
                is_converted: false,
                multiple,
                non_null,
                content: ValueContent::Plain,
                of_objects: None,
            };
            let Some(field) = object.fields.get(name) else {
                return self.where_read(object, name, || match name {
                    "id" => ObjectField::Value(value("id", false, true)),
                    "type" => ObjectField::Value(value("type", true, false)),
                    _ => ObjectField::TypeName,
                });
            };
            let readable = self.guard.readable(object, name)?;
            let mut of_objects = None;
            let content = match &field.content {
                Content::Object(embedded) => {
                    let shown = self.guard.embedded(&embedded.fields)?;
                    if shown.is_nothing() {
                        return Ok(None);
                    }
                    of_objects = shown.condition();
                    match self.object(&embedded.fields, inner, keys)? {
                        Some(object) => ValueContent::Object(object),
                        None => return Ok(None),
                    }
                }
                Content::Leaf(_) => self.leaf(field, inner),
            };
            Ok(readable.then(|| {
                ObjectField::Value(Value {
                    is_converted: field.leaf().is_some_and(Leaf::is_converted),
                    content,
                    of_objects,
                    ..value(name, field.multiple, false)
                })
            }))
        })
    }

    fn leaf(self, field: &Indexed, sets: Vec<&'d SelectionSet>) -> ValueContent {
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
        let key = Keys {
            above: None,
            key: "",
        };
        let all = self.readable_fields(sets, &key, |name, inner, _| {
            Ok(Some((what(name, inner), None)))
        });
        match all {
            Ok(Some(fields)) => fields,
            // Nothing is left out of what every caller reads.
            Ok(None) | Err(_) => Fields {
                type_name: String::new(),
                fields: Vec::new(),
            },
        }
    }

    /// Does the same where fields may be left out, each with a warning; `None` where nothing but `__typename` is left.
    fn readable_fields<T>(
        self,
        sets: impl IntoIterator<Item = &'d SelectionSet>,
        keys: &Keys<'_>,
        what: impl Fn(&str, Vec<&'d SelectionSet>, &Keys<'_>) -> Selected<T>,
    ) -> Result<Option<Fields<T>>, GraphqlError> {
        let mut type_name = String::new();
        let sets = sets.into_iter().inspect(|set| {
            set.ty.as_str().clone_into(&mut type_name);
        });
        let by_key = self.of.by_key(sets);
        let mut fields = Vec::with_capacity(by_key.len());
        let (mut leaves_out, mut has_more) = (false, false);
        for (key, nodes) in by_key {
            let inner = nodes.iter().map(|field| &field.selection_set);
            let (name, keys) = (
                nodes[0].name.as_str(),
                Keys {
                    above: Some(keys),
                    key,
                },
            );
            let warned = self.left_out.borrow().len();
            match what(name, inner.collect(), &keys)? {
                Some((what, condition)) => {
                    has_more |= name != "__typename";
                    fields.push(Shown {
                        key: key.to_owned(),
                        what,
                        condition,
                    });
                }
                None => {
                    leaves_out = true;
                    // What is emptied has its warnings inside.
                    if self.left_out.borrow().len() == warned {
                        let warning = denial::left_out(name, &type_name, &self.guard.roles());
                        let location =
                            Location::of(nodes[0].name.location(), &self.of.document().sources);
                        let warning = warning.at(location).on(keys.path());
                        self.left_out.borrow_mut().push(warning);
                    }
                }
            }
        }
        let is_emptied = leaves_out && !has_more;
        Ok((!is_emptied).then_some(Fields { type_name, fields }))
    }
}
