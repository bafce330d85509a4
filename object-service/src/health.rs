//! Health checks of the service.

use std::sync::Arc;
use std::time::Duration;

use graph_store::{CallContext, StoreError, WriteStore};
use graphql_service::{Request, RequestContext};
use service_runtime::checks::{MUTATION, QUERY, SCHEMA, SCHEMA_RIGHTS, STORE};
use service_runtime::schemas::{StoreTrouble, store_trouble};
use service_runtime::{HealthRecord, Host, Status};

use super::app::{App, Mutations};
use super::findings::HealthFindings;

/// Time for a check; a store that is slower than this is not fit to serve.
const CHECK_TIME: Duration = Duration::from_secs(5);

/// Returns the health of the service, from the cache when that is allowed and fresh.
pub(crate) async fn health(app: &App, cached: bool) -> HealthFindings {
    if let Some(found) = cached.then(|| app.health.get()).flatten() {
        return found;
    }
    let generation = app.health.generation();
    // It is soon another one.
    let is_lasting = app.host.load_state().is_none();
    let found = fresh(app).await;
    if is_lasting {
        app.health.keep(generation, found.clone());
    }
    found
}

async fn fresh(app: &App) -> HealthFindings {
    let store = check_store(app).await;
    let schemas_time = CHECK_TIME.max(app.options.schemas_check_time);
    let schemas = store_trouble(app.schemas.as_ref(), schemas_time).await;
    let schema = check_schema(app, schemas.as_ref()).await;
    let rights = check_schema_rights(app).await;
    let query = check_query(app).await;
    let checks = vec![store, schema, rights, query, check_mutation(app).await];
    let description = "The object service answers GraphQL requests.";
    let record = HealthRecord::of_service(&app.host.options.name, "graphql", description, checks);
    let obstacle = schemas.as_ref().and_then(StoreTrouble::obstacle);
    HealthFindings {
        record,
        schemas: obstacle.map(str::to_owned),
    }
}

