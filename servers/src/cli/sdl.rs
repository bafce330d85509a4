//! `soml sdl`.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use graphql_gen::typesystem::{Api, FederationMode};
use schema_registry::served_api;
use soml_core::access::Rights;

use super::input::{read_schema, usable_with};
use super::{CliError, Console, Exit};

#[derive(Debug, Args)]
pub(super) struct Sdl {
    /// SOML document.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What to print.
    #[arg(long, value_enum, default_value = "api")]
    kind: Kind,
    /// Federation version for `--kind federation` [default: 1].
    #[arg(long, value_name = "VERSION", value_parser = ["1", "2"])]
    federation_version: Option<String>,
    /// Leaves out the type `Mutation` with its inputs and payloads from `--kind api`, as the service
    /// does with `graphql.mutation.enabled=false` and over a read-only store.
    #[arg(long)]
    no_mutations: bool,
    /// Leaves out types that no operation can use, as `graphql.schema.prune` does in the service.
    #[arg(long)]
    prune: bool,
    /// Prints only what a caller with this role can read, for `--kind api`; can be repeated.
    #[arg(long, value_name = "ROLE")]
    role: Vec<String>,
    /// Describes all arguments, as `graphql.schema.describeArguments` does in the service.
    #[arg(long)]
    describe_arguments: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// The API as served.
    Api,
    /// The subgraph schema for a federation gateway: with keys, without `_service`, `_entities` and
    /// mutations.
    Federation,
    /// The API with mutations, and with directives that carry what the document says about each
    /// object and property.
    Full,
}

impl Sdl {
    /// Prints the schema definition in the form asked for; findings go beside it.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let mode = self.mode()?;
        let options = served_api()
            .with_mutations(!self.no_mutations)
            .with_federation(mode)
            .with_prune(self.prune)
            .with_argument_descriptions(self.describe_arguments);
        let text = read_schema(&self.file)?;
        let name = self.file.display().to_string();
        let api = usable_with(&name, &text, &options, console)?.api;
        let printed = match self.kind {
            Kind::Api if !self.role.is_empty() => self.for_roles(&api, console)?,
            Kind::Api => api.sdl(),
            Kind::Federation => api.subgraph_sdl(mode),
            Kind::Full => api.full_sdl(),
        };
        console.out.write_all(printed.as_bytes())?;
        Ok(Exit::Success)
    }

    /// Prints what can be read with the roles of the arguments.
    fn for_roles(&self, api: &Api, console: &mut Console<'_>) -> Result<String, CliError> {
        let rights = Arc::new(Rights::new(api.soml()));
        let declared: Vec<&str> = api
            .soml()
            .rbac
            .roles
            .iter()
            .map(|r| r.name.as_str())
            .collect();
        for role in self
            .role
            .iter()
            .filter(|role| !declared.contains(&role.as_str()))
        {
            let declared = declared.join(", ");
            writeln!(
                console.err,
                "warning: the schema does not declare the role `{role}`; it declares: {declared}"
            )?;
        }
        Ok(api.sdl_for(&rights.of(self.role.iter().map(String::as_str))))
    }

    fn mode(&self) -> Result<FederationMode, CliError> {
        let refused = |message: &str| Err(CliError::Usage(message.to_owned()));
        match (self.kind, self.federation_version.as_deref()) {
            _ if !self.role.is_empty() && self.kind != Kind::Api => {
                refused("--role prints what can be read, of the kind `api`; omit --kind")
            }
            (Kind::Federation, _) if self.no_mutations => {
                refused("--kind federation has no mutations; omit --no-mutations")
            }
            (Kind::Full, _) if self.no_mutations => refused(
                "--kind full is about everything that the document says; omit --no-mutations",
            ),
            (Kind::Federation, Some("2")) => Ok(FederationMode::V2),
            (Kind::Federation, _) => Ok(FederationMode::V1),
            (_, Some(_)) => refused("--federation-version needs --kind federation"),
            (_, None) => Ok(FederationMode::Off),
        }
    }
}
