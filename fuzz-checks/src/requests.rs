//! GraphQL requests over HTTP: whatever a client sends as body or as parameter is answered with a
//! GraphQL response, with an error of the service, and never with a failure of it.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, Request, StatusCode, header};
use graph_store::image::{ImageBuilder, ImageStore};
use http_body_util::BodyExt;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use object_service::{App, AppOptions};
use oxrdfio::{RdfFormat, RdfParser};
use schema_registry::{Expected, InMemorySchemaStore};
use serde_json::Value;
use service_runtime::{HostOptions, HostState, ResourceOptions, Serve, resources};
use tokio::runtime::{Builder, Runtime};

const SCHEMA: &str = "
id: /soml/fuzz
specialPrefixes: {vocab_iri: 'http://v/', vocab_prefix: v}
objects:
  Thing:
    name: v:name
    props:
      name: {}
      near: {range: Thing, max: inf}
      size: {range: decimal}
      label: {range: langString, max: inf}
";

const DATA: &str = r#"@prefix v: <http://v/> .
<http://r/1> a v:Thing ; v:name "one" ; v:near <http://r/2> ; v:size 1.5 ; v:label "l"@en .
<http://r/2> a v:Thing ; v:name "two" ; v:near <http://r/1>, <http://r/2> .
"#;

/// Sends the input as body of a request, and as variables of another.
pub fn run(input: &[u8]) {
    static SERVICE: LazyLock<Service> = LazyLock::new(Service::new);
    let post = Request::post("/graphql").header(header::CONTENT_TYPE, "application/json");
    SERVICE.send(post.body(Body::from(input.to_vec())).expect("a request"));
    let query = "query%20q($v:String){thing(where:{name:{EQ:$v}}){id}}";
    let variables: String = input.iter().map(|byte| format!("%{byte:02X}")).collect();
    let get = Request::get(format!("/graphql?query={query}&variables={variables}"));
    // There is no address of every length.
    if let Ok(get) = get.body(Body::empty()) {
        SERVICE.send(get);
    }
}

/// The service with a small schema and data.
struct Service {
    runtime: Runtime,
    routes: TowerToHyperService<Router>,
}

impl Service {
    fn new() -> Self {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let mut image = ImageBuilder::new();
        for quad in RdfParser::from_format(RdfFormat::Turtle).for_slice(DATA) {
            let quad = quad.expect("valid data");
            image.add(quad.as_ref()).expect("room for a few quads");
        }
        let options = HostOptions {
            request_timeout: Duration::from_secs(5),
            ..HostOptions::default()
        };
        let host = HostState::new(options, resources(&ResourceOptions::default()));
        let store = Arc::new(ImageStore::new(image.build().expect("an image")));
        let schemas = Arc::new(InMemorySchemaStore::default());
        let app = Arc::new(App::new(host, AppOptions::default(), store, schemas));
        runtime.block_on(async {
            let Ok((stored, _)) = app.store_schema(SCHEMA).await else {
                panic!("the schema is valid");
            };
            app.bind(&stored.id, &Expected::default(), None)
                .await
                .expect("the schema can be served");
        });
        Service {
            runtime,
            routes: TowerToHyperService::new(app.routes().into()),
        }
    }

    fn send(&self, mut request: Request<Body>) {
        let host = HeaderValue::from_static("localhost");
        request.headers_mut().insert(header::HOST, host);
        let (status, body) = self.runtime.block_on(async {
            let response = self.routes.call(request).await.expect("routes do not fail");
            let status = response.status();
            let body = response
                .into_body()
                .collect()
                .await
                .expect("the whole body");
            (status, body.to_bytes())
        });
        let text = String::from_utf8_lossy(&body);
        let allowed = [StatusCode::OK, StatusCode::BAD_REQUEST];
        assert!(allowed.contains(&status), "{status} {text}");
        assert!(
            !text.contains("HOST_MALFORMED"),
            "it never came to the service"
        );
        let answer: Value = serde_json::from_slice(&body).expect("a JSON body");
        let has = |member: &str| answer.get(member).is_some();
        assert!(has("errors") || has("data"), "{text}");
    }
}
