//! `soml changes`: what mutations have changed, asked of a running service.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use graph_store::remote::http::Secret;
use graph_store::remote::http::outgoing::{self, causes};
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderValue};
use reqwest::{Client, RequestBuilder, StatusCode, Url};
use serde_json::Value;

use super::{CliError, Console, Exit};
use crate::change_records::{Change, ChangePage, MAX_LIMIT};
use crate::load::read_text;

/// The variable that holds the token.
const TOKEN: &str = "SOML_TOKEN";

/// Time between two questions for what is new.
const INTERVAL: Duration = Duration::from_secs(1);
/// Maximum time of a request as a whole.
const TIMEOUT: Duration = Duration::from_secs(90);
/// Maximum size of a page.
const MAX_BYTES: usize = 256 << 20;

#[derive(Debug, Args)]
pub(super) struct Changes {
    /// Address of the service.
    #[arg(long, value_name = "URL", default_value = "http://localhost:9995")]
    url: String,
    /// Prints only changes after this sequence.
    #[arg(long, value_name = "SEQUENCE", default_value = "0")]
    after: u64,
    /// Goes on with what is new, until somebody stops it.
    #[arg(long)]
    follow: bool,
    /// Output format.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// File that holds the token [default: the variable SOML_TOKEN].
    #[arg(long, value_name = "FILE", env = "SOML_TOKEN_FILE")]
    token_file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// One line for each object: sequence, time, what happened, type and IRI.
    Text,
    /// One line of JSON for each record.
    Json,
}

impl Changes {
    /// Prints the records page by page.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let service = ChangeService::new(&self.url, self.token()?)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(CliError::Start)?;
        runtime.block_on(self.print(&service, console))?;
        Ok(Exit::Success)
    }

    fn token(&self) -> Result<Option<Secret>, CliError> {
        let text = match &self.token_file {
            Some(path) => Some(read_text(path).map_err(|source| CliError::Read {
                name: path.display().to_string(),
                source,
            })?),
            None => std::env::var(TOKEN).ok(),
        };
        let token = text.map(|text| text.trim().to_owned());
        Ok(token.filter(|token| !token.is_empty()).map(Secret::new))
    }

    async fn print(
        &self,
        service: &ChangeService,
        console: &mut Console<'_>,
    ) -> Result<(), CliError> {
        let mut after = self.after;
        loop {
            let page = service.page(after).await?;
            for change in &page.changes {
                match self.format {
                    Format::Text => print_text(change, console)?,
                    Format::Json => {
                        let line = serde_json::to_string(change).expect("it consists of texts");
                        writeln!(console.out, "{line}")?;
                    }
                }
            }
            // Whoever reads along sees a record once it is there.
            console.out.flush()?;
            if page.changes.is_empty() {
                if !self.follow {
                    return Ok(());
                }
                tokio::time::sleep(INTERVAL).await;
            } else if page.next <= after {
                let message = "the pages do not go on; is this the address of the service?";
                return Err(CliError::Service(message.to_owned()));
            }
            after = after.max(page.next);
        }
    }
}

fn print_text(change: &Change, console: &mut Console<'_>) -> Result<(), CliError> {
    let Change { sequence, time, .. } = change;
    if change.objects.is_empty() {
        writeln!(console.out, "{sequence}  {time}  nothing")?;
    }
    for of in &change.objects {
        for id in &of.ids {
            let (kind, name) = (&of.kind, &of.object_type);
            writeln!(console.out, "{sequence}  {time}  {kind}  {name}  <{id}>")?;
        }
    }
    Ok(())
}

/// A service that is asked for records.
struct ChangeService {
    client: Client,
    url: Url,
    token: Option<HeaderValue>,
}

impl ChangeService {
    fn new(address: &str, token: Option<Secret>) -> Result<Self, CliError> {
        let is_service = |url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host();
        let url = Url::parse(address).ok().filter(is_service);
        let mut url = url.ok_or_else(|| {
            CliError::Usage(format!(
                "--url {address} is no address such as http://localhost:9995"
            ))
        })?;
        let path = format!("{}/changes", url.path().trim_end_matches('/'));
        url.set_path(&path);
        let token = token.map(|token| {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", token.reveal()))
                .map_err(|_| CliError::Usage("the token is malformed".to_owned()))?;
            value.set_sensitive(true);
            Ok::<_, CliError>(value)
        });
        let failed = |text: String| CliError::Service(text);
        let tls = outgoing::tls([&url]).map_err(|error| failed(error.to_string()))?;
        let client = outgoing::client(tls).timeout(TIMEOUT).build();
        Ok(ChangeService {
            client: client.map_err(|error| failed(causes(error)))?,
            url,
            token: token.transpose()?,
        })
    }

    fn request(&self, after: u64) -> RequestBuilder {
        let mut url = self.url.clone();
        url.query_pairs_mut()
            .append_pair("after", &after.to_string())
            .append_pair("limit", &MAX_LIMIT.to_string());
        let request = self.client.get(url).header(ACCEPT, "application/json");
        match &self.token {
            Some(token) => request.header(AUTHORIZATION, token.clone()),
            None => request,
        }
    }

    async fn page(&self, after: u64) -> Result<ChangePage, CliError> {
        let failed = |error| CliError::Service(causes(error));
        let mut response = self.request(after).send().await.map_err(failed)?;
        let mut bytes = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(failed)? {
            if bytes.len() + piece.len() > MAX_BYTES {
                return Err(CliError::Service("the answer is too large".to_owned()));
            }
            bytes.extend_from_slice(&piece);
        }
        if response.status() != StatusCode::OK {
            return Err(refused(response.status(), &bytes));
        }
        serde_json::from_slice(&bytes)
            .map_err(|_| CliError::Service("the answer is no page of change records".to_owned()))
    }
}

/// Returns the error that an answer says.
fn refused(status: StatusCode, body: &[u8]) -> CliError {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let error = &body["errors"][0];
    let code = error["extensions"]["code"].as_str();
    let message = error["message"].as_str();
    CliError::Service(match (code, message) {
        (Some(code), Some(message)) => format!("{status}: {message} ({code})"),
        _ => format!("it answered {status}"),
    })
}
