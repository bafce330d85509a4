//! One server: its address for queries, its connections, and whether it is skipped.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use reqwest::Url;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::error::{HttpError, OptionsError};
use super::options::ConnectionOptions;
use super::values::ServerKind;

/// A server that queries are sent to.
#[derive(Debug)]
pub(super) struct Server {
    /// Its address as configured.
    pub(super) base: Url,
    repository: Option<String>,
    /// The address that takes updates, if it is configured.
    updates: Option<Url>,
    connections: Semaphore,
    /// When it last failed, if it has not answered since.
    failed: Mutex<Option<Instant>>,
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
        let connections = options.max_concurrent_connections;
        Ok(Server {
            base: base.clone(),
            repository: options.repository.clone(),
            updates: updates.cloned(),
            connections: Semaphore::new(connections.min(Semaphore::MAX_PERMITS)),
            failed: Mutex::default(),
        })
    }

    /// Returns the name for logs and errors.
    pub(super) fn name(&self) -> String {
        self.base.to_string()
    }

    /// Returns the address that takes queries when the server is of `kind`.
    pub(super) fn query_address(&self, kind: ServerKind) -> Url {
        match (&self.repository, kind) {
            (Some(id), ServerKind::Rdf4j | ServerKind::GraphDb) => {
                self.below(&["repositories", id])
            }
            (Some(id), ServerKind::Fuseki | ServerKind::Sparql11) => self.below(&[id]),
            (None, _) => self.base.clone(),
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

    /// Returns the base address of the server if it may speak RDF4J's protocol.
    pub(super) fn protocol_base(&self) -> Option<Url> {
        if self.repository.is_some() {
            return Some(self.base.clone());
        }
        let segments: Vec<_> = self.base.path_segments()?.collect();
        let [.., "repositories", id] = segments.as_slice() else {
            return None;
        };
        let mut base = self.base.clone();
        (!id.is_empty()).then(|| {
            if let Ok(mut path) = base.path_segments_mut() {
                path.pop().pop();
            }
            base
        })
    }

    fn below(&self, segments: &[&str]) -> Url {
        below(&self.base, segments)
    }

    /// Waits for a free connection.
    pub(super) async fn connection(
        &self,
        timeout: Option<Duration>,
    ) -> Result<SemaphorePermit<'_>, HttpError> {
        let permit = self.connections.acquire();
        let permit = match timeout {
            None => permit.await,
            Some(timeout) => {
                let waited = tokio::time::timeout(timeout, permit).await;
                waited.map_err(|_| HttpError::Busy {
                    address: self.name(),
                    timeout,
                })?
            }
        };
        Ok(permit.expect("the semaphore is never closed"))
    }

    /// Returns whether the server failed less than `interval` ago.
    pub(super) fn is_aside(&self, interval: Duration) -> bool {
        self.lock().is_some_and(|at| at.elapsed() < interval)
    }

    /// Records that the server failed.
    pub(super) fn set_aside(&self, error: &HttpError) {
        if self.lock().replace(Instant::now()).is_none() {
            tracing::warn!(address = %self.base, %error, "a SPARQL server failed and is skipped");
        }
    }

    /// Records that the server answered.
    pub(super) fn set_back(&self) {
        if self.lock().take().is_some() {
            tracing::info!(address = %self.base, "a SPARQL server that failed answers again");
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Appends segments to the path of an address.
pub(super) fn below(base: &Url, segments: &[&str]) -> Url {
    let mut url = base.clone();
    url.path_segments_mut()
        .expect("http addresses have a path")
        .pop_if_empty()
        .extend(segments);
    url
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
