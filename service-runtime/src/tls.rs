//! The server's side of TLS: a certificate with its key from files, which are read again while the service runs.
//!
//! Connections speak HTTP/1.1, as those without TLS do.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

/// Pause between two looks at the files.
const PAUSE: Duration = Duration::from_secs(5);

/// The files of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate and those that it is signed by, in PEM, that of the service first.
    pub certificate: PathBuf,
    /// Its private key, in PEM.
    pub key: PathBuf,
}

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{} cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A file holds something else than is expected.
    #[error("{} contains no {expected} in PEM", path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// What is expected.
        expected: &'static str,
    },
    /// The key is that of a different certificate, or of a kind that is not known.
    #[error("the key in {} does not match the certificate in {}", key.display(), certificate.display())]
    Mismatch {
        /// The file with the certificate.
        certificate: PathBuf,
        /// The file with the key.
        key: PathBuf,
        /// The cause.
        #[source]
        source: rustls::Error,
    },
}

/// What the files held when they were read.
#[derive(PartialEq, Eq)]
struct Contents {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

/// Accepts connections with the certificate of the files.
pub(crate) struct ServerTls {
    files: TlsFiles,
    acceptor: ArcSwap<TlsAcceptorOf>,
}

/// An acceptor and what it was made of.
struct TlsAcceptorOf {
    acceptor: TlsAcceptor,
    contents: Contents,
}

impl ServerTls {
    /// Reads the files.
    pub(crate) fn read(files: &TlsFiles) -> Result<Self, TlsError> {
        let made = acceptor(files, Contents::read(files)?)?;
        Ok(ServerTls {
            files: files.clone(),
            acceptor: ArcSwap::from_pointee(made),
        })
    }

    /// Returns what accepts connections now.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.acceptor.load().acceptor.clone()
    }

    /// Follows the files. New connections use what they hold; while that cannot be used, the last certificate that
    /// could stays.
    pub(crate) async fn watch(self: Arc<Self>) {
        let mut failed = None;
        loop {
            tokio::time::sleep(PAUSE).await;
            let tls = Arc::clone(&self);
            let looked = tokio::task::spawn_blocking(move || tls.look());
            match looked.await {
                Ok(Ok(true)) => {
                    let certificate = self.files.certificate.display();
                    tracing::info!(%certificate, "a new certificate is used");
                    failed = None;
                }
                Ok(Ok(false)) => failed = None,
                Ok(Err(error)) => {
                    let (text, cause) = (error.to_string(), std::error::Error::source(&error));
                    if failed.as_ref() != Some(&text) {
                        let cause = cause.map(ToString::to_string);
                        tracing::error!(
                            %error,
                            cause,
                            "the new certificate cannot be used; the previous one stays in use"
                        );
                    }
                    failed = Some(text);
                }
                Err(error) => tracing::error!(%error, "the certificate could not be checked"),
            }
        }
    }

    /// Takes what the files hold, and returns whether that is something new.
    fn look(&self) -> Result<bool, TlsError> {
        let contents = Contents::read(&self.files)?;
        if self.acceptor.load().contents == contents {
            return Ok(false);
        }
        self.acceptor
            .store(Arc::new(acceptor(&self.files, contents)?));
        Ok(true)
    }
}

impl Contents {
    fn read(files: &TlsFiles) -> Result<Self, TlsError> {
        let read = |path: &Path| {
            std::fs::read(path).map_err(|source| TlsError::Read {
                path: path.to_owned(),
                source,
            })
        };
        Ok(Contents {
            certificate: read(&files.certificate)?,
            key: read(&files.key)?,
        })
    }
}

fn acceptor(files: &TlsFiles, contents: Contents) -> Result<TlsAcceptorOf, TlsError> {
    let wrong = |path: &Path, expected| TlsError::Pem {
        path: path.to_owned(),
        expected,
    };
    let mismatch = |source| TlsError::Mismatch {
        certificate: files.certificate.clone(),
        key: files.key.clone(),
        source,
    };
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&contents.certificate).collect();
    let chain = chain
        .ok()
        .filter(|chain| !chain.is_empty())
        .ok_or_else(|| wrong(&files.certificate, "certificate"))?;
    let key = PrivateKeyDer::from_pem_slice(&contents.key);
    let key = key.map_err(|_| wrong(&files.key, "private key"))?;
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(mismatch)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(mismatch)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptorOf {
        acceptor: TlsAcceptor::from(Arc::new(config)),
        contents,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rustls::pki_types::ServerName;
    use rustls::{ClientConfig, RootCertStore};
    use tokio::io::duplex;
    use tokio_rustls::TlsConnector;

    use super::*;

    const CERTIFICATE: &[u8] = include_bytes!("../../federation/tests/data/localhost.pem");
    const KEY: &[u8] = include_bytes!("../../federation/tests/data/localhost.key.pem");
    const OTHER: &[u8] = include_bytes!("../../federation/tests/data/other.pem");

    fn files() -> (tempfile::TempDir, TlsFiles) {
        let folder = tempfile::tempdir().unwrap();
        let files = TlsFiles {
            certificate: folder.path().join("certificate.pem"),
            key: folder.path().join("key.pem"),
        };
        fs::write(&files.certificate, CERTIFICATE).unwrap();
        fs::write(&files.key, KEY).unwrap();
        (folder, files)
    }

    /// Returns whether a client that trusts the certificate gets a connection.
    async fn connects(tls: &ServerTls) -> bool {
        let mut roots = RootCertStore::empty();
        let certificate = CertificateDer::from_pem_slice(CERTIFICATE).unwrap();
        roots.add(certificate).unwrap();
        let provider = Arc::new(aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let (ours, theirs) = duplex(16 << 10);
        let connector = TlsConnector::from(Arc::new(config));
        let name = ServerName::try_from("localhost").unwrap();
        let (server, client) =
            tokio::join!(tls.acceptor().accept(theirs), connector.connect(name, ours));
        server.is_ok() && client.is_ok()
    }

    #[tokio::test]
    async fn a_new_certificate_is_used_and_one_that_cannot_be_is_not() {
        let (_folder, files) = files();
        let tls = ServerTls::read(&files).unwrap();
        assert!(connects(&tls).await);
        assert!(!tls.look().unwrap(), "nothing has changed");
        fs::write(&files.certificate, OTHER).unwrap();
        assert!(matches!(tls.look(), Err(TlsError::Mismatch { .. })));
        fs::write(&files.certificate, "half of a file").unwrap();
        assert!(matches!(tls.look(), Err(TlsError::Pem { .. })));
        fs::remove_file(&files.certificate).unwrap();
        assert!(matches!(tls.look(), Err(TlsError::Read { .. })));
        assert!(connects(&tls).await, "the last one stays");
        let chain = [CERTIFICATE, OTHER].concat();
        fs::write(&files.certificate, chain).unwrap();
        assert!(tls.look().unwrap());
        assert!(connects(&tls).await);
    }

    #[test]
    fn a_certificate_that_cannot_be_used_is_named_with_its_file() {
        let (_folder, files) = files();
        fs::write(&files.key, CERTIFICATE).unwrap();
        let error = ServerTls::read(&files).err().unwrap();
        let expected = format!("{} contains no private key in PEM", files.key.display());
        assert_eq!(error.to_string(), expected);
    }
}
