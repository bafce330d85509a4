//! `soml plan`.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use federation::{ActiveLabels, CallerClaims, Gateway, GatewayOptions, InProcess, Supergraph};
use graphql_service::{GraphqlError, RequestContext};

use super::operation::{Operation, read_file};
use super::{CliError, Console, Exit};

#[derive(Debug, Args)]
pub(super) struct Plan {
    #[command(flatten)]
    operation: Operation,
    /// Supergraph: the SDL of a composed schema, with its `join__` directives.
    #[arg(long, value_name = "FILE")]
    supergraph: PathBuf,
    /// Activates a label of `@override`; can be repeated.
    #[arg(long, value_name = "LABEL")]
    label: Vec<String>,
}

impl Plan {
    /// Prints the requests to subgraphs that answer an operation, without sending any.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let request = self.operation.alone()?;
        let name = self.supergraph.display().to_string();
        let sdl = read_file(&self.supergraph)?;
        let supergraph = match Supergraph::parse(&sdl, &name) {
            Ok(supergraph) => Arc::new(supergraph),
            Err(errors) => {
                for error in errors {
                    let place = error
                        .location
                        .map_or_else(String::new, |at| format!(":{}:{}", at.line, at.column));
                    writeln!(console.err, "error[{}]: {name}{place}: {error}", error.code)?;
                }
                return Ok(Exit::BadInput);
            }
        };
        let mut options = GatewayOptions::default();
        options.labels = self.labels(&supergraph)?;
        let nowhere = Arc::new(InProcess::new());
        // Plans are those of a request that may do everything.
        options.authorizer = Some(Arc::new(CallerClaims::default()));
        let gateway = Gateway::new(Arc::clone(&supergraph), nowhere, options)
            .expect("nothing is missing but an authorizer");
        match gateway.plan(&request, &RequestContext::new()) {
            Ok(plan) => {
                write!(console.out, "{}", plan.text(&supergraph))?;
                Ok(Exit::Success)
            }
            Err(errors) => {
                for error in &errors {
                    report(error, console)?;
                }
                Ok(Exit::BadInput)
            }
        }
    }

    fn labels(&self, supergraph: &Supergraph) -> Result<ActiveLabels, CliError> {
        let known = supergraph.labels();
        let ids = self.label.iter().map(|label| {
            let position = known.iter().position(|known| known == label);
            position.map(|at| supergraph.label_id(at)).ok_or_else(|| {
                let known = if known.is_empty() {
                    "it has none".to_owned()
                } else {
                    format!("it has {}", known.join(", "))
                };
                CliError::Usage(format!("the supergraph has no label `{label}`; {known}"))
            })
        });
        Ok(ActiveLabels::new(ids.collect::<Result<Vec<_>, _>>()?))
    }
}

fn report(error: &GraphqlError, console: &mut Console<'_>) -> Result<(), CliError> {
    let place = error.locations.first().map_or_else(String::new, |at| {
        format!(" (line {}, column {})", at.line, at.column)
    });
    writeln!(
        console.err,
        "error[{}]: {}{place}",
        error.code, error.message
    )?;
    Ok(())
}
