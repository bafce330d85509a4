//! What an issuer publishes about itself.

use outbound::address::{below, is_loopback};
use reqwest::header::HeaderMap;
use reqwest::{Method, StatusCode, Url};
use serde_json::Value;

use super::OauthError;
use super::error::printable;
use crate::exchange::{Answer, Content, Exchange, ExchangeError, Question};

/// The metadata of an issuer that a client without a browser needs.
#[derive(Clone, Debug)]
pub(super) struct Metadata {
    /// The issuer as it calls itself.
    pub(super) issuer: String,
    pub(super) token_endpoint: Url,
    pub(super) device_authorization_endpoint: Option<Url>,
    pub(super) revocation_endpoint: Option<Url>,
}

impl Metadata {
    /// Reads the metadata as OpenID Connect Discovery publishes them, otherwise those of RFC 8414.
    pub(super) async fn read(exchange: &Exchange, issuer: &Url) -> Result<Self, OauthError> {
        let mut answer = get(exchange, openid(issuer)).await?;
        let first = answer.status;
        if first.is_client_error() {
            answer = get(exchange, rfc_8414(issuer)).await?;
        }
        match answer.status {
            StatusCode::OK => Metadata::of(issuer, &answer.body),
            status if status.is_server_error() => Err(OauthError::Status(status)),
            _ => Err(OauthError::NoMetadata {
                issuer: issuer.to_string(),
                status: first,
            }),
        }
    }

    fn of(issuer: &Url, body: &Value) -> Result<Self, OauthError> {
        let missing = OauthError::Malformed("it has no issuer");
        let own = body["issuer"].as_str().ok_or(missing)?;
        // OpenID Connect Discovery 4.3, RFC 8414 3.3: otherwise one issuer could pose as another.
        if own.trim_end_matches('/') != issuer.as_str().trim_end_matches('/') {
            return Err(OauthError::OtherIssuer {
                found: printable(own),
            });
        }
        let required = OauthError::Malformed("it has no token endpoint");
        Ok(Metadata {
            issuer: own.to_owned(),
            token_endpoint: endpoint(body, "token_endpoint")?.ok_or(required)?,
            device_authorization_endpoint: endpoint(body, "device_authorization_endpoint")?,
            revocation_endpoint: endpoint(body, "revocation_endpoint")?,
        })
    }
}

/// Reads the address of an issuer.
pub(super) fn issuer(text: &str) -> Result<Url, OauthError> {
    let url = Url::parse(text).map_err(|_| OauthError::Issuer)?;
    let is_plain = url.username().is_empty() && url.password().is_none();
    let is_whole = url.query().is_none() && url.fragment().is_none();
    if is_plain && is_whole && is_private(&url) {
        Ok(url)
    } else {
        Err(OauthError::Issuer)
    }
}

/// Returns whether no one on the way can read what an address is sent.
pub(super) fn is_private(url: &Url) -> bool {
    url.scheme() == "https" || url.scheme() == "http" && is_loopback(url)
}

fn openid(issuer: &Url) -> Url {
    below(issuer, &[".well-known", "openid-configuration"])
}

/// RFC 8414 section 3.1: the path of the issuer comes last.
fn rfc_8414(issuer: &Url) -> Url {
    let mut url = issuer.clone();
    let path = issuer.path().trim_end_matches('/');
    url.set_path(&format!("/.well-known/oauth-authorization-server{path}"));
    url
}

fn endpoint(body: &Value, name: &'static str) -> Result<Option<Url>, OauthError> {
    let Some(text) = body[name].as_str() else {
        return Ok(None);
    };
    let url = Url::parse(text).ok().filter(is_private);
    url.map(Some).ok_or(OauthError::Insecure(name))
}

async fn get(exchange: &Exchange, url: Url) -> Result<Answer, ExchangeError> {
    exchange
        .ask(Question {
            method: Method::GET,
            url,
            headers: HeaderMap::new(),
            content: Content::None,
        })
        .await
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ISSUER: &str = "https://idp.example/realms/a";

    fn read(body: Value) -> Result<Metadata, OauthError> {
        Metadata::of(&issuer(ISSUER).unwrap(), &body)
    }

    #[test]
    fn an_issuer_is_private_and_nothing_else() {
        for text in [
            ISSUER,
            "http://localhost:8080/realms/a",
            "http://127.0.0.1:1",
            "http://[::1]/",
        ] {
            assert!(issuer(text).is_ok(), "{text}");
        }
        for text in [
            "http://idp.example/",
            "https://u@idp.example/",
            "https://idp.example/?a",
            "https://idp.example/#a",
            "ftp://idp.example/",
            "idp",
        ] {
            assert!(issuer(text).is_err(), "{text}");
        }
    }

    #[test]
    fn metadata_lie_where_both_documents_say() {
        let issuer = issuer(ISSUER).unwrap();
        assert_eq!(
            openid(&issuer).as_str(),
            "https://idp.example/realms/a/.well-known/openid-configuration"
        );
        assert_eq!(
            rfc_8414(&issuer).as_str(),
            "https://idp.example/.well-known/oauth-authorization-server/realms/a"
        );
    }

    #[test]
    fn metadata_of_somebody_else_are_refused() {
        let own = json!({"issuer": "https://idp.example/realms/a/", "token_endpoint": "https://idp.example/t"});
        assert!(read(own).is_ok());
        let other =
            json!({"issuer": "https://idp.example", "token_endpoint": "https://idp.example/t"});
        assert!(matches!(read(other), Err(OauthError::OtherIssuer { .. })));
    }

    #[test]
    fn endpoints_without_tls_are_refused() {
        for name in [
            "token_endpoint",
            "device_authorization_endpoint",
            "revocation_endpoint",
        ] {
            let mut body = json!({"issuer": ISSUER, "token_endpoint": "https://idp.example/t"});
            body[name] = json!("http://idp.example/x");
            let refused = read(body);
            assert!(
                matches!(refused, Err(OauthError::Insecure(found)) if found == name),
                "{refused:?}"
            );
        }
    }
}
