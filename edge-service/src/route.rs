//! The routes, and which of them a request takes.

use std::sync::Arc;

use reqwest::Url;
use service_runtime::{HostNames, PathError, Table};

use super::options::{RouteAccess, RouteOptions, Target, UpstreamOptions};
use super::rate::Rate;
use super::throttle::Throttle;
use super::upstream::{HostedService, Upstream};

/// Why a route cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RouteError {
    /// The path is no path of segments.
    #[error("the path `{path}` of the route `{route}` is not of the form `/` or `/objects`")]
    Path {
        /// The route.
        route: String,
        /// Its path.
        path: String,
    },
    /// Two routes take the same requests.
    #[error("the routes `{route}` and `{other}` have the same path `{path}` and host")]
    Same {
        /// One route.
        route: String,
        /// The other.
        other: String,
        /// Their path.
        path: String,
    },
    /// The route leads nowhere.
    #[error("the route `{0}` has no server address")]
    NoServer(String),
    /// A public path is malformed.
    #[error("a public path of the route `{route}` cannot be used")]
    Public {
        /// The route.
        route: String,
        /// The cause.
        #[source]
        source: PathError,
    },
    /// There are no routes.
    #[error("the edge has no routes")]
    None,
}

/// A route that takes requests.
pub(crate) struct EdgeRoute {
    pub(crate) name: Arc<str>,
    hosts: HostNames,
    /// Without a slash at its end, and so empty for all paths.
    pub(crate) path: String,
    pub(crate) strips_path: bool,
    pub(crate) target: RouteTarget,
    pub(crate) access: RouteAccess,
    pub(crate) public: Table,
    pub(crate) allows_late_token: bool,
    pub(crate) preserves_host: bool,
    pub(crate) throttle: Option<Throttle>,
}

/// Where the requests of a route go.
pub(crate) enum RouteTarget {
    Servers(Upstream),
    Hosted(HostedService),
}

/// The routes in the order in which they are looked at: those for some hosts first, longer paths first.
pub(crate) struct RouteTable(Vec<EdgeRoute>);

impl RouteTable {
    pub(crate) fn new(
        routes: Vec<RouteOptions>,
        options: &UpstreamOptions,
    ) -> Result<Self, RouteError> {
        let routes: Result<Vec<EdgeRoute>, _> = routes
            .into_iter()
            .map(|route| EdgeRoute::new(route, options))
            .collect();
        let mut routes = routes?;
        if routes.is_empty() {
            return Err(RouteError::None);
        }
        routes.sort_by_key(|route| (route.hosts.is_empty(), usize::MAX - route.path.len()));
        for (position, route) in routes.iter().enumerate() {
            let mut before = routes[..position].iter();
            if let Some(other) = before.find(|other| other.takes_all_of(route)) {
                return Err(RouteError::Same {
                    route: other.name.to_string(),
                    other: route.name.to_string(),
                    path: route.path.clone(),
                });
            }
        }
        Ok(RouteTable(routes))
    }

    /// Returns the route of a request.
    pub(crate) fn find(&self, host: Option<&str>, path: &str) -> Option<&EdgeRoute> {
        let mut routes = self.0.iter();
        routes.find(|route| route.is_for(host) && route.rest(path).is_some())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &EdgeRoute> {
        self.0.iter()
    }

    /// Returns the addresses of all servers.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = &Url> {
        let upstreams = self.0.iter().filter_map(|route| match &route.target {
            RouteTarget::Servers(upstream) => Some(upstream),
            RouteTarget::Hosted(_) => None,
        });
        upstreams.flat_map(|upstream| upstream.servers.iter().map(|server| &server.base))
    }
}

impl EdgeRoute {
    fn new(options: RouteOptions, upstream: &UpstreamOptions) -> Result<Self, RouteError> {
        let name = options.name;
        let path = normalized(&options.path).ok_or_else(|| RouteError::Path {
            route: name.clone(),
            path: options.path.clone(),
        })?;
        let target = match options.target {
            Target::Servers(addresses) if addresses.is_empty() => {
                return Err(RouteError::NoServer(name));
            }
            Target::Servers(addresses) => {
                let health = options.health.as_deref();
                RouteTarget::Servers(Upstream::new(&addresses, health, upstream.max_waiting))
            }
            Target::Hosted(service) => {
                RouteTarget::Hosted(HostedService::new(service, upstream.max_waiting))
            }
        };
        let public = Table::new(options.public.into()).map_err(|source| RouteError::Public {
            route: name.clone(),
            source,
        })?;
        Ok(EdgeRoute {
            name: name.into(),
            hosts: options.hosts,
            path,
            strips_path: options.strips_path,
            target,
            access: options.access,
            public,
            allows_late_token: options.allows_late_token,
            preserves_host: options.preserves_host,
            throttle: options.rate.map(|rate: Rate| Throttle::new("route", rate)),
        })
    }

