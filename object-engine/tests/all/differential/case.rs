//! One schema with data, on which operations are run both ways.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::sync::Arc;

use graph_store::GraphStore;
use graphql_service::{Caller, Request, RequestContext};
use object_engine::{ObjectService, ServiceOptions};
use oxrdf::Quad;
use serde_json::{Value, json};
use soml_core::schema::Schema;

use crate::back_end::{BackEnd, Kind};
use crate::differential::compare::difference;
use crate::differential::operation::Operation;
use crate::differential::reference::{Answer, Graph, Model, interpret};
use crate::fixture;

/// Returns the kind of store that `DIFFERENTIAL_STORE` names.
pub(crate) fn kind() -> Kind {
    match std::env::var("DIFFERENTIAL_STORE").as_deref() {
        Err(_) | Ok("image") => Kind::Image,
        Ok("written-image") => Kind::WrittenImage,
        Ok("pattern") => Kind::Pattern,
        Ok("remote") => Kind::Remote,
        Ok("remote-nested") => Kind::RemoteNested,
        Ok("remote-apart") => Kind::RemoteApart,
        Ok("rdf4j") => Kind::Rdf4j { infers: false },
        Ok("fuseki") => Kind::Fuseki,
        Ok(other) => panic!("no kind of store is called {other}"),
    }
}

/// Who sends an operation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sender {
    pub(crate) accepted: Vec<String>,
    /// Roles, for a service that enforces them.
    pub(crate) roles: Option<Vec<String>>,
    pub(crate) claims: serde_json::Map<String, Value>,
}

/// A service over a store, and what the store holds.
pub(crate) struct Subject {
    pub(crate) soml: String,
    pub(crate) schema: soml_core::Valid<Schema>,
    pub(crate) service: ObjectService,
    kind: Kind,
    back_end: BackEnd,
    loaded: RefCell<Vec<Quad>>,
}

impl Subject {
    /// Returns whether a store in this process answers, without SPARQL.
    pub(crate) fn is_embedded(&self) -> bool {
        matches!(self.kind, Kind::Image | Kind::WrittenImage | Kind::Pattern)
    }

    /// Returns whether the store knows how many triples each way to find objects reads.
    pub(crate) fn knows_counts(&self) -> bool {
        matches!(self.kind, Kind::Image | Kind::WrittenImage)
    }

    pub(crate) fn new(soml: String, kind: Kind) -> Self {
        Self::over(soml, kind, ServiceOptions::default(), |store| store)
    }

    /// Creates a service of its own settings over what `wrap` makes of the store.
    pub(crate) fn over(
        soml: String,
        kind: Kind,
        options: ServiceOptions,
        wrap: impl FnOnce(Arc<dyn GraphStore>) -> Arc<dyn GraphStore>,
    ) -> Self {
        let loaded = soml_core::load(&soml);
        let Some(schema) = loaded.schema else {
            panic!("not a valid schema: {:?}\n{soml}", loaded.diagnostics);
        };
        let back_end = BackEnd::new(kind);
        let store = wrap(back_end.graph_store());
        let service = fixture::service(&soml, store, options);
        Subject {
            soml,
            schema,
            service,
            kind,
            back_end,
            loaded: RefCell::new(Vec::new()),
        }
    }

    /// Puts quads in place of what the store holds.
    pub(crate) fn load(&self, quads: &[Quad]) {
        if *self.loaded.borrow() != quads {
            self.load_again(quads);
        }
    }

    /// Does the same, and also makes the store forget what it keeps of earlier requests.
    pub(crate) fn load_again(&self, quads: &[Quad]) {
        self.back_end.load(quads);
        *self.loaded.borrow_mut() = quads.to_vec();
    }

    /// Answers an operation over what the store holds.
    pub(crate) fn answer(&self, operation: &Operation, sender: &Sender) -> Vec<u8> {
        let (request, context) = self.request(operation, sender);
        fixture::answer(&self.service, request, context)
    }

