//! How a gateway comes to its composite schema: subgraphs that are away are waited for, what is faulty ends the
//! start. Where a file has the supergraph, see `follow`.

use std::sync::Arc;

use federation::compose::SubgraphSource;
use futures::future::join_all;
use graphql_service::{SlotError, Weight};
use outbound::Secret;
use service_auth::idp::IdpError;

use super::app::GatewayApp;
use super::client::Client;
use super::composite::{Composite, NotComposed};
use super::health::good_to_go;
use super::schemas::{SdlError, read_local, read_sdl};
use super::subgraph::{Source, Subgraph};

/// Why a gateway does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The log-in failed.
    #[error("the gateway cannot log in to read the schemas of the subgraphs")]
    LogIn(#[from] IdpError),
    /// Subgraphs answer, and are none.
    #[error("{}", listed("the schemas of subgraphs cannot be read", .0))]
    Subgraphs(Vec<String>),
    /// The subgraphs cannot be composed.
    #[error("{}", listed("the subgraphs cannot be composed", .0))]
    Composition(Vec<String>),
    /// The file of the supergraph cannot be served.
    #[error("{}", listed("`gateway.supergraph.file` cannot be served", .0))]
    Supergraph(Vec<String>),
    /// There is no slot for composing.
    #[error("there is no time left to compose: {0}")]
    Busy(#[from] SlotError),
    /// The service ends.
    #[error("the gateway is shutting down before the subgraphs are composed")]
    Ending,
}

impl StartError {
    /// Returns each reason.
    #[must_use]
    pub fn reasons(&self) -> &[String] {
        match self {
            StartError::Subgraphs(reasons)
            | StartError::Composition(reasons)
            | StartError::Supergraph(reasons) => reasons,
            _ => &[],
        }
    }
}

fn listed(what: &str, reasons: &[String]) -> String {
    match reasons {
        [one] => format!("{what}: {one}"),
        many => format!(
            "{what}, for {} reasons:\n  {}",
            many.len(),
            many.join("\n  ")
        ),
    }
}

/// The schemas of all subgraphs, as far as they can be read.
pub(super) struct Read {
    pub(super) sources: Vec<SubgraphSource>,
    /// Subgraphs that may answer later.
    pub(super) waiting: Vec<String>,
    /// Subgraphs that answer, and are none.
    pub(super) faults: Vec<String>,
}

/// Which schemas are read.
#[derive(Clone, Copy)]
pub(super) enum Reading<'s> {
    /// Those of all subgraphs.
    All,
    /// Those of services of this process; the others stay.
    Local(&'s [SubgraphSource]),
}

impl<'s> Reading<'s> {
    /// Returns the schema of a subgraph that is not read.
    fn known(self, subgraph: &Subgraph) -> Option<&'s str> {
        match (self, &subgraph.source) {
            (Reading::Local(sources), Source::Remote(_)) => {
                let mut sources = sources.iter();
                let source = sources.find(|source| source.name == subgraph.name)?;
                Some(&source.sdl)
            }
            _ => None,
        }
    }
}

impl GatewayApp {
    /// Reads and composes the schemas of the subgraphs, and serves the outcome. Subgraphs that do not answer are
    /// waited for, until the service ends.
    ///
    /// # Errors
    /// When the log-in fails, a subgraph answers and has no schema, or the schemas do not fit together.
    pub async fn start(self: &Arc<Self>) -> Result<(), StartError> {
        let ending = self.ending.clone();
        let started = tokio::select! {
            biased;
            () = ending.cancelled() => Err(StartError::Ending),
            started = self.compose_first() => started,
        };
        if let Err(error) = &started {
            for reason in error.reasons() {
                tracing::error!("{reason}");
            }
        }
        started
    }

