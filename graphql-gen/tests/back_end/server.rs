//! A repository of a real RDF4J Server, or a dataset of a real Fuseki server.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use async_trait::async_trait;
use graphql_gen::request::RequestContext;
use graphql_gen::store::remote::{EndpointQuery, Rows, SparqlEndpoint};
use graphql_gen::store::{StoreError, StoreInfo};
use oxigraph::sparql::results::{
    QueryResultsFormat, QueryResultsParser, SliceQueryResultsParserOutput,
};
use oxrdf::Quad;

/// A repository or dataset that is emptied at the end.
///
/// It is not removed: RDF4J hangs for good when one repository is removed while another is opened.
pub(super) struct Server {
    /// Where queries go.
    query: String,
    /// Where all statements are put.
    statements: String,
    takes_inference: bool,
}

fn address(variable: &str) -> String {
    let address = std::env::var(variable);
    let address = address.unwrap_or_else(|_| panic!("{variable} names no running server"));
    address.trim_end_matches('/').to_owned()
}

/// Returns a name that no other store of a test has.
fn fresh_name() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("test-{}-{number}", std::process::id())
}

impl Server {
    /// Makes a repository in memory; one that infers knows RDF Schema.
    pub(super) fn rdf4j(infers: bool) -> Self {
        let repository = format!("{}/repositories/{}", address("RDF4J_URL"), fresh_name());
        let name = repository.rsplit('/').next().expect("a name");
        let memory = "[ sail:sailType \"openrdf:MemoryStore\" ]";
        let sail = if infers {
            let kind = "openrdf:ForwardChainingRDFSInferencer";
            format!("[ sail:sailType \"{kind}\" ; sail:delegate {memory} ]")
        } else {
            memory.to_owned()
        };
        let config = format!(
            "@prefix rep: <http://www.openrdf.org/config/repository#> .
             @prefix sr: <http://www.openrdf.org/config/repository/sail#> .
             @prefix sail: <http://www.openrdf.org/config/sail#> .
             [] a rep:Repository ; rep:repositoryID \"{name}\" ; rep:repositoryImpl [
               rep:repositoryType \"openrdf:SailRepository\" ;
                              sr:sailImpl {sail} ] ."
        );
        let created = ureq::put(&repository)
            .content_type("text/turtle")
            .send(config);
        created.expect("a repository is made");
        Server {
            statements: format!("{repository}/statements"),
            query: repository,
            takes_inference: true,
        }
    }

    pub(super) fn fuseki() -> Self {
        let (server, name) = (address("FUSEKI_URL"), fresh_name());
        let created = ureq::post(format!("{server}/$/datasets"))
            .send_form([("dbName", name.as_str()), ("dbType", "mem")]);
        created.expect("a dataset is made");
        Server {
            query: format!("{server}/{name}/sparql"),
            statements: format!("{server}/{name}/data"),
            takes_inference: false,
        }
    }

    pub(super) fn load(&self, quads: &[Quad]) {
        let text: String = quads.iter().map(|quad| format!("{quad} .\n")).collect();
        ureq::put(&self.statements)
            .content_type("application/n-quads")
            .send(text)
            .expect("data are loaded");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // What is left over goes with the server.
        let _ = ureq::put(&self.statements)
            .content_type("application/n-quads")
            .send("");
    }
}

#[async_trait]
impl SparqlEndpoint for Server {
    async fn select(
        &self,
        query: EndpointQuery<'_>,
        context: &RequestContext,
    ) -> Result<Rows, StoreError> {
        let text = query.query.to_string();
        let address = if self.takes_inference && !query.dataset.include_inferred {
            format!("{}?infer=false", self.query)
        } else {
            self.query.clone()
        };
        let left = context
            .deadline
            .map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let answer = tokio::task::spawn_blocking(move || ask(&address, &text, left));
        tokio::select! {
            answer = answer => {
                let answer = answer.expect("asking does not panic");
                context.check()?;
                answer
            }
            () = context.cancellation.cancelled() => Err(StoreError::Cancelled),
        }
    }

    async fn probe(&self, context: &RequestContext) -> Result<StoreInfo, StoreError> {
        context.check()?;
        let probe = spargebra::SparqlParser::new()
            .parse_query("SELECT ?s WHERE { ?s ?p ?o } LIMIT 1")
            .expect("a query");
        let request = EndpointQuery {
            query: &probe,
            dataset: &graphql_gen::plan::Dataset::default(),
        };
        self.select(request, context).await?;
        Ok(StoreInfo {
            provider: "server".to_owned(),
            statements: None,
        })
    }
}

fn failed(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::Failed(error.into())
}

fn ask(address: &str, text: &str, left: Option<std::time::Duration>) -> Result<Rows, StoreError> {
    let mut answer = ureq::post(address)
        .config()
        .http_status_as_error(false)
        .timeout_global(left)
        .build()
        .header("Accept", "application/sparql-results+json")
        .content_type("application/sparql-query; charset=utf-8")
        .send(text)
        .map_err(failed)?;
    let status = answer.status();
    let body = answer
        .body_mut()
        .with_config()
        .limit(1 << 30)
        .read_to_vec()
        .map_err(failed)?;
    if !status.is_success() {
        return Err(failed(format!(
            "{status}: {}\n{text}",
            String::from_utf8_lossy(&body)
        )));
    }
    let parser = QueryResultsParser::from_format(QueryResultsFormat::Json);
    let SliceQueryResultsParserOutput::Solutions(solutions) =
        parser.for_slice(&body).map_err(failed)?
    else {
        return Err(failed("not the result of a SELECT"));
    };
    let width = solutions.variables().len();
    let mut terms = Vec::new();
    for solution in solutions {
        let solution = solution.map_err(failed)?;
        terms.extend((0..width).map(|column| solution.get(column).cloned()));
    }
    Ok(Rows { width, terms })
}
