//! Documents: parsed, measured and validated once per distinct text, and made ready for a request.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use apollo_compiler::ast::OperationType;
use apollo_compiler::executable::Operation;
use apollo_compiler::parser::Parser;
use apollo_compiler::request::coerce_variable_values;
use apollo_compiler::response::JsonMap;
use apollo_compiler::schema::Implementers;
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Name, Node, Schema, introspection};
use bytes::Bytes;
use foldhash::quality::RandomState;
use moka::sync::Cache;
use service_metrics::{CacheMetrics, OperationKind, Watch};
use traces::record_operation;

use crate::digits::{Digits, ExactValue, InexactDefaults};
use crate::error::{GraphqlError, Location};
use crate::inputs::{Given, has_one_of, wrong_literals, wrong_variables};
use crate::introspection::{Asked, IntrospectionCost, with_one_of, write_root};
use crate::limits::{Limits, exceeded};
use crate::request::{Introspection, Request, RequestContext};
use crate::shorthand::Shorthands;
use crate::suggestions::MeantFields;
use crate::writer::{AnswerWriter, WriteResult};
use crate::{code, complexity, findings};

/// Errors that refuse a request before it is executed.
pub type Refusal = Vec<GraphqlError>;

/// Nesting depth at which the parser stops; far above any limit on selections or filters.
const PARSER_RECURSION: usize = 300;

/// Names of the caches in metrics.
const DOCUMENTS: &str = "documents";
const INTROSPECTIONS: &str = "introspections";

/// Bytes that a document takes for each of its tokens, about.
const TOKEN: usize = 160;

/// A validated document.
#[derive(Debug)]
pub struct Document {
    valid: Valid<ExecutableDocument>,
    /// Whether introspection nests too deeply in one of its operations.
    introspects_deeply: bool,
    /// Different from that of any other document of the process.
    id: u64,
    fields: usize,
    footprint: usize,
    cost: AtomicU64,
}

impl Document {
    /// Returns the validated document.
    #[must_use]
    pub fn valid(&self) -> &Valid<ExecutableDocument> {
        &self.valid
    }

    /// Returns an id that is unique to the document within the process, for caches.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the number of fields over all operations, with fragments counted at each use.
    #[must_use]
    pub fn fields(&self) -> usize {
        self.fields
    }

    /// Returns how many bytes the document takes, about.
    #[must_use]
    pub fn footprint(&self) -> usize {
        self.footprint
    }

    /// Returns the cost of the last request with this text, to decide where to run it; the unit
    /// is the caller's.
    #[must_use]
    pub fn cost(&self) -> u64 {
        self.cost.load(Ordering::Relaxed)
    }

    /// Remembers what a request of this text cost.
    pub fn set_cost(&self, cost: u64) {
        self.cost.store(cost, Ordering::Relaxed);
    }
}

/// The documents of one schema: a bounded cache of validated ones, and the rules that new ones must
/// satisfy.
#[derive(Debug)]
pub struct Documents {
    /// The schema, with all that introspection can ask for.
    schema: Valid<Schema>,
    has_one_of: bool,
    limits: Limits,
    shorthands: Shorthands,
    meant: MeantFields,
    /// Defaults whose digits the library would lose.
    defaults: InexactDefaults,
    known: Cache<String, Arc<Document>, RandomState>,
    /// Interfaces and their implementers, for introspection.
    implementers: apollo_compiler::collections::HashMap<Name, Implementers>,
    introspection_cost: IntrospectionCost,
    /// Answers to introspections that no variable decides.
    introspected: Cache<Introspected, Bytes>,
    metrics: [CacheMetrics; 2],
    _watches: [Watch; 2],
}

/// The document, operation and key of the field that asks for the schema.
type Introspected = (u64, Option<Name>, String);

/// A request whose document, operation and variables fit the schema.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Prepared {
    /// The document.
    pub document: Arc<Document>,
    /// The operation to run.
    pub operation: Node<Operation>,
    /// Values of the variables, defaults included.
    ///
    /// A number that is out of the range of 64-bit floats is here the largest one of its sign, which only stands in for
    /// it. What was written is in [`Prepared::digits`]; [`Prepared::variable`] returns both together, and
    /// [`Digits::has_stand_ins`] whether there are such numbers.
    pub variables: Valid<JsonMap>,
    /// The digits of numbers among them that these values do not hold as they are written.
    pub digits: Digits,
}

