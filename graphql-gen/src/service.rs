//! The object service: requests in, answers out.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use apollo_compiler::ExecutableDocument;
use apollo_compiler::executable::Operation;
use apollo_compiler::introspection;
use apollo_compiler::parser::Parser;
use apollo_compiler::request::coerce_variable_values;
use apollo_compiler::response::{JsonMap, JsonValue};
use apollo_compiler::schema::Implementers;
use apollo_compiler::validation::{DiagnosticList, Valid};
use futures::FutureExt;
use moka::sync::Cache;
use oxrdf::NamedNode;
use soml_core::schema::{Path, Schema};

use crate::complexity;
use crate::diagnostics;
use crate::error::{ErrorCode, GraphqlError};
use crate::execute::{Answer, Execution, ServiceSdl};
use crate::explain::{Explained, Explanation, Trace};
use crate::introspection::IntrospectionCost;
use crate::limits::Limits;
use crate::plan::{self, Plan, PlanInput, RootValue, location};
use crate::reply::Reply;
use crate::request::{Introspection, Meter, Request, RequestContext, Response};
use crate::store::{GraphStore, StoreError};
use crate::typesystem::{Api, ApiError, ApiOptions};
use crate::value::Numbers;

/// Settings of a service.
#[derive(Clone, Debug)]
pub struct ServiceOptions {
    /// Bounds on each request.
    pub limits: Limits,
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
            numbers: Numbers::default(),
            api: ApiOptions::default(),
            document_cache_bytes: 4 << 20,
            explain: false,
        }
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
    /// Interfaces and their implementers, for introspection.
    implementers: apollo_compiler::collections::HashMap<apollo_compiler::Name, Implementers>,
    introspection_cost: IntrospectionCost,
    documents: Cache<String, Arc<Document>>,
    /// The printed schema, once somebody has asked for it.
    printed: OnceLock<ServiceSdl>,
}

/// A document that was validated.
struct Document {
    valid: Valid<ExecutableDocument>,
    /// Its last request was long.
    is_long: AtomicBool,
}

/// Work that a request may do on an async worker, about half a millisecond; more goes elsewhere.
const SHORT_WORK: u64 = 1_024;

/// Bytes of a new document, or values of variables, beyond which a request is taken for long.
const SHORT_TEXT: usize = 4_096;

/// Errors that refuse a request before it runs.
type Refusal = Vec<GraphqlError>;

impl ObjectService {
    /// Creates a service.
    ///
    /// # Errors
    /// When no GraphQL API can be generated from the schema.
    pub fn new(
        schema: Arc<soml_core::Valid<Schema>>,
        store: Arc<dyn GraphStore>,
        options: ServiceOptions,
    ) -> Result<Self, ApiError> {
        report_unenforced(&schema);
        let api = Api::new(schema, &options.api)?;
        let implementers = api.schema().implementers_map();
        let introspection_cost = IntrospectionCost::new(api.schema());
        let documents = Cache::builder()
            .weigher(|text: &String, _: &Arc<_>| u32::try_from(text.len()).unwrap_or(u32::MAX))
            .max_capacity(options.document_cache_bytes)
            .build();
        store.expect_inverse(&inverse_properties(api.soml()));
        let inner = Inner {
            api,
            store,
            options,
            implementers,
            introspection_cost,
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
        self.run(request, context, Reply::into_response).await
    }

    /// Executes a request and tells how, whatever the options and the schema say about explanations.
    ///
    /// For people who have the program in their hands; clients ask by `extensions.explain`, which the
    /// service may refuse.
    pub async fn explain(&self, request: Request, context: RequestContext) -> Explained {
        let request = Request {
            extensions: None,
            ..request
        };
        let explaining = |inner: Arc<Inner>, request, context| async move {
            inner.explain(&request, &context).await
        };
        self.run_off(request, context, explaining, Reply::into_explained)
            .await
    }

    /// Executes a request, and brings the reply into a form where the work is done.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        request: Request,
        context: RequestContext,
        form: fn(Reply) -> T,
    ) -> T {
        let executing = |inner: Arc<Inner>, request, context| async move {
            inner.execute(&request, &context).await
        };
        self.run_off(request, context, executing, form).await
    }

