//! smoke
use graphql_gen::request::{Request, RequestContext};
use graphql_gen::service::{ObjectService, ServiceOptions};
use graphql_gen::store::oxigraph::OxigraphStore;
use oxigraph::io::RdfFormat;
use oxigraph::store::Store;
use std::sync::Arc;

#[tokio::test]
async fn smoke() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../servers/demo/star-wars");
    let yaml = std::fs::read_to_string(format!("{dir}/schema.yaml")).unwrap();
    let loaded = soml_core::load(&yaml);
    let schema = loaded.schema.expect("valid");
    let store = Store::new().unwrap();
    store
        .load_from_slice(
            RdfFormat::Turtle,
            std::fs::read(format!("{dir}/data.ttl")).unwrap().as_slice(),
        )
        .unwrap();
    let service = ObjectService::new(
        Arc::new(schema),
        Arc::new(OxigraphStore::new(store)),
        ServiceOptions::default(),
    )
    .unwrap();
    let queries = std::env::var("Q").unwrap_or_else(|_| {
        r#"{ starship(ID: "https://swapi.co/resource/starship/9") { name } }"#.into()
    });
    for q in queries.split(";;") {
        let t = std::time::Instant::now();
        let r = service
            .execute(Request::new(q), RequestContext::default())
            .await;
        let s = String::from_utf8_lossy(&r.body).to_string();
        println!("{:?} {}", t.elapsed(), &s[..s.len().min(1500)]);
    }
}
