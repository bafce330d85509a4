//! How the gateway logs in, to read the schemas of subgraphs that demand a token.

use service_auth::idp::{Grant, IdpOptions};

use super::gateway::{IdpKind, IdpSettings};

/// A log-in is not configured as the provider needs it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdpIncomplete {
    /// Properties are missing.
    #[error(
        "`security.enabled` makes the gateway log in to an identity provider, but {} {} not set",
        .0.join(", "), if .0.len() == 1 { "is" } else { "are" }
    )]
    Missing(Vec<&'static str>),
    /// FusionAuth is sent no secret of a client.
    #[error(
        "`idp.clientSecret` is for `idp.type: keycloak`, but `idp.type` is `fusionauth`: set \
         IDP_TYPE, or leave out IDP_CLIENT_SECRET"
    )]
    ClientSecret,
}

/// Returns how to log in.
///
/// # Errors
/// When something is missing.
pub(crate) fn log_in_options(settings: &IdpSettings) -> Result<IdpOptions, IdpIncomplete> {
    let IdpSettings {
        kind,
        client_secret,
        username,
        password,
        ..
    } = settings;
    if *kind == IdpKind::FusionAuth && client_secret.is_some() {
        return Err(IdpIncomplete::ClientSecret);
    }
    let is_service_account = client_secret.is_some() && username.is_none() && password.is_none();
    let present = [
        (settings.application_id.is_some(), "IDP_APPLICATION_ID"),
        (settings.protocol.is_some(), "IDP_PROTOCOL"),
        (settings.host.is_some(), "IDP_HOST"),
        (settings.port.is_some(), "IDP_PORT"),
        (username.is_some() || is_service_account, "IDP_USERNAME"),
        (password.is_some() || is_service_account, "IDP_PASSWORD"),
    ];
    let missing: Vec<_> = present
        .into_iter()
        .filter(|(is_set, _)| !is_set)
        .map(|(_, name)| name)
        .collect();
    let (Some(id), Some(protocol), Some(host), Some(port), []) = (
        settings.application_id,
        settings.protocol,
        &settings.host,
        settings.port,
        missing.as_slice(),
    ) else {
        return Err(IdpIncomplete::Missing(missing));
    };
    let path = settings.path.as_ref().map_or("", |path| &path.0);
    let address = format!("{}://{}:{port}{path}", protocol.scheme(), host.0);
    let (realm, id_text) = (&settings.realm, id.to_string());
    let mut options = match (kind, username, password, client_secret) {
        (IdpKind::FusionAuth, Some(username), Some(password), _) => {
            IdpOptions::new(address, id, username, password.clone())
        }
        (IdpKind::Keycloak, Some(username), Some(password), client_secret) => {
            let grant = Grant::password(username, password.clone(), client_secret.clone());
            IdpOptions::keycloak(address, realm, id_text, grant)
        }
        (IdpKind::Keycloak, _, _, Some(client_secret)) => {
            let client_secret = client_secret.clone();
            let grant = Grant::ClientCredentials { client_secret };
            IdpOptions::keycloak(address, realm, id_text, grant)
        }
        _ => return Err(IdpIncomplete::Missing(missing)),
    };
    options.retries = settings.retries;
    options.retry_delay = settings.retry_delay;
    options.counts_every_failure = true;
    Ok(options)
}

#[cfg(test)]
mod tests {
    use outbound::Secret;
    use service_auth::idp::LogIn;

    use super::super::gateway::{HostName, PathPrefix, Protocol};
    use super::*;

    fn complete() -> IdpSettings {
        IdpSettings {
            application_id: Some(uuid::Uuid::nil()),
            protocol: Some(Protocol::Https),
            host: Some(HostName("idp".to_owned())),
            port: Some(9011),
            username: Some("gateway".to_owned()),
            password: Some(Secret::new("x")),
            ..IdpSettings::default()
        }
    }

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
        let options = log_in_options(&complete()).unwrap();
        assert_eq!(options.address, "https://idp:9011");
        assert_eq!(
            (options.retries, options.retry_delay.as_millis()),
            (10, 2_000)
        );
        let settings = IdpSettings {
            path: Some(PathPrefix("/auth".to_owned())),
            ..complete()
        };
        let options = log_in_options(&settings).unwrap();
        assert_eq!(options.address, "https://idp:9011/auth");
    }

    #[test]
    fn a_secret_without_a_user_logs_the_client_in() {
        let secret = Some(Secret::new("y"));
        let with_user = IdpSettings {
            kind: IdpKind::Keycloak,
            client_secret: secret.clone(),
            ..complete()
        };
        let options = log_in_options(&with_user).unwrap();
        let is_password = |log_in: &LogIn| {
            matches!(
                log_in,
                LogIn::Keycloak {
                    grant: Grant::Password { .. },
                    ..
                }
            )
        };
        assert!(is_password(&options.log_in), "{:?}", options.log_in);
        let alone = IdpSettings {
            username: None,
            password: None,
            ..with_user.clone()
        };
        let options = log_in_options(&alone).unwrap();
        assert!(!is_password(&options.log_in), "{:?}", options.log_in);
        let half = IdpSettings {
            password: None,
            ..with_user
        };
        let missing = IdpIncomplete::Missing(vec!["IDP_PASSWORD"]);
        assert_eq!(log_in_options(&half).unwrap_err(), missing);
        let ignored = IdpSettings {
            client_secret: secret,
            ..complete()
        };
        let refused = log_in_options(&ignored).unwrap_err();
        assert_eq!(refused, IdpIncomplete::ClientSecret);
    }
}
