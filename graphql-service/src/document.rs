//! Documents: parsed, measured and validated once per distinct text, and made ready for a request.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use apollo_compiler::executable::Operation;
use apollo_compiler::parser::Parser;
use apollo_compiler::request::coerce_variable_values;
use apollo_compiler::response::JsonMap;
use apollo_compiler::schema::Implementers;
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Name, Schema, introspection};
use moka::sync::Cache;

use crate::error::{GraphqlError, Location};
use crate::introspection::IntrospectionCost;
use crate::limits::{Limits, exceeded};
use crate::request::{Introspection, Request, RequestContext};
use crate::{code, complexity, findings};

/// Errors that refuse a request before it runs.
pub type Refusal = Vec<GraphqlError>;

/// Nesting at which the parser stops; far above what any limit on selections or filters allows.
const PARSER_RECURSION: usize = 300;

/// A document that was validated.
#[derive(Debug)]
pub struct Document {
    valid: Valid<ExecutableDocument>,
    is_long: AtomicBool,
}

impl Document {
    /// Returns the validated document.
    #[must_use]
    pub fn valid(&self) -> &Valid<ExecutableDocument> {
        &self.valid
    }

    /// Tells whether the last request of this text took long, for whoever decides where it runs.
    #[must_use]
    pub fn is_long(&self) -> bool {
        self.is_long.load(Ordering::Relaxed)
    }

    /// Remembers whether a request of this text took long.
    pub fn set_long(&self, is_long: bool) {
        self.is_long.store(is_long, Ordering::Relaxed);
    }
}

/// The documents of one schema: a bounded cache of validated ones, and the rules for new ones.
#[derive(Debug)]
pub struct Documents {
    limits: Limits,
    known: Cache<String, Arc<Document>>,
    /// Interfaces and their implementers, for introspection.
    implementers: apollo_compiler::collections::HashMap<Name, Implementers>,
    introspection_cost: IntrospectionCost,
}

/// A request whose document, operation and variables fit the schema.
#[derive(Debug)]
#[non_exhaustive]
pub struct Prepared<'d> {
    /// The document.
    pub document: &'d Valid<ExecutableDocument>,
    /// The operation to run.
    pub operation: &'d Operation,
    /// Values of the variables, defaults put in.
    pub variables: Valid<JsonMap>,
}

impl Documents {
    /// Creates an empty cache for documents of `schema` that holds up to `cache_bytes` of text.
    #[must_use]
    pub fn new(schema: &Valid<Schema>, limits: Limits, cache_bytes: u64) -> Self {
        let known = Cache::builder()
            .weigher(|text: &String, _: &Arc<_>| u32::try_from(text.len()).unwrap_or(u32::MAX))
            .max_capacity(cache_bytes)
            .build();
        Documents {
            limits,
            known,
            implementers: schema.implementers_map(),
            introspection_cost: IntrospectionCost::new(schema),
        }
    }

    /// Returns the bounds that documents keep.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns a document that was validated before and is still remembered.
    #[must_use]
    pub fn known(&self, text: &str) -> Option<Arc<Document>> {
        self.known.get(text)
    }

    /// Parses and validates a document, once per distinct text.
    ///
    /// `schema` is the one that the cache was created for.
    ///
    /// # Errors
    /// When the text is not GraphQL, does not fit the schema, or exceeds a limit.
    pub fn get(&self, schema: &Valid<Schema>, text: &str) -> Result<Arc<Document>, Refusal> {
        if let Some(known) = self.known.get(text) {
            return Ok(known);
        }
        let valid = validated(schema, &self.limits, text)?;
        let document = Arc::new(Document {
            valid,
            is_long: AtomicBool::new(false),
        });
        self.known.insert(text.to_owned(), Arc::clone(&document));
        Ok(document)
    }

