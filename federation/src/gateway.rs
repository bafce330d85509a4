//! The gateway as a service: documents, plans, execution.

use std::collections::BTreeSet;
use std::sync::Arc;

use apollo_compiler::Schema;
use apollo_compiler::ast::Value;
use apollo_compiler::executable::{Operation, Selection, SelectionSet};
use apollo_compiler::response::JsonValue;
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Name};
use async_trait::async_trait;
use graphql_service::document::{Documents, Prepared, Refusal};
use graphql_service::{
    GraphqlError, Limits, Reply, Request, RequestContext, Service, Slots, code as shared,
};
use moka::sync::Cache;

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
    supergraph: Arc<Supergraph>,
    transport: Arc<dyn SubgraphTransport>,
    documents: Arc<Documents>,
    options: GatewayOptions,
    plans: Cache<PlanKey, Arc<Plan>>,
    /// The policies that the supergraph knows.
    policies: Vec<String>,
    /// Whether there are input objects of which exactly one field is given.
    has_one_of: bool,
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
        let weight = |key: &PlanKey, plan: &Arc<Plan>| {
            let fields = plan.tree.len() + key.text.len() / 16;
            u32::try_from(fields.max(1)).unwrap_or(u32::MAX)
        };
        Ok(Gateway {
            policies: policies(&supergraph),
            has_one_of: inputs::has_one_of(supergraph.api()),
            documents: Arc::new(Documents::new(
                supergraph.api(),
                options.limits.clone(),
                bytes,
            )),
            plans: Cache::builder()
                .weigher(weight)
                .max_capacity(options.plan_cache_fields)
                .build(),
            supergraph,
            transport,
            options,
        })
    }

    /// Returns the supergraph.
    #[must_use]
    pub fn supergraph(&self) -> &Supergraph {
        &self.supergraph
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
        let prepared = self.prepared(request, context)?;
        self.planned(request, &prepared, grants)
    }

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

    fn planned(
        &self,
        request: &Request,
        prepared: &Prepared,
        grants: &Grants,
    ) -> Result<Arc<Plan>, Refusal> {
        let document = prepared.document.valid();
        let mut conditions = Vec::new();
        let value = |name: &Name| {
            let value = prepared.variables.get(name.as_str());
            value.and_then(JsonValue::as_bool).unwrap_or(false)
        };
        for name in condition_variables(document, &prepared.operation) {
            conditions.push((name.clone(), value(&name)));
        }
        let denied = Denied::new(&self.supergraph, grants, document, &prepared.operation);
        let key = PlanKey {
            text: request.query.clone(),
            operation: prepared.operation.name.clone(),
            labels: self.options.labels.clone(),
            conditions,
            denied: denied.requirements().to_vec(),
        };
        if let Some(known) = self.plans.get(&key) {
            return Ok(known);
        }
        if self.has_one_of {
            let api = self.supergraph.api();
            let wrong = inputs::wrong_literals(api, document, &prepared.operation);
            if !wrong.is_empty() {
                return Err(wrong);
            }
        }
        let planned = Planned {
            supergraph: &self.supergraph,
            labels: &self.options.labels,
            document,
            operation: &prepared.operation,
            variables: &prepared.variables,
        };
        let plan = Plan::without(planned, &denied, &self.options.gateway_limits);
        let plan = Arc::new(plan.map_err(|error: GraphqlError| vec![error])?);
        self.plans.insert(key, Arc::clone(&plan));
        Ok(plan)
    }

    async fn executed(&self, request: Request, context: RequestContext) -> Result<Reply, Refusal> {
        let prepared = Arc::new(self.prepared(&request, &context)?);
        let grants = self.grants(&context).await;
        let plan = self.planned(&request, &prepared, &grants)?;
        let execution = Execution {
            supergraph: Arc::clone(&self.supergraph),
            plan,
            prepared: Arc::clone(&prepared),
            transport: Arc::clone(&self.transport),
            context: Arc::new(context),
            limits: self.options.gateway_limits.clone(),
            response_bytes: self.options.limits.response_bytes,
            slots: Arc::clone(&self.options.slots),
        };
        let (supergraph, documents) = (Arc::clone(&self.supergraph), Arc::clone(&self.documents));
        let answer = execute(execution, move |key, writer| {
            documents.introspect(supergraph.api(), &prepared, key, writer)
        });
        Ok(answer.await)
    }
}

#[async_trait]
impl Service for Gateway {
    fn schema(&self) -> &Valid<Schema> {
        self.supergraph.api()
    }

    async fn reply(&self, request: Request, context: RequestContext) -> Reply {
        match self.executed(request, context).await {
            Ok(reply) => reply,
            Err(errors) => Reply::Refused(errors),
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
