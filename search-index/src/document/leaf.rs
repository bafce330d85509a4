//! Writes the values of a field that are no objects.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ptr;

use graph_store::value::{
    CanonicalValue, ExactKey, Languages, LiteralTypes, canonical_value, cast, cast_name, is_text,
    write_enum, write_scalar,
};
use oxrdf::{Literal, Term};
use soml_core::datatype::Scalar;
use soml_core::lang::LangSpec;
use soml_core::schema::{LiteralRange, Property, Range, Schema};

use super::write::{Members, Reason, SHOWN, is_language, json_string};
use crate::mapping::{Field, Leaf, Reads, ScalarIndex, fits_keyword};
use crate::value::{millis_of_term, text_of_millis, time_key};

/// Longest beginning of a value in a report, in characters.
const REPORTED: usize = 200;

/// Writes the values of one field of one object.
pub(super) struct LeafWriter<'v> {
    schema: &'v Schema,
    field: &'v Field,
    leaf: &'v Leaf,
    property: &'v Property,
    terms: &'v [Term],
    /// Values that cannot be indexed.
    pub(super) malformed: Vec<(String, Reason)>,
}

/// A value in its forms.
struct Value {
    /// What values are sorted and told apart by.
    order: CanonicalKey,
    /// As the field has it; `None` if only the other forms can be indexed.
    indexed: Option<Vec<u8>>,
    /// As the field of exact numbers has it.
    exact: Option<Vec<u8>>,
    /// As answers show it, where that is something else.
    shown: Option<Vec<u8>>,
}

/// The order of values: numbers and instants by value, all others by code point.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CanonicalKey {
    Of(CanonicalValue<'static>),
    Text(String),
}

impl<'v> LeafWriter<'v> {
    pub(super) fn new(
        schema: &'v Schema,
        field: &'v Field,
        leaf: &'v Leaf,
        terms: &'v [Term],
    ) -> Self {
        LeafWriter {
            schema,
            field,
            leaf,
            property: &schema[field.reads.property()],
            terms,
            malformed: Vec::new(),
        }
    }

    /// Writes the values, and what answers show of them where that is something else.
    pub(super) fn write(&mut self, name: &str, members: &mut Members<'_>, shown: &mut Members<'_>) {
        if is_language(self.leaf) {
            self.languages(name, members, shown);
            return;
        }
        let mut values: Vec<Value> = Vec::new();
        let wanted: HashSet<_> = self.wanted().into_iter().map(ptr::from_ref).collect();
        for term in self.terms {
            let is_wanted = wanted.contains(&ptr::from_ref(term));
            match self.value(term) {
                Ok(value) if is_wanted => {
                    self.report_long(term);
                    values.push(value);
                }
                Ok(_) => {}
                Err(reason) => self.report(term, reason),
            }
        }
        values.sort_by(|a, b| a.order.cmp(&b.order));
        values.dedup_by(|a, b| a.order == b.order);
        let multiple = self.field.multiple;
        if !multiple {
            values.truncate(1);
        }
        let form = |form: fn(&mut Value) -> Option<Vec<u8>>, values: &mut Vec<Value>| -> Vec<_> {
            values.iter_mut().filter_map(form).collect()
        };
        members.list(
            name,
            &form(|value| value.indexed.take(), &mut values),
            multiple,
        );
        let exact = form(|value| value.exact.take(), &mut values);
        members.list(&format!("{name}$exact"), &exact, multiple);
        shown.list(
            name,
            &form(|value| value.shown.take(), &mut values),
            multiple,
        );
    }

