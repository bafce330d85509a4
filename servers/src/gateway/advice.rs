//! What helps against a conflict of subgraphs that is about object services: `federation` knows nothing of SOML.

use federation::compose::{CompositionCode, CompositionError};

/// Returns what helps beyond what composition itself says.
pub(super) fn advice(error: &CompositionError) -> Option<String> {
    let field = error.coordinate.as_deref()?.strip_prefix("Query.")?;
    if error.code != CompositionCode::INVALID_FIELD_SHARING {
        return None;
    }
    let field = field.split('(').next().unwrap_or(field);
    Some(format!(
        "a query field belongs to one subgraph; if one of them is an object service, `config.queryPfx` in its \
         SOML schema, such as `queryPfx: \"objects_\"`, renames its query fields, here to `objects_{field}`"
    ))
}
