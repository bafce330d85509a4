//! Writes the answer to one search.

use graph_store::value::{ExactKey, Numbers, bcp47_case, write_scalar};
use graphql_service::error::Location;
use graphql_service::writer::{AnswerWriter, PathStep, PropagateNull, WriteResult};
use oxrdf::LiteralRef;
use oxrdf::vocab::xsd;
use serde_json::value::RawValue;
use soml_core::datatype::Scalar;

use super::document::Members;
use super::federation::write_reference;
use crate::access::Condition;
use crate::code;
use crate::dsl;
use crate::engine::{AggregationAnswer, AggregationContent, Answer, Bucket, Hit, Total};
use crate::mapping::FACTS;
use crate::sdl::{
    AggregationField, BucketField, Fields, HitField, KeyForm, LiteralField, ObjectField,
    References, ResultField, RootSearch, Shown, TotalField, Value, ValueContent,
};
use crate::value::text_of_millis;

/// The answer of an engine to a search of an operation.
pub(crate) struct AnswerToSearch<'a> {
    /// The search.
    pub(crate) search: &'a RootSearch,
    /// The answer.
    pub(crate) answer: &'a Answer,
}

impl<'a> AnswerToSearch<'a> {
    /// Writes the value of the root field, whose path is entered.
    ///
    /// # Errors
    /// When the answer was given up.
    pub(crate) fn write(&self, writer: &mut AnswerWriter<'a>) -> WriteResult {
        let (mark, depth) = (writer.mark(), writer.depth());
        let mut out = Writer {
            answer: writer,
            location: self.search.location,
        };
        match out.result(self) {
            Ok(()) => Ok(()),
            Err(PropagateNull) => {
                writer.leave_to(depth);
                writer.null_from(mark, false)
            }
        }
    }
}

/// What is written of a field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Shown,
    Null,
    /// Nothing, not even its key.
    LeftOut,
}

struct Writer<'w, 'a> {
    answer: &'w mut AnswerWriter<'a>,
    location: Option<Location>,
}