    /// Chooses the operation of a request and coerces its variables.
    ///
    /// # Errors
    /// When there is no such operation, a variable does not fit, or introspection is not allowed.
    pub fn prepare<'d>(
        &self,
        schema: &Valid<Schema>,
        document: &'d Document,
        request: &Request,
        context: &RequestContext,
    ) -> Result<Prepared<'d>, Refusal> {
        let document = &document.valid;
        let operation = operation(document, request).map_err(|error| vec![error])?;
        check_introspection(document, operation, context.introspection)
            .map_err(|error| vec![error])?;
        let at = |span| Location::of(span, &document.sources);
        let none = JsonMap::new();
        let given = request.variables.as_ref().unwrap_or(&none);
        let variables = coerce_variable_values(schema, operation, given).map_err(|e| {
            let error = GraphqlError::new(code::VARIABLE_INVALID, e.message().to_string());
            vec![error.at(at(e.location()))]
        })?;
        introspection::check_max_depth(document, operation).map_err(|e| {
            let error = GraphqlError::new(code::LIMIT_DEPTH, e.message().to_string());
            vec![error.at(at(e.location()))]
        })?;
        Ok(Prepared {
            document,
            operation,
            variables,
        })
    }

    /// Answers the part of a request that asks for the schema: keys and values of `data`.
    ///
    /// # Errors
    /// When it asks for more of the schema than the limit allows.
    pub fn introspect(
        &self,
        schema: &Valid<Schema>,
        prepared: &Prepared<'_>,
    ) -> Result<JsonMap, Refusal> {
        let (document, operation) = (prepared.document, prepared.operation);
        let limit = self.limits.introspection;
        self.introspection_cost
            .check(schema, document, &operation.selection_set, limit)
            .map_err(|error| vec![error])?;
        let introspected = introspection::partial_execute(
            schema,
            &self.implementers,
            document,
            operation,
            &prepared.variables,
        );
        let response = introspected.map_err(|e| {
            let code = code::GRAPHQL_VALIDATION_FAILED;
            vec![GraphqlError::new(code, e.message().to_string())]
        })?;
        Ok(response.data.unwrap_or_default())
    }
}

fn validated(
    schema: &Valid<Schema>,
    limits: &Limits,
    text: &str,
) -> Result<Valid<ExecutableDocument>, Refusal> {
    let mut parser = Parser::new()
        .token_limit(limits.tokens)
        .recursion_limit(PARSER_RECURSION);
    let parsed = parser.parse_ast(text, "query.graphql");
    if parser.tokens_reached() > limits.tokens {
        let message = "the document has too many tokens";
        return Err(vec![exceeded(code::LIMIT_TOKENS, message, limits.tokens)]);
    }
    if parser.recursion_reached() >= PARSER_RECURSION {
        let message = "the document nests too deeply";
        return Err(vec![exceeded(code::LIMIT_DEPTH, message, limits.depth)]);
    }
    let parsed = parsed.map_err(|e| findings::of_syntax(&e.errors))?;
    let invalid = |list: &_| findings::of_validation(list, &parsed, schema);
    let document = match parsed.to_executable(schema) {
        Ok(document) => document,
        Err(with_errors) => {
            complexity::check(&with_errors.partial, limits).map_err(|error| vec![error])?;
            return Err(invalid(&with_errors.errors));
        }
    };
    // Validation of what nests or fans out too much would cost more than it is worth.
    complexity::check(&document, limits).map_err(|error| vec![error])?;
    document.validate(schema).map_err(|e| invalid(&e.errors))
}

fn operation<'d>(
    document: &'d Valid<ExecutableDocument>,
    request: &Request,
) -> Result<&'d Operation, GraphqlError> {
    let name = request
        .operation_name
        .as_deref()
        .filter(|name| !name.is_empty());
    let operation = document.operations.get(name).map_err(|_| {
        let message = match name {
            Some(name) => format!("the document has no operation `{name}`"),
            None if document.operations.is_empty() => "the document has no operation".to_owned(),
            None => "the document has several operations; name one in `operationName`".to_owned(),
        };
        GraphqlError::new(code::OPERATION_NOT_FOUND, message)
    })?;
    Ok(operation)
}

/// Checks that an operation asks for nothing but what its introspection mode allows.
fn check_introspection(
    document: &Valid<ExecutableDocument>,
    operation: &Operation,
    allowed: Introspection,
) -> Result<(), GraphqlError> {
    let is_refused = |name: &str| match (allowed, name) {
        (Introspection::Allowed, _) | (_, "__typename") => false,
        (Introspection::Refused, name) => matches!(name, "__schema" | "__type"),
        (Introspection::Only, name) => !matches!(name, "__schema" | "__type"),
    };
    let mut fields = operation.root_fields(document);
    let Some(field) = fields.find(|field| is_refused(&field.name)) else {
        return Ok(());
    };
    let message = match allowed {
        Introspection::Only => "only introspection is allowed in this request",
        _ => "introspection is disabled for this request",
    };
    let place = Location::of(field.name.location(), &document.sources);
    Err(GraphqlError::new(code::INTROSPECTION_MODE, message).at(place))
}
