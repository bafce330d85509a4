//! `soml query`.

use std::fs;
use std::io::{self, Read};
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use graphql_gen::request::{Request, RequestContext};
use graphql_gen::service::{ObjectService, ServiceOptions};
use graphql_gen::store::oxigraph::OxigraphStore;
use oxigraph::store::Store;

use super::config_args::ConfigArgs;
use super::input::{Input, usable};
use super::{CliError, Console, Exit};

#[derive(Debug, Args)]
pub(super) struct Query {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    config: ConfigArgs,
    /// Variables: a JSON object, or `@FILE`.
    #[arg(short, long, value_name = "JSON")]
    variables: Option<String>,
    /// The operation to run, when the document has several.
    #[arg(long, value_name = "NAME")]
    operation: Option<String>,
    /// Indents the answer.
    #[arg(long)]
    pretty: bool,
    /// The document, or `@FILE`, or `-` for standard input; a demo has one of its own.
    query: Option<String>,
}

impl Query {
    /// Prints the answer; it is bad when it has errors and no data.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let (settings, _) = self.config.settings(&[])?;
        let request = self.request()?;
        let Some((name, text)) = self.input.schema_text()? else {
            let message = "a schema is needed: give --schema FILE or --demo star-wars";
            return Err(CliError::Usage(message.to_owned()));
        };
        let schema = usable(&name, &text, console)?;
        let store = Store::new().map_err(crate::load::LoadError::Store)?;
        self.input.load(&store, console)?;
        let options = ServiceOptions {
            limits: settings.limits.clone(),
            ..ServiceOptions::default()
        };
        let service = ObjectService::new(schema.soml, Arc::new(OxigraphStore::new(store)), options)
            .expect("the check made the same API from the same schema");
        let context = RequestContext {
            deadline: Some(Instant::now() + settings.request_timeout),
            ..RequestContext::default()
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(CliError::Start)?;
        let response = runtime.block_on(service.execute(request, context));
        self.print(&response.body, console)
    }

    fn request(&self) -> Result<Request, CliError> {
        let query = match (&self.query, &self.input.demo) {
            (Some(query), _) => argument(query)?,
            (None, Some(demo)) => demo.query.to_owned(),
            (None, None) => return Err(CliError::Usage("there is no query".to_owned())),
        };
        let variables = match &self.variables {
            Some(variables) => {
                let parsed = serde_json::from_str(&argument(variables)?);
                Some(parsed.map_err(|error| {
                    CliError::Usage(format!("the variables are not a JSON object: {error}"))
                })?)
            }
            None => None,
        };
        Ok(Request {
            query,
            operation_name: self.operation.clone(),
            variables,
            extensions: None,
        })
    }

    fn print(&self, body: &[u8], console: &mut Console<'_>) -> Result<Exit, CliError> {
        let answer: serde_json::Value = serde_json::from_slice(body)
            .map_err(|error| CliError::Input(format!("the answer is not JSON: {error}")))?;
        if self.pretty {
            writeln!(console.out, "{answer:#}")?;
        } else {
            console.out.write_all(body)?;
            writeln!(console.out)?;
        }
        let no_data = answer.get("data").is_none_or(serde_json::Value::is_null);
        let failed = no_data && answer.get("errors").is_some();
        Ok(if failed {
            Exit::BadInput
        } else {
            Exit::Success
        })
    }
}

/// Returns what an argument stands for: itself, the file after `@`, or standard input for `-`.
fn argument(argument: &str) -> Result<String, CliError> {
    let (name, text) = match argument.strip_prefix('@') {
        Some(path) => (path, fs::read_to_string(path)),
        None if argument == "-" => ("standard input", stdin()),
        None => return Ok(argument.to_owned()),
    };
    text.map_err(|source| CliError::Read {
        name: name.to_owned(),
        source,
    })
}

fn stdin() -> io::Result<String> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    Ok(text)
}
