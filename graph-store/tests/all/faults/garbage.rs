//! Answers that are no results: an error that says what came, and no second request.

use std::time::Duration;

use graph_store::StoreError;
use graph_store::remote::http::{
    ConnectionOptions, HttpEndpoint, OptionsError, ResultFormat, Secret,
};

use crate::faults::endpoint::{Answer, Endpoint};
use crate::faults::{JSON, ask, client, options};

const RESULT: &str = "application/sparql-results+json";

/// Sends `answer` and returns the text of the failure.
async fn failure(format: ResultFormat, answer: Answer) -> String {
    let shown = String::from_utf8_lossy(&answer.bytes()).into_owned();
    let endpoint = Endpoint::start(move |_| answer.clone()).await;
    let client = client(ConnectionOptions {
        result_format: format,
        username: Some("somebody".to_owned()),
        credentials: Some(Secret::new("hidden")),
        ..options(&endpoint.url())
    });
    let answer = ask(&client).await;
    assert_eq!(endpoint.requests().len(), 1, "{shown}");
    let authorization = endpoint.requests()[0]
        .header("authorization")
        .map(str::to_owned);
    assert_eq!(authorization.unwrap(), "Basic c29tZWJvZHk6aGlkZGVu");
    match answer {
        Err(StoreError::Failed(source)) => {
            let text = source.to_string();
            for secret in ["hidden", "c29tZWJvZHk6aGlkZGVu"] {
                assert!(!format!("{text} {source:?} {client:?}").contains(secret));
            }
            assert!(text.contains(&endpoint.address.to_string()), "{text}");
            text
        }
        other => panic!("{shown}: {other:?}"),
    }
}