    /// Runs `work` where it blocks no async worker.
    async fn run_off<T: Send + 'static, F: Future<Output = Reply> + Send + 'static>(
        &self,
        request: Request,
        context: RequestContext,
        work: fn(Arc<Inner>, Request, RequestContext) -> F,
        form: fn(Reply) -> T,
    ) -> T {
        let inner = Arc::clone(&self.inner);
        if !inner.store.is_blocking() {
            return form(work(inner, request, context).await);
        }
        let known = inner.documents.get(&request.query);
        // A trace would tell of both tries.
        if context.trace.is_none() && inner.may_be_short(&request, known.as_deref()) {
            let meter = Arc::new(Meter::new(SHORT_WORK));
            let metered = RequestContext {
                meter: Some(Arc::clone(&meter)),
                ..context.clone()
            };
            let short = work(Arc::clone(&inner), request.clone(), metered);
            match AssertUnwindSafe(short).catch_unwind().await {
                Ok(reply) if !meter.is_over() => return form(reply),
                Ok(_) => {}
                Err(_) => return form(failed()),
            }
        }
        let meter = Arc::new(Meter::new(u64::MAX));
        let metered = RequestContext {
            meter: Some(Arc::clone(&meter)),
            ..context
        };
        let work = tokio::task::spawn_blocking(move || {
            let documents = inner.documents.clone();
            let text = request.query.clone();
            let reply = futures::executor::block_on(work(inner, request, metered));
            if let Some(document) = documents.get(&text) {
                let is_long = meter.spent() > SHORT_WORK;
                document.is_long.store(is_long, Ordering::Relaxed);
            }
            form(reply)
        });
        work.await.unwrap_or_else(|error| {
            tracing::error!(%error, "execution did not end");
            form(failed())
        })
    }
}

/// Returns the RDF properties that are read from their values to their objects; one of several
/// aliases comes several times.
fn inverse_properties(soml: &Schema) -> Vec<NamedNode> {
    let properties = soml.properties.iter();
    let inverse = properties.filter_map(|property| match &property.path {
        Path::Inverse { iri, .. } => Some(NamedNode::new_unchecked(iri)),
        Path::Forward(_) => None,
    });
    inverse.collect()
}

/// The answer when the service itself is at fault; what happened is in the log.
fn failed() -> Reply {
    Reply::without_data(GraphqlError::new(ErrorCode::Internal, "the service failed"))
}

impl Inner {
    /// Tells whether a request is worth a try on an async worker.
    fn may_be_short(&self, request: &Request, known: Option<&Document>) -> bool {
        let variables = request.variables.as_ref();
        let is_small = self.store.is_metered()
            && variables.is_none_or(|variables| {
                let mut left = SHORT_TEXT;
                variables.iter().all(|(_, value)| fits(value, &mut left))
            });
        is_small
            && match known {
                Some(document) => !document.is_long.load(Ordering::Relaxed),
                None => request.query.len() <= SHORT_TEXT,
            }
    }

    async fn execute(&self, request: &Request, context: &RequestContext) -> Reply {
        if !request.wants_explanation() {
            return self.answer(request, context, None).await;
        }
        if !self.options.explain || !self.api.soml().config.enable_graphql_explain {
            let message = "this service does not explain queries";
            return Reply::Refused(vec![GraphqlError::new(ErrorCode::ExplainDisabled, message)]);
        }
        self.explain(request, context).await
    }

    async fn explain(&self, request: &Request, context: &RequestContext) -> Reply {
        let trace = Arc::new(Trace::default());
        let context = RequestContext {
            trace: Some(Arc::clone(&trace)),
            ..context.clone()
        };
        self.answer(request, &context, Some(&trace)).await
    }

