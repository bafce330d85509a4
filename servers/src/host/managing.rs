//! Who may manage schemas: the layer in front of `/soml`, and its audit.

use std::sync::Arc;

use axum::extract::{MatchedPath, RawPathParams, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use graphql_http::{HttpError, Sender};
use service_auth::rights::{Manager, Part, RIGHTS};
use soml_core::access::Operation;

use super::code;
use super::documents::store_error;
use super::served::Host;

/// Refuses requests of those who may not, and lets handlers know what the sender may: as [`Manager`]
/// in the extensions of the request.
///
/// What a new document is called is known only once it is read, so that is for its handler to check.
pub(crate) async fn guard<H: Host>(
    State(app): State<Arc<H>>,
    Sender(sender): Sender,
    (route, path): (MatchedPath, RawPathParams),
    mut request: Request,
    next: Next,
) -> Response {
    let manager = match app.manager(sender.as_deref()).await {
        Ok(manager) => manager,
        Err(error) => return store_error(error).into_response(),
    };
    let id = path.iter().find(|(name, _)| *name == "id");
    let id = id.map(|(_, id)| id.to_owned());
    if !is_allowed(&manager, request.method(), route.as_str(), id.as_deref()) {
        return forbidden().into_response();
    }
    request.extensions_mut().insert(manager);
    next.run(request).await
}

fn is_allowed(manager: &Manager, method: &Method, route: &str, id: Option<&str>) -> bool {
    let operation = match *method {
        Method::GET | Method::HEAD | Method::OPTIONS => Operation::Read,
        Method::DELETE => Operation::Delete,
        _ => Operation::Write,
    };
    match (route, id) {
        ("/soml-rbac", _) => manager.may(RIGHTS, Part::Rights, operation),
        ("/soml", _) => manager.may_some(operation),
        // To check a document changes nothing, and is for those who write some.
        ("/soml/{id}", Some("validate")) if *method == Method::POST => {
            manager.may_some(Operation::Write)
        }
        ("/soml/validate", _) => manager.may_some(Operation::Write),
        // What is said there is about what is bound, so its handler checks that.
        ("/soml/info", _) => true,
        ("/soml/{id}", Some(id)) => manager.may(id, Part::Document, operation),
        (_, Some(id)) => manager.may(id, Part::Binding, operation),
        // No route is like that; what is not known is not allowed.
        (_, None) => false,
    }
}

pub(crate) fn forbidden() -> HttpError {
    let message = "managing schemas in this way needs a right that your roles do not give";
    HttpError::new(code::FORBIDDEN, message)
}

/// Logs a change for the audit, in one line: who, what, and how much of it is new.
pub(crate) fn audit(sender: &Sender, action: &'static str, what: &str, diff: &str) {
    let caller = sender.0.as_deref();
    let user = caller.and_then(|caller| caller.name.as_deref());
    let user: String = user.unwrap_or("nobody").chars().take(128).collect();
    tracing::info!(target: "audit", ?user, action, what, diff, "managed schemas");
}

/// Describes the change of a text: how many lines came and went.
pub(crate) fn lines_changed(old: Option<&str>, new: &str) -> String {
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
