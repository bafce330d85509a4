//! How the gateway logs in, to read the schemas of subgraphs that demand a token.

use service_auth::idp::IdpOptions;

use super::gateway::IdpSettings;

/// Properties are missing that a log-in needs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`security.enabled` makes the gateway log in to an identity provider, and {} {} not set",
    .0.join(", "), if .0.len() == 1 { "is" } else { "are" }
)]
pub struct IdpIncomplete(Vec<&'static str>);

/// Returns how to log in.
///
/// # Errors
/// When something is missing.
pub(crate) fn log_in_options(settings: &IdpSettings) -> Result<IdpOptions, IdpIncomplete> {
    let present = [
        (settings.application_id.is_some(), "IDP_APPLICATION_ID"),
        (settings.protocol.is_some(), "IDP_PROTOCOL"),
        (settings.host.is_some(), "IDP_HOST"),
        (settings.port.is_some(), "IDP_PORT"),
        (settings.username.is_some(), "IDP_USERNAME"),
        (settings.password.is_some(), "IDP_PASSWORD"),
    ];
    let missing = present.into_iter().filter(|(is_set, _)| !is_set);
    let missing: Vec<_> = missing.map(|(_, name)| name).collect();
    let (Some(id), Some(protocol), Some(host), Some(port), Some(user), Some(password)) = (
        settings.application_id,
        settings.protocol,
        &settings.host,
        settings.port,
        &settings.username,
        &settings.password,
    ) else {
        return Err(IdpIncomplete(missing));
    };
    let address = format!("{}://{}:{port}", protocol.scheme(), host.0);
    let mut options = IdpOptions::new(address, id, user, password.clone());
    options.retries = settings.retries;
    options.retry_delay = settings.retry_delay;
    options.counts_every_failure = true;
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::super::gateway::{HostName, Protocol};
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        let settings = IdpSettings {
            host: Some(HostName("idp".to_owned())),
            ..IdpSettings::default()
        };
        let missing = log_in_options(&settings).unwrap_err().to_string();
        for name in [
            "IDP_APPLICATION_ID",
            "IDP_PROTOCOL",
            "IDP_PORT",
            "IDP_PASSWORD",
        ] {
            assert!(missing.contains(name), "{missing}");
        }
        assert!(!missing.contains("IDP_HOST"), "{missing}");
    }

    #[test]
    fn the_address_is_made_of_protocol_host_and_port() {
        let settings = IdpSettings {
            application_id: Some(uuid::Uuid::nil()),
            protocol: Some(Protocol::Https),
            host: Some(HostName("idp".to_owned())),
            port: Some(9011),
            username: Some("gateway".to_owned()),
            password: Some(outbound::Secret::new("x")),
            ..IdpSettings::default()
        };
        let options = log_in_options(&settings).unwrap();
        assert_eq!(options.address, "https://idp:9011");
        assert_eq!(
            (options.retries, options.retry_delay.as_millis()),
            (10, 2_000)
        );
    }
}
