//! The plan of a request, shown beside its answer where that is switched on.

use std::sync::Arc;

use apollo_compiler::Schema;
use apollo_compiler::validation::Valid;
use async_trait::async_trait;
use federation::Gateway;
use graphql_service::{Reply, Request, RequestContext, Service};
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
        match self.0.reply(request, context).await {
            Reply::Executed(answer) => {
                let Some(plan) = self.0.plan_of(planned, &planned_in).await else {
                    return Reply::Executed(answer);
                };
                let text = plan.text(self.0.supergraph());
                let lines: Vec<&str> = text.lines().collect();
                Reply::Executed(answer.with_extension(EXPLAIN, &json!({ "plan": lines })))
            }
            other => other,
        }
    }
}
