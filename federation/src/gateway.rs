//! The gateway as a service: documents, plans, execution.

mod client_requests;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use apollo_compiler::ast::OperationType;
use apollo_compiler::executable::Operation;
use apollo_compiler::response::JsonMap;
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Schema};
use async_trait::async_trait;
use graphql_service::document::{Documents, Prepared, Refusal};
use graphql_service::writer::{AnswerWriter, WriteResult};
use graphql_service::{
    Answer, GraphqlError, Limits, Replies, Reply, Request, RequestContext, Service, SlotError,
    Slots, Weight, code as shared,
};
use tokio::runtime::Handle;
use tracing::Span;

use self::client_requests::{ClientFlights, KnownQuery};
use crate::authorization::{Authorizer, Denied, Grants};
use crate::code;
use crate::exec::{Execution, Notes, RequestSharing, SubgraphFlights, execute};
use crate::graph::ActiveLabels;
use crate::limits::GatewayLimits;
use crate::memo::EntityMemo;
use crate::operation::{Canonical, lifted};
use crate::plan::{Plan, Planned};
use crate::plan_cache::{CachedPlan, PlanCache, PlanKey};
use crate::sharing::{Savings, SharingOptions, is_shareable};
use crate::subscription::{self, Ending, GatewaySubscriptions, OpenSubscriptions};
use crate::supergraph::{Requirement, Supergraph, SupergraphError};
use crate::transport::SubgraphTransport;

/// Settings of a gateway.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GatewayOptions {
    /// Limits on documents and answers.
    pub limits: Limits,
    /// Limits on plans and subgraphs.
    pub gateway_limits: GatewayLimits,
    /// The labels of progressive overrides that are active.
    pub labels: ActiveLabels,
    /// Decides what requests may do; required if the supergraph has authorization directives.
    pub authorizer: Option<Arc<dyn Authorizer>>,
    /// Slots for large answers of subgraphs, which would take too long on async workers.
    pub slots: Arc<Slots>,
    /// Bytes of documents that are kept.
    pub document_cache_bytes: u64,
    /// Fields of plans that are kept.
    pub plan_cache_fields: u64,
    /// The subscriptions that count towards the limit on them.
    pub subscriptions: OpenSubscriptions,
    /// Whether clients are shown the traces of the stack that subgraphs put into the extensions of their errors: the
    /// members `stacktrace` and `exception`, in any case.
    pub subgraph_stacktraces: bool,
    /// Whether entities that subgraphs have already returned are reused.
    pub entity_memo: EntityMemo,
    /// Which equal requests share what is done for them.
    pub sharing: SharingOptions,
    /// Counts what is not done again.
    pub savings: Option<Arc<dyn Savings>>,
}

impl Default for GatewayOptions {
    fn default() -> Self {
        GatewayOptions {
            limits: Limits::default(),
            gateway_limits: GatewayLimits::default(),
            labels: ActiveLabels::default(),
            authorizer: None,
            slots: Slots::shared(),
            document_cache_bytes: 32 << 20,
            plan_cache_fields: 100_000,
            subscriptions: OpenSubscriptions::default(),
            subgraph_stacktraces: false,
            entity_memo: EntityMemo::default(),
            sharing: SharingOptions::default(),
            savings: None,
        }
    }
}

/// A GraphQL service over the subgraphs of a supergraph.
///
/// Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct Gateway {
    inner: Arc<Inner>,
    transport: Arc<dyn SubgraphTransport>,
    subscriptions: GatewaySubscriptions,
    subgraph_flights: Arc<SubgraphFlights>,
    client_flights: Arc<ClientFlights>,
}

/// What planning needs, wherever it happens.
struct Inner {
    supergraph: Arc<Supergraph>,
    documents: Documents,
    options: GatewayOptions,
    plans: PlanCache,
    /// The policies that the supergraph knows.
    policies: Vec<String>,
}

