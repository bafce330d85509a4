//! Which unknown variables of the environment are meant for this program.
//!
//! The environment belongs to everybody, so an unknown name is worth a warning only where it stands in a family of
//! names that nobody else uses, or is nearly the name of a property.

use super::nearest::{nearest, nearest_in_environment};
use super::table::{PROPERTIES, Property};

/// First segments of names that can only be meant for this program.
const OUR_FAMILIES: &[&str] = &[
    "application",
    "gateway",
    "graphdql",
    "graphql",
    "health",
    "indexer",
    "indexing",
    "soml",
    "sparql",
];

/// Variables of commands, beside properties.
pub(super) const COMMAND_VARIABLES: &[&str] = &[
    "SOML_TOKEN",
    "SOML_TOKEN_FILE",
    "IDP_API_KEY",
    "IDP_API_KEY_FILE",
];

/// Schemes of the addresses that container orchestrators set for linked services.
const LINK_SCHEMES: &[&str] = &["tcp://", "udp://", "sctp://"];

/// Returns whether a value is the address of a linked service. Orchestrators set such values under names like
/// those of properties: `SEARCH_PORT` for a service that is called `search`.
pub(super) fn is_link_address(value: &str) -> bool {
    LINK_SCHEMES.iter().any(|scheme| value.starts_with(scheme))
}

/// Returns the warning about a variable that sets nothing, if it seems to be meant for this program.
pub(super) fn warning(key: &str, value: &str) -> Option<String> {
    if COMMAND_VARIABLES.contains(&key) || is_of_link(key, value) {
        return None;
    }
    let of_file = strip_file(key);
    let is_file_of_property =
        of_file.is_some_and(|name| Property::find(name).is_some_and(|found| !found.secret));
    let hint = match of_file {
        Some(_) if is_file_of_property => "; only secrets are read from files".to_owned(),
        _ => match near(key, of_file) {
            Some(near) => format!("; did you mean `{near}`?"),
            None if is_ours(key) => String::new(),
            None => return None,
        },
    };
    Some(format!("unknown property `{key}` in the environment{hint}"))
}

/// Returns the known name that a variable is probably meant to have.
fn near(key: &str, of_file: Option<&str>) -> Option<String> {
    if let Some(near) = nearest_in_environment(key) {
        return Some(near);
    }
    let secret = of_file.and_then(nearest_in_environment);
    let secret = secret.filter(|near| Property::find(near).is_some_and(|found| found.secret));
    if let Some(secret) = secret {
        return Some(format!("{}_FILE", secret.replace('.', "_").to_uppercase()));
    }
    is_ours(key).then(|| nearest(key)).flatten()
}

fn strip_file(key: &str) -> Option<&str> {
    let start = key.len().checked_sub("_FILE".len())?;
    let end = key.get(start..)?;
    end.eq_ignore_ascii_case("_FILE").then(|| &key[..start])
}

/// Returns whether a name stands in a family that only this program has: one of a word that nobody else uses, or
/// one of several segments.
pub(super) fn is_ours(key: &str) -> bool {
    let name = segments(key);
    let [first, _, ..] = name.as_slice() else {
        return false;
    };
    OUR_FAMILIES.contains(&first.as_str())
        || PROPERTIES.iter().any(|property| {
            let property = segments(property.key);
            let family = property.split_last().map_or(&[][..], |(_, family)| family);
            family.len() > 1 && name.len() > family.len() && name.starts_with(family)
        })
}

