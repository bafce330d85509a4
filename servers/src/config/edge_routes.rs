//! Properties of the routes of the edge: `edge.route.N.path`.

use edge_service::RouteAccess;
use service_config::{Numbered, Part, Setting};

use super::edge::{HealthPath, PublicPaths, RouteSettings};
use super::setting::Programs;
use super::settings::Settings;

/// The properties of routes.
pub(super) const EDGE_ROUTES: Numbered<Settings> = Numbered {
    family: "edge.route.",
    parts: &[
        Part {
            end: ".path",
            other_end: None,
            kind: "path",
            doc: "Path that the route matches, with all paths below it, such as `/objects`; `/` matches all. Of \
         several matching routes, those for the request's host come first, and then the longest path. Numbers begin \
         at 0 and may have gaps.",
            set: |settings, number, text| {
                route(settings, number).path =
                    (!matches!(text, "" | "none")).then(|| text.to_owned());
                Ok(())
            },
        },
        Part {
            end: ".address",
            other_end: None,
            kind: "addresses",
            doc: "Address of the server that requests are forwarded to. Several addresses, separated by commas or \
         semicolons, are servers of one service, which take turns. A path in the address is put before that of the \
         request.",
            set: |settings, number, text| {
                route(settings, number).addresses = Setting::<Programs>::parse(text)?;
                Ok(())
            },
        },
        Part {
            end: ".host",
            other_end: None,
            kind: "host names or `none`",
            doc: "Host names (`Host`) that the route matches, separated by commas; by default all.",
            set: |settings, number, text| {
                route(settings, number).hosts = Setting::<Programs>::parse(text)?;
                Ok(())
            },
        },
        Part {
            end: ".name",
            other_end: None,
            kind: "string",
            doc: "Name of the route in health records and in the log; by default `route_N`.",
            set: |settings, number, text| {
                route(settings, number).name = name(text)?;
                Ok(())
            },
        },
        Part {
            end: ".stripPath",
            other_end: None,
            kind: "boolean",
            doc: "Whether the path of the route is removed before the request is forwarded, so that a service at \
         `/graphql` is reached at `/objects/graphql`. The service gets the removed path as `X-Forwarded-Prefix`. \
         Default: `false`.",
            set: |settings, number, text| {
                route(settings, number).strips_path = Setting::<Programs>::parse(text)?;
                Ok(())
            },
        },
        Part {
            end: ".access",
            other_end: None,
            kind: "`token` or `public`",
            doc: "Whether requests need a token, if the edge verifies tokens (`security.*`), or are open to \
         everyone, as for an identity provider. Default: `token`.",
            set: |settings, number, text| {
                route(settings, number).access = match text {
                    "token" => RouteAccess::Token,
                    "public" => RouteAccess::Public,
                    _ => return Err("`token` or `public`"),
                };
                Ok(())
            },
        },
        Part {
            end: ".public",
            other_end: None,
            kind: "paths, `states`, `pages` or `none`",
            doc: "Paths that need no token, as the service sees them, separated by commas; `/files/*` means all \
         paths below `/files`. `states` means `/__health`, `/__gtg`, `/__trouble`, `/__about`, `/__live` and \
         `/__ready`, of which the first four need a token with `cache=false`; `pages` means these and GraphiQL, the \
         documentation, log-in and public keys of a service of this project. Default: `states`.",
            set: |settings, number, text| {
                route(settings, number).public = PublicPaths::parse(text)?;
                Ok(())
            },
        },
        Part {
            end: ".tokenInInit",
            other_end: None,
            kind: "boolean",
            doc: "Whether a WebSocket may be opened without a token, because the service behind the route requires \
         one in `connection_init`, as the gateway does. Default: `false`.",
            set: |settings, number, text| {
                route(settings, number).allows_late_token = Setting::<Programs>::parse(text)?;
                Ok(())
            },
        },
        Part {
            end: ".preserveHost",
            other_end: None,
            kind: "boolean",
            doc: "Whether the `Host` of the client is forwarded to the service; otherwise the host of its own \
         address is sent. Default: `true`.",
            set: |settings, number, text| {
                let preserves: bool = Setting::<Programs>::parse(text)?;
                route(settings, number).hides_host = !preserves;
                Ok(())
            },
        },
        Part {
            end: ".rate",
            other_end: None,
            kind: "rate or `none`",
            doc: "Maximum rate of requests from all callers together, such as `100/s`; unlimited by default.",
            set: |settings, number, text| {
                route(settings, number).rate = Setting::<Programs>::parse(text)?;
                Ok(())
            },
        },
        Part {
            end: ".health",
            other_end: None,
            kind: "path or `none`",
            doc: "Path of the health check, below the address of a server; with `none`, the check only \
         connects. Default: `/__health`.",
            set: |settings, number, text| {
                route(settings, number).health = match text {
                    "none" => HealthPath::None,
                    path if path.starts_with('/') && path.bytes().all(|b| b.is_ascii_graphic()) => {
                        HealthPath::At(path.to_owned())
                    }
                    _ => return Err("a path such as `/__health`, or `none`"),
                };
                Ok(())
            },
        },
    ],
};

fn route(settings: &mut Settings, number: u32) -> &mut RouteSettings {
    settings.edge.routes.entry(number).or_default()
}

fn name(text: &str) -> Result<Option<String>, &'static str> {
    let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if text.is_empty() {
        Ok(None)
    } else if text.len() <= 64 && text.chars().all(is_fit) {
        Ok(Some(text.to_owned()))
    } else {
        Err("up to 64 letters, digits, `-`, `_` and `.`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CATALOGUE;

    #[test]
    fn properties_of_routes_are_found_by_number_and_end() {
        let said = |name: &str| CATALOGUE.described(&Settings::default(), name);
        for (name, key) in [
            ("EDGE_ROUTE_0_PATH", "edge.route.0.path "),
            ("edge.route.12.stripPath", "edge.route.12.stripPath "),
            ("EDGE_ROUTE_3_TOKEN_IN_INIT", "edge.route.3.tokenInInit "),
        ] {
            assert!(said(name).unwrap().starts_with(key), "{name}");
        }
        for name in ["EDGE_ROUTE_PATH", "EDGE_ROUTE_1_OTHER", "edge.route.1"] {
            assert_eq!(said(name), None, "{name}");
        }
    }

    #[test]
    fn every_property_of_a_route_takes_its_values_and_refuses_others() {
        for (end, fits, wrong) in [
            (".path", "/objects", None),
            (".address", "http://127.0.0.1:9995", Some("localhost")),
            (".host", "data.example.org", Some("a/b")),
            (".name", "objects", Some("a b")),
            (".stripPath", "true", Some("perhaps")),
            (".access", "public", Some("all")),
            (".public", "pages, /x", Some("x")),
            (".tokenInInit", "true", Some("x")),
            (".preserveHost", "false", Some("x")),
            (".rate", "10/s", Some("10")),
            (".health", "/status", Some("status")),
        ] {
            let part = EDGE_ROUTES
                .parts
                .iter()
                .find(|part| part.end == end)
                .unwrap();
            let mut settings = Settings::default();
            (part.set)(&mut settings, 7, fits).unwrap();
            assert_eq!(settings.edge.given().count(), 1, "{end}");
            if let Some(wrong) = wrong {
                assert!((part.set)(&mut settings, 7, wrong).is_err(), "{end}");
            }
        }
        assert_eq!(EDGE_ROUTES.parts.len(), 11);
    }
}