impl Gateway {
    /// Creates a gateway.
    ///
    /// # Errors
    /// When the supergraph requires something of requests, and there is no authorizer.
    pub fn new(
        supergraph: Arc<Supergraph>,
        transport: Arc<dyn SubgraphTransport>,
        options: GatewayOptions,
    ) -> Result<Self, SupergraphError> {
        if options.authorizer.is_none() {
            supergraph.check_that_nothing_is_required()?;
        }
        let bytes = options.document_cache_bytes;
        let inner = Inner {
            policies: policies(&supergraph),
            documents: Documents::new(supergraph.api(), options.limits.clone(), bytes),
            plans: PlanCache::new(options.plan_cache_fields, bytes),
            supergraph,
            options,
        };
        let subscriptions = GatewaySubscriptions {
            open: inner.options.subscriptions.clone(),
            end: Arc::default(),
        };
        Ok(Gateway {
            inner: Arc::new(inner),
            transport,
            subscriptions,
            subgraph_flights: Arc::default(),
            client_flights: Arc::default(),
        })
    }

    /// Returns the supergraph.
    #[must_use]
    pub fn supergraph(&self) -> &Supergraph {
        &self.inner.supergraph
    }

    /// Executes a request, and notes how the requests of its plan got their answers. Unlike [`Service::reply`], it never
    /// takes the reply to an equal request.
    pub async fn reply_with_notes(
        &self,
        request: Request,
        context: RequestContext,
        notes: Arc<Notes>,
    ) -> Reply {
        self.reply_unshared(request, Arc::new(context), Some(notes))
            .await
    }

    /// Answers a request as [`Service::stream`] does, and notes how the requests of its plan got their answers. The
    /// notes of a subscription are about all of its events.
    pub async fn stream_with_notes(
        &self,
        request: Request,
        context: RequestContext,
        notes: Arc<Notes>,
    ) -> Replies {
        self.replies(request, context, Some(notes)).await
    }

    /// Ends all subscriptions, and refuses new ones. Requests are answered as before.
    pub fn end_subscriptions(&self, why: Ending) {
        self.subscriptions.end.raise(why);
    }

    /// Plans a request that may do everything, without sending anything.
    ///
    /// # Errors
    /// When the request is refused.
    pub fn plan(&self, request: &Request, context: &RequestContext) -> Result<Arc<Plan>, Refusal> {
        self.plan_for(request, context, &Grants::everything())
    }

    /// Plans a request that has something, without sending anything.
    ///
    /// # Errors
    /// When the request is refused.
    pub fn plan_for(
        &self,
        request: &Request,
        context: &RequestContext,
        grants: &Grants,
    ) -> Result<Arc<Plan>, Refusal> {
        let prepared = self.inner.documents.read(request, context)?;
        let span = &context.call.span;
        let settled = self.inner.settled(prepared, grants, span)?;
        Ok(Arc::clone(&settled.known.plan))
    }

    /// Returns the plan that a request is answered by; nothing if it is refused.
    pub async fn plan_of(&self, request: Request, context: &RequestContext) -> Option<Arc<Plan>> {
        let settled = self.settled(request, context).await.ok()?;
        Some(Arc::clone(&settled.known.plan))
    }

    /// Plans the operations that another gateway has answered most often, at most so many, as far as they fit the
    /// supergraph of this one and have no plan yet. None is begun after `until`. Returns how many are planned.
    ///
    /// A gateway that takes the place of another one begins with these plans. This takes long: call it where work
    /// of some seconds harms no one.
    pub fn warm(&self, from: &Gateway, most: usize, until: Instant) -> usize {
        let used = from.inner.plans.most_used(most);
        let in_time = used.iter().take_while(|_| Instant::now() < until);
        let planned = in_time.map(|key| self.inner.planned_again(key));
        planned.filter(|is_new| matches!(is_new, Ok(true))).count()
    }

