//! One server: its addresses for queries and updates, its connections, and whether it is skipped.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use outbound::address::below;
use reqwest::Url;
use service_metrics::Peer;
use tokio::sync::{OwnedMutexGuard, SemaphorePermit};

use super::error::{HttpError, OptionsError};
use super::options::ConnectionOptions;
use super::values::ServerKind;

/// A server that queries are sent to.
#[derive(Debug)]
pub(super) struct Server {
    /// Its address as configured, and whether it is skipped.
    server: outbound::Server,
    /// For how long it is skipped after it failed.
    skipped: Duration,
    repository: Option<String>,
    /// The address that takes updates, if it is configured.
    updates: Option<Url>,
    /// Held by whoever checks it while requests wait.
    checking: Arc<tokio::sync::Mutex<()>>,
    /// When the last check ended, and whether the server answered it.
    checked: Mutex<Option<(Instant, bool)>>,
    /// Records what it is asked.
    peer: Peer,
}

impl Server {
    pub(super) fn new(
        base: &Url,
        updates: Option<&Url>,
        options: &ConnectionOptions,
    ) -> Result<Self, OptionsError> {
        if let Some(url) = [Some(base), updates]
            .into_iter()
            .flatten()
            .find(|url| url.cannot_be_a_base())
        {
            return Err(OptionsError::Base(url.to_string()));
        }
        Ok(Server {
            peer: Peer::of_url(base.as_str()),
            server: outbound::Server::new(base.clone(), options.max_concurrent_connections),
            skipped: options.scan_failed_interval,
            repository: options.repository.clone(),
            updates: updates.cloned(),
            checking: Arc::default(),
            checked: Mutex::default(),
        })
    }

    /// Returns the address as it is configured.
    pub(super) fn base(&self) -> &Url {
        self.server.base()
    }

    /// Returns what records requests to it.
    pub(super) fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Returns the name for logs and errors.
    pub(super) fn name(&self) -> String {
        self.base().to_string()
    }

    /// Returns the address that takes queries when the server is of `kind`.
    pub(super) fn query_address(&self, kind: ServerKind) -> Url {
        match (&self.repository, kind) {
            (Some(id), ServerKind::Rdf4j | ServerKind::GraphDb) => {
                below(self.base(), &["repositories", id])
            }
            (Some(id), ServerKind::Fuseki | ServerKind::Sparql11) => below(self.base(), &[id]),
            (None, _) => self.base().clone(),
        }
    }

    /// Returns the address that takes updates when the server is of `kind`, unless transactions do.
    pub(super) fn update_address(&self, kind: ServerKind) -> Option<Url> {
        if let Some(updates) = &self.updates {
            return Some(updates.clone());
        }
        if kind != ServerKind::Fuseki {
            return None;
        }
        let mut url = self.query_address(kind);
        url.set_query(None);
        let last = url
            .path_segments()
            .and_then(|mut segments| segments.next_back());
        if matches!(last, Some("sparql" | "query"))
            && self.repository.is_none()
            && let Ok(mut path) = url.path_segments_mut()
        {
            path.pop();
        }
        Some(below(&url, &["update"]))
    }

    /// Returns the address that takes an update outside of all transactions when the server is of `kind`.
    pub(super) fn updates_alone(&self, kind: ServerKind) -> Option<Url> {
        match kind {
            ServerKind::Rdf4j | ServerKind::GraphDb => {
                Some(below(&self.query_address(kind), &["statements"]))
            }
            ServerKind::Fuseki | ServerKind::Sparql11 => self.update_address(kind),
        }
    }

    /// Returns the base address of the server if it may speak RDF4J's protocol.
    pub(super) fn protocol_base(&self) -> Option<Url> {
        if self.repository.is_some() {
            return Some(self.base().clone());
        }
        let segments: Vec<_> = self.base().path_segments()?.collect();
        let [.., "repositories", id] = segments.as_slice() else {
            return None;
        };
        let mut base = self.base().clone();
        (!id.is_empty()).then(|| {
            if let Ok(mut path) = base.path_segments_mut() {
                path.pop().pop();
            }
            base
        })
    }

