//! Serves GraphQL over a data file, as a SOML document describes it: `example-axum SCHEMA DATA`.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::post;
use axum::{Json, Router};
use graph_store::image::{ImageBuilder, ImageStore};
use graphql_service::{CallContext, Request, RequestContext};
use object_engine::{ObjectService, ServiceOptions};
use oxrdfio::{RdfFormat, RdfParser};

#[tokio::main]
#[expect(clippy::print_stdout, reason = "whoever starts it wants the address")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [schema, data] = arguments.as_slice() else {
        return Err("give a SOML document and a Turtle file".into());
    };
    let routes = Router::new().route("/graphql", post(graphql));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let app = routes.with_state(service(schema, data)?);
    println!("http://{}/graphql", listener.local_addr()?);
    Ok(axum::serve(listener, app).await?)
}

fn service(schema: &str, data: &str) -> Result<ObjectService, Box<dyn Error>> {
    let loaded = soml_core::load(&std::fs::read_to_string(schema)?);
    let errors: Vec<_> = loaded.errors().map(ToString::to_string).collect();
    let schema = Arc::new(loaded.schema.ok_or_else(|| errors.join("\n"))?);
    let mut image = ImageBuilder::new();
    for quad in RdfParser::from_format(RdfFormat::Turtle).for_slice(&std::fs::read(data)?) {
        image.add(quad?.as_ref())?;
    }
    let store = Arc::new(ImageStore::new(image.build()?));
    Ok(ObjectService::new(
        schema,
        store,
        ServiceOptions::default(),
    )?)
}

async fn graphql(
    State(service): State<ObjectService>,
    request: Json<Request>,
) -> impl IntoResponse {
    let context = RequestContext::from(CallContext::new().with_timeout(Duration::from_secs(30)));
    // axum drops this future when the client goes away; the work in the store then stops.
    let _cancel = context.call.cancellation.clone().drop_guard();
    let response = service.execute(request.0, context).await;
    (
        [(CONTENT_TYPE, "application/json")],
        response.body.to_bytes(),
    )
}