    /// Returns the plan of a request with what it is planned by. Long operations are validated in a slot, and all are
    /// planned there: a short text can ask for a plan that takes long.
    async fn settled(
        &self,
        request: Request,
        context: &RequestContext,
    ) -> Result<Settled, NotSettled> {
        let inner = &self.inner;
        let slots = &inner.options.slots;
        let grants = inner.grants(context).await;
        let size = request.size(inner.documents.known(&request.query).is_some());
        if !size.is_short() {
            let (inner, context) = (Arc::clone(inner), context.clone());
            let deadline = context.call.deadline;
            let settle = move || {
                let prepared = inner.documents.read(&request, &context)?;
                inner.settled(prepared, &grants, &context.call.span)
            };
            return Ok(slots.run_sized(size, deadline, settle).await??);
        }
        let prepared = inner.documents.read(&request, context)?;
        let (canonical, key) = inner.key(&prepared, &grants);
        if let Some(known) = inner.plans.get(&key) {
            return Ok(Settled::new(prepared, &canonical, known));
        }
        let (inner, span) = (Arc::clone(inner), context.call.span.clone());
        let plan = move || {
            let known = inner.plan_prepared(key, &prepared, &grants, &span)?;
            Ok::<_, Refusal>(Settled::new(prepared, &canonical, known))
        };
        if Handle::try_current().is_err() {
            return Ok(plan()?);
        }
        let planned = slots.run(Weight::Medium, context.call.deadline, |_| plan());
        Ok(planned.await??)
    }

    /// Executes a request, without regard to equal ones of other clients.
    async fn reply_unshared(
        &self,
        request: Request,
        context: Arc<RequestContext>,
        notes: Option<Arc<Notes>>,
    ) -> Reply {
        match self.settled(request, &context).await {
            Ok(settled) => self.executed(settled, context, notes).await,
            Err(not_settled) => not_settled.reply(),
        }
    }

    async fn replies(
        &self,
        request: Request,
        context: RequestContext,
        notes: Option<Arc<Notes>>,
    ) -> Replies {
        let settled = match self.settled(request, &context).await {
            Ok(settled) => settled,
            Err(not_settled) => return Replies::One(not_settled.reply()),
        };
        let context = Arc::new(context);
        if settled.known.plan.operation != OperationType::Subscription {
            return Replies::One(self.executed(settled, context, notes).await);
        }
        settled.known.count_use();
        context.freshness.forbid();
        let (execution, introspect) = self.execution(settled, context, notes);
        subscription::begin(&self.subscriptions, execution, introspect).await
    }

    async fn executed(
        &self,
        settled: Settled,
        context: Arc<RequestContext>,
        notes: Option<Arc<Notes>>,
    ) -> Reply {
        if settled.known.plan.operation == OperationType::Subscription {
            let message = "the operation is a subscription, but the request allows only a single \
                           response: send it over a WebSocket with the protocol \
                           graphql-transport-ws, or with `Accept: text/event-stream`";
            let error = GraphqlError::new(code::SUBSCRIPTION_NEEDS_STREAM, message);
            return Reply::Refused(vec![error]);
        }
        settled.known.count_use();
        let freshness = Arc::clone(&context.freshness);
        let is_query = settled.known.plan.operation == OperationType::Query;
        let _closing = (!is_query).then(|| ClosingFlights(self));
        if !is_query {
            freshness.forbid();
        }
        let (execution, introspect) = self.execution(settled, context, notes);
        let reply = execute(execution, introspect).await;
        let is_whole = matches!(&reply, Reply::Executed(answer) if answer.errors.is_empty());
        if !is_whole {
            freshness.forbid();
        }
        reply
    }

    /// Returns what a request is executed with, and what answers introspection.
    fn execution(
        &self,
        settled: Settled,
        context: Arc<RequestContext>,
        notes: Option<Arc<Notes>>,
    ) -> (
        Execution,
        impl Fn(&str, &mut AnswerWriter<'_>) -> WriteResult + Clone + Send + Sync + 'static,
    ) {
        let prepared = Arc::new(settled.prepared);
        let options = &self.inner.options;
        let sharing = &options.sharing;
        let is_query = settled.known.plan.operation == OperationType::Query;
        let sharing = (is_query && sharing.subgraph_requests)
            .then(|| RequestSharing::of(&self.subgraph_flights, options.savings.as_ref(), &context))
            .flatten();
        let execution = Execution {
            supergraph: Arc::clone(&self.inner.supergraph),
            plan: Arc::clone(&settled.known.plan),
            prepared: Arc::clone(&prepared),
            transport: Arc::clone(&self.transport),
            context,
            limits: options.gateway_limits.clone(),
            response_bytes: options.limits.response_bytes,
            slots: Arc::clone(&options.slots),
            stacktraces: options.subgraph_stacktraces,
            memo: options.entity_memo.clone(),
            sharing,
            savings: options.savings.clone(),
            notes,
        };
        let inner = Arc::clone(&self.inner);
        let introspect = move |key: &str, writer: &mut AnswerWriter<'_>| {
            inner.documents.introspect(&prepared, key, writer)
        };
        (execution, introspect)
    }

