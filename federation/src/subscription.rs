//! Subscriptions: the events of one subgraph, each answered by the plan of the operation.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use apollo_compiler::executable::OperationType;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use graphql_service::writer::{AnswerWriter, WriteResult};
use graphql_service::{
    ErrorCode, Event, GraphqlError, PathSegment, Replies, Reply, RequestContext,
};
use tokio::sync::mpsc::{self, Receiver, Sender, error::TrySendError};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::code;
use crate::exec::{self, Execution, Failure, execute, execute_event};
use crate::operation::{Output, Tree};
use crate::supergraph::SubgraphId;
use crate::transport::{SubgraphEvent, SubgraphEvents, TransportError};

/// The subscriptions that are open, for gateways that share a limit on them.
///
/// Cheap to clone; clones share everything.
#[derive(Clone, Debug, Default)]
pub struct OpenSubscriptions(Arc<AtomicUsize>);

impl OpenSubscriptions {
    /// Returns how many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts one more, if there may be one.
    fn open(&self, most: usize) -> Option<SubscriptionPermit> {
        let one_more = |open: usize| (open < most).then_some(open + 1);
        let counted = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        counted.ok().map(|_| SubscriptionPermit(self.clone()))
    }
}

/// Counts a subscription as open while it lives.
struct SubscriptionPermit(OpenSubscriptions);

impl Drop for SubscriptionPermit {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Why all subscriptions of a gateway end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// Another supergraph takes the place of its own.
    SchemaReload,
    /// The service is shut down.
    Shutdown,
}

impl Ending {
    fn error(self) -> GraphqlError {
        let (code, message): (ErrorCode, _) = match self {
            Ending::SchemaReload => (
                code::SUBSCRIPTION_SCHEMA_RELOAD,
                "the schema has changed; subscribe again",
            ),
            Ending::Shutdown => (
                code::SUBSCRIPTION_SHUTDOWN,
                "the service is being shut down",
            ),
        };
        GraphqlError::new(code, message)
    }
}

/// The signal that ends all subscriptions of a gateway; it comes once.
#[derive(Debug, Default)]
pub(crate) struct EndSignal {
    why: OnceLock<Ending>,
    token: CancellationToken,
}

impl EndSignal {
    pub(crate) fn raise(&self, why: Ending) {
        let _ = self.why.set(why);
        self.token.cancel();
    }

    fn error(&self) -> GraphqlError {
        // It is set before the token is cancelled.
        self.why.get().copied().unwrap_or(Ending::Shutdown).error()
    }
}

/// What subscriptions of a gateway share.
#[derive(Clone, Debug, Default)]
pub(crate) struct GatewaySubscriptions {
    pub(crate) open: OpenSubscriptions,
    pub(crate) end: Arc<EndSignal>,
}

