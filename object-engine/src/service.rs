//! The object service: executes GraphQL requests over a schema and a store.

use std::sync::{Arc, OnceLock};

use apollo_compiler::Schema;
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::validation::Valid;
use async_trait::async_trait;
use graph_store::GraphStore;
use graphql_gen::typesystem::{Api, ApiError};
use graphql_service::{
    Caller, Documents, MeantFields, Reply, Request, RequestContext, Response, Service, Shorthands,
};
use soml_core::access::{Rights, RightsTable};
use soml_core::config::Config;

use crate::explain::Explained;
use crate::options::ServiceOptions;
use crate::plan::{KnownRows, Plans, SchemaRegexes};
use crate::rdf::Types;
use crate::run::{Executed, Job, Shared};

/// A GraphQL service over one schema and one store.
///
/// Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct ObjectService {
    shared: Arc<Shared>,
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
        let api = Api::new(schema, &options.api)?;
        Ok(ObjectService::with_api(Arc::new(api), store, options))
    }

    /// Creates a service with an API that was generated before. What parts that has counts in place of
    /// [`ServiceOptions::api`].
    #[must_use]
    pub fn with_api(api: Arc<Api>, store: Arc<dyn GraphStore>, options: ServiceOptions) -> Self {
        let schema = api.soml();
        report_unenforced(schema, &options);
        let rights = options
            .roles_enforced
            .then(|| Arc::new(Rights::new(schema)));
        let cache_bytes = options.document_cache_bytes;
        // A text without a language or a datatype.
        let shorthands = Shorthands::new(api.schema(), "Literal_Input", "value");
        let documents = Documents::new(api.schema(), options.limits.clone(), cache_bytes)
            .with_shorthands(shorthands)
            .with_meant_fields(meant_fields(&api));
        let shared = Shared {
            api,
            store,
            options,
            documents,
            plans: Plans::new(cache_bytes),
            rights,
            known_rows: KnownRows::default(),
            printed: OnceLock::new(),
            write_facts: OnceLock::new(),
            regexes: SchemaRegexes::default(),
            types: Types::default(),
        };
        ObjectService {
            shared: Arc::new(shared),
        }
    }

    /// Returns the generated API.
    #[must_use]
    pub fn api(&self) -> &Api {
        &self.shared.api
    }

    /// Returns the store.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn GraphStore> {
        &self.shared.store
    }

    /// Prints the schema that clients see.
    #[must_use]
    pub fn sdl(&self) -> String {
        self.shared.api.sdl()
    }

    /// Describes for people what a caller may do, where that is decided by roles: which of these apply, and
    /// [a table](soml_core::access::RightsTable).
    #[must_use]
    pub fn rights_of(&self, caller: Option<&Caller>) -> Option<String> {
        let rights = self.shared.rights.as_ref()?;
        let access = match caller {
            Some(caller) if caller.superuser => rights.everything(),
            Some(caller) => rights.of(caller.roles.iter().map(String::as_str)),
            None => rights.of([]),
        };
        let applying: Vec<&str> = access.roles().collect();
        let roles = match applying.as_slice() {
            _ if caller.is_some_and(|caller| caller.superuser) => "a super role".to_owned(),
            [] => "none that the schema declares".to_owned(),
            roles => roles.join(", "),
        };
        let table = RightsTable::new(self.shared.api.soml(), &access);
        Some(format!("Roles that apply: {roles}\n\n{table}"))
    }

    /// Executes a request.
    ///
    /// Never fails as a call: whatever goes wrong is in the answer. Must be called within a Tokio
    /// runtime, since longer work moves off the async workers.
    pub async fn execute(&self, request: Request, context: RequestContext) -> Response {
        let job = Job::new(&self.shared, request, context);
        job.run(|executed| executed.reply.into_response()).await
    }

    /// Executes a request and explains how, whatever the options and the schema say about explanations.
    /// What a mutation writes is rolled back, as with `dryRun`.
    ///
    /// Intended for embedding programs and tools; clients request `extensions.explain`, which the
    /// service may refuse.
    pub async fn explain(&self, request: Request, context: RequestContext) -> Explained {
        let job = Job::new(&self.shared, request, context).explaining();
        let form = |executed: Executed| Explained {
            response: executed.reply.into_response(),
            explanation: executed.explanation,
        };
        job.run(form).await
    }
}

#[async_trait]
impl Service for ObjectService {
    fn schema(&self) -> &Valid<Schema> {
        self.shared.api.schema()
    }

    async fn reply(&self, request: Request, context: RequestContext) -> Reply {
        let job = Job::new(&self.shared, request, context);
        job.run(|executed| executed.reply).await
    }

    async fn respond(&self, request: Request, context: RequestContext) -> Response {
        self.execute(request, context).await
    }
}

/// Warns about schema keys that are accepted but have no effect.
fn report_unenforced(schema: &soml_core::schema::Schema, options: &ServiceOptions) {
    let any_property =
        |holds: fn(&soml_core::schema::Property) -> bool| schema.properties.iter().any(holds);
    let any_object =
        |holds: fn(&soml_core::schema::Object) -> bool| schema.objects.iter().any(holds);
    let asked = [
        (
            "rbac",
            !schema.rbac.roles.is_empty() && !options.roles_enforced,
        ),
        (
            "sparqlFederatedService",
            any_object(|o| o.sparql_federated_service.is_some())
                || any_property(|p| p.sparql_federated_service.is_some()),
        ),
        ("compactErrorMessages", schema.config.compact_error_messages),
        (
            "defaultIntegrationRole",
            schema.config.default_integration_role != Config::default().default_integration_role,
        ),
    ];
    if options.roles_enforced && schema.rbac.roles.is_empty() {
        tracing::warn!(
            schema = %schema.id,
            "the schema declares no roles, so only superusers can read anything"
        );
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
            "the schema uses keys that are accepted but have no effect"
        );
    }
}

/// Returns which property is meant where an entry gives `name`, which is only read.
fn meant_fields(api: &Api) -> MeantFields {
    let mut meant = MeantFields::default();
    for (input, ty) in &api.schema().types {
        let ExtendedType::InputObject(fields) = ty else {
            continue;
        };
        let mut named = ["_Create_Input", "_Update_Input"].into_iter();
        let named = named.find_map(|suffix| input.strip_suffix(suffix));
        let object = named.and_then(|name| api.type_ref(name)?.object());
        let Some(property) = object.and_then(|object| api.soml()[object].name_property) else {
            continue;
        };
        let property = &api.soml()[property].name.graphql;
        if fields.fields.contains_key(property.as_str()) {
            meant.add(input.as_str(), "name", property.as_str());
        }
    }
    meant
}