    fn is_for(&self, host: Option<&str>) -> bool {
        self.hosts.is_empty() || host.is_some_and(|host| self.hosts.contains(host))
    }

    /// Returns the rest of a path that is at or below that of the route: empty, or with a slash at its beginning.
    pub(crate) fn rest<'p>(&self, path: &'p str) -> Option<&'p str> {
        let rest = path.strip_prefix(self.path.as_str())?;
        (rest.is_empty() || rest.starts_with('/')).then_some(rest)
    }

    /// Returns the path that the service sees.
    pub(crate) fn inner<'p>(&self, path: &'p str) -> &'p str {
        if !self.strips_path {
            return path;
        }
        match self.rest(path) {
            None | Some("") => "/",
            Some(rest) => rest,
        }
    }

    /// Returns the path below which clients see the service, if that is another than the one it sees itself.
    pub(crate) fn prefix(&self) -> Option<&str> {
        (self.strips_path && !self.path.is_empty()).then_some(self.path.as_str())
    }

    /// Returns whether nothing is left to the other route, which is looked at later.
    fn takes_all_of(&self, other: &EdgeRoute) -> bool {
        let hosts = self.hosts.to_string() == other.hosts.to_string();
        hosts && self.path == other.path
    }
}

/// Returns a path without the slash at its end.
fn normalized(path: &str) -> Option<String> {
    let trimmed = path.strip_suffix('/').unwrap_or(path);
    if trimmed.is_empty() {
        return (path == "/").then(String::new);
    }
    let is_fit = |segment: &str| {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'~');
        !matches!(segment, "" | "." | "..") && segment.bytes().all(plain)
    };
    let mut segments = trimmed.strip_prefix('/')?.split('/');
    segments.all(is_fit).then(|| trimmed.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(name: &str, path: &str, hosts: &str) -> RouteOptions {
        let target = Target::Servers("http://127.0.0.1:1".parse().unwrap());
        RouteOptions {
            hosts: hosts.parse().unwrap(),
            ..RouteOptions::new(name, path, target)
        }
    }

    fn table(routes: Vec<RouteOptions>) -> Result<RouteTable, RouteError> {
        RouteTable::new(routes, &UpstreamOptions::default())
    }

    #[test]
    fn the_longest_path_of_the_host_takes_a_request() {
        let table = table(vec![
            route("all", "/", "none"),
            route("objects", "/objects/", "none"),
            route("deep", "/objects/deep", "none"),
            route("other host", "/", "data.example.org"),
        ])
        .unwrap();
        for (host, path, name) in [
            (None, "/", "all"),
            (Some("a.example"), "/objectsx", "all"),
            (Some("a.example"), "/objects", "objects"),
            (Some("a.example"), "/objects/", "objects"),
            (Some("a.example"), "/objects/x", "objects"),
            (Some("a.example"), "/objects/deep/x", "deep"),
            (Some("a.example"), "/Objects", "all"),
            (Some("DATA.example.org."), "/objects/x", "other host"),
        ] {
            let found = table.find(host, path).unwrap();
            assert_eq!(&*found.name, name, "{host:?} {path}");
        }
        let objects = table.find(None, "/objects").unwrap();
        assert_eq!(objects.inner("/objects/x"), "/objects/x");
    }

    #[test]
    fn the_path_of_a_route_is_taken_away_where_it_says_so() {
        let table = table(vec![route("objects", "/a/objects", "none").stripped()]).unwrap();
        let objects = table.find(None, "/a/objects/x").unwrap();
        assert_eq!(objects.prefix(), Some("/a/objects"));
        for (path, inner) in [
            ("/a/objects", "/"),
            ("/a/objects/", "/"),
            ("/a/objects/x/", "/x/"),
        ] {
            assert_eq!(objects.inner(path), inner, "{path}");
        }
        assert!(table.find(None, "/other").is_none());
    }

    #[test]
    fn routes_that_cannot_be_told_apart_or_lead_nowhere_are_refused() {
        let same = vec![route("a", "/x", "none"), route("b", "/x/", "none")];
        assert!(matches!(table(same), Err(RouteError::Same { .. })));
        let other_hosts = vec![
            route("a", "/x", "a.example"),
            route("b", "/x/", "b.example"),
        ];
        assert!(table(other_hosts).is_ok());
        for path in [
            "", "x", "//", "/a//b", "/a/../b", "/a b", "/a%20b", "/{x}", "/a?b",
        ] {
            let refused = table(vec![route("a", path, "none")]);
            assert!(matches!(refused, Err(RouteError::Path { .. })), "{path}");
        }
        assert!(matches!(table(Vec::new()), Err(RouteError::None)));
        let nowhere = RouteOptions::new("a", "/", Target::Servers("".parse().unwrap()));
        assert!(matches!(table(vec![nowhere]), Err(RouteError::NoServer(_))));
    }
}
