//! What services that manage SOML documents have in common: who may, documents over HTTP, and the reports on them.

mod documents;
mod managing;

pub use documents::{
    StoreTrouble, YAML_TYPES, answer, document_head, etag, refused, rendered, report, store_error,
    store_trouble, stored_report, yaml,
};
pub(crate) use managing::guard;
pub use managing::{ManagesSchemas, audit, forbidden, lines_changed};
