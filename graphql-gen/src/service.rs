//! The object service: requests in, answers out.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use apollo_compiler::ExecutableDocument;
use apollo_compiler::executable::Operation;
use apollo_compiler::introspection;
use apollo_compiler::parser::Parser;
use apollo_compiler::request::coerce_variable_values;
use apollo_compiler::response::JsonMap;
use apollo_compiler::schema::Implementers;
use apollo_compiler::validation::{DiagnosticList, Valid};
use bytes::Bytes;
use moka::sync::Cache;
use soml_core::schema::Schema;

use crate::complexity;
use crate::diagnostics;
use crate::error::{ErrorCode, GraphqlError};
use crate::execute::{Answer, Execution, ServiceSdl};
use crate::explain::{Explanation, Trace};
use crate::limits::Limits;
use crate::plan::{self, Plan, PlanInput, RootValue, location};
use crate::request::{Outcome, Request, RequestContext, Response};
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
            api: ApiOptions {
                counts: true,
                service: true,
                ..ApiOptions::default()
            },
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
    documents: Cache<String, Arc<Valid<ExecutableDocument>>>,
    /// The printed schema, once somebody has asked for it.
    printed: OnceLock<ServiceSdl>,
}

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
        let documents = Cache::builder()
            .weigher(|text: &String, _: &Arc<_>| u32::try_from(text.len()).unwrap_or(u32::MAX))
            .max_capacity(options.document_cache_bytes)
            .build();
        let inner = Inner {
            api,
            store,
            options,
            implementers,
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
        if !self.inner.store.is_blocking() {
            return self.inner.execute(&request, &context).await;
        }
        let inner = Arc::clone(&self.inner);
        let work = tokio::task::spawn_blocking(move || {
            futures::executor::block_on(inner.execute(&request, &context))
        });
        match work.await {
            Ok(response) => response,
            Err(error) => {
                tracing::error!(%error, "execution panicked");
                let error = GraphqlError::new(ErrorCode::Internal, "the service failed");
                let answer = Answer {
                    data: b"null".to_vec(),
                    errors: vec![error],
                };
                executed(answer, None)
            }
        }
    }
}

impl Inner {
    async fn execute(&self, request: &Request, context: &RequestContext) -> Response {
        if !request.wants_explanation() {
            return self.answer(request, context, None).await;
        }
        if !self.options.explain || !self.api.soml().config.enable_graphql_explain {
            let message = "this service does not explain queries";
            return refused(&[GraphqlError::new(ErrorCode::ExplainDisabled, message)]);
        }
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
    ) -> Response {
        let started = Instant::now();
        let (plan, introspection) = match self.prepare(request, context) {
            Err(errors) => return refused(&errors),
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
        executed(answer, explanation.as_ref())
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
        let operation = self.operation(&document, request)?;
        let given = request.variables.clone().unwrap_or_default();
        let variables =
            coerce_variable_values(self.api.schema(), operation, &given).map_err(|e| {
                let place = location(e.location(), &document.sources);
                vec![
                    GraphqlError::new(ErrorCode::VariableInvalid, e.message().to_string())
                        .at(place),
                ]
            })?;
        introspection::check_max_depth(&document, operation).map_err(|e| {
            let place = location(e.location(), &document.sources);
            vec![GraphqlError::new(ErrorCode::LimitDepth, e.message().to_string()).at(place)]
        })?;
        let input = PlanInput {
            api: &self.api,
            limits: &self.options.limits,
            features: &self.store.features(),
            document: &document,
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
            self.introspect(&document, operation, &variables)?
        } else {
            JsonMap::new()
        };
        Ok((plan, introspection))
    }

    /// Parses and validates a document, once per distinct text.
    fn document(&self, text: &str) -> Result<Arc<Valid<ExecutableDocument>>, Refusal> {
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
        let valid = Arc::new(valid);
        self.documents.insert(text.to_owned(), Arc::clone(&valid));
        Ok(valid)
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

/// Says once what a schema asks for and the service does not do.
fn report_unenforced(schema: &Schema) {
    let config = &schema.config;
    let any_property =
        |holds: fn(&soml_core::schema::Property) -> bool| schema.properties.iter().any(holds);
    let asked = [
        ("rbac", !schema.rbac.roles.is_empty()),
        ("config.enableAggregates", config.enable_aggregates),
        ("config.enableConnections", config.enable_connections),
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

fn refused(errors: &[GraphqlError]) -> Response {
    let mut body = Vec::new();
    body.extend_from_slice(b"{\"errors\":");
    serde_json::to_writer(&mut body, errors).expect("writing to memory does not fail");
    body.push(b'}');
    Response {
        body: Bytes::from(body),
        outcome: Outcome::RequestError,
    }
}

fn executed(answer: Answer, explanation: Option<&Explanation>) -> Response {
    let mut body = Vec::with_capacity(answer.data.len() + 64);
    body.push(b'{');
    if !answer.errors.is_empty() {
        body.extend_from_slice(b"\"errors\":");
        serde_json::to_writer(&mut body, &answer.errors).expect("writing to memory does not fail");
        body.push(b',');
    }
    body.extend_from_slice(b"\"data\":");
    body.extend_from_slice(&answer.data);
    if let Some(explanation) = explanation {
        body.extend_from_slice(b",\"extensions\":{\"explain\":");
        serde_json::to_writer(&mut body, explanation).expect("writing to memory does not fail");
        body.push(b'}');
    }
    body.push(b'}');
    Response {
        body: Bytes::from(body),
        outcome: Outcome::Executed,
    }
}
