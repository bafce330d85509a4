//! The edge at work: what each request passes.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, LOCATION, RETRY_AFTER};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use graphql_http::body::BodyLimits;
use graphql_http::{HttpError, note, sender};
use graphql_service::{Caller, ErrorCode, Service};
use service_runtime::checks::EDGE_CHECKS;
use service_runtime::{
    Advice, Check, ClientAddress, HealthRecord, Host, HostState, Origins, OtherPaths, Serve,
    ServiceRouter, Shown, Tokens, host_name, state_routes,
};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::code;
use super::health::Health;
use super::options::{EdgeOptions, RouteAccess, RouteOptions};
use super::paths::ambiguity;
use super::relay::Relay;
use super::route::{EdgeRoute, RouteError, RouteTable, RouteTarget};
use super::throttle::{Standing, Throttle, add_headers, network};
use super::tunnel;
use super::upstream::Checker;

/// Pause between two looks for callers whose counters can be forgotten.
const TIDYING: Duration = Duration::from_secs(1);

/// One address in front of services.
pub struct EdgeApp {
    state: HostState,
    routes: Arc<RouteTable>,
    health: Health,
    addresses: Option<Throttle>,
    callers: Option<Throttle>,
    relay: Relay,
    ending: CancellationToken,
}

/// Why the edge cannot be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EdgeError {
    /// A route cannot be served.
    #[error(transparent)]
    Route(#[from] RouteError),
    /// Requests cannot be sent.
    #[error("requests to services cannot be set up: {0}")]
    Client(String),
}

impl EdgeApp {
    /// Sets the edge up. Where the state has a verifier, requests need a token that it accepts.
    ///
    /// # Errors
    /// When a route cannot be served, or the client of services cannot be set up.
    pub fn new(
        state: HostState,
        options: &EdgeOptions,
        routes: Vec<RouteOptions>,
    ) -> Result<Self, EdgeError> {
        let upstream = &options.upstream.with_endless_timeouts();
        let routes = Arc::new(RouteTable::new(routes, upstream)?);
        let tls = outbound::tls::config_for(routes.addresses())
            .map_err(|error| EdgeError::Client(error.to_string()))?;
        let client = outbound::client(tls)
            .connect_timeout(upstream.connect_timeout)
            // Services close connections that are idle for longer, and a request may meet that.
            .pool_idle_timeout(Duration::from_secs(20))
            .build()
            .map_err(|error| EdgeError::Client(outbound::causes(error)))?;
        let connections = state.options.listener.max_connections;
        let streams = options.max_streams.unwrap_or(connections / 4 * 3);
        let ending = CancellationToken::new();
        let relay = Relay {
            client: client.clone(),
            options: upstream.clone(),
            body: BodyLimits {
                bytes: options.max_body_bytes,
                time: state.options.request_timeout,
            },
            resources: state.resources.clone(),
            streams: Arc::new(Semaphore::new(streams.min(Semaphore::MAX_PERMITS))),
            is_tls: state.options.listener.tls.is_some(),
            has_cors: state.options.callers.origins != Origins::None,
            ending: ending.clone(),
        };
        let checker = Checker {
            client,
            interval: upstream.check_interval,
            timeout: upstream.check_timeout,
        };
        Ok(EdgeApp {
            health: Health::new(Arc::clone(&routes), checker),
            routes,
            addresses: options
                .address_rate
                .map(|rate| Throttle::new("address", rate)),
            callers: options
                .caller_rate
                .map(|rate| Throttle::new("caller", rate)),
            relay,
            state,
            ending,
        })
    }

    /// Returns the paths of its routes and their names, the first that is looked at first.
    pub fn routes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.routes.iter().map(move |route| {
            let path: &str = &route.path;
            (if path.is_empty() { "/" } else { path }, &*route.name)
        })
    }

    /// Passes a request on if it may.
    async fn pass(
        &self,
        request: Request,
        standings: &mut Vec<Standing>,
    ) -> Result<Response, HttpError> {
        if let (Some(addresses), Some(client)) = (&self.addresses, request.extensions().get()) {
            let ClientAddress(address) = *client;
            count(addresses, network(address), standings)?;
        }
        let path = request.uri().path();
        if let Some(ambiguity) = ambiguity(path) {
            return Err(HttpError::new(code::PATH_AMBIGUOUS, ambiguity));
        }
        let host = host_name(&request);
        let route = self.routes.find(host.as_deref(), path);
        let caller = match &self.state.verifier {
            Some(verifier) if !route.is_some_and(|route| needs_no_token(route, &request)) => {
                let caller = sender(verifier, request.headers())
                    .await
                    .map_err(|refusal| {
                        let code = refusal.code();
                        tracing::debug!(%code, reason = %refusal, "refused a request");
                        HttpError::unauthenticated(refusal)
                    })?;
                note(&caller);
                Some(caller)
            }
            _ => None,
        };
        if let (Some(callers), Some(caller)) = (&self.callers, &caller) {
            count(callers, identity(caller), standings)?;
        }
        let route = route.ok_or_else(|| {
            let message = "no route matches this host and path";
            HttpError::new(code::ROUTE_NOT_FOUND, message)
        })?;
        if let Some(throttle) = &route.throttle {
            count(throttle, (), standings)?;
        }
        if let Some(response) = with_slash(route, &request) {
            return Ok(response);
        }
        Ok(self.relay.send(route, request).await)
    }
}

