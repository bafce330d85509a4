//! What servers are found to be, and what each is sent.

use graph_store::StoreError;
use graph_store::remote::SparqlEndpoint;
use graph_store::remote::http::{ConnectionOptions, HttpEndpoint, ServerKind, ServerType};
use oxigraph::sparql::results::{QueryResultsFormat, QueryResultsSerializer};
use oxigraph::sparql::{QueryResults, SparqlEvaluator};
use oxigraph::store::Store;
use oxrdfio::RdfFormat;

use crate::faults::endpoint::{Answer, Endpoint, Received};
use crate::faults::{JSON, PATIENCE, ask, client, options, until, whole};

const NOT_FOUND: &str = "404 Not Found";

fn asking(base: &str, repository: Option<&str>) -> HttpEndpoint {
    client(ConnectionOptions {
        server: ServerType::Auto,
        repository: repository.map(str::to_owned),
        ..options(base)
    })
}

/// Answers as a server of RDF4J's protocol does; `product` is what GraphDB adds.
fn rdf4j(request: &Received, product: Option<&str>) -> Answer {
    let path = request.head.split(' ').nth(1).unwrap();
    match (path.split('?').next().unwrap(), product) {
        ("/store/protocol", _) => Answer::new("200 OK", "text/plain", "12"),
        ("/store/rest/info/version", Some(text)) => Answer::new("200 OK", "application/json", text),
        ("/store/repositories/films", _) => {
            Answer::new("200 OK", "application/sparql-results+json", JSON)
        }
        _ => Answer::new(NOT_FOUND, "text/plain", "nothing here"),
    }
}

