//! The gateway as a service: documents, plans, execution.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use apollo_compiler::Schema;
use apollo_compiler::ast::{OperationType, Value};
use apollo_compiler::executable::{Operation, Selection, SelectionSet};
use apollo_compiler::response::{JsonMap, JsonValue};
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Name, Node};
use async_trait::async_trait;
use graphql_service::document::{Documents, Prepared, Refusal};
use graphql_service::{
    Answer, GraphqlError, Limits, Reply, Request, RequestContext, Service, SlotError, Slots,
    Weight, code as shared,
};
use moka::sync::Cache;
use tokio::runtime::Handle;

use crate::authorization::{Authorizer, Denied, Grants};
use crate::exec::{Execution, execute};
use crate::graph::ActiveLabels;
use crate::limits::GatewayLimits;
use crate::operation::inputs;
use crate::plan::{Plan, Planned};
use crate::supergraph::{Requirement, RequirementId, Supergraph, SupergraphError};
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
    /// Says what requests may do; needed where the supergraph requires something.
    pub authorizer: Option<Arc<dyn Authorizer>>,
    /// Slots for large answers of subgraphs, which would take too long on async workers.
    pub slots: Arc<Slots>,
    /// Bytes of documents that are kept.
    pub document_cache_bytes: u64,
    /// Fields of plans that are kept.
    pub plan_cache_fields: u64,
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
        }
    }
}

/// A GraphQL service over the subgraphs of a supergraph.
pub struct Gateway {
    inner: Arc<Inner>,
    transport: Arc<dyn SubgraphTransport>,
}

/// What planning needs, wherever it happens.
struct Inner {
    supergraph: Arc<Supergraph>,
    documents: Documents,
    options: GatewayOptions,
    plans: Cache<PlanKey, Arc<Known>>,
    /// The policies that the supergraph knows.
    policies: Vec<String>,
    /// Whether there are input objects of which exactly one field is given.
    has_one_of: bool,
}

/// A plan that is kept.
struct Known {
    plan: Arc<Plan>,
    /// Requests that it has answered.
    uses: AtomicU64,
}

