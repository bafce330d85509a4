//! Reads the answers of subgraphs into the store, by the form that they must have and in one pass. What was not asked
//! for is skipped.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::store::{OBJECT, ObjectId, Place, Store, Type, VALUE, Value};
use super::subgraph_errors::SubgraphErrors;
use crate::plan::{Members, Shape};
use crate::supergraph::Supergraph;
use crate::transport::Allowance;

/// What the data of an answer must be.
pub(super) enum ExpectedData<'e> {
    /// An object.
    Object(&'e Members),
    /// Lists of entities by key, and what each of them must have.
    Entities(Vec<(Cow<'e, str>, &'e Members)>),
}

/// The answer of a subgraph.
pub(super) struct SubgraphResponse<'a> {
    pub(super) data: ResponseData,
    pub(super) errors: SubgraphErrors<'a>,
}

/// The data of an answer. Nothing leads to its objects yet.
pub(super) enum ResponseData {
    /// There are none.
    Null,
    /// They are not an object.
    Misfit,
    Object(ObjectId),
    /// What each list has; `None` where there is no list.
    Entities(Vec<Option<Vec<Value>>>),
}

/// Why an answer cannot be read.
#[derive(Debug)]
pub(super) enum ReadError {
    /// It is not a GraphQL response.
    NoAnswer,
    /// There is no memory for it.
    OutOfMemory,
}

/// Most values in a store.
const MOST: usize = u32::MAX as usize / 4;

/// Bytes that are counted at once.
const COUNTED: usize = 64 << 10;

/// Reads the answer of a subgraph; what its data take in memory is counted in its allowance.
///
/// # Errors
/// When it cannot be read. The store is as it was then.
pub(super) fn read<'a>(
    body: &'a Bytes,
    expected: ExpectedData<'_>,
    supergraph: &Supergraph,
    store: &mut Store,
    allowance: &Allowance,
) -> Result<SubgraphResponse<'a>, ReadError> {
    let text = std::str::from_utf8(body).map_err(|_| ReadError::NoAnswer)?;
    if text.len() > MOST {
        return Err(ReadError::OutOfMemory);
    }
    let before = store.savepoint();
    store.add_answer(body.clone());
    let mut reader = ResponseReader {
        text,
        supergraph,
        store,
        allowance,
        items: Vec::new(),
        uncounted: 0,
        is_full: false,
    };
    let mut json = serde_json::Deserializer::from_str(text);
    let read = json.deserialize_map(ResponseVisitor {
        expected,
        reader: &mut reader,
    });
    let read = read.and_then(|answer| json.end().map(|()| answer));
    reader.flush();
    if reader.is_full {
        store.roll_back(before);
        return Err(ReadError::OutOfMemory);
    }
    read.map_err(|_| {
        store.roll_back(before);
        ReadError::NoAnswer
    })
}

/// Reads an answer into the store.
struct ResponseReader<'r> {
    text: &'r str,
    supergraph: &'r Supergraph,
    store: &'r mut Store,
    allowance: &'r Allowance,
    /// Items of lists that are not complete, the inner ones last.
    items: Vec<Value>,
    uncounted: usize,
    is_full: bool,
}

impl ResponseReader<'_> {
    fn count<E: Error>(&mut self, bytes: usize) -> Result<(), E> {
        self.uncounted += bytes;
        if self.uncounted >= COUNTED {
            self.flush();
        }
        if self.is_full {
            return Err(E::custom("there is no memory"));
        }
        Ok(())
    }

    fn flush(&mut self) {
        let bytes = std::mem::take(&mut self.uncounted);
        self.is_full |= self.allowance.hold(bytes).is_err() || self.store.values() > MOST;
    }

    /// Returns a leaf, by its text in the answer.
    fn leaf(&self, text: &str) -> Value {
        match text {
            "null" => Value::Null,
            text => {
                let start = text.as_ptr().addr() - self.text.as_ptr().addr();
                self.store.piece(start, text.len())
            }
        }
    }
}

struct ResponseVisitor<'r, 't, 'e> {
    expected: ExpectedData<'e>,
    reader: &'r mut ResponseReader<'t>,
}

impl<'de> Visitor<'de> for ResponseVisitor<'_, '_, '_> {
    type Value = SubgraphResponse<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a GraphQL response")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<SubgraphResponse<'de>, A::Error> {
        let ResponseVisitor { expected, reader } = self;
        let (mut data, mut errors) = (None, None::<Option<&RawValue>>);
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            match &*key {
                "data" if data.is_none() => {
                    let expected = &expected;
                    let reader = &mut *reader;
                    data = Some(map.next_value_seed(DataSeed { expected, reader })?);
                }
                "errors" if errors.is_none() => errors = Some(map.next_value()?),
                "data" | "errors" => return Err(A::Error::custom("a member is given twice")),
                _ => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        // What is wrong with errors must not take the data away. Null counts as none.
        let errors = errors.flatten().map(SubgraphErrors::read);
        Ok(SubgraphResponse {
            data: data.unwrap_or(ResponseData::Null),
            errors: errors.unwrap_or_default(),
        })
    }
}

struct DataSeed<'r, 't, 'e> {
    expected: &'r ExpectedData<'e>,
    reader: &'r mut ResponseReader<'t>,
}

