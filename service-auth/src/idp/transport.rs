//! Requests to an identity provider, and what is read of the answers.

use reqwest::header::HeaderMap;
use reqwest::{Method, Url};

use super::IdpError;
use crate::exchange::{Answer, Content, Exchange, Question};

/// Requests to one identity provider.
pub(super) struct Transport {
    exchange: Exchange,
    base: Url,
    /// Sent with each request.
    pub(super) headers: HeaderMap,
}

impl Transport {
    pub(super) fn new(address: &str) -> Result<Self, IdpError> {
        let base = Url::parse(address).map_err(|_| IdpError::Address)?;
        let is_plain = base.username().is_empty() && base.password().is_none();
        if !matches!(base.scheme(), "http" | "https") || !base.has_host() || !is_plain {
            return Err(IdpError::Address);
        }
        Ok(Transport {
            exchange: Exchange::new([&base])?,
            base,
            headers: HeaderMap::new(),
        })
    }

    /// Returns the address of the provider.
    pub(super) fn base(&self) -> &Url {
        &self.base
    }

    /// Returns the address of a path, which begins with `/`, with pairs that are escaped.
    pub(super) fn at(&self, path: &str, query: &[(&str, &str)]) -> Url {
        let mut url = self.base.clone();
        let before = self.base.path().trim_end_matches('/');
        url.set_path(&format!("{before}{path}"));
        url.set_query(None);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    pub(super) async fn send(
        &self,
        method: Method,
        url: Url,
        content: Content<'_>,
    ) -> Result<Answer, IdpError> {
        let question = Question {
            method,
            url,
            headers: self.headers.clone(),
            content,
        };
        self.ask(question).await
    }

    /// Sends a request with headers of its own.
    pub(super) async fn ask(&self, question: Question<'_>) -> Result<Answer, IdpError> {
        Ok(self.exchange.ask(question).await?)
    }
}