    async fn answer(
        &self,
        request: &Request,
        context: &RequestContext,
        trace: Option<&Trace>,
    ) -> Reply {
        let started = Instant::now();
        let (plan, introspection) = match self.prepare(request, context) {
            Err(errors) => return Reply::Refused(errors),
            Ok(prepared) => prepared,
        };
        let planned = Instant::now();
        let execution = Execution {
            schema: self.api.soml(),
            plan: &plan,
            store: self.store.as_ref(),
            context,
            limits: &self.options.limits,
            numbers: self.options.numbers,
            service: self.printed(&plan),
            introspection,
        };
        let answer = execution.run().await.unwrap_or_else(|error| Answer {
            data: b"null".to_vec(),
            errors: vec![store_error(&error, &context.request_id)],
        });
        let explanation =
            trace.map(|trace| Explanation::new(&plan, trace, planned - started, planned.elapsed()));
        Reply::Executed(answer, explanation)
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
    fn prepare(
        &self,
        request: &Request,
        context: &RequestContext,
    ) -> Result<(Plan, JsonMap), Refusal> {
        let document = self.document(&request.query)?;
        let document = &document.valid;
        let operation = self.operation(document, request)?;
        check_introspection(document, operation, context.introspection)?;
        let given = request.variables.clone().unwrap_or_default();
        let variables =
            coerce_variable_values(self.api.schema(), operation, &given).map_err(|e| {
                let place = location(e.location(), &document.sources);
                vec![
                    GraphqlError::new(ErrorCode::VariableInvalid, e.message().to_string())
                        .at(place),
                ]
            })?;
        introspection::check_max_depth(document, operation).map_err(|e| {
            let place = location(e.location(), &document.sources);
            vec![GraphqlError::new(ErrorCode::LimitDepth, e.message().to_string()).at(place)]
        })?;
        let input = PlanInput {
            api: &self.api,
            limits: &self.options.limits,
            features: &self.store.features(),
            document,
            operation,
            variables: &variables,
        };
        let plan = plan::build(&input).map_err(|error| vec![error])?;
        tracing::debug!(request_id = %context.request_id, ?plan, "planned");
        let introspects = plan
            .roots
            .iter()
            .any(|root| matches!(root.value, RootValue::Introspection));
        let introspection = if introspects {
            // It reads nothing, and is long for all but small schemas.
            let long = u32::try_from(SHORT_WORK + 1).unwrap_or(u32::MAX);
            context
                .spend(long)
                .map_err(|error| vec![store_error(&error, &context.request_id)])?;
            self.introspect(document, operation, &variables)?
        } else {
            JsonMap::new()
        };
        Ok((plan, introspection))
    }

    /// Parses and validates a document, once per distinct text.
    fn document(&self, text: &str) -> Result<Arc<Document>, Refusal> {
        if let Some(known) = self.documents.get(text) {
            return Ok(known);
        }
        let limits = &self.options.limits;
        let mut parser = Parser::new()
            .token_limit(limits.tokens)
            .recursion_limit(PARSER_RECURSION);
        let parsed = parser.parse_ast(text, "query.graphql");
        if parser.tokens_reached() > limits.tokens {
            return Err(vec![limit(
                ErrorCode::LimitTokens,
                "the document has too many tokens",
                limits.tokens,
            )]);
        }
        if parser.recursion_reached() >= PARSER_RECURSION {
            return Err(vec![limit(
                ErrorCode::LimitDepth,
                "the document nests too deeply",
                limits.depth,
            )]);
        }
        let parsed = parsed.map_err(|e| self.findings(&e.errors, ErrorCode::GraphqlParseFailed))?;
        let document = match parsed.to_executable(self.api.schema()) {
            Ok(document) => document,
            Err(with_errors) => {
                complexity::check(&with_errors.partial, limits).map_err(|error| vec![error])?;
                let code = ErrorCode::GraphqlValidationFailed;
                return Err(self.findings(&with_errors.errors, code));
            }
        };
        // Validation of what nests or fans out too much would cost more than it is worth.
        complexity::check(&document, limits).map_err(|error| vec![error])?;
        let valid = document
            .validate(self.api.schema())
            .map_err(|e| self.findings(&e.errors, ErrorCode::GraphqlValidationFailed))?;
        let document = Arc::new(Document {
            valid,
            is_long: AtomicBool::new(false),
        });
        let known = Arc::clone(&document);
        self.documents.insert(text.to_owned(), known);
        Ok(document)
    }

    fn findings(&self, list: &DiagnosticList, code: ErrorCode) -> Refusal {
        diagnostics::errors(list, code, self.api.schema())
    }

    fn operation<'d>(
        &self,
        document: &'d Valid<ExecutableDocument>,
        request: &Request,
    ) -> Result<&'d Operation, Refusal> {
        let name = request
            .operation_name
            .as_deref()
            .filter(|name| !name.is_empty());
        let operation = document.operations.get(name).map_err(|_| {
            let message = match name {
                Some(name) => format!("the document has no operation `{name}`"),
                None if document.operations.is_empty() => {
                    "the document has no operation".to_owned()
                }
                None => {
                    "the document has several operations; name one in `operationName`".to_owned()
                }
            };
            vec![GraphqlError::new(ErrorCode::OperationNotFound, message)]
        })?;
        Ok(operation)
    }

    fn introspect(
        &self,
        document: &Valid<ExecutableDocument>,
        operation: &Operation,
        variables: &Valid<JsonMap>,
    ) -> Result<JsonMap, Refusal> {
        let limit = self.options.limits.introspection;
        self.introspection_cost
            .check(self.api.schema(), document, &operation.selection_set, limit)
            .map_err(|error| vec![error])?;
        let introspected = introspection::partial_execute(
            self.api.schema(),
            &self.implementers,
            document,
            operation,
            variables,
        );
        let response = introspected.map_err(|e| {
            vec![GraphqlError::new(
                ErrorCode::GraphqlValidationFailed,
                e.message().to_string(),
            )]
        })?;
        Ok(response.data.unwrap_or_default())
    }
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

