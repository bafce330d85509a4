//! Properties of the interface one by one: what has an effect has it from every source, what has none is a warning or stops
//! the start, and wrong values are errors in any case.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use servers::config::{CATALOGUE, Settings, Sources, code_of, read};
use service_config::ConfigError;
use tempfile::TempDir;

use crate::command_line::soml;
use crate::processes::{PATIENCE, Running, output};

type Read = Result<(Settings, Vec<String>), ConfigError>;

const SOURCES: [&str; 3] = ["file", "environment", "flag"];

/// Reads some properties from one source.
fn from(source: &str, pairs: &[(&str, &str)]) -> Read {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.yaml");
    let mut sources = Sources::default();
    let mut flags = Vec::new();
    match source {
        "file" => {
            let pairs = pairs
                .iter()
                .map(|(name, value)| (*name, Value::from(*value)));
            let members: serde_json::Map<_, _> = pairs.map(|(k, v)| (k.to_owned(), v)).collect();
            // JSON is YAML.
            fs::write(&path, Value::Object(members).to_string()).unwrap();
            sources.file = Some(&path);
        }
        "environment" => {
            let variables = pairs.iter().map(|(name, value)| {
                (
                    name.replace(['.', '-'], "_").to_uppercase(),
                    (*value).to_owned(),
                )
            });
            sources.environment = variables.collect();
        }
        _ => flags.extend(pairs.iter().map(|(name, value)| format!("{name}={value}"))),
    }
    sources.flags = &flags;
    read(&sources)
}

/// Returns the one warning of properties without effect, from each source.
fn idle(pairs: &[(&str, &str)]) -> Vec<Option<String>> {
    let of = |source| {
        let (_, mut warnings) = from(source, pairs).unwrap();
        assert!(warnings.len() <= 1, "{warnings:?}");
        warnings.pop()
    };
    SOURCES.map(of).into()
}

#[test]
fn wrong_values_are_errors_from_every_source_also_of_what_has_no_effect() {
    for (name, wrong, expected) in [
        ("validation.shacl.enabled", "yes", "true or false"),
        ("graphql.enableOutputValidations", "1", "true or false"),
        ("graphql.response.json.deduplication", "", "true or false"),
        ("graphql.response.json.nullArrays", "null", "true or false"),
        ("indexer.externalHost", "here", "address"),
        ("elasticsearch.externalHost", "ftp://a", "address"),
        ("indexer.connectorCreateSettings", "[1]", "a JSON object"),
        (
            "elasticsearch.connectorCreateSettings",
            "{",
            "a JSON object",
        ),
        ("indexer.refreshInterval", "-1", "milliseconds"),
        ("indexer.reconcileInterval", "1s", "milliseconds"),
        ("indexer.accessTimeout", "-2", "milliseconds"),
        ("search.maxBuckets", "many", "a non-negative integer"),
        ("logging.level", "verbose", "a level, or directives"),
        ("logging.level.root", "loud", "`TRACE`"),
        ("logging.level.com.vendor.platform.search", "1", "`TRACE`"),
        ("logging.level.org.hibernate", "false", "`TRACE`"),
    ] {
        for source in SOURCES {
            let error = from(source, &[(name, wrong)]);
            let Err(ConfigError::Value { key, value, .. }) = &error else {
                panic!("{source}, {name}: {error:?}");
            };
            assert_eq!(value, wrong, "{source}, {name}");
            assert!(key.eq_ignore_ascii_case(name) || key.contains('_'), "{key}");
            let text = error.unwrap_err().to_string();
            let place = match source {
                "file" => "a.yaml is",
                "environment" => "in the environment (",
                _ => "in --set is",
            };
            assert!(text.contains(place) && text.contains(expected), "{text}");
        }
    }
}

