//! Making and removing the repository that the options name, on a server of RDF4J's protocol.

use call_context::CallContext;
use futures::future::BoxFuture;
use outbound::address::below;
use reqwest::Method;

use super::endpoint::{HttpEndpoint, within};
use super::error::HttpError;
use super::exchange::{Change, Exchange};
use super::failover::Purpose;
use super::values::ServerKind;
use crate::error::StoreError;

impl HttpEndpoint {
    /// Creates the repository of the options on the first server that has not failed lately, from a configuration in
    /// Turtle, which names the repository.
    ///
    /// RDF4J takes it by `PUT /repositories/{id}`, GraphDB as the field `config` of a form at `POST /rest/repositories`.
    ///
    /// # Errors
    /// When the servers do not speak RDF4J's protocol, there already is such a repository, or the server refuses the
    /// configuration or the user. A server may accept a configuration that it cannot open later.
    pub async fn create_repository(
        &self,
        configuration: &str,
        context: &CallContext,
    ) -> Result<(), StoreError> {
        let repository = self.named_repository(context).await?;
        // Whatever was done is seen by the next attempt, which says that there is such a repository.
        let create = move |exchange| -> BoxFuture<'_, _> {
            Box::pin(self.create(exchange, repository, configuration))
        };
        let server = Some(self.cluster().fit());
        let created = self.repeat_on(server, Purpose::Write, context, &create);
        within(context, async { created.await.map(drop) }).await
    }

    /// Removes the repository of the options, with all data, from the server where [`HttpEndpoint::create_repository`]
    /// creates it.
    ///
    /// # Errors
    /// When the servers do not speak RDF4J's protocol, or the server does not remove it.
    pub async fn remove_repository(&self, context: &CallContext) -> Result<(), StoreError> {
        let repository = self.named_repository(context).await?;
        let cluster = self.cluster();
        let exchange = cluster.on(cluster.fit(), context);
        let removed = exchange.change(Change {
            method: Method::DELETE,
            url: below(exchange.server.base(), &["repositories", repository]),
            content_type: "",
            text: "",
            operation: "remove_repository",
        });
        within(context, async { removed.await.map(drop) }).await
    }

    async fn named_repository(&self, context: &CallContext) -> Result<&str, StoreError> {
        let kind = self.server_kind(context).await?;
        match (kind, self.repository()) {
            (ServerKind::Rdf4j | ServerKind::GraphDb, Some(repository)) => Ok(repository),
            _ => Err(StoreError::Unsupported(
                "only a server of RDF4J's protocol has repositories, which need a name".to_owned(),
            )),
        }
    }

    async fn create(
        &self,
        exchange: Exchange<'_>,
        repository: &str,
        configuration: &str,
    ) -> Result<(), HttpError> {
        let base = exchange.server.base();
        let (form_type, form);
        let change = match self.cluster().kind_by(exchange).await? {
            ServerKind::GraphDb => {
                (form_type, form) = multipart(configuration);
                Change {
                    method: Method::POST,
                    url: below(base, &["rest", "repositories"]),
                    content_type: &form_type,
                    text: &form,
                    operation: "create_repository",
                }
            }
            _ => Change {
                method: Method::PUT,
                url: below(base, &["repositories", repository]),
                content_type: "text/turtle; charset=utf-8",
                text: configuration,
                operation: "create_repository",
            },
        };
        exchange.change(change).await.map(drop)
    }
}

/// Returns the type and the body of a form with one file.
fn multipart(configuration: &str) -> (String, String) {
    let mut boundary = "repository-configuration".to_owned();
    while configuration.contains(&boundary) {
        boundary.push('-');
    }
    let body = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"config\"; filename=\"config.ttl\"\r\n\
         Content-Type: text/turtle; charset=utf-8\r\n\r\n{configuration}\r\n--{boundary}--\r\n"
    );
    (format!("multipart/form-data; boundary={boundary}"), body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boundary_of_a_form_is_not_in_its_file() {
        let (kind, body) = multipart("--repository-configuration--");
        assert!(
            kind.ends_with("boundary=repository-configuration---"),
            "{kind}"
        );
        assert!(
            body.ends_with("\r\n--repository-configuration-----\r\n"),
            "{body}"
        );
    }
}
