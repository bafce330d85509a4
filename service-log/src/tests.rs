//! Lines are those of the library, byte by byte, whoever formats them.

use std::error::Error;
use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use tracing::Subscriber;
use tracing_subscriber::fmt::MakeWriter;

use super::*;

/// What a time takes in a line.
const TIME: usize = "2026-08-01T12:00:00.000000Z".len();

/// Keeps each event.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<String>>>);

impl Write for Kept {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let event = String::from_utf8(text.to_vec()).unwrap();
        self.0.lock().unwrap().push(event);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Kept {
    type Writer = Kept;

    fn make_writer(&self) -> Kept {
        self.clone()
    }
}

#[derive(Debug)]
struct Cause(Option<Box<Cause>>);

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a \u{1b}[1m cause")
    }
}

impl Error for Cause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.as_deref().map(|cause| cause as &dyn Error)
    }
}

/// Returns the events of a program, without their times.
fn events(kept: &Kept, subscriber: impl Subscriber + Send + Sync + 'static) -> Vec<String> {
    tracing::subscriber::with_default(subscriber, || {
        values();
        spans();
    });
    let events = std::mem::take(&mut *kept.0.lock().unwrap());
    let without_time = |event: &String| {
        let at = event.find("20").unwrap();
        assert!(event[at + TIME - 1..].starts_with('Z'), "{event}");
        format!("{}{}", &event[..at], &event[at + TIME..])
    };
    events.iter().map(without_time).collect()
}

fn values() {
    let strange = "\"a\" \\ \u{0}\u{1}\u{8}\t\n\u{c}\r\u{1b}[1m\u{7f}\u{9b} é 🦀";
    tracing::error!("a message");
    tracing::warn!(strange, debug = ?strange, display = %strange, "{strange}");
    tracing::info!(message = strange, none = None::<&str>, some = Some(1));
    let (int, large, float) = (i64::MIN, u64::MAX, 1.0);
    let (whole, small) = (1_u8, -1_i16);
    tracing::debug!(
        int,
        large,
        float,
        nan = f64::NAN,
        far = 1e300,
        whole,
        small,
        yes = true
    );
    tracing::trace!(wide = u128::MAX, bytes = &b"ab\xff"[..], r#type = 1, r#move = ?Some("x"));
    let deep = Cause(Some(Box::new(Cause(None))));
    let error = &deep as &dyn Error;
    tracing::info!(before = 1, error, after = 2);
    let error = &Cause(None) as &dyn Error;
    tracing::info!(error, "a message that does not come first");
    tracing::info!(target: "audit \"x\"", "somewhere else");
    tracing::info!(log.line = ?1, text.line = ?2, "fields of the log crate");
    tracing::info!(target: "log", { log.target = "x" }, "by the log crate");
}

fn spans() {
    let user = tracing::field::Empty;
    let outer = tracing::info_span!("request", request_id = "a\"b", trace = None::<&str>, user);
    outer.in_scope(|| {
        tracing::info!(path = "/graphql", ms = 3, "answered");
        let user = String::from("é\u{1b}");
        outer.record("user", tracing::field::debug(user));
        tracing::info!("with a user");
        tracing::info_span!("inner").in_scope(|| tracing::info!("without fields"));
        tracing::info_span!("inner", r#type = 1, a = ?"b").in_scope(|| {
            tracing::info!("with fields");
            tracing::info!(parent: &outer, "outside");
            tracing::info!(parent: None, "without a parent");
        });
    });
}

fn ours(format: LogFormat) -> Vec<String> {
    let kept = Kept::default();
    let lines = event_lines(format, false, kept.clone());
    events(&kept, tracing_subscriber::registry().with(lines))
}

#[test]
fn text_is_that_of_the_library() {
    let kept = Kept::default();
    let library = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(kept.clone());
    let expected = events(&kept, tracing_subscriber::registry().with(library));
    assert_eq!(ours(LogFormat::Text), expected);
    let first = format!(" ERROR {}: a message\n", module_path!());
    assert_eq!(expected[0], first);
    assert_eq!(expected.len(), 16);
}

#[test]
fn json_is_that_of_the_library() {
    let kept = Kept::default();
    let library = tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_span_list(false)
        .with_writer(kept.clone());
    let expected = events(&kept, tracing_subscriber::registry().with(library));
    assert_eq!(ours(LogFormat::Json), expected);
    assert_eq!(expected.len(), 16);
    for event in expected {
        serde_json::from_str::<serde_json::Value>(&event).unwrap();
    }
}

#[test]
fn only_directives_about_spans_need_locks() {
    let of = |directives: &str| {
        let filter = EnvFilter::builder().parse(directives).unwrap();
        targets(&filter).map(|targets| (targets.to_string(), filter.to_string()))
    };
    for plain in [
        "info",
        "warn,servers=debug",
        "off,a::b=TRACE,a=info,c",
        "servers",
    ] {
        let (targets, filter) = of(plain).expect(plain);
        assert_eq!(targets, filter);
    }
    for spans in [
        "info,[request]=debug",
        "servers[{user}]=debug",
        "[{user=me}]=trace",
    ] {
        assert_eq!(of(spans), None, "{spans}");
    }
}

#[test]
fn another_level_counts_at_once_and_a_malformed_one_changes_nothing() {
    let kept = Kept::default();
    let (filter, handle) = changeable("warn").unwrap();
    let subscriber = tracing_subscriber::registry()
        .with(event_lines(LogFormat::Text, false, kept.clone()))
        .with(filter);
    tracing::subscriber::with_default(subscriber, || {
        let say = |number: u32| tracing::info!(number, "said");
        say(1);
        handle.set("info").unwrap();
        say(2);
        assert!(handle.set("service_log=loud").is_err());
        say(3);
        handle.set("info,service_log=error").unwrap();
        say(4);
        handle.set("off,[span]=info").unwrap();
        tracing::info_span!("span").in_scope(|| say(5));
        handle.set("off,service_log=trace").unwrap();
        say(6);
    });
    let lines = std::mem::take(&mut *kept.0.lock().unwrap());
    let said = |number: u32| {
        let found = format!("number={number}");
        lines.iter().any(|line| line.contains(&found))
    };
    let expected = [false, true, true, false, true, true];
    assert_eq!([1, 2, 3, 4, 5, 6].map(said), expected, "{lines:?}");
}
