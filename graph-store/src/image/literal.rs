//! The order of literals in an image: class by class, by value, and then by how they are written.

use std::cmp::Ordering;

use oxrdf::LiteralRef;
use oxrdf::vocab::xsd;
use oxsdatatypes::Decimal;
use soml_core::datatype::Scalar;

use crate::value::{Number, instant};

/// Number of classes.
pub(super) const CLASSES: usize = 9;

/// Literals whose values have an order in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Class {
    /// Strings, with and without a tag.
    Text,
    /// Well-formed numbers of all datatypes.
    Number,
    Boolean,
    DateTime,
    Date,
    Time,
    Year,
    YearMonth,
    /// Ill-formed literals, and those of other datatypes.
    Other,
}

/// What a literal is sorted by.
pub(super) struct Sortable<'l> {
    value: Value,
    literal: LiteralRef<'l>,
}

enum Value {
    Text,
    Number(Number),
    Boolean(bool),
    Instant(Class, Decimal),
    Other,
}

impl<'l> Sortable<'l> {
    pub(super) fn new(literal: LiteralRef<'l>) -> Self {
        Sortable {
            value: value(literal),
            literal,
        }
    }

    pub(super) fn class(&self) -> Class {
        match &self.value {
            Value::Text => Class::Text,
            Value::Number(_) => Class::Number,
            Value::Boolean(_) => Class::Boolean,
            Value::Instant(class, _) => *class,
            Value::Other => Class::Other,
        }
    }

    /// Compares values; those of other datatypes have none.
    pub(super) fn compare_values(&self, other: &Self) -> Ordering {
        let by_value = match (&self.value, &other.value) {
            (Value::Text, Value::Text) => self.literal.value().cmp(other.literal.value()),
            (Value::Number(a), Value::Number(b)) => a.cmp(b),
            (Value::Boolean(a), Value::Boolean(b)) => a.cmp(b),
            (Value::Instant(_, a), Value::Instant(_, b)) => a.cmp(b),
            (Value::Other, Value::Other) => self.compare_forms(other),
            _ => Ordering::Equal,
        };
        self.class().cmp(&other.class()).then(by_value)
    }

    /// Compares datatypes, tags and lexical forms.
    fn compare_forms(&self, other: &Self) -> Ordering {
        let form = |of: &Self| (of.literal.datatype(), of.literal.language());
        let forms = form(self).cmp(&form(other));
        forms.then_with(|| self.literal.value().cmp(other.literal.value()))
    }

    /// Compares values, and then forms.
    pub(super) fn cmp(&self, other: &Self) -> Ordering {
        let by_value = self.compare_values(other);
        by_value.then_with(|| self.compare_forms(other))
    }
}

/// Returns what a literal is sorted by. The order is a part of the format of images: dates and Booleans with
/// white space around them keep their place among the others, though they have a value.
fn value(literal: LiteralRef<'_>) -> Value {
    let datatype = literal.datatype();
    if literal.language().is_some() || datatype == xsd::STRING {
        return Value::Text;
    }
    if datatype == xsd::BOOLEAN {
        return match literal.value() {
            "true" | "1" => Value::Boolean(true),
            "false" | "0" => Value::Boolean(false),
            _ => Value::Other,
        };
    }
    let (class, scalar) = match datatype {
        xsd::DATE_TIME => (Class::DateTime, Scalar::DateTime),
        xsd::DATE => (Class::Date, Scalar::Date),
        xsd::TIME => (Class::Time, Scalar::Time),
        xsd::G_YEAR => (Class::Year, Scalar::Year),
        xsd::G_YEAR_MONTH => (Class::YearMonth, Scalar::YearMonth),
        _ => {
            let number = Number::from_literal(literal);
            return number.map_or(Value::Other, Value::Number);
        }
    };
    match instant(scalar, literal.value()) {
        Some(instant) => Value::Instant(class, instant),
        None => Value::Other,
    }
}
