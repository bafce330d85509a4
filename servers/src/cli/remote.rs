//! A running service that a command asks.

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use outbound::{Body, BodyError, Secret, causes};
use rdf_load::read_text;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue,
};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use serde_json::Value;

use super::CliError;
use super::kept_login::KeptLogin;
use crate::config::Settings;

/// The variable that holds the token.
const TOKEN: &str = "SOML_TOKEN";
/// The variable that names the file with the token.
const TOKEN_FILE: &str = "SOML_TOKEN_FILE";

/// Maximum time of a request as a whole.
const TIMEOUT: Duration = Duration::from_secs(90);
/// Maximum time of a request for work that copies all data.
const LONG_TIMEOUT: Duration = Duration::from_secs(60 * 60);
/// Maximum time of an answer that is read piece by piece: a week.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Maximum time without a piece of it.
const SILENCE: Duration = Duration::from_secs(10 * 60);
/// Maximum size of an answer.
const MAX_BYTES: u64 = 256 << 20;

/// Where the token for a service is.
#[derive(Debug, Args)]
pub(super) struct TokenArgs {
    /// File that contains the token [default: the file named by SOML_TOKEN_FILE, or else the token in SOML_TOKEN].
    ///
    /// Without any of these, the token stored by `soml login` for the service is sent.
    // A variable may be set for other commands, so it does not ask for `--url`.
    #[arg(long, value_name = "FILE", requires = "url")]
    token_file: Option<PathBuf>,
}

impl TokenArgs {
    fn token(&self) -> Result<Option<Secret>, CliError> {
        let variable = || std::env::var_os(TOKEN_FILE).map(PathBuf::from);
        let text = match self.token_file.clone().or_else(variable) {
            Some(path) => Some(read_text(&path).map_err(|source| CliError::Read {
                name: path.display().to_string(),
                source,
            })?),
            None => std::env::var(TOKEN).ok(),
        };
        let token = text.map(|text| text.trim().to_owned());
        Ok(token.filter(|token| !token.is_empty()).map(Secret::new))
    }
}

/// Returns the address of a service on this machine that is told nothing else.
pub(super) fn default_address() -> String {
    format!("http://localhost:{}", Settings::default().port)
}

/// A service that is asked.
pub(super) struct RemoteService {
    client: Client,
    url: Url,
    token: Token,
}

/// What requests prove their sender with.
enum Token {
    /// Nothing.
    None,
    /// A token that the command was given.
    Given(HeaderValue),
    /// The token of a log-in, which is refreshed while the command runs.
    Kept(Box<KeptLogin>),
}

impl Token {
    fn given(token: &Secret) -> Result<Self, CliError> {
        let value = token
            .bearer()
            .map_err(|_| CliError::Usage("the token is malformed".to_owned()))?;
        Ok(Token::Given(value))
    }

    async fn header(&self) -> Result<Option<HeaderValue>, CliError> {
        match self {
            Token::None => Ok(None),
            Token::Given(value) => Ok(Some(value.clone())),
            Token::Kept(login) => {
                let value = login.token().await?.bearer();
                let malformed = |_| CliError::Usage("the token is malformed".to_owned());
                value.map(Some).map_err(malformed)
            }
        }
    }
}

/// Reads the address of a service.
pub(super) fn service_address(address: &str) -> Result<Url, CliError> {
    let is_service = |url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host();
    let url = Url::parse(address).ok().filter(is_service);
    url.ok_or_else(|| {
        CliError::Usage(format!(
            "{address} is not an address such as http://localhost:9995"
        ))
    })
}

impl RemoteService {
    pub(super) fn new(address: &str, token: &TokenArgs) -> Result<Self, CliError> {
        let url = service_address(address)?;
        let token = match token.token()? {
            Some(token) => Token::given(&token)?,
            None => KeptLogin::of(&url)?.map_or(Token::None, |kept| Token::Kept(Box::new(kept))),
        };
        RemoteService::with_token(url, token)
    }

    /// Returns a service of which only what is public is asked.
    pub(super) fn public(address: &str) -> Result<Self, CliError> {
        RemoteService::with_token(service_address(address)?, Token::None)
    }

    fn with_token(url: Url, token: Token) -> Result<Self, CliError> {
        let failed = |text: String| CliError::Service(text);
        let tls = outbound::tls::config_for([&url]).map_err(|error| failed(error.to_string()))?;
        let client = outbound::client(tls).timeout(TIMEOUT).build();
        Ok(RemoteService {
            client: client.map_err(|error| failed(causes(error)))?,
            url,
            token,
        })
    }

    /// Returns the address of a path of the service.
    fn at(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        url.set_path(&format!("{}{path}", url.path().trim_end_matches('/')));
        url
    }

    /// Returns what the service has at a path.
    pub(super) async fn get(
        &self,
        path: &str,
        parameters: &[(&str, String)],
        media_type: &'static str,
    ) -> Result<Bytes, CliError> {
        let mut url = self.at(path);
        for (name, value) in parameters {
            url.query_pairs_mut().append_pair(name, value);
        }
        let response = self.send(self.client.get(url).header(ACCEPT, media_type));
        let (status, body) = read(response.await?).await?;
        match status {
            StatusCode::OK => Ok(body),
            status => Err(self.refused(status, &body).await),
        }
    }