    pub(crate) fn request(
        &self,
        operation: &Operation,
        sender: &Sender,
    ) -> (Request, RequestContext) {
        let variables = json!({"variables": operation.values(), "query": ""});
        let mut request: Request = serde_json::from_value(variables).expect("a request");
        request.query = operation.document();
        let mut context = RequestContext::new();
        context.call.accept_language = sender.accepted.clone();
        if let Some(roles) = &sender.roles {
            let mut caller = Caller::with_roles(roles);
            caller.claims = sender.claims.clone();
            context = context.with_caller(Arc::new(caller));
        }
        (request, context)
    }

    /// Runs an operation both ways.
    pub(crate) fn run(&self, operation: &Operation, quads: &[Quad], sender: &Sender) -> Run {
        self.load(quads);
        let actual = fixture::json(&self.answer(operation, sender));
        if is_invalid(&actual) {
            return Run {
                actual,
                invalid: true,
                difference: None,
            };
        }
        let expected = self.expected(operation, &Graph::new(quads), sender);
        Run {
            difference: difference(&expected, &actual),
            invalid: false,
            actual,
        }
    }

    pub(crate) fn expected(
        &self,
        operation: &Operation,
        graph: &Graph<'_>,
        sender: &Sender,
    ) -> Answer {
        let document = operation.document();
        let (values, accepted) = (operation.values(), &sender.accepted);
        interpret(&self.model(sender), graph, &document, &values, accepted)
    }

    /// The schema as a sender sees it.
    pub(crate) fn model(&self, sender: &Sender) -> Model<'_> {
        match &sender.roles {
            Some(roles) => Model::of(&self.schema, roles),
            None => Model::new(&self.schema),
        }
    }
}

/// What came of a case.
pub(crate) struct Run {
    pub(crate) actual: Value,
    /// The document is no document of the schema, which is a fault of the generator.
    pub(crate) invalid: bool,
    pub(crate) difference: Option<String>,
}

impl Run {
    /// Returns whether the answer holds some object.
    pub(crate) fn found_something(&self) -> bool {
        let data = self.actual.get("data").and_then(Value::as_object);
        data.is_some_and(|data| {
            data.values()
                .any(|root| root.as_array().is_some_and(|list| !list.is_empty()))
        })
    }
}

pub(crate) fn is_invalid(answer: &Value) -> bool {
    let errors = answer.get("errors").and_then(Value::as_array);
    let codes = [
        "GRAPHQL_VALIDATION_FAILED",
        "GRAPHQL_PARSE_FAILED",
        "VARIABLE_INVALID",
    ];
    errors.is_some_and(|errors| {
        errors.iter().any(|error| {
            let code = error["extensions"]["code"].as_str();
            code.is_some_and(|code| codes.contains(&code))
        })
    })
}

/// Shows a case for people.
pub(crate) fn report(
    subject: &Subject,
    operation: &Operation,
    quads: &[Quad],
    sender: &Sender,
) -> String {
    let run = subject.run(operation, quads, sender);
    let mut out = String::new();
    if subject.soml.len() < 5_000 {
        let _ = writeln!(out, "--- schema\n{}", subject.soml);
    }
    out.push_str("--- data\n");
    for quad in quads.iter().take(60) {
        let _ = writeln!(out, "{quad} .");
    }
    let _ = writeln!(out, "--- query\n{}", operation.document());
    let _ = writeln!(out, "--- variables {}", Value::Object(operation.values()));
    let _ = writeln!(out, "--- {sender:?}");
    match subject.expected(operation, &Graph::new(quads), sender) {
        Answer::Refused(codes) => {
            let _ = writeln!(out, "--- expected refusal {codes:?}");
        }
        Answer::Data(data, faults, removals) => {
            let _ = writeln!(out, "--- expected data {data:?}\n    errors {faults:?}");
            let _ = writeln!(out, "    left out {removals:?}");
        }
    }
    let _ = writeln!(out, "--- actual {}", run.actual);
    let _ = writeln!(out, "--- {}", run.difference.unwrap_or_default());
    out
}