/// Checks that an operation asks for nothing but what its introspection mode allows.
fn check_introspection(
    document: &Valid<ExecutableDocument>,
    operation: &Operation,
    allowed: Introspection,
) -> Result<(), Refusal> {
    let is_refused = |name: &str| match (allowed, name) {
        (Introspection::Allowed, _) | (_, "__typename") => false,
        (Introspection::Refused, name) => matches!(name, "__schema" | "__type"),
        (Introspection::Only, name) => !matches!(name, "__schema" | "__type"),
    };
    let mut fields = operation.root_fields(document);
    match fields.find(|field| is_refused(&field.name)) {
        None => Ok(()),
        Some(field) => {
            let message = match allowed {
                Introspection::Only => "only introspection is allowed here",
                _ => "introspection is switched off here",
            };
            let place = location(field.name.location(), &document.sources);
            let code = ErrorCode::IntrospectionMode;
            Err(vec![GraphqlError::new(code, message).at(place)])
        }
    }
}

/// Says once what a schema asks for and the service does not do.
fn report_unenforced(schema: &Schema) {
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
            "the schema holds keys that are checked and not enforced"
        );
    }
}

/// Nesting at which the parser stops; far above what any limit on selections or filters allows.
const PARSER_RECURSION: usize = 300;

fn limit(code: ErrorCode, message: &str, limit: usize) -> GraphqlError {
    GraphqlError::new(code, message).with("limit", limit)
}

fn store_error(error: &StoreError, request_id: &str) -> GraphqlError {
    match error {
        StoreError::Deadline => {
            GraphqlError::new(ErrorCode::DeadlineExceeded, "the request took too long")
        }
        StoreError::Cancelled => {
            GraphqlError::new(ErrorCode::Cancelled, "the request was cancelled")
        }
        StoreError::Unsupported(what) => {
            GraphqlError::new(ErrorCode::StoreUnsupported, what.clone())
        }
        StoreError::RegexTooLarge => GraphqlError::new(
            ErrorCode::LimitRegex,
            "the regular expression needs more memory than allowed",
        ),
        StoreError::TooLong => GraphqlError::new(ErrorCode::Internal, "the service failed"),
        StoreError::ResultTooLarge { limit } => GraphqlError::new(
            ErrorCode::LimitStoreResult,
            "a result of the store is larger than allowed",
        )
        .with("limit", *limit),
        StoreError::Unavailable(source) => {
            tracing::error!(request_id, error = %source, "the store cannot be reached");
            GraphqlError::new(ErrorCode::StoreUnavailable, "the store cannot be reached")
        }
        StoreError::Failed(source) => {
            tracing::error!(request_id, error = %source, "the store failed");
            GraphqlError::new(ErrorCode::StoreFailed, "the store failed")
        }
    }
}
