//! The extension service of the demo, in this process.

use std::sync::Arc;

use apollo_compiler::Schema;
use apollo_compiler::validation::Valid;
use async_graphql::Variables;
use async_trait::async_trait;
use example_extension::ExtensionSchema;
use graphql_service::error::GraphqlError;
use graphql_service::{Answer, Reply, Request, RequestContext, Service, code};

use super::local::LocalSubgraph;
use crate::health_record::HealthRecord;

/// An extension service: planets get further fields, and there are fleets.
pub struct Extension {
    service: Arc<Served>,
}

struct Served {
    schema: ExtensionSchema,
    sdl: Valid<Schema>,
}

impl Extension {
    /// Makes the service.
    ///
    /// # Panics
    /// When the schema of the example is not valid.
    #[must_use]
    pub fn new() -> Self {
        let schema = example_extension::schema();
        let sdl = Schema::parse_and_validate(schema.sdl(), "extension.graphql");
        let sdl = sdl.expect("async-graphql prints valid schemas");
        Extension {
            service: Arc::new(Served { schema, sdl }),
        }
    }
}

impl Default for Extension {
    fn default() -> Self {
        Extension::new()
    }
}

#[async_trait]
impl LocalSubgraph for Extension {
    async fn service(&self) -> Option<Arc<dyn Service>> {
        Some(Arc::clone(&self.service) as Arc<dyn Service>)
    }

    async fn health(&self, _cached: bool) -> HealthRecord {
        HealthRecord {
            name: Some("Extension service".to_owned()),
            message: "the service answers".to_owned(),
            ..HealthRecord::of_service("extension", "graphql", "Planets and fleets.", Vec::new())
        }
    }

    async fn obstacle(&self) -> Option<String> {
        None
    }
}

#[async_trait]
impl Service for Served {
    fn schema(&self) -> &Valid<Schema> {
        &self.sdl
    }

    async fn reply(&self, request: Request, _context: RequestContext) -> Reply {
        let variables = request.variables.unwrap_or_default();
        let Ok(variables) = serde_json::to_value(&variables) else {
            return Reply::internal_error();
        };
        let mut asked = async_graphql::Request::new(request.query);
        asked = asked.variables(Variables::from_json(variables));
        if let Some(name) = request.operation_name {
            asked = asked.operation_name(name);
        }
        let response = self.schema.execute(asked).await;
        let errors = response.errors.into_iter();
        let errors = errors.map(|error| GraphqlError::new(code::INTERNAL, error.message));
        match serde_json::to_vec(&response.data) {
            Ok(data) => Reply::Executed(Answer::new(data, errors.collect())),
            Err(_) => Reply::internal_error(),
        }
    }
}
