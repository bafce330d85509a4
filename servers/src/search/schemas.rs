//! Schemas that an object service stores, read from there.

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

use crate::config::{ServiceAddress, Settings};

/// Maximum time of a request as a whole.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The schemas of an object service, which alone may change them.
#[derive(Debug)]
pub struct ObjectServiceSchemas {
    client: Client,
    address: ServiceAddress,
    token: Option<Secret>,
    max_bytes: usize,
}

/// Why an object service did not answer with a schema.
#[derive(Debug, thiserror::Error)]
enum ReadError {
    #[error("the request to the object service failed")]
    Request(#[from] reqwest::Error),
    #[error("the object service answered {0}")]
    Status(StatusCode),
    #[error("the answer of the object service is larger than {0} bytes")]
    TooLarge(usize),
    #[error("the answer of the object service is not what its interface says")]
    Form,
}

impl From<ReadError> for SchemaStoreError {
    fn from(error: ReadError) -> Self {
        SchemaStoreError::Failed(Box::new(error))
    }
}

impl ObjectServiceSchemas {
    /// Reads schemas from the service at an address.
    ///
    /// # Errors
    ///
    /// Fails when TLS cannot be set up.
    pub fn new(address: ServiceAddress, settings: &Settings) -> Result<Self, ClientError> {
        let url = Url::parse(&address.of("/")).expect("it was read before");
        let client = outbound::client(outbound::tls::config_for([&url])?).timeout(TIMEOUT);
        Ok(ObjectServiceSchemas {
            client: client.build()?,
            address,
            token: settings.search.object_service_token.clone(),
            max_bytes: settings.max_schema_bytes,
        })
    }

    fn get(&self, path: &str, accept: &'static str) -> RequestBuilder {
        let request = self.client.get(self.address.of(path));
        let request = request.header(ACCEPT, HeaderValue::from_static(accept));
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
        if crate::schema::check_id(id).is_err() {
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
