//! What was found when the service looked after itself.

use service_runtime::HealthRecord;

/// What was found when the service looked after itself.
#[derive(Clone)]
pub(crate) struct HealthFindings {
    pub(crate) record: HealthRecord,
    /// Why the store of schemas does not do what it is asked for.
    pub(crate) schemas: Option<String>,
}
