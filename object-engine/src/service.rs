//! The object service: requests in, answers out.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use apollo_compiler::Schema;
use apollo_compiler::response::{JsonMap, JsonValue};
use apollo_compiler::validation::Valid;
use async_trait::async_trait;
use futures::FutureExt;
use futures::future::BoxFuture;
use graph_store::value::Numbers;
use graph_store::{CallContext, GraphStore, LocalStore, Meter, Trace};
use graphql_gen::typesystem::{Api, ApiError, ApiOptions};
use graphql_service::{
    Answer, Document, Documents, GraphqlError, Limits, Prepared, Refusal, Reply, Request,
    RequestContext, Response, Service,
};
use oxrdf::NamedNode;
use soml_core::schema::Path;

use crate::call::{call_context, store_error};
use crate::code;
use crate::execute::{Execution, ServiceSdl};
use crate::explain::{Explained, Explanation};
use crate::limits::EngineLimits;
use crate::plan::{self, Plan, PlanInput, RootValue};

/// Settings of a service.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServiceOptions {
    /// Bounds on each document and its answer.
    pub limits: Limits,
    /// Bounds on arguments and on what they lead to.
    pub engine_limits: EngineLimits,
    /// How numbers look that JSON readers may not hold exactly.
    pub numbers: Numbers,
    /// Which parts of the API are generated.
    pub api: ApiOptions,
    /// Bytes of text that the cache of validated documents may hold.
    pub document_cache_bytes: u64,
    /// Answers `extensions.explain` when the schema's `enableGraphQlExplain` allows it too.
    pub explain: bool,
}

impl Default for ServiceOptions {
    fn default() -> Self {
        ServiceOptions {
            limits: Limits::default(),
            engine_limits: EngineLimits::default(),
            numbers: Numbers::default(),
            api: ApiOptions::default(),
            document_cache_bytes: 4 << 20,
            explain: false,
        }
    }
}

impl ServiceOptions {
    /// Creates the default options.
    #[must_use]
    pub fn new() -> Self {
        ServiceOptions::default()
    }

    /// Sets the bounds on each document and its answer.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the bounds on arguments and on what they lead to.
    #[must_use]
    pub fn with_engine_limits(mut self, limits: EngineLimits) -> Self {
        self.engine_limits = limits;
        self
    }

    /// Sets how numbers look that JSON readers may not hold exactly.
    #[must_use]
    pub fn with_numbers(mut self, numbers: Numbers) -> Self {
        self.numbers = numbers;
        self
    }

    /// Sets which parts of the API are generated.
    #[must_use]
    pub fn with_api(mut self, api: ApiOptions) -> Self {
        self.api = api;
        self
    }

    /// Sets how many bytes of text the cache of validated documents may hold.
    #[must_use]
    pub fn with_document_cache_bytes(mut self, bytes: u64) -> Self {
        self.document_cache_bytes = bytes;
        self
    }

    /// Sets whether `extensions.explain` is answered where the schema allows it too.
    #[must_use]
    pub fn with_explain(mut self, explain: bool) -> Self {
        self.explain = explain;
        self
    }
}

/// A GraphQL service over one schema and one store.
///
/// Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct ObjectService {
    inner: Arc<Inner>,
}

struct Inner {
    api: Api,
    store: Arc<dyn GraphStore>,
    options: ServiceOptions,
    documents: Documents,
    /// The printed schema, once somebody has asked for it.
    printed: OnceLock<ServiceSdl>,
}

/// Work that a request may do on an async worker, about half a millisecond; more goes elsewhere.
const SHORT_WORK: u64 = 1_024;

/// Bytes of a new document, or values of variables, beyond which a request is taken for long.
const SHORT_TEXT: usize = 4_096;

/// What executes a request.
type Work = fn(Arc<Inner>, Request, Call) -> BoxFuture<'static, Executed>;

