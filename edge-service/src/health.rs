//! The health of the edge: that of what is behind it.

use std::sync::Arc;

use futures::future::join_all;
use service_runtime::checks::UPSTREAM;
use service_runtime::{HealthRecord, SharedLook, Status};

use super::route::{EdgeRoute, RouteTable, RouteTarget};
use super::upstream::{Checked, Checker, HostedService, Upstream, UpstreamServer};

const DESCRIPTION: &str = "The edge passes requests on to the services behind it.";

/// Looks how the services behind the edge are.
pub(crate) struct Health {
    pub(crate) routes: Arc<RouteTable>,
    pub(crate) checker: Checker,
    looks: SharedLook<Vec<HealthRecord>>,
}

impl Health {
    pub(crate) fn new(routes: Arc<RouteTable>, checker: Checker) -> Self {
        Health {
            routes,
            checker,
            looks: SharedLook::default(),
        }
    }

    /// Returns the record of the edge. Where the cache is allowed, that is what the last checks have found, which go on all
    /// the time; otherwise everything is looked at now.
    pub(crate) async fn record(&self, name: &str, cached: bool) -> HealthRecord {
        let records = if cached {
            self.looked(true).await
        } else {
            self.looks.get(|| self.looked(false)).await
        };
        HealthRecord::of_service(name, "edge", DESCRIPTION, records)
    }

    /// Returns why no request can be passed on. One service is enough to be of use.
    pub(crate) async fn obstacle(&self) -> Option<String> {
        let mut obstacles = Vec::new();
        for route in self.routes.iter() {
            let obstacle = match &route.target {
                RouteTarget::Hosted(hosted) => hosted.service.obstacle().await,
                RouteTarget::Servers(upstream) => {
                    let mut servers = upstream.servers.iter();
                    let is_down = !servers.any(UpstreamServer::is_up);
                    is_down.then(|| "no server responds".to_owned())
                }
            };
            obstacles.push(format!("{}: {}", route.name, obstacle?));
        }
        Some(obstacles.join("; "))
    }

    async fn looked(&self, cached: bool) -> Vec<HealthRecord> {
        let looks = self.routes.iter().map(|route| async move {
            let checker = &self.checker;
            match &route.target {
                RouteTarget::Hosted(service) => hosted(checker, route, service, cached).await,
                RouteTarget::Servers(upstream) => remote(checker, route, upstream, cached).await,
            }
        });
        join_all(looks).await
    }
}

async fn hosted(
    checker: &Checker,
    route: &EdgeRoute,
    hosted: &HostedService,
    cached: bool,
) -> HealthRecord {
    let health = hosted.service.health(cached);
    match tokio::time::timeout(checker.timeout, health).await {
        Ok(mut record) => {
            record.lead_below(route.prefix().unwrap_or_default());
            named(route, record.status, record.message.clone(), vec![record])
        }
        Err(_) => {
            let message = "its health could not be determined in time".to_owned();
            named(route, Status::Error, message, Vec::new())
        }
    }
}

async fn remote(
    checker: &Checker,
    route: &EdgeRoute,
    upstream: &Upstream,
    cached: bool,
) -> HealthRecord {
    let looks = upstream.servers.iter().map(|server| async move {
        match server.checked.load_full().filter(|_| cached) {
            Some(checked) => checked,
            None => checker.check(&route.name, server).await,
        }
    });
    let checked = join_all(looks).await;
    let count = checked.len();
    let mut records = Vec::new();
    let mut statuses = Vec::new();
    let mut messages = Vec::new();
    for (number, checked) in (1..).zip(&checked) {
        let (status, message) = match checked.as_ref() {
            Checked::Record(record) => {
                let mut record = record.as_ref().clone();
                record.lead_below(route.prefix().unwrap_or_default());
                let found = (record.status, record.message.clone());
                records.push(record);
                found
            }
            Checked::Answered(status, message) => (*status, message.clone()),
            Checked::Unanswered(why) => (Status::Error, (*why).to_owned()),
        };
        statuses.push(status);
        if status != Status::Ok {
            // By number: the record is public, and where servers are is not.
            let of = if count > 1 {
                format!("server {number} of {count}: ")
            } else {
                String::new()
            };
            messages.push(format!("{of}{message}"));
        }
    }
    let best = statuses.iter().min().copied().unwrap_or(Status::Ok);
    let worst = statuses.iter().max().copied().unwrap_or(Status::Ok);
    // Where one of several is well, requests are answered.
    let status = if best == Status::Error {
        best
    } else {
        worst.min(Status::Warning)
    };
    let message = if messages.is_empty() {
        "all servers are healthy".to_owned()
    } else {
        messages.join("; ")
    };
    named(route, status, message, records)
}

fn named(
    route: &EdgeRoute,
    status: Status,
    message: String,
    health_checks: Vec<HealthRecord>,
) -> HealthRecord {
    HealthRecord {
        id: route.name.to_string(),
        name: Some(route.name.to_string()),
        health_checks,
        ..UPSTREAM.record(status, message)
    }
}
