//! What a request can choose of a store: inference and the repository.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use graph_store::query::Dataset;
use graph_store::remote::{
    Dialect, EndpointQuery, RemoteOptions, RemoteStore, Rows, SparqlEndpoint,
};
use graph_store::{CallContext, StoreError, StoreInfo};
use graphql_service::{Request, RequestContext};
use object_engine::ServiceOptions;

use crate::back_end::{BackEnd, Kind};
use crate::fixture;
use crate::stores::quads;

/// An endpoint without data that keeps what queries read.
#[derive(Default)]
struct Recorder(Mutex<Vec<Dataset>>);

#[async_trait]
impl SparqlEndpoint for Recorder {
    async fn select(
        &self,
        query: EndpointQuery<'_>,
        _context: &CallContext,
    ) -> Result<Rows, StoreError> {
        let mut seen = self.0.lock().expect("no test panics here");
        seen.push(query.dataset.clone());
        Ok(Rows {
            width: 1,
            terms: Vec::new(),
        })
    }

    async fn probe(&self, _context: &CallContext) -> Result<StoreInfo, StoreError> {
        Err(StoreError::Failed("nothing to probe".into()))
    }
}

/// Returns whether inferred statements and `owl:sameAs` reach the endpoint, or the message of the
/// refusal.
fn ask(dialect: Dialect, config: &str, arguments: &str) -> Result<(bool, bool), String> {
    let endpoint = Arc::new(Recorder::default());
    let mut options = RemoteOptions::new(dialect);
    options.features.repository = Some("mine".to_owned());
    let store = Arc::new(RemoteStore::new(Arc::clone(&endpoint) as _, options));
    let schema = format!(
        "id: /soml/choice
specialPrefixes: {{base_iri: 'http://e/', vocab_iri: 'http://v/', vocab_prefix: v}}
config: {{{config}}}
objects: {{Thing: {{props: {{label: {{}}}}}}}}"
    );
    let service = fixture::service(&schema, store, ServiceOptions::default());
    let request = Request::new(format!("{{ thing{arguments} {{ id }} }}"));
    let answer = fixture::answer(&service, request, RequestContext::default());
    let answer = fixture::json(&answer);
    let seen = endpoint.0.lock().expect("no test panics here");
    match seen.as_slice() {
        [dataset] => Ok((dataset.include_inferred, dataset.expand_same_as)),
        seen => {
            assert!(seen.is_empty(), "{seen:?}");
            assert_eq!(
                answer["errors"][0]["extensions"]["code"],
                "STORE_UNSUPPORTED"
            );
            Err(answer["errors"][0]["message"]
                .as_str()
                .expect("a text")
                .to_owned())
        }
    }
}

#[test]
fn arguments_on_inference_reach_servers_that_know_them() {
    for dialect in [Dialect::Rdf4j, Dialect::GraphDb] {
        let knows_same_as = dialect == Dialect::GraphDb;
        assert_eq!(ask(dialect, "", ""), Ok((true, true)));
        let explicit = ask(
            dialect,
            "",
            "(includeInferred: false, expandOwlSameAs: false)",
        );
        assert_eq!(explicit, Ok((false, !knows_same_as)));
        let config = "includeInferred: false, expandOwlSameAs: false";
        assert_eq!(ask(dialect, config, ""), Ok((false, !knows_same_as)));
        let overridden = ask(
            dialect,
            config,
            "(includeInferred: true, expandOwlSameAs: true)",
        );
        assert_eq!(overridden, Ok((true, true)));
    }
}

#[test]
fn stores_without_inference_answer_for_both_values() {
    for dialect in [Dialect::Fuseki, Dialect::Oxigraph] {
        let explicit = ask(
            dialect,
            "",
            "(includeInferred: false, expandOwlSameAs: false)",
        );
        assert_eq!(explicit, Ok((true, true)));
    }
}

#[test]
fn what_cannot_be_left_out_is_refused() {
    let dialect = Dialect::Sparql11;
    assert_eq!(
        ask(dialect, "", "(includeInferred: true)"),
        Ok((true, true))
    );
    for (config, arguments, named) in [
        ("", "(includeInferred: false)", "`includeInferred`"),
        ("", "(expandOwlSameAs: false)", "`expandOwlSameAs`"),
        ("includeInferred: false", "", "`config.includeInferred`"),
        ("expandOwlSameAs: false", "", "`config.expandOwlSameAs`"),
    ] {
        let refused = ask(dialect, config, arguments).expect_err("cannot be done");
        assert!(refused.contains(named), "{refused}");
    }
}

#[test]
fn only_the_own_repository_is_read() {
    let dialect = Dialect::Rdf4j;
    for (config, arguments) in [
        ("", "(repository: \"mine\")"),
        ("", "(repository: \"\")"),
        ("repository: mine", ""),
        ("repository: other", "(repository: \"mine\")"),
    ] {
        assert_eq!(
            ask(dialect, config, arguments),
            Ok((true, true)),
            "{config} {arguments}"
        );
    }
    for (config, arguments) in [
        ("", "(repository: \"other\")"),
        ("repository: other", ""),
        ("repository: mine", "(repository: \"other\")"),
    ] {
        let refused = ask(dialect, config, arguments).expect_err("another repository");
        assert!(refused.contains("`other`"), "{refused}");
    }
}

#[test]
#[ignore = "needs a running RDF4J Server named by RDF4J_URL"]
fn rdf4j_leaves_out_what_is_inferred() {
    let back_end = BackEnd::new(Kind::Rdf4j { infers: true });
    back_end.load(&quads(
        "@prefix : <http://e/> . @prefix v: <http://v/> .
         @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
         v:Sub rdfs:subClassOf v:Thing . v:old rdfs:subPropertyOf v:label .
         :a a v:Thing ; v:old \"A\" . :b a v:Sub .",
    ));
    let schema = "id: /soml/inferring
specialPrefixes: {base_iri: 'http://e/', vocab_iri: 'http://v/', vocab_prefix: v}
objects: {Thing: {props: {label: {}}}}";
    let service = fixture::service(schema, back_end.graph_store(), ServiceOptions::default());
    let query = "{ all: thing(orderBy: {id: ASC}) { id label }
                   stated: thing(includeInferred: false) { id label } }";
    let context = RequestContext::default();
    let answer = fixture::json(&fixture::answer(&service, Request::new(query), context));
    let (a, b) = ("http://e/a", "http://e/b");
    let expected = serde_json::json!({"data": {
        "all": [{"id": a, "label": "A"}, {"id": b, "label": null}],
        "stated": [{"id": a, "label": null}],
    }});
    assert_eq!(answer, expected);
}
