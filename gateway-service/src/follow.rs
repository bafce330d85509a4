//! A supergraph from a file: served at the start, and again whenever the file has changed. A file that cannot be served
//! leaves what is served.

use std::sync::Arc;

use graphql_service::{SlotError, Weight};
use service_runtime::with_causes;

use super::app::GatewayApp;
use super::composite::{Composite, NotComposed};
use super::endpoints::Endpoints;
use super::start::StartError;
use super::supergraph_file::{ReadError, SupergraphFile, Text};

/// What everyone may know while there is nothing to serve.
const WAITING: &str = "the gateway waits for the file of its supergraph";

/// A schema to serve, and its subgraphs.
type Served = (Composite, Arc<Endpoints>);

impl GatewayApp {
    /// Serves the file; waits for it while it is not there.
    pub(super) async fn start_with(&self, file: &Arc<SupergraphFile>) -> Result<(), StartError> {
        let path = file.path().display();
        let text = loop {
            match file.changed().await {
                Ok(Some(text)) => break text,
                // Someone starts it twice.
                Ok(None) => file.forget(),
                Err(error) if error.may_pass() => {
                    tracing::warn!("waiting for `gateway.supergraph.file` {path}: {error}");
                    self.waits_for.store(Arc::new(WAITING.to_owned()));
                    tokio::time::sleep(self.options.dwell).await;
                }
                Err(error) => return Err(StartError::Supergraph(vec![format!("{path}: {error}")])),
            }
        };
        let (composite, endpoints) = self.served(file, text).await?.map_err(|error| {
            let reasons = error.reasons().into_iter();
            StartError::Supergraph(reasons.map(|it| format!("{path}: {it}")).collect())
        })?;
        endpoints.log();
        self.connect(endpoints);
        self.composite.store(Some(Arc::new(composite)));
        self.health.forget();
        tracing::info!("the supergraph of {path} is served");
        Ok(())
    }

    /// Looks at the file after each dwell, until the service ends.
    pub(super) async fn follow(&self, file: &Arc<SupergraphFile>) {
        let dwell = self.options.dwell;
        // What keeps the text of the file from being served, or the file from being read.
        let (mut refused, mut unread) = (None, String::new());
        loop {
            let pause = tokio::time::sleep(dwell);
            if self.ending.run_until_cancelled(pause).await.is_none() {
                return;
            }
            let Some(served) = self.composite() else {
                continue;
            };
            let look = self.look_at(file, &served, &mut refused);
            let Some(look) = self.ending.run_until_cancelled(look).await else {
                return;
            };
            unread = match look {
                Ok(()) => {
                    self.set_stale(refused.clone());
                    String::new()
                }
                Err(error) => {
                    let said = error.to_string();
                    self.set_stale(Some(format!("the file of the supergraph: {said}")));
                    // Once, however long it lasts.
                    if said != unread {
                        let path = file.path().display();
                        tracing::warn!("the current supergraph is kept: {path}: {said}");
                    }
                    said
                }
            };
        }
    }

    /// Serves the file if it has changed and can be served; otherwise `refused` says why not.
    async fn look_at(
        &self,
        file: &Arc<SupergraphFile>,
        served: &Composite,
        refused: &mut Option<String>,
    ) -> Result<(), ReadError> {
        let Some(text) = file.changed().await? else {
            return Ok(());
        };
        if served.is_of(&text.digest) {
            *refused = None;
            tracing::info!("the file of the supergraph matches what is served again");
            return Ok(());
        }
        let path = file.path().display();
        match self.served(file, text).await {
            Ok(Ok((composite, endpoints))) => {
                *refused = None;
                let is_other = !Arc::ptr_eq(&endpoints, &self.endpoints());
                if is_other {
                    endpoints.log();
                }
                self.connect(endpoints);
                self.switch(composite, served).await;
            }
            Ok(Err(error)) => {
                for reason in error.reasons() {
                    tracing::error!("the current supergraph is kept: {path}: {reason}");
                }
                let public = error.public();
                *refused = Some(format!(
                    "the file of the supergraph is not served: {public}"
                ));
            }
            Err(error) => {
                file.forget();
                tracing::warn!(
                    "the current supergraph is kept until the next check of the file: {path}: \
                     {error}"
                );
            }
        }
        Ok(())
    }

    /// Makes what serves a text of the file, in a slot.
    async fn served(
        &self,
        file: &Arc<SupergraphFile>,
        text: Text,
    ) -> Result<Result<Served, NotComposed>, SlotError> {
        let (file, recipe) = (Arc::clone(file), self.recipe());
        let (network, before) = (self.network.clone(), self.endpoints());
        let work = move || {
            let supergraph = recipe.supergraph(&text.sdl)?;
            let subgraphs = file
                .subgraphs(&supergraph)
                .map_err(NotComposed::Subgraphs)?;
            let endpoints = if before.are(&subgraphs) {
                // Their connections stay open.
                before
            } else {
                let made = network.endpoints(subgraphs);
                Arc::new(made.map_err(|error| NotComposed::Subgraphs(vec![with_causes(&error)]))?)
            };
            let transport = Arc::clone(&endpoints.transport);
            let composite = Composite::of_text(text.digest, supergraph, transport, recipe)?;
            Ok((composite, endpoints))
        };
        let slots = &self.host.resources.slots;
        slots.run(Weight::Background, None, move |_| work()).await
    }
}
