//! The files for Envoy and Kong, which are not run: they are read, and their routes compared with those that HAProxy is tested with.

use regex::Regex;
use serde_json::Value;

use super::routes::{GUARDED, PUBLIC, ROUTES};

fn read(name: &str) -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/proxies");
    let text = std::fs::read_to_string(format!("{folder}/{name}")).unwrap();
    assert!(text.contains("has NOT been run"), "{name}");
    serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Where a request goes.
#[derive(Debug, PartialEq)]
struct Found {
    service: String,
    path: String,
    is_public: bool,
}

/// A request, as the routes of these files tell them apart.
struct Request<'t> {
    method: &'t str,
    target: &'t str,
    path: &'t str,
}

impl<'t> Request<'t> {
    fn get(target: &'t str) -> Self {
        Request::new("GET", target)
    }

    fn new(method: &'t str, target: &'t str) -> Self {
        let path = target.split('?').next().unwrap();
        Request {
            method,
            target,
            path,
        }
    }

    /// Returns names and values of the parameters as they are written.
    fn parameters(&self) -> impl Iterator<Item = (&str, &str)> {
        let query = self.target.split_once('?').map_or("", |(_, query)| query);
        let pairs = query.split('&');
        pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")))
    }

    /// Returns whether the request leaves it to the service whether it answers from its cache.
    fn allows_cache(&self) -> bool {
        let name = |name: &str| name.replace("%61", "a").replace('+', "") == "cache";
        self.parameters()
            .all(|(own, value)| !name(own) || value == "true")
    }
}

