//! What clients choose is escaped in log lines, in both formats, and what is refused for where it comes from is logged
//! with what would allow it.

use serde_json::Value;

use crate::authentication::process::Process;

/// An identifier that would end its field, and begin others, if it was not escaped.
const IDENTIFIER: &str = r#"a" level=ERROR b="c\n{'x': 1}, <y>"#;

fn answered(process: &Process) {
    let header = format!("X-Request-ID: {IDENTIFIER}\r\n");
    let reply = process.query("/graphql?query=%7B__typename%7D", header.as_bytes());
    assert_eq!(reply.status, 200);
    let returned = format!("x-request-id: {IDENTIFIER}\r\n");
    assert!(reply.text.contains(&returned), "{}", reply.text);
}

#[test]
fn an_identifier_of_any_printable_ascii_is_escaped_in_text() {
    let process = Process::start(&[]);
    answered(&process);
    let log = process.log();
    let escaped = format!("request_id={IDENTIFIER:?}");
    let lines: Vec<_> = log.lines().filter(|line| line.contains(&escaped)).collect();
    assert!(lines.iter().any(|line| line.contains("answered")), "{log}");
    assert!(!log.contains(IDENTIFIER), "{log}");
}

#[test]
fn an_identifier_of_any_printable_ascii_is_escaped_in_json() {
    let process = Process::start(&[("logging.format", "json"), ("logging.level", "debug")]);
    answered(&process);
    let log = process.log();
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    let line = lines
        .iter()
        .find(|line| line["span"]["request_id"] == IDENTIFIER);
    let line = line.unwrap_or_else(|| panic!("{log}"));
    assert_eq!(line["span"]["name"], "request");
}

#[test]
fn a_refused_page_is_logged_once_with_its_origin_a_code_and_the_property_that_would_allow_it() {
    let process = Process::start(&[("http.cors.allowedOrigins", "https://app.example")]);
    let ask = |headers: &str| {
        let reply = process.query("/graphql?query=%7B__typename%7D", headers.as_bytes());
        reply.status
    };
    for _ in 0..3 {
        assert_eq!(ask("Origin: https://evil.example\r\n"), 403);
    }
    assert_eq!(
        ask("Origin: https://x\" code=NONE\r\nSec-Fetch-Site: cross-site\r\n"),
        403
    );
    assert_eq!(ask("Sec-Fetch-Site: cross-site\r\n"), 403);
    assert_eq!(
        ask(&format!(
            "Origin: https://{}.example\r\n",
            "y".repeat(5_000)
        )),
        403
    );
    for number in 0..100 {
        assert_eq!(ask(&format!("Origin: https://{number}.example\r\n")), 403);
    }
    let preflight = "Origin: https://evil.example\r\nAccess-Control-Request-Method: POST\r\n";
    let reply = process.send(("OPTIONS", "/graphql"), preflight.as_bytes(), b"");
    assert_eq!(reply.status, 403);
    assert_eq!(ask("Origin: https://app.example\r\n"), 200);
    let log = process.log();
    let lines: Vec<_> = log
        .lines()
        .filter(|line| line.contains("another origin"))
        .collect();
    let with = |text: &str| lines.iter().filter(|line| line.contains(text)).count();
    assert_eq!(with("origin=\"https://evil.example\""), 1, "{log}");
    assert_eq!(with(r#"origin="https://x\" code=NONE""#), 1, "{log}");
    assert_eq!(with("origin=\"unknown\""), 1, "{log}");
    assert_eq!(with(&"y".repeat(150)), 1, "{log}");
    assert_eq!(with(&"y".repeat(250)), 0, "{log}");
    assert!((5..=20).contains(&lines.len()), "{log}");
    for line in lines {
        assert!(line.contains("code=CROSS_SITE"), "{line}");
        assert!(
            line.contains("property=\"http.cors.allowedOrigins\""),
            "{line}"
        );
        assert!(line.contains("request_id="), "{line}");
    }
}

#[test]
fn a_refused_host_name_is_logged_with_the_property_that_would_allow_it() {
    let process = Process::start(&[]);
    let target = "http://evil.example/graphql?query=%7B__typename%7D";
    for _ in 0..2 {
        assert_eq!(process.query(target, b"").status, 421);
    }
    let log = process.log();
    let lines: Vec<_> = log
        .lines()
        .filter(|line| line.contains("unknown host name"))
        .collect();
    let [line] = lines.as_slice() else {
        panic!("{log}");
    };
    for text in [
        "host=\"evil.example\"",
        "code=HOST_NOT_ALLOWED",
        "property=\"http.allowedHosts\"",
    ] {
        assert!(line.contains(text), "{line}");
    }
}
