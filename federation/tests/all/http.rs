//! The HTTP transport on real sockets.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use federation::supergraph::Subgraph;
use federation::transport::Phase;
use federation::transport::http::{HttpOptions, HttpOptionsError, HttpTransport};
use federation::{SubgraphRequest, SubgraphTransport, Supergraph, TransportError};
use graphql_service::{CallContext, Forwarded, RequestContext};
use http_body_util::{BodyExt, Full};
use hyper::service::service_fn;
use hyper::{Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::sockets::{Behaviour, Server, answer, nobody, with_headers};

const JSON: &str = "application/json";
const DATA: &str = r#"{"data":{"a":1}}"#;

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}

/// Returns a subgraph with a name.
fn subgraph() -> Subgraph {
    let sdl = include_str!("../cases/shop/supergraph.graphql");
    let supergraph = Supergraph::parse(sdl, "supergraph.graphql").unwrap();
    supergraph.subgraphs()[0].clone()
}

/// Longer than anything takes that works, on a busy machine too.
pub(crate) const LONG: Duration = Duration::from_secs(600);

/// Options whose time-outs do not matter.
pub(crate) fn options() -> HttpOptions {
    let mut options = HttpOptions::default();
    options.connect_timeout = LONG;
    options.idle_timeout = LONG;
    options.request_timeout = LONG;
    options.pool_idle_timeout = LONG;
    options
}

fn transport(url: &str, options: HttpOptions) -> HttpTransport {
    HttpTransport::new([("accounts", url)], options).unwrap()
}