/// Returns the segments of a name in lower case.
pub(super) fn segments(name: &str) -> Vec<String> {
    let segments = name.split(|c: char| !c.is_ascii_alphanumeric());
    let segments = segments.filter(|segment| !segment.is_empty());
    segments.map(str::to_ascii_lowercase).collect()
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

    fn told(key: &str) -> Option<String> {
        let warning = warning(key, "x")?;
        let start = format!("unknown property `{key}` in the environment");
        warning.strip_prefix(&start).map(str::to_owned)
    }

    #[test]
    fn misspelt_variables_of_every_family_are_told_with_the_nearest_name() {
        for (key, near) in [
            ("GRAPHQL_LIMITS_DEPHT", "graphql.limits.depth"),
            ("SPARQL_ENDPOINT_ADRESS", "sparql.endpoint.address"),
            ("HTTP_SENDTIMOUT", "http.sendTimeout"),
            ("HTTP_MAX_CONECTIONS", "http.maxConnections"),
            ("HTTP_CORS_ALLOWEDORIGIN", "http.cors.allowedOrigins"),
            ("STORE_DATADIRS", "store.dataDir"),
            ("store_data_dri", "store.dataDir"),
            ("STROE_DATADIR", "store.dataDir"),
            ("SECURITY_SECRTE", "security.secret"),
            ("SECURTY_SECRET", "security.secret"),
            ("SECURITY_SECRTE_FILE", "SECURITY_SECRET_FILE"),
            ("SECURITY_PROVIDR_KEYFILE", "security.provider.keyFile"),
            ("SEARCH_ENABLE", "search.enabled"),
            ("MUTATION_MAXAFECTED", "mutation.maxAffected"),
            ("LOGGING_FROMAT", "logging.format"),
            ("CACHE_MAX_AGES", "cache.maxAge"),
            ("FORWARD_HEADER", "forward.headers"),
            ("SERVICE_DWEL", "service.dwell"),
            ("POLL_INTERVALL", "poll.interval"),
            ("ENGINE_API_KEYS", "engine.apiKey"),
            ("IDP_LOGIN_RETRYS", "idp.login.retries"),
            ("IDP_APLICATION_ID", "idp.applicationId"),
            ("TASK_DEFAULT_RETRY_DELAYS", "task.default.retry.delay"),
            ("GRAPHQL_SERVICE_3_HELTH", "graphql.service.3.health"),
            ("SOML_TOKEN_FLIE", "SOML_TOKEN_FILE"),
        ] {
            let expected = format!("; did you mean `{near}`?");
            assert_eq!(told(key).as_deref(), Some(expected.as_str()), "{key}");
        }
        assert_eq!(told("GRAPHQL_ZZZZZZZZZZ").as_deref(), Some(""));
        let files = Some("; only secrets are read from files");
        assert_eq!(told("HTTP_SENDTIMEOUT_FILE").as_deref(), files);
    }

    #[test]
    fn every_property_with_a_letter_too_few_is_told() {
        for property in PROPERTIES.iter() {
            let mut key = property.key.replace('.', "_").to_uppercase();
            if key.ends_with("_FILE") || key.len() - key.rfind('_').unwrap_or(0) < 6 {
                continue;
            }
            key.remove(key.len() - 2);
            assert!(Property::find(&key).is_none(), "{key}");
            assert!(warning(&key, "x").is_some(), "{key}");
        }
    }

    #[test]
    fn variables_of_others_are_left_alone() {
        for key in [
            "PATH",
            "HOME",
            "PORT",
            "HOST",
            "SERVER",
            "HTTP_PROXY",
            "http_proxy",
            "HTTPS_PROXY",
            "NO_PROXY",
            "HTTP_HOST",
            "HTTP_USER_AGENT",
            "HTTP_ACCEPT",
            "HTTP_PORT",
            "HTTP_TIMEOUT",
            "SECURITY_TOKEN",
            "SECURITY_KEY",
            "STORE_PATH",
            "STORE_URL",
            "SEARCH_URL",
            "SEARCH_HOST",
            "SEARCH_INDEX",
            "SERVICE_NAME",
            "SERVICE_PORT",
            "SERVER_NAME",
            "SERVER_HOST",
            "CACHE_DIR",
            "CACHE_TTL",
            "LOGGING_DIR",
            "LOG_LEVEL",
            "TASK_ID",
            "IDP_URL",
            "ENGINE_URL",
            "POLL_TIME",
            "SPRING_PROFILES_ACTIVE",
            "SPRING_APPLICATION_JSON",
            "JAVA_TOOL_OPTIONS",
            "RUST_LOG",
            "RUST_BACKTRACE",
            "SOML_TOKEN",
            "SOML_TOKEN_FILE",
            "IDP_API_KEY",
            "IDP_API_KEY_FILE",
            "KUBERNETES_SERVICE_HOST",
            "GRAPHQL_SERVICE_HOST",
            "GRAPHQL_SERVICE_PORT",
            "GRAPHQL_SERVICE_PORT_HTTP",
            "SPARQL_PORT_3030_TCP",
            "SPARQL_PORT_3030_TCP_ADDR",
            "SPARQL_PORT_3030_TCP_PORT",
            "SPARQL_PORT_3030_TCP_PROTO",
            "GATEWAY_ENV_PATH",
        ] {
            assert_eq!(warning(key, "x"), None, "{key}");
        }
        assert_eq!(warning("SPARQL_NAME", "/web/sparql"), None);
        assert!(is_link_address("tcp://10.0.0.1:80") && is_link_address("udp://10.0.0.1:80"));
    }
}
