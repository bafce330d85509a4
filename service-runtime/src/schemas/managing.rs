//! Who may manage schemas: what stands in front of such routes, and the audit.

use std::sync::Arc;

use axum::extract::{RawPathParams, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use graphql_http::{HttpError, Sender};
use schema_registry::SchemaStore;
use service_auth::rights::{Manager, Part, RIGHTS};

use super::documents::store_error;
use crate::code;
use crate::service::Host;
use crate::table::Right;

/// A service whose schemas can be managed.
pub trait ManagesSchemas: Host {
    /// Returns the stored schemas, with the rights on them.
    fn schemas(&self) -> &Arc<dyn SchemaStore>;
}

/// Refuses requests of those who may not, and lets handlers know what the sender may: as [`Manager`]
/// in the extensions of the request.
pub(crate) async fn guard<H: ManagesSchemas>(
    State((app, right)): State<(Arc<H>, Right)>,
    Sender(sender): Sender,
    path: RawPathParams,
    mut request: Request,
    next: Next,
) -> Response {
    let schemas = app.schemas().as_ref();
    let manager = match app.state().manager(schemas, sender.as_deref()).await {
        Ok(manager) => manager,
        Err(error) => return store_error(error).into_response(),
    };
    let id = path.iter().find(|(name, _)| *name == "id");
    let id = id.map(|(_, id)| id);
    if !has(&manager, right, id) {
        let error = match right {
            Right::Everything => {
                let message = "this needs the role that manages schemas, or a super role";
                HttpError::new(code::FORBIDDEN, message)
            }
            _ => forbidden(),
        };
        return error.into_response();
    }
    request.extensions_mut().insert(manager);
    next.run(request).await
}

fn has(manager: &Manager, right: Right, id: Option<&str>) -> bool {
    // Without a schema in the path there is none to have a right on.
    let of = |part, operation| id.is_some_and(|id| manager.may(id, part, operation));
    match right {
        Right::Document(operation) => of(Part::Document, operation),
        Right::Binding(operation) => of(Part::Binding, operation),
        Right::Rights(operation) => manager.may(RIGHTS, Part::Rights, operation),
        Right::AnyDocument(operation) => manager.may_some(operation),
        Right::Everything => manager.may_everything(),
        Right::Checked => true,
    }
}

/// The error of a sender without the right that managing schemas needs.
#[must_use]
pub fn forbidden() -> HttpError {
    let message = "managing schemas in this way needs a right that your roles do not grant";
    HttpError::new(code::FORBIDDEN, message)
}

/// Logs a change for the audit, in one line: who, what, and how much of it is new.
pub fn audit(sender: &Sender, action: &'static str, what: &str, diff: &str) {
    let caller = sender.0.as_deref();
    let user: String = caller
        .and_then(|caller| caller.name.as_deref())
        .unwrap_or("nobody")
        .chars()
        .take(128)
        .collect();
    tracing::info!(target: "audit", ?user, action, what, diff, "managed schemas");
}

/// Describes the change of a text: how many lines came and went.
#[must_use]
pub fn lines_changed(old: Option<&str>, new: &str) -> String {
    let mut lines = std::collections::HashMap::<&str, i64>::new();
    for line in new.lines() {
        *lines.entry(line).or_default() += 1;
    }
    for line in old.unwrap_or_default().lines() {
        *lines.entry(line).or_default() -= 1;
    }
    let added: i64 = lines.values().filter(|count| **count > 0).sum();
    let removed: i64 = lines.values().filter(|count| **count < 0).sum();
    format!("+{added} -{} lines", -removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_described_by_its_lines() {
        assert_eq!(lines_changed(None, "a\nb\n"), "+2 -0 lines");
        assert_eq!(lines_changed(Some("a\nb\nb"), "b\nc\na"), "+1 -1 lines");
    }
}
