//! Encrypts connections to a server of databases, with the certificates of the system.

use std::sync::Arc;

use pikerag_knowledge::StoreError;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::Context;

/// Whether a connection is encrypted depends on `sslmode` of its address (`disable`, `prefer`, `require`);
/// an encrypted one always checks the certificate of the server.
pub(crate) fn encryption() -> Result<MakeRustlsConnect, StoreError> {
    let doing = "preparing encrypted connections";
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    for error in &found.errors {
        tracing::debug!(%error, "a certificate of the system cannot be read");
    }
    roots.add_parsable_certificates(found.certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .context(doing)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}
