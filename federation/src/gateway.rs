//! The gateway as a service: documents, plans, execution.

use std::sync::Arc;

use apollo_compiler::Schema;
use apollo_compiler::ast::Value;
use apollo_compiler::executable::{Operation, Selection, SelectionSet};
use apollo_compiler::response::JsonValue;
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Name};
use async_trait::async_trait;
use graphql_service::document::{Documents, Prepared, Refusal};
use graphql_service::{GraphqlError, Limits, Reply, Request, RequestContext, Service};
use moka::sync::Cache;

use crate::exec::{Execution, execute};
use crate::graph::ActiveLabels;
use crate::limits::GatewayLimits;
use crate::plan::{Plan, Planned};
use crate::supergraph::Supergraph;
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
            document_cache_bytes: 32 << 20,
            plan_cache_fields: 100_000,
        }
    }
}

/// A GraphQL service over the subgraphs of a supergraph.
pub struct Gateway {
    supergraph: Arc<Supergraph>,
    transport: Arc<dyn SubgraphTransport>,
    documents: Documents,
    options: GatewayOptions,
    plans: Cache<PlanKey, Arc<Plan>>,
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
}

impl Gateway {
    /// Creates a gateway.
    #[must_use]
    pub fn new(
        supergraph: Arc<Supergraph>,
        transport: Arc<dyn SubgraphTransport>,
        options: GatewayOptions,
    ) -> Self {
        let bytes = options.document_cache_bytes;
        let weight = |key: &PlanKey, plan: &Arc<Plan>| {
            let fields = plan.tree.len() + key.text.len() / 16;
            u32::try_from(fields.max(1)).unwrap_or(u32::MAX)
        };
        Gateway {
            documents: Documents::new(supergraph.api(), options.limits.clone(), bytes),
            plans: Cache::builder()
                .weigher(weight)
                .max_capacity(options.plan_cache_fields)
                .build(),
            supergraph,
            transport,
            options,
        }
    }

    /// Returns the supergraph.
    #[must_use]
    pub fn supergraph(&self) -> &Supergraph {
        &self.supergraph
    }

    /// Plans a request without sending anything.
    ///
    /// # Errors
    /// When the request is refused.
    pub fn plan(&self, request: &Request, context: &RequestContext) -> Result<Arc<Plan>, Refusal> {
        let prepared = self.prepared(request, context)?;
        self.planned(request, &prepared)
    }

    fn prepared(&self, request: &Request, context: &RequestContext) -> Result<Prepared, Refusal> {
        self.documents.read(self.supergraph.api(), request, context)
    }

    fn planned(&self, request: &Request, prepared: &Prepared) -> Result<Arc<Plan>, Refusal> {
        let document = prepared.document.valid();
        let mut conditions = Vec::new();
        let value = |name: &Name| {
            let value = prepared.variables.get(name.as_str());
            value.and_then(JsonValue::as_bool).unwrap_or(false)
        };
        for name in condition_variables(document, &prepared.operation) {
            conditions.push((name.clone(), value(&name)));
        }
        let key = PlanKey {
            text: request.query.clone(),
            operation: prepared.operation.name.clone(),
            labels: self.options.labels.clone(),
            conditions,
        };
        if let Some(known) = self.plans.get(&key) {
            return Ok(known);
        }
        let planned = Planned {
            supergraph: &self.supergraph,
            labels: &self.options.labels,
            document,
            operation: &prepared.operation,
            variables: &prepared.variables,
        };
        let plan = Plan::new(planned, &self.options.gateway_limits);
        let plan = Arc::new(plan.map_err(|error: GraphqlError| vec![error])?);
        self.plans.insert(key, Arc::clone(&plan));
        Ok(plan)
    }

    async fn executed(&self, request: Request, context: &RequestContext) -> Result<Reply, Refusal> {
        let prepared = self.prepared(&request, context)?;
        let plan = self.planned(&request, &prepared)?;
        let execution = Execution {
            supergraph: &self.supergraph,
            plan: &plan,
            variables: &prepared.variables,
            transport: &*self.transport,
            context,
            limits: &self.options.gateway_limits,
            response_bytes: self.options.limits.response_bytes,
        };
        let answer = execute(execution, |key, writer| {
            self.documents
                .introspect(self.supergraph.api(), &prepared, key, writer)
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
        match self.executed(request, &context).await {
            Ok(reply) => reply,
            Err(errors) => Reply::Refused(errors),
        }
    }
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
