//! Levels of the log change while the process runs, for administrators only.

use serde_json::{Value, json};

use super::{SECRET, token};
use crate::authentication::process::{Process, Reply};

fn put(process: &Process, token: Option<&str>, body: &Value) -> Reply {
    let mut headers = "Content-Type: application/json\r\n".to_owned();
    if let Some(token) = token {
        headers.push_str(&format!("Authorization: Bearer {token}\r\n"));
    }
    process.send(
        ("PUT", "/__loggers"),
        headers.as_bytes(),
        body.to_string().as_bytes(),
    )
}

fn body(reply: &Reply) -> Value {
    let body = reply.text.split_once("\r\n\r\n").unwrap().1;
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {}", reply.text))
}

/// Asks something that is logged by a level, under an identifier that lines have.
fn ask(process: &Process, id: &str) {
    let header = format!("X-Request-ID: {id}\r\n");
    let reply = process.query("/graphql?query=%7B__typename%7D", header.as_bytes());
    assert_eq!(reply.status, 200);
    // A line of a probe is for those who look for it.
    process.query(
        "/__live",
        format!("X-Request-ID: {id}-probe\r\n").as_bytes(),
    );
}

#[test]
fn a_level_counts_from_the_next_line_on_and_no_other_line_is_lost() {
    let process = Process::start(&[("logging.level.object_engine", "WARN")]);
    let levels = body(&process.send(("GET", "/__loggers"), b"", b""));
    assert_eq!(levels["root"], "info");
    assert_eq!(levels["loggers"]["object_engine"], "warn");
    assert_eq!(levels["loggers"]["graphql_http"], Value::Null);
    ask(&process, "id-one");
    let changed = put(
        &process,
        None,
        &json!({"loggers": {"graphql-http": "DEBUG", "object_engine": null}}),
    );
    let expected = body(&changed);
    assert_eq!(expected["loggers"]["graphql_http"], "debug");
    assert_eq!(expected["loggers"]["object_engine"], Value::Null);
    ask(&process, "id-two");
    put(
        &process,
        None,
        &json!({"root": "off", "loggers": {"graphql_http": null}}),
    );
    ask(&process, "id-three");
    put(&process, None, &json!({"root": "info"}));
    for number in 0..200 {
        ask(&process, &format!("id-four-{number}."));
        if number % 20 == 0 {
            put(
                &process,
                None,
                &json!({"loggers": {"object_engine": "trace"}}),
            );
            put(&process, None, &json!({"loggers": {"object_engine": null}}));
        }
    }
    // What is refused changes nothing.
    let refused = put(
        &process,
        None,
        &json!({"root": "warn", "loggers": {"servise_runtime": "info"}}),
    );
    assert_eq!(refused.status, 400);
    let error = &body(&refused)["errors"][0];
    assert_eq!(error["extensions"]["code"], "LOGGER_UNKNOWN");
    assert_eq!(
        error["message"],
        "there is no logger `servise_runtime`; did you mean `service_runtime`?"
    );
    let refused = put(&process, None, &json!({"loggers": {"servers": "loud"}}));
    let message = body(&refused)["errors"][0]["message"].to_string();
    assert!(message.contains("`loud` is not a level"), "{message}");
    for malformed in [
        json!({"level": "info"}),
        json!([]),
        json!({"loggers": {"servers": 1}}),
    ] {
        let reply = put(&process, None, &malformed);
        assert_eq!(
            (reply.status, reply.text.contains("REQUEST_MALFORMED")),
            (400, true)
        );
    }
    ask(&process, "id-five");
    let log = process.log();
    let has = |id: &str| log.contains(&format!("request_id=\"{id}\""));
    assert!(has("id-one") && !has("id-one-probe"), "{log}");
    assert!(has("id-two") && has("id-two-probe"), "{log}");
    assert!(!has("id-three") && !has("id-three-probe"), "{log}");
    for number in 0..200 {
        assert!(has(&format!("id-four-{number}.")), "{number}: {log}");
    }
    assert!(has("id-five"), "{log}");
    let audited = "audit: managed schemas user=\"nobody\" action=\"change\" what=\"log levels\"";
    let line = log.lines().find(|line| line.contains(audited));
    let line = line.unwrap_or_else(|| panic!("{log}"));
    assert!(
        line.contains("graphql-http=DEBUG,object_engine=none"),
        "{line}"
    );
}

#[test]
fn levels_are_for_administrators_where_there_is_security() {
    let process = Process::start(&[("security.secret", SECRET)]);
    let change = json!({"root": "info"});
    assert_eq!(process.send(("GET", "/__loggers"), b"", b"").status, 401);
    assert_eq!(put(&process, None, &change).status, 401);
    let user = token("nothing");
    let refused = put(&process, Some(&user), &change);
    assert_eq!(
        (refused.status, refused.text.contains("FORBIDDEN")),
        (403, true)
    );
    let header = format!("Authorization: Bearer {user}\r\n");
    let read = process.send(("GET", "/__loggers"), header.as_bytes(), b"");
    assert_eq!(read.status, 403);
    assert!(!read.text.contains("loggers\""), "{}", read.text);
    let admin = token("SchemaRBACAdmin");
    assert_eq!(put(&process, Some(&admin), &change).status, 200);
    let log = process.log();
    assert!(
        log.contains("user=\"developer\" action=\"change\" what=\"log levels\""),
        "{log}"
    );
}