impl<'a> Writer<'_, 'a> {
    /// Writes an object, its fields by a function that gets the name of its type.
    fn object<T>(
        &mut self,
        fields: &'a Fields<T>,
        write: impl FnMut(&mut Self, &'a T, &'a str) -> WriteResult,
    ) -> WriteResult {
        self.object_but(fields, |_| Place::Shown, write)
    }

    /// Writes an object, some of whose fields may be hidden.
    fn object_but<T>(
        &mut self,
        fields: &'a Fields<T>,
        place: impl Fn(&Shown<T>) -> Place,
        mut write: impl FnMut(&mut Self, &'a T, &'a str) -> WriteResult,
    ) -> WriteResult {
        self.answer.out.push(b'{');
        let places = fields.fields.iter().map(|field| (field, place(field)));
        let shown = places.filter(|(_, place)| *place != Place::LeftOut);
        for (position, (field, place)) in shown.enumerate() {
            self.answer.key(position, &field.key);
            if place == Place::Null {
                self.answer.null();
                continue;
            }
            self.answer.enter(PathStep::Key(&field.key));
            write(self, &field.what, &fields.type_name)?;
            self.answer.leave();
        }
        self.answer.out.push(b'}');
        self.answer.check_size()
    }

    fn list<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T) -> WriteResult,
    ) -> WriteResult {
        self.answer.out.push(b'[');
        for (position, item) in items.into_iter().enumerate() {
            if position > 0 {
                self.answer.out.push(b',');
            }
            self.answer.enter(PathStep::Index(position));
            write(self, item)?;
            self.answer.leave();
        }
        self.answer.out.push(b']');
        Ok(())
    }

    fn result(&mut self, of: &AnswerToSearch<'a>) -> WriteResult {
        let answer = of.answer;
        self.object(&of.search.shape.0, |to, field, type_name| {
            match field {
                ResultField::TypeName => to.answer.string(type_name),
                ResultField::Took => to
                    .answer
                    .number(answer.took.min(i32::MAX.unsigned_abs().into())),
                ResultField::Total(fields) => match &answer.total {
                    Some(total) => to.total(fields, *total)?,
                    None => to.answer.null(),
                },
                ResultField::MaxScore => to.score(answer.max_score),
                ResultField::Hits(fields) => {
                    to.list(&answer.hits, |to, hit| to.hit(fields, hit))?;
                }
                ResultField::Aggregations(fields) => {
                    let all = answer.aggregations.iter().zip(&of.search.key_forms);
                    to.list(all, |to, (one, form)| to.aggregation(fields, one, *form))?;
                }
            }
            Ok(())
        })
    }

    fn total(&mut self, fields: &'a Fields<TotalField>, total: Total) -> WriteResult {
        self.object(fields, |to, field, type_name| {
            match field {
                TotalField::TypeName => to.answer.string(type_name),
                TotalField::Value => to.answer.number(total.value),
                TotalField::Relation if total.is_lower_bound => to.answer.string("gte"),
                TotalField::Relation => to.answer.string("eq"),
            }
            Ok(())
        })
    }

    fn hit(&mut self, fields: &'a Fields<HitField>, hit: &'a Hit) -> WriteResult {
        let source = Members::read(&hit.source).map_err(|_| self.broken())?;
        let facts = self.facts(fields, &source)?;
        let place = |field: &Shown<HitField>| match field.what {
            _ if is_readable(field, &facts) => Place::Shown,
            HitField::Reference(_) => Place::Null,
            _ => Place::LeftOut,
        };
        self.object_but(fields, place, |to, field, type_name| {
            match field {
                HitField::TypeName => to.answer.string(type_name),
                HitField::Id => {
                    let id = source.get("id").ok_or_else(|| to.broken())?;
                    to.answer.out.extend_from_slice(id.get().as_bytes());
                }
                HitField::Score => to.score(hit.score),
                HitField::Sort => to.list(&hit.sort, |to, value| {
                    match value {
                        Some(value) => to.answer.string(&text_of(value)),
                        None => to.answer.null(),
                    }
                    Ok(())
                })?,
                HitField::Object(fields) => to.document(fields, &source)?,
                HitField::Reference(references) => to.reference(references, &source)?,
            }
            Ok(())
        })
    }

    /// Writes a referenced object; null, with an error, if it is of no known type.
    fn reference(&mut self, shown: &'a References, source: &Members<'a>) -> WriteResult {
        let id = source.get("id").ok_or_else(|| self.broken())?;
        let classes: Vec<String> = match source.get("type") {
            Some(classes) => serde_json::from_str(classes.get()).map_err(|_| self.broken())?,
            None => Vec::new(),
        };
        let has_class = |class: &str| classes.iter().any(|of| of == class);
        let Some(ty) = shown.types.resolve(has_class) else {
            let message = format!("{id} has no concrete type of the schema");
            self.answer
                .error(code::HIT_TYPE_UNKNOWN, &message, self.location);
            self.answer.null();
            return Ok(());
        };
        let write_id =
            |writer: &mut AnswerWriter<'a>| writer.out.extend_from_slice(id.get().as_bytes());
        write_reference(shown, ty, write_id, self.answer)
    }

    fn document(&mut self, fields: &'a Fields<ObjectField>, members: &Members<'a>) -> WriteResult {
        let shown = match members.get("$shown") {
            Some(shown) => self.members(shown)?,
            None => Members::default(),
        };
        let facts = self.facts(fields, members)?;
        let place = |field: &Shown<ObjectField>| match &field.what {
            _ if is_readable(field, &facts) => Place::Shown,
            ObjectField::TypeName => Place::LeftOut,
            ObjectField::Value(value) if matches!(value.member.as_str(), "id" | "type") => {
                Place::LeftOut
            }
            ObjectField::Value(_) => Place::Null,
        };
        self.object_but(fields, place, |to, field, type_name| match field {
            ObjectField::TypeName => {
                to.answer.string(type_name);
                Ok(())
            }
            ObjectField::Value(value) => {
                let from = if value.is_converted { &shown } else { members };
                match from.get(&value.member) {
                    Some(json) => to.values(value, json),
                    None if value.non_null => Err(to.broken()),
                    None => {
                        to.answer.null();
                        Ok(())
                    }
                }
            }
        })
    }

    fn values(&mut self, value: &'a Value, json: &'a RawValue) -> WriteResult {
        if let (ValueContent::Object(fields), Some(condition)) = (&value.content, &value.of_objects)
        {
            return self.shown_objects(value.multiple, fields, condition, json);
        }
        let is_list = json.get().starts_with('[');
        match (value.multiple, is_list) {
            (false, false) => self.value(value, json),
            (false, true) => Err(self.broken()),
            (true, false) => self.list([json], |to, json| to.value(value, json)),
            (true, true) if value.content == ValueContent::Plain => self.value(value, json),
            (true, true) => {
                let items: Vec<&RawValue> =
                    serde_json::from_str(json.get()).map_err(|_| self.broken())?;
                self.list(items, |to, json| to.value(value, json))
            }
        }
    }

    /// Writes those of the embedded objects that satisfy a condition.
    fn shown_objects(
        &mut self,
        multiple: bool,
        fields: &'a Fields<ObjectField>,
        condition: &Condition,
        json: &'a RawValue,
    ) -> WriteResult {
        let items: Vec<&RawValue> = if json.get().starts_with('[') {
            serde_json::from_str(json.get()).map_err(|_| self.broken())?
        } else {
            vec![json]
        };
        let mut shown = Vec::with_capacity(items.len());
        for item in items {
            let members = self.members(item)?;
            if condition.holds(&self.terms_of(&members)?) {
                shown.push(members);
            }
        }
        match shown.first() {
            Some(_) if multiple => self.list(shown, |to, members| to.document(fields, &members)),
            Some(members) => self.document(fields, members),
            // As if there were none.
            None => {
                self.answer.null();
                Ok(())
            }
        }
    }

    /// Returns the terms of the facts about an object, if some of its fields depend on these.
    fn facts<T>(
        &mut self,
        fields: &Fields<T>,
        members: &Members<'a>,
    ) -> Result<Vec<String>, PropagateNull> {
        if fields.fields.iter().any(|field| field.condition.is_some()) {
            self.terms_of(members)
        } else {
            Ok(Vec::new())
        }
    }

    fn terms_of(&mut self, members: &Members<'a>) -> Result<Vec<String>, PropagateNull> {
        match members.get(FACTS) {
            Some(terms) => serde_json::from_str(terms.get()).map_err(|_| self.broken()),
            None => Ok(Vec::new()),
        }
    }

    fn value(&mut self, value: &'a Value, json: &'a RawValue) -> WriteResult {
        match &value.content {
            ValueContent::Plain => {
                self.answer.out.extend_from_slice(json.get().as_bytes());
                Ok(())
            }
            ValueContent::Number(scalar) => {
                let text = json.get();
                let datatype = if text.contains(['.', 'e', 'E']) {
                    xsd::DOUBLE
                } else {
                    xsd::INTEGER
                };
                let number = LiteralRef::new_typed_literal(text, datatype);
                if write_scalar(&mut self.answer.out, *scalar, number, Numbers::Exact) {
                    Ok(())
                } else {
                    Err(self.broken())
                }
            }
            ValueContent::Literal(fields) => {
                let members = self.members(json)?;
                self.object(fields, |to, field, type_name| {
                    match field {
                        LiteralField::TypeName => to.answer.string(type_name),
                        LiteralField::Value => to.member(&members, "value"),
                        LiteralField::Lang => to.language(&members)?,
                        LiteralField::Type => to.member(&members, "type"),
                    }
                    Ok(())
                })
            }
            ValueContent::Object(fields) => {
                let members = self.members(json)?;
                self.document(fields, &members)
            }
        }
    }

    /// Writes a member as it is, or null.
    fn member(&mut self, members: &Members<'a>, name: &str) {
        let json = members.get(name).map_or("null", RawValue::get);
        self.answer.out.extend_from_slice(json.as_bytes());
    }

    /// Writes the language tag of a literal as the object service does.
    fn language(&mut self, members: &Members<'a>) -> WriteResult {
        match members.get("lang") {
            Some(json) => {
                let tag: String = serde_json::from_str(json.get()).map_err(|_| self.broken())?;
                self.answer.string(&bcp47_case(&tag));
            }
            None => self.answer.null(),
        }
        Ok(())
    }

    fn aggregation(
        &mut self,
        fields: &'a Fields<AggregationField>,
        of: &'a AggregationAnswer,
        form: KeyForm,
    ) -> WriteResult {
        let (buckets, other, error) = match &of.content {
            AggregationContent::Buckets {
                buckets,
                other,
                error,
            } => (buckets, *other, *error),
            // The field is one of embedded objects: there is one aggregation inside, the one asked for.
            AggregationContent::Nested { aggregations, .. } => {
                let inner = aggregations.first().ok_or_else(|| self.broken())?;
                return self.aggregation(fields, inner, form);
            }
        };
        self.object(fields, |to, field, type_name| {
            match field {
                AggregationField::TypeName => to.answer.string(type_name),
                AggregationField::Name => to.answer.string(&of.name),
                AggregationField::Type => to.answer.string("terms"),
                AggregationField::Error => to.answer.number(error),
                AggregationField::Other => to.answer.number(other),
                AggregationField::Buckets(fields) => {
                    to.list(buckets, |to, bucket| to.bucket(fields, bucket, form))?;
                }
            }
            Ok(())
        })
    }

    fn bucket(
        &mut self,
        fields: &'a Fields<BucketField>,
        bucket: &Bucket,
        form: KeyForm,
    ) -> WriteResult {
        self.object(fields, |to, field, type_name| {
            match field {
                BucketField::TypeName => to.answer.string(type_name),
                BucketField::Count => to.answer.number(bucket.count),
                BucketField::Key => {
                    let key = key_text(form, &bucket.key).ok_or_else(|| to.broken())?;
                    to.answer.string(&key);
                }
            }
            Ok(())
        })
    }

    /// Writes a score with the digits of the 32-bit number that it is.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "engines have scores of 32 bits"
    )]
    fn score(&mut self, score: Option<f64>) {
        match score {
            Some(score) if score.is_finite() => {
                serde_json::to_writer(&mut self.answer.out, &(score as f32))
                    .expect("writing to memory does not fail");
            }
            _ => self.answer.null(),
        }
    }

    fn members(&mut self, json: &'a RawValue) -> Result<Members<'a>, PropagateNull> {
        Members::read(json.get().as_bytes()).map_err(|_| self.broken())
    }

    /// Reports that the index holds something that this schema does not write.
    fn broken(&mut self) -> PropagateNull {
        let message = "the index contains a document that does not have the form defined by the \
                       schema";
        self.answer
            .error(code::INDEX_BROKEN, message, self.location);
        PropagateNull
    }
}

