//! Requests from JSON text: the values of variables are counted while they are read, and what is not
//! wanted is skipped without a value being made of it.

use std::cell::Cell;
use std::fmt;

use apollo_compiler::response::{JsonMap, JsonValue};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{Request, RequestError};
use crate::digits::{Digits, digits_of, within_range};

/// Bytes of text that are read in the time that a JSON value takes, its strings not counted.
const VALUE: usize = 96;

/// Reads a request.
pub(super) fn request(text: &[u8], limit: usize) -> Result<Request, RequestError> {
    match text.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'[') => Err(RequestError::Batch),
        _ => with_digits(text, limit),
    }
}

/// Reads a request, and once more the text of its variables where numbers in it may have lost digits.
fn with_digits(text: &[u8], limit: usize) -> Result<Request, RequestError> {
    let from = || serde_json::Deserializer::from_slice(text);
    // The variables are not read by it, so their numbers may be out of range.
    let written = || serde_json::from_slice(text).map_or(None, |it: Written<'_>| it.variables);
    let tally = Tally::new(limit);
    let mut request = match read(from(), RequestSeed::new(&tally)) {
        Ok(request) if !tally.has_floats.get() => return Ok(request),
        Ok(request) => request,
        Err(error) => {
            let is_out_of_range = error.is_syntax() && tally.left.get().is_some();
            let variables = is_out_of_range.then(written).flatten();
            let Some(variables) = variables.and_then(|it| within_range(it.get())) else {
                return Err(tally.refused(error));
            };
            let tally = Tally::new(limit);
            let json = serde_json::Deserializer::from_str(&variables);
            let values = read(json, ObjectSeed(&tally)).map_err(|error| tally.refused(error))?;
            let seed = RequestSeed {
                variables: Some(&Cell::new(values)),
                ..RequestSeed::new(&tally)
            };
            read(from(), seed).map_err(|error| tally.refused(error))?
        }
    };
    if let Some(variables) = written() {
        request.digits = digits_of(variables.get());
    }
    Ok(request)
}

/// The text of the variables of a request.
#[derive(serde::Deserialize)]
struct Written<'t> {
    #[serde(borrow, default)]
    variables: Option<&'t RawValue>,
}

/// Reads the values of variables, or null.
pub(super) fn variables(
    text: &str,
    limit: usize,
) -> Result<(Option<JsonMap>, Digits), RequestError> {
    let tally = Tally::new(limit);
    let first = read(serde_json::Deserializer::from_str(text), ObjectSeed(&tally));
    let is_valid = || serde_json::from_str::<&RawValue>(text).is_ok();
    let values = match first {
        Err(error) if error.is_syntax() && is_valid() => match within_range(text) {
            Some(text) => values(&text, limit)?,
            None => return Err(tally.refused(error)),
        },
        Err(error) => return Err(tally.refused(error)),
        Ok(values) if !tally.has_floats.get() => return Ok((values, Digits::default())),
        Ok(values) => values,
    };
    Ok((values, digits_of(text)))
}

/// Reads an object of values, or null.
pub(super) fn values(text: &str, limit: usize) -> Result<Option<JsonMap>, RequestError> {
    let tally = Tally::new(limit);
    read(serde_json::Deserializer::from_str(text), ObjectSeed(&tally))
        .map_err(|error| tally.refused(error))
}

/// Reads a request without a limit on its values, for callers that bound the length of the text.
impl<'de> serde::Deserialize<'de> for Request {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        RequestSeed::new(&Tally::new(usize::MAX)).deserialize(from)
    }
}

/// Returns what reading a value costs, as bytes of text.
pub(super) fn cost(value: &JsonValue) -> usize {
    VALUE
        + match value {
            JsonValue::String(text) => text.as_str().len(),
            JsonValue::Array(items) => items.iter().map(cost).sum(),
            JsonValue::Object(members) => members
                .iter()
                .map(|(key, member)| key.as_str().len() + cost(member))
                .sum(),
            _ => 0,
        }
}

/// Reads what a seed makes, to the end of the text.
fn read<'de, T: DeserializeSeed<'de>>(
    mut json: serde_json::Deserializer<impl serde_json::de::Read<'de>>,
    seed: T,
) -> Result<T::Value, serde_json::Error> {
    let value = seed.deserialize(&mut json)?;
    json.end()?;
    Ok(value)
}

