//! The token of a log-in that is kept, for commands that ask a service.

use outbound::Secret;
use reqwest::Url;
use service_auth::oauth::{OauthClient, OauthError};
use tokio::sync::Mutex;

use super::CliError;
use super::logins::{KeptTokens, LoginFile, server};

/// The log-in that is kept for a service.
pub(super) struct KeptLogin {
    file: LoginFile,
    server: String,
    current: Mutex<KeptTokens>,
}

impl KeptLogin {
    /// Returns the log-in for a service; `None` where there is none.
    pub(super) fn of(address: &Url) -> Result<Option<Self>, CliError> {
        let Some(file) = LoginFile::of_user() else {
            return Ok(None);
        };
        let server = server(address);
        let kept = file.read()?.into_iter().find(|login| login.is_for(&server));
        Ok(kept.map(|login| KeptLogin {
            file,
            server,
            current: Mutex::new(login),
        }))
    }

    /// Returns the token; refreshes it when it has expired.
    pub(super) async fn token(&self) -> Result<Secret, CliError> {
        let mut current = self.current.lock().await;
        if current.has_expired() {
            *current = self.refreshed().await?;
        }
        Ok(current.access_token())
    }

    /// Returns the command that logs in again.
    pub(super) async fn command(&self) -> String {
        self.current.lock().await.command()
    }

    /// Refreshes the token. A refresh token may be used once only, so one command at a time does so.
    async fn refreshed(&self) -> Result<KeptTokens, CliError> {
        let mut logins = self.file.lock()?;
        let Some(login) = logins.of(&self.server) else {
            let message = format!("the log-in for {} was removed meanwhile", self.server);
            return Err(CliError::Usage(message));
        };
        // Another command may have been quicker.
        if !login.has_expired() {
            return Ok(login.clone());
        }
        let ended = |why: &str| CliError::LoginEnded {
            issuer: login.issuer.clone(),
            why: why.to_owned(),
            command: login.command(),
        };
        let (Some(client_id), Some(refresh_token)) = (&login.client_id, login.refresh_token())
        else {
            return Err(ended(
                "its token has expired, and there is none to refresh it with",
            ));
        };
        let client = OauthClient::discover(&login.issuer, client_id).await?;
        let tokens = match client.refresh(&refresh_token).await {
            Err(OauthError::Denied(denial)) => return Err(ended(&denial.to_string())),
            refreshed => refreshed?,
        };
        login.set(
            &tokens.access_token,
            tokens.expires_at,
            tokens.refresh_token.as_ref(),
        );
        let login = login.clone();
        logins.write()?;
        Ok(login)
    }
}