    /// Returns the query of a request that may share its execution. Its document must be in the cache: joining then costs
    /// neither parsing nor validation, and a mutation is never taken for a query. A long request is not shared, since
    /// comparing it would take long too.
    fn query_to_share(&self, request: &Request, context: &RequestContext) -> Option<KnownQuery> {
        let inner = &self.inner;
        if !inner.options.sharing.client_requests || !is_shareable(context) {
            return None;
        }
        let document = inner.documents.known(&request.query)?;
        let name = request.operation_name.as_deref();
        let name = name.filter(|name| !name.is_empty());
        let operation = document.valid().operations.get(name).ok()?;
        let is_query = operation.operation_type == OperationType::Query;
        let operation = operation.name.clone();
        (is_query && request.size(true).is_short()).then_some(KnownQuery {
            document,
            operation,
        })
    }
}

/// Closes all flights when a mutation ends or is given up: a query after it must not join one from before it.
struct ClosingFlights<'g>(&'g Gateway);

impl Drop for ClosingFlights<'_> {
    fn drop(&mut self) {
        self.0.subgraph_flights.close();
        self.0.client_flights.close();
    }
}

/// A request with its plan.
struct Settled {
    /// Its variables are those that the plan sends to subgraphs, literals included.
    prepared: Prepared,
    known: Arc<CachedPlan>,
}

impl Settled {
    fn new(prepared: Prepared, canonical: &Canonical, known: Arc<CachedPlan>) -> Self {
        Settled {
            prepared: prepared.with_variables(&canonical.literals),
            known,
        }
    }
}

/// Why a request has no plan.
enum NotSettled {
    Refused(Refusal),
    /// There was no slot for planning.
    Slot(SlotError),
}

impl From<Refusal> for NotSettled {
    fn from(refusal: Refusal) -> Self {
        NotSettled::Refused(refusal)
    }
}

impl From<SlotError> for NotSettled {
    fn from(error: SlotError) -> Self {
        NotSettled::Slot(error)
    }
}

impl NotSettled {
    fn reply(self) -> Reply {
        let error = match self {
            NotSettled::Refused(errors) => return Reply::Refused(errors),
            NotSettled::Slot(error) => error,
        };
        match error {
            SlotError::QueueFull => {
                Reply::Overloaded(GraphqlError::new(shared::OVERLOADED, error.to_string()))
            }
            SlotError::Deadline => {
                let message = "the deadline passed before the operation was planned";
                let error = GraphqlError::new(shared::DEADLINE_EXCEEDED, message);
                Reply::Executed(Answer::without_data(error))
            }
            _ => Reply::internal_error(),
        }
    }
}

impl Inner {
    /// Returns what a request has of what the supergraph requires.
    async fn grants(&self, context: &RequestContext) -> Grants {
        match &self.options.authorizer {
            Some(authorizer) if !self.supergraph.requirements().is_empty() => {
                let policies: Vec<&str> = self.policies.iter().map(String::as_str).collect();
                authorizer.grants(context, &policies).await
            }
            _ => Grants::nothing(),
        }
    }

    /// Returns what is canonical of the operation of a request, and the key of its plan.
    fn key(&self, prepared: &Prepared, grants: &Grants) -> (Arc<Canonical>, PlanKey) {
        let canonical = self.plans.canonical(&self.supergraph, prepared);
        let key = PlanKey::new(&self.supergraph, &canonical, &prepared.variables, grants);
        (canonical, key)
    }

