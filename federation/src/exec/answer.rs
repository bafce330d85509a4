//! Reads the answers of subgraphs by the form that they must have. What was not asked for is skipped.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::plan::Shape;

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
    #[serde(default)]
    pub(super) errors: Option<Vec<SubgraphError>>,
}

/// An error of a subgraph.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct SubgraphError {
    #[serde(default)]
    pub(super) message: String,
    #[serde(default)]
    pub(super) path: Option<Vec<PathItem>>,
    #[serde(default)]
    pub(super) extensions: Option<serde_json::Map<String, serde_json::Value>>,
}

/// A step of the path of an error.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum PathItem {
    Index(usize),
    Key(String),
}

/// Reads the response of a subgraph.
pub(super) fn envelope(body: &Bytes) -> Result<Envelope<'_>, serde_json::Error> {
    if body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[') {
        // It would be read as the members of an object in their order.
        return Err(serde::de::Error::custom("a list"));
    }
    serde_json::from_slice(body)
}

/// Reads the data of a response.
pub(super) fn data(
    body: &Bytes,
    data: &RawValue,
    shape: &Shape,
) -> Result<Parsed, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(data.get());
    ShapeSeed { body, shape }.deserialize(&mut json)
}

#[derive(Clone, Copy)]
struct ShapeSeed<'s> {
    /// The text that leaves are slices of.
    body: &'s Bytes,
    shape: &'s Shape,
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
            list.push(item);
        }
        Ok(Parsed::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parsed, A::Error> {
        let Shape::Object(shapes) = self.shape else {
            return Ok(Parsed::Misfit);
        };
        let (mut typename, mut members) = (None, Vec::with_capacity(shapes.len()));
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            if let Some((key, shape)) = shapes.get_key_value(&*key) {
                let seed = ShapeSeed { shape, ..self };
                members.push((Arc::clone(key), map.next_value_seed(seed)?));
            } else if key == "__typename" {
                typename = map.next_value()?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Parsed::Object { typename, members })
    }
}