/// A request's context, and what the store is told of it.
#[derive(Clone)]
struct Call {
    /// Shared, since a request that turns out long is tried twice.
    context: Arc<RequestContext>,
    store: CallContext,
}

/// A reply, and how it was found when that is wanted.
struct Executed {
    reply: Reply,
    explanation: Option<Explanation>,
}

impl From<Reply> for Executed {
    fn from(reply: Reply) -> Self {
        Executed {
            reply,
            explanation: None,
        }
    }
}

impl ObjectService {
    /// Creates a service.
    ///
    /// # Errors
    /// When no GraphQL API can be generated from the schema.
    pub fn new(
        schema: Arc<soml_core::Valid<soml_core::schema::Schema>>,
        store: Arc<dyn GraphStore>,
        options: ServiceOptions,
    ) -> Result<Self, ApiError> {
        report_unenforced(&schema);
        let api = Api::new(schema, &options.api)?;
        let cache_bytes = options.document_cache_bytes;
        let documents = Documents::new(api.schema(), options.limits.clone(), cache_bytes);
        if let Some(local) = store.local() {
            local.expect_inverse(&inverse_properties(api.soml()));
        }
        let inner = Inner {
            api,
            store,
            options,
            documents,
            printed: OnceLock::new(),
        };
        Ok(ObjectService {
            inner: Arc::new(inner),
        })
    }

    /// Returns the generated API.
    #[must_use]
    pub fn api(&self) -> &Api {
        &self.inner.api
    }

    /// Returns the store.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn GraphStore> {
        &self.inner.store
    }

    /// Prints the schema that clients see.
    #[must_use]
    pub fn sdl(&self) -> String {
        self.inner.api.sdl()
    }

    /// Executes a request.
    ///
    /// Never fails as a call: whatever goes wrong is in the answer. Must run within a Tokio runtime
    /// when the store blocks, since the work then moves off the async workers.
    pub async fn execute(&self, request: Request, context: RequestContext) -> Response {
        let form = |executed: Executed| executed.reply.into_response();
        self.run(request, context, executing, form).await
    }

    /// Executes a request and tells how, whatever the options and the schema say about explanations.
    ///
    /// For people who have the program in their hands; clients ask by `extensions.explain`, which the
    /// service may refuse.
    pub async fn explain(&self, request: Request, context: RequestContext) -> Explained {
        let form = |executed: Executed| Explained {
            response: executed.reply.into_response(),
            explanation: executed.explanation,
        };
        self.run(request, context, explaining, form).await
    }

    /// Runs `work` where it blocks no async worker, and brings what it gives into a form there.
    async fn run<T: Send + 'static>(
        &self,
        request: Request,
        context: RequestContext,
        work: Work,
        form: fn(Executed) -> T,
    ) -> T {
        let inner = Arc::clone(&self.inner);
        let call = Call {
            store: call_context(&context),
            context: Arc::new(context),
        };
        if inner.store.local().is_none() {
            return form(work(inner, request, call).await);
        }
        let known = inner.documents.known(&request.query);
        if inner.may_be_short(&request, known.as_deref()) {
            let meter = Arc::new(Meter::new(SHORT_WORK));
            let short = work(
                Arc::clone(&inner),
                request.clone(),
                call.clone().metered(&meter),
            );
            match AssertUnwindSafe(short).catch_unwind().await {
                Ok(executed) if !meter.is_over() => return form(executed),
                Ok(_) => {}
                Err(_) => return form(Reply::internal_error().into()),
            }
        }
        let work = tokio::task::spawn_blocking(move || {
            let meter = Arc::new(Meter::new(u64::MAX));
            let text = request.query.clone();
            let work = work(Arc::clone(&inner), request, call.metered(&meter));
            let executed = futures::executor::block_on(work);
            if let Some(document) = inner.documents.known(&text) {
                document.set_long(meter.spent() > SHORT_WORK);
            }
            form(executed)
        });
        work.await.unwrap_or_else(|error| {
            tracing::error!(%error, "execution did not end");
            form(Reply::internal_error().into())
        })
    }
}

