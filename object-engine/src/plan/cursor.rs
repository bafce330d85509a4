//! Cursors: positions in an order, as opaque strings.
//!
//! A cursor contains the exact sort keys and the id of its object, so it stays valid when objects
//! are added or removed, its own included. A fingerprint of the order ensures that a cursor of one
//! order is never accepted as a position in another.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use graph_store::query::{OrderKey, Position, SortBy, Step, TypeGuard, TypeTest};
use graph_store::value::{LiteralKey, LiteralTypes, Number, SortValue};
use oxrdf::NamedNode;
use oxsdatatypes::Decimal;

/// First byte of every cursor; changes with the format.
const VERSION: u8 = 1;

/// The codec of cursors for one field with one order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CursorCodec {
    fingerprint: u64,
    /// Number of sort keys.
    keys: usize,
    /// Maximum size of the content of a cursor.
    limit: usize,
}

impl CursorCodec {
    /// Creates the codec for an order of objects of a GraphQL type; cursors hold at most `limit`
    /// bytes.
    #[must_use]
    pub fn new(type_name: &str, order: &[OrderKey], limit: usize) -> Self {
        // `where` has no part in it: a cursor stays valid when the filter changes (docs/queries.md,
        // "Connections").
        let mut print = Fingerprint::default();
        print.text(type_name);
        for key in order {
            print.key(key);
        }
        CursorCodec {
            fingerprint: print.0,
            keys: order.len(),
            limit,
        }
    }

    /// Encodes a position; `None` if it exceeds the limit. Keys are never truncated: a shorter one
    /// would be another position (docs/queries.md, "Connections").
    #[must_use]
    pub fn encode(&self, position: &Position) -> Option<String> {
        let mut bytes = vec![VERSION];
        bytes.extend_from_slice(&self.fingerprint.to_be_bytes());
        for key in &position.keys {
            write_key(&mut bytes, key);
        }
        bytes.extend_from_slice(position.id.iri().as_bytes());
        (bytes.len() <= self.limit).then(|| URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Decodes a cursor; `None` if it is not a cursor of this order.
    #[must_use]
    pub fn decode(&self, text: &str) -> Option<Position> {
        // Four characters encode three bytes.
        if text.len() / 4 > self.limit / 3 {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let mut input = Reader(&bytes);
        if input.take::<1>()? != [VERSION]
            || u64::from_be_bytes(input.take()?) != self.fingerprint
            || bytes.len() > self.limit
        {
            return None;
        }
        let keys = (0..self.keys).map(|_| read_key(&mut input));
        let keys = keys.collect::<Option<Vec<_>>>()?;
        let id = std::str::from_utf8(input.0).ok()?;
        Some(Position {
            keys,
            id: NamedNode::new(id).ok()?.into(),
        })
    }
}

fn write_key(out: &mut Vec<u8>, key: &SortValue) {
    match key {
        SortValue::Missing => out.push(0),
        SortValue::IllTyped(text) => write_text(out, 1, text),
        SortValue::Boolean(value) => out.extend([2, u8::from(*value)]),
        SortValue::Number(number) => match number.as_double() {
            Some(value) => {
                out.push(3);
                out.extend_from_slice(&value.to_bits().to_be_bytes());
            }
            // Decimal digits are exact, and a number parsed from them is never larger than they
            // are.
            None => write_text(out, 7, &number.to_string()),
        },
        SortValue::Instant(instant) => {
            out.push(5);
            out.extend_from_slice(&instant.to_be_bytes());
        }
        SortValue::Text(text) => write_text(out, 6, text),
    }
}

fn write_text(out: &mut Vec<u8>, tag: u8, text: &str) {
    out.push(tag);
    out.extend_from_slice(&(text.len() as u64).to_be_bytes());
    out.extend_from_slice(text.as_bytes());
}

fn read_key(input: &mut Reader<'_>) -> Option<SortValue> {
    let [tag] = input.take()?;
    Some(match tag {
        0 => SortValue::Missing,
        1 => SortValue::IllTyped(input.text()?),
        2 => SortValue::Boolean(input.take()? == [1]),
        3 => {
            let value = f64::from_bits(u64::from_be_bytes(input.take()?));
            SortValue::Number(Number::from_double(value))
        }
        5 => SortValue::Instant(Decimal::from_be_bytes(input.take()?)),
        6 => SortValue::Text(input.text()?),
        7 => SortValue::Number(Number::from_decimal_text(&input.text()?)?),
        _ => return None,
    })
}

/// The remaining bytes.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    fn text(&mut self) -> Option<String> {
        let length = usize::try_from(u64::from_be_bytes(self.take()?)).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok().map(str::to_owned)
    }
}

/// A hash that is stable across processes and releases: FNV-1a.
struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Fingerprint(0xcbf2_9ce4_8422_2325)
    }
}

