//! A federated service in one file: what to visit on the planets of the demo, and what to pack.

use async_graphql::{EmptyMutation, EmptySubscription, ID, Object, Request, Response, Schema};
use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};

type TravelSchema = Schema<Query, EmptyMutation, EmptySubscription>;

// The planet of the object service. It must not have a documentation comment.
struct Planet {
    id: ID,
    climate: Option<String>,
}

#[Object(extends)]
impl Planet {
    // What belongs to the other service: the key, and what a field below requires.
    #[graphql(external)]
    async fn id(&self) -> &ID {
        &self.id
    }

    #[graphql(external)]
    async fn climate(&self) -> Option<&str> {
        self.climate.as_deref()
    }

    /// Sights worth a visit
    async fn sights(&self) -> Vec<&'static str> {
        match self.id.rsplit('/').next() {
            Some("1") => vec!["Mos Eisley", "Jundland Wastes"],
            Some("10") => vec!["Tipoca City"],
            _ => vec![],
        }
    }

    /// What to pack, by the climate that the object service knows
    #[graphql(requires = "climate")]
    async fn packing(&self) -> Option<&'static str> {
        let climate = self.climate.as_deref()?;
        Some(if climate.contains("arid") {
            "water and a hat"
        } else {
            "a coat"
        })
    }
}

struct Query;

#[Object]
impl Query {
    /// Where to go next: this service knows the key, the gateway finds the rest
    async fn next_trip(&self) -> Planet {
        let id = ID("https://swapi.co/resource/planet/1".to_owned());
        Planet { id, climate: None }
    }

    // The gateway asks for planets by their key,
    #[graphql(entity)]
    async fn planet_by_id(&self, id: ID) -> Planet {
        Planet { id, climate: None }
    }

    // and sends along what `packing` requires.
    #[graphql(entity)]
    async fn planet_with_climate(&self, #[graphql(key)] id: ID, climate: Option<String>) -> Planet {
        Planet { id, climate }
    }
}

async fn answer(
    State(schema): State<TravelSchema>,
    Json(request): Json<Request>,
) -> Json<Response> {
    Json(schema.execute(request).await)
}

pub(crate) fn router() -> Router {
    let schema = Schema::build(Query, EmptyMutation, EmptySubscription);
    let schema = schema.enable_federation().finish();
    Router::new()
        .route("/graphql", post(answer))
        .with_state(schema)
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:4000").await?;
    axum::serve(listener, router()).await
}