async fn check_store(app: &App) -> HealthRecord {
    if let Some(state) = app.host.load_state() {
        return STORE.record(Status::Error, state.to_string());
    }
    let time = CHECK_TIME.max(app.options.store_check_time);
    let context = CallContext::new().with_timeout(time);
    let (status, message) = match tokio::time::timeout(time, app.store.probe(&context)).await {
        Ok(Ok(info)) => {
            let (mut status, state) = if info.statements == Some(0) {
                (Status::Warning, "is empty")
            } else {
                (Status::Ok, "answers")
            };
            let mut message = format!("the {} store {state}", info.provider);
            let troubles = info.troubles();
            if !troubles.is_empty() {
                status = Status::Warning;
                message += &format!(
                    "; some of its servers do not serve: {}",
                    troubles.join(", ")
                );
            }
            (status, message)
        }
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

/// Checks what is bound, given what is wrong with the store of schemas.
async fn check_schema(app: &App, trouble: Option<&StoreTrouble>) -> HealthRecord {
    if let Some(obstacle) = trouble.and_then(StoreTrouble::obstacle) {
        return SCHEMA.record(Status::Error, obstacle.to_owned());
    }
    let (mut status, mut message) = match (app.bound(), app.not_followed.load_full()) {
        (Some(bound), None) => (Status::Ok, format!("schema `{}` is bound", bound.id)),
        (Some(bound), Some(why)) => {
            let message = format!("schema `{}` is served: {why}", bound.id);
            (Status::Warning, message)
        }
        (None, None) => (Status::Error, "no schema is bound".to_owned()),
        (None, Some(why)) => (Status::Error, format!("no schema is served: {why}")),
    };
    if let Some(trouble) = trouble {
        status = status.max(Status::Warning);
        message = format!("{message}; {}", trouble.message);
    }
    match tokio::time::timeout(CHECK_TIME, app.schemas.missing()).await {
        Ok(Ok(missing)) if missing.is_empty() => SCHEMA.record(status, message),
        Ok(Ok(missing)) => {
            let missing = missing.join(", ");
            tracing::warn!(missing, "files of stored schemas are missing");
            let message = format!(
                "{message}; files of stored schemas are missing, which a restart needs: {missing}"
            );
            SCHEMA.record(status.max(Status::Warning), message)
        }
        failed => {
            if let Ok(Err(error)) = &failed {
                tracing::warn!(
                    error = error as &dyn std::error::Error,
                    "the files of stored schemas cannot be checked"
                );
            }
            let message = format!("{message}; the schema store does not respond");
            SCHEMA.record(status.max(Status::Warning), message)
        }
    }
}

async fn check_schema_rights(app: &App) -> HealthRecord {
    let stored = match tokio::time::timeout(CHECK_TIME, app.schemas.rights()).await {
        Ok(Ok(stored)) => stored,
        failed => {
            if let Ok(Err(error)) = &failed {
                tracing::warn!(
                    error = error as &dyn std::error::Error,
                    "the rights on schemas cannot be read"
                );
            }
            let message = "the schema store does not respond";
            return SCHEMA_RIGHTS.record(Status::Error, message.to_owned());
        }
    };
    let message = match (app.needs_tokens(), stored) {
        (false, _) => "security is off: anyone who can reach the service can manage schemas",
        (true, None) => "no access rights are stored: only administrators can manage schemas",
        (true, Some(_)) => "the stored access rights decide who manages schemas",
    };
    SCHEMA_RIGHTS.record(Status::Ok, message.to_owned())
}

async fn check_query(app: &App) -> HealthRecord {
    let failed = |message: &str| QUERY.record(Status::Error, message.to_owned());
    if app.host.is_draining() {
        return failed("the service is shutting down");
    }
    if let Some(state) = app.host.load_state() {
        return failed(&state.to_string());
    }
    let Some(bound) = app.bound() else {
        return failed("no schema is bound");
    };
    let query = bound.service.execute(
        Request::new("{ __typename }"),
        RequestContext::from(CallContext::new().with_timeout(CHECK_TIME)),
    );
    match tokio::time::timeout(CHECK_TIME, query).await {
        Ok(response) if response.body.to_bytes().starts_with(br#"{"data""#) => {
            QUERY.record(Status::Ok, "a query was answered".to_owned())
        }
        Ok(_) => failed("a query returned errors"),
        Err(_) => failed("a query was not answered in time"),
    }
}

/// What health says where mutations are refused for want of room. Queries are answered, so the service is good to go.
const NO_ROOM: &str = "the disk of the store is full: mutations are refused with STORE_FULL, \
                       queries are answered";

/// Returns what a check says that keeps a service from answering.
pub(crate) fn obstacle(record: HealthRecord) -> Option<String> {
    let mut checks = record.health_checks.into_iter();
    let failing = checks.find(|check| check.status == Status::Error && check.message != NO_ROOM);
    failing.map(|check| check.message)
}

/// Returns what is wrong where a store has no room for changes. It looks whenever it is asked.
async fn lacks_room(app: &App) -> Option<&'static str> {
    let (store, turn) = (Arc::clone(&app.store), Arc::clone(&app.room_checks));
    let check = async {
        // A disk that hangs takes one thread, however often it is looked at.
        let turn = turn.acquire_owned().await;
        let check = move || {
            let _turn = turn;
            store.writer().map_or(Ok(()), WriteStore::check_room)
        };
        tokio::task::spawn_blocking(check).await
    };
    let error = match tokio::time::timeout(CHECK_TIME, check).await {
        Ok(Ok(Ok(()))) => return None,
        Ok(Ok(Err(error))) => error,
        Ok(Err(_)) | Err(_) => {
            return Some("the free disk space could not be determined in time");
        }
    };
    tracing::warn!(
        error = &error as &dyn std::error::Error,
        "the store cannot write"
    );
    Some(match error {
        StoreError::DiskFull(_) => NO_ROOM,
        _ => "the store cannot write",
    })
}

/// Starts a transaction and ends it, where mutations are served.
async fn check_mutation(app: &App) -> HealthRecord {
    let record = |status, message: &str| MUTATION.record(status, message.to_owned());
    if app.options.mutations == Mutations::Never {
        let message = "mutations are switched off by `graphql.mutation.enabled`";
        return record(Status::Ok, message);
    }
    if let Some(state) = app.host.load_state() {
        return MUTATION.record(Status::Error, state.to_string());
    }
    let Some(bound) = app.bound() else {
        return record(Status::Error, "no schema is bound");
    };
    if !bound.service.api().soml().config.enable_mutations {
        let message = "mutations are switched off by `enable_mutations` of the schema";
        return record(Status::Ok, message);
    }
    let Some(writer) = app.store.writer() else {
        return record(Status::Warning, "the store cannot be written to");
    };
    if let Some(message) = lacks_room(app).await {
        return record(Status::Error, message);
    }
    let context = CallContext::new().with_timeout(CHECK_TIME);
    let begun = tokio::time::timeout(CHECK_TIME, writer.begin(&context));
    match begun.await {
        Ok(Ok(transaction)) => {
            transaction.roll_back().await;
            record(
                Status::Ok,
                if writer.is_durable() {
                    "mutations are carried out and stored"
                } else {
                    "mutations are carried out and kept in memory only"
                },
            )
        }
        Ok(Err(error)) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the store failed to begin a transaction"
            );
            record(Status::Error, "the store cannot begin a transaction")
        }
        Err(_) => record(Status::Error, "no transaction could begin in time"),
    }
}