impl Fingerprint {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// Adds a string after its length, so that different lists of strings differ as bytes.
    fn text(&mut self, text: &str) {
        self.bytes(&(text.len() as u64).to_be_bytes());
        self.bytes(text.as_bytes());
    }

    fn key(&mut self, key: &OrderKey) {
        self.text(if key.descending {
            "descending"
        } else {
            "ascending"
        });
        for way in &key.ways {
            for step in &way.path {
                if let Some(guard) = &step.of {
                    self.guard(guard);
                }
                self.step(&step.step);
                for test in &step.tests {
                    self.test(test);
                }
                if let Some(guard) = &step.displayed {
                    self.guard(guard);
                }
            }
            self.sort_by(&way.by);
        }
    }

    fn guard(&mut self, guard: &TypeGuard) {
        let word = |meant| if meant { "for" } else { "not for" };
        for (test, meant) in &guard.tests {
            self.text(word(*meant));
            self.test(test);
        }
        self.text(word(guard.otherwise));
    }

    fn step(&mut self, step: &Step) {
        self.text(if step.inverse { "^" } else { "/" });
        self.text(step.predicate.as_str());
    }

    fn test(&mut self, test: &TypeTest) {
        for (property, types) in test.alternatives.iter() {
            self.text(property.as_str());
            for ty in types {
                self.text(ty.as_str());
            }
        }
    }

    fn sort_by(&mut self, by: &SortBy) {
        match by {
            SortBy::Iri => self.text("id"),
            SortBy::TypeName(index) => {
                self.text("type name");
                self.test(&index.test());
            }
            SortBy::Constant(text) => {
                self.text("constant");
                self.text(text);
            }
            SortBy::Scalar { scalar, cast, lang } => {
                self.text("scalar");
                self.text(scalar.soml_name());
                self.cast_and_lang(*cast, lang.as_ref());
            }
            SortBy::Enum { names, cast } => {
                self.text("enum");
                self.cast_and_lang(*cast, None);
                names.iter().for_each(|name| self.text(name));
            }
            SortBy::Literal { part, lang, types } => {
                self.text(match part {
                    LiteralKey::Value => "value",
                    LiteralKey::Lang => "lang",
                    LiteralKey::Datatype => "datatype",
                });
                self.cast_and_lang(false, lang.as_ref());
                if let LiteralTypes::Some { tagged, scalars } = types {
                    self.text(if *tagged { "tagged" } else { "untagged" });
                    scalars
                        .iter()
                        .for_each(|scalar| self.text(scalar.soml_name()));
                }
            }
        }
    }

