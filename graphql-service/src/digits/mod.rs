//! The digits of numbers that clients write, where a JSON value of the process would lose some.
//!
//! A [`JsonValue`] holds integers of 64 bits and floating-point numbers of 64 bits. Custom scalars may have others:
//! `12345678901234567890.123456789`, `1e400`, or `1.50` where the last zero counts. [`Digits`] keep such numbers as they
//! were written, beside the values; where a value has none of them, nothing is kept. What the built-in scalars accept is
//! decided by the value alone, but for a `Float` that is out of range.

mod defaults;
mod scan;

use std::borrow::Cow;
use std::sync::Arc;

use apollo_compiler::response::{JsonMap, JsonValue};
use call_context::memory::allocated;

pub(crate) use defaults::InexactDefaults;
pub(crate) use scan::{digits_of, within_range};

/// What stands in a value for a number that is out of range, but for its sign.
const STAND_IN: &str = "1.7976931348623157e308";

/// The numbers in the members of an object that its values do not hold as they are written.
///
/// Cheap to clone; clones share everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Digits(Option<Arc<Members>>);

/// The members of an object that have such numbers, by name.
type Members = Vec<(Box<str>, Part)>;

/// A number as it is written, or the parts of a value that have such numbers, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Number(Box<str>),
    Items(Vec<(usize, Part)>),
    Members(Members),
}

impl Digits {
    /// Makes the digits of an object from those of its members, which have different names.
    fn of_members(mut members: Members) -> Self {
        members.sort_by(|(one, _), (other, _)| one.cmp(other));
        members.shrink_to_fit();
        Digits((!members.is_empty()).then(|| Arc::new(members)))
    }

    /// Returns the digits without those of some members.
    pub(crate) fn without(self, names: &JsonMap) -> Self {
        let is_left_out = |name: &str| names.contains_key(name);
        match &self.0 {
            Some(members) if members.iter().any(|(name, _)| is_left_out(name)) => {
                let left = members.iter().filter(|(name, _)| !is_left_out(name));
                Digits::of_members(left.cloned().collect())
            }
            _ => self,
        }
    }

    /// Returns whether the values hold all numbers as they are written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns whether a number among the values stands in for one that no floating-point number of 64 bits can come near:
    /// the largest there is, with the sign of the number that was written.
    ///
    /// Who cannot take the digits should not take such values.
    #[must_use]
    pub fn has_stand_ins(&self) -> bool {
        let mut members = self.0.iter().flat_map(|members| members.iter());
        members.any(|(_, part)| part.has_stand_ins())
    }

    /// Returns a member of the object with its digits, whether or not its type has coerced it.
    #[must_use]
    pub fn member<'v>(&'v self, name: &str, value: &'v JsonValue) -> ExactValue<'v> {
        let members = self.0.as_deref();
        let part = members.and_then(|members| part(members, name));
        ExactValue { value, part }
    }

    /// Writes an object as JSON text with the digits of its numbers.
    #[must_use]
    pub fn text(&self, values: &JsonMap) -> String {
        let mut out = Vec::new();
        let members = values.iter();
        let members =
            members.map(|(name, value)| (name.as_str(), self.member(name.as_str(), value)));
        write_members(&mut out, members);
        String::from_utf8(out).expect("JSON text is UTF-8")
    }

    /// Returns about how many bytes the digits take.
    pub(crate) fn footprint(&self) -> usize {
        let Some(members) = &self.0 else {
            return 0;
        };
        allocated(5 * size_of::<usize>()) + of_members(members)
    }
}

fn part<'v>(members: &'v [(Box<str>, Part)], name: &str) -> Option<&'v Part> {
    let found = members.binary_search_by(|(known, _)| (**known).cmp(name));
    found.ok().map(|place| &members[place].1)
}

fn of_members(members: &[(Box<str>, Part)]) -> usize {
    let each = members
        .iter()
        .map(|(name, part)| allocated(name.len()) + part.footprint());
    allocated(size_of_val(members)) + each.sum::<usize>()
}

impl Part {
    fn has_stand_ins(&self) -> bool {
        match self {
            Part::Number(text) => parsed(text).is_none(),
            Part::Items(items) => items.iter().any(|(_, part)| part.has_stand_ins()),
            Part::Members(members) => members.iter().any(|(_, part)| part.has_stand_ins()),
        }
    }

    fn footprint(&self) -> usize {
        match self {
            Part::Number(text) => allocated(text.len()),
            Part::Items(items) => {
                let each = items.iter().map(|(_, part)| part.footprint());
                allocated(size_of_val(&**items)) + each.sum::<usize>()
            }
            Part::Members(members) => of_members(members),
        }
    }
}