    /// Sends a GraphQL request, and returns the response, which may have errors.
    pub(super) async fn query(&self, request: &Value) -> Result<Bytes, CliError> {
        let request = self
            .client
            .post(self.at("/graphql"))
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/json")
            .body(request.to_string());
        let (status, body) = read(self.send(request).await?).await?;
        match status {
            StatusCode::OK => Ok(body),
            status => Err(self.refused(status, &body).await),
        }
    }

    /// Asks for something to be made at a path, of which each segment is given.
    pub(super) async fn put(&self, path: &[&str]) -> Result<(), CliError> {
        let mut url = self.url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        // Whoever stops waiting does not stop the work.
        let request = self.client.put(url).timeout(LONG_TIMEOUT);
        let (status, body) = read(self.send(request).await?).await?;
        if status.is_success() {
            Ok(())
        } else {
            Err(self.refused(status, &body).await)
        }
    }

    /// Begins to read what the service has at a path, however long that takes.
    pub(super) async fn download(
        &self,
        path: &str,
        media_type: &'static str,
        encoding: &'static str,
    ) -> Result<Download, CliError> {
        let request = self.client.get(self.at(path)).timeout(DOWNLOAD_TIMEOUT);
        let request = request
            .header(ACCEPT, media_type)
            .header(ACCEPT_ENCODING, encoding);
        let response = within_silence(self.send(request)).await??;
        if response.status() != StatusCode::OK {
            let (status, body) = read(response).await?;
            return Err(self.refused(status, &body).await);
        }
        let download = Download(Body::of(response).within(Some(SILENCE)));
        let said = |message: &str| Err(CliError::Service(message.to_owned()));
        if !download.header(CONTENT_TYPE).starts_with(media_type) {
            return said("the response is not a dump; is this the address of the service?");
        }
        let is_plain = matches!(download.header(CONTENT_ENCODING), "" | "identity");
        let is_packed = download.is_gzipped() && encoding == "gzip";
        if !is_plain && !is_packed {
            return said("the response has an encoding that was not requested");
        }
        if !download.0.end_is_marked() {
            return said(
                "the answer has no marked end, so a part could be taken for the whole; a proxy may be the reason",
            );
        }
        Ok(download)
    }

    /// Returns the error that an answer says, with what helps where the token is missing or not accepted.
    async fn refused(&self, status: StatusCode, body: &[u8]) -> CliError {
        let said = failure(status, body);
        let hint = match &self.token {
            Token::Kept(login) if status == StatusCode::UNAUTHORIZED => {
                format!("; to log in again: {}", login.command().await)
            }
            Token::None if status == StatusCode::UNAUTHORIZED => {
                "; `soml login` logs in, and --token-file names a token".to_owned()
            }
            _ => String::new(),
        };
        CliError::Service(format!("{said}{hint}"))
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, CliError> {
        let request = match self.token.header().await? {
            Some(token) => request.header(AUTHORIZATION, token),
            None => request,
        };
        let response = request.send().await;
        response.map_err(|error| CliError::Service(causes(error)))
    }
}

/// An answer that is read piece by piece.
pub(super) struct Download(Body);

impl Download {
    fn header(&self, name: HeaderName) -> &str {
        let value = self.0.response().headers().get(name);
        value
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }

    /// Returns whether the pieces are those of a gzip file.
    pub(super) fn is_gzipped(&self) -> bool {
        self.header(CONTENT_ENCODING).eq_ignore_ascii_case("gzip")
    }

    /// Returns the next piece; `None` at the end of the whole.
    pub(super) async fn piece(&mut self) -> Result<Option<Bytes>, CliError> {
        self.0.next().await.map_err(|error| match error {
            BodyError::Broken(error) => {
                CliError::Service(format!("the response broke off: {}", causes(error)))
            }
            _ => silent(),
        })
    }
}

/// Waits until the service sends something.
async fn within_silence<T>(work: impl Future<Output = T>) -> Result<T, CliError> {
    let done = tokio::time::timeout(SILENCE, work).await;
    done.map_err(|_| silent())
}

fn silent() -> CliError {
    let seconds = SILENCE.as_secs();
    CliError::Service(format!("it sent nothing for {seconds} seconds"))
}

async fn read(response: Response) -> Result<(StatusCode, Bytes), CliError> {
    let status = response.status();
    let body = Body::of(response)
        .limited(MAX_BYTES)
        .all()
        .await
        .map_err(|error| match error {
            BodyError::Broken(error) => CliError::Service(causes(error)),
            _ => CliError::Service("the answer is too large".to_owned()),
        })?;
    Ok((status, body))
}

/// Returns what an answer without success says.
fn failure(status: StatusCode, body: &[u8]) -> String {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let error = &body["errors"][0];
    let code = error["extensions"]["code"].as_str();
    let message = error["message"].as_str();
    match (code, message) {
        (Some(code), Some(message)) => format!("{status}: {message} ({code})"),
        _ => format!("it answered {status}"),
    }
}
