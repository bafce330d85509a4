//! A random schema and data, and a service over them that writes.

use std::collections::BTreeSet;
use std::sync::Arc;

use graph_store::write::{ChangeRecord, RecordQuery};
use graph_store::{CallContext, GraphStore};
use graphql_gen::typesystem::ApiOptions;
use graphql_service::{Caller, Request as Sent, RequestContext};
use object_engine::{ObjectService, ServiceOptions};
use oxrdf::Quad;
use soml_core::schema::Schema;

use super::generate::{self, Generator};
use super::request::Request;
use super::rules::State;
use super::terms::as_written;
use crate::back_end::{BackEnd, Kind};
use crate::differential::random::Random;
use crate::differential::reference::Model;
use crate::fixture;

/// A service over a store, and the state that it starts from.
pub(super) struct Subject {
    pub(super) soml: String,
    pub(super) schema: soml_core::Valid<Schema>,
    pub(super) service: Arc<ObjectService>,
    pub(super) start: State,
    pub(super) random: Random,
    /// A transaction shows what it has applied.
    pub(super) has_view: bool,
    back_end: BackEnd,
}

impl Subject {
    /// Makes a schema and data; with roles in the schema, which are enforced.
    pub(super) fn new(seed: u64, kind: Kind, roles: bool) -> Self {
        let section: &dyn Fn(&mut Random) -> String = &super::roles::section;
        Self::with_section(seed, kind, roles.then_some(section))
    }

    /// Makes a schema and data; with the roles of a random `rbac` section, which are enforced.
    pub(super) fn with_section(
        seed: u64,
        kind: Kind,
        section: Option<&dyn Fn(&mut Random) -> String>,
    ) -> Self {
        let mut random = Random::new(seed);
        let mut soml = generate::schema(&mut random);
        if let Some(section) = section {
            soml.push_str(&section(&mut random));
        }
        let loaded = soml_core::load(&soml);
        let Some(schema) = loaded.schema else {
            panic!("not a valid schema: {:?}\n{soml}", loaded.diagnostics);
        };
        let start = {
            let model = Model::new(&schema);
            let random = Random::new(random.number());
            let mut generator = Generator {
                random,
                model: &model,
                schema: &schema,
            };
            generator.data()
        };
        let back_end = match kind {
            Kind::Rdf4j { .. } | Kind::Fuseki => BackEnd::written_on_server(kind),
            kind => BackEnd::new(kind),
        };
        // The reference knows numbers by value, and answers show literals as they are stored.
        let start: State = start.into_iter().map(as_written).collect();
        let quads: Vec<Quad> = start.iter().cloned().collect();
        back_end.load(&quads);
        let options = ServiceOptions::new()
            .with_api(ApiOptions::default().with_mutations(true))
            .with_roles_enforced(section.is_some());
        let service = fixture::service(&soml, back_end.graph_store(), options);
        Subject {
            soml,
            schema,
            service: Arc::new(service),
            start,
            random,
            has_view: kind != Kind::Fuseki,
            back_end,
        }
    }

    /// Makes a mutation that is valid in most cases in a state.
    pub(super) fn request(&mut self, state: &State) -> Request {
        let model = Model::new(&self.schema);
        let random = Random::new(self.random.number());
        let mut generator = Generator {
            random,
            model: &model,
            schema: &self.schema,
        };
        generator.request(state)
    }

    /// Puts data in place of what the store holds.
    pub(super) fn load(&self, state: &State) {
        let mut quads: Vec<Quad> = state.iter().cloned().collect();
        quads.sort_by_key(ToString::to_string);
        self.back_end.load(&quads);
    }

    pub(super) fn sent(&self, request: &Request) -> Sent {
        Sent::new(request.document(&self.schema))
    }

    /// What the store holds.
    pub(super) fn quads(&self) -> State {
        self.back_end.quads().into_iter().collect()
    }

    pub(super) fn store(&self) -> Arc<dyn GraphStore> {
        self.back_end.graph_store()
    }

    /// The change records after a sequence.
    pub(super) fn records(&self, sequence: u64) -> Vec<ChangeRecord> {
        let store = self.store();
        let writer = store.writer().expect("a store that can be written to");
        let query = RecordQuery::After {
            sequence,
            limit: 1_000,
        };
        let context = CallContext::new();
        let records = fixture::runtime().block_on(writer.records(&query, &context));
        records.expect("the store is there")
    }
}

/// What a change record says, as the model says it.
pub(super) fn changes_of(record: &ChangeRecord) -> BTreeSet<(&'static str, String, String)> {
    let groups = record.said.changes.iter();
    let all = groups.flat_map(|group| {
        let each = group.objects.iter();
        each.map(|id| {
            (
                group.kind.name(),
                group.object_type.clone(),
                id.as_str().to_owned(),
            )
        })
    });
    all.collect()
}

/// The context of a request by roles.
pub(super) fn context(roles: Option<&[String]>) -> RequestContext {
    let mut context = RequestContext::new();
    if let Some(roles) = roles {
        context.caller = Some(Arc::new(Caller::with_roles(roles)));
    }
    context
}
