//! Where a program has mounted a service: below a path of its own, as far as the request tells.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, OriginalUri};
use axum::http::request::Parts;

/// The path of a request had a slash at the end, which the routes do not see: relative links lead elsewhere from there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlashAtEnd;

/// The path below which a service is mounted, without a slash at the end: `/graph`, or nothing.
///
/// A proxy that takes a part of the path away is seen only if it is trusted and says so in `X-Forwarded-Prefix`, so pages use
/// relative links wherever they can.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MountPoint(pub String);

/// What relative links of the page at the root of a service begin with: nothing where its path ends with a slash, and else the
/// last segment of it, as in `./graph/`.
#[derive(Clone, Debug)]
pub(crate) struct RootLinks(pub(crate) String);

/// The path below which a trusted proxy shows the service, in the extensions of the request.
#[derive(Clone, Debug)]
pub(crate) struct ForwardedPrefix(pub(crate) String);

impl<S: Sync> FromRequestParts<S> for MountPoint {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        let mut mount = mount_point(original(parts), parts.uri.path());
        if let Some(ForwardedPrefix(prefix)) = parts.extensions.get() {
            mount.insert_str(0, prefix);
        }
        Ok(MountPoint(mount))
    }
}

impl<S: Sync> FromRequestParts<S> for RootLinks {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(RootLinks(root_links(original(parts))))
    }
}

fn original(parts: &Parts) -> &str {
    let original = parts.extensions.get::<OriginalUri>();
    original.map_or("/", |original| original.0.path())
}

fn mount_point(original: &str, path: &str) -> String {
    let (original, path) = (original.trim_end_matches('/'), path.trim_end_matches('/'));
    original.strip_suffix(path).unwrap_or_default().to_owned()
}

fn root_links(original: &str) -> String {
    match original.rsplit('/').next() {
        Some(last) if !last.is_empty() => format!("./{last}/"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_point_is_what_is_before_the_path_of_the_service() {
        for (original, path, found) in [
            ("/__health", "/__health", ""),
            ("/__health/", "/__health", ""),
            ("/graph/__health", "/__health", "/graph"),
            ("/a/b/__health/", "/__health", "/a/b"),
            ("/graph", "/", "/graph"),
            ("/graph/", "/", "/graph"),
            ("/", "/", ""),
            ("/other", "/__health", ""),
        ] {
            assert_eq!(mount_point(original, path), found, "{original}");
        }
    }

    #[test]
    fn links_of_a_root_without_a_slash_lead_below_it() {
        for (original, links) in [
            ("/", ""),
            ("/graph/", ""),
            ("/graph", "./graph/"),
            ("/a/x:y", "./x:y/"),
        ] {
            assert_eq!(root_links(original), links, "{original}");
        }
    }
}
