//! What was found when the service looked after itself.

use service_runtime::HealthRecord;

/// What was found when the service looked after itself.
#[derive(Clone)]
pub(crate) struct Found {
    pub(crate) record: HealthRecord,
    /// What is wrong with the store of schemas.
    pub(crate) schemas: Option<String>,
}
