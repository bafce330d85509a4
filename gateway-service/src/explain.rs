//! The plan of a request and how it was carried out, shown beside its answer where that is switched on.

use std::sync::Arc;

use apollo_compiler::Schema;
use apollo_compiler::validation::Valid;
use async_trait::async_trait;
use federation::Gateway;
use federation::exec::{Note, Notes};
use futures::StreamExt;
use futures::stream::BoxStream;
use graphql_service::{Event, Replies, Reply, Request, RequestContext, Service};
use serde_json::{Value, json};

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
        let explained = Explained::of(&request, &context);
        let notes = Arc::clone(&explained.notes);
        let reply = self.0.reply_with_notes(request, context, notes).await;
        self.explained(reply, explained).await
    }

    async fn stream(&self, request: Request, context: RequestContext) -> Replies {
        if !request.has_extension(EXPLAIN) {
            return self.0.stream(request, context).await;
        }
        let explained = Explained::of(&request, &context);
        let notes = Arc::clone(&explained.notes);
        match self.0.stream_with_notes(request, context, notes).await {
            Replies::One(reply) => Replies::One(self.explained(reply, explained).await),
            Replies::Several(events) => self.explained_first(events, explained).await,
        }
    }
}

/// What is left of a request that is to be explained.
struct Explained {
    request: Request,
    context: RequestContext,
    notes: Arc<Notes>,
}

impl Explained {
    fn of(request: &Request, context: &RequestContext) -> Self {
        Explained {
            request: request.clone(),
            context: context.clone(),
            notes: Arc::default(),
        }
    }
}

/// Returns the extension of an answer with a plan.
fn extension(plan: &[String], notes: &Notes) -> Value {
    let notes = notes.all();
    let mut extension = json!({ "plan": plan });
    if !notes.is_empty() {
        let notes: Vec<String> = notes.iter().map(Note::to_string).collect();
        extension["notes"] = json!(notes);
    }
    extension
}

impl Explaining {
    /// Adds the plan to an answer.
    async fn explained(&self, reply: Reply, explained: Explained) -> Reply {
        let Reply::Executed(answer) = reply else {
            return reply;
        };
        Reply::Executed(
            match self.lines(explained.request, &explained.context).await {
                Some(lines) => answer.with_extension(EXPLAIN, &extension(&lines, &explained.notes)),
                None => answer,
            },
        )
    }

    /// Adds the plan to the first event.
    async fn explained_first(
        &self,
        events: BoxStream<'static, Event>,
        explained: Explained,
    ) -> Replies {
        let mut lines = self.lines(explained.request, &explained.context).await;
        let events = events.map(move |event| match (event, lines.take()) {
            (Event::Next(Reply::Executed(answer)), Some(lines)) => {
                let explain = extension(&lines, &explained.notes);
                Event::Next(Reply::Executed(answer.with_extension(EXPLAIN, &explain)))
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
