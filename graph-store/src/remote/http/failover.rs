//! Retries on one server, and fail-over among several.

use std::time::Instant;

use futures::future::BoxFuture;

use super::error::{HttpError, Meaning};
use super::options::ConnectionOptions;
use super::server::Server;

/// Runs a read on one server; may be called again, also for another server.
pub(super) type Attempt<'a, T> =
    dyn Fn(&'a Server) -> BoxFuture<'a, Result<T, HttpError>> + Sync + 'a;

/// Runs a read with the retries or the fail-over that the options configure.
pub(super) async fn read<'a, T>(
    servers: &'a [Server],
    options: &ConnectionOptions,
    attempt: &Attempt<'a, T>,
) -> Result<T, HttpError> {
    match servers {
        [server] if !options.fails_over() => retried(server, options, attempt).await,
        _ => Rounds::new(servers, options).run(attempt).await,
    }
}

/// Runs a read on the only server.
async fn retried<'a, T>(
    server: &'a Server,
    options: &ConnectionOptions,
    attempt: &Attempt<'a, T>,
) -> Result<T, HttpError> {
    let mut retries = 0;
    loop {
        let error = match attempt(server).await {
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

/// A read that tries the servers in turn until one answers.
struct Rounds<'a, 'o> {
    servers: &'a [Server],
    options: &'o ConnectionOptions,
    /// When to stop retrying; `None` until the first communication failure.
    until: Option<Instant>,
}

/// The result of a read on one server of several.
enum Step<T> {
    Done(Result<T, HttpError>),
    Down(HttpError),
    Refused(HttpError),
}

impl<'a, 'o> Rounds<'a, 'o> {
    fn new(servers: &'a [Server], options: &'o ConnectionOptions) -> Self {
        Rounds {
            servers,
            options,
            until: None,
        }
    }

    async fn run<T>(mut self, attempt: &Attempt<'a, T>) -> Result<T, HttpError> {
        loop {
            let mut down = None;
            let mut refused = None;
            for server in self.order() {
                match self.step(server, attempt).await {
                    Step::Done(result) => return result,
                    Step::Refused(error) => refused = Some(error),
                    Step::Down(error) if self.is_over() => return Err(error),
                    Step::Down(error) => down = Some(error),
                }
            }
            // A response from a server is more informative than a connection failure.
            if let Some(error) = refused {
                return Err(error);
            }
            let pause = tokio::time::sleep(self.options.retry_interval);
            match (down, self.until) {
                (Some(error), Some(until)) => {
                    if Instant::now() + self.options.retry_interval >= until {
                        return Err(error);
                    }
                    pause.await;
                }
                _ => unreachable!("a round without an answer has a server that is down"),
            }
        }
    }

    /// The main server first; recently failed servers only when there is no other.
    fn order(&self) -> Vec<&'a Server> {
        let fit: Vec<_> = self
            .servers
            .iter()
            .filter(|server| !server.is_aside())
            .collect();
        if fit.is_empty() {
            return self.servers.iter().collect();
        }
        fit
    }

    async fn step<T>(&mut self, server: &'a Server, attempt: &Attempt<'a, T>) -> Step<T> {
        let attempted = match self.until {
            None => attempt(server).await,
            Some(until) => match tokio::time::timeout_at(until.into(), attempt(server)).await {
                Ok(attempted) => attempted,
                Err(_) => Err(HttpError::Slow {
                    address: server.name(),
                    timeout: self.options.unavailable_read_timeout,
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
        let may_move_on = error.status().is_none_or(|status| {
            (status.is_client_error() && self.options.retry_on_http_4xx)
                || (status.is_server_error() && self.options.retry_on_http_5xx)
        });
        match error.meaning() {
            _ if !may_move_on => Step::Done(Err(error)),
            Meaning::Final => Step::Done(Err(error)),
            Meaning::Refused => Step::Refused(error),
            Meaning::Down => {
                server.set_aside(&error);
                let time = self.options.unavailable_read_timeout;
                self.until.get_or_insert_with(|| Instant::now() + time);
                Step::Down(error)
            }
        }
    }

    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }
}
