//! Leaves as clients see them: checked against their types, and written.

use apollo_compiler::Schema;
use apollo_compiler::schema::ExtendedType;
use graphql_service::writer::write_string;

/// Writes a leaf that is not null, if it fits its type; what subgraphs say of custom scalars is passed on.
///
/// Returns whether it fits. What is written of one that does not is for the caller to remove.
pub(super) fn write(api: &Schema, name: &str, text: &str, out: &mut Vec<u8>) -> bool {
    let first = text.as_bytes().first().copied().unwrap_or_default();
    let is_number = first == b'-' || first.is_ascii_digit();
    let fits = match name {
        "Int" => text.parse::<i32>().is_ok(),
        "Float" => is_number,
        "Boolean" => matches!(first, b't' | b'f'),
        "String" => first == b'"',
        "ID" if text.parse::<i128>().is_ok() => {
            write_string(out, text);
            return true;
        }
        "ID" => first == b'"',
        _ => match api.types.get(name) {
            Some(ExtendedType::Enum(values)) => {
                let value = serde_json::from_str::<String>(text);
                value.is_ok_and(|value| values.values.contains_key(value.as_str()))
            }
            _ => true,
        },
    };
    out.extend_from_slice(text.as_bytes());
    fits
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
            let fits = write(&schema, name, text, &mut out);
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