/// Begins a subscription. `introspect` is as [`execute`] has it.
pub(crate) async fn begin<I>(
    shared: &GatewaySubscriptions,
    execution: Execution,
    introspect: I,
) -> Replies
where
    I: Fn(&str, &mut AnswerWriter<'_>) -> WriteResult + Clone + Send + Sync + 'static,
{
    debug_assert_eq!(execution.plan.operation, OperationType::Subscription);
    let Some((subgraph, subscription)) = exec::subscription(&execution) else {
        // Its field is left out, or hidden from this request, which the answer says.
        return Replies::One(execute(execution, introspect).await);
    };
    let refused = |error| Replies::One(Reply::Refused(vec![error]));
    let most = execution.limits.subscriptions;
    let Some(open) = shared.open.open(most) else {
        let message = format!("{most} subscriptions are open, which is the maximum");
        return Replies::One(Reply::Overloaded(GraphqlError::new(
            code::SUBSCRIPTION_LIMIT,
            message,
        )));
    };
    if shared.end.token.is_cancelled() {
        return refused(shared.end.error());
    }
    // What is under way ends with the subscription.
    let cancel = execution.context.call.cancellation.child_token();
    let mut context = (*execution.context).clone();
    context.call.cancellation = cancel.clone();
    let context = Arc::new(context);
    let to = execution.supergraph.subgraph(subgraph);
    let begun = execution.transport.subscribe(to, subscription, &context);
    let events = match exec::within(to, &context, begun).await {
        Ok(events) => events,
        Err(failure) => return refused(failure.error(to, path(&execution))),
    };
    let (into, arrived) = mpsc::channel(execution.limits.events.max(1));
    let outcome = Arc::new(OnceLock::new());
    let pump = SourcePump {
        events,
        into,
        outcome: Arc::clone(&outcome),
        end: cancel.clone(),
    };
    tokio::spawn(pump.run());
    let now = Instant::now();
    let responses = ResponseStream {
        time: context
            .call
            .deadline
            .map(|deadline| deadline.saturating_duration_since(now)),
        execution,
        context,
        introspect,
        arrived,
        outcome,
        subgraph,
        end: Arc::clone(&shared.end),
        _open: open,
        _cancel: cancel.drop_guard(),
    };
    Replies::Several(responses.into_stream())
}

/// Returns the path of the only field.
fn path(execution: &Execution) -> Vec<PathSegment> {
    let outputs = execution.plan.tree.class(Tree::ROOT).outputs.iter();
    let keys = outputs.filter_map(|output| match output {
        Output::Field { key, .. } => Some(PathSegment::Key(key.to_string())),
        _ => None,
    });
    keys.take(1).collect()
}

/// Why there are no more events, where they have not just ended.
enum SourceFailure {
    Failed(TransportError),
    Overflow,
}

/// Takes events from the source stream of a subgraph as they come, so that it never waits for a client.
struct SourcePump {
    events: SubgraphEvents,
    into: Sender<SubgraphEvent>,
    outcome: Arc<OnceLock<SourceFailure>>,
    end: CancellationToken,
}

impl SourcePump {
    async fn run(mut self) {
        loop {
            let next = tokio::select! {
                biased;
                () = self.end.cancelled() => return,
                next = self.events.next() => next,
            };
            let outcome = match next {
                None => return,
                Some(Err(error)) => SourceFailure::Failed(error),
                Some(Ok(event)) => match self.into.try_send(event) {
                    Ok(()) => continue,
                    Err(TrySendError::Closed(_)) => return,
                    Err(TrySendError::Full(_)) => SourceFailure::Overflow,
                },
            };
            let _ = self.outcome.set(outcome);
            return;
        }
    }
}

/// The response stream: answers the events of the source stream, one after another.
struct ResponseStream<I> {
    execution: Execution,
    context: Arc<RequestContext>,
    introspect: I,
    /// How long an event may take.
    time: Option<Duration>,
    arrived: Receiver<SubgraphEvent>,
    outcome: Arc<OnceLock<SourceFailure>>,
    /// Where events come from.
    subgraph: SubgraphId,
    end: Arc<EndSignal>,
    _open: SubscriptionPermit,
    _cancel: DropGuard,
}

impl<I> ResponseStream<I>
where
    I: Fn(&str, &mut AnswerWriter<'_>) -> WriteResult + Clone + Send + Sync + 'static,
{
    fn into_stream(self) -> BoxStream<'static, Event> {
        let next = |responses: Option<Self>| async move {
            let mut responses = responses?;
            match responses.next().await? {
                last @ Event::Error(_) => Some((last, None)),
                event => Some((event, Some(responses))),
            }
        };
        stream::unfold(Some(self), next).boxed()
    }

    async fn next(&mut self) -> Option<Event> {
        let arrived = tokio::select! {
            biased;
            () = self.end.token.cancelled() => return Some(Event::Error(vec![self.end.error()])),
            arrived = self.arrived.recv() => arrived,
        };
        match arrived {
            Some(event) => Some(Event::Next(self.answer(event).await)),
            None => self.ended().map(|error| Event::Error(vec![error])),
        }
    }

    async fn answer(&self, event: SubgraphEvent) -> Reply {
        let mut context = (*self.context).clone();
        context.call.deadline = self.time.map(|time| Instant::now() + time);
        context.overdue = Arc::default();
        context.freshness = Arc::default();
        // Given back once this answer is sent, and not only when the subscription ends.
        context.memory = Arc::new(context.memory.another());
        let execution = Execution {
            context: Arc::new(context),
            ..self.execution.clone()
        };
        execute_event(execution, event, self.introspect.clone()).await
    }

    fn ended(&self) -> Option<GraphqlError> {
        match self.outcome.get()? {
            SourceFailure::Failed(error) => {
                let subgraph = self.execution.supergraph.subgraph(self.subgraph);
                exec::log(subgraph, error, &self.context.call.request_id);
                Some(Failure::of(error).error(subgraph, path(&self.execution)))
            }
            SourceFailure::Overflow => {
                let most = self.execution.limits.events;
                let message = format!("more than {most} events wait for the client");
                let error = GraphqlError::new(code::SUBSCRIPTION_OVERFLOW, message);
                Some(error.on(path(&self.execution)))
            }
        }
    }
}
