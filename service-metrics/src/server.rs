//! Requests of an HTTP server.
//!
//! What a request costs is an index into a table of series, each of which is looked up by its labels once: nothing is
//! formatted or allocated for later ones.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use http::{Method, StatusCode};
use metrics::{Gauge, Histogram, SharedString};

use crate::table::{ACTIVE_REQUESTS, NO_RESPONSE, OTHER, REQUEST_DURATION};

/// The methods that HTTP defines; others are one.
const METHODS: [&str; 10] = [
    "GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "CONNECT", "TRACE", OTHER,
];

/// The first status, and how many there are.
const FIRST: usize = 100;
const STATUSES: usize = 500;

/// Series of requests by their statuses; the last two are for a status that HTTP does not define, and for none.
type ByStatus = [OnceLock<Histogram>; STATUSES + 2];

/// Records the requests of one server. Cheap to clone.
///
/// ```
/// use http::{Method, StatusCode};
/// use service_metrics::ServerMetrics;
///
/// let routes = ["/graphql", "/files/{name}"];
/// let server = ServerMetrics::new("my-service", routes);
/// let request = server.begin(&Method::POST, Some(0));
/// // … the request is answered …
/// request.end(StatusCode::OK);
/// ```
#[derive(Clone)]
pub struct ServerMetrics(Arc<Inner>);

struct Inner {
    service: SharedString,
    routes: Vec<SharedString>,
    active: Gauge,
    /// By route and method. The last route is for requests without one.
    series: Vec<[OnceLock<Box<ByStatus>>; METHODS.len()]>,
}

impl ServerMetrics {
    /// Records for the server of a name, whose routes are these: never paths, of which clients can invent any number.
    pub fn new<R: Into<SharedString>>(
        service: impl Into<SharedString>,
        routes: impl IntoIterator<Item = R>,
    ) -> Self {
        let service = service.into();
        let mut routes: Vec<SharedString> = routes.into_iter().map(Into::into).collect();
        routes.push(OTHER.into());
        ServerMetrics(Arc::new(Inner {
            active: ACTIVE_REQUESTS.gauge([service.clone()]),
            series: routes.iter().map(|_| Default::default()).collect(),
            service,
            routes,
        }))
    }

    /// Begins a request by the position of its route; `None` where there is no such route.
    ///
    /// A request that is dropped before it ends counts as one without a response.
    #[must_use]
    pub fn begin(&self, method: &Method, route: Option<usize>) -> ServerRequest {
        self.begin_at(method, route, Instant::now())
    }

    /// Begins a request as [`ServerMetrics::begin`] does, for callers that know the time already.
    #[must_use]
    pub fn begin_at(&self, method: &Method, route: Option<usize>, begun: Instant) -> ServerRequest {
        let last = self.0.routes.len() - 1;
        self.0.active.increment(1.0);
        ServerRequest {
            server: self.clone(),
            method: position(method),
            route: route.unwrap_or(last).min(last),
            status: STATUSES + 1,
            begun,
            taken: None,
        }
    }
}

impl Inner {
    fn series(&self, route: usize, method: usize, status: usize) -> &Histogram {
        let all = self.series[route][method]
            .get_or_init(|| Box::new(std::array::from_fn(|_| OnceLock::new())));
        all[status].get_or_init(|| {
            let shown: SharedString = match status {
                STATUSES => OTHER.into(),
                status if status > STATUSES => NO_RESPONSE.into(),
                status => (FIRST + status).to_string().into(),
            };
            let (service, route) = (self.service.clone(), self.routes[route].clone());
            REQUEST_DURATION.histogram([service, METHODS[method].into(), route, shown])
        })
    }
}

/// A request that is being answered.
pub struct ServerRequest {
    server: ServerMetrics,
    method: usize,
    route: usize,
    status: usize,
    begun: Instant,
    taken: Option<Duration>,
}

impl ServerRequest {
    /// Records it with the status of its response.
    pub fn end(self, status: StatusCode) {
        let taken = self.begun.elapsed();
        self.end_after(status, taken);
    }

    /// Records it with the status of its response and how long that took.
    pub fn end_after(mut self, status: StatusCode, taken: Duration) {
        self.taken = Some(taken);
        let status = usize::from(status.as_u16());
        self.status = status.saturating_sub(FIRST).min(STATUSES);
    }
}

impl Drop for ServerRequest {
    fn drop(&mut self) {
        let server = &self.server.0;
        server.active.decrement(1.0);
        let series = server.series(self.route, self.method, self.status);
        series.record(self.taken.unwrap_or_else(|| self.begun.elapsed()));
    }
}

fn position(method: &Method) -> usize {
    match *method {
        Method::GET => 0,
        Method::POST => 1,
        Method::PUT => 2,
        Method::DELETE => 3,
        Method::HEAD => 4,
        Method::OPTIONS => 5,
        Method::PATCH => 6,
        Method::CONNECT => 7,
        Method::TRACE => 8,
        _ => METHODS.len() - 1,
    }
}

/// Returns the name of a method as labels have it.
pub(crate) fn method_name(method: &Method) -> &'static str {
    METHODS[position(method)]
}