    /// Returns the values among which a field decides: all, or those in the languages of the schema.
    fn wanted(&self) -> Vec<&'v Term> {
        let fits = |term: &Term| matches!(term, Term::Literal(literal) if is_text(literal));
        let choose = |spec: Option<&LangSpec>| {
            let languages = Languages {
                spec,
                accepted: &[],
            };
            if self.field.multiple {
                languages.list(self.terms, fits)
            } else {
                let choice = languages.single(self.terms, fits);
                if choice.chosen.is_empty() {
                    choice.others
                } else {
                    choice.chosen
                }
            }
        };
        let config = &self.schema.config.lang;
        match (self.field.reads, self.property.range) {
            (Reads::Name(_), _) => choose(Some(&config.default_name_fetch)),
            (_, Range::Scalar(Scalar::String)) => {
                choose(self.property.lang.fetch.as_ref().or(config.fetch.as_ref()))
            }
            _ => self.terms.iter().collect(),
        }
    }

    fn value(&self, term: &Term) -> Result<Value, Reason> {
        let scalar = match (self.field.reads, self.property.range) {
            (Reads::Name(_), Range::Literal(_)) => Scalar::String,
            (_, Range::Scalar(scalar)) => scalar,
            (_, Range::Enum(id)) => {
                let cast = self.property.type_cast.then(|| cast_name(term)).flatten();
                let term = cast.unwrap_or(Cow::Borrowed(term));
                let mut name = Vec::new();
                let is_name = write_enum(&mut name, &self.schema[id], term.as_ref());
                let order = CanonicalKey::Text(String::from_utf8_lossy(&name).into_owned());
                return is_name
                    .then_some(Value::plain(order, name))
                    .ok_or(Reason::IllTyped);
            }
            (_, Range::Literal(range)) => return self.date_literal(range, term),
            (_, Range::Object(_)) => return Err(Reason::IllTyped),
        };
        let cast = self
            .property
            .type_cast
            .then(|| cast(scalar, term))
            .flatten();
        let term = cast.as_deref().unwrap_or(term);
        let canonical = canonical_value(scalar, term).ok_or(Reason::IllTyped)?;
        let mut shown = Vec::new();
        if !write_scalar(&mut shown, scalar, term, SHOWN) {
            return Err(Reason::IllTyped);
        }
        let order = canonical
            .clone()
            .into_owned()
            .map(CanonicalKey::Of)
            .unwrap_or_else(|| CanonicalKey::Text(term.to_string()));
        let Leaf::Scalar { index, .. } = self.leaf else {
            return Err(Reason::IllTyped);
        };
        converted(*index, scalar, term, &canonical, shown, order)
    }

    /// Writes a date, a year or a month.
    fn date_literal(&self, range: LiteralRange, term: &Term) -> Result<Value, Reason> {
        let Term::Literal(literal) = term else {
            return Err(Reason::IllTyped);
        };
        if !LiteralTypes::new(self.schema, range).accepts(literal) {
            return Err(Reason::IllTyped);
        }
        let datatype = literal.datatype();
        let scalars = [Scalar::Date, Scalar::Year, Scalar::YearMonth];
        let scalar = scalars
            .into_iter()
            .find(|scalar| scalar.datatype_iri() == datatype.as_str());
        let scalar = scalar.ok_or(Reason::IllTyped)?;
        let millis = millis_of_term(scalar, term).ok_or(Reason::DateOutOfRange)?;
        Ok(Value {
            order: CanonicalKey::Text(format!("{millis:020} {term}")),
            indexed: Some(millis.to_string().into_bytes()),
            exact: None,
            shown: Some(literal_json(literal)),
        })
    }

    /// Writes text in languages: each value in the field of its language, all as whole values, and
    /// as answers show them.
    fn languages(&mut self, name: &str, members: &mut Members<'_>, shown: &mut Members<'_>) {
        let Leaf::Language { languages, .. } = self.leaf else {
            return;
        };
        let types = match self.property.range {
            Range::Literal(range) => LiteralTypes::new(self.schema, range),
            _ => LiteralTypes::Any,
        };
        let mut literals: Vec<&Literal> = Vec::new();
        for term in self.terms {
            match term {
                Term::Literal(literal) if types.accepts(literal) => literals.push(literal),
                term => self.report(term, Reason::IllTyped),
            }
        }
        literals.sort_by_key(|literal| (literal.value(), literal.language()));
        let mut texts = vec![Vec::new(); languages.len() + 1];
        let mut whole = Vec::new();
        for literal in &literals {
            let text = json_string(literal.value());
            let own = literal
                .language()
                .and_then(|tag| self.leaf.language_of(tag));
            texts[own.map_or(0, |at| at + 1)].push(text.clone());
            if !fits_keyword(literal.value()) {
                self.malformed
                    .push((reported(&literal.to_string()), Reason::TooLong));
            } else if whole.last() != Some(&text) {
                whole.push(text);
            }
        }
        members.list(name, &texts[0], true);
        for (language, texts) in languages.iter().zip(&texts[1..]) {
            members.list(&format!("{name}${}", language.tag), texts, true);
        }
        members.list(&format!("{name}$keyword"), &whole, true);
        let multiple = self.field.multiple;
        let terms: Vec<Term> = literals
            .iter()
            .map(|literal| Term::from((*literal).clone()))
            .collect();
        let config = &self.schema.config.lang;
        let spec = self.property.lang.fetch.as_ref().or(config.fetch.as_ref());
        let languages = Languages {
            spec,
            accepted: &[],
        };
        let mut wanted = if multiple {
            terms.iter().collect()
        } else {
            languages.single(&terms, |_| true).chosen
        };
        if !multiple {
            wanted.truncate(1);
        }
        let wanted = wanted.into_iter().filter_map(|term| match term {
            Term::Literal(literal) => Some(literal_json(literal)),
            _ => None,
        });
        shown.list(name, &wanted.collect::<Vec<_>>(), multiple);
    }

    /// Reports a string that has no whole value in the index, though its text is there.
    fn report_long(&mut self, term: &Term) {
        let is_whole = matches!(
            self.leaf,
            Leaf::Scalar {
                index: ScalarIndex::Text | ScalarIndex::Keyword,
                ..
            }
        );
        let text = match term {
            Term::Literal(literal) => literal.value(),
            Term::NamedNode(node) => node.as_str(),
            _ => return,
        };
        if is_whole && !fits_keyword(text) {
            self.report(term, Reason::TooLong);
        }
    }

    /// Reports a value, once: that of `name` is one of the name property too.
    fn report(&mut self, term: &Term, reason: Reason) {
        if matches!(self.field.reads, Reads::Name(_)) {
            return;
        }
        self.malformed.push((reported(&term.to_string()), reason));
    }
}

