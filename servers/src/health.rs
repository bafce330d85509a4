//! Health checks of the service.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use graphql_gen::request::{Request, RequestContext};
use serde::Serialize;

use crate::app::App;

/// Time for a check; a store that is slower than this is not fit to serve.
const CHECK_TIME: Duration = Duration::from_secs(5);

/// The status of the service or of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// Works.
    Ok,
    /// Works, but needs attention.
    Warning,
    /// Does not work.
    Error,
}

/// A health record, with those of its checks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HealthRecord {
    /// The status.
    pub status: Status,
    /// Identifier of the check, which never changes.
    pub id: String,
    /// Display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What kind of component was checked.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The effect on clients, if the status is not `OK`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub impact: Option<&'static str>,
    /// Path of the troubleshooting advice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub troubleshooting: Option<String>,
    /// What is checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<&'static str>,
    /// What was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The individual checks.
    pub health_checks: Vec<HealthRecord>,
}

/// A check that the service makes of itself.
pub(crate) struct Check {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    kind: &'static str,
    description: &'static str,
    impact: &'static str,
    /// What to do, for `/__trouble`.
    pub(crate) remedy: &'static str,
}

pub(crate) const STORE: Check = Check {
    id: "1200",
    name: "SPARQL",
    kind: "sparql",
    description: "The data store responds and is not empty.",
    impact: "Queries fail or return nothing.",
    remedy: "Look in the log for the cause. A SPARQL server must respond at \
             `sparql.endpoint.address`. If the store is empty, load data: with `--data` into the \
             embedded store, otherwise with the tools of the server.",
};

pub(crate) const SCHEMA: Check = Check {
    id: "1300",
    name: "SOML",
    kind: "soml",
    description: "A schema is bound to the service.",
    impact: "GraphQL requests are answered with 503 SCHEMA_NOT_BOUND.",
    remedy: "Store a schema with `POST /soml` and bind it with `PUT /soml/{id}/objects`; or start \
             the service with `--schema FILE`.",
};

pub(crate) const QUERY: Check = Check {
    id: "1400",
    name: "Query service",
    kind: "queryService",
    description: "The service answers a GraphQL query.",
    impact: "GraphQL requests fail.",
    remedy: "Checks 1200 and 1300 show the cause in most cases; otherwise look in the log.",
};

pub(crate) const CHECKS: &[Check] = &[STORE, SCHEMA, QUERY];

impl Check {
    fn record(&self, status: Status, message: String) -> HealthRecord {
        let failed = status != Status::Ok;
        HealthRecord {
            status,
            id: self.id.to_owned(),
            name: Some(self.name.to_owned()),
            kind: self.kind,
            impact: failed.then_some(self.impact),
            troubleshooting: failed.then(|| format!("/__trouble#{}", self.id)),
            description: Some(self.description),
            message: Some(message),
            health_checks: Vec::new(),
        }
    }
}

/// The last health record, for as long as it is fresh enough.
#[derive(Debug)]
pub(crate) struct HealthCache {
    time: Duration,
    last: Mutex<Option<(Instant, HealthRecord)>>,
}

impl HealthCache {
    pub(crate) fn new(time: Duration) -> Self {
        HealthCache {
            time,
            last: Mutex::default(),
        }
    }

    /// Makes the next record a fresh one.
    pub(crate) fn forget(&self) {
        self.set(None);
    }

    fn get(&self) -> Option<HealthRecord> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, record) = last.as_ref()?;
        (at.elapsed() < self.time).then(|| record.clone())
    }

    fn set(&self, last: Option<(Instant, HealthRecord)>) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = last;
    }
}

/// Returns the health of the service, from the cache when that is allowed and fresh.
pub(crate) async fn health(app: &App, cached: bool) -> HealthRecord {
    if let Some(record) = cached.then(|| app.health.get()).flatten() {
        return record;
    }
    let record = fresh(app).await;
    app.health.set(Some((Instant::now(), record.clone())));
    record
}

async fn fresh(app: &App) -> HealthRecord {
    let store = check_store(app).await;
    let schema = check_schema(app);
    let checks = vec![store, schema, check_query(app).await];
    let status = checks
        .iter()
        .map(|check| check.status)
        .max()
        .unwrap_or(Status::Ok);
    HealthRecord {
        status,
        id: app.settings.name.clone(),
        name: Some(app.settings.name.clone()),
        kind: "graphql",
        impact: None,
        troubleshooting: None,
        description: None,
        message: None,
        health_checks: checks,
    }
}

async fn check_store(app: &App) -> HealthRecord {
    let time = CHECK_TIME.max(app.settings.sparql.health_check_timeout);
    let context = context(time);
    let (status, message) = match tokio::time::timeout(time, app.store.probe(&context)).await {
        Ok(Ok(info)) if info.statements == Some(0) => (
            Status::Warning,
            format!("the {} store is empty", info.provider),
        ),
        Ok(Ok(info)) => (Status::Ok, format!("the {} store answers", info.provider)),
        Ok(Err(error)) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the store failed its check"
            );
            (Status::Error, "the store does not respond".to_owned())
        }
        Err(_) => (
            Status::Error,
            "the store did not respond in time".to_owned(),
        ),
    };
    STORE.record(status, message)
}

fn check_schema(app: &App) -> HealthRecord {
    match app.bound() {
        Some(bound) => SCHEMA.record(Status::Ok, format!("schema `{}` is bound", bound.id)),
        None => SCHEMA.record(Status::Error, "no schema is bound".to_owned()),
    }
}

async fn check_query(app: &App) -> HealthRecord {
    let failed = |message: &str| QUERY.record(Status::Error, message.to_owned());
    if app.is_draining() {
        return failed("the service is shutting down");
    }
    let Some(bound) = app.bound() else {
        return failed("no schema is bound");
    };
    let query = bound
        .service
        .execute(Request::new("{ __typename }"), context(CHECK_TIME));
    match tokio::time::timeout(CHECK_TIME, query).await {
        Ok(response) if response.body.starts_with(br#"{"data""#) => {
            QUERY.record(Status::Ok, "a query was answered".to_owned())
        }
        Ok(_) => failed("a query returned errors"),
        Err(_) => failed("a query was not answered in time"),
    }
}

fn context(time: Duration) -> RequestContext {
    RequestContext {
        deadline: Some(Instant::now() + time),
        ..RequestContext::default()
    }
}
