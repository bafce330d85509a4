//! Retries on one server, and fail-over among several.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;

use super::cluster::Cluster;
use super::error::{HttpError, Meaning};
use super::options::ConnectionOptions;

/// Sends a request that can be repeated to the server at a position; may be called again, also for another server.
pub(super) type Attempt<'a, T> = dyn Fn(usize) -> BoxFuture<'a, Result<T, HttpError>> + Sync + 'a;

/// What a request is part of, which decides for how long it is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Read,
    /// What comes before the commit of a write.
    Write,
}

/// Sends a request that can be repeated, with the retries or the fail-over that the options configure: to the servers in
/// turn or, if its position is given, to one of them.
pub(super) async fn repeated<T>(
    cluster: &Arc<Cluster>,
    pinned: Option<usize>,
    purpose: Purpose,
    attempt: &Attempt<'_, T>,
) -> Result<T, HttpError> {
    let options = &cluster.options;
    if !options.fails_over() {
        return retried(pinned.unwrap_or_default(), options, attempt).await;
    }
    match pinned {
        // Whoever stays with a server can begin again on another one.
        Some(position) => {
            cluster.check_fit(position)?;
            let attempted = Box::pin(cluster.watched(position, attempt(position))).await;
            match &attempted {
                Ok(_) => cluster.servers[position].set_back(),
                Err(error) => {
                    cluster.note_apart(position, error);
                }
            }
            attempted
        }
        None => Rounds::new(cluster, purpose).run(attempt).await,
    }
}

/// Sends a request to the only server.
async fn retried<T>(
    position: usize,
    options: &ConnectionOptions,
    attempt: &Attempt<'_, T>,
) -> Result<T, HttpError> {
    let mut retries = 0;
    loop {
        let error = match attempt(position).await {
            Ok(result) => return Ok(result),
            Err(error) => error,
        };
        if retries == options.max_retries {
            return Err(error);
        }
        match (&error, error.status()) {
            // Servers lock out whoever repeats wrong credentials.
            (HttpError::Credentials { .. }, _) => return Err(error),
            (_, Some(status)) if options.retry_http_codes.contains(status.as_u16()) => {
                tracing::warn!(%error, "retrying the SPARQL server");
                tokio::time::sleep(options.retry_interval).await;
            }
            // Most likely a pooled connection that the server has closed meanwhile.
            (HttpError::Lost { .. }, _) => tracing::debug!(%error, "sent again"),
            _ => return Err(error),
        }
        retries += 1;
    }
}

/// A request that is sent to the servers in turn until one answers.
struct Rounds<'c> {
    cluster: &'c Arc<Cluster>,
    /// For how long it is repeated after the first communication failure.
    time: Duration,
    /// When to stop repeating it; `None` until the first communication failure.
    until: Option<Instant>,
}

/// The result of a request to one server of several.
enum Step<T> {
    Done(Result<T, HttpError>),
    Down(HttpError),
    Refused(HttpError),
    /// The server lacks the repository.
    Missing(HttpError),
}

impl<'c> Rounds<'c> {
    fn new(cluster: &'c Arc<Cluster>, purpose: Purpose) -> Self {
        let options = &cluster.options;
        Rounds {
            cluster,
            time: match purpose {
                Purpose::Read => options.unavailable_read_timeout,
                Purpose::Write => options.unavailable_write_timeout,
            },
            until: None,
        }
    }

    async fn run<T>(mut self, attempt: &Attempt<'_, T>) -> Result<T, HttpError> {
        let interval = self.cluster.options.retry_interval;
        loop {
            let (mut down, mut refused, mut missing) = (None, None, None);
            let order = self.cluster.order();
            let are_all = order.len() == self.cluster.servers.len();
            for position in order {
                match self.step(position, attempt).await {
                    Step::Done(result) => return result,
                    Step::Refused(error) => refused = Some(error),
                    Step::Missing(error) => missing = Some(error),
                    Step::Down(error) if self.is_over() => return Err(error),
                    Step::Down(error) => down = Some(error),
                }
            }
            // A response from a server is more informative than a connection failure.
            if let Some(error) = refused {
                return Err(error);
            }
            match (down, missing, self.until) {
                (Some(error), _, Some(until)) => {
                    if Instant::now() + interval >= until {
                        return Err(error);
                    }
                    tokio::time::sleep(interval).await;
                }
                // Those that were left out may have the repository.
                (None, Some(_), _) if !are_all => {}
                (None, Some(error), _) => return Err(error),
                _ => unreachable!("a round without an answer has a server that is down"),
            }
        }
    }

    async fn step<T>(&mut self, position: usize, attempt: &Attempt<'_, T>) -> Step<T> {
        let cluster = self.cluster;
        let server = &cluster.servers[position];
        let attempted = cluster.watched(position, async {
            match attempt(position).await {
                // Most likely a pooled connection that the server has closed meanwhile.
                Err(HttpError::Lost { .. }) => attempt(position).await,
                attempted => attempted,
            }
        });
        let attempted = match self.until {
            None => attempted.await,
            Some(until) => match tokio::time::timeout_at(until.into(), attempted).await {
                Ok(attempted) => attempted,
                Err(_) => Err(HttpError::Slow {
                    address: server.name(),
                    timeout: self.time,
                }),
            },
        };
        let error = match attempted {
            Ok(result) => {
                server.set_back();
                return Step::Done(Ok(result));
            }
            Err(error) => error,
        };
        let options = &cluster.options;
        let may_move_on = error.status().is_none_or(|status| {
            (status.is_client_error() && options.retry_on_http_4xx)
                || (status.is_server_error() && options.retry_on_http_5xx)
        });
        if !may_move_on {
            return Step::Done(Err(error));
        }
        cluster.note_apart(position, &error);
        match error.meaning() {
            Meaning::Final => Step::Done(Err(error)),
            _ if cluster.is_missing(&error) => Step::Missing(error),
            Meaning::Refused => Step::Refused(error),
            Meaning::Down => {
                let time = self.time;
                self.until.get_or_insert_with(|| Instant::now() + time);
                Step::Down(error)
            }
        }
    }

    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }
}
