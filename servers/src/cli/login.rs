//! `soml login` and `soml logout`.

use std::io::{self, BufRead, IsTerminal, Read};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use outbound::Secret;
use outbound::address::is_loopback;
use reqwest::Url;
use service_auth::idp::{IdpClient, IdpError, IdpOptions, LogIn};
use service_auth::oauth::{DeviceAuthorization, OauthClient};
use service_auth::unverified_claims;

use super::logins::{KeptTokens, LoginFile, server};
use super::own_provider::KEYS;
use super::provision::LOGIN_CLIENT;
use super::remote::{RemoteService, default_address, service_address};
use super::store::runtime;
use super::{CliError, Console, Exit};

/// Longest password that is read.
const MAX_PASSWORD: u64 = 4 << 10;

#[derive(Debug, Args)]
pub(super) struct Login {
    /// Address of a service to send the token to; can be repeated. Without --issuer, users log in to the first one.
    #[arg(long = "url", value_name = "URL", default_values_t = [default_address()])]
    urls: Vec<String>,
    /// Identity provider, as named in tokens (`iss`). The user confirms the log-in in a browser, on any device.
    ///
    /// Without an issuer, users of the service itself (`security.provisioning.file`) log in with a password.
    #[arg(long, value_name = "URL", env = "SOML_ISSUER")]
    issuer: Option<String>,
    /// Client of the identity provider; must be public and allow the device authorization grant.
    #[arg(long, value_name = "CLIENT", env = "SOML_CLIENT_ID", default_value = LOGIN_CLIENT)]
    client_id: String,
    /// Scopes to ask the identity provider for, separated by spaces, such as `openid offline_access`.
    #[arg(long, value_name = "SCOPES", requires = "issuer")]
    scope: Option<String>,
    /// User of the service itself; prompted for by default.
    #[arg(long, value_name = "NAME", conflicts_with = "issuer")]
    username: Option<String>,
    /// Reads the password from standard input.
    #[arg(long, requires = "username", conflicts_with = "issuer")]
    password_stdin: bool,
}

#[derive(Debug, Args)]
pub(super) struct Logout {
    /// Address of a service; the log-in ends for all services that share its token.
    #[arg(long, value_name = "URL", default_value_t = default_address())]
    url: String,
    /// Ends all log-ins.
    #[arg(long, conflicts_with = "url")]
    all: bool,
}

impl Login {
    /// Logs in, and keeps the tokens.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let file = file()?;
        let urls: Vec<Url> = self
            .urls
            .iter()
            .map(|url| private_address(url))
            .collect::<Result<_, _>>()?;
        let runtime = runtime()?;
        let mut login = match &self.issuer {
            Some(issuer) => runtime.block_on(self.by_device(issuer, console))?,
            None => self.by_password(&urls, console, &runtime)?,
        };
        login.servers = urls.iter().map(server).collect();
        // Two names of one service are one.
        login.servers.dedup();
        let summary = Summary::of(&login);
        let mut logins = file.lock()?;
        logins.put(login);
        logins.write()?;
        writeln!(console.out, "{summary}")?;
        writeln!(
            console.out,
            "The token is kept in {}",
            file.path().display()
        )?;
        Ok(Exit::Success)
    }

    /// Has the user confirm the log-in in a browser (RFC 8628).
    async fn by_device(
        &self,
        issuer: &str,
        console: &mut Console<'_>,
    ) -> Result<KeptTokens, CliError> {
        let client = OauthClient::discover(issuer, &self.client_id).await?;
        let authorization = client.authorize_device(self.scope.as_deref()).await?;
        print_instructions(&authorization, console)?;
        let tokens = client.confirmed(&authorization, tokio::time::sleep).await?;
        let mut login = KeptTokens::new(
            client.issuer().to_owned(),
            Some(self.client_id.clone()),
            self.scope.clone(),
        );
        login.set(
            &tokens.access_token,
            tokens.expires_at,
            tokens.refresh_token.as_ref(),
        );
        Ok(login)
    }

    /// Logs in a user of the service itself.
    fn by_password(
        &self,
        urls: &[Url],
        console: &mut Console<'_>,
        runtime: &tokio::runtime::Runtime,
    ) -> Result<KeptTokens, CliError> {
        let url = urls.first().expect("there is a default");
        let address = server(url);
        let service = RemoteService::public(&address)?;
        let keys = runtime.block_on(service.get(KEYS, &[], "application/json"));
        keys.map_err(|error| match error {
            CliError::Service(why) => CliError::Service(format!(
                "{why}; users of the service itself can only log in if {address}{KEYS} has its \
                 keys. Name the identity provider of the service with --issuer"
            )),
            other => other,
        })?;
        let username = match &self.username {
            Some(username) => username.clone(),
            None => asked_name(console)?,
        };
        let log_in = LogIn::FusionAuth {
            application_id: None,
            username,
            password: self.password(console)?,
        };
        let mut options = IdpOptions::with(address.as_str(), log_in);
        options.retries = 0;
        let token =
            runtime
                .block_on(IdpClient::new(options)?.token())
                .map_err(|error| match error {
                    IdpError::GaveUp { source, .. } => *source,
                    other => other,
                })?;
        let mut login = KeptTokens::new(address, None, None);
        login.set(&token, claimed_end(&token), None);
        Ok(login)
    }

    fn password(&self, console: &mut Console<'_>) -> Result<Secret, CliError> {
        let failed = |source| CliError::Read {
            name: "the password".to_owned(),
            source,
        };
        if self.password_stdin {
            let mut text = String::new();
            let input = io::stdin().lock().take(MAX_PASSWORD);
            io::BufReader::new(input)
                .read_line(&mut text)
                .map_err(failed)?;
            return Ok(Secret::new(text.trim_end_matches(['\r', '\n'])));
        }
        require_terminal("--username NAME --password-stdin")?;
        write!(console.err, "Password: ")?;
        console.err.flush()?;
        rpassword::read_password().map(Secret::new).map_err(failed)
    }
}

