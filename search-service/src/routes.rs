//! `/soml` of the search service: checking schemas, binding and unbinding them, and what there is to
//! know of their indexes.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use graphql_http::{HttpError, Sender};
use graphql_service::GraphqlError;
use schema_registry::{Expected, SchemaStoreError};
use search_index::engine::EngineError;
use search_index::indexer::{IndexerError, MalformedValues};
use serde_json::json;
use service_auth::rights::{Manager, Part};
use service_runtime::preconditions::expected;
use service_runtime::schemas::{
    answer, refused, rendered, report, store_error, stored_report, yaml,
};
use service_runtime::schemas::{audit, forbidden};
use soml_core::rbac::Operation;

use super::app::SearchApp;
use super::code;
use super::error::SearchChangeError;
use super::refreshed::RefreshError;

/// `POST /soml/validate`: checks a schema and stores nothing.
pub(super) async fn validate(
    State(app): State<Arc<SearchApp>>,
    request: Request,
) -> Result<Response, Response> {
    let text: Arc<str> = yaml(app.as_ref(), request)
        .await
        .map_err(IntoResponse::into_response)?
        .into();
    let checked_text = Arc::clone(&text);
    let checked = app.check(&text, move |found| {
        let document = report(found.id.as_deref(), &checked_text, &found.checked);
        answer(StatusCode::OK, document, None)
    });
    match checked.await {
        Ok(response) => Ok(response),
        Err(error) => Err(change_error(&app, error, &text).await),
    }
}

/// `GET /soml/info`: the indexes of the bound schema.
pub(super) async fn info(
    State(app): State<Arc<SearchApp>>,
    Extension(manager): Extension<Manager>,
) -> Result<Response, HttpError> {
    let bound = app.bound().ok_or_else(HttpError::schema_not_bound)?;
    if !manager.may(&bound.id, Part::Binding, Operation::Read) {
        return Err(forbidden());
    }
    let info = app.info().await.ok_or_else(HttpError::schema_not_bound)?;
    let headers = [(CACHE_CONTROL, HeaderValue::from_static("no-store"))];
    Ok((headers, Json(info)).into_response())
}

/// `PUT /soml/{id}/search`: binds a stored schema to the search service.
pub(super) async fn bind(
    State(app): State<Arc<SearchApp>>,
    Path(id): Path<String>,
    sender: Sender,
    headers: HeaderMap,
) -> Result<Response, Response> {
    let expected = expected(&headers).map_err(IntoResponse::into_response)?;
    // A client that goes away leaves nothing half done.
    let task = {
        let (app, id) = (Arc::clone(&app), id.clone());
        tokio::spawn(async move { app.bind(&id, &expected, None).await })
    };
    let bound = task
        .await
        .map_err(|_| HttpError::internal().into_response())?;
    match bound {
        Ok((stored, checked)) => {
            audit(&sender, "bind to search", &id, "");
            let bytes = stored.text.len();
            let render = move || stored_report(StatusCode::OK, &stored, &checked, true);
            Ok(rendered(app.as_ref(), bytes, render).await)
        }
        Err(error) => {
            let text = match &error {
                SearchChangeError::Invalid(_) => app.schemas.get(&id).await.ok().flatten(),
                _ => None,
            };
            let text = text.map(|stored| stored.text).unwrap_or_default();
            Err(change_error(&app, error, &text).await)
        }
    }
}

/// `DELETE /soml/{id}/search`: unbinds; a schema that is not bound stays so.
pub(super) async fn unbind(
    State(app): State<Arc<SearchApp>>,
    Path(id): Path<String>,
    sender: Sender,
    headers: HeaderMap,
) -> Result<StatusCode, Response> {
    let expected = expected(&headers).map_err(IntoResponse::into_response)?;
    // A client that goes away leaves nothing half done.
    let task = {
        let (app, id) = (Arc::clone(&app), id.clone());
        tokio::spawn(async move { app.unbind(&id, &expected).await })
    };
    let unbound = task
        .await
        .map_err(|_| HttpError::internal().into_response())?;
    match unbound {
        Ok(()) => {
            audit(&sender, "unbind from search", &id, "");
            Ok(StatusCode::NO_CONTENT)
        }
        Err(error) => Err(change_error(&app, error, "").await),
    }
}