#[test]
fn another_name_of_a_property_is_checked_where_it_does_not_count() {
    let pairs = [("application.port", "1"), ("server.port", "no port")];
    for source in SOURCES {
        let text = from(source, &pairs).unwrap_err().to_string();
        assert!(text.starts_with("`server.port` in "), "{text}");
    }
    let pairs = [
        ("indexer.credentials", "a"),
        ("spring.indexer.rest.password", "b"),
    ];
    for source in SOURCES {
        let (settings, _) = from(source, &pairs).unwrap();
        let password = settings.search.credentials.unwrap();
        assert_eq!(password.reveal(), "a", "{source}");
    }
}

#[test]
fn shapes_in_the_store_are_protection_that_there_is_not() {
    for source in SOURCES {
        let error = from(source, &[("validation.shacl.enabled", "true")]).unwrap_err();
        let code = code_of(&error).map(|code| code.as_str());
        assert_eq!(code, Some("PROTECTION_UNAVAILABLE"), "{error}");
    }
    assert_eq!(
        idle(&[("validation.shacl.enabled", "false")]),
        [None, None, None]
    );
}

#[test]
fn values_without_effect_are_one_warning_unless_they_say_what_is_done_anyway() {
    let host = ("indexer.host", "http://a:9200; http://b:9200");
    for (pairs, warned) in [
        (&[("graphql.enableOutputValidations", "true")][..], None),
        (
            &[("graphql.enableOutputValidations", "false")],
            Some("graphql.enableOutputValidations"),
        ),
        (
            &[("graphql.response.json.deduplication", "true")],
            Some("graphql.response.json.deduplication"),
        ),
        (
            &[("graphql.response.json.deduplication", "false")],
            Some("graphql.response.json.deduplication"),
        ),
        (&[("indexer.connectorCreateSettings", "{}")], None),
        (&[("indexer.connectorCreateSettings", "none")], None),
        (
            &[(
                "indexer.connectorCreateSettings",
                r#"{"bulkUpdateBatchSize": 1}"#,
            )],
            Some("indexer.connectorCreateSettings"),
        ),
        (
            &[("elasticsearch.connectorCreateSettings", r#"{"a": 1}"#)],
            Some("elasticsearch.connectorCreateSettings"),
        ),
        (
            &[
                ("indexer.externalHost", "http://a:9200,http://b:9200"),
                host,
            ],
            None,
        ),
        (
            &[
                ("elasticsearch.externalHost", "http://a:9200,http://b:9200"),
                host,
            ],
            None,
        ),
        (
            &[("indexer.externalHost", "http://c:9200"), host],
            Some("indexer.externalHost"),
        ),
        (
            &[("indexer.externalHost", "http://c:9200")],
            Some("indexer.externalHost"),
        ),
        (
            &[("license.filepath", "/etc/license")],
            Some("license.filepath"),
        ),
    ] {
        for warning in idle(pairs) {
            match warned {
                None => assert_eq!(warning, None, "{pairs:?}"),
                Some(name) => {
                    let expected =
                        format!("properties that are accepted but have no effect: `{name}`");
                    assert_eq!(warning, Some(expected), "{pairs:?}");
                }
            }
        }
    }
}

#[test]
fn names_below_a_family_are_warnings_with_the_name_that_was_probably_meant() {
    for name in [
        "graphql.introspectionQueryCache.enabled",
        "sparql.optimizations.mergeJoins",
    ] {
        for warning in idle(&[(name, "any text")]) {
            let warning = warning.unwrap().to_lowercase();
            let in_environment = name.replace('.', "_").to_lowercase();
            let name = name.to_lowercase();
            assert!(
                warning.contains(&name) || warning.contains(&in_environment),
                "{warning}"
            );
        }
    }
    // Whoever else reads the environment may mean these.
    for (name, hint) in [
        ("spring.profiles.active", ""),
        ("elasticsearch.connectionTimeout", ""),
        (
            "elasticsearch.accessTimout",
            " (did you mean `elasticsearch.accessTimeout`?)",
        ),
    ] {
        let expected = format!("properties that are accepted but have no effect: `{name}`{hint}");
        for source in ["file", "flag"] {
            let (_, warnings) = from(source, &[(name, "1")]).unwrap();
            assert_eq!(warnings, [expected.as_str()]);
        }
    }
    let others = [
        ("SPRING_PROFILES_ACTIVE", "a"),
        ("ELASTICSEARCH_CONNECTIONTIMEOUT", "1"),
    ];
    assert_eq!(
        from("environment", &others).unwrap().1,
        Vec::<String>::new()
    );
}

#[test]
fn only_secrets_without_effect_are_read_from_files() {
    let (_, warnings) = from("environment", &[("LICENSE_FILEPATH_FILE", "/a")]).unwrap();
    assert_eq!(
        warnings,
        [
            "unknown property `LICENSE_FILEPATH_FILE` in the environment; only secrets are read from files"
        ]
    );
}

#[test]
fn the_buckets_of_a_search_have_another_name() {
    for source in SOURCES {
        let (settings, warnings) = from(source, &[("search.maxBuckets", "7")]).unwrap();
        assert_eq!((settings.search.limits.buckets, warnings.len()), (7, 0));
        let both = [("search.maxBuckets", "7"), ("search.limits.buckets", "8")];
        assert_eq!(from(source, &both).unwrap().0.search.limits.buckets, 8);
    }
}

#[test]
fn the_time_to_connect_to_the_engine_is_unbounded_with_0_and_minus_1() {
    for (value, millis) in [("-1", 0), ("0", 0), ("1500", 1_500)] {
        for source in SOURCES {
            let (settings, _) = from(source, &[("indexer.accessTimeout", value)]).unwrap();
            let time = Duration::from_millis(millis);
            assert_eq!(settings.search.access_timeout.0, time, "{source}: {value}");
        }
    }
}

#[test]
fn lists_without_values_are_null_where_the_service_says_so_and_the_schema_does_not() {
    let query = "{ film(limit: 1) { character(where: {ID: []}) { id } } }";
    let nulls = ["--set", "graphql.response.json.nullArrays=true"];
    let dir = TempDir::new().unwrap();
    let schema = fs::read_to_string("demo/star-wars/schema.yaml").unwrap();
    assert!(!schema.contains("\nconfig:"));
    let schema = format!("{schema}\nconfig: {{nullJsonArrays: false}}\n");
    let path = dir.path().join("schema.yaml");
    fs::write(&path, schema).unwrap();
    let own = [
        "--schema",
        path.to_str().unwrap(),
        "--data",
        "demo/star-wars/data.ttl",
    ];
    let demo = ["--demo", "star-wars"];
    for (arguments, empty) in [
        (demo.to_vec(), serde_json::json!([])),
        ([&demo[..], &nulls].concat(), Value::Null),
        ([&own[..], &nulls].concat(), serde_json::json!([])),
    ] {
        let answer = soml(&[&["query", query], &arguments[..]].concat());
        let answer: Value = serde_json::from_slice(&answer.stdout).unwrap();
        assert_eq!(answer["data"]["film"][0]["character"], empty, "{answer}");
    }
}

/// Returns the directives that some properties lead to.
fn directives(source: &str, pairs: &[(&str, &str)]) -> String {
    let (settings, warnings) = from(source, pairs).unwrap();
    assert_eq!(warnings, Vec::<String>::new());
    settings.log_options(false).level
}

#[test]
fn levels_of_loggers_are_set_from_every_source_by_either_kind_of_name() {
    for source in SOURCES {
        let of = |pairs: &[(&str, &str)]| directives(source, pairs);
        let search = [("logging.level.com.vendor.platform.search", "Debug")];
        let expected = "info,search_index=debug,search_service=debug";
        assert_eq!(of(&search), expected, "{source}");
        assert_eq!(
            of(&[("logging.level.com.ontotext.platform.search.api", "DEBUG")]),
            expected
        );
        assert_eq!(
            of(&[("logging.level.object-engine", "TRACE")]),
            "info,object_engine=trace"
        );
        let root = [
            ("logging.level.root", "FATAL"),
            ("logging.level", "warn,audit=info"),
        ];
        assert_eq!(of(&root), "error,audit=info");
        // What is said of one logger wins over what is said of all.
        let both = [
            ("logging.level.audit", "off"),
            ("logging.level", "audit=info,warn"),
        ];
        assert_eq!(of(&both), "audit=info,warn,audit=off");
    }
    let (_, warnings) = from("environment", &[("LOGGING_LEVEL_ORG_HIBERNATE", "debug")]).unwrap();
    assert_eq!(
        warnings,
        ["`logging.level.ORG_HIBERNATE` has no effect, since there is no such logger"]
    );
    let described = CATALOGUE
        .described(&Settings::default(), "logging.level.root")
        .unwrap();
    assert!(
        described.starts_with("logging.level.NAME (level)\n"),
        "{described}"
    );
}

/// A demo whose log is read while it runs.
struct Logged {
    running: Running,
    lines: Receiver<String>,
}

impl Logged {
    fn start(variables: &[(&str, &str)]) -> Logged {
        let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
        command.args(["serve", "--demo", "star-wars", "--port", "0"]);
        command
            .envs(variables.iter().copied())
            .stderr(Stdio::piped());
        let mut running = Running::start(&mut command);
        let stderr = BufReader::new(running.child.stderr.take().unwrap());
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Logged { running, lines }
    }

    /// Returns the lines up to the first one that contains a text.
    fn until(&self, text: &str) -> Vec<String> {
        let mut lines = Vec::new();
        while !lines
            .last()
            .is_some_and(|line: &String| line.contains(text))
        {
            lines.push(self.lines.recv_timeout(PATIENCE).expect("another line"));
        }
        lines
    }

    /// Ends the process, and returns the lines that are left.
    fn rest(mut self) -> Vec<String> {
        assert!(self.running.stop().success());
        self.lines.iter().collect()
    }
}

#[test]
fn only_the_lines_of_a_logger_appear_whose_level_allows_them() {
    const READY: &str = "all indexes are ready";
    let is_of_search =
        |line: &String| line.contains(" search_service") || line.contains(" search_index");
    let only = Logged::start(&[
        ("LOGGING_LEVEL_ROOT", "OFF"),
        ("LOGGING_LEVEL_COM_VENDOR_PLATFORM_SEARCH", "INFO"),
    ]);
    let lines = only.until(READY);
    assert!(lines.iter().all(is_of_search), "{lines:#?}");
    let lines = only.rest();
    assert!(lines.iter().all(is_of_search), "{lines:#?}");

    let none = Logged::start(&[
        ("LOGGING_LEVEL_COM_VENDOR_PLATFORM", "DEBUG"),
        ("LOGGING_LEVEL_COM_VENDOR_PLATFORM_SEARCH", "OFF"),
    ]);
    let search = none.running.said_until("Search:").pop().unwrap();
    let search = search.split_whitespace().nth(1).unwrap();
    let ready = format!("{}/__gtg?cache=false", search.trim_end_matches("/graphql"));
    crate::processes::eventually(|| {
        let answer = crate::processes::agent().get(&ready).call();
        answer.is_ok_and(|answer| answer.status() == 200)
    });
    let lines = none.rest();
    assert!(!lines.iter().any(is_of_search), "{lines:#?}");
    assert!(
        lines.iter().any(|line| line.contains(" DEBUG ")),
        "{lines:#?}"
    );
    let configured =
        "configured property=\"logging.level.com.vendor.platform.search\" value=\"off\"";
    assert!(
        lines.iter().any(|line| line.contains(configured)),
        "{lines:#?}"
    );
}

#[test]
fn a_service_does_not_start_with_a_level_that_there_is_not() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
    command.args(["serve", "--demo", "star-wars", "--port", "0"]);
    let output = output(command.env("LOGGING_LEVEL_ROOT", "LOUD"), b"");
    assert_eq!(output.status.code(), Some(64));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("LOGGING_LEVEL_ROOT"), "{message}");
}
