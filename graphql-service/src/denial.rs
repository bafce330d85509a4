//! What a response says of fields that the roles of a caller may not read.

use crate::code;
use crate::error::GraphqlError;

/// Returns the warning that a field of a type is left out of the answer.
#[must_use]
pub fn left_out(field: &str, ty: &str, roles: &str) -> GraphqlError {
    let message = format!(
        "WARN: Field '{field}' from type '{ty}' is removed as selection due to being queried without permissions, \
         roles=[{roles}]"
    );
    GraphqlError::new(code::ACCESS_FIELD_REMOVED, message)
}

/// Returns the error that an argument speaks of what cannot be read.
#[must_use]
pub fn denied(argument: &str, field: &str, roles: &str) -> GraphqlError {
    let message = format!(
        "`{argument}` uses `{field}`, which cannot be read without permission, roles=[{roles}]"
    );
    GraphqlError::new(code::ACCESS_DENIED, message)
}

/// Returns the error for an argument that uses something which can be read only in some objects.
#[must_use]
pub fn partly_denied(argument: &str, field: &str, roles: &str) -> GraphqlError {
    let message = format!(
        "`{argument}` uses `{field}`, which conditions of roles hide in some objects, roles=[{roles}]"
    );
    GraphqlError::new(code::ACCESS_DENIED, message)
}
