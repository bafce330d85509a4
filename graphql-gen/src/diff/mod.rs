//! What changes for clients when one SOML schema takes the coordinate of another.
//!
//! [`diff`] compares two generated APIs in two ways. The GraphQL schemas are compared as clients see
//! them ([`compare`]); the SOML schemas are compared for what no client can see, such as another
//! IRI behind the same field. What the first finds is then put under the change of the document that
//! causes it, so that a removed object is one [`Change`] and not thirty. [`diff_schemas`] compares GraphQL schemas that
//! come from elsewhere. Nothing here prints, reads
//! files or knows the texts of the documents.

mod attribute;
mod causes;
mod change;
mod code;
mod compare;
mod coordinate;
mod detail;
mod document;
mod graphql;
mod objects;
mod properties;
mod settings;
mod side;

pub use change::{Change, Consequence, Criticality};
pub use code::ChangeCode;
pub use compare::compare;
pub use graphql::diff_schemas;

use crate::typesystem::Api;

/// Compares two generated APIs: the most critical changes first, then in the order of the document.
///
/// Both should be generated with the same options; where the options differ, the differences are
/// told as changes of settings.
///
/// ```
/// use std::sync::Arc;
/// use graphql_gen::diff::{ChangeCode, Criticality, diff};
/// use graphql_gen::typesystem::{Api, ApiOptions};
///
/// let api = |props: &str| {
///     let text = format!("id: /soml/sky\nobjects:\n  Planet: {{props: {props}}}\n");
///     let soml = soml_core::load(&text).schema.expect("the document is valid");
///     Api::new(Arc::new(soml), &ApiOptions::default())
/// };
/// let changes = diff(&api("{mass: {}, name: {}}")?, &api("{name: {}}")?);
///
/// assert_eq!(changes.len(), 1);
/// assert_eq!(changes[0].code, ChangeCode::PropertyRemoved);
/// assert_eq!(changes[0].criticality, Criticality::Breaking);
/// assert_eq!(changes[0].coordinate, "Planet.mass");
/// assert!(changes[0].consequences.iter().any(|c| c.coordinate == "Planet_Where.mass"));
/// # Ok::<(), graphql_gen::typesystem::ApiError>(())
/// ```
#[must_use]
pub fn diff(old: &Api, new: &Api) -> Vec<Change> {
    let sides = side::Sides::new(old, new);
    let mut causes = document::causes(&sides);
    for found in compare::raw(old.schema(), new.schema()) {
        attribute::attribute(&sides, &mut causes, &found);
    }
    causes.finish()
}
