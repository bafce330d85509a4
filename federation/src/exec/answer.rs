//! Reads the answers of subgraphs by the form that they must have. What was not asked for is skipped.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::found::Errors;
use crate::plan::Shape;
use crate::transport::Allowance;

/// A value of an answer.
#[derive(Clone, Debug)]
pub(super) enum Parsed {
    Null,
    Leaf(Bytes),
    List(Vec<Parsed>),
    Object {
        typename: Option<String>,
        members: Vec<(Arc<str>, Parsed)>,
    },
    /// A scalar where an object should be.
    Misfit,
}

/// The response of a subgraph.
#[derive(Deserialize)]
pub(super) struct Envelope<'a> {
    #[serde(borrow, default)]
    pub(super) data: Option<&'a RawValue>,
    /// Its errors, unread: what is wrong with them must not take the data away.
    #[serde(borrow, default)]
    errors: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    /// Returns the errors; null counts as none.
    pub(super) fn errors(&self) -> Errors<'a> {
        self.errors.map(Errors::read).unwrap_or_default()
    }
}

/// Reads the response of a subgraph.
pub(super) fn envelope(body: &Bytes) -> Result<Envelope<'_>, serde_json::Error> {
    if body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[') {
        // It would be read as the members of an object in their order.
        return Err(serde::de::Error::custom("a list"));
    }
    serde_json::from_slice(body)
}

/// Reads the data of a response; what they take in memory is counted in the allowance of the answer.
///
/// # Errors
/// `None` when there is no memory for them.
pub(super) fn data(
    body: &Bytes,
    data: &RawValue,
    shape: &Shape,
    allowance: &Allowance,
) -> Result<Parsed, Option<serde_json::Error>> {
    let mut json = serde_json::Deserializer::from_str(data.get());
    let counter = Counter {
        allowance,
        uncounted: Cell::new(0),
        is_full: Cell::new(false),
    };
    let seed = ShapeSeed {
        body,
        shape,
        counter: &counter,
    };
    let parsed = seed.deserialize(&mut json);
    counter.flush();
    match counter.is_full.get() {
        true => Err(None),
        false => parsed.map_err(Some),
    }
}

/// Bytes that an item of a list, an object and a member of one take, while they are read and once they are
/// merged.
const ITEM: usize = 160;
const OBJECT: usize = 320;
const MEMBER: usize = 160;

/// Bytes that are counted at once.
const COUNTED: usize = 64 << 10;

/// Most members for which room is made before they are read.
const RESERVED: usize = 16;

impl Parsed {
    /// Returns about how many bytes the value takes.
    pub(super) fn footprint(&self) -> usize {
        match self {
            Parsed::Null | Parsed::Leaf(_) | Parsed::Misfit => 0,
            Parsed::List(items) => items.iter().map(|item| ITEM + item.footprint()).sum(),
            Parsed::Object { members, .. } => {
                let members = members.iter();
                OBJECT
                    + members
                        .map(|(_, value)| MEMBER + value.footprint())
                        .sum::<usize>()
            }
        }
    }
}

/// Counts what is read.
struct Counter<'s> {
    allowance: &'s Allowance,
    uncounted: Cell<usize>,
    is_full: Cell<bool>,
}

impl Counter<'_> {
    fn count<E: serde::de::Error>(&self, bytes: usize) -> Result<(), E> {
        self.uncounted.set(self.uncounted.get() + bytes);
        if self.uncounted.get() >= COUNTED {
            self.flush();
        }
        match self.is_full.get() {
            true => Err(E::custom("there is no memory")),
            false => Ok(()),
        }
    }

    fn flush(&self) {
        if self.allowance.hold(self.uncounted.take()).is_err() {
            self.is_full.set(true);
        }
    }
}

#[derive(Clone, Copy)]
struct ShapeSeed<'s> {
    /// The text that leaves are slices of.
    body: &'s Bytes,
    shape: &'s Shape,
    counter: &'s Counter<'s>,
}

impl<'de> DeserializeSeed<'de> for ShapeSeed<'_> {
    type Value = Parsed;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Parsed, D::Error> {
        match self.shape {
            Shape::Object(_) => from.deserialize_any(self),
            Shape::Leaf => {
                let text = <&'de RawValue>::deserialize(from)?.get();
                Ok(match text {
                    "null" => Parsed::Null,
                    text => Parsed::Leaf(self.body.slice_ref(text.as_bytes())),
                })
            }
        }
    }
}

impl<'de> Visitor<'de> for ShapeSeed<'_> {
    type Value = Parsed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Parsed, E> {
        Ok(Parsed::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Parsed, E> {
        Ok(Parsed::Misfit)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Parsed, E> {
        Ok(Parsed::Misfit)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Parsed, E> {
        Ok(Parsed::Misfit)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Parsed, E> {
        Ok(Parsed::Misfit)
    }

    fn visit_str<E>(self, _: &str) -> Result<Parsed, E> {
        Ok(Parsed::Misfit)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Parsed, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            self.counter.count(ITEM)?;
            list.push(item);
        }
        Ok(Parsed::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parsed, A::Error> {
        let Shape::Object(shapes) = self.shape else {
            return Ok(Parsed::Misfit);
        };
        let room = shapes.len().min(RESERVED);
        self.counter.count(OBJECT + room * MEMBER)?;
        let (mut typename, mut members) = (None::<String>, Vec::with_capacity(room));
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            if let Some((key, shape)) = shapes.get_key_value(&*key) {
                let seed = ShapeSeed { shape, ..self };
                self.counter.count(MEMBER)?;
                members.push((Arc::clone(key), map.next_value_seed(seed)?));
            } else if key == "__typename" {
                typename = map.next_value()?;
                self.counter
                    .count(typename.as_ref().map_or(0, String::len))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Parsed::Object { typename, members })
    }
}
