//! Who learns what becomes of a request, for the service that answers it.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::Extensions;
use axum::http::request::Parts;
use graphql_service::{RequestContext, RequestObserver};

/// The observer of a request that a layer has put into its extensions, as `Arc<dyn RequestObserver>`; none where
/// nobody has.
#[derive(Debug)]
pub(crate) struct Observer(Option<Arc<dyn RequestObserver>>);

impl Observer {
    /// Returns the observer among the extensions of a request.
    pub(crate) fn among(extensions: &Extensions) -> Self {
        Observer(extensions.get().cloned())
    }

    /// Returns the context of the request that is observed.
    pub(crate) fn of(self, context: RequestContext) -> RequestContext {
        match self.0 {
            Some(observer) => context.with_observer(observer),
            None => context,
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Observer {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Observer::among(&parts.extensions))
    }
}
