//! The edge, put together from settings.

use std::path::PathBuf;
use std::sync::Arc;

use edge_service::{EdgeOptions, Hosted, RouteAccess, RouteOptions, Target};
use service_runtime::{HostOptions, TlsFiles, public_rows};

use crate::config::{HealthPath, RouteSettings, Settings};

/// Why the edge cannot be set up as it is configured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EdgeSettingsError {
    /// A route has not all that it needs.
    #[error("the route {number} of the edge has no {missing}: set `edge.route.{number}.{missing}` (EDGE_ROUTE_{number}_{})", .missing.to_uppercase())]
    Incomplete {
        /// The number of the route.
        number: u32,
        /// What it lacks.
        missing: &'static str,
    },
    /// TLS needs two files.
    #[error("`{given}` is set without `{missing}`, and the edge needs both to speak TLS")]
    HalfOfTls {
        /// The property that is set.
        given: &'static str,
        /// The one that is not.
        missing: &'static str,
    },
}

/// The services of this process that the edge leads to.
pub(crate) struct OwnServices {
    /// The object service.
    pub(crate) objects: Arc<dyn Hosted>,
    /// Whether it has users who log in.
    pub(crate) has_provider: bool,
    /// The search service.
    pub(crate) search: Option<Arc<dyn Hosted>>,
    /// The gateway.
    pub(crate) gateway: Option<Arc<dyn Hosted>>,
}

impl OwnServices {
    /// Returns the routes to them: the gateway, or else the object service, is at the root.
    fn routes(self) -> Vec<RouteOptions> {
        let hosted = |service: &Arc<dyn Hosted>| Target::Hosted(Arc::clone(service));
        let below = |name, path, service| {
            let route = RouteOptions::new(name, path, hosted(service)).stripped();
            route.with_public(public_rows())
        };
        let mut routes = vec![below("objects", "/objects", &self.objects)];
        if let Some(search) = &self.search {
            routes.push(below("search", "/searches", search));
        }
        let root = match &self.gateway {
            Some(gateway) => {
                RouteOptions::new("gateway", "/", hosted(gateway)).allowing_late_tokens()
            }
            None => RouteOptions::new("root", "/", hosted(&self.objects)),
        };
        routes.push(root.with_public(public_rows()));
        if self.has_provider {
            for (name, path) in [("log-in", "/api/login"), ("keys", "/.well-known/jwks.json")] {
                let mut route = RouteOptions::new(name, path, hosted(&self.objects));
                route.access = RouteAccess::Public;
                routes.push(route);
            }
        }
        routes
    }
}

impl Settings {
    /// Returns what holds for all routes of the edge.
    #[must_use]
    pub fn edge_options(&self) -> EdgeOptions {
        let edge = &self.edge;
        let streams = edge.max_streams.0;
        EdgeOptions {
            address_rate: edge.address_rate,
            caller_rate: edge.caller_rate,
            max_body_bytes: edge.max_body_bytes,
            max_streams: streams.and_then(|most| usize::try_from(most).ok()),
            upstream: edge.upstream.clone(),
        }
    }

    /// Returns the options of the edge as a service, with its certificate.
    pub(crate) fn edge_host_options(&self) -> Result<HostOptions, EdgeSettingsError> {
        const CERTIFICATE: &str = "edge.tls.certificate";
        const KEY: &str = "edge.tls.key";
        let half = |given, missing| EdgeSettingsError::HalfOfTls { given, missing };
        let mut options = self.host_options();
        options.listener.tls = match (&self.edge.certificate, &self.edge.key) {
            (None, None) => None,
            (Some(certificate), Some(key)) => Some(TlsFiles {
                certificate: PathBuf::from(certificate),
                key: PathBuf::from(key),
            }),
            (Some(_), None) => return Err(half(CERTIFICATE, KEY)),
            (None, Some(_)) => return Err(half(KEY, CERTIFICATE)),
        };
        Ok(options)
    }

    /// Returns the configured routes of the edge, and those to the services of this process that no configured one takes
    /// the place of.
    pub(crate) fn edge_routes(
        &self,
        own: Option<OwnServices>,
    ) -> Result<Vec<RouteOptions>, EdgeSettingsError> {
        let configured = self.edge.given().map(|(number, it)| route(number, it));
        let mut routes: Vec<RouteOptions> = configured.collect::<Result<_, _>>()?;
        let own = own.map(OwnServices::routes).unwrap_or_default();
        for route in own {
            let is_replaced = |other: &RouteOptions| {
                other.hosts == route.hosts
                    && other.path.trim_end_matches('/') == route.path.trim_end_matches('/')
            };
            if !routes.iter().any(is_replaced) {
                routes.push(route);
            }
        }
        Ok(routes)
    }
}

fn route(number: u32, settings: &RouteSettings) -> Result<RouteOptions, EdgeSettingsError> {
    let incomplete = |missing| EdgeSettingsError::Incomplete { number, missing };
    let path = settings.path.as_deref().ok_or_else(|| incomplete("path"))?;
    if settings.addresses.is_empty() {
        return Err(incomplete("address"));
    }
    let name = settings
        .name
        .clone()
        .unwrap_or_else(|| format!("route_{number}"));
    let target = Target::Servers(settings.addresses.clone());
    let mut route = RouteOptions::new(&name, path, target);
    route.hosts = settings.hosts.clone();
    route.strips_path = settings.strips_path;
    route.access = settings.access;
    route.public = settings.public.0.clone();
    route.allows_late_token = settings.allows_late_token;
    route.preserves_host = !settings.hides_host;
    route.rate = settings.rate;
    match &settings.health {
        HealthPath::Usual => {}
        HealthPath::None => route.health = None,
        HealthPath::At(path) => route.health = Some(path.clone()),
    }
    Ok(route)
}