    /// Waits for a free connection.
    pub(super) async fn connection(
        &self,
        timeout: Option<Duration>,
    ) -> Result<SemaphorePermit<'_>, HttpError> {
        let connection = self.server.connection(timeout).await;
        connection.ok_or_else(|| HttpError::Busy {
            address: self.name(),
            timeout: timeout.unwrap_or_default(),
        })
    }

    /// Returns whether the server has failed since it last answered.
    pub(super) fn has_failed(&self) -> bool {
        self.server.has_failed()
    }

    /// Records how a check has ended: whether the server answered.
    pub(super) fn note_check(&self, answers: bool) {
        let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        *checked = Some((Instant::now(), answers));
    }

    /// Returns whether the server answered the last check, if that has ended since `time`.
    pub(super) fn answered_check(&self, time: Instant) -> Option<bool> {
        let checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        checked.and_then(|(ended, answers)| (ended >= time).then_some(answers))
    }

    /// Returns whether it is time to look whether the server, which has failed, answers again.
    pub(super) fn is_due(&self) -> bool {
        self.has_failed() && self.server.aside_until().is_none()
    }

    /// Waits for the turn of checking the server on behalf of requests: one check at a time is enough.
    pub(super) async fn turn(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.checking).lock_owned().await
    }

    /// Returns the turn of checking the server, unless someone has it.
    pub(super) fn free_turn(&self) -> Option<OwnedMutexGuard<()>> {
        Arc::clone(&self.checking).try_lock_owned().ok()
    }

    /// Records that the server failed.
    pub(super) fn set_aside(&self, error: &HttpError) {
        if self.server.set_aside(self.skipped, self.skipped) {
            tracing::warn!(address = %self.base(), %error, "a SPARQL server failed and is skipped");
        }
    }

    /// Records that the server answered.
    pub(super) fn set_back(&self) {
        if self.server.set_back() {
            tracing::info!(address = %self.base(), "a failed SPARQL server responds again");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(address: &str, repository: Option<&str>) -> Server {
        let options = ConnectionOptions {
            repository: repository.map(str::to_owned),
            ..ConnectionOptions::default()
        };
        Server::new(&Url::parse(address).unwrap(), None, &options).unwrap()
    }

    #[test]
    fn queries_go_where_the_kind_of_server_takes_them() {
        let at =
            |address, repository, kind| server(address, repository).query_address(kind).to_string();
        for base in ["http://h/rdf4j-server", "http://h/rdf4j-server/"] {
            assert_eq!(
                at(base, Some("a b"), ServerKind::Rdf4j),
                "http://h/rdf4j-server/repositories/a%20b"
            );
        }
        assert_eq!(
            at("http://h/", Some("ds"), ServerKind::Fuseki),
            "http://h/ds"
        );
        assert_eq!(
            at("http://h/sparql?x=y", None, ServerKind::Sparql11),
            "http://h/sparql?x=y"
        );
    }

    #[test]
    fn updates_go_where_they_are_configured_or_where_fuseki_takes_them() {
        let at = |address, repository, kind| {
            let url = server(address, repository).update_address(kind);
            url.map(|url| url.to_string())
        };
        let fuseki = ServerKind::Fuseki;
        let expected = Some("http://h/ds/update".to_owned());
        assert_eq!(at("http://h/", Some("ds"), fuseki), expected);
        for address in ["http://h/ds", "http://h/ds/sparql?x=y", "http://h/ds/query"] {
            assert_eq!(at(address, None, fuseki), expected, "{address}");
        }
        assert_eq!(at("http://h/sparql", None, ServerKind::Sparql11), None);
        let updates = Url::parse("http://h/write?a=b").unwrap();
        let options = ConnectionOptions::default();
        let server = Server::new(&updates, Some(&updates), &options).unwrap();
        assert_eq!(server.update_address(ServerKind::Sparql11), Some(updates));
    }

    #[test]
    fn the_base_of_the_protocol_is_before_the_repositories() {
        let base = |address, repository| {
            let base = server(address, repository).protocol_base();
            base.map(|url| url.to_string())
        };
        assert_eq!(
            base("http://h/x/repositories/y", None).unwrap(),
            "http://h/x"
        );
        assert_eq!(base("http://h/x", Some("y")).unwrap(), "http://h/x");
        assert_eq!(base("http://h/sparql", None), None);
        assert_eq!(base("http://h/repositories/", None), None);
    }
}
