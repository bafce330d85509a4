//! Who learns what becomes of a request.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::SystemTime;

use apollo_compiler::ast::OperationType;

/// Learns what becomes of one request, for traces and statistics. Whoever answers the request calls it on the way, so
/// it must be quick.
///
/// It is [`Any`] so that other parts of a program, such as the transport to upstream services, find the observer that
/// they know.
pub trait RequestObserver: Any + Debug + Send + Sync {
    /// Takes note of the operation, once it is known to fit the schema.
    fn operation(&self, operation: ObservedOperation<'_>);

    /// Returns an observer for one of several requests that came together.
    fn for_part(self: Arc<Self>) -> Arc<dyn RequestObserver>;
}

/// What an observer learns of an operation.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ObservedOperation<'a> {
    /// Its type.
    pub operation_type: OperationType,
    /// Its name, which the client has chosen.
    pub name: Option<&'a str>,
    /// From when to when it was validated and planned; `None` if it was known already.
    pub planned: Option<(SystemTime, SystemTime)>,
}

impl<'a> ObservedOperation<'a> {
    /// Describes an operation that was known already.
    #[must_use]
    pub fn known(operation_type: OperationType, name: Option<&'a str>) -> Self {
        ObservedOperation {
            operation_type,
            name,
            planned: None,
        }
    }

    /// Says from when to when it was validated and planned.
    #[must_use]
    pub fn planned(mut self, begun: SystemTime, ended: SystemTime) -> Self {
        self.planned = Some((begun, ended));
        self
    }
}
