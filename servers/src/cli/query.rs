//! `soml query`.

use std::fs;
use std::io::{self, Read};
use std::time::Instant;

use crate::config::Settings;
use clap::Args;
use graphql_gen::request::{Request, RequestContext};
use graphql_gen::service::ObjectService;

use super::config_args::ConfigArgs;
use super::infer::{INFERRED, from_data, summary};
use super::input::{Input, usable};
use super::{CliError, Console, Exit};
use crate::schema::UsableSchema;
use crate::store::DataStore;

#[derive(Debug, Args)]
pub(super) struct Query {
    /// The document, `@FILE`, or `-` for standard input; a demo has one of its own.
    ///
    /// May also stand behind the files of `--data`.
    query: Option<String>,
    /// Variables: a JSON object, or `@FILE`.
    #[arg(short, long, value_name = "JSON")]
    variables: Option<String>,
    /// The operation to run, when the document has several.
    #[arg(long, value_name = "NAME")]
    operation: Option<String>,
    /// Indents the answer.
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
        let (settings, warnings) = self.config.settings(Settings::default(), &[])?;
        for warning in warnings {
            writeln!(console.err, "warning: {warning}")?;
        }
        self.take_query_from_data();
        self.input.check_against(&settings)?;
        let request = self.request()?;
        let store = DataStore::open(&settings)?;
        let schema = self.schema_over_data(&store, console)?;
        let options = settings.service_options();
        let service = ObjectService::new(schema.soml, store.graph_store(), options)
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

    /// Loads the data and reads the schema; where none is given one is made from the data.
    fn schema_over_data(
        &self,
        store: &DataStore,
        console: &mut Console<'_>,
    ) -> Result<UsableSchema, CliError> {
        let Some((name, text)) = self.input.schema_text()? else {
            let Some(store) = store.embedded() else {
                let message = "a schema is needed: give --schema FILE";
                return Err(CliError::Usage(message.to_owned()));
            };
            if self.input.load(store, console)?.is_none() {
                let message = "a schema or data is needed: give --schema FILE, --data FILE, \
                               or --demo star-wars";
                return Err(CliError::Usage(message.to_owned()));
            }
            let inferred = from_data(store)?;
            writeln!(
                console.err,
                "{}, since --schema names none",
                summary(&inferred)
            )?;
            return usable(INFERRED, &inferred.yaml, console);
        };
        // Before the data, so that mistakes in the schema are known at once.
        let schema = usable(&name, &text, console)?;
        if let Some(store) = store.embedded() {
            self.input.load(store, console)?;
        }
        Ok(schema)
    }

    /// `--data` takes all values that follow it; the last of them can be the query.
    fn take_query_from_data(&mut self) {
        if self.query.is_none() {
            let last = self.input.data.pop_if(|last| {
                let text = last.to_str();
                text.is_some_and(is_query)
            });
            self.query = last.and_then(|last| last.into_os_string().into_string().ok());
        }
    }

    fn request(&self) -> Result<Request, CliError> {
        let query = match (&self.query, &self.input.demo) {
            (Some(query), _) => argument(query)?,
            (None, Some(demo)) => demo.query.to_owned(),
            (None, None) => {
                let message = "a query is needed: give it as an argument, \
                               or @FILE, or - for standard input";
                return Err(CliError::Usage(message.to_owned()));
            }
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

/// Tells whether an argument is a query and not a file name: a GraphQL document, `@FILE` or `-`.
fn is_query(argument: &str) -> bool {
    let document = argument.trim_start();
    let keyword = document.split(|c: char| !c.is_ascii_alphabetic()).next();
    let rest = &document[keyword.map_or(0, str::len)..];
    match keyword {
        Some("query" | "mutation" | "subscription" | "fragment") => {
            rest.starts_with([' ', '\t', '\r', '\n', '{', '(', '@'])
        }
        _ => argument == "-" || document.starts_with(['{', '#', '@']),
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

#[cfg(test)]
mod tests {
    use super::is_query;

    #[test]
    fn queries_are_told_from_file_names() {
        for query in [
            "{a}",
            " \n{ a }",
            "query A {a}",
            "query($a: ID){a}",
            "# c\n{a}",
            "@q",
            "-",
        ] {
            assert!(is_query(query), "{query}");
        }
        for file in [
            "query.ttl",
            "a b.ttl",
            "queries/a.nt",
            "query",
            "fragment-1.nq",
            "data.ttl",
        ] {
            assert!(!is_query(file), "{file}");
        }
    }
}
