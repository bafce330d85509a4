//! The members of a JSON object, of which only what is wanted is read.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object, unread.
#[derive(Debug, Default)]
pub(super) struct Members<'j>(Vec<(&'j str, &'j RawValue)>);

impl<'j> Members<'j> {
    /// Reads the names of the members.
    pub(super) fn read(text: &'j [u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(text)
    }

    /// Returns the value of a member; `None` if it is absent or null.
    pub(super) fn get(&self, name: &str) -> Option<&'j RawValue> {
        let at = self.0.binary_search_by_key(&name, |(name, _)| name).ok()?;
        let (_, value) = self.0[at];
        (value.get() != "null").then_some(value)
    }
}

impl<'j> Deserialize<'j> for Members<'j> {
    fn deserialize<D: Deserializer<'j>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reader)
    }
}

struct Reader;

impl<'j> Visitor<'j> for Reader {
    type Value = Members<'j>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object whose names have no escapes")
    }

    fn visit_map<A: MapAccess<'j>>(self, mut map: A) -> Result<Members<'j>, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        members.sort_by_key(|(name, _)| *name);
        Ok(Members(members))
    }
}

#[cfg(test)]
mod tests {
    use super::Members;

    #[test]
    fn members_are_found_and_null_is_none() {
        let members = Members::read(br#"{"b": [1, 2], "a": null, "$shown": {}}"#).expect("JSON");
        let get = |name| members.get(name).map(serde_json::value::RawValue::get);
        assert_eq!(get("b"), Some("[1, 2]"));
        assert_eq!(get("$shown"), Some("{}"));
        assert_eq!((get("a"), get("c")), (None, None));
        assert!(Members::read(b"[]").is_err() && Members::read(b"{").is_err());
    }
}
