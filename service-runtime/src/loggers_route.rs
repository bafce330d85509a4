//! `/__loggers`: the levels of the log, which administrators read and change while the process runs.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use graphql_http::body::{self, BodyLimits};
use graphql_http::{HttpError, Sender, code as common};

use super::code;
use super::loggers::{LevelChange, LoggerLevels, Loggers};
use super::schemas::audit;
use super::service::Host;

/// Longest body in bytes.
const LONGEST: usize = 64 << 10;

/// Answers with the levels.
pub(crate) async fn read<H: Host>(State(app): State<Arc<H>>) -> Result<Response, HttpError> {
    let loggers = of(app.as_ref())?;
    Ok(fresh(loggers.levels()))
}

/// Changes levels, and answers with all of them.
pub(crate) async fn change<H: Host>(
    State(app): State<Arc<H>>,
    sender: Sender,
    request: Request,
) -> Result<Response, HttpError> {
    let loggers = of(app.as_ref())?;
    body::require_type(request.headers(), &["application/json"])?;
    let limits = BodyLimits {
        bytes: LONGEST,
        time: app.state().options.request_timeout,
    };
    let body = body::read(request, limits, &app.state().resources).await?;
    let change: LevelChange = serde_json::from_slice(&body.text).map_err(|error| {
        let message = format!("the body is not a change of levels: {error}");
        HttpError::new(common::REQUEST_MALFORMED, message)
    })?;
    let described = described(&change);
    let levels = loggers
        .change(change)
        .map_err(|error| HttpError::new(code::LOGGER_UNKNOWN, error))?;
    audit(&sender, "change", "log levels", &described);
    Ok(fresh(levels))
}

fn of<H: Host>(app: &H) -> Result<&Arc<dyn Loggers>, HttpError> {
    let loggers = app.state().loggers.as_ref();
    loggers.ok_or_else(|| {
        let message = "the log of this process is controlled by the program that started the \
                       service";
        HttpError::new(code::PATH_NOT_FOUND, message)
    })
}

/// Describes a change by the names that were checked.
fn described(change: &LevelChange) -> String {
    let root = change.root.iter().map(|level| format!("root={level}"));
    let loggers = change.loggers.iter().map(|(name, level)| {
        let level = level.as_deref().unwrap_or("none");
        format!("{name}={level}")
    });
    root.chain(loggers).collect::<Vec<_>>().join(",")
}

fn fresh(levels: LoggerLevels) -> Response {
    let caching = [(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))];
    (caching, Json(levels)).into_response()
}
