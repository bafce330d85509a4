//! `soml explain-query`.

use clap::Args;
use object_engine::ObjectService;
use object_engine::explain::{Explained, Explanation};
use rdf_load::thousands;
use serde_json::{Value, json};

use super::config_args::ConfigArgs;
use super::format::Format;
use super::input::Input;
use super::operation::Operation;
use super::query::exit_of;
use super::store::{Opened, StoreArgs, context, over_data, runtime};
use super::{CliError, Console, Exit};

#[derive(Debug, Args)]
pub(super) struct ExplainQuery {
    #[command(flatten)]
    operation: Operation,
    /// Output format.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    config: ConfigArgs,
}

impl ExplainQuery {
    /// Answers the operation and prints how; ends as `soml query` would. What a mutation writes is rolled
    /// back.
    pub(super) fn run(mut self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let settings = self.config.told(console)?;
        let request = self.operation.request(&mut self.input)?;
        self.input.check_against(&settings)?;
        let (schema, Opened { store, .. }) =
            over_data(&self.input, &self.store, &settings, console)?;
        let options = settings.service_options(store.as_ref());
        let service = ObjectService::new(schema.soml, store, options)
            .expect("the check made the same API from the same schema");
        let explained = runtime()?.block_on(service.explain(request, context(&settings)));
        let answer: Value = serde_json::from_slice(&explained.response.body.to_bytes())
            .map_err(|error| CliError::Input(format!("the response is not JSON: {error}")))?;
        match self.format {
            Format::Text => text(&explained, &answer, console)?,
            Format::Json => writeln!(console.out, "{:#}", document(&explained, &answer))?,
        }
        exit_of(&explained.response.body.to_bytes())
    }
}

fn document(explained: &Explained, answer: &Value) -> Value {
    let mut document = json!(explained.explanation);
    if !document.is_object() {
        document = json!({});
    }
    document["responseBytes"] = explained.response.body.len().into();
    document["errors"] = match &answer["errors"] {
        Value::Null => json!([]),
        errors => errors.clone(),
    };
    document
}

fn text(explained: &Explained, answer: &Value, console: &mut Console<'_>) -> Result<(), CliError> {
    match &explained.explanation {
        None => writeln!(console.out, "The operation is rejected; there is no plan.")?,
        Some(explanation) => explanation_text(explanation, console)?,
    }
    let errors = answer["errors"].as_array().map_or(&[][..], Vec::as_slice);
    let bytes = thousands(explained.response.body.len() as u64);
    let count = plural(errors.len() as u64, "error", "errors");
    writeln!(console.out, "\nAnswer: {bytes} bytes, {count}")?;
    for error in errors {
        let code = error["extensions"]["code"].as_str().unwrap_or_default();
        let message = error["message"].as_str().unwrap_or_default();
        writeln!(console.out, "  {code}: {message}{}", place(error))?;
    }
    Ok(())
}

fn place(error: &Value) -> String {
    let at = &error["locations"][0];
    let place = match (at["line"].as_u64(), at["column"].as_u64()) {
        (Some(line), Some(column)) => format!(" (line {line}, column {column})"),
        _ => String::new(),
    };
    match &error["path"] {
        Value::Null => place,
        path => format!("{place} at {path}"),
    }
}

fn explanation_text(explanation: &Explanation, console: &mut Console<'_>) -> Result<(), CliError> {
    let planned = milliseconds(explanation.planning_microseconds);
    writeln!(console.out, "Plan, made in {planned}:\n")?;
    for line in &explanation.plan {
        writeln!(console.out, "  {line}")?;
    }
    let executed = milliseconds(explanation.execution_microseconds);
    let calls = plural(explanation.round_trips, "call", "calls");
    writeln!(
        console.out,
        "\nExecution, in {executed}, with {calls} to the store:\n"
    )?;
    for (number, step) in explanation.steps.iter().enumerate() {
        let (number, work) = (number + 1, step.work);
        let rows = match work {
            "walks" => plural(step.rows as u64, "value", "values"),
            _ => plural(step.rows as u64, "row", "rows"),
        };
        let time = milliseconds(step.microseconds);
        writeln!(
            console.out,
            "  {number:>3}. {work:<9} {rows:>16} {time:>14}"
        )?;
        if let Some(way) = &step.look_up {
            let candidates = plural(way.candidates as u64, "candidate", "candidates");
            writeln!(console.out, "       by {}: {candidates}", way.by)?;
        }
        if let Some(sparql) = &step.sparql {
            writeln!(console.out, "       {sparql}")?;
        }
    }
    if explanation.steps.is_empty() {
        writeln!(console.out, "  The store was not called.")?;
    }
    Ok(())
}

fn milliseconds(microseconds: u64) -> String {
    format!(
        "{}.{:03} ms",
        thousands(microseconds / 1_000),
        microseconds % 1_000
    )
}

fn plural(n: u64, one: &str, many: &str) -> String {
    match n {
        1 => format!("1 {one}"),
        n => format!("{} {many}", thousands(n)),
    }
}