/// A value with the digits of its numbers.
#[derive(Clone, Copy, Debug)]
pub struct ExactValue<'v> {
    value: &'v JsonValue,
    part: Option<&'v Part>,
}

impl<'v> From<&'v JsonValue> for ExactValue<'v> {
    /// Takes a value whose numbers are as it holds them.
    fn from(value: &'v JsonValue) -> Self {
        ExactValue { value, part: None }
    }
}

impl<'v> ExactValue<'v> {
    /// Returns the value, whose numbers may have lost digits.
    #[must_use]
    pub fn value(self) -> &'v JsonValue {
        self.value
    }

    /// Returns a number as it is written; `None` if the value is not a number.
    #[must_use]
    pub fn number(self) -> Option<Cow<'v, str>> {
        let JsonValue::Number(number) = self.value else {
            return None;
        };
        match self.part {
            Some(Part::Number(text)) => Some(Cow::Borrowed(text)),
            _ => Some(Cow::Owned(number.to_string())),
        }
    }

    /// Returns whether the value is a number that a `Float` can have.
    pub(crate) fn is_float(self) -> bool {
        let is_finite = |text: &str| text.parse::<f64>().is_ok_and(f64::is_finite);
        match (self.value, self.part) {
            (JsonValue::Number(_), Some(Part::Number(text))) => is_finite(text),
            (value, _) => value.is_number(),
        }
    }

    /// Returns the items of a list; `None` if the value is not a list.
    pub fn items(self) -> Option<impl Iterator<Item = ExactValue<'v>>> {
        let items = self.value.as_array()?.iter().enumerate();
        Some(items.map(move |(index, value)| {
            let part = match self.part {
                Some(Part::Items(parts)) => {
                    let found = parts.binary_search_by_key(&index, |(known, _)| *known);
                    found.ok().map(|place| &parts[place].1)
                }
                // One value stands for a list of it.
                only => only,
            };
            ExactValue { value, part }
        }))
    }

    /// Returns the members of an object; `None` if the value is not an object.
    pub fn members(self) -> Option<impl Iterator<Item = (&'v str, ExactValue<'v>)>> {
        let members = self.value.as_object()?;
        Some(members.iter().map(move |(name, value)| {
            let part = match self.part {
                Some(Part::Members(parts)) => part(parts, name.as_str()),
                _ => None,
            };
            (name.as_str(), ExactValue { value, part })
        }))
    }

    /// Writes the value as JSON text in UTF-8.
    pub fn write_to(self, out: &mut Vec<u8>) {
        match (self.value, self.part) {
            (JsonValue::Number(_), Some(Part::Number(text))) => {
                out.extend_from_slice(text.as_bytes());
            }
            (JsonValue::Array(_), Some(_)) => {
                out.push(b'[');
                for (position, item) in self.items().into_iter().flatten().enumerate() {
                    if position > 0 {
                        out.push(b',');
                    }
                    item.write_to(out);
                }
                out.push(b']');
            }
            (JsonValue::Object(_), Some(_)) => {
                write_members(out, self.members().into_iter().flatten());
            }
            (value, _) => {
                serde_json::to_writer(out, value).expect("JSON values can be written to memory");
            }
        }
    }

    /// Writes the value as JSON text.
    pub fn write(self, out: &mut String) {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes);
        out.push_str(&String::from_utf8(bytes).expect("JSON text is UTF-8"));
    }
}

/// Writes an object as JSON text in UTF-8.
fn write_members<'v>(out: &mut Vec<u8>, members: impl Iterator<Item = (&'v str, ExactValue<'v>)>) {
    out.push(b'{');
    for (position, (name, member)) in members.enumerate() {
        if position > 0 {
            out.push(b',');
        }
        serde_json::to_writer(&mut *out, name).expect("texts can be written to memory");
        out.push(b':');
        member.write_to(out);
    }
    out.push(b'}');
}

/// Returns whether a value has exactly the text that a number is written as.
fn is_exact(text: &str) -> bool {
    // No value of 64 bits is written as a longer text.
    text.len() <= 32 && parsed(text).is_some_and(|number| number.to_string() == text)
}

fn parsed(text: &str) -> Option<serde_json::Number> {
    text.parse().ok()
}

/// Returns what stands for a number that is out of range.
fn stand_in(text: &str) -> String {
    let sign = if text.starts_with('-') { "-" } else { "" };
    format!("{sign}{STAND_IN}")
}

#[cfg(test)]
mod tests;