/// Returns whether a field of an object can be read, given the terms of the facts about it.
fn is_readable<T>(field: &Shown<T>, facts: &[String]) -> bool {
    let condition = field.condition.as_ref();
    condition.is_none_or(|condition| condition.holds(facts))
}

/// Returns a sort value as `search_after` takes it.
fn text_of(value: &dsl::Value) -> String {
    match value {
        dsl::Value::Text(text) => text.clone(),
        dsl::Value::Integer(number) => number.to_string(),
        dsl::Value::Unsigned(number) => number.to_string(),
        dsl::Value::Double(number) => number.to_string(),
        dsl::Value::Boolean(value) => value.to_string(),
    }
}

/// Returns the key of a bucket in canonical lexical form; `None` if it is no key of this form.
fn key_text(form: KeyForm, key: &dsl::Value) -> Option<String> {
    Some(match (form, key) {
        (KeyForm::AsIs, key) => text_of(key),
        (KeyForm::Exact, dsl::Value::Text(key)) => ExactKey::from_engine(key)?.to_number(),
        (KeyForm::Boolean, dsl::Value::Boolean(value)) => value.to_string(),
        (KeyForm::Boolean, dsl::Value::Integer(number)) => (*number != 0).to_string(),
        (KeyForm::Instant(scalar), dsl::Value::Integer(millis)) => {
            let text = text_of_millis(*millis);
            let (date, _) = text.split_once('T')?;
            match scalar {
                Scalar::DateTime => text,
                Scalar::YearMonth => date[..date.len() - "-01".len()].to_owned(),
                Scalar::Year => date[..date.len() - "-01-01".len()].to_owned(),
                _ => date.to_owned(),
            }
        }
        _ => return None,
    })
}
