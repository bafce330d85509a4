//! TLS to subgraphs: HTTP/2 is taken where it is offered.

use rustls::{ClientConfig, Error};

/// Sets up TLS. The certificates of the system are loaded only where they are needed.
pub(super) fn config(is_used: bool, authorities: Option<&[u8]>) -> Result<ClientConfig, Error> {
    let mut config = outbound::tls::config(is_used, authorities)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Takes HTTP/1.1 alone.
pub(super) fn http1_only(config: &ClientConfig) -> ClientConfig {
    let mut config = config.clone();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config
}