async fn fails_on_json(body: &str) -> String {
    failure(ResultFormat::Json, Answer::new("200 OK", RESULT, body)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn another_content_type_is_named_with_what_it_says() {
    for (content_type, body) in [
        ("text/html; charset=utf-8", "<h1>Sign in,\n please</h1>"),
        ("text/plain", "Query evaluation error: out of memory"),
        ("text/plain", JSON),
        ("application/sparql-results+xml", "<sparql/>"),
        ("", ""),
    ] {
        for format in [ResultFormat::Json, ResultFormat::Tsv] {
            let text = failure(format, Answer::new("200 OK", content_type, body)).await;
            let begin: String = body.chars().take(12).collect();
            assert!(text.contains(&format!("`{content_type}`")), "{text}");
            assert!(text.contains(&begin), "{text}");
        }
    }
    // Lines were not asked for.
    let lines = Answer::new("200 OK", "text/tab-separated-values", "?s\t?o\n");
    let text = failure(ResultFormat::Json, lines).await;
    assert!(text.contains("text/tab-separated-values"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn json_that_is_no_result_is_malformed() {
    for body in [
        "",
        " ",
        "null",
        "[]",
        "{}",
        "{",
        r#"{"error":"too many connections"}"#,
        r#"{"head":{},"boolean":true}"#,
        r#"{"head":{"vars":["s","o"]}}"#,
        r#"{"head":{"vars":["s","o"]},"results":{}}"#,
        r#"{"head":{"vars":["s","o"]},"results":{"bindings":{}}}"#,
        r#"{"head":{"vars":["s","o"]},"results":{"bindings":[}}"#,
        r#"{"head":{"vars":["s","o"]},"results":{"bindings":[{"x":{"type":"uri","value":"urn:a"}}]}}"#,
        r#"{"head":{"vars":["s","o"]},"results":{"bindings":[{"s":{"type":"uri","value":"a b"}}]}}"#,
        r#"{"head":{"vars":["s","o"]},"results":{"bindings":[{"s":{"type":"thing","value":"a"}}]}}"#,
        r#"{"head":{"vars":["s","o"]},"results":{"bindings":[{"s":{"type":"uri"}}]}}"#,
        r#"{"head":{"vars":["s"]},"results":{"bindings":[]}}"#,
        r#"{"head":{"vars":["s","o"]},"results":{"bindings":[]}} and more"#,
        r#"{"head":{"vars":["s","o"]},"results":{"bindings":[]}}{}"#,
        "\u{1f}\u{8b}\u{8}\0\0\0\0\0",
    ] {
        let text = fails_on_json(body).await;
        assert!(text.contains("malformed"), "{body}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_that_are_no_result_are_malformed() {
    for body in [
        "",
        "\n",
        "?s\n<urn:a>\n",
        "s\to\n",
        "?s\t?o\n<urn:a>\n",
        "?s\t?o\n<urn:a>\t1\t2\n",
        "?s\t?o\n<urn:a>\turn:b\n",
        "?s\t?o\n<urn:a\t1\n",
        "?s\t?o\n<urn:a>\t\"1\n",
        "?s\t?o\nQuery cancelled due to timeout\n",
        "true\n",
        "<html>\n",
    ] {
        let answer = Answer::new("200 OK", "text/tab-separated-values", body);
        let text = failure(ResultFormat::Tsv, answer).await;
        assert!(text.contains("malformed"), "{body}: {text}");
    }
    let cut = Answer::new("200 OK", "text/tab-separated-values", "?s\t?o\n<urn:a>\t12");
    let text = failure(ResultFormat::Tsv, cut).await;
    assert!(text.contains("within a line"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn statuses_other_than_200_are_failures_that_are_named() {
    for status in [
        "201 Created",
        "204 No Content",
        "206 Partial Content",
        "400 Bad Request",
        "401 Unauthorized",
        "403 Forbidden",
        "404 Not Found",
        "418 I'm a teapot",
        "500 Internal Server Error",
    ] {
        // Even with a body that would do.
        let mut answer = Answer::new(status, RESULT, JSON);
        if status.starts_with("204") {
            answer.body.clear();
        }
        let text = failure(ResultFormat::Json, answer).await;
        assert!(text.contains(&status[..3]), "{status}: {text}");
    }
    let refused = Answer::new("401 Unauthorized", "text/plain", "who are you?");
    let text = failure(ResultFormat::Json, refused).await;
    assert!(
        text.contains("credentials") && text.contains("who are you?"),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_are_not_followed() {
    let target = Endpoint::healthy().await;
    for status in ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"] {
        let answer = Answer::new(status, "text/plain", "").with("Location", target.url());
        let text = failure(ResultFormat::Json, answer).await;
        assert!(text.contains(&target.url()), "{text}");
    }
    assert!(target.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_encoding_that_was_not_asked_for_is_refused() {
    for (encoding, body) in [("gzip", "garbage"), ("br", JSON), ("zstd", "")] {
        let answer = Answer::new("200 OK", RESULT, body).with("Content-Encoding", encoding);
        let text = failure(ResultFormat::Json, answer).await;
        assert!(text.contains(&format!("`{encoding}`")), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_even_http_makes_the_server_unavailable() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    for text in [
        "garbage\r\n\r\n".to_owned(),
        "HTTP/9.9 200 OK\r\n\r\n".to_owned(),
        "HTTP/1.1 two hundred\r\n\r\n".to_owned(),
        format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(2 << 20)),
        "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n".to_owned(),
    ] {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let begin: String = text.chars().take(50).collect();
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(text.as_bytes()).await;
            let _ = stream.read_to_end(&mut Vec::new()).await;
        });
        let answer = ask(&client(options(&url))).await;
        assert!(
            matches!(answer, Err(StoreError::Unavailable(_))),
            "{begin}: {answer:?}"
        );
        server.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_tls_is_unavailable_at_an_address_with_tls() {
    let endpoint = Endpoint::healthy().await;
    let options = ConnectionOptions {
        // The server waits for more of what it does not understand.
        connect_timeout: Duration::from_millis(300),
        ..options(&endpoint.url().replace("http:", "https:"))
    };
    let client = match HttpEndpoint::new(options) {
        Ok(client) => client,
        // Known at the start on a machine that trusts nobody.
        Err(error) => {
            assert!(matches!(error, OptionsError::Tls(_)), "{error}");
            return;
        }
    };
    let answer = ask(&client).await;
    assert!(
        matches!(answer, Err(StoreError::Unavailable(_))),
        "{answer:?}"
    );
    assert!(endpoint.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_sent_as_it_is_configured() {
    let endpoint = Endpoint::healthy().await;
    let client = client(ConnectionOptions {
        token: Some(Secret::new("hidden")),
        ..options(&endpoint.url())
    });
    ask(&client).await.unwrap();
    assert_eq!(
        endpoint.requests()[0].header("authorization"),
        Some("Bearer hidden")
    );
}