async fn send(
    transport: &HttpTransport,
    context: &RequestContext,
) -> Result<Bytes, TransportError> {
    let request = SubgraphRequest::alone(r#"{"query":"{ a }"}"#, 1 << 20);
    transport.send(&subgraph(), request, context).await
}

/// Sends a request to a server that does as it is told.
fn exchange(behaviour: Behaviour) -> (Result<Bytes, TransportError>, Server) {
    let server = Server::start(behaviour);
    let transport = transport(&server.url(), options());
    let answer = runtime().block_on(send(&transport, &RequestContext::new()));
    (answer, server)
}

#[test]
fn a_request_says_what_it_is_and_has_the_headers_that_are_passed_on() {
    let server = Server::start(Behaviour::Answers(answer("200 OK", JSON, DATA)));
    let transport = transport(&server.url(), options());
    let forwarded = Forwarded::new([
        ("Authorization", "Bearer secret"),
        ("Connection", "X-Hop"),
        ("X-Hop", "1"),
    ]);
    let call = CallContext::new().with_request_id("id-7");
    let context = RequestContext::from(call).with_forwarded(forwarded);
    let body = runtime().block_on(send(&transport, &context)).unwrap();
    assert_eq!(body, DATA);
    let seen = server.seen.requests.lock().unwrap()[0].clone();
    assert_eq!(seen.body, br#"{"query":"{ a }"}"#);
    let mut lines: Vec<&str> = seen.head.lines().collect();
    lines.sort_unstable();
    let host = format!("host: {}", server.address);
    let expected = [
        "accept-encoding: gzip",
        "accept: application/graphql-response+json; charset=utf-8, application/json; charset=utf-8; q=0.9",
        "authorization: bearer secret",
        "content-length: 17",
        "content-type: application/json; charset=utf-8",
        &host,
        "post /graphql http/1.1",
        "x-request-id: id-7",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn connections_are_kept_for_the_next_request() {
    let server = Server::start(Behaviour::Answers(answer("200 OK", JSON, DATA)));
    let transport = transport(&server.url(), options());
    runtime().block_on(async {
        for _ in 0..5 {
            send(&transport, &RequestContext::new()).await.unwrap();
        }
    });
    assert_eq!(server.seen.connections.load(Ordering::SeqCst), 1);
    assert_eq!(server.seen.requests.lock().unwrap().len(), 5);
}

#[test]
fn requests_beyond_the_bound_wait_for_their_turn() {
    let server = Server::start(Behaviour::Answers(answer("200 OK", JSON, DATA)));
    let mut options = options();
    options.max_concurrent_requests = 2;
    let transport = transport(&server.url(), options);
    let context = RequestContext::new();
    let answers = (0..20).map(|_| send(&transport, &context));
    let answers = runtime().block_on(futures::future::join_all(answers));
    assert!(answers.iter().all(Result::is_ok));
    assert!(server.seen.connections.load(Ordering::SeqCst) <= 2);
}

#[test]
fn a_compressed_answer_is_expanded() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(DATA.as_bytes()).unwrap();
    let body = encoder.finish().unwrap();
    let headers = "content-type: application/json\r\ncontent-encoding: gzip\r\n";
    let (answer, _) = exchange(Behaviour::Answers(with_headers("200 OK", headers, body)));
    assert_eq!(answer.unwrap(), DATA);
}

#[test]
fn an_answer_whose_encoding_is_called_none_is_read_as_it_is() {
    for encoding in ["none", "NONE, identity", ""] {
        let headers = format!("content-type: application/json\r\ncontent-encoding: {encoding}\r\n");
        let (answer, _) = exchange(Behaviour::Answers(with_headers("200 OK", &headers, DATA)));
        assert_eq!(answer.unwrap(), DATA, "{encoding}");
    }
}

#[test]
fn the_body_of_a_failure_is_read_where_its_media_type_says_that_it_is_a_response() {
    let media = "application/graphql-response+json";
    let body = r#"{"errors":[{"message":"no"}]}"#;
    let (read, _) = exchange(Behaviour::Answers(answer("400 Bad Request", media, body)));
    assert_eq!(read.unwrap(), body);
    let (read, _) = exchange(Behaviour::Answers(answer("400 Bad Request", JSON, body)));
    assert!(matches!(read, Err(TransportError::Status(400))), "{read:?}");
}

#[test]
fn redirects_are_not_followed() {
    let target = Server::start(Behaviour::Answers(answer("200 OK", JSON, DATA)));
    for status in [
        "301 Moved",
        "302 Found",
        "307 Temporary",
        "308 Permanent",
        "303 See",
    ] {
        let location = format!("location: {}\r\n", target.url());
        let (answer, _) = exchange(Behaviour::Answers(with_headers(status, &location, "")));
        assert!(
            matches!(answer, Err(TransportError::Status(_))),
            "{answer:?}"
        );
    }
    assert_eq!(target.seen.connections.load(Ordering::SeqCst), 0);
}

#[test]
fn dropping_a_request_closes_its_exchange() {
    let server = Arc::new(Server::start(Behaviour::Silent));
    let transport = transport(&server.url(), options());
    runtime().block_on(async {
        let asked = Arc::clone(&server);
        let asked = tokio::task::spawn_blocking(move || asked.is_asked());
        let context = RequestContext::new();
        tokio::select! {
            answer = send(&transport, &context) => panic!("{answer:?}"),
            asked = asked => assert!(asked.unwrap(), "nothing is sent"),
        }
        // The runtime goes on, as that of a server does.
        tokio::task::spawn_blocking(move || assert!(server.is_abandoned()))
            .await
            .unwrap();
    });
}

#[test]
fn each_time_out_ends_the_exchange_on_its_own() {
    let short = Duration::from_millis(150);
    let silent = Server::start(Behaviour::Silent);
    let head =
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    let dripping = Server::start(Behaviour::Drips(
        [head.as_slice(), b"100000\r\n"].concat(),
        Duration::from_millis(20),
    ));
    let halting = Server::start(Behaviour::Drips(
        [head.as_slice(), b"100000\r\n"].concat(),
        Duration::from_secs(60),
    ));
    let mut idle = options();
    // Whatever the time to connect is.
    (idle.idle_timeout, idle.connect_timeout) = (short, LONG);
    let mut whole = options();
    whole.request_timeout = short;
    let none = RequestContext::new();
    let late = || RequestContext::from(CallContext::new().with_timeout(short));
    let cases = [
        (&silent, &idle, &none, "the wait for the next bytes"),
        (&halting, &idle, &none, "the wait for the next bytes"),
        (&dripping, &whole, &none, "the exchange"),
        (&silent, &whole, &none, "the exchange"),
        (&silent, &options(), &late(), "the deadline"),
        (&dripping, &options(), &late(), "the deadline"),
    ];
    for (server, options, context, expected) in cases {
        let transport = transport(&server.url(), options.clone());
        let context = match context.call.deadline {
            Some(_) => late(),
            None => context.clone(),
        };
        let outcome = runtime().block_on(send(&transport, &context));
        let phase = match outcome {
            Err(TransportError::TimedOut(phase)) => phase.to_string(),
            Err(TransportError::Deadline) => "the deadline".to_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(phase, expected);
    }
    assert_eq!(Phase::Connecting.to_string(), "connecting");
}

#[test]
fn addresses_and_credentials_are_in_no_message() {
    let url = nobody().replace("http://", "http://somebody:hidden@");
    let transport = transport(&url, options());
    assert!(!format!("{transport:?}").contains("hidden"));
    let context =
        RequestContext::new().with_forwarded(Forwarded::new([("authorization", "hidden")]));
    let error = runtime().block_on(send(&transport, &context)).unwrap_err();
    let mut texts = vec![error.to_string(), format!("{error:?}")];
    let mut source = std::error::Error::source(&error);
    assert!(source.is_some());
    while let Some(cause) = source {
        texts.push(cause.to_string());
        source = cause.source();
    }
    assert!(
        !texts.iter().any(|text| text.contains("hidden")),
        "{texts:?}"
    );
    assert!(
        !texts.iter().any(|text| text.contains("/graphql")),
        "{texts:?}"
    );
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let with = |url: &str, options| HttpTransport::new([("accounts", url)], options).unwrap_err();
    for url in ["", "accounts", "ftp://accounts/", "http://"] {
        let error = with(url, options());
        assert!(
            matches!(&error, HttpOptionsError::Address(name) if name == "accounts"),
            "{error}"
        );
    }
    let mut none = options();
    none.max_concurrent_requests = 0;
    assert!(matches!(
        with("http://a/", none),
        HttpOptionsError::NoRequests
    ));
    let mut authorities = options();
    authorities.authorities = Some(b"nothing".to_vec());
    assert!(matches!(
        with("https://a/", authorities),
        HttpOptionsError::Tls(_)
    ));
}

const CERTIFICATE: &[u8] = include_bytes!("../data/localhost.pem");
const KEY: &[u8] = include_bytes!("../data/localhost.key.pem");

/// Starts a server under TLS that answers with the version of HTTP.
async fn under_tls(protocols: &[&[u8]]) -> SocketAddr {
    let certificates = CertificateDer::pem_slice_iter(CERTIFICATE)
        .collect::<Result<Vec<_>, _>>()
        .unwrap();
    let key = PrivateKeyDer::from_pem_slice(KEY).unwrap();
    let provider = tokio_rustls::rustls::crypto::aws_lc_rs::default_provider();
    let mut config = ServerConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|it| it.to_vec()).collect();
    let is_second = protocols.contains(&b"h2".as_slice());
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(stream) = acceptor.accept(stream).await else {
                continue;
            };
            tokio::spawn(async move {
                let service = service_fn(|request: hyper::Request<hyper::body::Incoming>| async {
                    let version = match request.version() {
                        Version::HTTP_2 => 2,
                        _ => 1,
                    };
                    request.into_body().collect().await?;
                    let text = format!("{{\"data\":{{\"version\":{version}}}}}");
                    let response = Response::builder().header("content-type", JSON);
                    Ok::<_, hyper::Error>(response.body(Full::new(Bytes::from(text))).unwrap())
                });
                let io = TokioIo::new(stream);
                if is_second {
                    let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                    builder.serve_connection(io, service).await
                } else {
                    let builder = hyper::server::conn::http1::Builder::new();
                    builder.serve_connection(io, service).await
                }
            });
        }
    });
    address
}

#[test]
fn under_tls_http_2_is_taken_where_it_is_offered() {
    let protocols: [(&[&[u8]], _); 2] = [(&[b"h2", b"http/1.1"], 2), (&[b"http/1.1"], 1)];
    for (offered, version) in protocols {
        runtime().block_on(async {
            let address = under_tls(offered).await;
            let mut options = options();
            options.authorities = Some(CERTIFICATE.to_vec());
            let url = format!("https://localhost:{}/graphql", address.port());
            let answer = send(&transport(&url, options), &RequestContext::new()).await;
            let expected = format!("{{\"data\":{{\"version\":{version}}}}}");
            assert_eq!(answer.unwrap(), expected);
        });
    }
}

#[test]
fn a_certificate_of_nobody_known_is_refused() {
    runtime().block_on(async {
        let address = under_tls(&[b"h2"]).await;
        let mut options = options();
        options.authorities = Some(include_bytes!("../data/other.pem").to_vec());
        let url = format!("https://localhost:{}/graphql", address.port());
        let answer = send(&transport(&url, options), &RequestContext::new()).await;
        assert!(
            matches!(answer, Err(TransportError::Connection(_))),
            "{answer:?}"
        );
    });
}
