//! `soml whoami`.

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use graphql_service::Caller;
use serde_json::{Map, Value};
use service_auth::{Refusal, Verifier, unverified_claims};
use soml_core::access::{Rights, RightsTable, ServicePart};

use super::config_args::ConfigArgs;
use super::input::{read_schema, usable};
use super::own_provider::OwnProvider;
use super::{CliError, Console, Exit};
use crate::demo::Demo;

/// Longest input that is read as a token.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Debug, Args)]
pub(super) struct Whoami {
    /// Token; `-` reads it from standard input, which keeps it out of the process list.
    #[arg(value_name = "TOKEN|-")]
    token: String,
    /// SOML document with the roles, to print the rights on each object.
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// Uses the users and the schema of a built-in demo, as `soml serve --demo NAME --roles` does: `star-wars`.
    #[arg(long, value_name = "NAME", conflicts_with = "schema")]
    demo: Option<Demo>,
    /// Address of a running service with users of its own, from which the keys are fetched.
    ///
    /// By default, the key is read from `security.provider.keyFile`. Without that file, only the service has the key,
    /// which is fetched from `application.host` and `application.port`.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    #[command(flatten)]
    config: ConfigArgs,
}

impl Whoami {
    /// Prints how a service with the same settings judges a token.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let settings = self.config.told(console)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(CliError::Start)?;
        let own = OwnProvider::of(self.demo.is_some(), self.url.as_deref(), &settings)?;
        let knows_super_roles = own.as_ref().is_none_or(OwnProvider::knows_super_roles);
        let verifier = match own {
            Some(own) => runtime.block_on(own.verifier(settings))?,
            None if settings.security.has_keys() => {
                Verifier::of(&settings.security.verifier_options())?
            }
            None => {
                let message = "there is nothing to verify the token with: set `security.secret`, \
                               `security.jwks.url` or `security.provisioning.file` as in the service, or \
                               name a running service whose users log in there by --url";
                return Err(CliError::Usage(message.to_owned()));
            }
        };
        let token = self.read_token()?;
        match runtime.block_on(verifier.verify(&token)) {
            Ok(caller) => {
                let superuser = Superuser::of(&caller, knows_super_roles);
                print_caller(&caller, superuser, console)?;
                self.print_rights(&caller, superuser, console)?;
                Ok(Exit::Success)
            }
            Err(refusal) => {
                print_refusal(refusal, &token, console)?;
                Ok(Exit::BadInput)
            }
        }
    }

    fn read_token(&self) -> Result<String, CliError> {
        let mut text = self.token.clone();
        if text == "-" {
            text.clear();
            let mut input = io::stdin().lock().take(MAX_BYTES);
            let failed = |source| CliError::Read {
                name: "standard input".to_owned(),
                source,
            };
            input.read_to_string(&mut text).map_err(failed)?;
        }
        let text = text.trim();
        // As it is copied from a header.
        let token = text.strip_prefix("Bearer ").unwrap_or(text);
        Ok(token.trim().to_owned())
    }

    fn print_rights(
        &self,
        caller: &Caller,
        superuser: Superuser,
        console: &mut Console<'_>,
    ) -> Result<(), CliError> {
        let (name, text) = match (&self.demo, &self.schema) {
            (Some(demo), _) => (demo.name.to_owned(), demo.schema_with_roles()),
            (None, Some(path)) => (path.display().to_string(), read_schema(path)?),
            (None, None) => return Ok(()),
        };
        let schema = usable(&name, &text, console)?.soml;
        let rights = Arc::new(Rights::new(&schema));
        let access = match superuser {
            Superuser::Yes => rights.everything(),
            Superuser::No | Superuser::Unknown => {
                rights.of(caller.roles.iter().map(String::as_str))
            }
        };
        if superuser == Superuser::Unknown {
            writeln!(
                console.out,
                "rights: without a super role; a role that is one may do everything"
            )?;
        }
        let applying: Vec<&str> = access.roles().collect();
        writeln!(console.out, "roles that apply: {}", listed(&applying))?;
        let parts = [
            (ServicePart::Sdl, "sdl"),
            (ServicePart::FullSdl, "full_sdl"),
        ];
        let parts = parts
            .into_iter()
            .filter(|(part, _)| access.reads_service(*part));
        let parts: Vec<&str> = parts.map(|(_, name)| name).collect();
        writeln!(console.out, "_Service: {}", listed(&parts))?;
        write!(console.out, "{}", RightsTable::new(&schema, &access))?;
        Ok(())
    }
}

/// Whether a caller may do everything, as far as the settings name the super roles.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Superuser {
    Yes,
    No,
    /// The super roles are not known.
    Unknown,
}

impl Superuser {
    fn of(caller: &Caller, knows_super_roles: bool) -> Self {
        if caller.superuser {
            Superuser::Yes
        } else if knows_super_roles {
            Superuser::No
        } else {
            Superuser::Unknown
        }
    }

    fn text(self) -> &'static str {
        match self {
            Superuser::Yes => "yes, may do everything",
            Superuser::No => "no",
            Superuser::Unknown => {
                "not known: set `security.provisioning.file` as in the service, or name its --demo, \
                 to tell which roles are super roles"
            }
        }
    }
}

fn print_caller(
    caller: &Caller,
    superuser: Superuser,
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    let name = caller.name.as_deref().unwrap_or("none");
    let roles: Vec<&str> = caller.roles.iter().map(String::as_str).collect();
    writeln!(console.out, "name: {name}")?;
    writeln!(console.out, "roles claimed: {}", listed(&roles))?;
    writeln!(console.out, "superuser: {}", superuser.text())?;
    if let Some(expires) = time_of(&caller.claims, "exp") {
        writeln!(console.out, "expires: {expires}")?;
    }
    Ok(())
}

/// Prints why a token is refused, and what it says where that was the reason.
fn print_refusal(refusal: Refusal, token: &str, console: &mut Console<'_>) -> Result<(), CliError> {
    writeln!(console.out, "refused: {refusal} ({})", refusal.code())?;
    let claims = unverified_claims(token).unwrap_or_default();
    let claim = match refusal {
        Refusal::Issuer => "iss",
        Refusal::Audience => "aud",
        Refusal::Claim(name) => name,
        Refusal::Expired => "exp",
        Refusal::NotYetValid => "nbf",
        _ => return Ok(()),
    };
    let said = claims
        .get(claim)
        .map_or_else(|| "nothing".to_owned(), ToString::to_string);
    let time = time_of(&claims, claim).map_or_else(String::new, |time| format!(", {time}"));
    writeln!(console.out, "`{claim}` of the token: {said}{time}")?;
    Ok(())
}

/// Describes how far from now a time is, if a claim is one.
fn time_of(claims: &Map<String, Value>, claim: &str) -> Option<String> {
    let time = claims
        .get(claim)
        .filter(|_| matches!(claim, "exp" | "nbf"))?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let seconds = time.as_f64()? - now.as_secs_f64();
    let (number, unit) = match seconds.abs() {
        s if s < 120.0 => (s, "seconds"),
        s if s < 7_200.0 => (s / 60.0, "minutes"),
        s if s < 172_800.0 => (s / 3_600.0, "hours"),
        s => (s / 86_400.0, "days"),
    };
    Some(if seconds < 0.0 {
        format!("{number:.0} {unit} ago")
    } else {
        format!("in {number:.0} {unit}")
    })
}

fn listed(names: &[&str]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}
