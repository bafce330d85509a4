//! Changed schemas of subgraphs, looked for every now and then where that is asked for, and at once where a service of this
//! process says that it has another one. A composite schema that
//! cannot be made leaves the one that is served, and health says so.

use std::sync::Arc;
use std::time::{Duration, Instant};

use federation::Ending;
use federation::compose::SubgraphSource;
use futures::future::select_all;
use graphql_service::Weight;
use tokio::sync::watch;

use super::app::GatewayApp;
use super::composite::Composite;
use super::start::{Reading, names};
use super::subgraph::Source;

/// Operations that are planned before a changed composite schema is served, and for how long that may be put off.
const WARMED: usize = 500;
const WARMING: Duration = Duration::from_secs(5);

/// Pause between looks whether the gateway has started.
const STARTING: Duration = Duration::from_millis(100);

/// What became of a look at the schemas.
enum Look {
    /// They are what is served, be it since this look.
    Served,
    /// They are what was refused before.
    Known,
    /// The schemas do not fit together; they are not tried again as they are.
    Refused(Vec<SubgraphSource>, String),
    /// Not all schemas could be read: why, and what everyone may know of it.
    Unread(String, String),
}

impl GatewayApp {
    /// Looks for changed schemas, until the service ends: in the file of the supergraph, or at the subgraphs after each
    /// `poll.interval`, and never if that is 0, and at services of this process when they have another one.
    pub async fn poll(self: Arc<Self>) {
        match &self.supergraph {
            Some(file) => self.follow(file).await,
            None => self.poll_subgraphs().await,
        }
    }

    async fn poll_subgraphs(&self) {
        let interval = self.options.poll_interval;
        let mut changes = self.local_changes();
        if interval.is_zero() && changes.is_empty() {
            return;
        }
        let (mut refused, mut said) = ((Vec::new(), None), String::new());
        loop {
            let is_local = async {
                tokio::select! {
                    () = sleep(interval) => false,
                    () = changed(&mut changes) => true,
                }
            };
            let Some(is_local) = self.ending.run_until_cancelled(is_local).await else {
                return;
            };
            // What changed while the gateway starts may have been read before.
            let Some(served) = self.ending.run_until_cancelled(self.composed()).await else {
                return;
            };
            let reading = if is_local {
                Reading::Local(&served.sources)
            } else {
                Reading::All
            };
            let look = self.look_for_changes(reading, &served, &refused.0);
            let Some(look) = self.ending.run_until_cancelled(look).await else {
                return;
            };
            match look {
                Look::Unread(why, public) => {
                    self.set_stale(Some(public));
                    // Once, however long it lasts.
                    if why != said {
                        tracing::warn!("the current composite schema is kept: {why}");
                        said = why;
                    }
                    continue;
                }
                Look::Refused(sources, public) => refused = (sources, Some(public)),
                Look::Served => refused = (Vec::new(), None),
                Look::Known => {}
            }
            self.set_stale(refused.1.clone());
            said.clear();
        }
    }

    /// Waits until there is a composite schema.
    async fn composed(&self) -> Arc<Composite> {
        loop {
            if let Some(served) = self.composite() {
                return served;
            }
            tokio::time::sleep(STARTING).await;
        }
    }

    /// Returns what says that services of this process have another schema.
    fn local_changes(&self) -> Vec<watch::Receiver<u64>> {
        if !self.options.follow_bindings {
            return Vec::new();
        }
        let endpoints = self.endpoints();
        let locals = endpoints.subgraphs.iter().filter_map(|subgraph| {
            let Source::Local(service) = &subgraph.source else {
                return None;
            };
            service.schema_changes()
        });
        locals.collect()
    }

    /// Reads the schemas, and serves them if they have changed and can be composed. `refused` are schemas that
    /// could not be.
    async fn look_for_changes(
        &self,
        reading: Reading<'_>,
        served: &Composite,
        refused: &[SubgraphSource],
    ) -> Look {
        let read = self.read_schemas(reading).await;
        if let Some(idp) = &self.idp {
            idp.forget().await;
        }
        let sources = match read {
            Ok(read) if read.waiting.is_empty() && read.faults.is_empty() => read.sources,
            Ok(read) => {
                let reasons: Vec<_> = read.waiting.into_iter().chain(read.faults).collect();
                let names = names(&reasons);
                let public = format!("the schemas of the subgraphs {names} cannot be read");
                return Look::Unread(reasons.join("; "), public);
            }
            Err(error) => {
                let public = "the log-in that reads the schemas of the subgraphs failed";
                return Look::Unread(format!("the log-in failed: {error}"), public.to_owned());
            }
        };
        if same(&sources, &served.sources) {
            return Look::Served;
        }
        if same(&sources, refused) {
            return Look::Known;
        }
        match self.compose(sources.clone()).await {
            Ok(Ok(composite)) => {
                self.switch(composite, served).await;
                Look::Served
            }
            Ok(Err(error)) => {
                for reason in error.reasons() {
                    tracing::error!("the current composite schema is kept: {reason}");
                }
                let public = error.public();
                let public =
                    format!("the changed schemas of the subgraphs are not served: {public}");
                Look::Refused(sources, public)
            }
            Err(error) => Look::Unread(error.to_string(), error.to_string()),
        }
    }

    /// Serves another composite schema, once the operations that are used most are planned. Requests that have
    /// begun end with the schema that they began with.
    pub(super) async fn switch(&self, composite: Composite, served: &Composite) {
        let (new, old) = (Arc::clone(&composite.gateway), Arc::clone(&served.gateway));
        let slots = &self.host.resources.slots;
        let until = Instant::now() + WARMING;
        let warm = move |_| new.warm(&old, WARMED, until);
        let warmed = slots.run(Weight::Background, Some(until), warm);
        let planned = warmed.await.unwrap_or_else(|error| {
            // Operations are planned when they are asked for.
            tracing::debug!(%error, "no operation is planned before the switch");
            0
        });
        self.composite.store(Some(Arc::new(composite)));
        // Their fields may be gone, and their rights others.
        served.gateway.end_subscriptions(Ending::SchemaReload);
        self.health.forget();
        self.metrics.switched();
        tracing::info!(planned, "the composite schema has changed");
    }
}

/// Waits for the next look; forever if no one is to look.
async fn sleep(interval: Duration) {
    if interval.is_zero() {
        std::future::pending().await
    } else {
        tokio::time::sleep(interval).await
    }
}

/// Waits until a service of this process has another schema.
async fn changed(changes: &mut Vec<watch::Receiver<u64>>) {
    loop {
        if changes.is_empty() {
            return std::future::pending().await;
        }
        let next = changes.iter_mut().map(|change| Box::pin(change.changed()));
        let (changed, at, _) = select_all(next).await;
        if changed.is_ok() {
            return;
        }
        // The service has ended.
        changes.swap_remove(at);
    }
}

fn same(sources: &[SubgraphSource], others: &[SubgraphSource]) -> bool {
    let mut pairs = sources.iter().zip(others);
    sources.len() == others.len()
        && pairs.all(|(source, other)| source.name == other.name && source.sdl == other.sdl)
}
