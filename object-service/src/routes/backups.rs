//! `PUT /backups/{name}`: a copy of data and schemas, made while they are served.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use graphql_http::{HttpError, Sender, code as common};
use graphql_service::ErrorCode;
use service_runtime::code as around;
use service_runtime::schemas::audit;

use super::super::app::App;
use super::super::code;
use crate::folder::{BackupError, FolderError};

/// Makes a backup for those who may manage everything: all data are in it.
pub(super) async fn make(
    State(app): State<Arc<App>>,
    sender: Sender,
    Path(name): Path<String>,
) -> Result<StatusCode, HttpError> {
    let backups = app.backups.as_ref();
    let made = match backups {
        Some(backups) => backups.make(&name).await,
        None => {
            let message = "the data are not in a folder: `store.dataDir` is not set";
            return Err(HttpError::new(code::BACKUPS_NOT_CONFIGURED, message));
        }
    };
    made.map_err(refused)?;
    audit(&sender, "backup", &name, "");
    Ok(StatusCode::CREATED)
}

fn refused(error: BackupError) -> HttpError {
    let cause = match &error {
        BackupError::NotConfigured => return said(code::BACKUPS_NOT_CONFIGURED, &error),
        BackupError::Name => return said(common::REQUEST_MALFORMED, &error),
        BackupError::Interrupted => return said(code::BACKUP_FAILED, &error),
        BackupError::Running => return said(code::BACKUP_RUNNING, &error),
        BackupError::Failed(FolderError::Exists { .. }) => {
            let message = "a backup with this name already exists";
            return HttpError::new(code::BACKUP_EXISTS, message);
        }
        BackupError::Failed(cause) => cause,
    };
    tracing::error!(error = cause as &dyn std::error::Error, "a backup failed");
    if cause.code() == around::DISK_FULL {
        HttpError::new(around::DISK_FULL, "there is no disk space for the backup")
    } else {
        HttpError::new(
            code::BACKUP_FAILED,
            "the backup failed; see the log for this request id",
        )
    }
}

fn said(code: ErrorCode, error: &BackupError) -> HttpError {
    HttpError::new(code, error.to_string())
}