impl Documents {
    /// Creates an empty cache for documents of `schema` that holds up to `cache_bytes` of documents,
    /// and as much of answers to introspections.
    #[must_use]
    pub fn new(schema: &Valid<Schema>, limits: Limits, cache_bytes: u64) -> Self {
        let weight = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
        let known = Cache::builder()
            .weigher(move |text: &String, document: &Arc<Document>| {
                weight(text.len() + document.footprint)
            })
            .max_capacity(cache_bytes)
            .build_with_hasher(RandomState::default());
        let introspected = Cache::builder()
            .weigher(move |_: &Introspected, answer: &Bytes| weight(answer.len()))
            .max_capacity(cache_bytes)
            .build();
        let schema = with_one_of(schema);
        let (documents, answers) = (known.clone(), introspected.clone());
        let watches = [
            CacheMetrics::watch_entries(DOCUMENTS, move || documents.entry_count()),
            CacheMetrics::watch_entries(INTROSPECTIONS, move || answers.entry_count()),
        ];
        Documents {
            metrics: [DOCUMENTS, INTROSPECTIONS].map(CacheMetrics::new),
            _watches: watches,
            has_one_of: has_one_of(&schema),
            limits,
            shorthands: Shorthands::default(),
            meant: MeantFields::default(),
            defaults: InexactDefaults::new(&schema),
            known,
            implementers: schema.implementers_map(),
            introspection_cost: IntrospectionCost::new(&schema),
            schema,
            introspected,
        }
    }

    /// Accepts strings as shorthands for some input objects.
    #[must_use]
    pub fn with_shorthands(mut self, shorthands: Shorthands) -> Self {
        self.shorthands = shorthands;
        self
    }

    /// Lets hints suggest which fields of input objects are meant.
    #[must_use]
    pub fn with_meant_fields(mut self, meant: MeantFields) -> Self {
        self.meant = meant;
        self
    }

    /// Returns the schema that documents are validated against: the one that they were created for, with all
    /// that introspection can ask for.
    #[must_use]
    pub fn schema(&self) -> &Valid<Schema> {
        &self.schema
    }

    /// Returns the limits that documents must respect.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns a document that was validated before and is still in the cache.
    #[must_use]
    pub fn known(&self, text: &str) -> Option<Arc<Document>> {
        let known = self.known.get(text);
        if known.is_some() {
            self.metrics[0].count(true);
        }
        known
    }

    /// Parses and validates a document, once per distinct text.
    ///
    /// `admit` is called with the number of
    /// fields before the document is validated or a known one is returned, and may refuse it: what
    /// validation and planning cost is in proportion to that number.
    ///
    /// # Errors
    /// When the text is not GraphQL, does not fit the schema, exceeds a limit, or is not admitted.
    pub fn get<E: From<Refusal>>(
        &self,
        text: &str,
        admit: impl FnOnce(usize) -> Result<(), E>,
    ) -> Result<Arc<Document>, E> {
        if let Some(known) = self.known.get(text) {
            admit(known.fields)?;
            return Ok(known);
        }
        // Whoever gets a document has looked for a known one before, so hits are counted there.
        self.metrics[0].count(false);
        let document = Arc::new(self.validated(text, admit)?);
        self.known.insert(text.to_owned(), Arc::clone(&document));
        Ok(document)
    }

    /// Parses and validates a document that no client has sent: it is not kept.
    ///
    /// # Errors
    /// When the text is not GraphQL, does not fit the schema, or exceeds a limit.
    pub fn validate(&self, text: &str) -> Result<Document, Refusal> {
        self.validated(text, |_fields| Ok(()))
    }