async fn kind(client: &HttpEndpoint) -> ServerKind {
    client.server_kind(&until(PATIENCE)).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn rdf4j_is_found_by_its_protocol_and_told_the_time_that_is_left() {
    let endpoint = Endpoint::start(|request| rdf4j(request, None)).await;
    let base = format!("http://{}/store", endpoint.address);
    for (address, repository) in [
        (base.clone(), Some("films")),
        (format!("{base}/repositories/films"), None),
    ] {
        let client = asking(&address, repository);
        assert_eq!(ask(&client).await.unwrap(), whole());
        assert_eq!(kind(&client).await, ServerKind::Rdf4j);
        let sent = endpoint.requests().pop().unwrap();
        let line = sent.head.lines().next().unwrap();
        let time = line.strip_prefix("POST /store/repositories/films?infer=true&timeout=");
        let time = time.and_then(|rest| rest.strip_suffix(" HTTP/1.1")?.parse().ok());
        let is_left = time.is_some_and(|time| (1..=PATIENCE.as_secs()).contains(&time));
        assert!(is_left, "{line}");
        assert_eq!(
            sent.header("content-type"),
            Some("application/sparql-query; charset=utf-8")
        );
        assert_eq!(sent.header("x-request-id"), Some("the-request"));
        assert_eq!(sent.body, "SELECT ?s ?o WHERE { ?s ?p ?o . }");
    }
    // What it is was asked once by each of the two.
    assert_eq!(endpoint.requests().len(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn graphdb_is_told_from_rdf4j_by_its_product() {
    let product = r#"{"productVersion":"10.6.3","productType":"free"}"#;
    for (text, expected) in [
        (product, ServerKind::GraphDb),
        (r#"{"name":"another"}"#, ServerKind::Rdf4j),
        ("<html>", ServerKind::Rdf4j),
    ] {
        let endpoint = Endpoint::start(move |request| rdf4j(request, Some(text))).await;
        let client = asking(
            &format!("http://{}/store/", endpoint.address),
            Some("films"),
        );
        assert_eq!(kind(&client).await, expected);
        ask(&client).await.unwrap();
        let sent = endpoint.requests().pop().unwrap().head;
        assert_eq!(
            sent.contains("sameAs=true"),
            expected == ServerKind::GraphDb,
            "{sent}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fuseki_is_found_by_its_header_and_anything_else_is_plain_sparql() {
    for (header, expected, content_type) in [
        (
            "Fuseki-Request-ID",
            ServerKind::Fuseki,
            "application/sparql-query; charset=utf-8",
        ),
        (
            "X-Other",
            ServerKind::Sparql11,
            "application/x-www-form-urlencoded",
        ),
    ] {
        let endpoint = Endpoint::start(move |request| match request.head.split(' ').nth(1) {
            Some("/films") => Answer::whole(request).with(header, "1"),
            _ => Answer::new(NOT_FOUND, "text/plain", ""),
        })
        .await;
        let base = format!("http://{}", endpoint.address);
        for client in [
            asking(&base, Some("films")),
            asking(&format!("{base}/films"), None),
        ] {
            assert_eq!(ask(&client).await.unwrap(), whole());
            assert_eq!(kind(&client).await, expected);
            let sent = endpoint.requests().pop().unwrap();
            assert_eq!(sent.header("content-type"), Some(content_type));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a running Fuseki server: scripts/servers.sh start"]
async fn a_running_fuseki_is_found_and_asked() {
    let base = std::env::var("FUSEKI_URL").expect("FUSEKI_URL names a running server");
    for client in [
        asking(&base, Some("ds")),
        asking(&format!("{base}/ds"), None),
    ] {
        assert_eq!(kind(&client).await, ServerKind::Fuseki);
        let rows = ask(&client).await.unwrap();
        assert_eq!(rows.width, 2);
        let info = client.probe(&until(PATIENCE)).await.unwrap();
        assert_eq!(info.provider, "fuseki");
    }
    match ask(&asking(&base, Some("nothing-of-this-name"))).await {
        Err(StoreError::Failed(error)) => {
            assert!(error.to_string().contains("answered 40"), "{error}")
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_is_stays_unknown_as_long_as_it_does_not_answer() {
    let (endpoint, mut proxy) = {
        let endpoint = Endpoint::start(|request| rdf4j(request, None)).await;
        let proxy = crate::faults::proxy::Proxy::start(endpoint.address).await;
        (endpoint, proxy)
    };
    let client = asking(&proxy.url("/store"), Some("films"));
    proxy.down().await;
    for _ in 0..2 {
        let answer = ask(&client).await;
        assert!(
            matches!(answer, Err(StoreError::Unavailable(_))),
            "{answer:?}"
        );
        client.probe(&until(PATIENCE)).await.unwrap_err();
    }
    proxy.up().await;
    assert_eq!(ask(&client).await.unwrap(), whole());
    assert_eq!(kind(&client).await, ServerKind::Rdf4j);
    assert!(!endpoint.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_wants_credentials_is_not_taken_for_another() {
    let endpoint = Endpoint::start(|_| Answer::new("401 Unauthorized", "text/plain", "")).await;
    let client = asking(&format!("http://{}/store", endpoint.address), Some("films"));
    match ask(&client).await {
        Err(StoreError::Failed(error)) => {
            assert!(error.to_string().contains("credentials"), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_are_those_of_the_store_in_the_order_of_the_projection() {
    let turtle = r#"<urn:a> <urn:p> 1, "é\t\n"@fr-CA . <urn:b> <urn:q> [], "2"^^<urn:t> ."#;
    let store = Store::new().unwrap();
    store.load_from_slice(RdfFormat::Turtle, turtle).unwrap();
    let evaluate = move |request: &Received| {
        // The values of the form are percent-encoded.
        let url = reqwest::Url::parse(&format!("http://x/?{}", request.body)).unwrap();
        let text = url.query_pairs().next().unwrap().1.into_owned();
        let query = SparqlEvaluator::new().parse_query(&text).unwrap();
        let QueryResults::Solutions(solutions) = query.on_store(&store).execute().unwrap() else {
            panic!("{text}");
        };
        let format = match request.header("accept") {
            Some("text/tab-separated-values") => QueryResultsFormat::Tsv,
            _ => QueryResultsFormat::Json,
        };
        let serializer = QueryResultsSerializer::from_format(format);
        let variables = solutions.variables().to_vec();
        let mut writer = serializer
            .serialize_solutions_to_writer(Vec::new(), variables)
            .unwrap();
        for solution in solutions {
            writer.serialize(&solution.unwrap()).unwrap();
        }
        let body = String::from_utf8(writer.finish().unwrap()).unwrap();
        Answer::new("200 OK", format.media_type(), &body)
    };
    let endpoint = Endpoint::start(evaluate).await;
    use graph_store::remote::http::ResultFormat;
    let mut answers = Vec::new();
    for format in [ResultFormat::Json, ResultFormat::Tsv] {
        let client = client(ConnectionOptions {
            result_format: format,
            ..options(&endpoint.url())
        });
        let rows = ask(&client).await.unwrap();
        assert_eq!((rows.width, rows.terms.len()), (2, 8));
        let mut texts: Vec<_> = rows
            .terms
            .chunks(2)
            .map(|row| {
                let [Some(s), Some(o)] = row else {
                    panic!("{row:?}");
                };
                let is_blank = o.is_blank_node();
                format!(
                    "{s} {}",
                    if is_blank {
                        "_:b".to_owned()
                    } else {
                        o.to_string()
                    }
                )
            })
            .collect();
        texts.sort();
        answers.push(texts);
    }
    assert_eq!(
        answers[0],
        [
            "<urn:a> \"1\"^^<http://www.w3.org/2001/XMLSchema#integer>",
            "<urn:a> \"é\\t\\n\"@fr-ca",
            "<urn:b> \"2\"^^<urn:t>",
            "<urn:b> _:b",
        ]
    );
    assert_eq!(answers[0], answers[1]);
}
