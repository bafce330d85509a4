//! Findings of the GraphQL library as errors of ours, with a hint where a name is nearly right.

use apollo_compiler::Schema;
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::validation::DiagnosticList;

use crate::code;
use crate::error::{ErrorCode, GraphqlError, Location};

/// Greatest number of findings that one answer lists.
const MAX_FINDINGS: usize = 100;

/// Longest name for which a nearer one is looked for, in bytes; no generated name is longer.
const MAX_SUGGESTED: usize = 300;

/// Turns findings into errors with `code`; a last one says how many are left out.
pub(crate) fn errors(list: &DiagnosticList, code: ErrorCode, schema: &Schema) -> Vec<GraphqlError> {
    let mut errors: Vec<GraphqlError> = list
        .iter()
        .take(MAX_FINDINGS)
        .map(|diagnostic| {
            let mut message = diagnostic
                .error
                .unstable_compat_message()
                .unwrap_or_else(|| diagnostic.error.to_string());
            if let Some(name) = suggestion(&message, schema) {
                message.push_str(&format!(" Did you mean \"{name}\"?"));
            }
            let range = diagnostic.line_column_range();
            let place = range.map(|r| Location {
                line: r.start.line,
                column: r.start.column,
            });
            GraphqlError::new(code, message).at(place)
        })
        .collect();
    if let Some(omitted) = list.len().checked_sub(MAX_FINDINGS).filter(|n| *n > 0) {
        let message = format!("{omitted} more errors are not listed");
        errors.push(GraphqlError::new(code::ERRORS_OMITTED, message));
    }
    errors
}

/// Returns the known name that is nearest to the unknown one of a message.
fn suggestion(message: &str, schema: &Schema) -> Option<String> {
    let mut quoted = message.split('"').skip(1).step_by(2);
    let unknown = quoted.next().filter(|name| name.len() <= MAX_SUGGESTED)?;
    let context = quoted.next();
    let of_member = [
        "Cannot query field ",
        "\" is not defined by type ",
        "\" does not exist in ",
    ];
    let known: Vec<&str> = if of_member.iter().any(|part| message.contains(part)) {
        field_names(schema.types.get(context?)?)
    } else if message.starts_with("Unknown argument") {
        let (ty, field) = context?.split_once('.')?;
        let field = schema.type_field(ty, field).ok()?;
        field
            .arguments
            .iter()
            .map(|argument| argument.name.as_str())
            .collect()
    } else if message.starts_with("Unknown type") {
        schema.types.keys().map(|name| name.as_str()).collect()
    } else {
        return None;
    };
    nearest(unknown, known).map(str::to_owned)
}

/// Returns the names of fields, input fields or enum values.
fn field_names(ty: &ExtendedType) -> Vec<&str> {
    match ty {
        ExtendedType::Object(ty) => ty.fields.keys().map(|name| name.as_str()).collect(),
        ExtendedType::Interface(ty) => ty.fields.keys().map(|name| name.as_str()).collect(),
        ExtendedType::InputObject(ty) => ty.fields.keys().map(|name| name.as_str()).collect(),
        ExtendedType::Enum(ty) => ty.values.keys().map(|name| name.as_str()).collect(),
        ExtendedType::Scalar(_) | ExtendedType::Union(_) => Vec::new(),
    }
}

/// Returns the name that differs least, if it differs little; case hardly counts.
fn nearest<'n>(unknown: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let folded = unknown.to_lowercase();
    let allowed = 1 + unknown.chars().count() / 4;
    known
        .into_iter()
        .map(|name| (strsim::osa_distance(&folded, &name.to_lowercase()), name))
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn only_what_is_near_is_suggested() {
        assert_eq!(nearest("plnet", ["planet", "person"]), Some("planet"));
        assert_eq!(
            nearest("EyeColor", ["eyeColor", "hairColor"]),
            Some("eyeColor")
        );
        assert_eq!(nearest("xyz", ["planet", "id"]), None);
    }
}