/// Matches a whole path.
fn matches(pattern: &str, path: &str) -> Option<Vec<String>> {
    let whole = Regex::new(&format!("^(?:{pattern})$")).unwrap();
    let captures = whole.captures(path)?;
    let group = |at| {
        captures
            .get(at)
            .map_or(String::new(), |it: regex::Match<'_>| it.as_str().to_owned())
    };
    Some((0..captures.len()).map(group).collect())
}

/// Takes the first route of Envoy that matches.
fn of_envoy(file: &Value, request: &Request<'_>) -> Option<Found> {
    let filters = &file["static_resources"]["listeners"][0]["filter_chains"][0]["filters"][0];
    let hosts = &filters["typed_config"]["route_config"]["virtual_hosts"];
    let routes = list(&hosts[0]["routes"]);
    let route = routes
        .iter()
        .find(|route| envoy_takes(&route["match"], request));
    let route = route.expect("the last route takes everything");
    let to = &route["route"];
    let path = match (
        to["prefix_rewrite"].as_str(),
        to["regex_rewrite"].as_object(),
    ) {
        (Some(instead), _) => {
            let prefix = route["match"]["prefix"].as_str().unwrap();
            request.path.replacen(prefix, instead, 1)
        }
        (_, Some(rewrite)) => {
            let pattern = Regex::new(rewrite["pattern"]["regex"].as_str().unwrap()).unwrap();
            let instead = rewrite["substitution"].as_str().unwrap();
            pattern.replace(request.path, instead).into_owned()
        }
        _ => request.path.to_owned(),
    };
    let switched = &route["typed_per_filter_config"]["envoy.filters.http.jwt_authn"]["disabled"];
    Some(Found {
        service: to["cluster"].as_str()?.to_owned(),
        path,
        is_public: switched == true,
    })
}

fn envoy_takes(rule: &Value, request: &Request<'_>) -> bool {
    let takes_path = match (
        rule["prefix"].as_str(),
        rule["safe_regex"]["regex"].as_str(),
    ) {
        (Some(prefix), _) => request.path.starts_with(prefix),
        (_, Some(pattern)) => matches(pattern, request.path).is_some(),
        _ => panic!("{rule}"),
    };
    let takes_headers = list(&rule["headers"]).iter().all(|header| {
        let value = match header["name"].as_str().unwrap() {
            ":method" => request.method,
            ":path" => request.target,
            other => panic!("{other}"),
        };
        let wanted = &header["string_match"];
        let pattern = wanted["safe_regex"]["regex"].as_str();
        matches(pattern.or(wanted["exact"].as_str()).unwrap(), value).is_some()
    });
    let takes_query = list(&rule["query_parameters"]).iter().all(|wanted| {
        let is_absent = wanted["name"] == "cache" && wanted["present_match"] == false;
        assert!(is_absent, "{wanted}");
        request.parameters().all(|(name, _)| name != "cache")
    });
    takes_path && takes_headers && takes_query
}

/// Takes the route of Kong that matches: those with methods first, then regular expressions, then the longest prefix.
fn of_kong(file: &Value, request: &Request<'_>) -> Option<Found> {
    let mut found: Vec<((usize, bool, usize), Found)> = Vec::new();
    for service in list(&file["services"]) {
        for route in list(&service["routes"]) {
            let methods = list(&route["methods"]);
            let takes_method = methods.is_empty() || methods.iter().any(|it| it == request.method);
            for path in list(&route["paths"]).iter().filter(|_| takes_method) {
                let path = path.as_str().unwrap();
                if let Some(outcome) = kong_takes(path, route, request) {
                    let is_public = list(&route["tags"]).iter().any(|tag| tag == "public");
                    let has_token = has_plugin(route, "jwt");
                    let ends = has_plugin(route, "request-termination");
                    assert!(is_public ^ (has_token || ends), "{route}");
                    let name = if ends {
                        ""
                    } else {
                        service["name"].as_str().unwrap()
                    };
                    let rank = (
                        usize::from(!methods.is_empty()),
                        path.starts_with('~'),
                        path.len(),
                    );
                    let outcome = Found {
                        service: name.to_owned(),
                        path: outcome,
                        is_public,
                    };
                    found.push((rank, outcome));
                }
            }
        }
    }
    let (_, found) = found.into_iter().max_by_key(|(rank, _)| *rank)?;
    // The function of public routes refuses others.
    let refuses = found.is_public && !request.allows_cache();
    (!refuses && !found.service.is_empty()).then_some(found)
}

fn has_plugin(route: &Value, name: &str) -> bool {
    list(&route["plugins"])
        .iter()
        .any(|plugin| plugin["name"] == name)
}

/// Returns the path that a service gets.
fn kong_takes(path: &str, route: &Value, request: &Request<'_>) -> Option<String> {
    let Some(pattern) = path.strip_prefix('~') else {
        let rest = request.path.strip_prefix(path)?;
        assert_eq!(route["strip_path"], true, "{route}");
        return Some(format!("/{rest}"));
    };
    let captures = matches(pattern, request.path)?;
    let transformed = has_plugin(route, "request-transformer");
    let path = if transformed {
        format!("/{}", captures[1])
    } else {
        request.path.to_owned()
    };
    Some(path)
}

fn compare(name: &str, find: impl Fn(&Request<'_>) -> Option<Found>) {
    let path_of = |path: &str| path.split('?').next().unwrap().to_owned();
    for (target, service, path) in ROUTES {
        let found = find(&Request::get(target));
        let wanted = Found {
            service: (*service).to_owned(),
            path: path_of(path),
            is_public: false,
        };
        assert_eq!(found, Some(wanted), "{name}: {target}");
    }
    for (target, service, path) in PUBLIC {
        let found = find(&Request::get(target)).unwrap_or_else(|| panic!("{name}: {target}"));
        // Envoy demands a token for each value of the parameter.
        let is_public = name == "kong.yaml" || !target.contains("cache=");
        // The provider is a service of its own at the root.
        let service = if *target == "/.well-known/jwks.json" {
            "identity"
        } else {
            service
        };
        let wanted = Found {
            service: service.to_owned(),
            path: path_of(path),
            is_public,
        };
        assert_eq!(found, wanted, "{name}: {target}");
    }
    for target in GUARDED {
        let found = find(&Request::get(target));
        assert!(
            found.is_none_or(|found| !found.is_public),
            "{name}: {target}"
        );
    }
    for (target, _, _) in PUBLIC {
        for method in ["POST", "PUT", "DELETE"] {
            let found = find(&Request::new(method, target));
            assert!(
                found.is_none_or(|found| !found.is_public),
                "{name}: {method} {target}"
            );
        }
    }
    let login = find(&Request::new("POST", "/api/login")).unwrap();
    assert_eq!(
        (login.service.as_str(), login.is_public),
        ("identity", true),
        "{name}"
    );
    for target in [
        "/metrics",
        "/objects/metrics",
        "/gateway/metrics/x",
        "/unknown",
        "/GRAPHQL",
    ] {
        assert_eq!(find(&Request::get(target)), None, "{name}: {target}");
    }
}

#[test]
fn the_routes_for_envoy_are_those_of_haproxy() {
    let file = read("envoy.yaml");
    compare("envoy.yaml", |request| of_envoy(&file, request));
    let clusters = list(&file["static_resources"]["clusters"]);
    let names: Vec<_> = clusters
        .iter()
        .map(|cluster| cluster["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "gateway",
            "objects",
            "searches",
            "extension",
            "identity",
            "idp"
        ]
    );
}

#[test]
fn the_routes_for_kong_are_those_of_haproxy() {
    let file = read("kong.yaml");
    compare("kong.yaml", |request| of_kong(&file, request));
}