    fn validated<E: From<Refusal>>(
        &self,
        text: &str,
        admit: impl FnOnce(usize) -> Result<(), E>,
    ) -> Result<Document, E> {
        let (schema, limits) = (&self.schema, &self.limits);
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut parser = Parser::new()
            .token_limit(limits.tokens)
            .recursion_limit(PARSER_RECURSION);
        let parsed = parser.parse_ast(text, "query.graphql");
        if parser.tokens_reached() > limits.tokens {
            let message = "the document has too many tokens";
            return Err(vec![exceeded(code::LIMIT_TOKENS, message, limits.tokens)].into());
        }
        if parser.recursion_reached() >= PARSER_RECURSION {
            let message = "the document nests too deeply";
            return Err(vec![exceeded(code::LIMIT_DEPTH, message, limits.depth)].into());
        }
        let parsed = parsed.map_err(|e| findings::of_syntax(&e.errors))?;
        let invalid = |list: &_| findings::of_validation(list, &parsed, schema, &self.meant);
        let check = |document| complexity::check(document, limits).map_err(|error| vec![error]);
        let mut document = match parsed.to_executable(schema) {
            Ok(document) => document,
            Err(with_errors) => {
                admit(check(&with_errors.partial)?)?;
                return Err(invalid(&with_errors.errors).into());
            }
        };
        // Validating a document that nests or fans out too much would cost more than it saves.
        let fields = check(&document)?;
        admit(fields)?;
        self.shorthands.write_out(schema, &mut document);
        let valid = document.validate(schema).map_err(|e| invalid(&e.errors))?;
        let wrong = wrong_literals(schema, &valid);
        if !wrong.is_empty() {
            return Err(wrong.into());
        }
        let is_too_deep = |operation: &Node<Operation>| {
            introspection::check_max_depth(&valid, operation).is_err()
        };
        let introspects_deeply = valid.operations.iter().any(is_too_deep);
        Ok(Document {
            valid,
            introspects_deeply,
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            fields,
            footprint: text.len() + TOKEN * parser.tokens_reached(),
            cost: AtomicU64::new(0),
        })
    }

    /// Chooses the operation of a request and coerces its variables.
    ///
    /// # Errors
    /// When there is no such operation, a variable does not fit, or introspection is not allowed.
    pub fn prepare(
        &self,
        document: Arc<Document>,
        request: &Request,
        context: &RequestContext,
    ) -> Result<Prepared, Refusal> {
        let (schema, valid) = (&self.schema, &document.valid);
        let operation = operation(valid, request).map_err(|error| vec![error])?;
        if let Some(tally) = &context.call.tally {
            tally.note_kind(kind_of(operation.operation_type).number());
        }
        record_operation(
            &context.call.span,
            operation.operation_type.name(),
            operation.name.as_ref().map(Name::as_str),
        );
        check_introspection(valid, operation, context.introspection)
            .map_err(|error| vec![error])?;
        let at = |span| Location::of(span, &valid.sources);
        let none = JsonMap::new();
        let given = request.variables.as_ref().unwrap_or(&none);
        let written_out = self.shorthands.written_out(schema, operation, given);
        let given = written_out.as_ref().unwrap_or(given);
        let digits = &request.digits;
        let filled_in = self.defaults.filled_in(schema, operation, given, digits);
        let (given, digits) = match &filled_in {
            Some((given, digits)) => (given, digits),
            None => (given, digits),
        };
        let wrong = |values| {
            let given = Given { values, digits };
            wrong_variables(schema, &self.meant, valid, operation, given)
        };
        let variables = coerce_variable_values(schema, operation, given).map_err(|e| {
            let wrong = wrong(given);
            if !wrong.is_empty() {
                return wrong;
            }
            let error = GraphqlError::new(code::VARIABLE_INVALID, e.message().to_string());
            vec![error.at(at(e.location()))]
        })?;
        // Of numbers that are out of range, the library sees others.
        if self.has_one_of || !digits.is_empty() {
            let wrong = wrong(&variables);
            if !wrong.is_empty() {
                return Err(wrong);
            }
        }
        if document.introspects_deeply {
            introspection::check_max_depth(valid, operation).map_err(|e| {
                let error = GraphqlError::new(code::LIMIT_DEPTH, e.message().to_string());
                vec![error.at(at(e.location()))]
            })?;
        }
        let operation = operation.clone();
        Ok(Prepared {
            operation,
            variables,
            digits: digits.clone(),
            document,
        })
    }

    /// Parses and validates a request, chooses its operation and coerces its variables, as a service does
    /// that admits every document.
    ///
    /// # Errors
    /// Those of [`Documents::get`], [`Documents::prepare`] and [`Documents::check_introspection`].
    pub fn read(&self, request: &Request, context: &RequestContext) -> Result<Prepared, Refusal> {
        let admit = |_fields| Ok::<_, Refusal>(());
        let document = self.get(&request.query, admit)?;
        let prepared = self.prepare(document, request, context)?;
        self.check_introspection(&prepared)?;
        Ok(prepared)
    }

