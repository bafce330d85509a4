//! What a search service says about its own health.

use std::time::{Duration, Instant};

use graph_store::CallContext;
use search_index::engine::{Engine, EngineError, HealthLevel};
use search_index::service::Target;

use super::app::SearchApp;
use super::job::JobState;
use crate::config::Severity;
use crate::health_record::{Check, HealthRecord, INDEXER, INDEXES, SEARCH, Status};

/// What was found when the service looked after itself.
#[derive(Clone)]
pub(crate) struct Found {
    pub(crate) record: HealthRecord,
    /// The engine that searches run on answered.
    pub(crate) engine_answers: bool,
}

/// How an engine is.
enum EngineState {
    Answers,
    /// It answers, and some documents are not there.
    Bad(String),
    /// It cannot be reached.
    Away(String),
    /// The check itself failed.
    Unknown(String),
}

/// Returns the health of the service, from the cache when that is allowed and fresh.
pub(crate) async fn health(app: &SearchApp, cached: bool) -> Found {
    if let Some(found) = cached.then(|| app.health.get()).flatten() {
        return found;
    }
    let found = fresh(app).await;
    app.health.set(Some((Instant::now(), found.clone())));
    found
}

async fn fresh(app: &SearchApp) -> Found {
    let (searched, written) = (&app.engines.searched, &app.engines.written);
    let time = app.settings.search.health_check_time();
    let is_one = std::sync::Arc::ptr_eq(searched, written);
    let (searched, written) = match is_one {
        true => (engine_state(searched, time).await, None),
        false => {
            let (searched, written) =
                tokio::join!(engine_state(searched, time), engine_state(written, time));
            (searched, Some(written))
        }
    };
    let written = written.as_ref().unwrap_or(&searched);
    let checks = vec![
        check_search(app, &searched),
        check_indexes(app, &searched),
        check_indexer(app, written),
    ];
    let engine_answers = matches!(searched, EngineState::Answers | EngineState::Bad(_));
    let description = "The search service answers searches.";
    let record = HealthRecord::of_service(&app.settings.name, "search", description, checks);
    Found {
        record,
        engine_answers,
    }
}

async fn engine_state(engine: &Engine, time: Duration) -> EngineState {
    let context = CallContext::new().with_timeout(time);
    let health = match tokio::time::timeout(time, engine.health(&context)).await {
        Ok(Ok(health)) => health,
        Ok(Err(error)) => return engine_failure(&error),
        Err(_) => return EngineState::Away("the search engine did not respond in time".to_owned()),
    };
    match health.level {
        HealthLevel::Good | HealthLevel::Degraded => EngineState::Answers,
        HealthLevel::Bad => {
            let message = health.message.unwrap_or_default();
            EngineState::Bad(format!("some documents are not there: {message}"))
        }
    }
}

fn engine_failure(error: &EngineError) -> EngineState {
    tracing::warn!(
        error = error as &dyn std::error::Error,
        "the search engine failed its check"
    );
    match error {
        EngineError::Unavailable(_) | EngineError::Overloaded(_) | EngineError::Call(_) => {
            EngineState::Away("the search engine cannot be reached".to_owned())
        }
        // Its text has no address; the causes have.
        other => EngineState::Unknown(other.to_string()),
    }
}

fn record(check: &Check, severity: Severity, message: impl Into<String>) -> HealthRecord {
    let status = match severity {
        Severity::Low | Severity::Medium => Status::Warning,
        Severity::High => Status::Error,
    };
    check.record(status, message.into())
}

const UNBOUND: &str = "no schema is bound to the search service";

fn check_search(app: &SearchApp, engine: &EngineState) -> HealthRecord {
    let severities = &app.settings.search.severities;
    match engine {
        EngineState::Away(message) => return record(&SEARCH, severities.engine, message),
        EngineState::Unknown(message) => return record(&SEARCH, severities.unavailable, message),
        EngineState::Answers | EngineState::Bad(_) => {}
    }
    let Some(bound) = app.bound() else {
        return record(&SEARCH, severities.soml, UNBOUND);
    };
    let mut message = format!(
        "schema `{}` is bound, and the search engine answers",
        bound.id
    );
    if app.ignores_roles(&bound.soml) {
        message.push_str(
            "; searches show what roles of the schema may not read (`search.rbac.enabled` is not set)",
        );
        return SEARCH.record(Status::Warning, message);
    }
    SEARCH.record(Status::Ok, message)
}

fn check_indexes(app: &SearchApp, engine: &EngineState) -> HealthRecord {
    let severities = &app.settings.search.severities;
    match engine {
        EngineState::Away(message) | EngineState::Unknown(message) => {
            return record(&INDEXES, severities.indexing_unavailable, message);
        }
        EngineState::Bad(message) => {
            return record(&INDEXES, severities.indexing_indexes, message);
        }
        EngineState::Answers => {}
    }
    let failed = app.job.load_full().and_then(|job| match &*job.state() {
        JobState::Failed { error } => Some(format!("the indexes cannot be built: {}", error.text)),
        JobState::Waiting { tries, error } => Some(format!(
            "building the indexes failed {tries} times: {}",
            error.text
        )),
        JobState::Running | JobState::Cancelled | JobState::Done => None,
    });
    if let Some(message) = failed {
        return record(&INDEXES, severities.indexing_indexes, message);
    }
    let Some(bound) = app.bound() else {
        return record(&INDEXES, severities.indexing_soml, UNBOUND);
    };
    let targets = bound.service.targets();
    let names = bound.indexes.indexes.iter().zip(targets.iter());
    let not_ready = names.filter(|(_, target)| !matches!(target, Target::Ready(_)));
    let not_ready: Vec<_> = not_ready.map(|(index, _)| index.name.as_str()).collect();
    match not_ready.as_slice() {
        [] => INDEXES.record(Status::Ok, "all indexes are ready".to_owned()),
        names => {
            let message = format!("there is no complete index yet of {}", names.join(", "));
            record(&INDEXES, severities.indexing_indexes, message)
        }
    }
}

fn check_indexer(app: &SearchApp, engine: &EngineState) -> HealthRecord {
    let severity = app.settings.search.severities.indexer;
    match engine {
        EngineState::Away(message) | EngineState::Unknown(message) => {
            record(&INDEXER, severity, message)
        }
        EngineState::Answers | EngineState::Bad(_) if app.builds_indexes() => INDEXER.record(
            Status::Ok,
            "the engine that is written to answers".to_owned(),
        ),
        EngineState::Answers | EngineState::Bad(_) => {
            let message = "no indexes are built (`indexer.indexingEnabled`); the engine answers";
            INDEXER.record(Status::Ok, message.to_owned())
        }
    }
}
