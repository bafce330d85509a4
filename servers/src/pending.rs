//! Stand-ins for what the library is about to have; removed before this is merged.
#![allow(missing_docs, reason = "temporary")]
use std::sync::Arc;

use async_trait::async_trait;
use graphql_gen::limits::Limits;
use graphql_gen::request::{Outcome, Request, RequestContext, Response};
use graphql_gen::typesystem::ApiError;
use soml_core::{Schema, Valid};

#[derive(Clone, Debug, Default)]
pub struct ServiceOptions {
    pub limits: Limits,
}

pub struct ObjectService;

impl ObjectService {
    pub fn new(
        _schema: Arc<Valid<Schema>>,
        _store: Arc<dyn GraphStore>,
        _options: ServiceOptions,
    ) -> Result<Self, ApiError> {
        Ok(ObjectService)
    }

    pub async fn execute(&self, _request: Request, _context: RequestContext) -> Response {
        Response {
            body: r#"{"data":{}}"#.into(),
            outcome: Outcome::Executed,
        }
    }
}

#[derive(Debug)]
pub struct StoreInfo {
    pub provider: String,
    pub statements: Option<u64>,
}

#[async_trait]
pub trait GraphStore: Send + Sync + 'static {
    async fn probe(&self, context: &RequestContext) -> Result<StoreInfo, std::io::Error>;
}

pub struct OxigraphStore(oxigraph::store::Store);

impl OxigraphStore {
    pub fn new(store: oxigraph::store::Store) -> Self {
        OxigraphStore(store)
    }
}

#[async_trait]
impl GraphStore for OxigraphStore {
    async fn probe(&self, _context: &RequestContext) -> Result<StoreInfo, std::io::Error> {
        Ok(StoreInfo {
            provider: "in-memory".into(),
            statements: self.0.len().ok().map(|n| n as u64),
        })
    }
}