/// Everything that a plan depends on, beside the supergraph: nothing of it is hashed away, so different
/// operations cannot meet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct PlanKey {
    text: String,
    operation: Option<Name>,
    labels: ActiveLabels,
    /// The values of the variables of conditions.
    conditions: Vec<(Name, bool)>,
    /// What the request does not have.
    denied: Vec<RequirementId>,
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
        let weight = |key: &PlanKey, known: &Arc<Known>| {
            let fields = known.plan.tree.len() + key.text.len() / 16;
            u32::try_from(fields.max(1)).unwrap_or(u32::MAX)
        };
        let inner = Inner {
            policies: policies(&supergraph),
            has_one_of: inputs::has_one_of(supergraph.api()),
            documents: Documents::new(supergraph.api(), options.limits.clone(), bytes),
            plans: Cache::builder()
                .weigher(weight)
                .max_capacity(options.plan_cache_fields)
                .build(),
            supergraph,
            options,
        };
        Ok(Gateway {
            inner: Arc::new(inner),
            transport,
        })
    }

    /// Returns the supergraph.
    #[must_use]
    pub fn supergraph(&self) -> &Supergraph {
        &self.inner.supergraph
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
        let prepared = self.inner.prepared(request, context)?;
        let known = self.inner.planned(request, &prepared, grants)?;
        Ok(Arc::clone(&known.plan))
    }

    /// Plans the operations that another gateway has answered most often, at most so many, as far as they fit the
    /// supergraph of this one. Returns how many are planned.
    ///
    /// A gateway that takes the place of another one begins with these plans. This takes long: call it where work
    /// of some seconds harms nobody.
    pub fn warm(&self, from: &Gateway, most: usize) -> usize {
        let known = from.inner.plans.iter();
        // What is denied is about the requirements of the other supergraph.
        let known = known.filter(|(key, _)| key.denied.is_empty());
        let used = known.map(|(key, known)| (known.uses.load(Ordering::Relaxed), key));
        let mut used: Vec<(u64, Arc<PlanKey>)> = used.collect();
        used.sort_by(|(a, _), (b, _)| b.cmp(a));
        let most_used = used.into_iter().take(most);
        let planned = most_used.map(|(_, key)| self.inner.planned_again(&key));
        planned.filter(Result::is_ok).count()
    }

    /// Returns the plan of a request with what it is planned by, off the async worker unless it is known.
    async fn settled(
        &self,
        request: Request,
        context: &RequestContext,
    ) -> Result<Settled, NotSettled> {
        let grants = self.inner.grants(context).await;
        let is_known = self.inner.documents.known(&request.query).is_some();
        let is_short = is_known && request.footprint() <= SHORT;
        if is_short || Handle::try_current().is_err() {
            let prepared = self.inner.prepared(&request, context)?;
            let key = self.inner.key(&request, &prepared, &grants);
            if let Some(known) = self.inner.plans.get(&key.0) {
                return Ok(Settled { prepared, known });
            }
        }
        let (inner, context) = (Arc::clone(&self.inner), context.clone());
        let deadline = context.deadline;
        let work = move || {
            let prepared = inner.prepared(&request, &context)?;
            let known = inner.planned(&request, &prepared, &grants)?;
            Ok::<_, Refusal>(Settled { prepared, known })
        };
        let settled = match Handle::try_current() {
            Ok(_) => {
                let slots = &self.inner.options.slots;
                slots.run(Weight::Medium, deadline, move |_| work()).await?
            }
            Err(_) => work(),
        };
        Ok(settled?)
    }

    async fn executed(
        &self,
        request: Request,
        context: RequestContext,
    ) -> Result<Reply, NotSettled> {
        let Settled { prepared, known } = self.settled(request, &context).await?;
        known.uses.fetch_add(1, Ordering::Relaxed);
        let prepared = Arc::new(prepared);
        let freshness = Arc::clone(&context.freshness);
        if known.plan.operation != OperationType::Query {
            freshness.forbid();
        }
        let options = &self.inner.options;
        let execution = Execution {
            supergraph: Arc::clone(&self.inner.supergraph),
            plan: Arc::clone(&known.plan),
            prepared: Arc::clone(&prepared),
            transport: Arc::clone(&self.transport),
            context: Arc::new(context),
            limits: options.gateway_limits.clone(),
            response_bytes: options.limits.response_bytes,
            slots: Arc::clone(&options.slots),
        };
        let inner = Arc::clone(&self.inner);
        let answer = execute(execution, move |key, writer| {
            let api = inner.supergraph.api();
            inner.documents.introspect(api, &prepared, key, writer)
        });
        let reply = answer.await;
        let is_whole = matches!(&reply, Reply::Executed(answer) if answer.errors.is_empty());
        if !is_whole {
            freshness.forbid();
        }
        Ok(reply)
    }
}

/// Bytes of a request that are prepared on an async worker.
const SHORT: usize = 32 << 10;

/// A request with its plan.
struct Settled {
    prepared: Prepared,
    known: Arc<Known>,
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

    fn prepared(&self, request: &Request, context: &RequestContext) -> Result<Prepared, Refusal> {
        let api = self.supergraph.api();
        let prepared = self.documents.read(api, request, context);
        let prepared = prepared.map_err(|errors| self.explained(request, errors))?;
        if self.has_one_of {
            let document = prepared.document.valid();
            let (operation, variables) = (&prepared.operation, &prepared.variables);
            let wrong = inputs::wrong_variables(api, document, operation, variables);
            if !wrong.is_empty() {
                return Err(wrong);
            }
        }
        Ok(prepared)
    }

    /// Says where in the variables the fault is, if that is why a request was refused.
    fn explained(&self, request: &Request, errors: Refusal) -> Refusal {
        let is_of_variables = |error: &GraphqlError| error.code == shared::VARIABLE_INVALID;
        let document = self.documents.known(&request.query);
        let Some(document) = document.filter(|_| errors.iter().all(is_of_variables)) else {
            return errors;
        };
        let document = document.valid();
        let Ok(operation) = document.operations.get(request.operation_name.as_deref()) else {
            return errors;
        };
        let given = request.variables.clone().unwrap_or_default();
        let api = self.supergraph.api();
        let wrong = inputs::wrong_variables(api, document, operation, &given);
        if wrong.is_empty() { errors } else { wrong }
    }

