//! What a gateway says of its health: one record for each subgraph, and whether all are good to go.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use reqwest::StatusCode;
use service_runtime::checks::{COMPOSITION, SCHEMA_CHANGES, SUBGRAPH};
use service_runtime::{HealthRecord, Status};

use super::anchors::{Anchors, is_address};
use super::app::GatewayApp;
use super::client::Client;
use super::local::LocalSubgraph;
use super::seen::Seen;
use super::subgraph::{Remote, Source, Subgraph};

/// Maximum time for a subgraph of this process.
const LOCAL_TIME: Duration = Duration::from_secs(5);

/// Returns the aggregate record: what was seen last, unless a fresh one is asked for.
pub(crate) async fn health(app: &GatewayApp, cached: bool) -> HealthRecord {
    let seen = match app.seen.load_full().filter(|_| cached) {
        Some(seen) => seen,
        None => app.look().await,
    };
    let name = &app.host.options.name;
    let description = "The gateway answers GraphQL requests over its subgraphs.";
    let mut records = seen.records.clone();
    if let Some(why) = app.stale() {
        records.push(SCHEMA_CHANGES.record(Status::Warning, why.to_string()));
    }
    let record = HealthRecord::of_service(name, "graphql", description, records);
    if app.is_composed() {
        return record;
    }
    let waiting = COMPOSITION.record(Status::Error, app.waits_for().to_string());
    HealthRecord {
        status: waiting.status,
        impact: waiting.impact,
        troubleshooting: waiting.troubleshooting,
        message: waiting.message,
        ..record
    }
}

/// Returns what was seen of the subgraphs last; looks at them where no one has yet.
pub(super) async fn seen(app: &GatewayApp) -> Arc<Seen> {
    match app.seen.load_full() {
        Some(seen) => seen,
        None => app.look().await,
    }
}

/// Returns why requests cannot be answered now.
pub(crate) async fn obstacle(app: &GatewayApp) -> Option<String> {
    if !app.is_composed() {
        return Some(app.waits_for().to_string());
    }
    let seen = seen(app).await;
    (!seen.obstacles.is_empty()).then(|| seen.obstacles.join("; "))
}

impl GatewayApp {
    /// Looks at the subgraphs every now and then, until the service ends.
    pub async fn watch(self: Arc<Self>) {
        let dwell = self.options.dwell;
        while self
            .ending
            .run_until_cancelled(tokio::time::sleep(dwell))
            .await
            .is_some()
        {
            drop(self.look().await);
        }
    }

    /// Looks at all subgraphs, together with all others who want to know.
    async fn look(&self) -> Arc<Seen> {
        self.looks.get(|| self.look_now()).await
    }

    async fn look_now(&self) -> Arc<Seen> {
        let endpoints = self.endpoints();
        let (subgraphs, client) = (&endpoints.subgraphs, &endpoints.client);
        let looks = subgraphs.iter().map(|subgraph| look(client, subgraph));
        let looked = join_all(looks).await;
        let (mut records, obstacles): (Vec<_>, Vec<_>) = looked.into_iter().unzip();
        let mut anchors = Anchors::new();
        for (subgraph, record) in subgraphs.iter().zip(&mut records) {
            // What the gateway says of a subgraph has its advice already.
            if record.troubleshooting != SUBGRAPH.page() {
                anchors.lead_here(&subgraph.name, record);
            }
        }
        let before = self.seen.load_full();
        for (subgraph, record) in subgraphs.iter().zip(&records) {
            let mut known = before.iter().flat_map(|seen| seen.records());
            let known = known.find(|(name, _)| *name == subgraph.name);
            let was = known.map_or(Status::Ok, |(_, known)| known.status);
            if was != record.status {
                let (subgraph, status) = (&subgraph.name, record.status);
                let message = record.message.as_str();
                tracing::warn!(
                    subgraph,
                    ?status,
                    message,
                    "the health of a subgraph has changed"
                );
            }
        }
        let names = subgraphs.iter();
        let seen = Arc::new(Seen {
            names: names.map(|subgraph| subgraph.name.clone()).collect(),
            records,
            obstacles: obstacles.into_iter().flatten().collect(),
        });
        self.seen.store(Some(Arc::clone(&seen)));
        // Whoever connects others forgets what was seen after that, and may have done so before this was stored.
        if !Arc::ptr_eq(&endpoints, &self.endpoints()) {
            self.seen.store(None);
        }
        seen
    }
}