impl Logout {
    /// Revokes tokens, and forgets them.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let mut logins = file()?.lock()?;
        let named = server(&service_address(&self.url)?);
        let (ended, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut logins.logins)
            .into_iter()
            .partition(|login| self.all || login.is_for(&named));
        logins.logins = kept;
        if ended.is_empty() {
            writeln!(console.out, "there is no log-in to end")?;
            return Ok(Exit::Success);
        }
        // Forgotten first: a provider that does not answer keeps no token here.
        logins.write()?;
        let runtime = runtime()?;
        for login in &ended {
            if let Err(error) = runtime.block_on(revoke(login)) {
                let issuer = &login.issuer;
                writeln!(
                    console.err,
                    "warning: {issuer} has not revoked the token, which will expire: {error}"
                )?;
            }
            let (issuer, servers) = (&login.issuer, login.servers.join(", "));
            writeln!(console.out, "logged out of {issuer}, for {servers}")?;
        }
        Ok(Exit::Success)
    }
}

async fn revoke(login: &KeptTokens) -> Result<(), CliError> {
    let (Some(client_id), Some(token)) = (&login.client_id, login.refresh_token()) else {
        return Ok(());
    };
    let client = OauthClient::discover(&login.issuer, client_id).await?;
    client.revoke(&token).await?;
    Ok(())
}

fn print_instructions(
    authorization: &DeviceAuthorization,
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    let (code, page) = (&authorization.user_code, &authorization.verification_uri);
    match &authorization.verification_uri_complete {
        Some(complete) => {
            writeln!(
                console.out,
                "Open this page in a browser, on any device:\n\n  {complete}\n"
            )?;
            writeln!(
                console.out,
                "and check that it shows the code {code}. Or enter the code at {page}"
            )?;
        }
        None => {
            writeln!(
                console.out,
                "Open this page in a browser, on any device:\n\n  {page}\n"
            )?;
            writeln!(console.out, "and enter the code {code}")?;
        }
    }
    let minutes = authorization.expires_in.as_secs().div_ceil(60);
    writeln!(console.out, "Waiting for up to {minutes} minutes …")?;
    console.out.flush()?;
    Ok(())
}

/// Who has logged in, by what their token says. The services that take it verify it.
struct Summary {
    name: Option<String>,
    issuer: String,
    servers: String,
}

impl Summary {
    fn of(login: &KeptTokens) -> Self {
        let claims = unverified_claims(login.access_token().reveal()).unwrap_or_default();
        let text = |claim: &str| claims.get(claim).and_then(|value| value.as_str());
        let name = text("preferred_username").or_else(|| text("sub"));
        let shown = |name: &str| name.chars().filter(|c| !c.is_control()).collect();
        Summary {
            name: name.map(shown),
            issuer: login.issuer.clone(),
            servers: login.servers.join(", "),
        }
    }
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Logged in")?;
        if let Some(name) = &self.name {
            write!(f, " as {name}")?;
        }
        write!(f, " at {}, for {}", self.issuer, self.servers)
    }
}

fn claimed_end(token: &Secret) -> Option<SystemTime> {
    let end = unverified_claims(token.reveal())?.get("exp")?.as_u64()?;
    UNIX_EPOCH.checked_add(Duration::from_secs(end))
}

fn file() -> Result<LoginFile, CliError> {
    LoginFile::of_user().ok_or_else(|| {
        CliError::Usage(
            "there is no folder to keep the token in: set HOME or XDG_CONFIG_HOME".to_owned(),
        )
    })
}

/// Reads the address of a service to which a token can be sent without others reading it.
fn private_address(text: &str) -> Result<Url, CliError> {
    let url = service_address(text)?;
    if url.scheme() == "https" || is_loopback(&url) {
        return Ok(url);
    }
    Err(CliError::Usage(format!(
        "{text} is not encrypted, so others could read the token: use https, or pass a token with \
         --token-file or SOML_TOKEN to each command"
    )))
}

fn asked_name(console: &mut Console<'_>) -> Result<String, CliError> {
    require_terminal("--username NAME --password-stdin")?;
    write!(console.err, "User name: ")?;
    console.err.flush()?;
    let mut name = String::new();
    let read = io::stdin().lock().read_line(&mut name);
    read.map_err(|source| CliError::Read {
        name: "the user name".to_owned(),
        source,
    })?;
    Ok(name.trim().to_owned())
}

fn require_terminal(flags: &str) -> Result<(), CliError> {
    if io::stdin().is_terminal() {
        return Ok(());
    }
    Err(CliError::Usage(format!(
        "there is no terminal to prompt on: use {flags}"
    )))
}