    /// Checks that an operation asks for no more of the schema than the limit allows.
    ///
    /// # Errors
    /// When it asks for more.
    pub fn check_introspection(&self, prepared: &Prepared) -> Result<(), Refusal> {
        let root = &prepared.operation.selection_set;
        let document = prepared.document.valid();
        self.introspection_cost
            .check(&self.schema, document, root, self.limits.introspection)
            .map_err(|error| vec![error])
    }

    /// Returns whether the answer to the introspection under a root key is available.
    #[must_use]
    pub fn has_introspected(&self, prepared: &Prepared, key: &str) -> bool {
        let wanted = introspected(prepared, key);
        wanted.is_some_and(|wanted| self.introspected.contains_key(&wanted))
    }

    /// Writes the answer to the introspection under a root key: `__schema`, `__type` or `__typename`.
    /// An answer that no variable decides is made once and shared.
    ///
    /// # Errors
    /// When the answer was given up, or exceeds its bounds.
    pub fn introspect(
        &self,
        prepared: &Prepared,
        key: &str,
        answer: &mut AnswerWriter<'_>,
    ) -> WriteResult {
        let schema = &self.schema;
        let Some(wanted) = introspected(prepared, key) else {
            return write_root(schema, &self.implementers, prepared.asked(), key, answer);
        };
        if let Some(known) = self.metrics[1].found(self.introspected.get(&wanted)) {
            answer.shared(known);
            return answer.check_size();
        }
        let mark = answer.mark();
        write_root(schema, &self.implementers, prepared.asked(), key, answer)?;
        answer.check_size()?;
        self.introspected.insert(wanted, answer.since(mark));
        Ok(())
    }
}

impl Prepared {
    /// Returns the value of a variable as its type has coerced it, with the digits of its numbers.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<ExactValue<'_>> {
        let value = self.variables.get(name)?;
        Some(self.digits.member(name, value))
    }

    /// Adds variables that the client does not know of, with their values. What the request gives under their names is
    /// not meant for them.
    #[must_use]
    pub fn with_variables(mut self, values: &JsonMap) -> Self {
        if !values.is_empty() {
            let mut variables = self.variables.into_inner();
            variables.extend(values.clone());
            self.variables = Valid::assume_valid(variables);
            self.digits = self.digits.without(values);
        }
        self
    }

    fn asked(&self) -> Asked<'_> {
        Asked {
            document: self.document.valid(),
            operation: &self.operation,
            variables: &self.variables,
        }
    }
}

/// Returns the kind of an operation as metrics have it.
fn kind_of(operation: OperationType) -> OperationKind {
    match operation {
        OperationType::Query => OperationKind::Query,
        OperationType::Mutation => OperationKind::Mutation,
        OperationType::Subscription => OperationKind::Subscription,
    }
}

/// Returns what identifies an answer that depends on nothing else.
fn introspected(prepared: &Prepared, key: &str) -> Option<Introspected> {
    let operation = &prepared.operation;
    let is_constant = operation.variables.is_empty();
    is_constant.then(|| (prepared.document.id, operation.name.clone(), key.to_owned()))
}

fn operation<'d>(
    document: &'d Valid<ExecutableDocument>,
    request: &Request,
) -> Result<&'d Node<Operation>, GraphqlError> {
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

/// Checks that an operation selects only what its introspection mode allows.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_in_use_outlast_any_number_of_others() {
        let schema =
            Schema::parse_and_validate("type Query { item(id: ID!): String }", "schema.graphql");
        let documents = Documents::new(&schema.unwrap(), Limits::default(), 64 << 10);
        let read = |text: &str| {
            documents.get(text, |_| Ok::<_, Refusal>(())).unwrap();
        };
        let used: Vec<String> = (0..8)
            .map(|n| format!("query Q{n} {{ item(id: {n}) }}"))
            .collect();
        for number in 0..20_000 {
            read(&format!("{{ item(id: \"{number}\") }}"));
            if number % 50 == 0 {
                used.iter().for_each(|text| read(text));
            }
        }
        let kept = used.iter().filter(|text| documents.known(text).is_some());
        assert_eq!(kept.count(), used.len());
        let old = (0..20_000).filter(|number| {
            let text = format!("{{ item(id: \"{number}\") }}");
            documents.known(&text).is_some()
        });
        // About 1,600 bytes are counted for each.
        assert!(old.count() < 200);
    }
}
