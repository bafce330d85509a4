//! TLS to subgraphs: certificates are verified as the system does it, and HTTP/2 is taken where it is offered.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, Error, RootCertStore};
use rustls_platform_verifier::{BuilderVerifierExt, Verifier};

/// Sets up TLS. The certificates of the system are loaded only where they are needed.
pub(super) fn config(is_used: bool, authorities: Option<&[u8]>) -> Result<ClientConfig, Error> {
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
    let mut config = builder.with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Takes HTTP/1.1 alone.
pub(super) fn http1_only(config: &ClientConfig) -> ClientConfig {
    let mut config = config.clone();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let invalid = |cause: String| Error::General(format!("the authorities: {cause}"));
    let found = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
    let found = found.map_err(|error| invalid(error.to_string()))?;
    match found.is_empty() {
        true => Err(invalid("there is no certificate in them".to_owned())),
        false => Ok(found),
    }
}