    /// Returns a request with its plan, which is made if it is not known.
    fn settled(
        &self,
        prepared: Prepared,
        grants: &Grants,
        span: &Span,
    ) -> Result<Settled, Refusal> {
        let (canonical, key) = self.key(&prepared, grants);
        let known = match self.plans.get(&key) {
            Some(known) => known,
            None => self.plan_prepared(key, &prepared, grants, span)?,
        };
        Ok(Settled::new(prepared, &canonical, known))
    }

    /// Makes a plan, as a part of an operation that has a span.
    fn plan_prepared(
        &self,
        key: PlanKey,
        prepared: &Prepared,
        grants: &Grants,
        span: &Span,
    ) -> Result<Arc<CachedPlan>, Refusal> {
        let _planning = traces::plan(span);
        let asked = Asked {
            document: prepared.document.valid(),
            operation: &prepared.operation,
            variables: &prepared.variables,
        };
        self.plan_anew(key, asked, grants)
    }

    /// Plans what a plan of another gateway was for, if it is not planned already. Of its variables no more is known
    /// than a plan depends on.
    fn planned_again(&self, key: &PlanKey) -> Result<bool, Refusal> {
        let document = self.documents.validate(&key.text)?;
        let document = document.valid();
        let operation = document.operations.get(None).map_err(|_| Vec::new())?;
        let canonical = Canonical::new(&self.supergraph, document, operation);
        let conditions = canonical
            .conditions
            .iter()
            .zip(&key.conditions)
            .map(|(name, value)| (name.as_str().into(), (*value).into()));
        let variables: JsonMap = conditions.collect();
        let grants = Grants::everything();
        let key = PlanKey::new(&self.supergraph, &canonical, &variables, &grants);
        if self.plans.has(&key) {
            return Ok(false);
        }
        let asked = Asked {
            document,
            operation,
            variables: &variables,
        };
        self.plan_anew(key, asked, &grants)?;
        Ok(true)
    }

    fn plan_anew(
        &self,
        key: PlanKey,
        asked: Asked<'_>,
        grants: &Grants,
    ) -> Result<Arc<CachedPlan>, Refusal> {
        let Asked {
            document,
            operation,
            variables,
        } = asked;
        let lifted = lifted(&self.supergraph, document, operation);
        let (document, operation) = match &lifted {
            Some((document, operation)) => (document, operation),
            None => (document, operation),
        };
        let planned = Planned {
            supergraph: &self.supergraph,
            labels: &self.options.labels,
            document,
            operation,
            variables,
        };
        let denied = Denied::new(&self.supergraph, grants, document, operation);
        let plan = Plan::without(planned, &denied, &self.options.gateway_limits)
            .map_err(|error: GraphqlError| vec![error])?;
        Ok(self.plans.insert(key, plan))
    }
}

/// What is planned.
struct Asked<'a> {
    document: &'a ExecutableDocument,
    operation: &'a Operation,
    /// The coerced variables; those of conditions are read.
    variables: &'a JsonMap,
}

#[async_trait]
impl Service for Gateway {
    fn schema(&self) -> &Valid<Schema> {
        self.inner.supergraph.api()
    }

    async fn reply(&self, request: Request, context: RequestContext) -> Reply {
        match self.query_to_share(&request, &context) {
            Some(query) => self.reply_shared(query, request, context).await,
            None => self.reply_unshared(request, Arc::new(context), None).await,
        }
    }

    async fn stream(&self, request: Request, context: RequestContext) -> Replies {
        self.replies(request, context, None).await
    }
}

/// Returns the names of the policies that a supergraph knows, each once.
fn policies(supergraph: &Supergraph) -> Vec<String> {
    let requirements = supergraph.requirements().iter();
    let lists = requirements.filter_map(|requirement| match requirement {
        Requirement::Policies(lists) => Some(lists),
        _ => None,
    });
    let names: BTreeSet<&String> = lists.flatten().flatten().collect();
    names.into_iter().cloned().collect()
}
