//! Schemas that an object service stores, read from there.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use outbound::{Body, BodyError, Secret};
use reqwest::header::{ACCEPT, AUTHORIZATION, ETAG, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use schema_registry::{Expected, SchemaEntry, SchemaStore, SchemaStoreError, StoredSchema};
use serde_json::Value;
use service_auth::ClientError;

/// Maximum time of a request as a whole.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The schemas of an object service, which only that service may change.
#[derive(Debug)]
pub struct ObjectServiceSchemas {
    client: Client,
    address: ServiceAddress,
    token: Option<Secret>,
    max_bytes: usize,
}

/// The base address of a service: HTTP or HTTPS, without a user, query or fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceAddress(Url);

impl ServiceAddress {
    /// Returns the address of a path of the service.
    #[must_use]
    pub fn of(&self, path: &str) -> String {
        format!("{}{path}", self.0.as_str().trim_end_matches('/'))
    }
}

impl FromStr for ServiceAddress {
    /// What is expected instead.
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = "an address of http or https without user, query and fragment";
        let url = Url::parse(text).map_err(|_| expected)?;
        let is_plain = matches!(url.scheme(), "http" | "https")
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none();
        is_plain.then_some(ServiceAddress(url)).ok_or(expected)
    }
}

impl fmt::Display for ServiceAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Why an object service did not answer with a schema.
#[derive(Debug, thiserror::Error)]
enum ReadError {
    #[error("the request to the object service failed")]
    Request(#[from] reqwest::Error),
    #[error("the object service answered {0}")]
    Status(StatusCode),
    #[error("the response of the object service is larger than {0} bytes")]
    TooLarge(usize),
    #[error("the response of the object service does not follow its interface")]
    Form,
}

impl From<ReadError> for SchemaStoreError {
    fn from(error: ReadError) -> Self {
        SchemaStoreError::Failed(Box::new(error))
    }
}

impl ObjectServiceSchemas {
    /// Reads schemas of so many bytes at most from the service at an address, with a token where it asks for one.
    ///
    /// # Errors
    ///
    /// Fails when TLS cannot be set up.
    pub fn new(
        address: ServiceAddress,
        token: Option<Secret>,
        max_bytes: usize,
    ) -> Result<Self, ClientError> {
        let url = Url::parse(&address.of("/")).expect("it was read before");
        let client = outbound::client(outbound::tls::config_for([&url])?).timeout(TIMEOUT);
        Ok(ObjectServiceSchemas {
            client: client.build()?,
            address,
            token,
            max_bytes,
        })
    }

    fn get(&self, path: &str, accept: &'static str) -> RequestBuilder {
        let request = self
            .client
            .get(self.address.of(path))
            .header(ACCEPT, HeaderValue::from_static(accept));
        match &self.token {
            Some(token) => request.header(AUTHORIZATION, format!("Bearer {}", token.reveal())),
            None => request,
        }
    }

    async fn body(&self, response: Response) -> Result<Bytes, ReadError> {
        let body = Body::of(response).limited(self.max_bytes as u64);
        body.all().await.map_err(|error| match error {
            BodyError::Broken(error) => ReadError::Request(error),
            _ => ReadError::TooLarge(self.max_bytes),
        })
    }

    async fn read(&self, path: &str) -> Result<Option<StoredSchema>, ReadError> {
        let response = self.get(path, "text/yaml").send().await?;
        match response.status() {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND => return Ok(None),
            status => return Err(ReadError::Status(status)),
        }
        let revision = response
            .headers()
            .get(ETAG)
            .and_then(|tag| tag.to_str().ok());
        let revision =
            revision.map(|tag| tag.trim_start_matches("W/").trim_matches('"').to_owned());
        let revision = revision.ok_or(ReadError::Form)?;
        let text =
            String::from_utf8(self.body(response).await?.into()).map_err(|_| ReadError::Form)?;
        Ok(Some(StoredSchema {
            id: path.rsplit('/').next().unwrap_or_default().to_owned(),
            text: text.into(),
            revision,
        }))
    }

    async fn members(&self) -> Result<Vec<SchemaEntry>, ReadError> {
        let response = self.get("/soml", "application/ld+json").send().await?;
        if response.status() != StatusCode::OK {
            return Err(ReadError::Status(response.status()));
        }
        let body = self.body(response).await?;
        let list: Value = serde_json::from_slice(&body).map_err(|_| ReadError::Form)?;
        let members = list["hydra:member"].as_array().ok_or(ReadError::Form)?;
        let entries = members.iter().map(|member| {
            let iri = member["@id"].as_str().ok_or(ReadError::Form)?;
            let id = iri.rsplit('/').next().unwrap_or_default().to_owned();
            // The listing does not say how long they are.
            Ok(SchemaEntry { id, bytes: 0 })
        });
        entries.collect()
    }
}

#[async_trait]
impl SchemaStore for ObjectServiceSchemas {
    async fn list(&self) -> Result<Vec<SchemaEntry>, SchemaStoreError> {
        Ok(self.members().await?)
    }

    async fn get(&self, id: &str) -> Result<Option<StoredSchema>, SchemaStoreError> {
        // Whatever else could lead to another path.
        if schema_registry::check_id(id).is_err() {
            return Ok(None);
        }
        Ok(self.read(&format!("/soml/{id}")).await?)
    }

    async fn create(&self, _: &str, _: Arc<str>) -> Result<StoredSchema, SchemaStoreError> {
        Err(SchemaStoreError::ReadOnly)
    }

    async fn replace(
        &self,
        _: &str,
        _: Arc<str>,
        _: &Expected,
    ) -> Result<StoredSchema, SchemaStoreError> {
        Err(SchemaStoreError::ReadOnly)
    }

    async fn remove(&self, _: &str, _: &Expected) -> Result<(), SchemaStoreError> {
        Err(SchemaStoreError::ReadOnly)
    }

    async fn rights(&self) -> Result<Option<StoredSchema>, SchemaStoreError> {
        Ok(self.read("/soml-rbac").await?)
    }

    async fn set_rights(
        &self,
        _: Arc<str>,
        _: &Expected,
    ) -> Result<StoredSchema, SchemaStoreError> {
        Err(SchemaStoreError::ReadOnly)
    }
}
