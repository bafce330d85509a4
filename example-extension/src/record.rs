//! What the service says about its own state.

use axum::Json;
use serde_json::{Value, json};

/// It holds all that it needs, so it is good as soon as it answers.
pub(crate) async fn good_to_go() -> Json<Value> {
    Json(json!({ "gtg": "OK" }))
}

pub(crate) async fn health() -> Json<Value> {
    Json(json!({
        "status": "OK",
        "id": "extension",
        "name": "Extension service",
        "type": "graphql",
        "impact": "Masses and calculated gravities of planets, and fleets, are missing.",
        "description": "Planets and fleets",
        "message": "The service answers.",
        "healthChecks": [],
    }))
}