impl<'de> DeserializeSeed<'de> for DataSeed<'_, '_, '_> {
    type Value = ResponseData;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<ResponseData, D::Error> {
        match self.expected {
            ExpectedData::Object(members) => {
                let object = ObjectSeed {
                    members,
                    place: Place::Root,
                    reader: self.reader,
                };
                Ok(match object.deserialize(from)? {
                    Value::Object(object) => ResponseData::Object(object),
                    Value::Null => ResponseData::Null,
                    _ => ResponseData::Misfit,
                })
            }
            ExpectedData::Entities(lists) => from.deserialize_any(EntitiesVisitor {
                lists,
                reader: self.reader,
            }),
        }
    }
}

struct EntitiesVisitor<'r, 't, 'e> {
    lists: &'r [(Cow<'e, str>, &'e Members)],
    reader: &'r mut ResponseReader<'t>,
}

/// What stands for values of JSON that are not expected.
macro_rules! scalars {
    ($value:expr, $null:expr) => {
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($null)
        }

        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok($value)
        }

        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok($value)
        }

        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok($value)
        }

        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok($value)
        }

        fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
            Ok($value)
        }
    };
}

impl<'de> Visitor<'de> for EntitiesVisitor<'_, '_, '_> {
    type Value = ResponseData;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    scalars!(ResponseData::Misfit, ResponseData::Null);

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<ResponseData, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(ResponseData::Misfit)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ResponseData, A::Error> {
        let mut found: Vec<Option<Vec<Value>>> = vec![None; self.lists.len()];
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            let Some(position) = self.lists.iter().position(|(known, _)| *known == key) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let value = map.next_value_seed(ObjectSeed {
                members: self.lists[position].1,
                place: Place::Root,
                reader: &mut *self.reader,
            })?;
            found[position] = match value {
                Value::List(items) => Some(self.reader.store.items(items).to_vec()),
                _ => None,
            };
        }
        Ok(ResponseData::Entities(found))
    }
}

/// An object, or lists of objects.
struct ObjectSeed<'r, 't> {
    members: &'r Members,
    place: Place,
    reader: &'r mut ResponseReader<'t>,
}

impl<'de> DeserializeSeed<'de> for ObjectSeed<'_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ObjectSeed<'_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    scalars!(Value::Misfit, Value::Null);

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let ObjectSeed {
            members,
            place,
            reader,
        } = self;
        let begin = reader.items.len();
        loop {
            let item = ObjectSeed {
                members,
                place,
                reader: &mut *reader,
            };
            let Some(item) = list.next_element_seed(item)? else {
                break;
            };
            // In the list, and among the items until that is complete.
            reader.count(2 * VALUE)?;
            reader.items.push(item);
        }
        Ok(reader.store.add_list(reader.items.drain(begin..)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let ObjectSeed {
            members,
            place,
            reader,
        } = self;
        reader.count(OBJECT + members.layout.width as usize * VALUE)?;
        let object = reader.store.add_object(members.layout, place);
        let mut expected = 0;
        while let Some(key) = map.next_key_seed(KeySeed { members, expected })? {
            match key {
                Key::Member(position) => {
                    expected = position + 1;
                    let member = &members.list[position];
                    let value = match &member.shape {
                        Shape::Leaf => reader.leaf(map.next_value::<&RawValue>()?.get()),
                        Shape::Object(members) => map.next_value_seed(ObjectSeed {
                            members,
                            place: Place::In {
                                object,
                                member: member.place,
                            },
                            reader: &mut *reader,
                        })?,
                    };
                    reader.store.set(object, member.place, value);
                }
                Key::Typename => {
                    let supergraph = reader.supergraph;
                    if let Some(ty) = map.next_value_seed(TypeSeed { supergraph })? {
                        reader.store.set_type(object, ty);
                    }
                }
                Key::Other => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        Ok(Value::Object(object))
    }
}

/// The key of a member.
enum Key {
    /// A member that was asked for.
    Member(usize),
    Typename,
    Other,
}

struct KeySeed<'r> {
    members: &'r Members,
    /// The position of the member that is likely to come.
    expected: usize,
}

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Key, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed<'_> {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, key: &str) -> Result<Key, E> {
        Ok(match self.members.find(key, self.expected) {
            Some(position) => Key::Member(position),
            None if key == "__typename" => Key::Typename,
            None => Key::Other,
        })
    }
}

/// The type of an object, as its answer names it.
struct TypeSeed<'r> {
    supergraph: &'r Supergraph,
}

impl<'de> DeserializeSeed<'de> for TypeSeed<'_> {
    type Value = Option<Type>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Option<Type>, D::Error> {
        from.deserialize_any(self)
    }
}

impl Visitor<'_> for TypeSeed<'_> {
    type Value = Option<Type>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a type")
    }

    fn visit_unit<E>(self) -> Result<Option<Type>, E> {
        Ok(None)
    }

    fn visit_str<E>(self, name: &str) -> Result<Option<Type>, E> {
        let Some(ty) = self.supergraph.type_id(name) else {
            return Ok(Some(Type::Unknown));
        };
        // A subgraph that has an interface as an object type does not know the type.
        let is_interface = self.supergraph.ty(ty).is_abstract();
        Ok((!is_interface).then_some(Type::Known(ty)))
    }
}