#[async_trait]
impl OtherPaths for EdgeApp {
    async fn answer(&self, request: Request) -> Response {
        let mut standings = Vec::new();
        let passed = self.pass(request, &mut standings).await;
        let mut response = passed.unwrap_or_else(IntoResponse::into_response);
        if let Some(refused) = standings.last().filter(|standing| standing.is_refused) {
            let seconds = HeaderValue::from(refused.retry_after());
            response.headers_mut().insert(RETRY_AFTER, seconds);
        }
        add_headers(&standings, response.headers_mut());
        response
    }

    fn route_paths(&self) -> Vec<String> {
        self.routes().map(|(path, _)| path.to_owned()).collect()
    }

    fn route_of(&self, request: &Request) -> Option<usize> {
        let host = host_name(request);
        let found = self.routes.find(host.as_deref(), request.uri().path())?;
        let mut routes = self.routes.iter();
        routes.position(|route| std::ptr::eq(route, found))
    }
}

/// Counts a request, and refuses it if it is one too many.
fn count(
    throttle: &Throttle,
    key: impl std::hash::Hash,
    standings: &mut Vec<Standing>,
) -> Result<(), HttpError> {
    let standing = throttle.count(key);
    standings.push(standing);
    if !standing.is_refused {
        return Ok(());
    }
    let message = format!("the {} has exceeded its rate limit", standing.name());
    Err(HttpError::new(code::RATE_LIMITED, message))
}

/// Returns what tells a caller from others: the subject of its token, with the one who has issued it.
fn identity(caller: &Caller) -> (Option<&str>, Option<&str>) {
    let text = |claim: &str| caller.claims.get(claim).and_then(|value| value.as_str());
    (text("iss"), text("sub").or(caller.name.as_deref()))
}

fn needs_no_token(route: &EdgeRoute, request: &Request) -> bool {
    if route.access == RouteAccess::Public {
        return true;
    }
    let headers = request.headers();
    if route.allows_late_token
        && !headers.contains_key(AUTHORIZATION)
        && tunnel::is_asked_for(request.method(), headers)
    {
        return true;
    }
    let inner = route.inner(request.uri().path());
    route
        .public
        .is_public(request.method(), inner, request.uri())
}

/// Returns the way to the root of a service, whose relative links lead elsewhere without a slash at the end of its path.
fn with_slash(route: &EdgeRoute, request: &Request) -> Option<Response> {
    let uri = request.uri();
    let is_root = route.prefix() == Some(uri.path());
    if !is_root || !matches!(*request.method(), Method::GET | Method::HEAD) {
        return None;
    }
    let query = uri.query().map(|query| format!("?{query}"));
    let location = format!("{}/{}", uri.path(), query.unwrap_or_default());
    let location = HeaderValue::try_from(location).ok()?;
    Some((StatusCode::PERMANENT_REDIRECT, [(LOCATION, location)]).into_response())
}

#[async_trait]
impl Host for EdgeApp {
    fn state(&self) -> &HostState {
        &self.state
    }

    fn shown(&self) -> Option<Arc<dyn Shown>> {
        None
    }

    fn service(&self) -> Option<Arc<dyn Service>> {
        None
    }

    async fn advice(&self) -> Vec<Advice> {
        EDGE_CHECKS.iter().map(Check::advice).collect()
    }

    async fn health(&self, cached: bool) -> HealthRecord {
        self.health.record(&self.state.options.name, cached).await
    }

    async fn obstacle(&self) -> Option<(ErrorCode, String)> {
        let message = self.health.obstacle().await?;
        Some((code::UPSTREAM_UNAVAILABLE, message))
    }
}

#[async_trait]
impl Serve for EdgeApp {
    fn routes(self: &Arc<Self>) -> ServiceRouter {
        let tokens = Tokens::demanded(self.state.verifier.clone());
        let others: Arc<dyn OtherPaths> = Arc::clone(self) as _;
        state_routes(Arc::clone(self)).serve_others(others, tokens)
    }

    /// Checks servers, and forgets callers that have all of their requests again.
    fn begin(self: &Arc<Self>, tasks: &mut JoinSet<()>) {
        for (number, route) in self.routes.iter().enumerate() {
            let RouteTarget::Servers(upstream) = &route.target else {
                continue;
            };
            for position in 0..upstream.servers.len() {
                tasks.spawn(Arc::clone(self).check(number, position));
            }
        }
        tasks.spawn(Arc::clone(self).tidy());
    }

    fn drain(&self) {
        self.state.drain();
        self.ending.cancel();
    }
}

impl EdgeApp {
    /// Checks one server as long as the edge is there.
    async fn check(self: Arc<Self>, route: usize, server: usize) {
        let route = self.routes.iter().nth(route);
        let Some(route) = route else { return };
        if let RouteTarget::Servers(upstream) = &route.target {
            let server = &upstream.servers[server];
            self.health.checker.watch(&route.name, server).await;
        }
    }

    async fn tidy(self: Arc<Self>) {
        loop {
            tokio::time::sleep(TIDYING).await;
            let app = Arc::clone(&self);
            let tidied = tokio::task::spawn_blocking(move || {
                let of_routes = app.routes.iter().filter_map(|it| it.throttle.as_ref());
                for throttle in app.addresses.iter().chain(&app.callers).chain(of_routes) {
                    throttle.forget_idle();
                }
            });
            if let Err(error) = tidied.await {
                tracing::error!(%error, "idle callers were not forgotten");
            }
        }
    }
}