/// `POST /soml/{id}/search/refresh`: begins to compare the indexes with the data.
pub(super) async fn refresh(
    State(app): State<Arc<SearchApp>>,
    Path(id): Path<String>,
    sender: Sender,
) -> Result<Response, HttpError> {
    let stored = app.stored(&id, &Expected::default()).await;
    if let Err(error) = stored {
        return Err(store_error(error));
    }
    match app.refresh(&id) {
        Ok(()) => {
            audit(&sender, "refresh the indexes of", &id, "");
            Ok((
                StatusCode::ACCEPTED,
                Json(json!({ "refresh": app.refresh_info() })),
            )
                .into_response())
        }
        Err(error @ RefreshError::NotSearched) => {
            Err(HttpError::new(code::SCHEMA_NOT_SEARCHED, error.to_string()))
        }
        Err(error @ RefreshError::NotIndexing) => {
            Err(HttpError::new(code::INDEXING_DISABLED, error.to_string()))
        }
    }
}

async fn change_error(app: &SearchApp, error: SearchChangeError, text: &str) -> Response {
    match error {
        SearchChangeError::Invalid(checked) => refused(app, checked, text).await,
        SearchChangeError::Malformed(values) => malformed(&values),
        SearchChangeError::RolesIgnored(_) => {
            HttpError::new(code::SEARCH_IGNORES_ROLES, error.to_string()).into_response()
        }
        SearchChangeError::Superseded => {
            HttpError::new(code::BINDING_SUPERSEDED, error.to_string()).into_response()
        }
        SearchChangeError::Engine(error) => engine_error(&error).into_response(),
        SearchChangeError::Indexer(error) => indexer_error(&error).into_response(),
        SearchChangeError::NotChecked(ref setback) => {
            let code = setback.code.unwrap_or(code::INDEXING_FAILED);
            HttpError::new(code, error.to_string()).into_response()
        }
        SearchChangeError::Busy(error) => HttpError::of_slot(error).into_response(),
        SearchChangeError::Store(error @ SchemaStoreError::Failed(_))
            if app.options.reads_schemas_elsewhere =>
        {
            schemas_failed(&error).into_response()
        }
        SearchChangeError::Store(error) => store_error(error).into_response(),
    }
}

/// The answer when indexes could not be built.
fn indexer_error(error: &IndexerError) -> HttpError {
    let Some(code) = error.code() else {
        tracing::error!(
            error = error as &dyn std::error::Error,
            "the indexes could not be built"
        );
        let message = "the indexes could not be built; details are in the log";
        return HttpError::new(code::INDEXING_FAILED, message);
    };
    tracing::error!(
        error = error as &dyn std::error::Error,
        "the data could not be read"
    );
    HttpError::new(code, error.reason())
}

/// The answer when the object service that schemas are read from does not do its part.
fn schemas_failed(error: &SchemaStoreError) -> HttpError {
    tracing::error!(
        error = error as &dyn std::error::Error,
        "the schemas of the object service cannot be read"
    );
    let first = std::error::Error::source(error);
    let mut causes = std::iter::successors(first, |&cause| cause.source());
    let request = causes.find_map(|cause| cause.downcast_ref::<reqwest::Error>());
    let (code, message) = match request {
        Some(error) if error.is_timeout() => (
            code::SCHEMAS_TIMEOUT,
            "the object service with the schemas does not answer in time",
        ),
        Some(_) => (
            code::SCHEMAS_UNAVAILABLE,
            "the object service with the schemas cannot be reached",
        ),
        None => (
            code::SCHEMAS_FAILED,
            "the server at `search.soml.address` is not an object service, or refuses access",
        ),
    };
    HttpError::new(code, message)
}

fn engine_error(error: &EngineError) -> HttpError {
    tracing::error!(
        error = error as &dyn std::error::Error,
        "the search engine failed"
    );
    HttpError::new(error.code(), error.reason())
}

/// The answer when values do not fit: one error for each that is listed.
fn malformed(values: &MalformedValues) -> Response {
    let errors = values.values.iter().map(|value| {
        let message = format!(
            "<{}> has a value of `{}` that cannot be indexed: {}: {}",
            value.iri, value.path, value.value, value.reason
        );
        GraphqlError::new(code::VALUES_MALFORMED, message)
            .with("iri", value.iri.as_str())
            .with("property", value.path.as_str())
            .with("value", value.value.as_str())
    });
    let errors: Vec<_> = errors.collect();
    let body = json!({ "errors": errors, "total": values.total });
    (StatusCode::UNPROCESSABLE_ENTITY, Json(body)).into_response()
}