/// Returns the record of a subgraph, and why it is not good to go.
async fn look(client: &Client, subgraph: &Subgraph) -> (HealthRecord, Option<String>) {
    let (record, obstacle) = match &subgraph.source {
        Source::Remote(remote) => {
            let (record, ready) = tokio::join!(
                remote_record(client, &subgraph.name, remote),
                good_to_go(client, remote)
            );
            (record, ready.err())
        }
        Source::Local(local) => (
            local_record(local.as_ref(), &subgraph.name).await,
            local.obstacle().await,
        ),
    };
    let obstacle = obstacle.map(|why| format!("{}: {why}", subgraph.name));
    (record, obstacle)
}

/// Asks whether a subgraph is good to go; one without an address for that is.
pub(super) async fn good_to_go(client: &Client, remote: &Remote) -> Result<(), String> {
    let Some(address) = &remote.good_to_go else {
        return Ok(());
    };
    let answer = client
        .get(address)
        .await
        .map_err(|error| error.to_string())?;
    if !answer.status.is_success() {
        return Err(format!("its good-to-go check answered {}", answer.status));
    }
    match answer.json()["gtg"].as_str() {
        None => Ok(()),
        Some(said) if said.eq_ignore_ascii_case("OK") => Ok(()),
        Some(_) => Err("its good-to-go check is not `OK`".to_owned()),
    }
}

async fn local_record(local: &dyn LocalSubgraph, name: &str) -> HealthRecord {
    match tokio::time::timeout(LOCAL_TIME, local.health(true)).await {
        Ok(record) => record,
        Err(_) => made(name, Status::Error, "it did not answer in time"),
    }
}

async fn remote_record(client: &Client, name: &str, remote: &Remote) -> HealthRecord {
    let Some(address) = &remote.health else {
        return typename_record(client, name, remote).await;
    };
    let answer = match client.get(address).await {
        Ok(answer) => answer,
        Err(error) => {
            tracing::debug!(subgraph = name, %error, "no health record");
            return made(name, Status::Error, "its health record cannot be read");
        }
    };
    let record = (answer.status.is_success() || answer.status == StatusCode::SERVICE_UNAVAILABLE)
        .then(|| HealthRecord::of_json(&answer.json(), &elsewhere))
        .flatten();
    record.unwrap_or_else(|| {
        let message = format!(
            "its health check answered {} and no health record",
            answer.status
        );
        made(name, Status::Error, &message)
    })
}

/// Makes a record of whether a subgraph answers at all. One that asks for a token does: the gateway has none.
async fn typename_record(client: &Client, name: &str, remote: &Remote) -> HealthRecord {
    let answer = match client.query(&remote.address, "{ __typename }", None).await {
        Ok(answer) => answer,
        Err(error) => {
            tracing::debug!(subgraph = name, %error, "no response to a health check");
            return made(name, Status::Error, "it does not answer");
        }
    };
    match answer.status {
        StatusCode::OK if answer.json()["data"]["__typename"].is_string() => {
            made(name, Status::Ok, "it answers GraphQL requests")
        }
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            made(name, Status::Ok, "it responds and requires a token")
        }
        status => {
            let message = format!("it answered {status} and no GraphQL response");
            made(name, Status::Error, &message)
        }
    }
}

fn made(name: &str, status: Status, message: &str) -> HealthRecord {
    let record = SUBGRAPH.record(status, message.to_owned());
    HealthRecord {
        id: name.to_owned(),
        name: Some(name.to_owned()),
        ..record
    }
}

/// Leaves out links that lead to pages of the subgraph by its own path alone: the gateway has advice of its own for it.
fn elsewhere(link: &str) -> Option<String> {
    is_address(link).then(|| link.to_owned())
}
