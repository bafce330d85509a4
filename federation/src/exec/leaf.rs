//! Leaves as clients see them: checked against their types, and written.

use apollo_compiler::Schema;
use apollo_compiler::schema::ExtendedType;
use graphql_service::writer::write_string;

use crate::operation::LeafKind;

/// Writes a leaf that is not null, if it fits its type; what subgraphs say of custom scalars is passed on.
///
/// Returns whether it fits. What is written of one that does not is for the caller to remove.
pub(super) fn write(
    api: &Schema,
    name: &str,
    kind: LeafKind,
    text: &[u8],
    out: &mut Vec<u8>,
) -> bool {
    let first = text.first().copied().unwrap_or_default();
    let fits = match kind {
        LeafKind::Int => number::<i32>(text).is_some(),
        LeafKind::Float => first == b'-' || first.is_ascii_digit(),
        LeafKind::Boolean => matches!(first, b't' | b'f'),
        LeafKind::String => first == b'"',
        LeafKind::Enum => is_value(api, name, text),
        LeafKind::Id if first == b'"' => true,
        LeafKind::Id if number::<i128>(text).is_some() => {
            write_string(out, std::str::from_utf8(text).unwrap_or_default());
            return true;
        }
        LeafKind::Id => false,
        LeafKind::Custom => true,
    };
    out.extend_from_slice(text);
    fits
}

/// Returns whether a text is a value of an enum that clients may see.
fn is_value(api: &Schema, name: &str, text: &[u8]) -> bool {
    let Some(ExtendedType::Enum(values)) = api.types.get(name) else {
        return false;
    };
    let value = serde_json::from_slice::<String>(text);
    value.is_ok_and(|value| values.values.contains_key(value.as_str()))
}

fn number<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_are_checked_against_their_types() {
        let schema = "enum E { A } scalar Any type Query { e: E any: Any }";
        let schema = Schema::parse_and_validate(schema, "schema.graphql").unwrap();
        let written = |name: &str, text: &str| {
            let mut out = Vec::new();
            let text = text.as_bytes();
            let fits = write(&schema, name, LeafKind::of(&schema, name), text, &mut out);
            fits.then(|| String::from_utf8(out).unwrap())
        };
        assert_eq!(written("Int", "2147483647").as_deref(), Some("2147483647"));
        assert_eq!(written("Int", "2147483648"), None);
        assert_eq!(written("Int", "1.5"), None);
        assert_eq!(written("Int", "\"1\""), None);
        assert_eq!(written("Float", "1e3").as_deref(), Some("1e3"));
        assert_eq!(written("Float", "\"1\""), None);
        assert_eq!(written("ID", "7").as_deref(), Some("\"7\""));
        assert_eq!(written("ID", "true"), None);
        assert_eq!(written("String", "\"a\"").as_deref(), Some("\"a\""));
        assert_eq!(written("String", "1"), None);
        assert_eq!(written("Boolean", "true").as_deref(), Some("true"));
        assert_eq!(written("E", "\"A\"").as_deref(), Some("\"A\""));
        assert_eq!(written("E", "\"B\""), None);
        assert_eq!(
            written("Any", "{\"a\":[1]}").as_deref(),
            Some("{\"a\":[1]}")
        );
    }
}
