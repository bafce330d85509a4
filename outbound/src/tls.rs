//! TLS to servers: certificates are verified as the system does it.

use std::sync::Arc;

use reqwest::Url;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, Error, RootCertStore};
use rustls_platform_verifier::{BuilderVerifierExt, Verifier};

/// Sets up TLS for requests to some addresses, as [`config`] does.
///
/// # Errors
/// When the certificates of the system cannot be loaded.
pub fn config_for<'u>(addresses: impl IntoIterator<Item = &'u Url>) -> Result<ClientConfig, Error> {
    let mut addresses = addresses.into_iter();
    config(addresses.any(|address| address.scheme() == "https"), None)
}

/// Sets up TLS. Certificates may also be signed by one of `authorities`, which are certificates as PEM.
///
/// The certificates of the system are loaded only where TLS `is_used` or there are authorities: a machine without
/// certificates can still use other addresses.
///
/// # Errors
/// When the certificates of the system cannot be loaded, or there is no valid certificate among the authorities.
pub fn config(is_used: bool, authorities: Option<&[u8]>) -> Result<ClientConfig, Error> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    let builder = match authorities {
        Some(authorities) => {
            let verifier = Verifier::new_with_extra_roots(certificates(authorities)?, provider)?;
            let builder = builder.dangerous();
            builder.with_custom_certificate_verifier(Arc::new(verifier))
        }
        None if is_used => builder.with_platform_verifier()?,
        None => builder.with_root_certificates(RootCertStore::empty()),
    };
    Ok(builder.with_no_client_auth())
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let invalid = |cause: String| Error::General(format!("the authorities: {cause}"));
    let found = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| invalid(error.to_string()))?;
    if found.is_empty() {
        return Err(invalid("they contain no certificate".to_owned()));
    }
    Ok(found)
}
