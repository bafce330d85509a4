//! The extension service of the demo, in this process.

use std::sync::Arc;

use apollo_compiler::Schema;
use apollo_compiler::validation::Valid;
use async_graphql::{ServerError, Variables};
use async_trait::async_trait;
use example_extension::ExtensionSchema;
use gateway_service::LocalSubgraph;
use graphql_service::error::{GraphqlError, PathSegment};
use graphql_service::{Answer, Reply, Request, RequestContext, Service, code};
use service_runtime::HealthRecord;

/// An extension service: planets get further fields, and there are fleets.
pub(crate) struct Extension {
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
    pub(crate) fn new() -> Self {
        let schema = example_extension::schema();
        let sdl = Schema::parse_and_validate(schema.sdl(), "extension.graphql")
            .expect("async-graphql prints valid schemas");
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
        if request.digits.has_stand_ins() {
            let message =
                "a number in the variables is out of the range that this service can hold";
            return Reply::Refused(vec![GraphqlError::new(code::VARIABLE_INVALID, message)]);
        }
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
        let errors = response.errors.into_iter().map(error_of);
        match serde_json::to_vec(&response.data) {
            Ok(data) => Reply::Executed(Answer::new(data, errors.collect())),
            Err(_) => Reply::internal_error(),
        }
    }
}

/// Returns an error of the example with its path.
fn error_of(error: ServerError) -> GraphqlError {
    let path = error.path.into_iter().map(|segment| match segment {
        async_graphql::PathSegment::Field(key) => PathSegment::Key(key),
        async_graphql::PathSegment::Index(index) => PathSegment::Index(index),
    });
    GraphqlError::new(code::INTERNAL, error.message).on(path.collect())
}

#[cfg(test)]
mod tests {
    use async_graphql::PathSegment::{Field, Index};
    use graphql_service::Limits;
    use serde_json::{Value, json};

    use super::*;

    /// Asks for the gravity of a planet whose diameter is written as it is given.
    async fn gravity(diameter: &str) -> Value {
        let query = "query ($planets: [_Any!]!) {
            _entities(representations: $planets) { ... on Planet { calculatedGravity } } }";
        let planet = format!(
            r#"{{"__typename": "Planet", "id": "https://swapi.co/resource/planet/1", "diameter": {diameter}}}"#
        );
        let request = Request::new(query);
        let variables = format!(r#"{{"planets": [{planet}]}}"#);
        let request = request.with_variables_from_json(&variables, &Limits::default());
        let extension = Extension::new().service;
        let response = extension.respond(request.unwrap(), RequestContext::new());
        serde_json::from_slice(&response.await.body.to_bytes()).unwrap()
    }

    #[tokio::test]
    async fn a_number_that_is_out_of_range_is_refused() {
        for diameter in ["1e400", "-1e400"] {
            let answer = gravity(diameter).await;
            let error = &answer["errors"][0];
            assert_eq!(error["extensions"]["code"], json!("VARIABLE_INVALID"));
            let message = error["message"].as_str().unwrap();
            assert!(message.contains("out of the range"), "{message}");
        }
        let answer = gravity("10465").await;
        let gravity = &answer["data"]["_entities"][0]["calculatedGravity"];
        assert!(gravity.is_number(), "{answer}");
    }

    #[test]
    fn an_error_keeps_its_path() {
        let mut error = ServerError::new("no such planet", None);
        error.path = vec![Field("_entities".to_owned()), Index(0)];
        let expected = [
            PathSegment::Key("_entities".to_owned()),
            PathSegment::Index(0),
        ];
        assert_eq!(error_of(error).path, expected);
    }
}
