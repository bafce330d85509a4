//! Operands of searches: mostly values that documents have.

use std::collections::{BTreeMap, BTreeSet};

use search_index::dsl::Value;
use search_index::mapping::IntegerType;
use test_support::random::Random;

use super::literals::WORDS;
use crate::differential::naive::fields::{Fields, Kind};

/// The fields of an index, and the values that documents have in them.
pub(crate) struct Pool<'i> {
    pub(crate) fields: &'i Fields,
    /// The values of each field; words of text.
    pub(crate) values: BTreeMap<String, Vec<Value>>,
    /// The ids of the documents.
    pub(crate) ids: Vec<String>,
}

impl Pool<'_> {
    /// Lists the fields of a level, with what their values are.
    pub(crate) fn of_level(&self, level: &str) -> Vec<(&str, &Kind)> {
        let of_level = self.fields.iter().filter(|(_, field)| field.level == level);
        of_level
            .map(|(name, field)| (name.as_str(), &field.kind))
            .collect()
    }

    /// Picks a field of a list, each kind of field as often as another.
    pub(crate) fn pick<'f>(
        random: &mut Random,
        fields: &[(&'f str, &'f Kind)],
    ) -> (&'f str, &'f Kind) {
        let kinds: BTreeSet<&str> = fields.iter().map(|(name, kind)| kind.name(name)).collect();
        let kinds: Vec<&str> = kinds.into_iter().collect();
        let wanted = random.word(&kinds);
        let of_kind = fields
            .iter()
            .filter(|(name, kind)| kind.name(name) == wanted);
        let of_kind: Vec<_> = of_kind.collect();
        **random.pick(&of_kind)
    }

    /// Lists the levels of nested objects that are inside of a level.
    pub(crate) fn levels_inside(&self, level: &str) -> Vec<String> {
        let start = if level.is_empty() {
            String::new()
        } else {
            format!("{level}.")
        };
        let inside = self.fields.values().map(|field| &field.level);
        let inside = inside.filter(|inner| inner.starts_with(&start) && !inner.is_empty());
        let mut all: Vec<String> = inside.cloned().collect();
        all.sort();
        all.dedup();
        all
    }

    /// Makes an operand for a field: one of its values, or one near to these.
    pub(crate) fn operand(&self, random: &mut Random, field: &str) -> Value {
        let kind = &self.fields[field].kind;
        match self.values.get(field) {
            Some(values) => {
                let value = random.pick(values).clone();
                if random.chance(85) {
                    value
                } else {
                    near(random, value, kind)
                }
            }
            None => some(random, kind),
        }
    }

    /// Makes a text of a few words that documents have in a field.
    pub(crate) fn text(&self, random: &mut Random, field: &str) -> String {
        let count = *random.pick(&[1, 1, 2, 2, 3, 4]);
        let mut words = Vec::new();
        for _ in 0..count {
            let Value::Text(word) = self.operand(random, field) else {
                continue;
            };
            words.push(if random.chance(15) {
                word.to_uppercase()
            } else {
                word
            });
        }
        match random.below(30) {
            0 => String::new(),
            1 => "- -".to_owned(),
            2 => format!("{} {}", words.join(" "), random.pick(WORDS)),
            _ => words.join(" "),
        }
    }
}

/// Returns a value next to another.
fn near(random: &mut Random, value: Value, kind: &Kind) -> Value {
    let up = random.chance(50);
    match value {
        Value::Text(mut text) => {
            if up {
                text.push('x')
            } else {
                text.pop();
            }
            Value::Text(text)
        }
        Value::Integer(number) => {
            let (least, greatest) = bounds(kind);
            let next = if up {
                number.saturating_add(1)
            } else {
                number.saturating_sub(1)
            };
            Value::Integer(next.clamp(least, greatest))
        }
        Value::Unsigned(number) if up => Value::Unsigned(number.saturating_add(1)),
        Value::Double(number) => Value::Double(if up { number + 0.5 } else { number * 0.5 }),
        value => value,
    }
}

fn bounds(kind: &Kind) -> (i64, i64) {
    match kind {
        Kind::Integer(IntegerType::Byte) => (i8::MIN.into(), i8::MAX.into()),
        Kind::Integer(IntegerType::Short) => (i16::MIN.into(), i16::MAX.into()),
        Kind::Integer(IntegerType::Integer) => (i32::MIN.into(), i32::MAX.into()),
        Kind::Integer(IntegerType::UnsignedLong) => (0, i64::MAX),
        _ => (i64::MIN, i64::MAX),
    }
}

/// Returns a value of a field that no document has.
fn some(random: &mut Random, kind: &Kind) -> Value {
    match kind {
        Kind::Text(_) | Kind::Keyword => Value::from(*random.pick(WORDS)),
        Kind::Boolean => Value::Boolean(random.chance(50)),
        Kind::Integer(_) | Kind::Instant => Value::Integer(*random.pick(&[0, 1, 5])),
        Kind::Double => Value::Double(*random.pick(&[0.0, 1.5])),
    }
}
