//! What a search service says about its own health.

use search_index::service::SearchTarget;
use service_runtime::checks::{INDEXER, INDEXES, SEARCH};
use service_runtime::schemas::StoreTrouble;
use service_runtime::{Check, HealthRecord, Status};

use super::app::SearchApp;
use super::followed::FollowState;
use super::job::JobState;
use super::observation::{EngineState, HealthFindings, Observation, Problem};
use super::options::Severity;

/// Problems of indexes that a message lists.
const MAX_PROBLEMS: usize = 5;

/// Returns the health of the service, from the cache when that is allowed and fresh.
pub(crate) async fn health(app: &SearchApp, cached: bool) -> HealthFindings {
    if let Some(found) = cached.then(|| app.health.get()).flatten() {
        return found;
    }
    let generation = app.health.generation();
    let look = app.look().await;
    let found = found(app, &look);
    app.health.keep(generation, found.clone());
    found
}

fn found(app: &SearchApp, look: &Observation) -> HealthFindings {
    let checks = vec![
        check_search(app, look),
        check_indexes(app, look),
        check_indexer(app, &look.written),
    ];
    let description = "The search service answers searches.";
    let record = HealthRecord::of_service(&app.host.options.name, "search", description, checks);
    HealthFindings {
        record,
        engine_answers: matches!(look.searched, EngineState::Answers),
        schemas: obstacle(look).map(str::to_owned),
    }
}

/// Returns why the store of schemas does not do what it is asked for.
fn obstacle(look: &Observation) -> Option<&str> {
    look.schemas.as_ref().and_then(StoreTrouble::obstacle)
}

fn record(check: &Check, severity: Severity, message: impl Into<String>) -> HealthRecord {
    let status = match severity {
        Severity::Low | Severity::Medium => Status::Warning,
        Severity::High => Status::Error,
    };
    check.record(status, message.into())
}

const UNBOUND: &str = "no schema is bound to the search service";

/// Returns that no schema is bound, and why what is to be bound is not.
fn unbound(app: &SearchApp) -> String {
    match app.not_restored.load_full() {
        Some(reason) => format!("{UNBOUND}: {reason}"),
        None => UNBOUND.to_owned(),
    }
}

fn check_search(app: &SearchApp, look: &Observation) -> HealthRecord {
    let severities = &app.options.severities;
    match &look.searched {
        EngineState::Away(trouble) => {
            return record(&SEARCH, severities.engine, &trouble.message);
        }
        EngineState::Unknown(trouble) => {
            return record(&SEARCH, severities.unavailable, &trouble.message);
        }
        EngineState::Answers => {}
    }
    if let Some(obstacle) = obstacle(look) {
        return record(&SEARCH, severities.unavailable, obstacle);
    }
    let Some(bound) = app.bound() else {
        return record(&SEARCH, severities.soml, unbound(app));
    };
    if let Some(reason) = app.not_restored.load_full() {
        let message = format!("schema `{}` is served: {reason}", bound.id);
        return record(&SEARCH, severities.soml, message);
    }
    let mut message = format!(
        "schema `{}` is bound, and the search engine answers",
        bound.id
    );
    if bound.ignores_roles {
        message.push_str(
            "; searches show what roles of the schema may not read (`search.rbac.enabled` is not set)",
        );
        return SEARCH.record(Status::Warning, message);
    }
    if let Some(trouble) = &look.schemas {
        let message = format!("{message}; {}", trouble.message);
        return SEARCH.record(Status::Warning, message);
    }
    SEARCH.record(Status::Ok, message)
}

fn check_indexes(app: &SearchApp, look: &Observation) -> HealthRecord {
    let severities = &app.options.severities;
    if let Some(trouble) = look.searched.trouble() {
        return record(&INDEXES, severities.indexing_unavailable, &trouble.message);
    }
    if let Some(message) = failure(app) {
        return record(&INDEXES, severities.indexing_indexes, message);
    }
    let Some(bound) = app.bound() else {
        return record(&INDEXES, severities.indexing_soml, UNBOUND);
    };
    let definitions = &bound.indexes.indexes;
    let targets = bound.service.targets();
    let names = definitions.iter().zip(targets.iter());
    let not_ready: Vec<_> = names
        .filter(|(_, target)| !matches!(target, SearchTarget::Ready(_)))
        .map(|(index, _)| index.name.as_str())
        .collect();
    let mut messages = Vec::new();
    if !not_ready.is_empty() {
        let names = not_ready.join(", ");
        messages.push(format!("there is no complete index yet of {names}"));
    }
    let mut is_unsure = messages.is_empty();
    let seen = look.indexes_of(&bound);
    if seen.is_none() {
        messages.push("the indexes have not been looked at yet".to_owned());
    }
    let looked_at = definitions.iter().zip(targets.iter());
    for ((definition, target), index) in looked_at.zip(seen.unwrap_or_default()) {
        // It may have become ready after the look.
        if matches!(target, SearchTarget::Ready(_)) && !index.is_seen {
            let name = &definition.name;
            messages.push(format!("the index of {name} has not been looked at yet"));
        }
        for problem in &index.problems {
            is_unsure &= *problem == Problem::MayBeOlder;
            messages.push(problem.message(&definition.name));
        }
    }
    if let FollowState::Failing(failure) = &app.follower.shown().state {
        is_unsure = false;
        messages.push(format!(
            "the changes of the data cannot be followed at the moment: {}",
            failure.reason
        ));
    }
    let waiting = app.job.load().as_ref().and_then(|job| job.waiting());
    if messages.is_empty() {
        let message = match waiting {
            Some(waiting) => format!("all indexes are ready; {waiting}"),
            None => "all indexes are ready".to_owned(),
        };
        return INDEXES.record(Status::Ok, message);
    }
    if let Some(waiting) = waiting {
        messages.insert(0, waiting.to_string());
    }
    let more = messages.len().saturating_sub(MAX_PROBLEMS);
    messages.truncate(MAX_PROBLEMS);
    if more > 0 {
        messages.push(format!("and {more} more"));
    }
    let message = messages.join("; ");
    if is_unsure {
        INDEXES.record(Status::Warning, message)
    } else {
        record(&INDEXES, severities.indexing_indexes, message)
    }
}

/// Returns why indexes are not built, or are not built yet.
fn failure(app: &SearchApp) -> Option<String> {
    let job = app.job.load_full()?;
    let state = job.state().clone();
    match state {
        JobState::Failed { error } => {
            Some(format!("the indexes cannot be built: {}", error.reason))
        }
        JobState::Running => {
            let setback = job.setback()?;
            let (tries, reason) = (setback.tries, setback.reason);
            Some(format!(
                "building the indexes has failed {tries} times so far and is retried: {reason}"
            ))
        }
        JobState::Cancelled | JobState::Done => None,
    }
}

fn check_indexer(app: &SearchApp, engine: &EngineState) -> HealthRecord {
    if let Some(trouble) = engine.trouble() {
        let severity = app.options.severities.indexer;
        return record(&INDEXER, severity, &trouble.message);
    }
    let message = if app.builds_indexes() {
        "the engine that is written to responds"
    } else {
        "no indexes are built (`indexer.indexingEnabled`); the engine responds"
    };
    INDEXER.record(Status::Ok, message.to_owned())
}