impl Value {
    fn plain(order: CanonicalKey, text: Vec<u8>) -> Self {
        Value {
            order,
            indexed: Some(text),
            exact: None,
            shown: None,
        }
    }
}

/// Returns a well-typed value in the forms of its index.
fn converted(
    index: ScalarIndex,
    scalar: Scalar,
    term: &Term,
    canonical: &CanonicalValue<'_>,
    shown: Vec<u8>,
    order: CanonicalKey,
) -> Result<Value, Reason> {
    let text = match term {
        Term::Literal(literal) => literal.value(),
        Term::NamedNode(node) => node.as_str(),
        _ => return Err(Reason::IllTyped),
    };
    Ok(match (index, canonical) {
        (ScalarIndex::Integer(_), CanonicalValue::Decimal(number)) => {
            Value::plain(order, number.to_string().into_bytes())
        }
        (ScalarIndex::Double, CanonicalValue::Float(number)) => {
            Value::plain(order, double_json(number.get()))
        }
        (ScalarIndex::Exact, CanonicalValue::Decimal(number)) => {
            let key = ExactKey::new(number).ok_or(Reason::TooLong)?;
            let double = number.to_double();
            Value {
                order,
                indexed: double.is_finite().then(|| double_json(double)),
                exact: Some(json_string(key.as_str())),
                shown: Some(shown),
            }
        }
        (ScalarIndex::Instant, _) => {
            let millis = millis_of_term(scalar, term).ok_or(Reason::DateOutOfRange)?;
            let shown = match scalar {
                Scalar::DateTime => json_string(&text_of_millis(millis)),
                _ => shown,
            };
            Value {
                order,
                indexed: Some(millis.to_string().into_bytes()),
                exact: None,
                shown: Some(shown),
            }
        }
        (ScalarIndex::Time, _) => Value {
            order,
            indexed: Some(json_string(&time_key(text).ok_or(Reason::IllTyped)?)),
            exact: None,
            shown: Some(shown),
        },
        _ => Value::plain(order, shown),
    })
}

/// Writes a finite floating-point number.
fn double_json(number: f64) -> Vec<u8> {
    serde_json::to_vec(&number).expect("writing to memory does not fail")
}

/// Writes a literal as answers show it.
fn literal_json(literal: &Literal) -> Vec<u8> {
    let mut out = b"{\"value\":".to_vec();
    out.extend(json_string(literal.value()));
    match literal.language() {
        Some(tag) => {
            out.extend(b",\"lang\":");
            out.extend(json_string(tag));
        }
        None => {
            out.extend(b",\"type\":");
            out.extend(json_string(literal.datatype().as_str()));
        }
    }
    out.push(b'}');
    out
}

/// Returns the beginning of a value, as reports have it.
pub(super) fn reported(text: &str) -> String {
    match text.char_indices().nth(REPORTED) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
