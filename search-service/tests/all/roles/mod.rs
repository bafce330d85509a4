//! Searches that obey roles: what a caller may not see makes no difference to anything that is answered, and nothing else is
//! hidden.

mod cases;
mod generate;
mod places;
mod queries;
mod two_worlds;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use federation::compose::{ComposeOptions, SubgraphSource, compose};
use federation::{Gateway, GatewayOptions, InProcess, Supergraph};
use graph_store::CallContext;
use graph_store::image::ImageStore;
use graphql_service::{Caller, Request, RequestContext, Service};
use object_engine::graphql_gen::typesystem::{ApiOptions, FederationMode};
use object_engine::{ObjectService, ServiceOptions};
use search_index::embedded::EmbeddedEngine;
use search_index::engine::{Binding, BulkOperation, Engine, PhysicalName};
use search_index::mapping::{Indexes, MappingOptions, Owner};
use search_index::read::DocumentReader;
use search_index::sdl::SearchApi;
use search_index::service::{SearchService, SearchServiceOptions, SearchTarget};
use search_service::Roles;
use serde_json::{Map, Value};
use soml_core::Valid;

/// Somebody who asks.
#[derive(Clone, Debug)]
struct Asker {
    roles: Vec<String>,
    claims: Map<String, Value>,
}

impl Asker {
    fn new(roles: &[&str], claims: &Value) -> Self {
        Asker {
            roles: roles.iter().map(|role| (*role).to_owned()).collect(),
            claims: claims.as_object().cloned().unwrap_or_default(),
        }
    }

    fn context(&self) -> RequestContext {
        let mut caller = Caller::with_roles(self.roles.iter().map(String::as_str));
        caller.claims = self.claims.clone();
        RequestContext::new().with_caller(Arc::new(caller))
    }
}

/// Data behind an object service and behind searches.
struct Served {
    objects: ObjectService,
    searches: SearchService,
    subgraph: SearchService,
    /// Both behind a gateway.
    gateway: Gateway,
    engine: Engine,
}

/// Numbers of indexes, each used once.
static NUMBER: AtomicU64 = AtomicU64::new(1);

impl Served {
    async fn new(soml: &Arc<Valid<soml_core::Schema>>, data: &str, engine: &Engine) -> Self {
        let store = test_support::images::from_turtle(data);
        let roles = Roles::of(soml).expect("there is an API");
        let mapping = roles.mapping(soml, &MappingOptions::default());
        let indexes = Indexes::new(soml, &mapping).expect("it can be searched");
        let targets = built(soml, &indexes, &store, engine).await;
        let api = SearchApi::new(Arc::clone(soml), indexes.clone()).expect("there is an API");
        let options = SearchServiceOptions::default().with_rules(Arc::new(roles));
        let searches = SearchService::new(api, Arc::clone(engine), targets, options.clone());
        let api = SearchApi::subgraph(Arc::clone(soml), indexes).expect("there is an API");
        let subgraph = searches.beside(api.nullable_where_denied(), options);
        let objects = over(soml, store);
        Served {
            gateway: gateway(&objects, &subgraph),
            objects,
            searches,
            subgraph,
            engine: Arc::clone(engine),
        }
    }

    async fn object(&self, asker: &Asker, query: &str) -> Value {
        answer(&self.objects, asker, query).await
    }

    async fn search(&self, asker: &Asker, query: &str) -> Value {
        answer(&self.searches, asker, query).await
    }

    async fn through_gateway(&self, asker: &Asker, query: &str) -> Value {
        answer(&self.gateway, asker, query).await
    }

    async fn end(self) {
        for target in &**self.searches.targets() {
            if let SearchTarget::Ready(name) = target {
                let deleted = self.engine.delete(name, &CallContext::new()).await;
                deleted.expect("deleted");
            }
        }
    }
}

/// Returns an object service over some data.
fn objects(soml: &Arc<Valid<soml_core::Schema>>, data: &str) -> ObjectService {
    over(soml, test_support::images::from_turtle(data))
}

fn over(soml: &Arc<Valid<soml_core::Schema>>, store: ImageStore) -> ObjectService {
    let api = ApiOptions::default().with_federation(FederationMode::V1);
    let options = ServiceOptions::default().with_api(api);
    let enforced = options.with_roles_enforced(true);
    let service = ObjectService::new(Arc::clone(soml), Arc::new(store), enforced);
    service.expect("there is an API")
}

/// Puts an object service and searches of its objects behind a gateway.
fn gateway(objects: &ObjectService, searches: &SearchService) -> Gateway {
    let source = |name: &str, sdl: String| SubgraphSource {
        name: name.to_owned(),
        url: String::new(),
        sdl,
    };
    let sdls = [
        source("objects", objects.api().service_sdl().expect("a subgraph")),
        source(
            "searches",
            searches.api().service_sdl().expect("a subgraph").to_owned(),
        ),
    ];
    let composed = compose(&sdls, &ComposeOptions::default());
    let composed = composed.unwrap_or_else(|errors| panic!("{errors:#?}"));
    let supergraph = Supergraph::parse(&composed.supergraph_sdl, "supergraph.graphql");
    let supergraph = supergraph.unwrap_or_else(|errors| panic!("{errors:#?}"));
    let transport = InProcess::new()
        .with("objects", Arc::new(objects.clone()))
        .with("searches", Arc::new(searches.clone()));
    let options = GatewayOptions::default();
    Gateway::new(Arc::new(supergraph), Arc::new(transport), options).expect("it fits")
}

async fn built(
    soml: &Valid<soml_core::Schema>,
    indexes: &Indexes,
    store: &ImageStore,
    engine: &Engine,
) -> Vec<SearchTarget> {
    let context = CallContext::new();
    let mut targets = Vec::new();
    for definition in &indexes.indexes {
        let name = PhysicalName::new(definition, NUMBER.fetch_add(1, Ordering::Relaxed));
        let index = Binding {
            definition,
            name: &name,
        };
        engine.delete(&name, &context).await.expect("deleted");
        let owner = Owner::new("roles");
        engine
            .create(index, &owner, &context)
            .await
            .expect("created");
        let reader = DocumentReader::new(soml, definition, store);
        let ids = reader.ids(&context).await.expect("ids");
        let documents = reader.documents(&ids, &context).await.expect("documents");
        let operations = BulkOperation::all(documents);
        let rejected = engine.bulk(index, &operations, 0, &context).await;
        assert_eq!(rejected.expect("written"), []);
        engine.refresh(&name, &context).await.expect("refreshed");
        targets.push(SearchTarget::Ready(name));
    }
    targets
}

async fn answer(service: &dyn Service, asker: &Asker, query: &str) -> Value {
    let response = service.respond(Request::new(query), asker.context()).await;
    let bytes = response.body.to_bytes();
    serde_json::from_slice(&bytes).expect("JSON")
}

fn schema(text: &str) -> Arc<Valid<soml_core::Schema>> {
    let loaded = soml_core::load(text);
    let found = || format!("{:#?}\n{text}", loaded.diagnostics);
    Arc::new(
        loaded
            .schema
            .clone()
            .unwrap_or_else(|| panic!("{}", found())),
    )
}

fn embedded() -> Engine {
    Arc::new(EmbeddedEngine::in_memory().expect("memory"))
}
