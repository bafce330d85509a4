//! Who administers a realm, and requests to it.

use outbound::address::below;
use reqwest::header::{AUTHORIZATION, HeaderMap};
use reqwest::{Method, StatusCode};
use serde_json::Value;
use tokio::sync::Mutex;
use uuid::Uuid;

use super::known::Known;
use crate::exchange::{Answer, Content, Question};
use crate::idp::client::{IdpClient, IdpOptions};
use crate::idp::transport::Transport;
use crate::idp::{Grant, IdpError};

/// The realm of administrators.
const MASTER: &str = "master";

/// How to administer a realm of Keycloak.
#[derive(Clone, Debug)]
pub struct KeycloakAdministration {
    /// The realm that has the users; created where it is missing.
    pub realm: String,
    /// The client of log-ins by device code.
    pub login_client: String,
    /// The realm that the administrator logs in to, such as `master`.
    pub admin_realm: String,
    /// The client that the administrator logs in with, such as `admin-cli`.
    pub admin_client: String,
    /// Who the administrator is.
    pub grant: Grant,
}

/// What administers a realm of Keycloak.
pub(in crate::idp) struct Keycloak {
    transport: Transport,
    administrator: IdpClient,
    pub(super) realm: String,
    /// The `client_id` of the client that has the roles, and the audience of tokens.
    pub(super) application: String,
    pub(super) application_name: String,
    pub(super) login_client: String,
    /// Identifiers that steps have found.
    pub(super) known: Mutex<Known>,
}

impl Keycloak {
    pub(in crate::idp) fn new(
        address: &str,
        application_id: Uuid,
        application_name: String,
        of: KeycloakAdministration,
    ) -> Result<Self, IdpError> {
        if of.realm == MASTER {
            return Err(IdpError::MasterRealm);
        }
        let mut log_in = IdpOptions::keycloak(address, of.admin_realm, of.admin_client, of.grant);
        log_in.retries = 0;
        Ok(Keycloak {
            transport: Transport::new(address)?,
            administrator: IdpClient::new(log_in)?,
            realm: of.realm,
            application: application_id.to_string(),
            application_name,
            login_client: of.login_client,
            known: Mutex::default(),
        })
    }

    /// Sends a request to a path of the Admin REST API, whose segments are escaped.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &[&str],
        query: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<Answer, IdpError> {
        // Its tokens live for a minute, so each request asks for one that is valid yet.
        let token = self.administrator.token().await.map_err(first_cause)?;
        let mut url = below(self.transport.base(), &["admin", "realms"]);
        url = below(&url, path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let bearer = token.bearer();
        let bearer =
            bearer.map_err(|_| IdpError::Malformed("the token cannot be sent in a header"))?;
        let question = Question {
            method,
            url,
            headers: HeaderMap::from_iter([(AUTHORIZATION, bearer)]),
            content: body.map_or(Content::None, Content::Json),
        };
        self.transport.ask(question).await
    }

    /// Sends a request that changes something in the realm.
    pub(super) async fn change(
        &self,
        method: Method,
        path: &[&str],
        body: &Value,
    ) -> Result<Answer, IdpError> {
        let path = [&[self.realm.as_str()], path].concat();
        let answer = self.send(method, &path, &[], Some(body)).await?;
        if answer.status.is_success() {
            Ok(answer)
        } else {
            Err(self.refused(&answer))
        }
    }

    /// Reads something of the realm; `None` where it, or the realm, is not there.
    pub(super) async fn get(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<Option<Value>, IdpError> {
        let path = [&[self.realm.as_str()], path].concat();
        let answer = self.send(Method::GET, &path, query, None).await?;
        match answer.status {
            StatusCode::OK => Ok(Some(answer.body)),
            StatusCode::NOT_FOUND => Ok(None),
            _ => Err(self.refused(&answer)),
        }
    }

    /// Reads a list of the realm, which is empty where the realm is not there.
    pub(super) async fn list(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<Vec<Value>, IdpError> {
        match self.get(path, query).await? {
            Some(Value::Array(listed)) => Ok(listed),
            Some(_) => Err(IdpError::Malformed("what was requested is not a list")),
            None => Ok(Vec::new()),
        }
    }

    pub(super) fn refused(&self, answer: &Answer) -> IdpError {
        if answer.status == StatusCode::FORBIDDEN {
            let realm = self.realm.clone();
            return IdpError::Forbidden { realm };
        }
        IdpError::refused(answer)
    }
}

/// An administrator logs in once, so no one needs to know of attempts.
fn first_cause(error: IdpError) -> IdpError {
    match error {
        IdpError::GaveUp { source, .. } => *source,
        other => other,
    }
}
