//! What every HTTP client of ours has in common: those of stores here, and those of other services in
//! programs that embed them.

use std::error::Error;
use std::sync::Arc;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Url};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::{BuilderVerifierExt, Verifier};

/// Sets up TLS for requests to some addresses.
///
/// Certificates are verified as the system does it. They are loaded only if an address needs TLS: a
/// machine without certificates can still use other addresses.
///
/// # Errors
///
/// Fails when the system's certificates cannot be loaded.
pub fn tls<'u>(
    addresses: impl IntoIterator<Item = &'u Url>,
) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let mut addresses = addresses.into_iter();
    let builder = match addresses.any(|address| address.scheme() == "https") {
        true => builder.with_platform_verifier()?,
        false => builder.with_root_certificates(RootCertStore::empty()),
    };
    Ok(builder.with_no_client_auth())
}

/// Sets up TLS for requests to servers whose certificates may also be signed by one of `authorities`, which
/// are certificates as PEM.
///
/// # Errors
///
/// Fails when there is no certificate in the text, or one is not valid.
pub fn tls_trusting(authorities: &[u8]) -> Result<ClientConfig, rustls::Error> {
    let invalid = |cause: String| rustls::Error::General(format!("the authorities: {cause}"));
    let authorities = CertificateDer::pem_slice_iter(authorities).collect::<Result<Vec<_>, _>>();
    let authorities = authorities.map_err(|error| invalid(error.to_string()))?;
    if authorities.is_empty() {
        return Err(invalid("there is no certificate in them".to_owned()));
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier = Verifier::new_with_extra_roots(authorities, Arc::clone(&provider))?;
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let builder = builder.dangerous();
    let builder = builder.with_custom_certificate_verifier(Arc::new(verifier));
    Ok(builder.with_no_client_auth())
}

/// Begins a client that sends each request once, to the address that it names: redirections are not
/// followed, nothing is sent again, and proxies of the environment are left alone.
pub fn client(tls: ClientConfig) -> ClientBuilder {
    Client::builder()
        .tls_backend_preconfigured(tls)
        // Requests, and the credentials in them, must not go to another address.
        .redirect(Policy::none())
        // Whoever sends requests counts and configures their repetition.
        .retry(reqwest::retry::never())
        .no_proxy()
}

/// Returns the messages of an error and its causes, without the address.
#[must_use]
pub fn causes(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut texts = vec![error.to_string()];
    let mut source = error.source();
    while let Some(cause) = source {
        texts.push(cause.to_string());
        source = cause.source();
    }
    texts.join(": ")
}
