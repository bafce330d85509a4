//! An axum program that has the object service, the search service and the gateway over both below paths of their own, beside a
//! route of its own. Every request to the services needs a token.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use gateway_service::{GatewayApp, GatewayAppOptions, GatewayParts, Subgraph};
use graph_store::GraphStore;
use graph_store::image::{ImageBuilder, ImageStore};
use graphql_gen::typesystem::{ApiOptions, FederationMode};
use object_engine::ServiceOptions;
use object_service::{App, AppOptions};
use oxrdfio::{RdfFormat, RdfParser};
use schema_registry::{Expected, InMemorySchemaStore, SchemaStore};
use search_service::{Engines, SearchApp, SearchOptions, SearchParts, Storage};
use service_auth::{Key, Verifier, VerifierOptions};
use service_runtime::{HostState, Running, Serve};

const SCHEMA: &str = "
id: /soml/books
specialPrefixes: {vocab_iri: 'http://example.org/', vocab_prefix: ex}
objects:
  Book:
    search: {index: yes}
    props: {title: {}, pages: {range: integer}}
rbac:
  roles:
    Default: {actions: ['*/*/read']}
    Librarian: {actions: ['*/*/*']}
";

const DATA: &str = "
@prefix ex: <http://example.org/> .
ex:1 a ex:Book ; ex:title 'A History of Lighthouses' ; ex:pages 212 .
ex:2 a ex:Book ; ex:title 'Tides' ; ex:pages 96 .
";

/// The program: its routes, and what runs as long as they are served.
pub struct Program {
    /// The routes.
    pub routes: Router,
    objects: Running<App>,
    searches: Running<SearchApp>,
    gateway: Running<GatewayApp>,
}

impl Program {
    /// Makes the services and mounts them. Tokens are signed with the secret, and for the audience `books`.
    pub async fn new(secret: &[u8]) -> Result<Self, Box<dyn Error>> {
        let mut tokens = VerifierOptions::default();
        tokens.audiences = vec!["books".to_owned()];
        let verifier = Verifier::without_keys(&tokens).with_keys([Key::hmac(secret)]);
        let verifier = Some(Arc::new(verifier));
        // What all requests share, whichever service they are for.
        let resources = HostState::default().resources;
        let host = |name: &str| {
            let mut options = HostState::default().options;
            options.name = name.to_owned();
            HostState::new(options, resources.clone()).with_verifier(verifier.clone())
        };
        let store: Arc<dyn GraphStore> = Arc::new(data()?);
        let schemas: Arc<dyn SchemaStore> = Arc::new(InMemorySchemaStore::default());

        let api = ApiOptions::default().with_federation(FederationMode::V1);
        let options = AppOptions {
            service: ServiceOptions::default().with_api(api),
            ..AppOptions::default()
        };
        let objects = App::new(host("objects"), options, store.clone(), schemas.clone());
        let objects = Arc::new(objects);
        let (stored, _) = objects.store_schema(SCHEMA).await?;
        objects.bind(&stored.id, &Expected::default(), None).await?;

        let searches = Arc::new(SearchApp::new(SearchParts {
            host: host("searches"),
            options: SearchOptions::default(),
            schemas,
            data: Some(store),
            engines: Engines::embedded(&Storage::Memory)?,
            storage: Storage::Memory,
        }));
        searches.start_with(&stored.id, None).await?;
        searches.settled(Duration::from_secs(60)).await;

        let gateway = Arc::new(GatewayApp::new(GatewayParts {
            host: host("gateway"),
            options: GatewayAppOptions::default(),
            local: vec![
                Subgraph::hosted("objects", Arc::clone(&objects)),
                Subgraph::hosted("searches", Arc::clone(&searches)),
            ],
            requires_tokens: true,
            log_in: None,
            query: None,
        })?);
        gateway.start().await?;

        let routes = Router::new()
            .route("/", get(async || "three services"))
            .nest("/objects", objects.routes().into())
            .nest("/searches", searches.routes().into())
            .nest("/kg/all", gateway.routes().into());
        Ok(Program {
            routes,
            objects: Running::begin(objects),
            searches: Running::begin(searches),
            gateway: Running::begin(gateway),
        })
    }

    /// Ends what runs beside the requests; each service after those that ask it.
    pub async fn end(self) {
        self.gateway.end().await;
        self.searches.end().await;
        self.objects.end().await;
    }
}

fn data() -> Result<ImageStore, Box<dyn Error>> {
    let mut image = ImageBuilder::new();
    for quad in RdfParser::from_format(RdfFormat::Turtle).for_slice(DATA) {
        image.add(quad?.as_ref())?;
    }
    Ok(ImageStore::new(image.build()?))
}
