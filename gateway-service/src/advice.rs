//! What helps against reasons that composition gives, beyond what it says itself: `federation` knows neither SOML nor
//! where schemas come from.

use federation::compose::{CompositionCode, CompositionError};

/// Returns what helps beyond what composition itself says.
pub(super) fn advice(error: &CompositionError) -> Option<String> {
    match error.code {
        CompositionCode::INVALID_FIELD_SHARING => prefix(error),
        CompositionCode::INVALID_GRAPHQL => source(error),
        _ => None,
    }
}

/// A query field that two subgraphs have.
fn prefix(error: &CompositionError) -> Option<String> {
    let field = error.coordinate.as_deref()?.strip_prefix("Query.")?;
    let field = field.split('(').next().unwrap_or(field);
    Some(format!(
        "a query field belongs to one subgraph; if one of them is an object service, `config.queryPfx` in its \
         SOML schema, such as `queryPfx: \"objects_\"`, renames its query fields, here to `objects_{field}`"
    ))
}

/// A schema that cannot be read.
fn source(error: &CompositionError) -> Option<String> {
    let subgraph = &error.places.first()?.subgraph;
    Some(format!(
        "this is what `_service {{ sdl }}` of `{subgraph}` returns; send it that query to see the whole text"
    ))
}
