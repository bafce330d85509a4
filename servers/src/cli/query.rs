//! `soml query`.

use clap::Args;
use object_engine::ObjectService;

use super::config_args::ConfigArgs;
use super::input::Input;
use super::operation::Operation;
use super::store::{Opened, StoreArgs, context, over_data, runtime};
use super::{CliError, Console, Exit};

#[derive(Debug, Args)]
pub(super) struct Query {
    #[command(flatten)]
    operation: Operation,
    /// Indents the response.
    #[arg(long)]
    pretty: bool,
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    config: ConfigArgs,
}

impl Query {
    /// Prints the answer; it is bad when it has errors and no data.
    pub(super) fn run(mut self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let settings = self.config.told(console)?;
        let request = self.operation.request(&mut self.input)?;
        self.input.check_against(&settings)?;
        let (schema, Opened { store, .. }) =
            over_data(&self.input, &StoreArgs::none(), &settings, console)?;
        let options = settings.service_options(store.as_ref());
        let service = ObjectService::new(schema.soml, store, options)
            .expect("the check made the same API from the same schema");
        let response = runtime()?.block_on(service.execute(request, context(&settings)));
        self.print(&response.body.to_bytes(), console)
    }

    fn print(&self, body: &[u8], console: &mut Console<'_>) -> Result<Exit, CliError> {
        if self.pretty {
            let answer: serde_json::Value = serde_json::from_slice(body)
                .map_err(|error| CliError::Input(format!("the response is not JSON: {error}")))?;
            writeln!(console.out, "{answer:#}")?;
        } else {
            console.out.write_all(body)?;
            writeln!(console.out)?;
        }
        exit_of(body)
    }
}

/// Returns how a command ends that gave this answer: badly when it has errors and no data.
pub(super) fn exit_of(body: &[u8]) -> Result<Exit, CliError> {
    let answer: serde_json::Value = serde_json::from_slice(body)
        .map_err(|error| CliError::Input(format!("the response is not JSON: {error}")))?;
    let no_data = answer.get("data").is_none_or(serde_json::Value::is_null);
    let failed = no_data && answer.get("errors").is_some();
    Ok(if failed {
        Exit::BadInput
    } else {
        Exit::Success
    })
}
