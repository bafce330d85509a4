//! Changed schemas of subgraphs, looked for every now and then where that is asked for. A composite schema that
//! cannot be made leaves the one that is served.

use std::sync::Arc;

use federation::Ending;
use federation::compose::SubgraphSource;
use graphql_service::Weight;

use super::app::GatewayApp;
use super::composite::Composite;

/// Operations that are planned before a composite schema is served.
const WARMED: usize = 500;

/// What became of a look at the schemas.
enum Look {
    Unchanged,
    Switched,
    /// The schemas do not fit together; they are not tried again as they are.
    Refused(Vec<SubgraphSource>),
    /// Not all schemas could be read.
    Unread(String),
}

impl GatewayApp {
    /// Looks for changed schemas after each `poll.interval`, until the service ends; never if that is 0.
    pub async fn poll(self: Arc<Self>) {
        let interval = self.settings.gateway.poll_interval.0;
        if interval.is_zero() {
            return;
        }
        let (mut refused, mut said) = (Vec::new(), String::new());
        loop {
            let pause = tokio::time::sleep(interval);
            if self.ending.run_until_cancelled(pause).await.is_none() {
                return;
            }
            let look = self.look_for_changes(&refused);
            match self.ending.run_until_cancelled(look).await {
                None => return,
                Some(Look::Refused(sources)) => refused = sources,
                Some(Look::Switched | Look::Unchanged) => said.clear(),
                // Once, however long it lasts.
                Some(Look::Unread(why)) if why == said => {}
                Some(Look::Unread(why)) => {
                    tracing::warn!("the composite schema stays as it is: {why}");
                    said = why;
                }
            }
        }
    }

    /// Reads the schemas, and serves them if they have changed and can be composed. `refused` are schemas that
    /// could not be.
    async fn look_for_changes(&self, refused: &[SubgraphSource]) -> Look {
        let Some(served) = self.composite() else {
            return Look::Unread("there is none yet".to_owned());
        };
        let read = self.read_schemas().await;
        if let Some(idp) = &self.idp {
            idp.forget().await;
        }
        let sources = match read {
            Ok(read) if read.waiting.is_empty() && read.faults.is_empty() => read.sources,
            Ok(read) => {
                let reasons = read.waiting.iter().chain(&read.faults).cloned();
                return Look::Unread(reasons.collect::<Vec<_>>().join("; "));
            }
            Err(error) => return Look::Unread(format!("the log-in failed: {error}")),
        };
        if same(&sources, &served.sources) || same(&sources, refused) {
            return Look::Unchanged;
        }
        match self.compose(sources.clone()).await {
            Ok(Ok(composite)) => {
                self.switch(composite, &served).await;
                Look::Switched
            }
            Ok(Err(error)) => {
                for reason in error.reasons() {
                    tracing::error!("the composite schema stays as it is: {reason}");
                }
                Look::Refused(sources)
            }
            Err(error) => Look::Unread(error.to_string()),
        }
    }

    /// Serves another composite schema, once the operations that are used most are planned. Requests that have
    /// begun end with the schema that they began with.
    async fn switch(&self, composite: Composite, served: &Composite) {
        let (new, old) = (Arc::clone(&composite.gateway), Arc::clone(&served.gateway));
        let slots = &self.resources.slots;
        let warmed = slots.run(Weight::Background, None, move |_| new.warm(&old, WARMED));
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

fn same(sources: &[SubgraphSource], others: &[SubgraphSource]) -> bool {
    let mut pairs = sources.iter().zip(others);
    sources.len() == others.len()
        && pairs.all(|(source, other)| source.name == other.name && source.sdl == other.sdl)
}
