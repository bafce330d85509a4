//! `soml changes`: what mutations have changed, asked of a running service.

use std::time::Duration;

use clap::{Args, ValueEnum};
use object_service::{Change, ChangePage, MAX_LIMIT};

use super::remote::{RemoteService, TokenArgs, default_address};
use super::{CliError, Console, Exit};

/// Time between two questions for what is new.
const INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug, Args)]
pub(super) struct Changes {
    /// Address of the service.
    #[arg(long, value_name = "URL", default_value_t = default_address())]
    url: String,
    /// Prints only changes after this sequence.
    #[arg(long, value_name = "SEQUENCE", default_value = "0")]
    after: u64,
    /// Keeps printing new changes until interrupted.
    #[arg(long)]
    follow: bool,
    /// Output format.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    token: TokenArgs,
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
        let service = RemoteService::new(&self.url, &self.token)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(CliError::Start)?;
        runtime.block_on(self.print(&service, console))?;
        Ok(Exit::Success)
    }

    async fn print(
        &self,
        service: &RemoteService,
        console: &mut Console<'_>,
    ) -> Result<(), CliError> {
        let mut after = self.after;
        loop {
            let page = page(service, after).await?;
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
                let message = "the next page does not continue the previous one; is this the \
                               address of the service?";
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

/// Returns the records after a sequence, as many as a page has.
async fn page(service: &RemoteService, after: u64) -> Result<ChangePage, CliError> {
    let parameters = [
        ("after", after.to_string()),
        ("limit", MAX_LIMIT.to_string()),
    ];
    let page = service.get("/changes", &parameters, "application/json");
    serde_json::from_slice(&page.await?)
        .map_err(|_| CliError::Service("the response is not a page of change records".to_owned()))
}