/// What is noted of values while they are read.
struct Tally {
    limit: usize,
    /// How many more values may be read; `None` once there were more.
    left: Cell<Option<usize>>,
    /// Whether there are numbers that are no integers of 64 bits, so that they may be written in other ways.
    has_floats: Cell<bool>,
}

impl Tally {
    fn new(limit: usize) -> Self {
        Tally {
            limit,
            left: Cell::new(Some(limit)),
            has_floats: Cell::new(false),
        }
    }

    fn count<E: Error>(&self) -> Result<(), E> {
        let left = self.left.get().and_then(|left| left.checked_sub(1));
        self.left.set(left);
        left.map(|_| ()).ok_or_else(|| E::custom("too many values"))
    }

    fn refused(&self, error: serde_json::Error) -> RequestError {
        let limit = self.limit;
        match self.left.get() {
            None => RequestError::TooManyValues { limit },
            Some(_) if error.is_data() => RequestError::NotRequest(error),
            Some(_) => RequestError::NotJson(error),
        }
    }
}

/// Reads any value.
#[derive(Clone, Copy)]
struct ValueSeed<'c>(&'c Tally);

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = JsonValue;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<JsonValue, D::Error> {
        self.0.count()?;
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = JsonValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<JsonValue, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<JsonValue, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<JsonValue, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<JsonValue, E> {
        self.0.has_floats.set(true);
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<JsonValue, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<JsonValue, E> {
        Ok(JsonValue::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<JsonValue, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(self)? {
            values.push(value);
        }
        Ok(JsonValue::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<JsonValue, A::Error> {
        object(self, members).map(JsonValue::Object)
    }
}

fn object<'de, A: MapAccess<'de>>(
    value: ValueSeed<'_>,
    mut members: A,
) -> Result<JsonMap, A::Error> {
    let mut map = JsonMap::new();
    while let Some(key) = members.next_key::<String>()? {
        // Which of two values is meant is not for a service to guess.
        if map.contains_key(key.as_str()) {
            let message = format!("the member `{key}` is given twice in one object");
            return Err(A::Error::custom(message));
        }
        map.insert(key, members.next_value_seed(value)?);
    }
    Ok(map)
}

/// Reads an object of values, or null.
struct ObjectSeed<'c>(&'c Tally);

impl<'de> DeserializeSeed<'de> for ObjectSeed<'_> {
    type Value = Option<JsonMap>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for ObjectSeed<'_> {
    type Value = Option<JsonMap>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_map(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Self::Value, A::Error> {
        object(ValueSeed(self.0), members).map(Some)
    }
}

/// Reads a request.
struct RequestSeed<'c> {
    tally: &'c Tally,
    /// What is taken for the variables instead of what is written.
    variables: Option<&'c Cell<Option<JsonMap>>>,
}

impl<'c> RequestSeed<'c> {
    fn new(tally: &'c Tally) -> Self {
        RequestSeed {
            tally,
            variables: None,
        }
    }
}

impl<'de> DeserializeSeed<'de> for RequestSeed<'_> {
    type Value = Request;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Request, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RequestSeed<'_> {
    type Value = Request;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Request, A::Error> {
        let mut request = Request::default();
        let mut seen: Vec<&'static str> = Vec::new();
        while let Some(Member(member)) = members.next_key()? {
            if let Some(name) = member {
                if seen.contains(&name) {
                    return Err(A::Error::duplicate_field(name));
                }
                seen.push(name);
            }
            match member {
                Some(QUERY) => request.query = members.next_value()?,
                Some(OPERATION_NAME) => request.operation_name = members.next_value()?,
                Some(VARIABLES) => {
                    let seed = ObjectSeed(self.tally);
                    request.variables = match self.variables {
                        None => members.next_value_seed(seed)?,
                        Some(values) => {
                            members.next_value::<IgnoredAny>()?;
                            values.take()
                        }
                    };
                }
                Some(_) => {
                    request.extensions = members.next_value_seed(ObjectSeed(self.tally))?;
                }
                None => {
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        if !seen.contains(&QUERY) && !request.names_query() {
            return Err(A::Error::missing_field(QUERY));
        }
        Ok(request)
    }
}

const QUERY: &str = "query";
const OPERATION_NAME: &str = "operationName";
const VARIABLES: &str = "variables";
const EXTENSIONS: &str = "extensions";

/// The name of a member; `None` for one that is skipped.
struct Member(Option<&'static str>);

impl<'de> serde::Deserialize<'de> for Member {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_identifier(MemberVisitor)
    }
}

struct MemberVisitor;

impl Visitor<'_> for MemberVisitor {
    type Value = Member;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a member")
    }

    fn visit_str<E>(self, name: &str) -> Result<Member, E> {
        let known = [QUERY, OPERATION_NAME, VARIABLES, EXTENSIONS];
        Ok(Member(known.into_iter().find(|member| *member == name)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(text: &str, limit: usize) -> Result<Request, RequestError> {
        request(text.as_bytes(), limit)
    }

    #[test]
    fn a_request_is_read_with_the_digits_and_the_order_of_its_values() {
        let text = r#"{"variables": {"b": [1, -2.5, 18446744073709551615], "a": {"x": null}},
            "operationName": null, "query": "{ a }", "extensions": {"explain": true}}"#;
        let request = of(text, 10).unwrap();
        assert_eq!(request.query, "{ a }");
        assert_eq!(request.operation_name, None);
        assert!(request.has_extension("explain"));
        let variables = serde_json::to_value(request.variables.unwrap()).unwrap();
        let expected = json!({"b": [1, -2.5, u64::MAX], "a": {"x": null}});
        assert_eq!(variables.to_string(), expected.to_string());
    }

    #[test]
    fn values_are_counted_wherever_they_are() {
        let text =
            r#"{"query": "", "variables": {"a": [1, [2], {"b": 3}]}, "extensions": {"c": 4}}"#;
        assert!(of(text, 7).is_ok());
        assert!(matches!(
            of(text, 6),
            Err(RequestError::TooManyValues { limit: 6 })
        ));
        assert!(matches!(values("[1]", 0), Err(RequestError::NotRequest(_))));
        assert!(matches!(
            values(r#"{"a": 1}"#, 0),
            Err(RequestError::TooManyValues { .. })
        ));
    }

    #[test]
    fn a_query_may_be_named_instead() {
        let text = r#"{"extensions": {"persistedQuery": {"version": 1, "sha256Hash": "a"}}}"#;
        let request = of(text, 10).unwrap();
        assert!(request.query.is_empty() && request.names_query());
        let other = r#"{"extensions": {"persistedQuery": true}}"#;
        assert!(matches!(of(other, 10), Err(RequestError::NotRequest(_))));
    }

    #[test]
    fn a_member_stands_once_in_an_object_of_variables() {
        let text = r#"{"query": "", "variables": {"where": {"a": {}, "b": 1, "a": {"EQ": "x"}}}}"#;
        let Err(RequestError::NotRequest(error)) = of(text, 10) else {
            panic!("a request");
        };
        assert!(
            error
                .to_string()
                .starts_with("the member `a` is given twice"),
            "{error}"
        );
    }

    #[test]
    fn unknown_members_are_skipped_uncounted() {
        let many = vec![1; 1_000];
        let text = json!({ "sentBy": many, "query": "{ a }" }).to_string();
        assert_eq!(of(&text, 0).unwrap().query, "{ a }");
    }

    #[test]
    fn what_is_no_request_is_told_apart() {
        let is_not_json = |text| matches!(of(text, 9), Err(RequestError::NotJson(_)));
        let is_no_request = |text| matches!(of(text, 9), Err(RequestError::NotRequest(_)));
        assert!(is_not_json("") && is_not_json("{") && is_not_json(r#"{"query": ""} x"#));
        assert!(is_no_request("1") && is_no_request("{}") && is_no_request(r#"{"query": 1}"#));
        assert!(is_no_request(r#"{"query": "", "variables": []}"#));
        assert!(is_no_request(r#"{"query": "", "query": ""}"#));
        assert!(matches!(of(" [{}]", 9), Err(RequestError::Batch)));
        assert!(values("null", 0).unwrap().is_none());
    }
}