    async fn compose_first(self: &Arc<Self>) -> Result<(), StartError> {
        if let Some(file) = &self.supergraph {
            return self.start_with(file).await;
        }
        self.endpoints().log();
        let sources = loop {
            let read = self.read_schemas(Reading::All).await?;
            if !read.faults.is_empty() {
                return Err(StartError::Subgraphs(read.faults));
            }
            if read.waiting.is_empty() {
                break read.sources;
            }
            let waiting = read.waiting.join("; ");
            tracing::warn!("waiting for subgraphs: {waiting}");
            let names = names(&read.waiting);
            let text = format!("the gateway waits for the subgraphs {names}");
            self.waits_for.store(Arc::new(text));
            tokio::time::sleep(self.options.dwell).await;
        };
        let composed = self.compose(sources).await?;
        let composite = composed.map_err(|error| StartError::Composition(error.reasons()))?;
        composite.log_hints();
        self.composite.store(Some(Arc::new(composite)));
        self.health.forget();
        tracing::info!("the subgraphs are composed");
        Ok(())
    }

    /// Reads the schemas of subgraphs. Where they demand a token the gateway logs in, and drops the token.
    pub(super) async fn read_schemas(&self, reading: Reading<'_>) -> Result<Read, IdpError> {
        let token = match (&self.idp, reading) {
            (Some(idp), Reading::All) => Some(idp.token().await?),
            _ => None,
        };
        let endpoints = self.endpoints();
        let (subgraphs, client) = (&endpoints.subgraphs, &endpoints.client);
        let reading = subgraphs.iter().map(|subgraph| {
            let (known, token) = (reading.known(subgraph), token.as_ref());
            async move {
                match known {
                    Some(sdl) => Ok(sdl.to_owned()),
                    None => read_schema(client, subgraph, token).await,
                }
            }
        });
        let outcomes = join_all(reading).await;
        let mut read = Read {
            sources: Vec::new(),
            waiting: Vec::new(),
            faults: Vec::new(),
        };
        for (subgraph, outcome) in subgraphs.iter().zip(outcomes) {
            let error = match outcome {
                Ok(sdl) => {
                    read.sources.push(SubgraphSource {
                        name: subgraph.name.clone(),
                        url: subgraph.address().to_owned(),
                        sdl,
                    });
                    continue;
                }
                Err(error) => error,
            };
            let help = error.help();
            let help = help.map_or_else(String::new, |help| format!("; help: {help}"));
            let text = format!("{}: {error}{help}", subgraph.name);
            if error.may_pass() {
                read.waiting.push(text)
            } else {
                read.faults.push(text)
            }
        }
        if let (Some(idp), true) = (&self.idp, read.waiting.is_empty()) {
            idp.forget().await;
        }
        Ok(read)
    }

    /// Composes schemas in a slot.
    pub(super) async fn compose(
        &self,
        sources: Vec<SubgraphSource>,
    ) -> Result<Result<Composite, NotComposed>, SlotError> {
        let recipe = self.recipe();
        let transport = Arc::clone(&self.endpoints().transport);
        let slots = &self.host.resources.slots;
        let composed = slots.run(Weight::Background, None, move |_| {
            Composite::new(sources, transport, recipe)
        });
        composed.await
    }
}

async fn read_schema(
    client: &Client,
    subgraph: &Subgraph,
    token: Option<&Secret>,
) -> Result<String, SdlError> {
    match &subgraph.source {
        Source::Remote(remote) => {
            let ready = good_to_go(client, remote).await;
            ready.map_err(SdlError::NotReady)?;
            read_sdl(client, &remote.address, token).await
        }
        Source::Local(local) => read_local(local.service().await).await,
    }
}

/// Returns the names of the subgraphs that reasons begin with: clients are told these, and the log why.
pub(super) fn names(reasons: &[String]) -> String {
    let names = reasons.iter().filter_map(|text| text.split(':').next());
    names.collect::<Vec<_>>().join(", ")
}

impl Composite {
    fn log_hints(&self) {
        for hint in &self.hints {
            tracing::debug!(code = %hint.code, "{}", hint.message);
        }
        let subgraphs = self.sources.len();
        tracing::debug!(subgraphs, hints = self.hints.len(), "composed");
    }
}