#[async_trait]
impl Service for ObjectService {
    fn schema(&self) -> &Valid<Schema> {
        self.inner.api.schema()
    }

    async fn reply(&self, request: Request, context: RequestContext) -> Reply {
        self.run(request, context, executing, |executed| executed.reply)
            .await
    }

    async fn respond(&self, request: Request, context: RequestContext) -> Response {
        self.execute(request, context).await
    }
}

/// Executes a request as its client asks.
fn executing(inner: Arc<Inner>, request: Request, call: Call) -> BoxFuture<'static, Executed> {
    async move { inner.execute(&request, &call).await }.boxed()
}

/// Executes a request and explains it.
fn explaining(inner: Arc<Inner>, request: Request, call: Call) -> BoxFuture<'static, Executed> {
    async move { inner.explain(&request, &call).await }.boxed()
}

impl Call {
    fn metered(mut self, meter: &Arc<Meter>) -> Self {
        self.store.meter = Some(Arc::clone(meter));
        self
    }
}

impl Inner {
    /// Tells whether a request is worth a try on an async worker.
    fn may_be_short(&self, request: &Request, known: Option<&Document>) -> bool {
        let variables = request.variables.as_ref();
        let is_small = self.store.local().is_some_and(LocalStore::is_metered)
            && variables.is_none_or(|variables| {
                let mut left = SHORT_TEXT;
                variables.iter().all(|(_, value)| fits(value, &mut left))
            });
        is_small
            && match known {
                Some(document) => !document.is_long(),
                None => request.query.len() <= SHORT_TEXT,
            }
    }

    async fn execute(&self, request: &Request, call: &Call) -> Executed {
        if !request.has_extension("explain") {
            return self.answer(request, call).await.0.into();
        }
        if !self.options.explain || !self.api.soml().config.enable_graphql_explain {
            let message = "this service does not explain queries";
            let error = GraphqlError::new(code::EXPLAIN_DISABLED, message);
            return Reply::Refused(vec![error]).into();
        }
        let Executed { reply, explanation } = self.explain(request, call).await;
        match (reply, explanation) {
            (Reply::Executed(answer), Some(explanation)) => {
                Reply::Executed(answer.with_extension("explain", &explanation)).into()
            }
            (reply, _) => reply.into(),
        }
    }

    /// Executes a request and tells how, without a word of it in the reply.
    async fn explain(&self, request: &Request, call: &Call) -> Executed {
        let trace = Arc::new(Trace::default());
        let mut call = call.clone();
        call.store.trace = Some(Arc::clone(&trace));
        let (reply, planned) = self.answer(request, &call).await;
        let explanation = planned.map(|planned| {
            Explanation::new(&planned.plan, &trace, planned.planning, planned.execution)
        });
        Executed { reply, explanation }
    }

    /// Answers a request; with the plan, unless the request was refused.
    async fn answer(&self, request: &Request, call: &Call) -> (Reply, Option<Planned>) {
        let started = Instant::now();
        let (plan, introspection) = match self.prepare(request, call) {
            Err(errors) => return (Reply::Refused(errors), None),
            Ok(prepared) => prepared,
        };
        let planning = started.elapsed();
        let execution = Execution {
            schema: self.api.soml(),
            plan: &plan,
            store: self.store.as_ref(),
            context: &call.store,
            limits: &self.options.limits,
            engine_limits: &self.options.engine_limits,
            numbers: self.options.numbers,
            service: self.printed(&plan),
            introspection,
        };
        let answer = execution.run().await.unwrap_or_else(|error| {
            Answer::without_data(store_error(&error, &call.context.request_id))
        });
        let planned = Planned {
            planning,
            execution: started.elapsed().saturating_sub(planning),
            plan,
        };
        (Reply::Executed(answer), Some(planned))
    }

