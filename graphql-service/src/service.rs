//! What a GraphQL service is to those who put it on a network.

use apollo_compiler::Schema;
use apollo_compiler::validation::Valid;
use async_trait::async_trait;

use crate::request::{Request, RequestContext};
use crate::response::{Reply, Response};

/// A GraphQL service over one schema, free of any transport.
#[async_trait]
pub trait Service: Send + Sync + 'static {
    /// Returns the schema that clients see.
    fn schema(&self) -> &Valid<Schema>;

    /// Answers a request.
    ///
    /// Never fails as a call: whatever goes wrong is in the reply. Whoever drops the future should
    /// cancel the context, so that work that has left the future stops too.
    async fn reply(&self, request: Request, context: RequestContext) -> Reply;

    /// Answers a request with the JSON text of the response.
    ///
    /// A service that works off the async workers writes the text there too.
    async fn respond(&self, request: Request, context: RequestContext) -> Response {
        self.reply(request, context).await.into_response()
    }
}