    /// Returns the key of a plan, and what is denied to the request.
    fn key(&self, request: &Request, prepared: &Prepared, grants: &Grants) -> (PlanKey, Denied) {
        let document = prepared.document.valid();
        let value = |name: &Name| {
            let value = prepared.variables.get(name.as_str());
            value.and_then(JsonValue::as_bool).unwrap_or(false)
        };
        let conditions = condition_variables(document, &prepared.operation).into_iter();
        let conditions = conditions.map(|name| {
            let value = value(&name);
            (name, value)
        });
        let denied = Denied::new(&self.supergraph, grants, document, &prepared.operation);
        let key = PlanKey {
            text: request.query.clone(),
            operation: prepared.operation.name.clone(),
            labels: self.options.labels.clone(),
            conditions: conditions.collect(),
            denied: denied.requirements().to_vec(),
        };
        (key, denied)
    }

    fn planned(
        &self,
        request: &Request,
        prepared: &Prepared,
        grants: &Grants,
    ) -> Result<Arc<Known>, Refusal> {
        let (key, denied) = self.key(request, prepared, grants);
        if let Some(known) = self.plans.get(&key) {
            return Ok(known);
        }
        let document = prepared.document.valid();
        let (operation, variables) = (&prepared.operation, &prepared.variables);
        self.plan_anew(key, &denied, document, operation, variables)
    }

    /// Plans what a plan of another gateway was for. Of its variables no more is known than a plan depends on.
    fn planned_again(&self, key: &PlanKey) -> Result<Arc<Known>, Refusal> {
        let admit = |_fields| Ok::<_, Refusal>(());
        let document = self
            .documents
            .get(self.supergraph.api(), &key.text, admit)?;
        let document = document.valid();
        let operation = document.operations.get(key.operation.as_deref());
        // Another schema does not change which operations a text has.
        let operation = operation.map_err(|_| Vec::new())?;
        let conditions = key.conditions.iter();
        let conditions = conditions.map(|(name, value)| (name.as_str().into(), (*value).into()));
        let variables: JsonMap = conditions.collect();
        let denied = Denied::new(&self.supergraph, &Grants::everything(), document, operation);
        let key = PlanKey {
            labels: self.options.labels.clone(),
            ..key.clone()
        };
        self.plan_anew(key, &denied, document, operation, &variables)
    }

    fn plan_anew(
        &self,
        key: PlanKey,
        denied: &Denied,
        document: &Valid<ExecutableDocument>,
        operation: &Node<Operation>,
        variables: &JsonMap,
    ) -> Result<Arc<Known>, Refusal> {
        if self.has_one_of {
            let wrong = inputs::wrong_literals(self.supergraph.api(), document, operation);
            if !wrong.is_empty() {
                return Err(wrong);
            }
        }
        let planned = Planned {
            supergraph: &self.supergraph,
            labels: &self.options.labels,
            document,
            operation,
            variables,
        };
        let plan = Plan::without(planned, denied, &self.options.gateway_limits);
        let plan = plan.map_err(|error: GraphqlError| vec![error])?;
        let known = Arc::new(Known {
            plan: Arc::new(plan),
            uses: AtomicU64::new(0),
        });
        self.plans.insert(key, Arc::clone(&known));
        Ok(known)
    }
}

#[async_trait]
impl Service for Gateway {
    fn schema(&self) -> &Valid<Schema> {
        self.inner.supergraph.api()
    }

    async fn reply(&self, request: Request, context: RequestContext) -> Reply {
        match self.executed(request, context).await {
            Ok(reply) => reply,
            Err(not_settled) => not_settled.reply(),
        }
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

/// Returns the variables of `@skip` and `@include` in an operation and in all fragments of its document,
/// sorted.
fn condition_variables(document: &ExecutableDocument, operation: &Operation) -> Vec<Name> {
    let mut names = Vec::new();
    conditions(&operation.selection_set, &mut names);
    for fragment in document.fragments.values() {
        conditions(&fragment.selection_set, &mut names);
    }
    names.sort();
    names.dedup();
    names
}

fn conditions(set: &SelectionSet, names: &mut Vec<Name>) {
    for selection in &set.selections {
        for directive in selection.directives().iter() {
            let condition = directive.specified_argument_by_name("if");
            if let Some(Value::Variable(name)) = condition.map(AsRef::as_ref) {
                names.push(name.clone());
            }
        }
        match selection {
            Selection::Field(field) => conditions(&field.selection_set, names),
            Selection::InlineFragment(inline) => conditions(&inline.selection_set, names),
            Selection::FragmentSpread(_) => {}
        }
    }
}