    fn cast_and_lang(&mut self, cast: bool, lang: Option<&soml_core::lang::LangSpec>) {
        self.text(if cast { "cast" } else { "" });
        self.text(&lang.map(ToString::to_string).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use graph_store::query::{OrderKey, SortBy};
    use graph_store::value::{Number, SortValue};
    use oxrdf::NamedNode;
    use oxsdatatypes::Decimal;
    use proptest::prelude::*;
    use soml_core::datatype::Scalar;

    use super::{CursorCodec, Position};

    fn order(keys: usize) -> Vec<OrderKey> {
        let by = || SortBy::Scalar {
            scalar: Scalar::String,
            cast: false,
            lang: None,
        };
        let key = || OrderKey::new(Vec::new(), by(), false);
        std::iter::repeat_with(key).take(keys).collect()
    }

    fn key() -> impl Strategy<Value = SortValue> {
        let decimal = || any::<[u8; 16]>().prop_map(Decimal::from_be_bytes);
        prop_oneof![
            Just(SortValue::Missing),
            ".*".prop_map(SortValue::IllTyped),
            any::<bool>().prop_map(SortValue::Boolean),
            any::<f64>().prop_map(|value| SortValue::Number(Number::from_double(value))),
            "-?[0-9]{1,60}(\\.[0-9]{1,40})?".prop_map(|digits| {
                SortValue::Number(Number::from_decimal_text(&digits).expect("digits"))
            }),
            decimal().prop_map(SortValue::Instant),
            ".*".prop_map(SortValue::Text),
        ]
    }

    proptest! {
        #[test]
        fn a_cursor_is_read_as_it_was_written(
            keys in proptest::collection::vec(key(), 0..4),
            id in "[a-z]{1,9}",
        ) {
            let id = NamedNode::new(format!("http://e/{id}")).expect("an IRI").into();
            let position = Position { keys, id };
            let codec = CursorCodec::new("T", &order(position.keys.len()), 8192);
            let text = codec.encode(&position).expect("a cursor");
            prop_assert!(text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'));
            prop_assert_eq!(codec.decode(&text), Some(position.clone()));
            let other = CursorCodec::new("U", &order(position.keys.len()), 8192);
            prop_assert_eq!(other.decode(&text), None);
        }

        #[test]
        fn any_text_is_read_without_panic(text in ".{0,80}", keys in 0..3_usize) {
            prop_assert_eq!(CursorCodec::new("T", &order(keys), 8192).decode(&text), None);
        }

        #[test]
        fn a_damaged_cursor_is_read_without_panic(
            keys in proptest::collection::vec(key(), 1..4),
            cut in any::<prop::sample::Index>(),
            byte in any::<u8>(),
        ) {
            let id = NamedNode::new_unchecked("http://e/1").into();
            let position = Position { keys, id };
            let codec = CursorCodec::new("T", &order(position.keys.len()), 8192);
            let text = codec.encode(&position).expect("a cursor");
            let cut = cut.index(text.len());
            // Truncation removes the id, or a part of it.
            prop_assert_ne!(codec.decode(&text[..cut]), Some(position));
            let mut bytes = text.into_bytes();
            bytes[cut] = byte % 128;
            let _ = codec.decode(&String::from_utf8(bytes).expect("ASCII"));
        }
    }

    #[test]
    fn cursors_are_bounded() {
        let digits = Number::from_decimal_text(&"7".repeat(100)).expect("digits");
        for key in [SortValue::Text("x".repeat(100)), SortValue::Number(digits)] {
            let position = Position {
                keys: vec![key],
                id: NamedNode::new_unchecked("http://e/1").into(),
            };
            let roomy = CursorCodec::new("T", &order(1), 128);
            let narrow = CursorCodec::new("T", &order(1), 127);
            let text = roomy.encode(&position).expect("128 bytes are enough");
            assert_eq!(narrow.encode(&position), None);
            assert_eq!(narrow.decode(&text), None);
            assert_eq!(roomy.decode(&text), Some(position));
        }
    }

    #[test]
    fn the_order_and_its_direction_belong_to_the_cursor() {
        let position = Position {
            keys: vec![SortValue::Text("x".to_owned())],
            id: NamedNode::new_unchecked("http://e/1").into(),
        };
        let ascending = order(1);
        let mut descending = order(1);
        descending[0].descending = true;
        let text = CursorCodec::new("T", &ascending, 8192)
            .encode(&position)
            .expect("a cursor");
        assert_eq!(CursorCodec::new("T", &descending, 8192).decode(&text), None);
        assert_eq!(CursorCodec::new("T", &order(2), 8192).decode(&text), None);
    }
}