    /// Returns the printed schema when a plan asks for it.
    fn printed(&self, plan: &Plan) -> Option<&ServiceSdl> {
        let asked = plan
            .roots
            .iter()
            .any(|root| matches!(root.value, RootValue::Service(_)));
        asked.then(|| {
            self.printed.get_or_init(|| ServiceSdl {
                sdl: self.api.service_sdl(),
                full_sdl: self.api.full_sdl(),
            })
        })
    }

    /// Does everything that needs no data.
    fn prepare(&self, request: &Request, call: &Call) -> Result<(Plan, JsonMap), Refusal> {
        let schema = self.api.schema();
        let document = self.documents.get(schema, &request.query)?;
        let prepared = self
            .documents
            .prepare(schema, &document, request, &call.context)?;
        let input = PlanInput {
            api: &self.api,
            limits: &self.options.engine_limits,
            features: &self.store.features(),
            document: prepared.document,
            operation: prepared.operation,
            variables: &prepared.variables,
        };
        let plan = plan::build(&input).map_err(|error| vec![error])?;
        tracing::debug!(request_id = %call.context.request_id, ?plan, "planned");
        let introspects = plan
            .roots
            .iter()
            .any(|root| matches!(root.value, RootValue::Introspection));
        let introspection = match introspects {
            true => self.introspect(schema, &prepared, call)?,
            false => JsonMap::new(),
        };
        Ok((plan, introspection))
    }

    fn introspect(
        &self,
        schema: &Valid<Schema>,
        prepared: &Prepared<'_>,
        call: &Call,
    ) -> Result<JsonMap, Refusal> {
        // It reads nothing, and is long for all but small schemas.
        let long = u32::try_from(SHORT_WORK + 1).unwrap_or(u32::MAX);
        call.store
            .spend(long)
            .map_err(|error| vec![store_error(&error, &call.context.request_id)])?;
        self.documents.introspect(schema, prepared)
    }
}

/// Returns the RDF properties that are read from their values to their objects; one of several
/// aliases comes several times.
fn inverse_properties(soml: &soml_core::schema::Schema) -> Vec<NamedNode> {
    let properties = soml.properties.iter();
    let inverse = properties.filter_map(|property| match &property.path {
        Path::Inverse { iri, .. } => Some(NamedNode::new_unchecked(iri)),
        Path::Forward(_) => None,
    });
    inverse.collect()
}

/// A plan that was executed, with the times that it took.
struct Planned {
    plan: Plan,
    planning: Duration,
    execution: Duration,
}

/// Tells whether a value has at most `left` bytes of texts and elements, and takes them off.
fn fits(value: &JsonValue, left: &mut usize) -> bool {
    let taken = match value {
        JsonValue::String(text) => text.as_str().len(),
        _ => 1,
    };
    let Some(rest) = left.checked_sub(taken) else {
        return false;
    };
    *left = rest;
    match value {
        JsonValue::Array(items) => items.iter().all(|item| fits(item, left)),
        JsonValue::Object(members) => members.iter().all(|(_, member)| fits(member, left)),
        _ => true,
    }
}

/// Says once what a schema asks for and the service does not do.
fn report_unenforced(schema: &soml_core::schema::Schema) {
    let any_property =
        |holds: fn(&soml_core::schema::Property) -> bool| schema.properties.iter().any(holds);
    let asked = [
        ("rbac", !schema.rbac.roles.is_empty()),
        (
            "sparqlFederatedService",
            any_property(|p| p.sparql_federated_service.is_some()),
        ),
    ];
    if schema.config.enable_mutations {
        tracing::info!(schema = %schema.id, "mutations are not served; the API is read-only");
    }
    let ignored: Vec<&str> = asked
        .iter()
        .filter(|(_, asked)| *asked)
        .map(|(key, _)| *key)
        .collect();
    if !ignored.is_empty() {
        tracing::warn!(
            schema = %schema.id,
            keys = %ignored.join(", "),
            "the schema uses keys that are checked but not enforced"
        );
    }
}
