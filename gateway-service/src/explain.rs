//! The plan of a request, shown beside its answer where that is switched on.

use std::sync::Arc;

use apollo_compiler::Schema;
use apollo_compiler::validation::Valid;
use async_trait::async_trait;
use federation::Gateway;
use futures::StreamExt;
use futures::stream::BoxStream;
use graphql_service::{Event, Replies, Reply, Request, RequestContext, Service};
use serde_json::json;

/// The extension of a request that asks for its plan, and that of the answer that has it.
const EXPLAIN: &str = "explain";

/// A gateway that shows plans.
pub(crate) struct Explaining(pub(crate) Arc<Gateway>);

#[async_trait]
impl Service for Explaining {
    fn schema(&self) -> &Valid<Schema> {
        self.0.schema()
    }

    async fn reply(&self, request: Request, context: RequestContext) -> Reply {
        if !request.has_extension(EXPLAIN) {
            return self.0.reply(request, context).await;
        }
        let (planned, planned_in) = (request.clone(), context.clone());
        let reply = self.0.reply(request, context).await;
        self.explained(reply, planned, &planned_in).await
    }

    async fn stream(&self, request: Request, context: RequestContext) -> Replies {
        if !request.has_extension(EXPLAIN) {
            return self.0.stream(request, context).await;
        }
        let (planned, planned_in) = (request.clone(), context.clone());
        match self.0.stream(request, context).await {
            Replies::One(reply) => Replies::One(self.explained(reply, planned, &planned_in).await),
            Replies::Several(events) => self.explained_first(events, planned, &planned_in).await,
        }
    }
}

impl Explaining {
    /// Adds the plan to an answer.
    async fn explained(&self, reply: Reply, request: Request, context: &RequestContext) -> Reply {
        let Reply::Executed(answer) = reply else {
            return reply;
        };
        Reply::Executed(match self.lines(request, context).await {
            Some(lines) => answer.with_extension(EXPLAIN, &json!({ "plan": lines })),
            None => answer,
        })
    }

    /// Adds the plan to the first event.
    async fn explained_first(
        &self,
        events: BoxStream<'static, Event>,
        request: Request,
        context: &RequestContext,
    ) -> Replies {
        let mut lines = self.lines(request, context).await;
        let events = events.map(move |event| match (event, lines.take()) {
            (Event::Next(Reply::Executed(answer)), Some(lines)) => {
                let plan = json!({ "plan": lines });
                Event::Next(Reply::Executed(answer.with_extension(EXPLAIN, &plan)))
            }
            (event, _) => event,
        });
        Replies::Several(events.boxed())
    }

    async fn lines(&self, request: Request, context: &RequestContext) -> Option<Vec<String>> {
        let plan = self.0.plan_of(request, context).await?;
        let text = plan.text(self.0.supergraph());
        Some(text.lines().map(str::to_owned).collect())
    }
}
