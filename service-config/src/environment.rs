//! Which unknown variables of the environment are meant for this program.
//!
//! The environment belongs to everyone, so an unknown name is worth a warning only where it stands in a family of
//! names that no one else uses, or is nearly the name of a property.

use crate::catalogue::Catalogue;
use crate::names::segments;

/// Schemes of the addresses that container orchestrators set for linked services.
const LINK_SCHEMES: &[&str] = &["tcp://", "udp://", "sctp://"];

/// Returns whether a value is the address of a linked service. Orchestrators set such values under names like
/// those of properties: `SEARCH_PORT` for a service that is called `search`.
pub(crate) fn is_link_address(value: &str) -> bool {
    LINK_SCHEMES.iter().any(|scheme| value.starts_with(scheme))
}

impl<S> Catalogue<S> {
    /// Returns the warning about a variable that sets nothing, if it seems to be meant for this program.
    pub fn warning(&self, key: &str, value: &str) -> Option<String> {
        if self.variables.contains(&key) || is_of_link(key, value) {
            return None;
        }
        let of_file = strip_file(key);
        let is_file_of_property = of_file.is_some_and(|name| {
            let planned = self.planned(name).filter(|planned| !planned.is_family());
            self.find(name).is_some_and(|found| !found.secret)
                || planned.is_some_and(|found| !found.secret)
        });
        let hint = match of_file {
            Some(_) if is_file_of_property => "; only secrets are read from files".to_owned(),
            _ => match self.near(key, of_file) {
                Some(near) => format!("; did you mean `{near}`?"),
                None if self.is_ours(key) => String::new(),
                None => return None,
            },
        };
        Some(format!("unknown property `{key}` in the environment{hint}"))
    }

    /// Returns the known name that a variable is probably meant to have.
    fn near(&self, key: &str, of_file: Option<&str>) -> Option<String> {
        if let Some(near) = self.nearest_in_environment(key) {
            return Some(near);
        }
        let secret = of_file.and_then(|name| self.nearest_in_environment(name));
        let secret = secret.filter(|near| self.find(near).is_some_and(|found| found.secret));
        if let Some(secret) = secret {
            return Some(format!("{}_FILE", secret.replace('.', "_").to_uppercase()));
        }
        self.is_ours(key).then(|| self.nearest(key)).flatten()
    }

    /// Returns whether a name stands in a family that only this program has: one of a word that no one else uses, or
    /// one of several segments.
    pub(crate) fn is_ours(&self, key: &str) -> bool {
        let name = segments(key);
        let [first, _, ..] = name.as_slice() else {
            return false;
        };
        self.families.contains(&first.as_str())
            || self.properties.iter().any(|property| {
                let property = segments(property.key);
                let family = property.split_last().map_or(&[][..], |(_, family)| family);
                family.len() > 1 && name.len() > family.len() && name.starts_with(family)
            })
    }
}

fn strip_file(key: &str) -> Option<&str> {
    let start = key.len().checked_sub("_FILE".len())?;
    let end = key.get(start..)?;
    end.eq_ignore_ascii_case("_FILE").then(|| &key[..start])
}

/// Returns whether a variable is one of those that Kubernetes sets for services and Docker for links:
/// `X_SERVICE_HOST`, `X_SERVICE_PORT`, `X_SERVICE_PORT_HTTP`, `X_PORT_80_TCP_ADDR`, `X_ENV_PATH`, and
/// `X_NAME=/a/x`.
fn is_of_link(key: &str, value: &str) -> bool {
    let segments = segments(key);
    let is_pair =
        |pair: &[String], first: &str, second: &str| pair[0] == first && pair[1] == second;
    let has_port = segments
        .windows(2)
        .any(|pair| is_pair(pair, "service", "port"));
    let has_number = segments.windows(3).any(|part| {
        let is_number = part[1].bytes().all(|byte| byte.is_ascii_digit());
        part[0] == "port" && is_number && matches!(&*part[2], "tcp" | "udp" | "sctp")
    });
    let is_host = segments
        .windows(2)
        .last()
        .is_some_and(|pair| is_pair(pair, "service", "host"));
    let is_copied = segments.iter().skip(1).any(|segment| segment == "env");
    let is_name = segments.last().is_some_and(|last| last == "name") && value.starts_with('/');
    has_port || has_number || is_host || is_copied || is_name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_linked_services_are_known_by_their_scheme() {
        assert!(is_link_address("tcp://10.0.0.1:80") && is_link_address("udp://10.0.0.1:80"));
        assert!(!is_link_address("http://10.0.0.1:80") && !is_link_address("9995"));
    }
}
