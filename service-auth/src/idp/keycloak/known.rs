//! What steps have found in a realm.

use std::collections::HashMap;

use serde_json::Value;

/// Identifiers that several steps need.
#[derive(Default)]
pub(super) struct Known {
    /// Identifiers of clients by their `client_id`.
    pub(super) clients: HashMap<String, String>,
    /// What names each role of the application: identifier and name.
    pub(super) roles: Option<HashMap<String, Value>>,
}
