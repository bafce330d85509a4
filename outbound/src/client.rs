//! Clients that send each request once, to the address that it names.

use std::error::Error;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};
use rustls::ClientConfig;

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
