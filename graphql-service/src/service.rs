//! The interface between a GraphQL service and its transports.

use apollo_compiler::Schema;
use apollo_compiler::validation::Valid;
use async_trait::async_trait;

use crate::request::{Request, RequestContext};
use crate::response::{Reply, Response};
use crate::stream::Replies;

/// A GraphQL service over one schema, independent of any transport.
#[async_trait]
pub trait Service: Send + Sync + 'static {
    /// Returns the schema that clients see.
    fn schema(&self) -> &Valid<Schema>;

    /// Answers a request.
    ///
    /// Never fails as a call: errors are in the reply. A caller that drops the future should also
    /// cancel the context, which stops work that has moved to other threads.
    async fn reply(&self, request: Request, context: RequestContext) -> Reply;

    /// Answers a request with the JSON text of the response.
    ///
    /// A service that works off the async workers serializes the response there too.
    async fn respond(&self, request: Request, context: RequestContext) -> Response {
        self.reply(request, context).await.into_response()
    }

    /// Answers a request whose transport can send several responses.
    ///
    /// Until the deadline of the context a subscription must have begun; each of its events has as much time
    /// again. Services without subscriptions leave this as it is.
    async fn stream(&self, request: Request, context: RequestContext) -> Replies {
        Replies::One(self.reply(request, context).await)
    }
}
